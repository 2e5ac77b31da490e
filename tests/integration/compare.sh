#!/bin/bash
# The main job: inspect, measure in rounds, judge every pair, recommend.
. "$(dirname "$0")/lib.sh"

mkdir a b
expect_status 0 "$WALPROBE" compare --rounds=6 --time=30ms --warmup=0s --save=c.json a b
for word in 'pg_wal on' 'a' 'b' 'fdatasync' 'append'; do
	grep -qi "$word" out || fail "text output does not say $word"
done
[ "$(awk '{ if (length($0) > max) max = length($0) } END { print max }' out)" -le 100 ] ||
	LC_ALL=C.UTF-8 awk '{ if (length($0) > 100) exit 1 }' out || fail "lines over 100 columns"

# Every pair in every measurement has a verdict of the contract.
jq -e '[.tables[] | select(.name == "comparison") | .rows[] | .verdict] | length == 6 and
	all(. as $v | ["faster", "slower", "no practical difference", "no difference shown",
		"too few rounds", "not quiet", "no interval", "not comparable"] | index($v))' \
	c.json >/dev/null || fail "verdicts: $(jq -c '[.tables[] | select(.name == "comparison") | .rows[].verdict]' c.json)"
jq -e '.tables[] | select(.name == "summary") | .rows | length == 2' c.json >/dev/null || fail "summary"
jq -e '.tables[] | select(.name == "recommendation") | .rows | map(.item) | index("pg_wal on")' c.json >/dev/null ||
	fail "recommendation"
jq -e '[.checks[].id] | index("flush-sent") and index("volatile")' c.json >/dev/null || fail "checks"
# The same document says the same again.
expect_status 0 "$WALPROBE" report c.json
expect_status 0 "$WALPROBE" compare --rounds=5 --time=10ms --warmup=0s --format=json -o few.json a b
jq -e '[.tables[] | select(.name == "comparison") | .rows[] | .verdict] | all(. == "too few rounds")' few.json \
	>/dev/null || fail "fewer than 6 rounds give no verdict"

# Memory is measured, and never recommended.
if [ -d /dev/shm ] && [ "$(stat -f -c %T /dev/shm)" = tmpfs ]; then
	expect_status 0 "$WALPROBE" compare --rounds=6 --time=20ms --warmup=0s --format=json -o shm.json a /dev/shm
	jq -e '.tables[] | select(.name == "recommendation") | .rows[] | select(.item == "pg_wal on") | .value == "a"' \
		shm.json >/dev/null || fail "tmpfs must not be recommended"
	jq -e '.tables[] | select(.name == "recommendation") | .rows[] | select(.item == "not recommended") |
		.value == "/dev/shm"' shm.json >/dev/null || fail "tmpfs is named as not recommended"
fi

# One bad target does not spoil the others; none at all is status 3 as well.
expect_status 3 "$WALPROBE" compare --rounds=6 --time=10ms --warmup=0s --format=json -o one.json a nosuch
jq -e '.tables[] | select(.name == "append") | .rows | map(select(.target == "a" and .commits_per_s > 0)) |
	length >= 2' one.json >/dev/null || fail "target a was measured all the same"
expect_status 3 "$WALPROBE" compare nosuch
[ -z "$(find a b -mindepth 1)" ] || fail "something was left in the targets"
