#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
# What the server is sent, from its own log: the same statements as pgbench sends, with parameters of
# the same distribution, for the built-in scripts and one of all random functions.
. "$(dirname "$0")/lib.sh"
. "$TESTS/tools/server.sh"
trap remove_server EXIT
scale=3

start_server autovacuum=off
expect_status 0 "$WALPROBE" ramp -i -s $scale -q
sql "ALTER SYSTEM SET log_line_prefix = '%a|'; ALTER SYSTEM SET log_statement = 'all'" 2>/dev/null ||
	{ sql "ALTER SYSTEM SET log_line_prefix = '%a|'" && sql "ALTER SYSTEM SET log_statement = 'all'"; }
sql 'SELECT pg_reload_conf()' >/dev/null
sleep 0.3

cat >functions.sql <<'S'
\set uniform random(1, 1000)
\set gauss random_gaussian(1, 1000, 3.5)
\set expo random_exponential(1, 1000, 5)
\set zipf random_zipfian(1, 1000, 1.2)
\set perm permute(:uniform - 1, 1000, 7)
\set coin case when random(1, 4) = 1 then 1 else 0 end
SELECT :uniform + 0, :gauss + 0, :expo + 0;
\if :coin
SELECT :zipf + 0;
\else
SELECT :perm + 0, :coin + 0;
\endif
S

# logged APPLICATION FILE: its statements, one a line, with their parameters behind a bar
logged() {
	tail -n "+$((lines + 1))" "$PG_ROOT/log" | awk -v from="$1|LOG:  " -v detail="$1|DETAIL:  parameters: " '
		function flush() { if (statement != "") print statement "|" values; statement = values = "" }
		index($0, from) == 1 {
			flush()
			statement = substr($0, length(from) + 1)
			# the name of a prepared statement is each program'"'"'s own
			if (!sub(/^statement: /, "", statement) && !sub(/^execute [^:]*: /, "", statement)) statement = ""
			next
		}
		index($0, detail) == 1 { values = substr($0, length(detail) + 1) }
		END { flush() }' >"$2"
}
# numbers FILE: per line the shape of the statement, a tab, and its values in order
numbers() {
	awk -F'|' '{
		if ($2 != "") { shape = $1; rest = $2; gsub(/\$[0-9]+ = /, "", rest); gsub(/\047/, "", rest) }
		else {
			rest = ""; shape = $1
			# what stands for itself as a number, and not within a name
			while (match(shape, /[^A-Za-z0-9_#]-?[0-9]+/)) {
				rest = rest (rest == "" ? "" : ", ") substr(shape, RSTART + 1, RLENGTH - 1)
				shape = substr(shape, 1, RSTART) "#" substr(shape, RSTART + RLENGTH)
			}
		}
		print shape "\t" rest
	}' "$1" >"$1.numbers"
}
# alike NAME WHAT: two-sample chi-square over ten classes of each value of each statement; the
# classes are tenths of both samples together, and 40 is exceeded once in some 100,000 draws.
alike() {
	awk -F'\t' -v what="$1" '
		FNR == 1 { file++ }
		{
			n = split($2, v, ", ")
			for (i = 1; i <= n; i++) {
				key = $1 " value " i
				values[key] = values[key] " " v[i] ":" file
				total[key, file]++
				keys[key] = 1
			}
		}
		END {
			for (key in keys) {
				command = "sort -n"
				m = split(substr(values[key], 2), pairs, " ")
				if (!total[key, 1] || !total[key, 2]) { print what ": only one sends " key; bad = 1; continue }
				file_name = "sample"
				printf "" >file_name
				for (i = 1; i <= m; i++) print pairs[i] >file_name
				close(file_name)
				class = place = 0; last = ""
				delete seen
				while (("sort -n -t: -k1,1 sample" | getline line) > 0) {
					split(line, pair, ":")
					# equal values stay in one class
					if (pair[1] != last && place >= (class + 1) * m / 10) class++
					last = pair[1]; place++
					seen[class, pair[2]]++
				}
				close("sort -n -t: -k1,1 sample")
				chi = 0
				for (c = 0; c <= class; c++) {
					both = seen[c, 1] + seen[c, 2]
					for (f = 1; f <= 2; f++) {
						expected = both * total[key, f] / m
						if (expected > 0) chi += (seen[c, f] - expected) ^ 2 / expected
					}
				}
				if (chi > 40) { print what ": chi-square " chi " for " key; bad = 1 }
				tested++
			}
			print tested > "tested"
			exit bad
		}' theirs.numbers ours.numbers || fail "$1: parameters are distributed otherwise"
}

for what in tpcb-like simple-update select-only functions.sql; do
	case $what in
	*.sql) choice="-f $what" count=5000 ;;
	*) choice="-b $what" count=1500 ;;
	esac
	for protocol in simple extended prepared; do
		lines=$(wc -l <"$PG_ROOT/log")
		# shellcheck disable=SC2086 # options are words
		PGAPPNAME=theirs "$PG_BIN/pgbench" -n $choice -M $protocol -c 1 -t $count --random-seed=11 >bench.out 2>&1 ||
			fail "pgbench: $(cat bench.out)"
		# shellcheck disable=SC2086
		expect_status 0 "$WALPROBE" ramp --format=json -o r.json -n --no-checkpoint --no-untimed --rounds=1 \
			$choice -M $protocol -c 1 -t $count --random-seed=11
		logged theirs theirs
		# before its clock starts it looks at the tables, by another name
		logged 'walprobe client' ours
		# What pgbench asks about its tables before the clients start, and track_wal_io_timing of ours
		sed -i -e '/^select count(\*) from pgbench_branches/d' -e '/^SELECT relkind/d' -e '/pg_catalog.pg_class/d' \
			-e '/^select o.n, p.partstrat/d' theirs
		sed -i -e '/^SET track_wal_io_timing/d' -e '/pg_stat_force_next_flush/d' ours
		numbers theirs
		numbers ours
		if [ "$what" = functions.sql ]; then
			cut -f1 theirs.numbers | sort -u >a && cut -f1 ours.numbers | sort -u >b
		else
			cut -f1 theirs.numbers >a && cut -f1 ours.numbers >b
			[ "$(wc -l <a)" = $((count * $(sort -u a | wc -l))) ] || fail "$what: $(wc -l <a) statements of pgbench"
		fi
		cmp -s a b || fail "$what, $protocol: other statements: $(diff a b | head -5)"
		alike "$what, $protocol"
		[ "$(cat tested)" -ge 1 ] || fail "$what: nothing was compared"
		if [ "$what" = tpcb-like ]; then
			# Within a transaction the same variable is the same number.
			awk -F'\t' '/UPDATE pgbench_accounts/ { split($2, v, ", "); delta = v[1]; aid = v[2] }
				/SELECT abalance/ { if ($2 != aid) exit 1 }
				/UPDATE pgbench_tellers/ { split($2, v, ", "); if (v[1] != delta) exit 1; tid = v[2] }
				/UPDATE pgbench_branches/ { split($2, v, ", "); if (v[1] != delta) exit 1; bid = v[2] }
				/INSERT INTO pgbench_history/ { split($2, v, ", "); n++
					if (v[1] != tid || v[2] != bid || v[3] != aid || v[4] != delta) exit 1 }
				END { exit n != '$count' }' ours.numbers || fail "$protocol: a variable changes within its transaction"
		fi
	done
	echo "$what: $(sort -u a | wc -l) statements, $(cat tested) values alike"
done
# The values themselves do not depend on the protocol, but on the seed.
values_of() { # OPTION...
	lines=$(wc -l <"$PG_ROOT/log")
	expect_status 0 "$WALPROBE" ramp --format=json -o r.json -n --no-checkpoint --no-untimed --rounds=1 -S -c 1 -t 50 "$@"
	logged 'walprobe client' ours
	grep 'SELECT abalance' ours >picked
	numbers picked
	cut -f2 picked.numbers
}
simple=$(values_of -M simple --random-seed=5)
[ "$(echo "$simple" | wc -l)" = 50 ] || fail "$(echo "$simple" | wc -l) statements instead of 50"
[ "$simple" = "$(values_of -M prepared --random-seed=5)" ] || fail "the protocol changes the numbers"
[ "$simple" != "$(values_of -M simple --random-seed=6)" ] || fail "the seed does not change the numbers"
