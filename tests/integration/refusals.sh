#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# refusals.sh - places that cannot be measured: one error that names the target, what failed and what
# to do, the status of the contract, and nothing left behind.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
quick="--rounds=1 --time=10ms --warmup=0s --method=fdatasync"

# refused STATUS REGEXP TARGET... - exactly one error, like that, with a hint
refused() {
	status=$1
	pattern=$2
	shift 2
	# shellcheck disable=SC2086 # a list of words
	expect_status "$status" "$WALPROBE" sync $quick "$@"
	expect_one_error
	expect_text err "^walprobe: error: .*$pattern"
	expect_text err '^walprobe: hint: '
	expect_clean .
}

mkdir place
: >file
refused 3 'nonexistent.*No such file or directory' ./nonexistent
refused 3 '"a".*nonexistent.*No such file or directory' a=./nonexistent
refused 3 'file.*Not a directory' ./file
refused 2 'directory missing in target ""' ''
refused 2 'label missing in target "=place"' =place
refused 2 'label "a" is given to two targets' a=place a=.
refused 2 'unknown file system "ext5"' image:ext5
refused 2 'unknown key "sz"' image:ext4:sz=1GB
refused 2 'size.*unit missing|unit missing' image:ext4:size=512
refused 2 'xfs needs an image of 300MB' image:xfs:size=10MB

# The others are measured all the same.
# shellcheck disable=SC2086
expect_status 3 "$WALPROBE" sync $quick --format=json -o doc ./nonexistent place
expect_one_error
json_rows sync doc | grep -q '"target": *"place"' || fail "place was not measured"

# A live pg_wal is refused; with --force it is measured beside it.
mkdir -p data/pg_wal
echo 15 >data/PG_VERSION
: >data/pg_wal/000000010000000000000001
refused 3 'is a pg_wal' data/pg_wal
refused 3 'is a PostgreSQL data directory' data
before=$(find data | sort)
# shellcheck disable=SC2086
expect_status 0 "$WALPROBE" sync $quick --force data/pg_wal
[ "$(find data | sort)" = "$before" ] || fail "something was left in the data directory"
expect_clean .

need_root
need_command unshare setpriv

# apart SCRIPT - as root in a mount namespace of its own, so that nothing that it mounts is left;
# /mnt there is a file system for everybody with the program on it
cp "$WALPROBE" program
mkdir stage
apart() {
	unshare -m --propagation private sh -c "
		mount -t tmpfs -o mode=1777,size=512m tmpfs '$PWD/stage' &&
		cp program stage/walprobe && mount --bind stage /mnt && cd /mnt && $1" >out 2>err
	got=$?
}

expect_apart() {
	apart "$3"
	[ "$got" -eq "$1" ] || {
		cat out err >&2
		fail "exit status $got instead of $1: $3"
	}
	expect_one_error
	expect_text err "^walprobe: error: .*$2"
	expect_text err '^walprobe: (hint|detail): '
}

nobody="setpriv --reuid=65534 --regid=65534 --clear-groups"
expect_apart 3 'Permission denied' "mkdir -m 755 rootly; $nobody ./walprobe sync $quick rootly"
expect_text err 'user id 65534'
expect_text err 'sudo -u postgres'
expect_apart 3 'needs root' "$nobody ./walprobe sync $quick image:ext4"
expect_apart 3 'Read-only file system' \
	"mkdir ro && mount -t tmpfs -o ro tmpfs ro && ./walprobe sync $quick ro"
expect_text err '/ro" is mounted read-only'
expect_apart 3 'No space left on device' \
	"mkdir full && mount -t tmpfs -o size=1m tmpfs full && ./walprobe sync $quick full"
expect_text err '[0-9]+ bytes .*needed.* [0-9]+ bytes .*free'

need_loop
# An image that is too small for what is to be measured.
expect_apart 3 'No space left on device' "./walprobe sync $quick image:ext4:size=9MB"
expect_text err 'size='
expect_apart 3 'ext4.*Invalid argument' \
	"./walprobe sync $quick image:ext4:size=64MB:mount=nonsense=1"
expect_text err 'mount=nonsense=1'
expect_apart 3 'mkfs.ext4.*exit status' \
	"./walprobe sync $quick 'image:ext4:size=64MB:mkfs=-O nonsense'"
expect_apart 3 'No space left on device' "./walprobe sync $quick image:ext4:size=1TB"
expect_apart 3 'loop' "mount --bind /dev/null /dev/loop-control &&
	./walprobe sync $quick image:ext4:size=64MB"

# Without its mkfs a file system is absent with the reason; nothing measured at all is status 3.
mkfs=$(readlink -f "$(command -v mkfs.ext2 || echo /nonexistent)")
if [ -x "$mkfs" ]; then
	other=$(command -v mkfs.btrfs || echo /nonexistent)
	apart "mkdir d; mount --bind /dev/null '$(readlink -f "$other")' &&
		./walprobe sync $quick d image:btrfs"
	[ "$got" -eq 0 ] || fail "exit status $got without mkfs.btrfs"
	cat out err >both
	expect_text both 'mkfs.btrfs.* not found'
	apart "mount --bind /dev/null '$(readlink -f "$other")' && ./walprobe sync $quick image:btrfs"
	[ "$got" -eq 3 ] || fail "exit status $got when nothing at all was measured"
fi
