#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# planted_delay.sh - a target slowed by 1 ms per flush is called slower, and never faster, than the
# same disk without the delay. A sample; tests/bench/aa.sh does it 20 times.
# shellcheck source=tests/integration/lib.sh
. "$TESTS/integration/lib.sh"
# shellcheck source=tests/rig/lib.sh
. "$TESTS/rig/lib.sh"
need_command jq
need_rig
rig_up slow ext4 size=512M flush-delay=1ms
slow=$mnt
rig_up fast ext4 size=512M
fast=$mnt

# A busy machine may withhold a verdict, but none may say the contrary.
is_shown=no
for run in 1 2 3; do
	counts=$(planted_verdicts "$slow" "$fast" --rounds 8 --time 0.1s --warmup 0.1s --seed "$run") || exit 1
	# shellcheck disable=SC2086 # three words
	set -- $counts
	[ "$2" -eq 0 ] || fail "run $run: the slowed target is called faster: $counts"
	! is_called_slower "$@" || {
		is_shown=yes
		break
	}
done
[ "$is_shown" = yes ] || fail "the slowed target was not called slower in three runs"
