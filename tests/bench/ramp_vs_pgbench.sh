#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# ramp_vs_pgbench.sh - client processor time and transactions a second of walprobe ramp and of pgbench,
# both at the same time on the same server, pair by pair; and the memory of 1,000 clients.
#
# Usage: ramp_vs_pgbench.sh [WALPROBE]. Processor time is that of whole processes (as the kernel
# reaped them) less what the same process takes for one transaction per client: start-up and
# connections. Each ratio is walprobe / pgbench: the median of the pairs, and its 95 % interval.
# PAIRS (5), LENGTH in seconds (3), CELLS, CLIENTS and PARTS may be set. Exit status 1 when a ratio
# misses its bar: 0.95 in every cell and 0.88 in the median of the cells, 0.30 for --pipeline, which
# is held against pgbench -M prepared; transactions a second at least pgbench's within the interval.
set -u -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
walprobe=$(realpath "${1:-${WALPROBE:-$here/../../build/walprobe}}")
pairs=${PAIRS:-5}
length=${LENGTH:-3}
read -ra cells <<<"${CELLS:-select-only/prepared select-only/simple tpcb-like/prepared tpcb-like/simple select-only/pipeline tpcb-like/pipeline}"
read -ra clients <<<"${CLIENTS:-1 8 64}"
read -ra parts <<<"${PARTS:-cells threads memory}"
bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin 2>/dev/null | sort -V | tail -n 1)
[ -n "$bin" ] && [ -x "$bin/pgbench" ] || { echo "no PostgreSQL server and pgbench in /usr/lib/postgresql"; exit 77; }
command -v jq >/dev/null 2>&1 || { echo "jq is not installed"; exit 77; }
work=$(mktemp -d /tmp/walprobe-bench-XXXXXX)
as=()
if [ "$(id -u)" = 0 ]; then
	id postgres >/dev/null 2>&1 || { echo "no user postgres to run a server"; exit 77; }
	chown postgres "$work"
	as=(runuser -u postgres --)
fi
# shellcheck disable=SC2317 # the trap calls it
leave() {
	cd /
	"${as[@]}" "$bin/pg_ctl" -D "$work/data" -m immediate -w stop >/dev/null 2>&1
	rm -rf "$work"
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$work" || exit 3
(cd / && "${as[@]}" "$bin/initdb" -D "$work/data" -A trust -U postgres) >initdb.log 2>&1 || { cat initdb.log >&2; exit 3; }
(cd / && "${as[@]}" "$bin/pg_ctl" -D "$work/data" -w -l "$work/server.log" -o "-k $work -c listen_addresses='' \
	-c port=5499 -c shared_buffers=256MB -c max_wal_size=4GB -c checkpoint_timeout=30min -c autovacuum=off \
	-c max_connections=1100" start) >/dev/null || { cat server.log >&2; exit 3; }
export PGHOST=$work PGPORT=5499 PGUSER=postgres PGDATABASE=postgres
"$walprobe" ramp -i -q -s "${SCALE:-100}" || exit 3

TIMEFORMAT='%U %S'
# timed FILE COMMAND...: stdout of the command into FILE.out, its user and system seconds into FILE
timed() {
	local file=$1
	shift
	{ time "$@" >"$file.out" 2>"$file.err"; } 2>"$file"
}
run_walprobe() { # FILE SCRIPT MODE CLIENTS OPTION...
	local file=$1 script=$2 mode=$3 c=$4
	shift 4
	[ "$mode" != pipeline ] || { mode=prepared; set -- "$@" --pipeline; }
	timed "$file" "$walprobe" ramp -b "$script" -M "$mode" -c "$c" --rounds=1 --no-checkpoint -n -q --format=json "$@"
}
run_pgbench() { # FILE SCRIPT MODE CLIENTS OPTION...
	local file=$1 script=$2 mode=$3 c=$4
	shift 4
	[ "$mode" != pipeline ] || mode=prepared
	timed "$file" "$bin/pgbench" -n -b "$script" -M "$mode" -c "$c" "$@"
}
seconds() { # FILE: of the processor
	awk '{ print $1 + $2 }' "$1"
}
count_of() { # FILE: "transactions tps" of either program
	if [ "$1" = w ]; then
		jq -r '.tables[] | select(.name == "ramp") | .rows[0] | "\(.transactions) \(.tps_excluding)"' w.out
	else
		awk '/actually processed:/ { sub(/\/.*/, "", $NF); n = $NF } /^tps = / { tps = $3 } END { print n, tps }' p.out
	fi
}
# interval: numbers, one a line, into "median low high" of their logarithms' 95 % interval
interval() {
	sort -n | awk 'BEGIN { split("12.71 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262", t, " ") }
		{ v[NR] = $1; l = log($1); sum += l; square += l * l }
		END {
			n = NR; median = n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
			if (n < 2) { print median, 0, 9; exit }
			mean = sum / n; deviation = sqrt((square - n * mean * mean) / (n - 1) > 0 ? (square - n * mean * mean) / (n - 1) : 0)
			half = (n - 1 in t ? t[n - 1] : 2.1) * deviation / sqrt(n)
			printf "%.3f %.3f %.3f\n", median, exp(mean - half), exp(mean + half)
		}'
}
missed=0
miss() {
	echo "  missed: $*"
	missed=1
}

# one_cell SCRIPT MODE CLIENTS: a line of ratios
one_cell() {
	local script=$1 mode=$2 c=$3 i w0 p0 bar=0.95
	: >w.starts
	: >p.starts
	for ((i = 0; i < 3; i++)); do
		run_walprobe w "$script" "$mode" "$c" -t 1 && seconds w >>w.starts
		run_pgbench p "$script" "$mode" "$c" -t 1 && seconds p >>p.starts
	done
	w0=$(sort -n w.starts | sed -n 2p) p0=$(sort -n p.starts | sed -n 2p)
	: >ratios
	for ((i = 0; i < pairs; i++)); do
		run_walprobe w "$script" "$mode" "$c" -T "$length" &
		run_pgbench p "$script" "$mode" "$c" -T "$length"
		wait $! || { cat w.err >&2; return 1; }
		echo "$(seconds w) $(count_of w) $(seconds p) $(count_of p)" |
			awk -v w0="$w0" -v p0="$p0" '{ w = ($1 - w0) / $2; p = ($4 - p0) / $5; print w / p, $3 / $6, 1e6 * w, 1e6 * p }' >>ratios
	done
	read -r cpu cpu_low cpu_high < <(cut -d' ' -f1 ratios | interval)
	read -r tps tps_low tps_high < <(cut -d' ' -f2 ratios | interval)
	read -r w_us p_us < <(awk '{ w += $3; p += $4 } END { printf "%.1f %.1f\n", w / NR, p / NR }' ratios)
	printf '%-22s %3d clients: CPU/transaction %.2f [%.2f..%.2f] (%s and %s us), tps %.2f [%.2f..%.2f]\n' \
		"$script/$mode" "$c" "$cpu" "$cpu_low" "$cpu_high" "$w_us" "$p_us" "$tps" "$tps_low" "$tps_high"
	[ "$mode" = pipeline ] && [ "$script" = tpcb-like ] && bar=0.30
	awk -v v="$cpu" -v bar=$bar 'BEGIN { exit !(v <= bar) }' || miss "processor time above $bar"
	awk -v v="$tps_high" 'BEGIN { exit !(v >= 1) }' || miss "fewer transactions than pgbench"
	[ "$mode" = pipeline ] || echo "$cpu" >>medians
}

for part in "${parts[@]}"; do
	case $part in
	cells)
		: >medians
		for cell in "${cells[@]}"; do
			for c in "${clients[@]}"; do one_cell "${cell%/*}" "${cell#*/}" "$c" || missed=1; done
		done
		if [ -s medians ]; then
			read -r median _ < <(interval <medians)
			printf 'median of %d cells: CPU/transaction %.2f\n' "$(wc -l <medians)" "$median"
			awk -v v="$median" 'BEGIN { exit !(v <= 0.88) }' || miss "the median is above 0.88"
		fi
		;;
	threads)
		# In turns: two threads of pgbench may use a second core, which a pair at once would not see.
		for c in 4 8; do
			: >turns
			for ((i = 0; i < pairs; i++)); do
				run_pgbench p select-only prepared $c -j 1 -T "$length"
				one=$(count_of p | cut -d' ' -f2)
				run_walprobe w select-only prepared $c -T "$length"
				ours=$(count_of w | cut -d' ' -f2)
				run_pgbench p select-only prepared $c -j 2 -T "$length"
				two=$(count_of p | cut -d' ' -f2)
				run_walprobe w select-only prepared $c -j 2 -T "$length"
				echo "$one $two $ours $(count_of w | cut -d' ' -f2)" >>turns
			done
			awk -v c=$c '{ a += $1; b += $2; w += $3; x += $4 } END {
				best = a > b ? a : b
				printf "select-only/prepared   %3d clients: tps %d and %d with -j 2, pgbench %d and %d with -j 2: %.2f and %.2f of the better\n",
					c, w / NR, x / NR, a / NR, b / NR, w / best, x / best }' turns
			best=1
			awk '{ a += $1; b += $2 } END { exit !(b > a) }' turns && best=2
			ours=3
			awk '{ w += $3; x += $4 } END { exit !(x > w) }' turns && ours=4
			read -r _ _ high < <(awk -v best=$best -v ours=$ours '{ print $ours / $best }' turns | interval)
			awk -v v="$high" 'BEGIN { exit !(v >= 1) }' || miss "slower than pgbench with the better number of threads"
		done
		;;
	memory)
		"$walprobe" ramp -S -c 1000 -T 3 --rounds=1 --no-checkpoint -n -q --format=json -o w.out 2>w.err &
		pid=$!
		most=0
		while kill -0 $pid 2>/dev/null; do
			now=$(awk '/^VmHWM/ { print $2 }' /proc/$pid/status 2>/dev/null)
			[ "${now:-0}" -le "$most" ] || most=$now
			sleep 0.1
		done
		wait $pid || { cat w.err >&2; missed=1; }
		printf '1,000 clients: %d transactions, %.1f MB of memory at most\n' "$(count_of w | cut -d' ' -f1)" "$(awk -v k="$most" 'BEGIN { print k / 1024 }')"
		[ "$most" -lt 102400 ] || miss "100 MB or more for 1,000 clients"
		;;
	esac
done
exit $missed
