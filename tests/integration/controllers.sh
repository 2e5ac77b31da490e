#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# controllers.sh - saved output of controllers' and drives' tools, with and without a target.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need_command jq
outputs=$TESTS/data/controllers
mkdir d

# check STATUS FILE ID RESULT WORDS - exit status and one check of a saved output alone
check() {
	expect_status "$1" "$WALPROBE" inspect --format=json --controller-output "$outputs/$2"
	[ "$(jq -r --arg id "$3" '[.checks[] | select(.id == $id)][0].status' out)" = "$4" ] ||
		fail "$2: $(jq -c '.checks' out)"
	jq -r '.checks[].text' out | grep -qF -- "$5" || fail "$2 does not say \"$5\": $(jq -c '.checks' out)"
}
check 0 megacli-wanted-back-runs-through.txt controller unknown 'is set to write back but writes through'
check 0 storcli-battery-failed-abridged.txt controller unknown 'performance loss, still safe'
check 0 hpacucli-status-battery-failed.txt controller unknown 'replace the battery'
check 1 hdparm-off-refused-flush-fails.txt write-cache fail 'fails the FLUSH CACHE command'
check 0 four-ways-cache-on.txt write-cache pass 'hdparm, sdparm, smartctl, cache_type'
check 1 storcli-always-back.json controller fail 'even without a good battery'
check 0 storcli-good.json controller pass 'with a good battery'
check 1 ssacli-drive-cache-on.txt controller fail 'disks behind the controller'

# Nothing that is only wanted is called battery backed.
expect_status 0 "$WALPROBE" inspect --controller-output "$outputs/megacli-wanted-back-runs-through.txt"
! grep -qi 'battery backed' out || fail "it writes through"
expect_status 4 "$WALPROBE" inspect --strict --controller-output "$outputs/megacli-wanted-back-runs-through.txt"
expect_status 0 "$WALPROBE" inspect --format=json --controller-output "$outputs/megacli-wanted-back-runs-through.txt"
[ "$(json_rows controllers out | jq -r '[.volume, .size, .strip, .default_policy, .current_policy] | join(",")')" = \
	"24,1.817 TB,256 KB,write back,write through" ] || fail "table controllers: $(json_rows controllers out)"

# Several outputs are judged together: volumes in one, the battery in another.
sed '/^BBU status/,$d' "$outputs/megacli-optimal-but-about-to-fail.txt" >volumes
sed -n '/^BBU status/,$p' "$outputs/megacli-optimal-but-about-to-fail.txt" >battery
expect_status 0 "$WALPROBE" inspect --format=json --controller-output volumes
json '.checks[].text' out | grep -q 'the state of its battery is not shown' || fail "battery: $(cat out)"
expect_status 1 "$WALPROBE" inspect --controller-output volumes --controller-output battery
expect_text out 'FAIL +controller'

# With a target, beside what is seen there.
expect_status 1 "$WALPROBE" inspect --no-write --format=json --controller-output "$outputs/storcli-always-back.json" d
[ "$(json '[.checks[] | select(.target == "d")] | length > 5' out)" = true ] || fail "the other checks"
[ "$(json '.checks[] | select(.id == "controller") | .status' out)" = fail ] || fail "check controller"
cp out saved.json
expect_status 0 "$WALPROBE" report -o again --format=json saved.json
cmp -s again saved.json || fail "the document changes when it is read again"

# Nothing is left.
expect_clean d

# Refusals.
expect_status 2 "$WALPROBE" inspect
expect_text err 'hint: Name a directory'
echo hello >hello
expect_status 3 "$WALPROBE" inspect --controller-output hello
expect_text err '"hello" holds no output of a tool that is known'
expect_status 3 "$WALPROBE" inspect --no-write --controller-output nosuch d
expect_text err 'could not read "nosuch"'
expect_status 3 "$WALPROBE" inspect --controller-output .
head -c 200000 /dev/urandom >noise
expect_status 3 "$WALPROBE" inspect --controller-output noise
