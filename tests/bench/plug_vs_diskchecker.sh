#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# plug_vs_diskchecker.sh - acknowledged records per second of plug write, with a witness on loopback
# and without one, and of diskchecker.pl's protocol, in turns in the same directory.
#
# ROUNDS (21) rounds of MS_EACH (700) in DIRECTORY (the current one). Exit status 1 when the
# witness costs more than 5 %, or the rate is less than 2.5 times that of the protocol. What a
# protocol costs on a machine whose disk is busy with others is a matter of turns: each ratio is the
# median over rounds of the ratio in one round.
set -u -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
walprobe=${WALPROBE:-$root/build/walprobe}
rounds=${ROUNDS:-21}
ms=${MS_EACH:-700}
directory=${DIRECTORY:-$PWD}
command -v jq >/dev/null || { echo "jq is not installed"; exit 77; }
work=$(mktemp -d "$directory/walprobe-bench-XXXXXX") || exit 3
pids=()
leave() {
	if [ ${#pids[@]} -gt 0 ]; then
		kill -KILL "${pids[@]}"
		wait "${pids[@]}"
	fi 2>/dev/null
	rm -rf "$work"
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

library=$root/build/obj/plain/libwalprobe.a
[ -e "$library" ] || make -s -C "$root"
"${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -O2 -Wall -Wextra -I"$root/include" \
	-pthread -o "$work/announced_writes" "$here/announced_writes.c" "$library" -lm || exit 3

# await FILE TEXT
await() {
	for _ in $(seq 100); do
		! grep -q "$2" "$1" || return 0
		sleep 0.05
	done
	echo "waited in vain for \"$2\" in $1" >&2
	exit 3
}
"$walprobe" witness --new-key "$work/key" -q >/dev/null || exit 3
"$walprobe" witness --listen 127.0.0.1:0 --key "$work/key" --store "$work/store" 2>"$work/witness.log" &
pids+=($!)
await "$work/witness.log" 'listening at'
witness=$(sed -n 's/.*listening at \([^,]*\),.*/\1/p' "$work/witness.log")
"$work/announced_writes" listen >"$work/announced.log" &
pids+=($!)
await "$work/announced.log" :
announced=$(head -n 1 "$work/announced.log")

# plug WHERE WRITERS - records per second
plug() {
	"$walprobe" plug write --witness "$1" --key "$work/key" --writers "$2" --duration "${ms}ms" \
		--workload prealloc --segment-size 4MB --format json "$work" 2>/dev/null |
		jq -r '.tables[] | select(.name == "plug") | .rows[0].records_per_s'
	rm -rf "$work"/walprobe-plug-*
}
protocol() {
	"$work/announced_writes" "$announced" "$work" "$ms"
}

# median < numbers
median() {
	sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

printf 'records per second    1 writer: alone witnessed    8 writers: alone witnessed    announced\n'
for ((round = 0; round < rounds; round++)); do
	# In turns that change places: what the disk does to the first must not always be the same one.
	if ((round % 2)); then
		one=$(plug none 1) one_told=$(plug "$witness" 1)
		eight=$(plug none 8) eight_told=$(plug "$witness" 8) told=$(protocol)
	else
		told=$(protocol) eight_told=$(plug "$witness" 8) eight=$(plug none 8)
		one_told=$(plug "$witness" 1) one=$(plug none 1)
	fi
	printf '%28.0f %13.0f %20.0f %13.0f %12.0f\n' "$one" "$one_told" "$eight" "$eight_told" "$told"
	awk -v a="$one" -v b="$one_told" -v c="$eight" -v d="$eight_told" -v e="$told" 'BEGIN {
		print b / a, d / c, b / e, d / e }' >>"$work/ratios"
done

failed=0
# say COLUMN BAR TEXT
say() {
	local ratio
	ratio=$(awk -v n="$1" '{ print $n }' "$work/ratios" | median)
	printf '%-52s %6.3f (at least %s)\n' "$3" "$ratio" "$2"
	awk -v r="$ratio" -v b="$2" 'BEGIN { exit !(r >= b) }' || failed=1
}
say 1 0.95 "1 writer, witnessed to not witnessed"
say 2 0.95 "8 writers, witnessed to not witnessed"
say 3 2.5 "1 writer, to diskchecker.pl's protocol"
say 4 2.5 "8 writers, to diskchecker.pl's protocol"
exit "$failed"
