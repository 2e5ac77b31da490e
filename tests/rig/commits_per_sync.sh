#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# commits_per_sync.sh - with a flush of 2 ms and no time to think, a group commit as PostgreSQL's
# syncs once for 1, 1, 2 and 4 commits with 1, 2, 4 and 8 clients: half of the clients wait while
# the other half is being flushed. (A commit that takes its followers along would show 2 with two.)
# shellcheck source=tests/integration/lib.sh
. "$TESTS/integration/lib.sh"
# shellcheck source=tests/rig/lib.sh
. "$TESTS/rig/lib.sh"
need_command jq
need_rig
rig_up commits ext4 size=512M flush-delay=2ms

"$WALPROBE" append --clients 1,2,4,8 --method fdatasync --format json "$mnt" >out.json 2>err </dev/null ||
	fail "append: exit status $?: $(cat err)"
for pair in 1:1.0 2:1.0 4:2.0 8:4.0; do
	clients=${pair%:*}
	expected=${pair#*:}
	found=$(json_rows append out.json | jq -r --argjson clients "$clients" \
		'select(.clients == $clients and .commits_per_sync != null) | .commits_per_sync')
	[ -n "$found" ] || fail "no commits_per_sync with $clients clients"
	for value in $found; do
		is_near "$value" "$expected" 15 ||
			fail "commits_per_sync is $value instead of $expected with $clients clients"
	done
done
