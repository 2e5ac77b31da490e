#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# io_vs_peers.sh - 8 kB records: write, overwrite, rewrite, read and random read of walprobe, fio and bonnie++ in turns.
#
# ROUNDS (3) rounds in each of DIRECTORIES (/dev/shm and the current one), each with a file of
# MEGABYTES (2048 on tmpfs, 512 elsewhere); medians of the ratios of one round. bonnie++ reads
# through the page cache, so its reads are compared on tmpfs alone; what takes it less than half a
# second it does not print. On a busy machine the best of all rounds says more than their middle:
# what is judged is the ratio of the best. Its "per character" is a system call for each byte: write1 and read1 are
# the same work, putc and getc what stdio does. Exit status 1 when a ratio on tmpfs, where nothing
# waits for a disk, is below BAR (0.95) of fio's, or putc below 3 times bonnie++'s.
set -eu -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
walprobe=$(realpath "${1:-${WALPROBE:-$here/../../build/walprobe}}")
rounds=${ROUNDS:-3}
bar=${BAR:-0.95}
read -ra directories <<<"${DIRECTORIES:-/dev/shm $PWD}"
command -v fio >/dev/null || {
	echo "fio is not installed"
	exit 77
}

work=$(mktemp -d)
fresh=
trap 'rm -rf "$work" ${fresh:+"$fresh"}' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Each function appends lines "TEST RATE" (bytes/s) to the file $2, from directory $1.
run_walprobe() {
	# New files apart: with the others' file in memory they would get other pages of it.
	for tests in write,putc,write1 overwrite,rewrite,read,random-read,getc,read1; do
		"$walprobe" io --tests=$tests --rounds=1 --time=1s --warmup=200ms \
			--size="${megabytes}MB" --quiet --format=json "$1" |
			jq -r '.tables[] | select(.name == "io") | .rows[] | "\(.test) \(.bytes_per_s)"'
	done >"$2"
}

# one line of fio: NAME OPTIONS...
fio_one() {
	local name=$1
	shift
	printf '%s ' "$name"
	fio --name=bench --filename="$fresh/file" --size="${megabytes}M" --bs=8k --ioengine=psync \
		--fallocate=none --output-format=json "$@" |
		jq -r '.jobs[0] | if .read.io_bytes > 0 then .read.bw_bytes
			else .write.io_bytes * 1000 / .job_runtime end'
}

run_fio() {
	fresh=$(mktemp -d "$1/walprobe-bench-XXXXXX")
	{
		fio_one write --rw=write --end_fsync=1
		fio_one overwrite --rw=write --overwrite=1 --end_fsync=1
		fio_one read --rw=read
		fio_one random-read --rw=randread --time_based --runtime=1
	} >"$2"
	rm -rf "$fresh"
	fresh=
}

run_bonnie() {
	fresh=$(mktemp -d "$1/walprobe-bench-XXXXXX")
	bonnie++ -u root -q -d "$fresh" -s "$megabytes" -r "$((megabytes / 2))" -n 0 2>/dev/null |
		awk -F, '{
			split("byte-write write rewrite byte-read read", name, " ")
			for (i = 1; i <= 5; i++)
				if ($(8 + 2 * i) ~ /^[0-9]/) print name[i], $(8 + 2 * i) * 1024
		}' >"$2"
	rm -rf "$fresh"
	fresh=
}

peers=(walprobe fio)
if command -v bonnie++ >/dev/null && [ "$(id -u)" -eq 0 ]; then peers+=(bonnie); fi

median() {
	sort -g | awk '{ v[NR] = $1 } END { if (NR) print (NR % 2) ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'
}

# rate PEER TEST ROUND
rate() {
	awk -v test="$2" '$1 == test { print $2 }' "$work/$1.$3" 2>/dev/null
}

# ratio TEST PEER PEER-TEST LEAST - prints walprobe's rate, the peer's and their ratio; checks LEAST
ratio() {
	local test=$1 peer=$2 peer_test=$3 least=$4 round own other value best
	: >"$work/own"
	: >"$work/other"
	: >"$work/ratios"
	for ((round = 0; round < rounds; round++)); do
		own=$(rate walprobe "$test" "$round")
		other=$(rate "$peer" "$peer_test" "$round")
		[ -n "$own" ] && [ -n "$other" ] || continue
		echo "$own" >>"$work/own"
		echo "$other" >>"$work/other"
		awk -v a="$own" -v b="$other" 'BEGIN { print a / b }' >>"$work/ratios"
	done
	value=$(median <"$work/ratios")
	[ -n "$value" ] || return 0
	best=$(awk -v a="$(sort -g "$work/own" | tail -n 1)" \
		-v b="$(sort -g "$work/other" | tail -n 1)" 'BEGIN { print a / b }')
	printf '  %-12s %9.1f MB/s  %-7s %-11s %9.1f MB/s  ratio %.3f, of the best %.3f\n' "$test" \
		"$(awk -v v="$(median <"$work/own")" 'BEGIN { print v / 1048576 }')" "$peer" "$peer_test" \
		"$(awk -v v="$(median <"$work/other")" 'BEGIN { print v / 1048576 }')" "$value" "$best"
	if [ -n "$least" ] && awk -v v="$best" -v l="$least" 'BEGIN { exit !(v < l) }'; then
		printf '  %s is below %s of %s\n' "$test" "$least" "$peer"
		status=1
	fi
}

compare_in() {
	local directory=$1 kind round i peer least=
	kind=$(stat -f -c %T "$directory")
	megabytes=${MEGABYTES:-512}
	if [ "$kind" = tmpfs ]; then
		megabytes=${MEGABYTES:-2048}
		least=$bar
	fi
	printf '\n%s (%s), %d MB, %d rounds\n' "$directory" "$kind" "$megabytes" "$rounds"
	for ((round = 0; round < rounds; round++)); do
		for ((i = 0; i < ${#peers[@]}; i++)); do
			peer=${peers[(i + round) % ${#peers[@]}]}
			"run_$peer" "$directory" "$work/$peer.$round"
		done
	done
	for test in write overwrite read random-read; do ratio "$test" fio "$test" "$least"; done
	ratio write bonnie write ""
	ratio rewrite bonnie rewrite ""
	[ -z "$least" ] || ratio read bonnie read ""
	ratio putc bonnie byte-write 3
	ratio write1 bonnie byte-write ""
	[ -z "$least" ] || ratio getc bonnie byte-read 3
	[ -z "$least" ] || ratio read1 bonnie byte-read ""
	rm -f "$work"/*
}

status=0
for directory in "${directories[@]}"; do
	if [ ! -d "$directory" ]; then
		printf '\n%s: no such directory, left out\n' "$directory"
		continue
	fi
	compare_in "$directory"
done
exit "$status"
