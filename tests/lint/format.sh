#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# format.sh - clang-format changes nothing. Releases format differently, so only 14 is asked.
set -u
for tool in clang-format-14 clang-format; do
	command -v "$tool" >/dev/null 2>&1 || continue
	case $("$tool" --version) in
	*"version 14."*) ;;
	*) continue ;;
	esac
	wrong=$(find src include tests -name '*.[ch]' -exec "$tool" --dry-run -Werror {} + 2>&1 |
		grep 'error:')
	[ -n "$wrong" ] || exit 0
	printf '%s\n' "$wrong" | sed 's/:[0-9]*: error: /: /; s/ \[-W.*//' | sort -u
	exit 1
done
echo "clang-format 14 is not installed"
exit 77
