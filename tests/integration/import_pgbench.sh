#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# import_pgbench.sh - pgbench, pg_test_fsync and fio from files, a log from a pipe, and what report
# prints as pgbench imported again.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need_command jq
data=$TESTS/data/import

expect_status 0 "$WALPROBE" import --format json "$data"/24*/mail.txt
jq -e '[.tables[] | select(.name == "ramp") | .rows[] | select(.clients == 1) | .tps_excluding] |
	(.[1] / .[0] * 1000 | round) == 2069' stdout >/dev/null || fail "fat beside ext2, one client"
jq -e '[.tables[] | select(.name == "ramp") | .rows[] | select(.clients == 8) | .tps_excluding] |
	(.[1] / .[0] * 1000 | round) == 1227' stdout >/dev/null || fail "fat beside ext2, 8 clients"

# A failed check is about another machine.
expect_status 0 "$WALPROBE" import --format json "$data"/44*/mbp16.txt
jq -e '.checks[] | select(.id == "flush-sent" and .status == "fail")' stdout >/dev/null ||
	fail "fsync of macOS is not judged"
expect_status 0 "$WALPROBE" import --format csv "$data"/5[78]*/fio.txt
expect_status 3 "$WALPROBE" import --as pg_test_fsync "$data"/58*/fio.txt

# A log from a pipe, and one within a text.
awk 'BEGIN { for (i = 0; i < 5000; i++)
	printf "%d %d 1000 0 %d %d\n", i % 4, int(i / 4) + 1, 1700000000 + int(i / 1000), i % 1000 * 1000
}' >log
"$WALPROBE" import --format json - <log >out || fail "log from a pipe"
jq -e '.tables[] | select(.name == "ramp") | .rows[0] |
	.clients == 4 and .transactions == 5000 and .p99_ns >= 1000000 and .p99_ns < 1010000 and
	(.tps_excluding | round) == 1000' out >/dev/null || fail "figures of the log"
expect_status 0 "$WALPROBE" import --as pgbench-log --label slow --format json log
jq -e '.targets[0].label == "slow"' stdout >/dev/null || fail "label of a log"
{
	echo "It said:"
	head -n 3 log | sed 's/^/> /'
} >mail
expect_status 0 "$WALPROBE" import --format json mail
jq -e '.tables[] | select(.name == "ramp") | .rows[0].transactions == 3' stdout >/dev/null ||
	fail "log in a mail"

# What report prints as pgbench is read back to the same values.
rates='[.tables[] | select(.name == "ramp") | .rows[] | [.clients, .tps_excluding, .latency_mean_ns]]'
expect_status 0 "$WALPROBE" import --save runs.json "$data"/29*/pgbench.txt
expect_status 0 "$WALPROBE" report --format pgbench runs.json
cp stdout again.txt
expect_status 0 "$WALPROBE" import --format json again.txt
jq -c "$rates" stdout >again
jq -c "$rates" runs.json >once
cmp -s once again || fail "other values after report --format pgbench: $(cat once again)"
