#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# docs.sh - every function declared in include/ stands right below a comment, alone or in a block
# of declarations without a blank line; every header says what it is, its floor, and how it may be
# used by threads or that it has no functions.
set -u
awk '
function complain(line, text) { printf "%s:%d: %s\n", file, line, text; bad = 1 }
function finish_file() {
	if (file != "" && !has_floor)
		complain(1, "the top comment has no \"Floor:\" line")
}
FNR == 1 {
	finish_file()
	file = FILENAME
	has_floor = is_comment = is_covered = depth = 0
	pending = ""
}
/Floor: [a-z]+/ { has_floor = 1 }
is_comment { if (/\*\//) { is_comment = 0; is_covered = 1 } next }
/^\/\*/ { if (/\*\//) is_covered = 1; else is_comment = 1; next }
/^$/ { is_covered = 0; next }
/^#/ { next }
depth > 0 { if (/^}/) depth = 0; is_covered = 0; next }
/^(struct|enum|union|typedef)[^(]*\{/ { depth = 1; next }
# A declaration starts at the margin with a word and goes on, indented, to its semicolon.
pending == "" && /^[a-z]/ { pending = $0; first = FNR }
pending != "" && FNR != first { pending = pending " " $0 }
pending != "" && /;[ \t]*(\/\*.*\*\/)?$/ {
	if (pending ~ /\(/ && pending !~ /^(typedef|extern)/ && !is_covered) {
		match(pending, /wp_[a-z0-9_]+\(/)
		complain(first, substr(pending, RSTART, RLENGTH) ") has no comment right above it")
	}
	pending = ""
}
END { finish_file(); exit bad }
' include/walprobe/*.h
