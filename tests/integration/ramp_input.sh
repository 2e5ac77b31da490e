#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
# Script files that nobody wrote by hand: a megabyte, ten thousand statements, every byte value, lines
# without an end. Each is run or refused with one message; run with SAN=address,undefined as well.
. "$(dirname "$0")/lib.sh"
. "$TESTS/tools/server.sh"
trap remove_server EXIT
start_server autovacuum=off

# try STATUS... -- OPTION...: ends with one of these, and never by a signal or a sanitizer
try() {
	local allowed=
	while [ "$1" != -- ]; do
		allowed="$allowed $1"
		shift
	done
	shift
	timeout 60 "$WALPROBE" ramp --format=json -o r.json -n --no-checkpoint --rounds=1 -c 1 -t 1 "$@" >out 2>err
	got=$?
	! grep -qE 'Sanitizer|runtime error' err || fail "$*: $(head -20 err)"
	case "$allowed " in *" $got "*) ;; *) fail "$* ends with $got: $(head -c 2000 err)" ;; esac
	[ "$got" = 0 ] || expect_one_error
	# A message is for a reader: no megabytes of it, and no control bytes.
	[ "$(wc -c <err)" -lt 4000 ] || fail "$*: $(wc -c <err) bytes of message"
	! LC_ALL=C grep -q '[^[:print:][:space:]]' <(LC_ALL=C tr -d '\200-\377' <err) || fail "$*: control bytes in $(cat -v err)"
}
all_protocols() { # STATUS... -- OPTION...
	for protocol in simple extended prepared; do try "$@" -M $protocol; done
}

echo "ten thousand statements"
seq 10000 | awk '{ print "SELECT " $1 ";" }' >many.sql
all_protocols 0 -- -f many.sql --no-untimed
try 0 -- -f many.sql --pipeline -r
[ "$(json_rows statements r.json | wc -l)" = 10000 ] || fail "$(json_rows statements r.json | wc -l) commands"
seq 10000 | awk '{ print "\\set v" $1 % 2000 " :client_id + " $1 }' >sets.sql
echo 'SELECT :v1999;' >>sets.sql
all_protocols 0 -- -f sets.sql

echo "a megabyte"
# one statement, which is a comment for the most part; one literal; one line of blanks; one expression
{ echo 'SELECT 1 /*'; head -c 1000000 /dev/zero | tr '\0' x; echo '*/;'; } >comment.sql
{ printf "SELECT length('"; head -c 1000000 /dev/zero | tr '\0' x; echo "');"; } >literal.sql
{ head -c 1000000 /dev/zero | tr '\0' ' '; echo 'SELECT 1;'; } >blanks.sql
{ printf '\\set x 1'; yes ' + 1' | head -250000 | tr -d '\n'; echo; } >sum.sql
{ printf '\\set x '; head -c 500000 /dev/zero | tr '\0' '('; printf 1; head -c 500000 /dev/zero | tr '\0' ')'; echo; } >deep.sql
{ printf '\\set x '; head -c 1000000 /dev/zero | tr '\0' '-'; echo 1; } >minus.sql
{ printf 'SELECT '; yes ':client_id,' | head -90000 | tr -d '\n'; echo '1;'; } >params.sql
{ printf '\\set '; head -c 1000000 /dev/zero | tr '\0' v; echo ' 1'; } >name.sql
{ printf '\\'; head -c 1000000 /dev/zero | tr '\0' c; echo; } >word.sql
{ yes '\if 1' | head -40000; echo 'SELECT 1;'; yes '\endif' | head -40000; } >ifs.sql
all_protocols 0 -- -f comment.sql
all_protocols 0 -- -f literal.sql
all_protocols 0 -- -f blanks.sql
try 0 2 -- -f sum.sql
try 2 -- -f deep.sql
try 0 2 -- -f minus.sql
try 0 3 -- -f params.sql -M simple
try 2 -- -f params.sql -M extended
all_protocols 0 2 -- -f name.sql
all_protocols 2 -- -f word.sql
all_protocols 0 -- -f ifs.sql

echo "lines without an end"
{ printf 'SELECT 1'; } >unended.sql
{ printf '\\set x 1 \\\n'; } >continued.sql
{ printf 'SELECT 1;\n\\set x 1 + \\'; } >backslash.sql
{ printf "SELECT 'x"; } >quote.sql
{ printf 'SELECT $tag$x'; } >dollar.sql
{ printf 'SELECT 1 /* x /* y */'; } >nested.sql
{ printf 'SELECT "x'; } >identifier.sql
{ yes '\' | head -300000; } >backslashes.sql
{ yes 'SELECT' | head -150000; } >words.sql
for file in unended continued backslash quote dollar nested identifier backslashes words; do
	all_protocols 0 2 3 -- -f $file.sql
done
# A file that never ends is read up to the limit.
try 2 -- -f /dev/zero
yes 'SELECT 1;' >endless &
writer=$!
sleep 1
kill $writer && wait $writer 2>/dev/null
try 2 -- -f endless
rm -f endless
mkfifo pipe
echo 'SELECT 1;' >pipe &
try 0 -- -f pipe
wait
echo "SELECT 1;" >stdin.sql
"$WALPROBE" ramp --format=json -o r.json -n --no-checkpoint --rounds=1 -c 1 -t 3 -f - <stdin.sql || fail "standard input"
mkdir dir
try 2 3 -- -f dir

echo "every byte value"
for ((byte = 0; byte < 256; byte++)); do
	octal=$(printf '\\%03o' "$byte")
	{ printf "SELECT 1 AS x"; printf '%b' "\\0${octal#\\}"; echo ';'; } >sql.sql
	{ printf '\\set x 1'; printf '%b' "\\0${octal#\\}"; echo '+ 1'; } >set.sql
	{ printf '%b' "\\0${octal#\\}"; echo 'SELECT 1;'; } >first.sql
	protocol=$(set -- simple extended prepared; shift $((byte % 3)); echo "$1")
	for file in sql set first; do try 0 2 3 -- -f $file.sql --no-untimed -M "$protocol"; done
done
for ((byte = 0; byte < 256; byte++)); do printf '%b' "\\0$(printf '%03o' "$byte")"; done >bytes.sql
try 2 3 -- -f bytes.sql
head -c 1000000 /dev/urandom >random.sql
for protocol in simple extended prepared; do
	try 0 2 3 -- -f random.sql -M $protocol
	tr -d '\000' <random.sql >text.sql
	try 0 2 3 -- -f text.sql -M $protocol
done

echo "variables of any kind"
# shellcheck disable=SC2034
long=$(head -c 100000 /dev/zero | tr '\0' v)
echo 'SELECT :v;' >v.sql
try 0 2 -- -f v.sql -D "v=$long" -M prepared
try 0 2 -- -f v.sql -D "$long=1" -M prepared
try 2 -- -f v.sql -D '=1'
try 2 -- -f v.sql -D 'no name=1'
