#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# witness_many.sh - 200 targets at once on one witness, which is killed and started again under
# them: nothing that was acknowledged is forgotten, and it stays within 256 MB.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need_command cc pkg-config
library=$(dirname "$WALPROBE")/obj/plain/libwalprobe.a
[ -e "$library" ] || skip "the library was not built beside the program"
most_kb=0
witness_pid=
trap '[ -z "$witness_pid" ] || kill -KILL "$witness_pid" 2>/dev/null' EXIT

# shellcheck disable=SC2046 # a list of words
cc -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I"$TESTS/../include" -pthread -o many_targets \
	"$TESTS/tools/many_targets.c" "$library" $(pkg-config --libs openssl) -lm ||
	fail "the tool does not build"

start_witness() {
	: >witness.log
	"$(dirname "$WALPROBE")/walprobe-witness" --listen "${address:-127.0.0.1:0}" --key key \
		--store store 2>witness.log &
	witness_pid=$!
	for _ in $(seq 400); do
		! grep -q 'listening at' witness.log || break
		sleep 0.05
	done
	address=$(sed -n 's/.*listening at \([^,]*\),.*/\1/p' witness.log)
	[ -n "$address" ] || fail "the witness does not start: $(cat witness.log)"
}

kill_witness() {
	local kb
	kb=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$witness_pid/status")
	[ -n "$kb" ] || fail "the witness has ended: $(cat witness.log)"
	[ "$kb" -le "$most_kb" ] || most_kb=$kb
	kill -KILL "$witness_pid"
	wait "$witness_pid" 2>/dev/null
	witness_pid=
}

expect_status 0 "$WALPROBE" witness --new-key key
start_witness
coproc TARGETS { ./many_targets "$address" key 200 6000 2>targets.err; }
targets_pid=$TARGETS_PID
read -r -t 60 -u "${TARGETS[0]}" line && [ "$line" = ready ] || fail "not ready: $(cat targets.err)"
for pause in 1.5 1 0.2; do
	sleep "$pause"
	kill_witness
	start_witness
done
read -r -t 60 -u "${TARGETS[0]}" line && [ "$line" = durable ] ||
	fail "not durable: $(cat targets.err witness.log)"
kill_witness
start_witness
echo >&"${TARGETS[1]}"
read -r -t 60 -u "${TARGETS[0]}" line || fail "no answer: $(cat targets.err)"
echo "$line, witness at most $most_kb kB"
wait "$targets_pid" || fail "something was lost: $line"
kill_witness
[ "$most_kb" -le 262144 ] || fail "the witness used $most_kb kB"
