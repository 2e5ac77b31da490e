#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# append_strace.sh - under strace, append with one client makes PostgreSQL 15's calls for each
# wal_sync_method and for creating and recycling segments; where a server is installed, its calls
# are looked at as well and must be the same.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need_command strace perl
tools=$(cd "$(dirname "$0")/../tools" && pwd)
calls=openat,pwrite64,pwritev,pwritev2,fsync,fdatasync,rename,link,unlink,newfstatat,close
strace -o /dev/null true 2>/dev/null || skip "strace may not trace here"

# trace_append NAME OPTIONS... - the trace of one short run in NAME.trace
trace_append() {
	name=$1
	shift
	mkdir -p target
	strace -f -y -o "$name.trace" -e "trace=$calls" "$WALPROBE" append --clients=1 --rounds=1 --time=30ms \
		--warmup=0s --pg-version=15 "$@" target >out 2>err || fail "append $*: $(cat err)"
	expect_clean target
}

# expect_calls WHAT TRACE EXPECTED-FILE
expect_calls() {
	"$tools/wal_calls" "$1" "$2" >got || fail "wal_calls $1 $2"
	diff -u "$3" got >&2 || fail "the calls of $1 in $2"
}

write_create() {
	cat <<END
unlink TEMP ENOENT
openat TEMP TEMP O_RDWR|O_CREAT|O_EXCL
$1
fsync TEMP
close TEMP
newfstatat NEW ENOENT
openat TEMP TEMP O_RDWR
fsync TEMP
close TEMP
openat NEW O_RDWR ENOENT
rename TEMP NEW
openat NEW NEW O_RDWR
fsync NEW
close NEW
openat DIR DIR O_RDONLY
fsync DIR
close DIR

END
}
write_create 'pwritev TEMP 262144 x64' >create.zero
write_create 'pwrite64 TEMP 1' >create.sparse
cat >recycle.rename <<END
openat OLD OLD O_RDWR
fsync OLD
close OLD
openat NEW O_RDWR ENOENT
rename OLD NEW
openat NEW NEW O_RDWR
fsync NEW
close NEW
openat DIR DIR O_RDONLY
fsync DIR
close DIR

END

# write_commit FLAGS [SYNC]
write_commit() {
	printf 'openat SEGMENT SEGMENT %s\npwrite64 SEGMENT, whole pages\n' "$1"
	[ $# -lt 2 ] || printf '%s SEGMENT\n' "$2"
	echo
}
write_commit O_RDWR fdatasync >commit.fdatasync
write_commit O_RDWR fsync >commit.fsync
write_commit 'O_RDWR|O_DSYNC' >commit.open_datasync
write_commit 'O_RDWR|O_SYNC' >commit.open_sync

for method in fdatasync fsync open_datasync open_sync; do
	trace_append "$method" "--method=$method"
	expect_calls commit "$method.trace" "commit.$method"
	expect_calls create "$method.trace" create.zero
	expect_calls recycle "$method.trace" recycle.rename
done
trace_append sparse --init=sparse
expect_calls create sparse.trace create.sparse

# The tail page is written again: most writes start at the offset of the one before.
perl -ne 'if (/pwrite64\(\d+<[^>]*[0-9A-F]{24}>.*, (\d+), (\d+)\)/) { $n++; $same++ if defined $last && $2 == $last;
	$last = $2 + $1 - 8192 } END { exit !($n > 50 && $same > 0.9 * $n) }' fdatasync.trace ||
	fail "writes do not start at the old tail page"

# ---- the real server ------------------------------------------------------------------------------
[ "$(id -u)" -eq 0 ] || skip "the model's calls are right; comparing with a server needs root"
bin=
for dir in /usr/lib/postgresql/15/bin /usr/lib/postgresql/14/bin; do
	[ -n "$bin" ] || [ ! -x "$dir/postgres" ] || bin=$dir
done
[ -n "$bin" ] || skip "the model's calls are right; no server of PostgreSQL 15 to compare with"
id postgres >/dev/null 2>&1 || skip "the model's calls are right; there is no user postgres"
need_command setpriv

# Not in TMPDIR, which the server's user may not search and where a socket's path may be too long.
server=$(mktemp -d /tmp/walprobe-test-server.XXXXXX) || fail "mktemp"
tracer=
as_postgres() {
	setpriv --reuid=postgres --regid=postgres --init-groups env -i LC_ALL=C PATH="$bin:$PATH" HOME=/ "$@"
}
# shellcheck disable=SC2317 # called by the trap
stop_server() {
	[ ! -f "$server/data/postmaster.pid" ] || as_postgres "$bin/pg_ctl" -D "$server/data" -m immediate stop >/dev/null 2>&1
	[ -z "$tracer" ] || wait "$tracer" 2>/dev/null
	rm -rf "$server"
}
trap stop_server EXIT
chmod 755 "$server"
chown postgres "$server"
as_postgres "$bin/initdb" -D "$server/data" -A trust -U postgres --no-sync >initdb.log 2>&1 || fail "initdb: $(cat initdb.log)"
cat >>"$server/data/postgresql.conf" <<END
listen_addresses = ''
unix_socket_directories = '$server'
min_wal_size = 80MB
autovacuum = off
END
run_sql() {
	as_postgres "$bin/psql" -h "$server" -U postgres -d postgres -qAtX -v ON_ERROR_STOP=1 "$@" >>psql.log 2>&1 ||
		fail "psql: $(tail -3 psql.log)"
}
for method in fdatasync fsync open_datasync open_sync; do
	# Traced by root, so that the server's user needs no right to trace.
	setsid strace -f -y -u postgres -o "server.$method.trace" -e "trace=$calls" \
		env -i LC_ALL=C "$bin/postgres" -D "$server/data" -c "wal_sync_method=$method" >server.log 2>&1 &
	tracer=$!
	for _ in $(seq 100); do
		as_postgres "$bin/pg_isready" -q -h "$server" -U postgres && break
		sleep 0.1
	done
	run_sql -c 'CREATE TABLE IF NOT EXISTS t (i int)'
	# Segments are switched, so that some are created, and recycled by the checkpoints.
	for _ in 1 2 3; do
		run_sql -c 'INSERT INTO t VALUES (1)' -c 'INSERT INTO t VALUES (2)' -c 'SELECT pg_switch_wal()'
	done
	run_sql -c CHECKPOINT -c 'INSERT INTO t VALUES (3)' -c 'SELECT pg_switch_wal()' -c CHECKPOINT
	as_postgres "$bin/pg_ctl" -D "$server/data" -m fast -w stop >/dev/null 2>&1 || fail "the server did not stop"
	wait "$tracer"
	tracer=
	"$tools/wal_calls" commit "server.$method.trace" >got
	while read -r line; do
		[ -z "$line" ] || grep -qxF "$line" got || {
			cat got >&2
			fail "the server's commits with $method do not show: $line"
		}
	done <"commit.$method"
done
cat server.*.trace >server.trace
"$tools/wal_calls" create server.trace >got
diff -u create.zero got >&2 || fail "the server creates segments otherwise"
# The server looks for a free number first, sometimes past numbers that are taken.
"$tools/wal_calls" recycle server.trace >got
awk -v RS= -v ORS='\n\n' '{ print; exit }' got >first
diff -u recycle.rename first >&2 || fail "the server recycles segments otherwise"
