# SPDX-License-Identifier: PostgreSQL
# shellcheck shell=sh
#
# lib.sh - for the scripts of tests/integration: . "$(dirname "$0")/lib.sh"
#
# tests/integration/run starts each script in an empty directory of its own, which is also TMPDIR,
# with WALPROBE the absolute path of the program and TESTS that of this repository's tests. A script
# exits 0 (passed), 77 (skipped, the last line on stdout says why) or anything else (failed).
set -u
PATH=$PATH:/usr/sbin:/sbin

fail() {
	printf 'FAILED: %s\n' "$*" >&2
	exit 1
}

skip() {
	printf '%s\n' "$*"
	exit 77
}

need_root() {
	[ "$(id -u)" -eq 0 ] || skip "needs root"
}

# need_command NAME... - skips when one is not installed
need_command() {
	for needed in "$@"; do
		command -v "$needed" >/dev/null 2>&1 || skip "$needed is not installed"
	done
}

need_loop() {
	need_root
	losetup -f >/dev/null 2>&1 || skip "there is no loop device here"
}

# need_fs TYPE... - skips when the kernel cannot mount it or its mkfs is not installed
need_fs() {
	need_loop
	for type in "$@"; do
		need_command "mkfs.$type"
		grep -qw "$type" /proc/filesystems || modprobe -q "$type" 2>/dev/null ||
			skip "the kernel has no $type"
	done
}

# expect_status N COMMAND... - runs it with stdout in the file "out" (also named "stdout") and stderr
# in "err" ("stderr")
expect_status() {
	expected=$1
	shift
	: >out
	: >err
	ln -f out stdout
	ln -f err stderr
	"$@" >out 2>err </dev/null
	got=$?
	[ "$got" -eq "$expected" ] || {
		cat out err >&2
		fail "exit status $got instead of $expected: $*"
	}
}

# expect_text FILE EXTENDED-REGEXP - the file has a line like that
expect_text() {
	grep -qE -- "$2" "$1" || {
		cat "$1" >&2
		fail "no line like \"$2\" in $1"
	}
}

# expect_one_error - stderr of the last expect_status has exactly one error
expect_one_error() {
	count=$(grep -cE '^walprobe: error: ' err)
	[ "$count" -eq 1 ] || {
		cat err >&2
		fail "$count errors instead of one"
	}
}

# expect_clean DIRECTORY - nothing of ours is left in it
expect_clean() {
	left=$(find "$1" -maxdepth 1 -name 'walprobe-*' -print)
	[ -z "$left" ] || fail "left behind: $left"
}

# json FILTER FILE [JQ OPTIONS...] - what the jq filter gives, raw
json() {
	filter=$1
	file=$2
	shift 2
	jq -r "$@" "$filter" "$file" || fail "no such thing in $file: $filter"
}

# json_rows TABLE FILE - the rows of one table of a result document, one object a line
json_rows() {
	jq -c --arg table "$1" '.tables[] | select(.name == $table) | .rows[]' "$2" ||
		fail "no table $1 in $2"
}

# is_near VALUE EXPECTED PERCENT - true when VALUE is within PERCENT of EXPECTED
is_near() {
	awk -v value="$1" -v expected="$2" -v percent="$3" \
		'BEGIN { d = value - expected; if (d < 0) d = -d; exit !(d <= expected * percent / 100) }'
}
