#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
# ramp's accounting, seen from outside: transactions counted here are rows in pgbench_history and
# commits of the server; done + failed + skipped are all that were scheduled.
. "$(dirname "$0")/lib.sh"
. "$TESTS/tools/server.sh"
trap remove_server EXIT
start_server autovacuum=off

row() { # FIELD: of the only row of table ramp in r.json
	json_rows ramp r.json | jq -r ".$1"
}
ramp() { # OPTION...: a document in r.json
	rm -f r.json
	expect_status 0 "$WALPROBE" ramp --format=json -o r.json --rounds=1 -n --no-checkpoint "$@"
}
# commits - of database postgres, asked in another one, so that asking adds none
commits() {
	local left=50
	# A backend publishes what it counted when it ends.
	while [ "$(PGDATABASE=template1 sql "SELECT count(*) FROM pg_stat_activity WHERE datname = 'postgres'")" != 0 ]; do
		[ $((left -= 1)) -gt 0 ] || fail "backends are left"
		sleep 0.1
	done
	PGDATABASE=template1 sql "SELECT xact_commit FROM pg_stat_database WHERE datname = 'postgres'"
}
history() {
	sql 'SELECT count(*) FROM pgbench_history'
}

expect_status 0 "$WALPROBE" ramp -i -s 5 -q

# Rows and commits of one run: $rows, $commits
counted() { # OPTION...
	local rows_before commits_before
	rows_before=$(history)
	commits_before=$(commits)
	ramp "$@"
	commits=$(($(commits) - commits_before))
	rows=$(($(history) - rows_before))
}

# What connecting, preparing and watching commits is the same for any number of transactions, so it
# goes away in the difference of two runs.
echo "rows and commits, for each script and mode"
for script in tpcb-like simple-update commit-only select-only; do
	for mode in "-M simple" "-M extended" "-M prepared" "-M prepared --pipeline" "-M prepared -j 2"; do
		what="$script $mode"
		# shellcheck disable=SC2086 # options are words
		counted -b $script $mode -c 5 -t 1
		few_commits=$commits
		[ "$script" = select-only ] || [ "$rows" = 5 ] || fail "$what: $rows rows after 5 transactions"
		# shellcheck disable=SC2086
		counted -b $script $mode -c 5 -t 41
		[ "$(row transactions)" = 205 ] || fail "$what: $(row transactions) transactions instead of 205"
		[ "$script" = select-only ] || [ "$rows" = 205 ] || fail "$what: $rows rows after 205 transactions"
		[ $((commits - few_commits)) = 200 ] || fail "$what: $((commits - few_commits)) commits for 200 transactions"
	done
done

echo "a connection for each transaction"
counted -c 3 -t 2 -C
few_commits=$commits
counted -c 3 -t 12 -C
[ "$(row transactions)" = 36 ] && [ "$rows" = 36 ] || fail "-C: $(row transactions) transactions, $rows rows"
# Each of the 30 more connections starts with a transaction of its own, and prepares.
[ $((commits - few_commits)) -ge 60 ] || fail "-C: $((commits - few_commits)) commits"

echo "by time, with a warm-up"
for options in "-c 4 -T 1" "-c 4 -j 2 -T 1 --warmup=300ms" "-c 8 -T 1 --pipeline" "-c 4 -T 1 -R 300"; do
	# shellcheck disable=SC2086
	counted $options
	[ "$rows" = $(($(row transactions) + $(row warmup_transactions))) ] ||
		fail "$options: $rows rows, $(row transactions) transactions and $(row warmup_transactions) before"
	[ "$(row transactions)" -gt 20 ] || fail "$options: hardly a transaction"
	[ "$(json '[.checks[] | select(.id == "accounting" and .status == "pass")] | length' r.json)" = 1 ] ||
		fail "$options: $(json '.checks[] | select(.id == "accounting")' r.json -c)"
done

echo "done + failed + skipped = scheduled"
sum() {
	echo $(($(row transactions) + $(row failed) + $(row skipped)))
}
# log_sum PREFIX - lines of the logs, which have one for each that was scheduled
log_sum() {
	cat "$1".* | wc -l
}
log_of() { # PREFIX WORD: lines whose latency is that word
	cat "$1".* | awk -v word="$2" '$3 == word' | wc -l
}
printf '\\set ms random(0, 12)\n\\sleep :ms ms\nSELECT 1;\n' >slow.sql
for threads in 1 2; do
	rm -f tx.*
	ramp -f slow.sql -c 4 -j $threads -t 40 -R 1000 -L 8 -l --log-prefix=tx
	[ "$(sum)" = 160 ] || fail "-j $threads: $(row transactions) done, $(row failed) failed, $(row skipped) skipped of 160"
	[ "$(row skipped)" -gt 0 ] && [ "$(row transactions)" -gt 0 ] || fail "nothing was skipped, or all"
	[ "$(log_sum tx)" = 160 ] && [ "$(log_of tx skipped)" = "$(row skipped)" ] || fail "the log tells otherwise"
	[ "$(row late)" -le "$(row transactions)" ] || fail "more late than done"
done
rm -f tx.*
ramp -f slow.sql -c 4 -T 1 -R 1000 -L 8 -l --log-prefix=tx
[ "$(log_sum tx)" = "$(sum)" ] || fail "by time: $(log_sum tx) lines of the log, $(sum) counted"
# Where nothing keeps a client from its turn, all that a second holds is done.
ramp -S -c 8 -T 2 -R 400 -L 2000
[ "$(row skipped)" = 0 ] && is_near "$(sum)" 800 25 || fail "a rate of 400: $(sum) in two seconds"

sql 'CREATE TABLE xy (id int PRIMARY KEY, v int); INSERT INTO xy VALUES (1, 0)'
cat >serial.sql <<'S'
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT v FROM xy WHERE id = 1;
UPDATE xy SET v = v + 1 WHERE id = 1;
END;
S
for options in "" "-R 2000 -L 6" "-R 2000 -L 6 --max-tries=3" "--max-tries=5" "--max-tries=3 --pipeline"; do
	rm -f tx.*
	sql 'UPDATE xy SET v = 0'
	# shellcheck disable=SC2086
	ramp -f serial.sql -c 6 -t 30 $options -l --log-prefix=tx
	[ "$(sum)" = 180 ] || fail "$options: $(row transactions) done, $(row failed) failed, $(row skipped) skipped of 180"
	[ "$(sql 'SELECT v FROM xy')" = "$(row transactions)" ] || fail "$options: the rows tell otherwise"
	[ "$(log_sum tx)" = 180 ] && [ "$(log_of tx failed)" = "$(row failed)" ] &&
		[ "$(log_of tx skipped)" = "$(row skipped)" ] || fail "$options: the log tells otherwise"
	[ "$(row failed)" = $(($(row serialization_failures) + $(row deadlock_failures))) ] || fail "$options: kinds of failures"
	case $options in
	*max-tries*)
		# Each line of the log ends with the tries beyond the first.
		[ "$(cat tx.* | awk '{ n += $NF } END { print n + 0 }')" = "$(row retries)" ] || fail "$options: retries"
		[ "$(row retries)" -ge "$(row retried)" ] || fail "$options: more retried than retries"
		;;
	*) [ "$(row retries)" = 0 ] && [ "$(row retried)" = 0 ] || fail "$options: retries without --max-tries" ;;
	esac
done
