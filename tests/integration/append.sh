#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# append.sh - the model of pg_wal: every option that changes what it does, its limits, its ways out.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need_command jq perl
mkdir target data
quick=(--rounds=6 --time=20ms --warmup=0s --format=json)

# append STATUS OPTION... - a document in out
append() {
	local status=$1
	shift
	expect_status "$status" "$WALPROBE" append "${quick[@]}" "$@" target
	expect_clean target
	expect_clean data
}
# figure KEY - of the first row of table append
figure() {
	json_rows append out | jq -s ".[0].$1"
}

append 0 --clients=1,2,4,8
[ "$(json_rows append out | jq -s 'map(select(.commits_per_s > 0 and .recycled > 0)) | length')" -eq 4 ] ||
	fail "four rows with recycled segments"
[ "$(json_rows append_first_lap out | wc -l)" -ge 1 ] || fail "the first lap is reported apart"
is_near "$(json_rows append out | jq -s '.[0].commits_per_sync')" 1 5 || fail "one client commits once a sync"
[ "$(figure bytes_per_commit | jq 'floor')" -ge 405 ] && [ "$(figure bytes_per_commit | jq 'floor')" -le 420 ] ||
	fail "a commit is 412 bytes of WAL, not $(figure bytes_per_commit)"

# Without waiting for the disk there is about a sync each 200 ms, not one a commit.
append 0 --clients=4 --synchronous-commit=off --time=300ms
[ "$(figure commits_per_sync | jq '. > 100')" = true ] || fail "asynchronous commits: $(figure commits_per_sync) a sync"

for version in 7.1 12 15 18; do
	append 0 --clients=2 "--pg-version=$version"
	[ "$(figure commits_per_s | jq '. > 0')" = true ] || fail "version $version"
done
append 0 --clients=1 --recycle=link
[ "$(figure recycle)" = '"link"' ] && [ "$(figure 'commits_per_s > 0')" = true ] || fail "recycling by link"
append 0 --clients=1 --recycle=none
append 0 --clients=1 --init=sparse
append 0 --clients=1 --direct=on --method=open_datasync
append 0 --clients=1 --fpi=1000
[ "$(figure bytes_per_commit | jq '. > 1000')" = true ] || fail "page images make commits larger"
append 0 --clients=2 --think=1ms
append 0 --clients=8 --commit-delay=500 --commit-siblings=1
append 0 --clients=1 --segment-size=1MB --segments=8
# At their own pace small segments and large records end often enough.
append 0 --clients=1 --natural-switches --segment-size=1MB --record-size=64kB
[ "$(figure 'commits_per_s > 0')" = true ] || fail "natural switches"
append 0 --clients=2 --beside=data
expect_status 0 "$WALPROBE" append --soak=2s --clients=2 --format=json target
[ "$(json_rows soak out | wc -l)" -ge 1 ] && [ "$(json_rows soak_change out | wc -l)" -eq 1 ] || fail "the time series"
expect_clean target
for bad in --clients=0 --clients=1001 --segments=1 --segment-size=3MB --commit-delay=x --pg-version=9 --recycle=copy; do
	expect_status 2 "$WALPROBE" append "$bad" target
	expect_one_error
done

# 1,000 clients in less than 1 GB.
perl -e 'my $pid = fork // die; if (!$pid) { exec @ARGV or die } my $most = 0;
	while (waitpid($pid, 1) == 0) { if (open my $f, "<", "/proc/$pid/status") { while (<$f>) {
		$most = $1 if /^VmHWM:\s+(\d+)/ && $1 > $most } } select undef, undef, undef, 0.05 }
	die "status $?\n" if $?; print STDERR "$most kB\n"; exit($most > 0 && $most < 1048576 ? 0 : 1)' \
	"$WALPROBE" append "${quick[@]}" --clients=1000 target >out 2>err || fail "1,000 clients: $(cat err)"
[ "$(figure clients)" -eq 1000 ] && [ "$(figure 'commits_per_s > 0')" = true ] || fail "1,000 clients commit"
expect_clean target

# Stopped: marked, and nothing left.
for signal in INT:130 TERM:143; do
	"$WALPROBE" append --rounds=1000 --clients=8 --warmup=0s --format=json target >out 2>err &
	pid=$!
	sleep 2
	kill "-${signal%:*}" "$pid"
	wait "$pid"
	[ $? -eq "${signal#*:}" ] || fail "status after SIG$signal"
	[ ! -s out ] || [ "$(json .complete out)" = false ] || fail "marked complete after SIG$signal"
	expect_clean target
done

[ "$(id -u)" -eq 0 ] || skip "what any user can do is right; a small file system needs root"
# shellcheck disable=SC2317 # called by the trap
unmount_small() {
	umount small 2>/dev/null
}
trap unmount_small EXIT
mkdir small
mount -t tmpfs -o size=32m tmpfs small || skip "no tmpfs can be mounted here"
expect_status 3 "$WALPROBE" append "${quick[@]}" small
expect_one_error
expect_text err 'No space left on device'
expect_text err '[0-9]+ bytes.*needed'
expect_clean small
umount small
