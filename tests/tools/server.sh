# shellcheck shell=sh
# SPDX-License-Identifier: PostgreSQL
#
# server.sh - a real PostgreSQL for a test: own directory, own socket, gone at the end. Sourced after
# tests/integration/lib.sh.
#
#   need_server          skips with the reason where there is no server to run; sets bin
#   server_init          makes a cluster in $server (socket and logs lie there too)
#   server_start [-c NAME=VALUE]...
#   server_stop [MODE]   fast by default
#   server_sql SQL...    prints what the statements give
#
# In a trap: server_gone.

need_server() {
	bin=
	for dir in $(printf '%s\n' /usr/lib/postgresql/*/bin | sort -t/ -k5 -n -r); do
		[ -n "$bin" ] || [ ! -x "$dir/initdb" ] || bin=$dir
	done
	[ -n "$bin" ] || skip "no server of PostgreSQL is installed"
	server_user=$(id -un)
	if [ "$(id -u)" -eq 0 ]; then
		id postgres >/dev/null 2>&1 || skip "root may not run a server, and there is no user postgres"
		need_command setpriv
		server_user=postgres
	fi
}

as_server_user() {
	if [ "$server_user" = "$(id -un)" ]; then
		env -i LC_ALL=C HOME=/ PATH="$bin:$PATH" "$@"
	else
		setpriv --reuid="$server_user" --regid="$(id -g "$server_user")" --init-groups \
			env -i LC_ALL=C HOME=/ PATH="$bin:$PATH" "$@"
	fi
}

server_init() {
	# Not in TMPDIR: the server's user may not search it, and a socket's path must be short.
	server=$(mktemp -d /tmp/wp-test-server.XXXXXX) || fail "no directory for the server"
	chmod 755 "$server"
	[ "$server_user" = "$(id -un)" ] || chown "$server_user" "$server"
	(cd / && as_server_user "$bin/initdb" -D "$server/data" -A trust -U postgres --no-sync) >initdb.log 2>&1 ||
		fail "initdb: $(cat initdb.log)"
	cat >>"$server/data/postgresql.conf" <<END
listen_addresses = ''
unix_socket_directories = '$server'
autovacuum = off
END
}

server_start() {
	(cd / && as_server_user "$bin/pg_ctl" -D "$server/data" -l "$server/log" -w -t 60 -o "$*" start) >pg_ctl.log 2>&1 ||
		fail "the server does not start: $(tail -n 5 "$server/log" 2>/dev/null) $(cat pg_ctl.log)"
}

server_stop() {
	(cd / && as_server_user "$bin/pg_ctl" -D "$server/data" -w -m "${1:-fast}" stop) >/dev/null 2>&1
}

server_sql() {
	for sql in "$@"; do
		"$bin/psql" -h "$server" -U postgres -d postgres -qAtX -v ON_ERROR_STOP=1 -c "$sql" 2>psql.err ||
			fail "psql: $(cat psql.err)"
	done
}

server_gone() {
	[ -n "${server:-}" ] || return 0
	[ ! -f "$server/data/postmaster.pid" ] || server_stop immediate
	rm -rf "$server"
}
