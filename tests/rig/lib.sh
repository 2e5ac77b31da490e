# SPDX-License-Identifier: PostgreSQL
# shellcheck shell=bash
#
# lib.sh - for scripts that put targets on the rig; sourced after tests/integration/lib.sh by a
# script that has TESTS and WALPROBE.
rig=$TESTS/rig/rig.sh
rigs=

# A script that has more to undo at its end than its rigs says so here, before rig_up.
at_exit() {
	:
}

# need_rig - skips when no rig can be made here
need_rig() {
	local reason
	reason=$("$rig" can) || skip "$reason"
}

# rig_up NAME FSTYPE [KEY=VALUE...] - sets mnt to the mounted directory; gone when the script ends
rig_up() {
	rigs="$1 $rigs"
	trap 'rig_down_all; at_exit' EXIT
	# shellcheck disable=SC2034 # for the caller
	mnt=$("$rig" up "$@") || fail "the rig $1 did not come up"
}

# shellcheck disable=SC2317 # called by the trap
rig_down_all() {
	local name
	for name in $rigs; do
		"$rig" down "$name"
	done
}

# planted_verdicts SLOW_DIR FAST_DIR OPTIONS... - compares a target slowed by a planted delay with
# one that is not; prints "slower faster other" as counts of verdicts on the slow one
planted_verdicts() {
	local slow=$1 fast=$2
	shift 2
	"$WALPROBE" compare "slow=$slow" "fast=$fast" --format json "$@" >planted.json 2>planted.err ||
		fail "compare: exit status $?: $(cat planted.err)"
	jq -r '[.tables[] | select(.name == "comparison") | .rows[]
		| select(.a == "slow" or .b == "slow")
		| if .b == "slow" and .verdict == "faster" then "slower"
		  elif .b == "slow" and .verdict == "slower" then "faster" else .verdict end]
		| [(map(select(. == "slower")) | length), (map(select(. == "faster")) | length),
		   (map(select(. != "slower" and . != "faster")) | length)] | @tsv' planted.json
}

# is_called_slower SLOWER FASTER OTHER - more than half of the verdicts say so, none the contrary
is_called_slower() {
	[ "$2" -eq 0 ] && [ "$1" -gt "$3" ]
}
