#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# device_error.sh - the disk dies in the middle of a run: status 3, one error that names the target,
# and no process, mount or loop device is left.
# shellcheck source=tests/integration/lib.sh
. "$TESTS/integration/lib.sh"
# shellcheck source=tests/rig/lib.sh
. "$TESTS/rig/lib.sh"
need_rig

# dies_in COMMAND... - cuts the disk two seconds after the start of walprobe COMMAND
dies_in() {
	rig_up dying ext4 size=512M flush-delay=1ms
	"$WALPROBE" "$@" "dying=$mnt" >out 2>err </dev/null &
	pid=$!
	sleep 2
	kill -0 "$pid" 2>/dev/null || {
		cat err >&2
		fail "$1 ended before the disk was cut"
	}
	"$rig" cut dying
	wait "$pid"
	status=$?
	[ "$status" -eq 3 ] || {
		cat err >&2
		fail "$1: exit status $status instead of 3"
	}
	# The directory on a dead disk cannot be removed any more, and walprobe may have to say so.
	sed -i '/^walprobe: [a-z]*: could not remove directory /d' err
	expect_one_error
	expect_text err '^walprobe: error: .*(dying|Input/output error|Read-only file system)'
	"$rig" down dying
	rigs=
}

dies_in append --clients 1,8 --method fdatasync --rounds 10 --time 2s
dies_in sync --method fdatasync --rounds 10 --time 2s
dies_in io --tests=write,read,random-write --size 64MB --files 1 --rounds 10 --time 2s
