#!/bin/bash
# A page with plots: well-formed, complete in itself, each plot with axes, units and names; and what
# becomes of it where gnuplot is missing or fails.
. "$(dirname "$0")/lib.sh"
need_command gnuplot jq

jq -n -f "$TESTS/data/every_plot.jq" >all.json || fail "the document"
expect_status 0 "$WALPROBE" report --format=html -o all.html all.json
[ ! -s err ] || fail "something was told"

# Nothing is fetched and nothing runs.
if grep -niE '<script|<link|<iframe|@import|url\(["'\'']?(http|//)|(src|href)="[^#]| on[a-z]+="' all.html; then
	fail "the page needs something from outside, or runs something"
fi
if command -v xmllint >/dev/null; then
	xmllint --noout --nonet all.html 2>xml.err || { head -5 xml.err; fail "not well-formed"; }
else
	echo "xmllint is not installed: well-formedness was not looked at"
fi
dup=$(grep -oE " id=['\"][^'\"]*" all.html | sort | uniq -d | head -1)
[ -z "$dup" ] || fail "an id twice:$dup"

# Verdicts, clients, rates and times of 3 methods, 3 kinds of bars, 2 by record size, over time.
[ "$(grep -c '<figure>' all.html)" = 12 ] || fail "$(grep -c '<figure>' all.html) plots"
awk '
/<figure>/ { inside = 1; units = 0; names = "" ; n++ }
inside && !/pg_wal/ && /<text>.*\([a-zA-Z0-9%\/_ ]+\)<\/text>/ { units++ }
inside && /<text>/ { names = names $0 }
/<\/figure>/ {
	inside = 0
	# The targets file systems (ext4, btrfs in parentheses, xfs) are in every legend.
	if (units != 2 || names !~ /ext4/ || names !~ /pg_wal \(btrfs\)|\.\.\./ || names !~ /xfs &lt;b/) {
		printf "plot %d: %d texts with units: %s\n", n, units, names
		bad = 1
	}
}
END { exit bad }' all.html >bad.txt || { cat bad.txt; fail "a plot without axes, units or names"; }

# The same bytes from the command and from what it saved.
mkdir a
short="--rounds=6 --time=10ms --warmup=0s --method=fdatasync,fsync --variant=overwrite"
expect_status 0 "$WALPROBE" sync $short --format=html --save=saved.json -o printed.html a
expect_status 0 "$WALPROBE" report --format=html -o again.html saved.json
cmp printed.html again.html || fail "the page differs from what sync printed"

# Plots alone.
expect_status 0 "$WALPROBE" report --plot=all.svg --format=csv all.json
head -c 200 all.svg | grep -q '<svg' || fail "--plot all.svg is no SVG"
expect_status 0 "$WALPROBE" report --plot=all.png -o text all.json
[ "$(head -c 4 all.png | tail -c 3)" = PNG ] || fail "--plot all.png is no PNG"
expect_status 2 "$WALPROBE" report --plot=all.gif all.json
expect_text err 'svg or .png'

# Without gnuplot there is a page without plots, and it says so.
here=$PWD
mkdir bin
PATH=$here/bin expect_status 0 "$WALPROBE" report --format=html -o none.html all.json
expect_text err 'note: No plots: gnuplot is not installed \(Debian package gnuplot-nox\)'
grep -q 'No plots: gnuplot is not installed' none.html || fail "the page does not say why"
! grep -q '<figure' none.html || fail "a plot without gnuplot"
PATH=$here/bin expect_status 3 "$WALPROBE" report --plot=none.svg all.json
expect_text err 'gnuplot-nox'
[ ! -e none.svg ] || fail "an empty none.svg was left"

# A gnuplot that fails spoils the plots, not the page.
printf '#!/bin/sh\necho "line 3: all wrong" >&2\nexit 1\n' >bin/gnuplot
chmod 755 bin/gnuplot
PATH=$here/bin:/bin:/usr/bin expect_status 0 "$WALPROBE" report --format=html -o failed.html all.json
expect_text err 'Some plots are missing: .*line 3: all wrong'
