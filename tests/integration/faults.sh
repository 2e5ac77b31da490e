#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# faults.sh - the program as a whole while system calls fail one after another, injected by strace:
# status 0 or 3, at most one error, which names file and cause, nothing left.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need_command strace timeout
mkdir target
strace -o /dev/null -e inject=fsync:error=EIO:when=9999 true 2>/dev/null || skip "strace may not inject faults here"

# try CALL ERROR N COMMAND...
try() {
	local call=$1 error=$2 n=$3
	shift 3
	timeout 60 strace -f -o trace -e "trace=$call" -e "inject=$call:error=$error:when=$n" "$WALPROBE" "$@" \
		--rounds=1 --time=2ms --warmup=0s target >out 2>err </dev/null
	local got=$?
	[ "$got" -eq 0 ] || [ "$got" -eq 3 ] || fail "$1 with $call $n failing: status $got: $(cat err)"
	# The n-th call of every thread fails: never more errors than faults.
	[ "$(grep -c '^walprobe: error: ' err)" -le "$(grep -c INJECTED trace)" ] ||
		fail "$1 with $call $n failing: $(cat err)"
	if [ "$got" -eq 3 ]; then
		grep -q '^walprobe: error: .*target.*' err || fail "$1 with $call $n failing does not name the place: $(cat err)"
	fi
	expect_clean target
}
for command in "sync --variant=overwrite --method=fdatasync,fsync" "append --clients=2 --segment-size=1MB --segments=2"; do
	for n in 1 2 3 5 9; do
		# shellcheck disable=SC2086 # words
		try fdatasync EIO "$n" $command
		# shellcheck disable=SC2086 # words
		try fsync EIO "$n" $command
		# shellcheck disable=SC2086 # words
		try pwrite64 ENOSPC "$n" $command
		# shellcheck disable=SC2086 # words
		try rename EIO "$n" $command
		# shellcheck disable=SC2086 # words
		try mkdir EACCES "$n" $command
	done
done
