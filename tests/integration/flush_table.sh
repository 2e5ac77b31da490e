#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
# FLUSH requests for each synchronous write, counted on real file systems in loop-mounted images.
. "$(dirname "$0")/lib.sh"

need_fs ext4 ext2 xfs btrfs
need_command losetup
grep -qw overlay /proc/filesystems || skip "the kernel has no overlay"

here=$PWD
loops=
mounted=
changed=

cleanup() {
	[ -z "$changed" ] || echo "write back" >"$changed"
	for point in $mounted; do
		umount "$point" || umount -l "$point"
	done
	for loop in $loops; do
		losetup -d "$loop"
	done
	rm -f "$here"/*.img
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# attach IMAGE - sets loop. A device that somebody set to write through stays so after it was
# detached, and gets no flushes; it is held while another one is tried.
attach() {
	for _ in 1 2 3 4 5 6 7 8; do
		loop=$(losetup -f --show "$1") || fail "could not attach $1"
		loops="$loop $loops"
		[ "$(cat "/sys/block/${loop#/dev/}/queue/write_cache")" != "write back" ] || return 0
	done
	skip "every loop device here is set to write through"
}

# make NAME FSTYPE MOUNT-OPTIONS - a file system of its own, mounted at NAME
make() {
	truncate -s 300M "$1.img"
	mkfs."$2" -q "$1.img" >mkfs.out 2>&1 || fail "mkfs.$2: $(cat mkfs.out)"
	attach "$here/$1.img"
	mkdir "$1"
	mount -t "$2" -o "$3" "$loop" "$1" || fail "could not mount $1"
	mounted="$here/$1 $mounted"
}

# per_op WORKLOAD METHOD
per_op() {
	json_rows flush out | jq -r --arg w "$1" --arg m "$2" \
		'select(.workload == $w and .method == $m) | .flushes_per_op'
}

# expect_per_op NAME WORKLOAD METHOD LOW HIGH
expect_per_op() {
	got=$(per_op "$2" "$3")
	awk -v got="$got" -v low="$4" -v high="$5" \
		'BEGIN { exit !(got != "" && got != "null" && got >= low && got <= high) }' ||
		fail "$1: $got flushes for each $2 with $3, expected $4..$5"
}

# expect_about NAME WORKLOAD METHOD FIGURE - within a tenth; none means none
expect_about() {
	expect_per_op "$1" "$2" "$3" "$(awk "BEGIN { print 0.9 * $4 }")" \
		"$(awk "BEGIN { print 1.1 * $4 + ($4 == 0 ? 0.05 : 0) }")"
}

expect_check() {
	got=$(jq -r --arg id "$2" '.checks[] | select(.id == $id) | .status' out)
	[ "$got" = "$3" ] || fail "$1: check $2 is $got, expected $3: $(cat out)"
}

# examine NAME OVERWRITE APPEND FSYNC-LOW FSYNC-HIGH FLUSH-SENT BARRIERS STATUS
examine() {
	expect_status "$8" "$WALPROBE" inspect "$here/$1" --control-time 300ms --format json
	for method in fdatasync open_datasync; do
		[ "$2" = - ] || expect_about "$1" overwrite $method "$2"
		[ "$3" = - ] || expect_about "$1" append $method "$3"
	done
	expect_per_op "$1" overwrite fsync "$4" "$5"
	expect_per_op "$1" append fsync "$4" "$5"
	expect_check "$1" flush-sent "$6"
	expect_check "$1" barriers "$7"
	expect_clean "$here/$1"
	printf '%-12s overwrite %s/%s/%s append %s/%s/%s\n' "$1" \
		"$(per_op overwrite fdatasync)" "$(per_op overwrite fsync)" \
		"$(per_op overwrite open_datasync)" "$(per_op append fdatasync)" \
		"$(per_op append fsync)" "$(per_op append open_datasync)"
}

make ext4 ext4 rw
examine ext4 1 2 1.0 2.1 pass pass 0

make barrier0 ext4 barrier=0
examine barrier0 0 0 0 0.05 fail fail 1

make journal ext4 data=journal
examine journal 3 3 2.7 3.3 pass pass 0

make ext2 ext2 rw
examine ext2 1 1 0.9 2.1 pass pass 0

make xfs xfs rw
examine xfs 1 2 1.0 2.1 pass pass 0

make btrfs btrfs rw
examine btrfs 2 2 1.8 2.2 pass pass 0
expect_check btrfs recycle-cow info

make nobarrier btrfs nobarrier
examine nobarrier 0 0 0 0.05 fail fail 1

# The overlay is followed to the ext4 that its upper directory lies on; O_DSYNC reaches it, a sync
# does not.
mkdir ext4/upper ext4/work lower merged
mount -t overlay -o "lowerdir=lower,upperdir=$here/ext4/upper,workdir=$here/ext4/work,volatile" \
	overlay merged || fail "could not mount an overlay with option volatile"
mounted="$here/merged $mounted"
examine merged - - 0 0.05 fail fail 1
expect_about merged overwrite fdatasync 0
expect_about merged append fdatasync 0
expect_per_op merged overwrite open_datasync 0.9 2.2
expect_per_op merged append open_datasync 0.9 2.2

# A loop device that somebody switched to write through: no flush, and the layer is named.
make through ext4 rw
changed=/sys/block/${loop#/dev/}/queue/write_cache
echo "write through" >"$changed"
examine through 0 0 0 0.05 fail pass 1
expect_check through write-cache fail
json '.checks[] | select(.id == "write-cache") | .text' out | grep -q "^${loop#/dev/} " ||
	fail "write-cache does not name $loop"
echo "write back" >"$changed"
changed=
examine through 1 2 1.0 2.1 pass pass 0
