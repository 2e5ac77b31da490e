#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# inspect_server.sh - the pg_wal of a running server: looked at, its settings, a library that drops
# its syncs.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/tools/server.sh
. "$(dirname "$0")/../tools/server.sh"
need_command jq
trap remove_server EXIT
trap 'exit 130' INT TERM HUP
start_server autovacuum=off
conninfo="host=$PG_ROOT port=$PGPORT user=postgres dbname=postgres"

# Looking only.
expect_status 0 "$WALPROBE" inspect --format=json --server "$conninfo"
[ "$(json '.targets[0].label' out)" = server ] || fail "the label"
[ "$(json '.checks[] | select(.id == "links") | .status' out)" = unknown ] || fail "something was written"
[ "$(json '[.checks[] | select(.id == "server-settings")][0].status' out)" = pass ] || fail "the settings"
[ "$(json '[.tables[] | select(.name == "flush")] | length' out)" = 0 ] || fail "something was measured"
expect_clean "$PG_ROOT/data"

# Beside it with --force, and other targets too.
mkdir other
expect_status 0 "$WALPROBE" inspect --force --operations=20 --control-time=50ms --format=json --server "$conninfo" other
[ "$(json '[.targets[].label] | join(" ")' out)" = "server other" ] || fail "the labels"
[ "$(json '[.checks[] | select(.id == "links" and .target == "server")][0].status' out)" != unknown ] ||
	fail "nothing was measured with --force"
[ -z "$(find "$PG_ROOT" -name 'walprobe*')" ] || fail "something was left in the server's directory"

# A server that does not wait for its disk.
stop_server fast
start_server fsync=off
expect_status 1 "$WALPROBE" inspect --server "$conninfo"
expect_text out 'FAIL +server-settings'

# A library in the server's memory that makes fsync do nothing.
stop_server fast
if command -v cc >/dev/null 2>&1; then
	echo 'int fsync(int fd); int fsync(int fd) { return fd < 0; }' >none.c
	cc -shared -fPIC -o "$PG_ROOT/libeatmydata.so" none.c || fail "cc"
	chmod 755 "$PG_ROOT/libeatmydata.so"
	PG_AS=("${PG_AS[@]}" env "LD_PRELOAD=$PG_ROOT/libeatmydata.so")
	start_server
	expect_status 1 "$WALPROBE" inspect --server "$conninfo"
	expect_text out 'FAIL +barriers'
	expect_text out 'libeatmydata.so'
	stop_server fast
fi

expect_status 3 "$WALPROBE" inspect --server "$conninfo"
expect_one_error
