#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
# A throwaway server for tests that source lib.sh first: start_server, stop_server; PG* point to it.
# Skips the test where there is no PostgreSQL.
# shellcheck disable=SC2120

PG_BIN=${PG_BIN:-$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)}
# psql and pgbench, where they are those of another version
PG_CLIENT_BIN=${PG_CLIENT_BIN:-$PG_BIN}
[ -x "$PG_BIN/initdb" ] && [ -x "$PG_CLIENT_BIN/pgbench" ] || skip "no PostgreSQL server in /usr/lib/postgresql"
PG_AS=()
if [ "$(id -u)" = 0 ]; then
	id postgres >/dev/null 2>&1 || skip "no user postgres to run a server"
	PG_AS=(runuser -u postgres --)
fi
PG_ROOT=$(mktemp -d /tmp/wp-server-XXXXXX)
[ "$(id -u)" != 0 ] || chown postgres "$PG_ROOT"

# shellcheck disable=SC2120 # callers may name a mode
stop_server() { # [mode]
	[ -d "$PG_ROOT/data" ] || return 0
	(cd / && "${PG_AS[@]}" "$PG_BIN/pg_ctl" -D "$PG_ROOT/data" -m "${1:-immediate}" -w stop) >/dev/null 2>&1
}

remove_server() {
	stop_server
	rm -rf "$PG_ROOT"
}

start_server() { # [setting...]
	local settings=
	for setting in "$@"; do settings="$settings -c $setting"; done
	[ -d "$PG_ROOT/data" ] ||
		(cd / && "${PG_AS[@]}" "$PG_BIN/initdb" -D "$PG_ROOT/data" -A trust -U postgres) >"$PG_ROOT/initdb.log" 2>&1 ||
		fail "initdb: $(cat "$PG_ROOT/initdb.log")"
	(cd / && "${PG_AS[@]}" "$PG_BIN/pg_ctl" -D "$PG_ROOT/data" -w -l "$PG_ROOT/log" \
		-o "-k $PG_ROOT -c listen_addresses= -c dynamic_shared_memory_type=mmap -c port=5497 -c max_connections=60 $settings" start) >/dev/null ||
		fail "the server does not start: $(tail -5 "$PG_ROOT/log")"
}

export PGHOST=$PG_ROOT PGPORT=5497 PGUSER=postgres PGDATABASE=postgres
unset PGSERVICE PGPASSWORD PGOPTIONS PGAPPNAME

sql() { # statement: its rows, unaligned
	"$PG_CLIENT_BIN/psql" -X -q -A -t -v ON_ERROR_STOP=1 -c "$1"
}
