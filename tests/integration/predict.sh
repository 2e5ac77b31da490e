#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
# predict: calibration with a throwaway server and from documents, what it refuses, a server beside
# the model, and nothing left behind. No figure is compared with another here.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need_command jq
[ -d /dev/shm ] && [ "$(stat -f -c %T /dev/shm)" = tmpfs ] || skip "/dev/shm is no tmpfs"
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || skip "no PostgreSQL server in /usr/lib/postgresql"
if [ "$(id -u)" = 0 ]; then
	id postgres >/dev/null 2>&1 || skip "no user postgres to run a server"
	chmod 755 .
fi
base=$(mktemp -d /tmp/wp-test-XXXXXX)
chmod 755 "$base"
trap 'rm -rf "$base"' EXIT
mkdir target
chmod 755 target

predict() {
	"$WALPROBE" predict --base "$base" --memory /dev/shm --time 100ms --warmup 0s --progress never "$@"
}

# With a server beside the model, calibrated on the spot.
expect_status 0 predict --check -c 1,2 -s 1 --rounds 2 --format json --save first.json target
[ "$(json_rows predict out | wc -l)" -eq 2 ] || fail "two rows are expected"
[ "$(json_rows predict out | jq -s 'all(.tps_predicted > 0 and .tps_measured > 0 and .error_percent != null
	and .commits_per_sync_predicted > 0 and .commits_per_sync_measured > 0 and .tps_closed_form > 0)')" = true ] ||
	fail "a figure is missing: $(cat out)"
[ "$(json_rows calibration out | jq -s 'map(.clients) == [1, 2] and all(.server_units >= 0 and .scale == 1)')" = true ] ||
	fail "the calibration is not whole: $(cat out)"
[ "$(json '.checks[] | select(.id == "calibration") | .status' out)" = pass ] || fail "the calibration does not hold"
[ "$(json '[.checks[] | select(.id == "prediction")] | length' out)" -eq 1 ] || fail "no check of the prediction"
expect_clean target
expect_clean "$base"

# From its own document: no server any more, the work is known.
expect_status 0 predict --like first.json -c 1,3 --commit-delay 100 --commit-siblings 1 --rounds 1 --format json target
[ "$(json_rows predict out | jq -s 'map(.clients) == [1, 3] and all(.tps_predicted > 0 and .tps_measured == null
	and .absent.tps_measured != null)')" = true ] || fail "the rows are others: $(cat out)"
[ "$(json_rows calibration out)" = "$(json_rows calibration first.json)" ] || fail "the calibration has changed"

# From a ramp: the model is fitted first.
expect_status 0 "$WALPROBE" ramp --base "$base" -c 1,2 -s 1 -T 100ms --rounds 1 --progress never --format json \
	--save ramp.json /dev/shm
expect_status 0 predict --like ramp.json -c 2 --rounds 1 --format json target
[ "$(json_rows predict out | jq -s 'all(.tps_predicted > 0)')" = true ] || fail "no prediction from a ramp"

# What it was not made for is refused, or flagged.
jq '(.environment[] | select(.key == "processors") | .value) = "99"' first.json >other.json
expect_status 3 predict --like other.json --rounds 1 target
expect_one_error
expect_text err 'processors 99 instead of'
expect_status 0 predict --like other.json --force -c 1 --rounds 1 --format json target
[ "$(json '.checks[] | select(.id == "calibration") | .status' out)" = unknown ] || fail "another machine is not flagged"
expect_status 3 predict --like first.json --pg-version 9 --rounds 1 target
expect_text err 'PostgreSQL [0-9]+ instead of 9'
expect_status 0 predict --like first.json -s 7 -c 1 --rounds 1 --format json target
[ "$(json '.checks[] | select(.id == "calibration") | .observed' out)" = "scale 1 instead of 7" ] ||
	fail "another scale is not flagged"
jq 'del(.tables[] | select(.name == "calibration" or .name == "ramp"))' first.json >none.json
expect_status 3 predict --like none.json target
expect_text err 'it is no ramp'
expect_status 2 predict --clients 0 target
expect_status 2 predict --method sometimes target
expect_status 3 predict --like missing.json target

# A signal in the middle of a model with processes of its own leaves none of them.
"$WALPROBE" predict --like first.json -c 8 --rounds 100 --time 1s --progress never target >stopped 2>&1 &
pid=$!
for _ in $(seq 100); do
	pgrep -P "$pid" >/dev/null && break
	sleep 0.1
done
children=$(pgrep -P "$pid")
[ -n "$children" ] || fail "no backends were seen: $(cat stopped)"
kill -TERM "$pid"
wait "$pid"
[ $? -eq 143 ] || fail "exit status is not 143: $(cat stopped)"
for child in $children; do
	! kill -0 "$child" 2>/dev/null || fail "process $child is left"
done
expect_clean target
expect_clean "$base"
