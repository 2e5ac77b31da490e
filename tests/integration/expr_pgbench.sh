#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
# Expressions, statements and messages of the script language, each given to pgbench and to us.
#
# The expressions run in pgbench on a throwaway server, through debug() for types and values and
# through statements for what is sent.

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
data=$here/expr_pgbench

skip() {
	echo "$1"
	exit 77
}

bindir=
# shellcheck disable=SC2012 # no such folder has blanks in its name
for dir in $(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -t/ -k5 -n -r) \
	"$(pg_config --bindir 2>/dev/null)"; do
	if [ -x "$dir/pgbench" ] && [ -x "$dir/initdb" ] && [ -x "$dir/postgres" ]; then
		bindir=$dir
		break
	fi
done
[ -n "$bindir" ] || skip "no PostgreSQL with initdb, postgres and pgbench found"
user=$(id -un)
if [ "$user" = root ]; then
	id postgres >/dev/null 2>&1 || skip "root cannot start a server and there is no user postgres"
	user=postgres
fi

# not in TMPDIR, which the server's user may not search and where a socket's path may be too long
work=$(mktemp -d /tmp/walprobe-expr.XXXXXX) || exit 1
chmod 755 "$work"
mkdir "$work/server" && chmod 700 "$work/server"
[ "$user" = "$(id -un)" ] || chown "$user" "$work/server"

as_server() {
	if [ "$user" = "$(id -un)" ]; then
		"$@"
	else
		setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups "$@"
	fi
}

finish() {
	[ ! -f "$work/server/data/postmaster.pid" ] ||
		(cd / && as_server "$bindir/pg_ctl" -D "$work/server/data" -m immediate stop) \
			>/dev/null 2>&1
	rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM HUP PIPE

# The driver, built like the unit tests: against the library beside the binary under test.
values=$work/script_values
library=${WALPROBE_LIBRARY:-$(dirname "${WALPROBE:-$top/build/walprobe}")/obj/plain/libwalprobe.a}
[ -f "$library" ] || skip "$library is not built"
${CC:-cc} -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I"$top/include" -o "$values" \
	"$top/tests/tools/script_values.c" "$library" -lm || exit 1

(cd / && as_server "$bindir/initdb" -D "$work/server/data" -A trust -N -U postgres) \
	>"$work/initdb.log" 2>&1 || skip "initdb failed: $(tail -n 1 "$work/initdb.log")"
(cd / && as_server "$bindir/pg_ctl" -D "$work/server/data" -w -l "$work/server/log" \
	-o "-c listen_addresses= -c unix_socket_directories=$work/server -c fsync=off" start) \
	>"$work/start.log" 2>&1 || skip "the server did not start: $(tail -n 1 "$work/start.log")"
# the directory above the data holds only the socket; let pgbench reach it as whoever we are
chmod 755 "$work/server"
PGHOST=$work/server PGUSER=postgres PGDATABASE=postgres
export PGHOST PGUSER PGDATABASE

definitions="-D minint=-9223372036854775808 -D maxint=9223372036854775807 -D foo=-10.1
	-D bla=false -D i=+3 -D n=null -D t=t -D f=of -D d=1.0 -D y=YE -D hexa=0x10 -D e=1e3
	-D nan=nan -D inf=infinity -D on=ON -D default_seed=20010711"
failed=0

# shellcheck disable=SC2086 # the definitions are words
bench() {
	"$bindir/pgbench" -n -t 1 --random-seed=5432 $definitions "$@"
}

# shellcheck disable=SC2086
run_ours() {
	"$values" $definitions "$@"
}

# ---- values ----------------------------------------------------------------------------------

sed -e '/^#/d' -e '/^$/d' "$data/expressions" >"$work/expressions"
count=$(wc -l <"$work/expressions")
sed -e 's/^/\\set v debug(/' -e 's/$/)/' "$work/expressions" >"$work/values.sql"
bench -f "$work/values.sql" 2>"$work/values.log" >/dev/null
run_ours "$work/values.sql" >"$work/values.ours" 2>&1
grep '^debug(' "$work/values.log" >"$work/values.pgbench"
if [ "$(wc -l <"$work/values.pgbench")" -ne "$count" ]; then
	echo "pgbench evaluated only $(wc -l <"$work/values.pgbench") of $count expressions:"
	grep 'error:' "$work/values.log" | head -n 3
	failed=1
fi
if ! cmp -s "$work/values.pgbench" "$work/values.ours"; then
	echo "values differ (< pgbench, > ours); command=N is line N of the expressions:"
	diff "$work/values.pgbench" "$work/values.ours" | head -n 40
	failed=1
fi

# ---- statements --------------------------------------------------------------------------------

"$bindir/psql" -qXc 'CREATE TABLE sent (id int, value text)' || exit 1
awk '{ printf "\\set v %s\nINSERT INTO sent VALUES (%d, $q$:v$q$);\n", $0, NR }' \
	"$work/expressions" >"$work/sent.sql"
bench -f "$work/sent.sql" >"$work/sent.log" 2>&1 || {
	tail -n 3 "$work/sent.log"
	failed=1
}
"$bindir/psql" -qXAtc "SELECT format('sql: INSERT INTO sent VALUES (%s, \$q\$%s\$q\$);', id, value)
	FROM sent ORDER BY id" >"$work/sent.pgbench"
run_ours "$work/sent.sql" >"$work/sent.ours" 2>&1
if ! cmp -s "$work/sent.pgbench" "$work/sent.ours"; then
	echo "statements differ (< pgbench, > ours):"
	diff "$work/sent.pgbench" "$work/sent.ours" | head -n 20
	failed=1
fi

# What the server logs of a whole script, as it stands and with parameters.
sed -e '/^#/d' "$data/statements" >"$work/statements.sql"
for protocol in simple prepared; do
	PGOPTIONS="-c log_statement=all"
	export PGOPTIONS
	lines=$(wc -l <"$work/server/log")
	bench -M "$protocol" -f "$work/statements.sql" >"$work/bench.log" 2>&1 || {
		cat "$work/bench.log"
		failed=1
	}
	unset PGOPTIONS
	run_ours -M "$protocol" "$work/statements.sql" >"$work/statements.ours" 2>&1
	# one line a statement: newlines and the tabs that the server's log puts behind them are spaces
	tail -n "+$((lines + 1))" "$work/server/log" |
		awk '/^\t/ { sub(/^\t/, ""); printf " %s", $0; next } { printf "\n%s", $0 } END { print "" }' |
		sed -n -e 's/^.*LOG:  statement: //p' -e 's/^.*LOG:  execute [^:]*: //p' |
		grep -v 'pgbench_\|relkind\|partition' >"$work/statements.log"
	awk '/^sql: / { printf "%s%s", n++ ? "\n" : "", substr($0, 6); next }
		{ printf " %s", $0 } END { print "" }' "$work/statements.ours" |
		sed -e 's/\( \[[^]]*\]\)*$//' >"$work/statements.sent"
	[ "$(wc -l <"$work/statements.sent")" -ge 14 ] || failed=1
	if ! cmp -s "$work/statements.log" "$work/statements.sent"; then
		echo "statements of protocol $protocol differ (< server's log, > ours):"
		diff "$work/statements.log" "$work/statements.sent" | head -n 20
		failed=1
	fi
done

# ---- messages ----------------------------------------------------------------------------------

# a script that fails in the run, one a line: the last words of pgbench's first message
sed -e '/^#/d' -e '/^$/d' "$data/failures" >"$work/failures"
failures=0
while IFS= read -r line; do
	failures=$((failures + 1))
	printf '%s\n' "$line" >"$work/failure.sql"
	theirs=$(bench -f "$work/failure.sql" 2>&1 >/dev/null | sed -n 's/^pgbench: error: //p' |
		grep -v ' aborted in command \|^Run was aborted' | head -n 1)
	ours=$(run_ours "$work/failure.sql" 2>&1 |
		sed -n 's/^walprobe: error: //p' | head -n 1)
	if [ -z "$ours" ] || [ "$theirs" != "$ours" ]; then
		printf 'messages differ for %s\n< %s\n> %s\n' "$line" "$theirs" "$ours"
		failed=1
	fi
done <"$work/failures"

[ "$failed" -eq 0 ] || exit 1
echo "$count expressions, $failures failures and the statements are as in $("$bindir/pgbench" --version)"
