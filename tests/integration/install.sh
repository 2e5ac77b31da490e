#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# install.sh - make install puts binary, man page and completion where DESTDIR and PREFIX say; all
# commands and options are documented, from one place.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
top=$(cd "$(dirname "$0")/../.." && pwd)
[ "$WALPROBE" = "$top/build/walprobe" ] || skip "the binary under test is not that of make install"
# What called us must not hand its flags down.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
make -C "$top" --no-print-directory install "DESTDIR=$PWD/root" PREFIX=/usr >make.log 2>&1 || fail "$(cat make.log)"
[ -x root/usr/bin/walprobe ] || fail "no binary"
man=root/usr/share/man/man1/walprobe.1
[ -s "$man" ] || fail "no man page"
completion=root/usr/share/bash-completion/completions/walprobe
bash -n "$completion" || fail "the completion is no bash"
[ "$(root/usr/bin/walprobe --version)" = "walprobe $(sed -n 's/.*WP_VERSION "\(.*\)"/\1/p' "$top/include/walprobe/base.h")" ] ||
	fail "the version"
"$WALPROBE" --help >help
commands=$(awk '/^Commands:/ { on = 1; next } /^Options:/ { on = 0 } on && /^  [a-z]/ { print $1 }' help)
[ "$(echo "$commands" | wc -l)" -ge 6 ] || fail "the list of commands"
for command in $commands; do
	"$WALPROBE" "$command" --help >"help.$command" || fail "$command --help"
	grep -q "walprobe $command" "$man" || fail "the man page does not have $command"
	grep -q "$command" "$top/README.md" || fail "README.md does not speak of $command"
	grep -oE -- '--[a-z][a-z0-9-]+' "help.$command" | sort -u | while read -r option; do
		escaped=$(printf '%s' "$option" | sed 's/-/\\\\-/g')
		[ "$option" = --help ] || grep -q -- "$escaped" "$man" || {
			echo "$command $option" >>missing
		}
	done
done
[ ! -e missing ] || fail "not in the man page: $(cat missing)"
if command -v man >/dev/null 2>&1; then
	man --warnings -l "$man" >/dev/null 2>man.err || :
	[ ! -s man.err ] || fail "the man page: $(head -3 man.err)"
fi
make -C "$top" --no-print-directory uninstall "DESTDIR=$PWD/root" PREFIX=/usr >make.log 2>&1 || fail "$(cat make.log)"
[ -z "$(find root -type f)" ] || fail "uninstall left: $(find root -type f)"
