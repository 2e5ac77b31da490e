#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# aa.sh - what verdicts are worth: no difference where there is none, the planted one where it is
#
# 1. Two images of the same file system, 20 runs: at most 5 % of all verdicts claim a difference.
# 2. A disk slowed by 1 ms per flush against one that is not, 20 runs: called slower in at least 18,
#    never faster. WALPROBE_BENCH_RUNS sets another number of runs.
set -u
runs=${WALPROBE_BENCH_RUNS:-20}
# shellcheck source=tests/integration/lib.sh
. "$TESTS/integration/lib.sh"
# shellcheck source=tests/rig/lib.sh
. "$TESTS/rig/lib.sh"
need_command jq
need_rig
need_fs ext4
work=$(mktemp -d "${TMPDIR:-/tmp}/wp-aa.XXXXXX") || exit 1
# shellcheck disable=SC2317 # called by the trap of rig_up
at_exit() {
	rm -rf --one-file-system "$work"
}
trap at_exit EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP
export TMPDIR=$work
cd "$work" || exit 1

# What both parts leave out of the options is compare's own default.
options=(--progress never ${WALPROBE_BENCH_TIME:+--time "$WALPROBE_BENCH_TIME"})
started=$SECONDS
claims=0
verdicts=0
for run in $(seq "$runs"); do
	"$WALPROBE" compare a=image:ext4:size=512MB b=image:ext4:size=512MB --seed "$run" \
		--format json "${options[@]}" >aa.json 2>aa.err || fail "run $run: $(cat aa.err)"
	read -r claimed all < <(jq -r '[.tables[] | select(.name == "comparison") | .rows[].verdict]
		| [(map(select(. == "faster" or . == "slower")) | length), length] | @tsv' aa.json)
	claims=$((claims + claimed))
	verdicts=$((verdicts + all))
	jq -r '.tables[] | select(.name == "comparison") | .rows[]
		| select(.verdict == "faster" or .verdict == "slower")
		| "  run '"$run"': \(.table) \(.method) \(.clients): \(.verdict), ratio \(.ratio)"' aa.json
done
[ "$verdicts" -gt 0 ] || fail "no verdicts"
printf 'the same against the same: %d of %d verdicts claim a difference (%.1f %%, allowed 5 %%), %d s\n' \
	"$claims" "$verdicts" "$(awk "BEGIN { print 100 * $claims / $verdicts }")" $((SECONDS - started))

rig_up slow ext4 size=512M flush-delay=1ms
# shellcheck disable=SC2154 # set by rig_up
slow=$mnt
rig_up fast ext4 size=512M
fast=$mnt
started=$SECONDS
called=0
wrong=0
for run in $(seq "$runs"); do
	counts=$(planted_verdicts "$slow" "$fast" --seed "$run" "${options[@]}") || exit 1
	read -r slower faster other <<<"$counts"
	[ "$faster" -eq 0 ] || wrong=$((wrong + 1))
	if is_called_slower "$slower" "$faster" "$other"; then
		called=$((called + 1))
	else
		echo "  run $run: $slower slower, $faster faster, $other other"
	fi
done
printf 'slowed by 1 ms per flush: called slower in %d of %d runs, faster in %d (%d s)\n' \
	"$called" "$runs" "$wrong" $((SECONDS - started))
[ $((claims * 20)) -le "$verdicts" ] || fail "more than 5 % of the verdicts claim a difference"
[ $((called * 10)) -ge $((runs * 9)) ] || fail "the slowed disk was not found in nine of ten runs"
[ "$wrong" -eq 0 ] || fail "the slowed disk was called faster"
