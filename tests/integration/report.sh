#!/bin/bash
# Several documents become one comparison; --baseline says what became slower.
. "$(dirname "$0")/lib.sh"

mkdir a b
short="--rounds=10 --time=10ms --warmup=0s --variant=overwrite --method=fdatasync"
expect_status 0 "$WALPROBE" sync $short --save=one.json a b
expect_status 0 "$WALPROBE" sync $short --save=two.json a b

# A copy whose rounds and rate are tenfold: a machine that became ten times as fast.
jq '(.tables[] | select(.name == "rounds") | .rows[].value) |= (if . then . * 10 else . end) |
	(.tables[] | select(.name == "sync") | .rows[].ops_per_s) |= (if . then . * 10 else . end)' \
	one.json >fast.json

expect_status 0 "$WALPROBE" report --format=json -o all.json one.json two.json
[ "$(json '[.targets[].label] | join(",")' all.json)" = "one: a,one: b,two: a,two: b" ] ||
	fail "labels are not told apart"
[ "$(json '.tables[] | select(.name == "sync") | .rows | length' all.json)" = 4 ] ||
	fail "tables of the same name are not one"
[ "$(json '[.tables[] | select(.name == "comparison") | .rows[] | select(.a[0:3] != .b[0:3])] | length' \
	all.json)" = 4 ] || fail "pairs across documents"
expect_status 0 "$WALPROBE" report all.json
expect_status 0 "$WALPROBE" report one.json one.json two.json
expect_text out 'one#2: a'

# What became slower is in the table and in the exit status; what became faster is not.
expect_status 1 "$WALPROBE" report --baseline fast.json one.json
expect_text out ' slower$'
expect_text err 'slower than the baseline beyond the interval: 2 of 2'
expect_status 0 "$WALPROBE" report --baseline one.json fast.json
expect_text out ' faster$'
expect_status 0 "$WALPROBE" report --baseline one.json one.json
expect_text out 'no practical difference'

expect_status 2 "$WALPROBE" report --baseline one.json one.json two.json
expect_status 2 "$WALPROBE" report
expect_status 3 "$WALPROBE" report one.json nosuch.json
grep -q '"nosuch.json"' err || fail "the file is not named"
