#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# sync_vs_peers.sh [WALPROBE] - 8 kB write and fdatasync at the start of a 16 MB file: walprobe, the
# bare loop, pg_test_fsync, fio and ioping in turns, in the same directories; medians and ratios.
#
# ROUNDS (3) rounds in each of DIRECTORIES (/dev/shm and the current one). pg_test_fsync has no way
# to choose a line, so each of its turns takes 16 s. Exit status 1 when the timed loop costs more
# than 1/0.95 of the bare loop's CPU time on tmpfs, where an operation is cheapest.
set -eu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
walprobe=$(realpath "${1:-$root/build/walprobe}")
rounds=${ROUNDS:-3}
read -ra directories <<<"${DIRECTORIES:-/dev/shm $PWD}"
bar=0.95

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

library=$root/build/obj/plain/libwalprobe.a
[ -e "$library" ] || make -s -C "$root"
"${CC:-cc}" -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -O2 -Wall -Wextra -I"$root/include" \
	-o "$work/bare_loop" "$here/bare_loop.c" "$library" -lm

pg_test_fsync=
for candidate in /usr/lib/postgresql/*/bin/pg_test_fsync; do
	[ ! -x "$candidate" ] || pg_test_fsync=$candidate
done

# Each function prints operations per second in directory $1.
run_bare() {
	"$work/bare_loop" bare "$1" 1
}
run_walprobe() {
	"$walprobe" sync --method=fdatasync --variant=overwrite --rounds=1 --time=1s --warmup=100ms \
		--quiet --format=json "$1" |
		jq -r '.tables[] | select(.name == "sync") | .rows[0].ops_per_s'
}
run_pg_test_fsync() {
	local fresh
	# A name of its own in a directory of its own: it overwrites and removes what -f names.
	fresh=$(mktemp -d "$1/walprobe-bench-XXXXXX")
	"$pg_test_fsync" -s 1 -f "$fresh/file" | awk '!seen && $1 == "fdatasync" { print $2; seen = 1 }'
	rm -rf "$fresh"
}
run_fio() {
	local fresh
	fresh=$(mktemp -d "$1/walprobe-bench-XXXXXX")
	fio --name=bench --filename="$fresh/file" --filesize=16M --size=8k --bs=8k --rw=write \
		--ioengine=sync --fdatasync=1 --overwrite=1 --time_based --runtime=1 \
		--output-format=json | jq -r '.jobs[0].write.iops'
	rm -rf "$fresh"
}
run_ioping() {
	ioping -W -L -s 8k -S 16m -i 0 -w 1 -q -B "$1" | awk '{ print $3; exit }'
}

peers=(bare walprobe)
[ -z "$pg_test_fsync" ] || peers+=(pg_test_fsync)
for tool in fio ioping; do
	if command -v "$tool" >/dev/null; then peers+=("$tool"); fi
done

median() {
	sort -g | awk '{ v[NR] = $1 } END { print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# ratio A B - median of the ratios of one round each: both met about the same moments.
ratio() {
	paste "$work/$1" "$work/$2" | awk '$2 > 0 { print $1 / $2 }' | median
}

compare_in() {
	local directory=$1 round peer i
	printf '\n%s (%s), %d rounds of 1 s\n' "$directory" "$(stat -f -c %T "$directory")" "$rounds"
	for peer in "${peers[@]}"; do : >"$work/$peer"; done
	for ((round = 0; round < rounds; round++)); do
		for ((i = 0; i < ${#peers[@]}; i++)); do
			peer=${peers[(i + round) % ${#peers[@]}]}
			"run_$peer" "$directory" >>"$work/$peer"
		done
	done
	printf '  %-14s %12s %22s\n' '' 'median ops/s' "rate / bare loop's"
	for peer in "${peers[@]}"; do
		printf '  %-14s %12.0f %22.3f\n' "$peer" "$(median <"$work/$peer")" "$(ratio "$peer" bare)"
	done
	[ -z "$pg_test_fsync" ] ||
		printf '  walprobe / pg_test_fsync: %.3f\n' "$(ratio walprobe pg_test_fsync)"
}

# CPU time per operation of the two loops in turns of 50 ms in one process.
slices_in() {
	local directory=$1 line cpu
	: >"$work/slices"
	for ((round = 0; round < rounds; round++)); do
		"$work/bare_loop" slices "$directory" 4 >>"$work/slices"
	done
	line=$(sort -g -k4 "$work/slices" | sed -n "$(((rounds + 1) / 2))p")
	read -r pairs bare timed cpu low high wall <<<"$line"
	printf '  in one process, %d pairs of 50 ms: CPU ns/op %s bare, %s timed;\n' "$pairs" "$bare" "$timed"
	printf '  ratio %s by CPU time (quartiles %s to %s), %s by wall time\n' "$cpu" "$low" "$high" "$wall"
	if [ "$(stat -f -c %T "$directory")" != tmpfs ]; then
		return 0
	fi
	if awk -v cpu="$cpu" -v bar="$bar" 'BEGIN { exit !(cpu >= bar) }'; then
		printf '  at least %s of the bare loop: yes\n' "$bar"
	else
		printf '  at least %s of the bare loop: NO\n' "$bar"
		status=1
	fi
}

status=0
for directory in "${directories[@]}"; do
	if [ ! -d "$directory" ]; then
		printf '\n%s: no such directory, left out\n' "$directory"
		continue
	fi
	compare_in "$directory"
	slices_in "$directory"
done
exit "$status"
