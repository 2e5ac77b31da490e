#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# kill.sh - what is left after SIGKILL, and that nothing is left after SIGINT and SIGTERM.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need_fs ext4 btrfs
need_command jq setsid
mkdir plain
long="--rounds=1000 --time=500ms --warmup=0s --method=fdatasync --format=json --variant=overwrite,new-page"

# start TARGET... - a long run in the background; its process id is in $pid
start() {
	# shellcheck disable=SC2086 # a list of words
	"$WALPROBE" sync $long "$@" >run.out 2>run.err &
	pid=$!
}

# wait_until COMMAND... - for ten seconds
wait_until() {
	for _ in $(seq 200); do
		! "$@" || return 0
		sleep 0.05
	done
	fail "waited in vain for: $*"
}

is_mounted() {
	[ "$(grep -cF " $PWD/" "/proc/$pid/mountinfo" 2>/dev/null)" -ge "$1" ]
}

# SIGINT and SIGTERM are caught (bits 1 and 14 of the mask), even where the shell ignored them.
is_ready() {
	mask=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$pid/status")
	[ $((0x$mask & 0x4002)) -eq $((0x4002)) ]
}

is_detached() {
	for file in /sys/block/loop*/loop/backing_file; do
		case $(cat "$file" 2>/dev/null) in
		"$PWD"/*) return 1 ;;
		esac
	done
}

has_directory() {
	[ -n "$(find plain -name '000*' -o -name '*.walprobe*' -o -name 'walprobe-*' | head -n 1)" ]
}

# SIGKILL leaves directories with a marker, and nothing else: no mount, loop device or image.
start image:ext4:size=160MB image:btrfs:size=320MB plain
wait_until is_mounted 2
wait_until has_directory
! grep -qF " $PWD/" /proc/self/mountinfo || fail "the mounts can be seen from outside"
expect_status 0 "$WALPROBE" cleanup . plain
is_mounted 2 || fail "cleanup took a running run's mounts"
has_directory || fail "cleanup took a running run's directory"
kill -KILL "$pid"
wait "$pid" 2>/dev/null
wait_until is_detached
! grep -qF " $PWD/" /proc/self/mountinfo || fail "still mounted"
[ "$(find . -maxdepth 1 -name 'walprobe-*' | wc -l)" -eq 2 ] || fail "two directories were expected"
[ -z "$(find . -maxdepth 2 -path './walprobe-*' -type f ! -name .walprobe-owner)" ] ||
	fail "an image is left"

# The next run tells of it, and cleanup removes it.
expect_status 0 "$WALPROBE" sync --rounds=1 --time=10ms --warmup=0s --method=fdatasync plain
expect_text err 'found left over from an earlier run .*walprobe cleanup'
expect_status 0 "$WALPROBE" cleanup --format=json . plain
[ "$(json_rows cleanup out | wc -l)" -eq 3 ] || fail "three directories were to be removed"
json_rows cleanup out | jq -es 'all(.reason | test("is gone"))' >/dev/null || fail "the reasons"
expect_clean .
expect_clean plain
expect_status 0 "$WALPROBE" cleanup . plain
expect_text err 'nothing was left over'

# A directory that only has the name is nobody's.
mkdir walprobe-abcdef
expect_status 0 "$WALPROBE" cleanup .
[ -d walprobe-abcdef ] || fail "cleanup removed a directory without a marker"
rmdir walprobe-abcdef

# SIGINT and SIGTERM at different moments: the status tells which, and nothing is left.
stop_at() {
	signal=$1
	expected=$2
	delay=$3
	start image:ext4:size=160MB plain
	wait_until is_ready
	sleep "$delay"
	kill "-$signal" "$pid"
	wait "$pid"
	got=$?
	[ "$got" -eq "$expected" ] || {
		cat run.err >&2
		fail "status $got after SIG$signal at $delay s"
	}
	[ ! -s run.out ] || [ "$(json .complete run.out)" = false ] ||
		fail "marked complete after SIG$signal at $delay s"
	expect_clean .
	expect_clean plain
	is_detached || fail "a loop device is left after SIG$signal at $delay s"
}
for delay in 0 0.005 0.01 0.02 0.03 0.05 0.1 0.2 0.5 1; do
	stop_at INT 130 "$delay"
	stop_at TERM 143 "$delay"
done

# Once a round is over there are figures to print; a busy machine takes longer to get there.
for delay in 2 4 8 16; do
	stop_at INT 130 "$delay"
	[ ! -s run.out ] || [ "$(json_rows sync run.out | jq -s 'map(select(.ops_per_s > 0)) | length')" -eq 0 ] || exit 0
done
fail "what was measured is not printed"
