#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# tree.sh - only the folders and files at the top that the layout has.
set -u
status=0
names=$(git -c safe.directory='*' ls-files 2>/dev/null)
if [ -z "$names" ]; then
	echo "this is no git clone, or git is not installed"
	exit 77
fi
for name in $(printf '%s\n' "$names" | cut -d / -f 1 | sort -u); do
	case $name in
	.ci | contrib | docs | include | issues | sql | src | tests) ;;
	.clang-format | .gitignore | .gitattributes | .editorconfig) ;;
	CHANGELOG.md | LICENSE | Makefile | README.md) ;;
	*)
		echo "$name: not part of the layout"
		status=1
		;;
	esac
done
exit $status
