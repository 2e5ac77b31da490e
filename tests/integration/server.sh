#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# server.sh - compare beside the pg_wal of a running server: its place, its settings, what to change.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/tools/server.sh
. "$(dirname "$0")/../tools/server.sh"
need_command jq
trap remove_server EXIT
trap 'exit 130' INT TERM HUP
start_server autovacuum=off wal_sync_method=open_sync
server=$PG_ROOT
conninfo="host=$server port=$PGPORT user=postgres dbname=postgres"
quick="--rounds=6 --time=20ms --warmup=0s"
mkdir candidate

# Beside pg_wal, never in it, and only with --force.
# shellcheck disable=SC2086 # a list of words
expect_status 0 "$WALPROBE" compare $quick --server "$conninfo" --force --format=json candidate
[ "$(json '[.targets[].label] | join(" ")' out)" = "server candidate" ] || fail "the targets"
[ "$(json '.tables[] | select(.name == "server") | .rows[] | select(.setting == "wal_sync_method") | .value' out)" = \
	open_sync ] || fail "the server's setting"
[ "$(json '[.checks[] | select(.id == "server-settings")][0].status' out)" = pass ] || fail "the settings are safe"
json '.tables[] | select(.name == "recommendation") | .rows[] | select(.item == "change on the server") | .value' out |
	grep -q "ALTER SYSTEM SET wal_sync_method" || [ "$(json '.tables[] | select(.name == "recommendation") | .rows[]
		| select(.item == "wal_sync_method") | .value' out)" = open_sync ] || fail "what to change is not said"
[ -z "$(find "$server" -name 'walprobe*')" ] || fail "something was left in the server's directory"
expect_clean "$server"
expect_clean candidate

# Without --force the server's pg_wal is not touched.
# shellcheck disable=SC2086 # a list of words
expect_status 0 "$WALPROBE" compare $quick --server "$conninfo" --format=json candidate
[ "$(json '[.targets[].label] | join(" ")' out)" = candidate ] || fail "measured beside pg_wal without --force"
expect_text err 'not measured'
expect_status 2 "$WALPROBE" compare --server "$conninfo"
expect_status 3 "$WALPROBE" sync --method=fdatasync --rounds=1 "$server/data/pg_wal"
expect_text err '--force'

# A server that does not wait for its disk fails the check.
stop_server fast
start_server fsync=off
# shellcheck disable=SC2086 # a list of words
expect_status 1 "$WALPROBE" compare $quick --server "$conninfo" candidate
expect_text out 'FAIL +server-settings'

# No server: one message, and what to do.
stop_server fast
expect_status 3 "$WALPROBE" compare --server "$conninfo" candidate
expect_one_error
expect_text err 'could not connect'
expect_text err '^walprobe: hint: '
