#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# shell.sh - every shell script parses, and shellcheck has no warning (where it is installed).
set -u
status=0
scripts=$(find .ci contrib tests -type f | sort | while read -r file; do
	case $(head -n 1 "$file" | tr -d '\0') in
	'#!'*sh*) echo "$file" ;;
	*) case $file in *.sh) echo "$file" ;; esac ;;
	esac
done)
for script in $scripts; do
	case $(head -n 1 "$script") in
	*bash*) bash -n "$script" || status=1 ;;
	*) sh -n "$script" || status=1 ;;
	esac
done
if command -v shellcheck >/dev/null 2>&1; then
	# shellcheck disable=SC2086 # a list of names without blanks
	shellcheck -x -S warning -f gcc $scripts || status=1
fi
exit $status
