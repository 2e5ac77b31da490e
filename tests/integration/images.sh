#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# images.sh - scratch file systems in loop-mounted images: each kind is made, measured and gone.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need_fs ext4 xfs btrfs
need_command jq losetup

# What this test attached and mounted, as everybody sees it.
expect_nothing_left() {
	expect_clean .
	for file in /sys/block/loop*/loop/backing_file; do
		case $(cat "$file" 2>/dev/null) in
		"$PWD"/*) fail "still attached: $file" ;;
		esac
	done
	! grep -F " $PWD/" /proc/self/mountinfo || fail "still mounted"
}

quick="sync --rounds=1 --time=50ms --warmup=0s --method=fdatasync --format=json"

# shellcheck disable=SC2086 # a list of words
expect_status 0 "$WALPROBE" $quick image:ext2:size=160MB image:ext3:size=160MB image:ext4:size=160MB \
	image:xfs:size=300MB image:btrfs:size=320MB
for label in ext2 ext3 ext4 xfs btrfs; do
	json_rows sync out | jq -es --arg target "$label" 'map(select(.target == $target and
		.variant == "overwrite")) | length > 0 and all(.ops_per_s > 0)' >/dev/null ||
		fail "$label was not measured"
	[ "$(json ".targets[] | select(.label == \"$label\") | .fstype" out)" = "$label" ] ||
		fail "$label is another file system"
	[ "$(json ".targets[] | select(.label == \"$label\") | .device[0].write_cache" out)" = \
		"write back" ] || fail "the loop device under $label drops flushes"
done
expect_nothing_left

# What the kernel or the tools lack leaves a row with the reason, or is measured where they have it.
# shellcheck disable=SC2086
expect_status 0 "$WALPROBE" $quick image:ext4:size=160MB image:jfs:size=160MB image:vfat:size=160MB
for label in jfs vfat; do
	json_rows sync out | jq -es --arg target "$label" 'map(select(.target == $target)) |
		length > 0 and all(.ops_per_s > 0 or (.absent.ops_per_s | length > 0))' >/dev/null ||
		fail "$label has neither figures nor a reason"
done
expect_nothing_left

# Mount options reach the kernel; colliding labels tell the difference.
# shellcheck disable=SC2086
expect_status 0 "$WALPROBE" $quick image:ext4:size=160MB \
	image:ext4:size=160MB:mount=data=writeback,noatime "image:ext4:size=160MB:mkfs=-O ^has_journal"
label="ext4:mount=data=writeback,noatime:mkfs=defaults"
json ".targets[] | select(.label == \"$label\") | .mount_options" out |
	grep -q 'noatime.*data=writeback' || fail "mount options of $label"
expect_nothing_left

# A loop device that somebody left without flushes is set right before it is used.
free=$(losetup -f) && cache=/sys/block/${free#/dev/}/queue/write_cache
if [ -w "$cache" ]; then
	echo "write through" >"$cache"
	# shellcheck disable=SC2086
	expect_status 0 "$WALPROBE" $quick image:ext4:size=160MB
	[ "$(json '.targets[0].device[0].write_cache' out)" = "write back" ] ||
		fail "the loop device drops flushes"
	echo "write back" >"$cache"
fi

# --keep leaves the mount, and says where; cleanup takes it away when asked.
# shellcheck disable=SC2086
expect_status 0 "$WALPROBE" $quick --keep image:ext4:size=160MB
expect_text err 'kept mount'
mount_point=$(sed -n 's/.*kept mount "\(.*\)".*/\1/p' err)
grep -qF " $mount_point " /proc/self/mountinfo || fail "$mount_point is not mounted"
expect_status 0 "$WALPROBE" cleanup .
expect_nothing_left
