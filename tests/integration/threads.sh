#!/bin/bash
# Three threads of 2001, 2006 and 2008 on one page: ext2 against FAT, six file systems under bonnie++,
# four under iozone.
. "$(dirname "$0")/lib.sh"
need_command gnuplot jq

data=$TESTS/data/import
for name in ext2-fat:24-pgbench-71-diff-ext2-fat six-file-systems:01-bonnie-103-mailwrapped-6fs \
	four-iozone-tables:18-iozone-four-filesystems-blog; do
	file=$(find "$data/${name#*:}" -name '*.txt' | sort | head -n 1)
	[ -n "$file" ] || fail "no input of ${name#*:}"
	expect_status 0 "$WALPROBE" import -q --save="${name%%:*}.json" -o /dev/null "$file"
done
expect_status 0 "$WALPROBE" report --format=json -o all.json ext2-fat.json six-file-systems.json \
	four-iozone-tables.json
expect_status 0 "$WALPROBE" report --format=html -o all.html ext2-fat.json six-file-systems.json \
	four-iozone-tables.json

# Pairs of published figures have a ratio and no interval: FAT against ext2 with 8 clients.
ratio=$(json '.tables[] | select(.name == "comparison") | .rows[] |
	select(.table == "ramp" and .clients == 8) | "\(.a) \(.b) \(.ratio) \(.verdict)"' all.json)
case $ratio in
'ext2 fat 0.8'*' no interval') ;;
*) fail "ext2 against fat: $ratio" ;;
esac
# bonnie++'s 63 GB are not compared with iozone's 8 GB.
json '[.tables[] | select(.name == "comparison") | .rows[] | select(.verdict == "not comparable") |
	.absent.ratio] | unique | join(",")' all.json >reasons
grep -q 'other size: 62.9 GB against 8.00 GB' reasons || fail "other sizes: $(cat reasons)"

# plot NAME LEGEND... - the page has a plot with this title, and the legend names these
plot() {
	title=$1
	shift
	awk -v title="<text>$title</text>" '
		/<figure>/ { text = ""; on = 1 }
		on { text = text $0 "\n" }
		/<\/figure>/ { on = 0; if (index(text, title)) print text }' all.html >one.txt
	[ -s one.txt ] || fail "no plot \"$title\""
	for legend in "$@"; do
		grep -qF "<text>$legend</text>" one.txt || fail "\"$legend\" is not in \"$title\""
	done
}
plot 'Transactions by clients' ext2 fat
plot 'Big files' 'ext3 writeback' 'ext3 ordered' reiserfs jfs 'xfs cache off' 'xfs cache on'
for test in write overwrite read reread random-read random-write; do
	plot "$test by record size" 'NFS (nfs)' 'POHMELFS (pohmelfs)' 'xfs nobarrier' 'ext4 writeback'
done
