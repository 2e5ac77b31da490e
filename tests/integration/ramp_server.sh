#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
# ramp on a server that runs: exact counts in every mode, errors, retries, stalls, lost clients.
. "$(dirname "$0")/lib.sh"
. "$TESTS/tools/server.sh"
trap remove_server EXIT
start_server autovacuum=off

row() { # FIELD: of the only row of table ramp in r.json
	json_rows ramp r.json | jq -r ".$1"
}
ramp() { # STATUS OPTION...: a document in r.json
	local status=$1
	shift
	rm -f r.json
	expect_status "$status" "$WALPROBE" ramp --format=json -o r.json "$@"
}
begin() { # heading of a part, for a reader of the log
	echo "$*"
}

begin "tables"
expect_status 3 "$WALPROBE" ramp -T 1
expect_text err "pgbench's tables are missing"
expect_text err 'ramp -i'
expect_status 0 "$WALPROBE" ramp -i -s 8
[ "$(sql 'SELECT count(*) FROM pgbench_accounts')" = 800000 ] || fail "accounts"
expect_status 3 "$WALPROBE" ramp -i -s 1
expect_text err 'replace-tables'
[ "$(sql 'SELECT count(*) FROM pgbench_accounts')" = 800000 ] || fail "a refusal changed the tables"
"$PG_BIN/pgbench" -n -t 5 >/dev/null 2>&1 || fail "pgbench cannot use our tables"
sql 'TRUNCATE pgbench_history; UPDATE pgbench_accounts SET abalance = 0 WHERE abalance <> 0;
	UPDATE pgbench_tellers SET tbalance = 0; UPDATE pgbench_branches SET bbalance = 0'

begin "exact counts in every mode"
rows_wanted=0
for mode in "-M simple" "-M extended" "-M prepared" "-M prepared --pipeline" "-M extended --pipeline" "-C -M prepared" "-j 3 -M prepared"; do
	# shellcheck disable=SC2086
	ramp 0 $mode -c 5 -t 20 --rounds=2 -n
	[ "$(row transactions)" = 200 ] || fail "$mode: $(row transactions) transactions instead of 200"
	rows_wanted=$((rows_wanted + 200))
	[ "$(sql 'SELECT count(*) FROM pgbench_history')" = $rows_wanted ] || fail "$mode: $(sql "SELECT count(*) FROM pgbench_history") rows in pgbench_history instead of $rows_wanted"
	jq -e '[.checks[] | select(.id == "accounting" and .status == "pass")] | length == 1' r.json >/dev/null ||
		fail "$mode: $(jq -c '.checks[] | select(.id == "accounting")' r.json)"
done
ramp 0 -c 3 -j 2 -T 1 --rounds=1 --warmup=200ms
rows_wanted=$((rows_wanted + $(row transactions) + $(row warmup_transactions)))
[ "$(sql 'SELECT count(*) FROM pgbench_history')" = $rows_wanted ] || fail "by time: rows in pgbench_history"
[ "$(row overrun_ns)" -lt 1000000000 ] || fail "a second of overrun"
[ "$(sql 'SELECT count(DISTINCT v) FROM (SELECT sum(abalance) AS v FROM pgbench_accounts UNION ALL
	SELECT sum(tbalance) FROM pgbench_tellers UNION ALL SELECT sum(bbalance) FROM pgbench_branches UNION ALL
	SELECT sum(delta) FROM pgbench_history) AS sums')" = 1 ] || fail "balances differ"
ramp 0 -b commit-only -c 2 -t 50 --rounds=1
rows_wanted=$((rows_wanted + 100))
[ "$(sql 'SELECT count(*) FROM pgbench_history')" = $rows_wanted ] || fail "commit-only: rows"
ramp 0 -S -c 2 -t 50 --rounds=1
[ "$(row transactions)" = 100 ] || fail "select-only"

begin "the same seed sends the same"
deltas() { sql 'SELECT md5(string_agg(format($$%s %s %s %s$$, tid, bid, aid, delta), $$,$$ ORDER BY tid, bid, aid, delta)) FROM pgbench_history'; }
sql 'TRUNCATE pgbench_history'
ramp 0 -c 3 -t 30 --rounds=2 --random-seed=7
first=$(deltas)
sql 'TRUNCATE pgbench_history'
ramp 0 -c 3 -t 30 --rounds=2 --random-seed=7 -M simple -j 2
[ "$(deltas)" = "$first" ] || fail "the same seed gave other numbers"
sql 'TRUNCATE pgbench_history'
ramp 0 -c 3 -t 30 --rounds=2 --random-seed=8
[ "$(deltas)" != "$first" ] || fail "another seed gave the same numbers"

begin "serialization failures and deadlocks"
sql 'CREATE TABLE xy (id int PRIMARY KEY, v int); INSERT INTO xy SELECT n, 0 FROM generate_series(1, 2) AS n'
cat >serial.sql <<'S'
\set delta random(1, 1000)
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT v FROM xy WHERE id = 1;
UPDATE xy SET v = v + 1 WHERE id = 1;
END;
S
ramp 0 -f serial.sql -c 4 -t 25 --rounds=1
[ $(($(row transactions) + $(row failed))) = 100 ] || fail "done + failed is not all"
[ "$(row serialization_failures)" -gt 0 ] || fail "no serialization failure"
[ "$(sql 'SELECT v FROM xy WHERE id = 1')" = "$(row transactions)" ] || fail "rows and transactions differ"
sql 'UPDATE xy SET v = 0'
ramp 0 -f serial.sql -c 4 -t 25 --rounds=1 --max-tries=1000
[ "$(row transactions)" = 100 ] && [ "$(row failed)" = 0 ] || fail "not all were done in the end"
[ "$(row retried)" -gt 0 ] && [ "$(row retries)" -ge "$(row retried)" ] || fail "nothing was tried again"
[ "$(sql 'SELECT v FROM xy WHERE id = 1')" = 100 ] || fail "rows after retries"
cat >dead.sql <<'S'
\set first random(1, 2)
BEGIN;
UPDATE xy SET v = v + 1 WHERE id = :first;
\sleep 5 ms
UPDATE xy SET v = v + 1 WHERE id = 3 - :first;
END;
S
sql "ALTER SYSTEM SET deadlock_timeout = '10ms'" && sql 'SELECT pg_reload_conf()' >/dev/null
ramp 0 -f dead.sql -c 4 -t 10 --rounds=1 --max-tries=1000 -M extended
[ "$(row transactions)" = 40 ] && [ "$(row retried)" -gt 0 ] || fail "deadlocks: $(row transactions) done, $(row retried) retried"
ramp 0 -f dead.sql -c 4 -t 10 --rounds=1 --pipeline
[ $(($(row transactions) + $(row deadlock_failures))) = 40 ] || fail "deadlocks in a pipeline"

begin "scripts"
cat >gset.sql <<'S'
SELECT 41 AS answer, NULL AS nothing \gset one_
\set answer :one_answer + 1
\if :answer = 42
SELECT 1;
\else
SELECT 1 / 0;
\endif
\startpipeline
SELECT 1;
SELECT 2;
\endpipeline
S
for mode in extended prepared; do
	ramp 0 -f gset.sql -c 2 -t 5 --rounds=1 -M $mode
	[ "$(row transactions)" = 10 ] || fail "gset under $mode"
done
bad() { # PATTERN SCRIPT-TEXT OPTION...
	local pattern=$1
	printf '%s\n' "$2" >bad.sql
	shift 2
	expect_status 3 "$WALPROBE" ramp --format=json -o r.json -f bad.sql -c 1 -t 1 --rounds=1 --no-untimed "$@"
	expect_text err "$pattern"
	[ "$(row tps_excluding)" = null ] || fail "a rate for a step that could not be finished"
}
bad 'division by zero' 'SELECT 1 / 0;'
bad 'division by zero' '\set x 1 / 0'
bad 'syntax error' 'SELEC 1;'
bad 'does not exist' 'SELECT * FROM no_such_table;'
bad 'expected one row, got 2' 'SELECT generate_series(1, 2) AS x \gset'
bad 'expected one row, got 0' 'SELECT 1 AS x WHERE false \gset'
bad 'without completing the last transaction' 'BEGIN;'
bad 'COPY is not supported' 'COPY xy TO STDOUT;'
bad 'canceling statement due to statement timeout' "SET statement_timeout = '50ms'; SELECT pg_sleep(5);" -M simple

begin "a schedule, its limits and its log"
ramp 0 -S -c 2 -T 1 --rounds=1 -R 200 -L 1000
count=$(row transactions)
[ "$count" -gt 100 ] && [ "$count" -lt 320 ] || fail "a rate of 200 gave $count in a second"
printf '\\sleep 20 ms\nSELECT 1;\n' >slow.sql
ramp 0 -f slow.sql -c 1 -t 50 --rounds=1 -R 1000 -L 5
[ $(($(row transactions) + $(row skipped))) = 50 ] && [ "$(row skipped)" -gt 10 ] || fail "skipped: $(row skipped)"
[ "$(row late)" = "$(row transactions)" ] || fail "late"
ramp 0 -S -c 4 -j 2 -t 25 --rounds=1 -l --log-prefix=tx
[ "$(cat tx.* | wc -l)" = 100 ] && [ "$(ls tx.* | wc -l)" = 2 ] || fail "lines or files of the log"
[ "$(cat tx.* | grep -cE '^[0-3] [0-9]{1,2} [0-9]+ 0 [0-9]{10} [0-9]{1,6}$')" = 100 ] || fail "lines of the log: $(cat tx.* | head -3)"
rm -f tx.*
ramp 0 -S -c 2 -T 2 --rounds=1 -l --log-prefix=sum --aggregate-interval=1
[ "$(cat sum.* | awk 'NF != 15 { exit 1 } { n += $2 } END { print n }')" = "$(row transactions)" ] || fail "sums in the log: $(cat sum.*)"
expect_status 0 "$WALPROBE" ramp -S -c 1 -T 2 --rounds=1 -P 1
expect_text err '^progress: 1\.[0-9] s, [0-9]+\.[0-9] tps, lat [0-9.]+ ms stddev [0-9.]+, 0 failed$'
ramp 0 -c 1 -t 3 --rounds=1 -r
[ "$(json_rows statements r.json | jq -s 'map(select(.executions == 3)) | length')" = 11 ] || fail "commands"

begin "a server that stalls does not hold the step"
"$PG_BIN/psql" -X -q -c 'BEGIN; SELECT 1 FROM pgbench_branches FOR UPDATE; SELECT pg_sleep(20)' >/dev/null 2>&1 &
locker=$!
sleep 0.5
before=$(date +%s%N)
echo 'SELECT 1 FROM pgbench_branches FOR UPDATE;' >wait.sql
expect_status 0 timeout 15 "$WALPROBE" ramp --format=json -o r.json -f slow.sql@1 -f wait.sql@3 \
	-c 4 -T 2 --rounds=1 -n --no-untimed --no-checkpoint -s 8
[ "$(row cut)" -gt 0 ] || fail "nothing was cut"
[ "$(row overrun_ns)" -lt 2000000000 ] || fail "overrun $(row overrun_ns)"
[ $(($(date +%s%N) - before)) -lt 9000000000 ] || fail "it took too long"
[ "$(sql "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'walprobe client'")" = 0 ] || fail "backends are left"
"$PG_BIN/psql" -X -q -c "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'BEGIN; SELECT 1 FROM pgbench_branches FOR UPDATE%'" >/dev/null
wait $locker

begin "a client's backend is terminated"
(
	sleep 1
	sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'walprobe client' ORDER BY pid LIMIT 1"
) >/dev/null &
ramp 3 -c 4 -T 4 --rounds=1
wait
expect_text err 'terminating connection due to administrator command|lost its connection|closed the connection'
[ "$(row lost_clients)" = 1 ] && [ "$(row tps_excluding)" = null ] || fail "lost clients: $(row lost_clients)"
[ "$(row transactions)" -gt 0 ] || fail "what was done is not told"
expect_one_error

begin "errors before anything runs"
expect_status 2 "$WALPROBE" ramp -c three
expect_status 2 "$WALPROBE" ramp -t 1 -S -T 1
expect_text err 'specify either'
expect_status 2 "$WALPROBE" ramp -b nosuch
expect_status 2 "$WALPROBE" ramp -f nosuch.sql
expect_text err 'nosuch.sql'
expect_status 2 "$WALPROBE" ramp --define=foobla
expect_status 2 "$WALPROBE" ramp -M nosuch
expect_status 2 "$WALPROBE" ramp --sampling-rate=0.5
expect_status 2 "$WALPROBE" ramp --max-tries=0 -t 1
expect_status 2 "$WALPROBE" ramp -R 0
expect_status 2 "$WALPROBE" ramp -i -S
expect_status 2 "$WALPROBE" ramp -F 90
expect_status 3 "$WALPROBE" ramp -d no-such-database -T 1
expect_text err 'database "no-such-database" does not exist'
expect_status 3 "$WALPROBE" ramp -h /nonexistent -T 1
expect_one_error
expect_status 3 "$WALPROBE" ramp -c 59 -T 1
expect_text err 'max_connections'
sql "CREATE ROLE limited LOGIN PASSWORD 'x'; GRANT ALL ON ALL TABLES IN SCHEMA public TO limited"
ramp 0 -U limited -S -c 1 -t 10 --rounds=1
expect_text err 'CHECKPOINT'

begin "the server is killed"
(
	sleep 1.5
	kill -KILL "$(head -1 "$PG_ROOT/data/postmaster.pid")"
) &
expect_status 3 timeout 30 "$WALPROBE" ramp --format=json -o r.json -c 2 -T 4 --rounds=1 -n
wait
[ "$(row tps_excluding)" = null ] || fail "a rate although the server was killed"
expect_one_error
