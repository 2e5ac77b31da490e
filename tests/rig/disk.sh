#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# disk.sh - the rig itself: the planted delay shows, each fdatasync is one flush, nothing is left.
# shellcheck source=tests/integration/lib.sh
. "$TESTS/integration/lib.sh"
# shellcheck source=tests/rig/lib.sh
. "$TESTS/rig/lib.sh"
need_rig
need_command dd

# Milliseconds of 50 overwrites of 8 kB with fdatasync after each; dd with O_DSYNC does the same
# as one request, a write and a flush.
took() {
	local start
	start=$(date +%s%N)
	dd if=/dev/zero of="$1/file" bs=8k count=50 oflag=dsync conv=notrunc 2>dd.err || fail "$(cat dd.err)"
	echo $((($(date +%s%N) - start) / 1000000))
}

for fstype in ext4 xfs btrfs; do
	command -v "mkfs.$fstype" >/dev/null || continue
	rig_up plain "$fstype" flush-delay=20ms
	dd if=/dev/zero of="$mnt/file" bs=8k count=50 conv=fsync 2>dd.err || fail "$(cat dd.err)"
	flushes=$("$rig" counts plain | cut -d ' ' -f 1)
	ms=$(took "$mnt")
	flushes=$(($("$rig" counts plain | cut -d ' ' -f 1) - flushes))
	[ "$flushes" -ge 50 ] || fail "$fstype: $flushes flushes for 50 synchronous writes"
	[ "$ms" -ge 1000 ] || fail "$fstype: 50 flushes of 20 ms took $ms ms"
	"$rig" down plain || fail "$fstype: could not take the rig down"
	[ ! -e "$TMPDIR/rig-plain" ] || fail "$fstype: the rig's directory is left"
	rigs=
done
rig_up dead ext4
"$rig" cut dead
! dd if=/dev/zero of="$mnt/file" bs=8k count=1 oflag=dsync 2>/dev/null || fail "a dead disk took a write"
