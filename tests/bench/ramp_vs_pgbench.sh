#!/bin/bash
# Client processor time per transaction of walprobe ramp and of pgbench, both running at the same
# time on the same server, pair by pair. Usage: ramp_vs_pgbench.sh WALPROBE
#
# Prints for every cell the ratio walprobe / pgbench (median, least and most of the pairs) of CPU per
# transaction and of transactions a second. Both are whole processes (user and system time as the
# kernel reaped it) less what the same process takes for one transaction per client: start-up and
# connections. PAIRS, SECONDS_EACH, CELLS and CLIENTS may be set.
# shellcheck disable=SC2046 # commands are words
set -u
walprobe=$(readlink -f "$1")
pairs=${PAIRS:-5}
seconds=${SECONDS_EACH:-4}
cells=${CELLS:-select-only/prepared select-only/simple tpcb-like/prepared tpcb-like/simple tpcb-like/pipeline}
clients=${CLIENTS:-1 8 64}
bin=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
[ -x "$bin/pgbench" ] || { echo "skipped: no PostgreSQL server and pgbench found in /usr/lib/postgresql"; exit 77; }
work=$(mktemp -d /tmp/walprobe-bench-XXXXXX)
as=()
if [ "$(id -u)" = 0 ]; then
	chown postgres "$work"
	as=(runuser -u postgres --)
fi
cleanup() {
	"${as[@]}" "$bin/pg_ctl" -D "$work/data" -m immediate -w stop >/dev/null 2>&1
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM
cd "$work" || exit 3
"${as[@]}" "$bin/initdb" -D "$work/data" -A trust -U postgres >initdb.log 2>&1 || { cat initdb.log >&2; exit 3; }
"${as[@]}" "$bin/pg_ctl" -D "$work/data" -w -l "$work/server.log" -o "-k $work -c listen_addresses='' -c port=5499 \
	-c shared_buffers=256MB -c max_wal_size=4GB -c checkpoint_timeout=30min -c max_connections=250" start >/dev/null || exit 3
export PGHOST=$work PGPORT=5499 PGUSER=postgres PGDATABASE=postgres
"$bin/pgbench" -i -q -s 100 >/dev/null 2>&1 || exit 3

# cpu FILE COMMAND...: user + system seconds of the command into FILE
cpu() {
	local file=$1
	shift
	python3 -c '
import os, resource, subprocess, sys
subprocess.run(sys.argv[2:], stdout=open(sys.argv[1] + ".out", "w"), stderr=open(sys.argv[1] + ".err", "w"))
used = resource.getrusage(resource.RUSAGE_CHILDREN)
open(sys.argv[1], "w").write(str(used.ru_utime + used.ru_stime))' "$file" "$@"
}
walprobe_command() { # SCRIPT MODE CLIENTS LENGTH...
	local script=$1 mode=$2 c=$3
	shift 3
	[ "$mode" = pipeline ] && mode=prepared && set -- "$@" --pipeline
	echo "$walprobe" ramp -b "$script" -M "$mode" -c "$c" --rounds=1 --no-checkpoint -n --format=json "$@"
}
pgbench_command() {
	local script=$1 mode=$2 c=$3
	shift 3
	[ "$mode" = pipeline ] && mode=prepared
	# What walprobe is held against is always pgbench -M prepared, but for simple against simple.
	echo "$bin/pgbench" -n -b "$script" -M "$mode" -c "$c" -j 1 "$@"
}
for cell in $cells; do
	script=${cell%/*} mode=${cell#*/}
	for c in $clients; do
		: >starts
		for ((i = 0; i < pairs; i++)); do
			cpu w $(walprobe_command "$script" "$mode" "$c" -t 1)
			cpu p $(pgbench_command "$script" "$mode" "$c" -t 1)
			echo "$(cat w) $(cat p)" >>starts
		done
		: >pairs
		for ((i = 0; i < pairs; i++)); do
			cpu w $(walprobe_command "$script" "$mode" "$c" -T "$seconds") &
			cpu p $(pgbench_command "$script" "$mode" "$c" -T "$seconds") &
			wait
			python3 - >>pairs <<'P'
import json, re, statistics
row = [t for t in json.load(open("w.out"))["tables"] if t["name"] == "ramp"][0]["rows"][0]
text = open("p.out").read()
wn = row["transactions"]
pn = int(re.search(r"actually processed: (\d+)", text).group(1))
starts = [list(map(float, line.split())) for line in open("starts")]
wc = float(open("w").read()) - statistics.median(start[0] for start in starts)
pc = float(open("p").read()) - statistics.median(start[1] for start in starts)
print((wc / wn) / (pc / pn), row["tps_excluding"] / float(re.search(r"tps = ([\d.]+)", text).group(1)),
	1e6 * wc / wn, 1e6 * pc / pn, row["client_cpu_ns_per_transaction"] / 1e3)
P
		done
		python3 - "$cell" "$c" <<'P'
import statistics, sys
rows = [list(map(float, l.split())) for l in open("pairs")]
def say(k): v = [r[k] for r in rows]; return "%.2f [%.2f..%.2f]" % (statistics.median(v), min(v), max(v))
print("%-22s c=%-3s CPU/txn ratio %s  tps ratio %s  (%.1f and %.1f us; threads alone %.1f)" % (sys.argv[1], sys.argv[2], say(0), say(1),
	statistics.median(r[2] for r in rows), statistics.median(r[3] for r in rows),
	statistics.median(r[4] for r in rows)))
P
	done
done
