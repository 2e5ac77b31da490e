#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
# What ramp reads from a real 18: pg_stat_io, pg_stat_checkpointer, pg_stat_wal, beside what the
# server itself says before and after.
. "$(dirname "$0")/../integration/lib.sh"
[ -n "$PG18_BIN" ] || skip "$PG18_MISSING"
need_command psql jq
export PG_BIN=$PG18_BIN
# The clients of another version do: the embedded server comes without.
for PG_CLIENT_BIN in "$PG18_BIN" /usr/lib/postgresql/*/bin; do [ ! -x "$PG_CLIENT_BIN/psql" ] || break; done
. "$TESTS/tools/server.sh"
trap remove_server EXIT
start_server autovacuum=off wal_level=replica wal_sync_method=fdatasync

row() {
	json_rows ramp r.json | jq -r ".$1"
}
ramp() {
	rm -f r.json
	expect_status 0 "$WALPROBE" ramp --format=json -o r.json --rounds=1 -n "$@"
}
# io FIELD: of the log outside of its segments' creation, all backends together
io() {
	sql 'SELECT pg_stat_clear_snapshot()' >/dev/null
	sql "SELECT coalesce(sum($1), 0)::bigint FROM pg_stat_io WHERE object = 'wal' AND context = 'normal'"
}
above() { # VALUE LEAST WHAT
	awk -v v="$1" -v l="$2" 'BEGIN { exit !(v > l) }' || fail "$3 is $1"
}

version=$(sql 'SHOW server_version_num')
[ "$version" -ge 180000 ] && [ "$version" -lt 190000 ] || fail "this is $version"
echo "tables and counts"
expect_status 0 "$WALPROBE" ramp -i -s 4 -q
for mode in "-M simple" "-M prepared" "-M prepared --pipeline"; do
	# shellcheck disable=SC2086 # options are words
	ramp $mode -c 4 -t 50
	[ "$(row transactions)" = 200 ] || fail "$mode: $(row transactions) transactions"
	[ "$(json '[.checks[] | select(.id == "accounting" and .status == "pass")] | length' r.json)" = 1 ] ||
		fail "$mode: $(json '.checks[] | select(.id == "accounting")' r.json -c)"
done
[ "$(sql 'SELECT count(*) FROM pgbench_history')" = 600 ] || fail "$(sql 'SELECT count(*) FROM pgbench_history') rows"

echo "pg_stat_io beside the row"
fsyncs=$(io fsyncs)
writes=$(io writes)
ramp -b commit-only -c 1 -t 300 --no-checkpoint
sleep 1.2 # a backend that lives publishes once a second
fsyncs=$(($(io fsyncs) - fsyncs))
writes=$(($(io writes) - writes))
# One client: each commit is one sync, and what connecting adds is little.
[ "$fsyncs" -ge 300 ] && [ "$fsyncs" -lt 340 ] || fail "the server synced $fsyncs times for 300 commits"
is_near "$(row commits_per_sync)" 1 8 || fail "commits_per_sync of one client is $(row commits_per_sync)"
[ "$writes" -ge 300 ] || fail "the server wrote $writes times"
above "$(row wal_sync_mean_ns)" 1000 wal_sync_mean_ns
above "$(row wal_write_mean_ns)" 100 wal_write_mean_ns
above "$(row wal_bytes_per_transaction)" 50 wal_bytes_per_transaction
# All of the time in syncs is less than all of the time.
awk -v mean="$(row wal_sync_mean_ns)" -v all="$(row elapsed_ns)" 'BEGIN { exit !(mean * 300 < all) }' ||
	fail "300 syncs of $(row wal_sync_mean_ns) ns in $(row elapsed_ns) ns"
ramp -b commit-only -c 8 -T 2 --no-checkpoint
above "$(row commits_per_sync)" 1.05 "commits_per_sync of eight clients"

echo "open_datasync has no syncs of its own"
sql "ALTER SYSTEM SET wal_sync_method = 'open_datasync'" && sql 'SELECT pg_reload_conf()' >/dev/null
sleep 0.5
ramp -b commit-only -c 1 -t 200 --no-checkpoint
is_near "$(row commits_per_sync)" 1 15 || fail "open_datasync: commits_per_sync is $(row commits_per_sync)"
above "$(row wal_sync_mean_ns)" 1000 "open_datasync: wal_sync_mean_ns"
sql "ALTER SYSTEM RESET wal_sync_method" && sql 'SELECT pg_reload_conf()' >/dev/null
sleep 0.5

echo "page images and checkpoints"
ramp -c 2 -t 100
above "$(row wal_fpi_per_transaction)" 0.1 "wal_fpi_per_transaction after a checkpoint"
[ "$(row checkpoints)" = 0 ] || fail "checkpoints within a short step: $(row checkpoints)"
(sleep 1 && sql 'CHECKPOINT') &
ramp -c 2 -T 3
wait $!
[ "$(row checkpoints)" = 1 ] || fail "checkpoints is $(row checkpoints)"
[ "$(json '[.checks[] | select(.id == "ramp-checkpoint")] | length' r.json)" -ge 1 ] || fail "nothing is said of the checkpoint"
expect_status 0 "$WALPROBE" ramp -c 1 -t 20 --rounds=1 --format=pgbench
expect_text out '^number of transactions actually processed: 20/20$'
expect_text out '^tps = [0-9.]+ \(without initial connection time\)$'
