#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# power_cut.sh - cuts under honest disks, lying ones, and those that lie in part: nobody is accused
# wrongly, and every lie is named. A sample; with WALPROBE_RIG_RESULTS set the full set, whose results
# go to that file (make check-rig).
# shellcheck source=tests/integration/lib.sh
. "$TESTS/integration/lib.sh"
# shellcheck source=tests/rig/lib.sh
. "$TESTS/rig/lib.sh"
need_rig
need_command jq
KEEP_DIR=${WALPROBE_LOG_DIR:-/tmp}
export KEEP_DIR
results=${WALPROBE_RIG_RESULTS:-}
failed=

# cut KEY=VALUE... - of power-cut
cut() {
	"$TESTS/rig/power-cut" "$@" ${results:+"results=$results"} || failed=yes
}

# A signal undoes everything, also in the middle of a cut.
"$TESTS/rig/power-cut" fs=ext4 modes=honest methods=fdatasync workloads=append cycles=9 >killed 2>&1 &
pid=$!
for _ in $(seq 200); do
	! grep -q 'rig-ext4/mnt' /proc/self/mountinfo || break
	sleep 0.05
done
sleep 1
kill -TERM "$pid"
wait "$pid"
status=$?
[ "$status" -eq 143 ] || fail "a power-cut that was stopped has exit status $status: $(cat killed)"
! grep -qF " $PWD/" /proc/self/mountinfo || fail "a mount is left after SIGTERM"
left=$(find . -maxdepth 1 -name 'power-cut.*')
[ -z "$left" ] || fail "left after SIGTERM: $left"

if [ -n "$results" ]; then
	: >"$results"
	cut modes=honest cycles=3
	cut modes=honest batch=1
	cut modes=lying,nobarrier
	cut fs=ext4,xfs,btrfs modes=fifo,reorder,torn,shorn,flip,misdirected,drop
else
	cut modes=honest methods=fdatasync workloads=mixed cycles=2
	cut fs=ext4 modes=honest methods=fsync,open_datasync workloads=mixed
	cut modes=lying,nobarrier methods=fdatasync workloads=mixed
	cut fs=ext4 modes=fifo,reorder,torn,shorn,flip,misdirected,drop methods=fdatasync workloads=append
	cut fs=xfs modes=reorder,misdirected methods=open_datasync workloads=prealloc
	cut fs=ext4 modes=drop methods=fsync workloads=recycle
	cut fs=btrfs modes=flip methods=fdatasync workloads=append
fi
[ -z "$failed" ] || fail "a verdict was wrong"
