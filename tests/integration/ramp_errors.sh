#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
# Every error that pgbench's own tests check: ramp refuses it too, with one message that says what is
# wrong and a hint or detail, nothing on stdout, status 2 before and 3 at the server.
. "$(dirname "$0")/lib.sh"
. "$TESTS/tools/server.sh"
trap remove_server EXIT

# refused STATUS PATTERN OPTION...
refused() {
	local status=$1 pattern=$2
	shift 2
	expect_status "$status" timeout 20 "$WALPROBE" ramp "$@"
	[ ! -s out ] || [ "$status" = 3 ] || fail "output beside an error: $*"
	expect_one_error
	grep '^walprobe: error: ' err | grep -qE -- "$pattern" || fail "\"$*\" says: $(cat err)"
	grep -qE '^walprobe: (hint|detail): .' err || fail "\"$*\" has neither hint nor detail: $(cat err)"
}
# both PATTERN OPTION...: what pgbench refuses as well
both() {
	local pattern=$1
	shift
	refused 2 "$pattern" "$@"
	if PGHOST=/nonexistent timeout 20 "$PG_BIN/pgbench" "$@" >theirs 2>&1 || grep -q 'connection to server' theirs; then
		fail "pgbench takes: $*"
	fi
}
begin() {
	echo "$*"
}

begin "options"
: >empty.sql
both 'unknown option "--bad-option"' --bad-option
both 'client.*"three" is n(ot|either) a whole number' -c three
both 'client.*"0" is outside 1 to 1000' -c 0
both 'client.*"-1" is n(ot|either) a whole' -c -1
both 'client.*"8x" is n(ot|either) a whole' -c 8x
both 'client.*"99999999999" is outside' -c 99999999999
both 'client.*"1-" is n(ot|either) a whole' -c 1-
both 'client.*"8-1"' -c 8-1
both 'client.*"x" is n(ot|either) a whole' -c 1,2,x
both 'client.*"1..8" is n(ot|either) a whole' -c 1..8
refused 2 'client.*3 appears twice' -c 1-3,3
both 'jobs.*"eleven" is not a whole number' -j eleven
both 'jobs.*"0" is out of range' -j 0
both 'scale.*"two" is not a whole number' -i -s two
both 'scale.*"0" is out of range' -i -s 0
both 'scale.*"-1" is out of range' -i -s -1
both 'transactions.*"zil" is not a whole number' -t zil
both 'transactions.*"0" is out of range' -t 0
both 'transactions.*"-5" is out of range' -t -5
both 'time.*"ten" is not a number' -T ten
both 'time.*"0" is out of range' -T 0
both 'specify either a number of transactions \(-t\) or a duration \(-T\), not both' -N -l -T 60 -t 5
both 'specify either' -t 5 -S -T 1
both 'progress-every.*"0" is out of range' -P 0
both 'could not open file "no-such-file": No such file or directory' -f no-such-file
both 'no builtin script found for name "no-such-builtin"' -b no-such-builtin
both 'ambiguous builtin name: 2 builtin scripts found for prefix "s"' -b s
both 'invalid weight specification: @one' -b select-only@one
both 'weight specification out of range \(0 \.\. [0-9]*\): -1' -b select-only@-1
both 'weights must not be zero' -b se@0 -b si@0 -b tpcb@0
both 'empty command list for script "empty.sql"' -f empty.sql
# shellcheck disable=SC2046 # 258 words
both 'at most 128 SQL scripts' $(yes -- "-b se" | head -129)
both 'invalid variable definition: "foobla"' -D foobla
both 'fillfactor.*"1" is out of range' -i -F 1
both 'fillfactor.*"101" is out of range' -i -F 101
both 'protocol.*"no-such-mode" is not one of' -M no-such-mode
both 'rate.*"0.0" is out of range' --rate=0.0
both 'latency-limit.*"0.0" is out of range' --latency-limit=0.0
both 'sampling-rate' -l --sampling-rate=0
both 'sampling-rate.*"1.5" is out of range' -l --sampling-rate=1.5
both 'aggregate-interval.*"-3"' -l --aggregate-interval=-3
both 'sampling-rate is allowed only when logging' --sampling-rate=0.5
both 'aggregate-interval is allowed only when logging' --aggregate-interval=1
both 'log-prefix is allowed only when logging' --log-prefix=notlog
both 'cannot be used at the same time' -l --sampling-rate=0.1 --aggregate-interval=3
both 'must not be higher than the duration' -l -T 5 --aggregate-interval=6
both 'multiple of the aggregation interval' -l -T 10 --aggregate-interval=3
both 'cannot be used in initialization' -i -S
both 'cannot be used in initialization' -i -T 5
both 'only be used in initialization' -S -F 90
both 'only be used in initialization' -I dtg
both 'unrecognized initialization step "a"' -i -I dta
both 'random-seed.*"one" is not a whole number' --random-seed=one
both 'partition-method.*"BAD" is not one of' -i --partition-method=BAD
both 'partitions.*"-1" is out of range' -i --partitions=-1
both 'partition-method requires greater than zero' -i --partition-method=hash
both 'max-tries.*"-10" is out of range' --max-tries=-10
both 'unlimited number of transaction tries' --max-tries=0 -t 1

begin "scripts: the message is pgbench's"
same=0
while IFS= read -r line; do
	[ -n "$line" ] || continue
	printf '%s\n' "$line" | sed 's/ <> /\n/g' >bad.sql
	refused 2 '.' -h /nonexistent -f bad.sql -M prepared
	ours=$(sed -n 's/^walprobe: error: //p' err)
	theirs=$("$PG_BIN/pgbench" -h /nonexistent -n -f bad.sql 2>&1 | sed -n 's/^pgbench: error: //p' | head -1)
	[ "$ours" = "$theirs" ] || fail "script \"$line\": \"$ours\" and not \"$theirs\""
	same=$((same + 1))
done <<'S'
\if 1
\else
\endif
\elif 1
\if 1 <> \else <> \else <> \endif
\if 1 <> \else <> \elif 1 <> \endif
\if 1 <> \elif <> \endif
\if
\if 1 <> \endif 1
\set
\set x
\set x 1 +
\set x 1 + )
\set x (1
\set x 1 2
\set x nosuchfunction(1)
\set x random(1)
\set x random(1, 2, 3)
\set x random_gaussian(1, 2)
\set x greatest()
\set x hash()
\set x permute(1)
\set x pi(1)
\set x 9223372036854775808
\set x 1e400
\set x 'text'
\set x 1 ~ 2
\set x case when 1 then
\set x case end
\set x case else 1 end
\sleep
\sleep 2w
\sleep 1 day
\sleep 1 ms too
\nosuchcommand
\gset
\startpipeline x
\endpipeline x
S
[ $same -ge 38 ] || fail "only $same scripts were compared"
# Refused before the server is asked; pgbench notices in the run, or runs them.
refused_script() { # PATTERN TEXT
	printf '%s\n' "$2" >bad.sql
	refused 2 "$1" -h /nonexistent -f bad.sql
}
refused_script 'already in pipeline mode' '\startpipeline
\startpipeline'
refused_script 'not in pipeline mode' '\endpipeline'
refused_script 'end of script reached with pipeline open' '\startpipeline
SELECT 1;'
refused_script 'shell commands are not run' '\setshell x echo 1'
refused_script 'shell commands are not run' '\shell true'
# shellcheck disable=SC2183
refused_script 'too deep' "\\set x $(printf '(%.0s' $(seq 100000))1$(printf ')%.0s' $(seq 100000))"
refused_script 'if without matching .endif|too many commands' "$(printf '\\if 1\n%.0s' $(seq 100000))"
printf '\\startpipeline\nSELECT 1;\n\\endpipeline\n' >pipe.sql
refused 2 'cannot use pipeline mode with the simple query protocol' -h /nonexistent -f pipe.sql -M simple

begin "no server"
refused 3 'socket "/nonexistent/.s.PGSQL.*No such file or directory' -h /nonexistent
refused 3 '127.0.0.1.*port 1 failed: Connection refused' -h 127.0.0.1 -p 1
refused 3 'could not translate host name' -h no-such-host.invalid
refused 3 'invalid (port number|integer value)' -p notaport
refused 3 'definition of service "nosuchservice" not found' -d service=nosuchservice
refused 3 'invalid connection option "nosuchoption"' -d "nosuchoption=1"

start_server autovacuum=off
begin "a server that refuses"
sql "CREATE ROLE secret LOGIN PASSWORD 'right'; CREATE ROLE nologin NOLOGIN"
{
	echo "local all secret scram-sha-256"
	cat "$PG_ROOT/data/pg_hba.conf"
} >hba && cat hba >"$PG_ROOT/data/pg_hba.conf" && sql 'SELECT pg_reload_conf()' >/dev/null
refused 3 'no password supplied' -U secret
PGPASSWORD=wrong refused 3 'password authentication failed for user "secret"' -U secret
PGPASSWORD=wrong refused 3 'password authentication failed' -i -U secret
refused 3 'role "nosuchrole" does not exist' -U nosuchrole
refused 3 'role "nologin" is not permitted to log in' -U nologin
refused 3 'database "no-such-database" does not exist' -d no-such-database
refused 3 'database "no-such-database" does not exist' -i -d no-such-database
PGPASSWORD=right refused 3 "pgbench's tables are missing" -U secret
touch pass && chmod 600 pass && echo "*:*:*:secret:right" >pass
PGPASSFILE=pass refused 3 "pgbench's tables are missing" -U secret

begin "tables that do not fit"
refused 3 "pgbench's tables are missing" -T 1
expect_text err 'hint: .*ramp -i'
expect_status 0 "$WALPROBE" ramp -i -q
sql 'ALTER TABLE pgbench_branches RENAME TO other'
refused 3 "pgbench's tables are missing" -T 1
sql 'CREATE TABLE pgbench_branches (bid int, bbalance int, filler char(88))'
refused 3 'pgbench_branches has no row' -T 1
sql 'DROP TABLE pgbench_branches; ALTER TABLE other RENAME TO pgbench_branches'
sql 'ALTER TABLE pgbench_tellers RENAME COLUMN tbalance TO other'
refused 3 'column "tbalance" does not exist' -c 1 -t 1
sql 'ALTER TABLE pgbench_tellers RENAME COLUMN other TO tbalance'
refused 3 'permission denied for table pgbench_' -d "user=secret password=right dbname=postgres" -c 1 -t 1
refused 3 'table "pgbench_accounts" exists already' -i
expect_text err 'hint: .*--replace-tables'

begin "scripts that fail at the server"
failing() { # PATTERN TEXT OPTION...
	local pattern=$1
	printf '%s\n' "$2" >bad.sql
	shift 2
	for protocol in simple extended prepared; do
		refused_at_server "$pattern" -f bad.sql -c 1 -t 1 --rounds=1 --no-untimed -M $protocol "$@"
	done
	if "$PG_BIN/pgbench" -n -f bad.sql -t 1 >theirs 2>&1; then fail "pgbench runs: $(cat bad.sql)"; fi
}
refused_at_server() { # PATTERN OPTION...
	local pattern=$1
	shift
	expect_status 3 timeout 20 "$WALPROBE" ramp "$@"
	expect_one_error
	grep '^walprobe: error: ' err | grep -qE -- "$pattern" || fail "\"$*\" says: $(cat err)"
	grep '^walprobe: error: ' err | grep -q 'bad.sql' || fail "the message does not name the script: $(cat err)"
}
failing 'division by zero' 'SELECT 1 / 0;'
failing 'division by zero' '\set x 1 / 0'
failing 'division by zero' '\set x 1 % 0'
failing 'bigint add out of range' '\set x 9223372036854775807 + 1'
failing 'bigint sub out of range' '\set x -9223372036854775807 - 2'
failing 'bigint mul out of range' '\set x 9223372036854775807 * 2'
failing 'bigint div out of range' '\set x (-9223372036854775807 - 1) / -1'
failing 'empty range given to random' '\set x random(2, 1)'
failing 'zipfian parameter must be in range' '\set x random_zipfian(1, 10, 1)'
failing 'gaussian parameter must be at least 2' '\set x random_gaussian(1, 10, 1)'
failing 'exponential parameter must be greater than zero' '\set x random_exponential(1, 10, 0)'
failing 'permute size parameter must be greater than zero' '\set x permute(0, 0)'
failing 'undefined variable "nosuch"' '\set x :nosuch + 1'
failing 'undefined variable "nosuch"|nosuch' '\sleep :nosuch ms'
failing 'cannot coerce' '\set x not 1.5'
failing 'syntax error' 'SELEC 1;'
# Without a value a variable stays as it is in a statement's text, and is NULL as a parameter.
echo 'SELECT :nosuch;' >bad.sql
refused_at_server 'syntax error' -f bad.sql -c 1 -t 1 --rounds=1 --no-untimed -M simple
failing 'does not exist' 'SELECT * FROM no_such_table;'
failing 'expected one row, got 0' 'SELECT 1 AS x WHERE false \gset'
failing 'expected one row, got 2' 'SELECT generate_series(1, 2) AS x \gset'
failing 'invalid variable name|bad prefix|error storing' 'SELECT 1 AS "no way" \gset'
failing 'without completing the last transaction' 'BEGIN;'
failing 'COPY is not supported' 'COPY pg_class TO STDOUT;'
failing 'column .*"x" does not exist|does not exist' 'SELECT x;'
