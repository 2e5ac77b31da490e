#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# size.sh - no C file over 600 lines, no function over 80.
set -u
find src include tests -name '*.[ch]' | sort | xargs awk '
FNR == 1 { start = 0 }
FNR == 601 { printf "%s:601: the file has more than 600 lines\n", FILENAME; bad = 1 }
# The house style opens a function with a brace alone at the margin, and nothing else.
/^\{$/ { start = FNR; next }
/^}/ && start {
	if (FNR - start - 1 > 80) {
		printf "%s:%d: the function has %d lines, more than 80\n", FILENAME, start, FNR - start - 1
		bad = 1
	}
	start = 0
}
END { exit bad }'
