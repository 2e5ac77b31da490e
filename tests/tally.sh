# SPDX-License-Identifier: PostgreSQL
# shellcheck shell=sh
#
# tally.sh - counts what passed, failed and was skipped; sourced by the runners.
#
# Alone, a runner prints a line for each thing and a closing line. Under tests/run-all,
# WALPROBE_TALLY names a file that collects "pass|fail|skip<TAB>part: name<TAB>reason" of all parts,
# and only failures and skips are printed. The runner sets tally_part first.

: "${tally_part:?}"
tally_own=
if [ -z "${WALPROBE_TALLY:-}" ]; then
	WALPROBE_TALLY=$(mktemp "${TMPDIR:-/tmp}/tally.XXXXXX") || exit 1
	tally_own=yes
fi
tally_failed=0

# tally_add pass|fail|skip NAME [REASON]
tally_add() {
	printf '%s\t%s: %s\t%s\n' "$1" "$tally_part" "$2" "${3:-}" >>"$WALPROBE_TALLY"
	case $1 in
	pass) [ -z "$tally_own" ] || printf '  ok      %s\n' "$2" ;;
	skip) printf '  skipped %s: %s: %s\n' "$tally_part" "$2" "${3:-no reason given}" ;;
	fail)
		tally_failed=$((tally_failed + 1))
		printf '  FAILED  %s: %s%s\n' "$tally_part" "$2" "${3:+: $3}"
		;;
	esac
}

# tally_count STATUS FILE - prints how many of that status FILE holds
tally_count() {
	grep -c "^$1	" "$2" || :
}

# tally_line FILE - prints "N passed, N failed, N skipped"
tally_line() {
	printf '%s passed, %s failed, %s skipped\n' "$(tally_count pass "$1")" \
		"$(tally_count fail "$1")" "$(tally_count skip "$1")"
}

# tally_end - the closing line when alone; status 1 when anything failed
tally_end() {
	if [ -n "$tally_own" ]; then
		printf '%s: %s\n' "$tally_part" "$(tally_line "$WALPROBE_TALLY")"
		rm -f "$WALPROBE_TALLY"
	fi
	[ "$tally_failed" -eq 0 ]
}
