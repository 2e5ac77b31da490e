#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
# sync: every way to write and sync, what a place lacks, a full one, and a signal in the middle.
. "$(dirname "$0")/lib.sh"

rows='.tables[] | select(.name == "sync") | .rows'
quick='--rounds=1 --time=5ms --warmup=0s'

mkdir here
# shellcheck disable=SC2086
expect_status 0 "$WALPROBE" sync $quick --save=all.json here
[ "$(ls -A here)" = "" ] || fail "left behind: $(ls -A here)"
jq -e "$rows | length == 39" all.json >/dev/null || fail "rows: $(jq "$rows | length" all.json)"
for method in open_datasync fdatasync fsync fsync_writethrough open_sync; do
	for variant in overwrite two-writes new-page fallocated sparse direct; do
		jq -e --arg m "$method" --arg v "$variant" \
			"[$rows | .[] | select(.method == \$m and .variant == \$v)] | length == 1" \
			all.json >/dev/null || fail "no row for $method $variant"
	done
done
jq -e "$rows | all(.ops_per_s != 0 and (.ops_per_s != null or .absent.ops_per_s != null))" \
	all.json >/dev/null || fail "a rate is neither measured nor absent with a reason"
jq -e "$rows | map(select(.method == \"fsync_writethrough\")) | all(.ops_per_s == null)" \
	all.json >/dev/null || fail "fsync_writethrough has a rate"

# The words that are refused.
expect_status 2 "$WALPROBE" sync
expect_status 2 "$WALPROBE" sync --variant=append here
expect_status 2 "$WALPROBE" sync --method=fsync --variant=1x16kB here
expect_status 2 "$WALPROBE" sync --file-size=17000kB --method=nosuch here
expect_status 2 "$WALPROBE" sync --file-size=1025kB here
expect_status 3 "$WALPROBE" sync --save=none.json none
[ "$(ls -A here)" = "" ] || fail "left behind: $(ls -A here)"

# One place fails, the other is measured.
# shellcheck disable=SC2086
expect_status 3 "$WALPROBE" sync $quick --method=fdatasync --variant=overwrite --save=one.json none here
jq -e "$rows | map(select(.ops_per_s != null)) | length == 1" one.json >/dev/null || fail "here was not measured"
jq -e "$rows | map(select(.target == \"none\"))[0].absent.ops_per_s | test(\"No such file\")" \
	one.json >/dev/null || fail "none has no reason"

# A signal: what was measured is printed and marked, nothing is left.
for signal in INT:130 TERM:143; do
	"$WALPROBE" sync --quiet --save=cut.json here >cut.out 2>cut.err &
	pid=$!
	tries=0
	while [ "$(ls -A here)" = "" ] && [ "$tries" -lt 100 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	sleep 1
	kill "-${signal%:*}" "$pid"
	wait "$pid"
	got=$?
	[ "$got" -eq "${signal#*:}" ] || fail "status $got after SIG${signal%:*}: $(cat cut.err)"
	[ "$(ls -A here)" = "" ] || fail "left behind: $(ls -A here)"
	jq -e '.complete == false' cut.json >/dev/null || fail "not marked incomplete"
done

need_loop
mounted=
loop=

# The kernel lets go of a loop device a moment after its last user.
wait_detached() {
	tries=0
	while [ -n "$(losetup -j disk)" ] && [ "$tries" -lt 100 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
}
undo() {
	[ -z "$mounted" ] || umount mnt
	[ -z "$loop" ] || losetup -d "$loop"
}
trap undo EXIT
mkdir mnt

# A disk with 4 kB blocks refuses small direct writes; the rest goes on.
need_fs xfs
truncate -s 400M disk
loop=$(losetup -f --show --sector-size 4096 disk 2>losetup.err) || {
	loop=
	skip "no loop device with 4 kB blocks: $(cat losetup.err)"
}
mkfs.xfs -q "$loop"
mount "$loop" mnt
mounted=yes
# shellcheck disable=SC2086
expect_status 0 "$WALPROBE" sync $quick --direct=on --method=open_sync --save=4k.json mnt
jq -e "$rows | map({key: .variant, value: .}) | from_entries |
	.\"16x1kB\".absent.ops_per_s == \"1 kB is below the device's logical block of 4 kB\" and
	.\"8x2kB\".ops_per_s == null and .\"4x4kB\".ops_per_s > 0 and .overwrite.ops_per_s > 0" \
	4k.json >/dev/null || fail "4 kB blocks: $(jq -c "$rows" 4k.json)"
umount mnt
mounted=
losetup -d "$loop"
loop=
wait_detached
rm disk

# A full file system says what was needed and what is free.
need_fs ext4
truncate -s 60M disk
mkfs.ext4 -q -m 0 disk
mount -o loop disk mnt
mounted=yes
# shellcheck disable=SC2086
expect_status 3 "$WALPROBE" sync $quick mnt
expect_text err 'No space left on device .*[0-9]+ bytes.* needed.*[0-9]+ bytes.* free'
expect_one_error
umount mnt
mounted=
wait_detached
