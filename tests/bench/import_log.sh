#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# import_log.sh - a pgbench log of 1,000,000 transactions: time beside awk summing one column, and memory
#
# Both read the same file, which is in the page cache, one after the other, 11 times. It holds when
# the middle ratio of their times is at most 1, and when ten times as many lines take at most 1 MB
# more of memory.
set -u
lines=${WALPROBE_BENCH_LINES:-1000000}
pairs=${WALPROBE_BENCH_RUNS:-11}
# shellcheck source=tests/integration/lib.sh
. "$TESTS/integration/lib.sh"
need_command awk
work=$(mktemp -d "${TMPDIR:-/tmp}/wp-import.XXXXXX") || exit 1
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
cd "$work" || exit 1

# Eight clients, a transaction every 150 us, latencies between 0.2 and 10 ms.
make_log() {
	awk -v lines="$1" 'BEGIN {
		for (i = 0; i < lines; i++) {
			us = i * 150
			printf "%d %d %d 0 %d %06d\n", i % 8, int(i / 8) + 1,
				200 + (i * 7919) % 9800, 1700000000 + int(us / 1000000), us % 1000000
		}
	}'
}

now_us() {
	date +%s%6N
}

# Peak memory of walprobe in kB.
peak_kb() {
	"$WALPROBE" import --format json "$1" >/dev/null &
	local pid=$! peak=0 seen
	while seen=$(awk '/^VmHWM/ { print $2 }' "/proc/$pid/status" 2>/dev/null) && [ -n "$seen" ]; do
		peak=$seen
	done
	wait "$pid"
	echo "$peak"
}

make_log "$lines" >log
cat log log log >long

: >ratios
for ((i = 0; i < pairs; i++)); do
	a=$(now_us)
	"$WALPROBE" import --format json log >imported.json || exit 1
	b=$(now_us)
	awk '{ sum += $3 } END { printf "%.0f\n", sum }' log >sum
	c=$(now_us)
	awk -v a="$a" -v b="$b" -v c="$c" \
		'BEGIN { printf "%.3f %.3f %.3f\n", (b - a) / (c - b), (b - a) / 1e6, (c - b) / 1e6 }' \
		>>ratios
done
sort -n ratios | sed -n "$((pairs / 2 + 1))p" >middle
read -r ratio own theirs <middle

grep -q "\"transactions\": *$lines" imported.json || {
	echo "not all of the $lines transactions were read"
	exit 1
}
few=$(peak_kb log)
many=$(peak_kb long)
printf '%d lines, %d bytes: walprobe %s s, awk %s s, ratio %s (%s .. %s in %d pairs)\n' \
	"$lines" "$(stat -c %s log)" "$own" "$theirs" "$ratio" \
	"$(sort -n ratios | head -n 1 | cut -d ' ' -f 1)" \
	"$(sort -n ratios | tail -n 1 | cut -d ' ' -f 1)" "$pairs"
printf 'peak memory: %s kB, with three times as many lines %s kB\n' "$few" "$many"
awk -v ratio="$ratio" -v few="$few" -v many="$many" \
	'BEGIN { exit !(ratio <= 1 && many > 0 && many <= few + 1024) }'
