#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# store_scale.sh - DOCUMENTS (10000) documents of HOSTS (1000) in the results database: how long a question takes.
#
# The document is a real one of this build (compare on two directories), with other hosts, days and
# kernels. 200 go in through "walprobe store", the rest through the same function in the server.
# Printed: documents a second, size in the database, time of each question, and whether its plan
# reads a big table from end to end (exit status 1: questions must find their rows by an index).
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/../integration/lib.sh"
# shellcheck source=tests/tools/server.sh
. "$(dirname "$0")/../tools/server.sh"
need_command jq
cd "$(mktemp -d)" || exit 1
here=$PWD
trap 'remove_server; rm -rf "$here"' EXIT
trap 'exit 130' INT TERM HUP
start_server max_wal_size=4GB synchronous_commit=off
db="host=$PG_ROOT port=$PGPORT user=postgres dbname=postgres"
documents=${DOCUMENTS:-10000}
hosts=${HOSTS:-1000}

mkdir a b
"$WALPROBE" compare --rounds=6 --time=5ms --quiet --format=json a b >compare.json || true
"$WALPROBE" inspect --operations=10 --control-time=50ms --quiet --format=json a >inspect.json || true
for i in $(seq 200); do
	jq -c --arg h "host$i" --arg d "$(printf '2024-01-%02dT00:00:00Z' $((i % 28 + 1)))" \
		'.started = $d | (.environment[] | select(.key == "host")).value = $h' compare.json >"d$i.json"
done
begun=$(date +%s.%N)
"$WALPROBE" store --db "$db" --quiet -o /dev/null d*.json || fail "store"
awk -v a="$begun" -v b="$(date +%s.%N)" -v size="$(stat -c %s d1.json)" \
	'BEGIN { printf "through walprobe store   %8.0f documents/s of %d kB\n", 200 / (b - a), size / 1024 }'

# 1 of 4 is an inspection; a host's kernel changes once.
begun=$(date +%s.%N)
sql "CREATE TABLE template (n int, body jsonb)"
for n in compare inspect; do
	"$PG_BIN/psql" -X -q -v ON_ERROR_STOP=1 -v body="$(jq -c . $n.json)" -v n=$n <<'SQL' || fail "template"
INSERT INTO template VALUES ((:'n' = 'inspect')::int, :'body')
SQL
done
sql "SELECT count(walprobe.put(jsonb_set(jsonb_set(t.body, '{started}',
		to_jsonb(to_char(timestamp '2025-01-01' + i * interval '1 hour', 'YYYY-MM-DD\"T\"HH24:MI:SS\"Z\"'))),
		'{environment}', jsonb_build_array(
			jsonb_build_object('key', 'host', 'value', 'host' || i % $hosts, 'source', 'x'),
			jsonb_build_object('key', 'kernel', 'value', '6.' || (i > $documents / 2)::int, 'source', 'x')))::text, NULL))
	FROM generate_series(1, $documents - 200) AS i JOIN template AS t ON t.n = (i / $hosts % 4 = 0)::int" >/dev/null
sql "VACUUM ANALYZE"
awk -v a="$begun" -v b="$(date +%s.%N)" -v n="$documents" \
	'BEGIN { printf "in the server            %8.0f documents/s\n", n / (b - a) }'
sql "SELECT 'documents ' || count(*) || ', database ' || pg_size_pretty(pg_database_size(current_database())) FROM walprobe.document"

status=0
for view in lying_caches batteries fastest_file_system kernel_change power_cut_verdicts silent_hosts; do
	sql "EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM walprobe.$view" >plan.json
	jq -r --arg v "$view" '.[0] | "\($v)  \(."Execution Time") ms, \(.Plan."Actual Rows") rows"' plan.json
	if jq -e '[.. | objects | select(."Node Type"? == "Seq Scan" and
		(."Relation Name" | IN("measurement", "check_result", "document")))] | length > 0' plan.json >/dev/null; then
		echo "  reads a big table from end to end"
		status=1
	fi
done
exit $status
