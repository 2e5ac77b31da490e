#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# words.sh - what may not be in the project: one machine's own paths, words about who wrote a file
# and how, hosts of package servers, unfinished work, line comments in C, missing licence lines.
set -u
# The brackets keep these lines from finding themselves.
own_paths='(^|[^A-Za-z0-9_.})/*-])/(wor[k]|far[m]|tmp/w[t])(/|$|[^A-Za-z0-9_-])|/hom[e]/[a-z]'
authors='sub-?agen[t]|helper sessio[n]|(this|my|your) sessio[n]|languag[e] model'
hosts='(deb|archive|security|snapshot)\.(debia[n]|ubunt[u])\.|pkg\.de[v]|pypi\.or[g]|registry\.(np[m]|docke[r])'
unfinished='(^|[^A-Z])(TOD[O]|FIXM[E]|XX[X])([^A-Z]|$)'

files=$(find . -path ./build -prune -o -path ./.git -prune -o -path ./tests/data/import -prune -o -type f -print | sort)
status=0
# shellcheck disable=SC2086 # no file of the project has a blank in its name
for pattern in "$own_paths" "$authors" "$hosts" "$unfinished"; do
	grep -InE -- "$pattern" $files && status=1
done
for file in $(find src include tests -name '*.[ch]' | sort); do
	head -n 1 "$file" | grep -q 'SPDX-License-Identifier: PostgreSQL' && continue
	echo "$file:1: the first line is not the licence line"
	status=1
done
# shellcheck disable=SC2046 # no blanks here either
grep -nE '^[[:space:]]*//|[;}{][[:space:]]*//' $(find src include tests -name '*.[ch]') && status=1
exit $status
