#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
# For tests of the power cut that source lib.sh first: waiting, and the end of a witness whose process
# is witness_pid.

# wait_for COMMAND... - for twenty seconds
wait_for() {
	for _ in $(seq 400); do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.05
	done
	cat witness.log writer.log >&2
	fail "waited in vain for: $*"
}

# stop_witness SIGNAL
stop_witness() {
	kill -"$1" "$witness_pid"
	wait "$witness_pid" 2>/dev/null
	witness_pid=
}
