#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# import.sh - published output becomes a document: files, standard input, what the command line adds,
# exit statuses, and messages that say what to do.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
need_command jq
data=$TESTS/data/import

# A document whose figures, labels and line numbers a script can take.
expect_status 0 "$WALPROBE" import --format json --save saved.json \
	"$data/08-bonnie-103-two-runs-same-host/mail-excerpt.txt"
jq -e '.command == "import" and .complete and (.environment | length) == 0 and
	([.targets[].label] == ["hostF", "hostF#2"])' stdout >/dev/null || fail "document"
jq -e '.tables[] | select(.name == "io") | .rows[] |
	select(.target == "hostF" and .test == "write") | .bytes_per_s == 57592 * 1024' \
	stdout >/dev/null || fail "figure"
jq -e '[.tables[] | select(.name == "not_understood") | .rows[].line] == [23, 24]' \
	stdout >/dev/null || fail "lines that were not understood"

# The saved document prints the same bytes.
expect_status 0 "$WALPROBE" import "$data/10-bonnie-200-no-csv-odirect-4k/mail-excerpt.txt" \
	--save ten.json
cp stdout first
expect_status 0 "$WALPROBE" report ten.json
cmp -s first stdout || fail "report prints other bytes than import"
expect_status 0 "$WALPROBE" report --format bonnie-csv-1.03 saved.json
grep -q '^hostF,2G:8k,33294,91,57592,20,26778,5,30885,77,56081,5,174.2,0,' stdout ||
	fail "not exported as CSV again"

# Standard input, with and without "-"; several inputs.
for how in "" -; do
	# shellcheck disable=SC2086 # none or one word
	"$WALPROBE" import --format csv $how <"$data/02-bonnie-csv-mixed-196-and-103/bonnie.csv" \
		>out || fail "standard input"
	grep -q '^host7,' out || fail "host7 of standard input"
done
expect_status 0 "$WALPROBE" import --format json "$data"/07*/*.txt "$data"/23*/pdsh.txt
jq -e '.targets | length == 11' stdout >/dev/null || fail "two inputs"

# What the command line says; an explicit label for more runs than one is counted on.
expect_status 0 "$WALPROBE" import --format json --label before --host db1 --fstype xfs \
	--options noatime,nobarrier "$data"/08*/mail-excerpt.txt
jq -e '[.targets[] | [.label, .fstype, .mount_options]] ==
	[["before", "xfs", "noatime,nobarrier"], ["before#2", "xfs", "noatime,nobarrier"]]' \
	stdout >/dev/null || fail "words of the command line"
# Checks are about another machine: no exit status follows from them.
jq -e '[.checks[] | select(.id == "barriers" and .status == "fail")] | length == 2' \
	stdout >/dev/null || fail "nobarrier is not judged"

# Nothing understood, a format that does not fit, files that cannot be read, bad words.
echo "Dear list, my disks are slow." >prose
expect_status 3 "$WALPROBE" import prose
grep -q 'nothing in "prose" was understood' stderr || fail "message"
grep -q 'hint: ' stderr || fail "hint"
[ ! -s stdout ] || fail "a document without figures"
: >empty
expect_status 3 "$WALPROBE" import empty
expect_status 3 "$WALPROBE" import --as iozone "$data"/08*/mail-excerpt.txt
grep -q 'as output of iozone' stderr || fail "--as"
expect_status 2 "$WALPROBE" import --as bonny prose
grep -q 'bonnie-csv' stderr || fail "the formats are not listed"
expect_status 3 "$WALPROBE" import no-such-file
grep -q 'could not open "no-such-file": No such file or directory' stderr || fail "open"
expect_status 3 "$WALPROBE" import .
grep -q 'Is a directory' stderr || fail "directory"
expect_status 3 "$WALPROBE" import ten.json
grep -q 'walprobe report' stderr || fail "a document is no tool's output"

# One bad input among good ones: the others are imported, the status says it.
expect_status 3 "$WALPROBE" import --format csv prose "$data"/07*/*.txt
grep -q '^hostE,' stdout || fail "the good input is lost"
grep -q 'nothing in "prose"' stderr || fail "the bad input is not named"
expect_status 3 "$WALPROBE" import prose empty
grep -q 'none of the 2 files was imported' stderr || fail "none"

# What io prints in the layouts of its peers is read back.
mkdir here
expect_status 0 "$WALPROBE" io --rounds=1 --time=3ms --warmup=0s --size=4MB --files=1 \
	--tests=write,read,create-seq --save=io.json here
rate='.tables[] | select(.name == "io") | .rows[] | select(.test == "write") | .bytes_per_s'
for format in bonnie-csv bonnie-csv-1.03 iozone; do
	"$WALPROBE" report --format "$format" io.json >exported || fail "$format"
	expect_status 0 "$WALPROBE" import --format json exported
	jq -e --argjson was "$(jq "$rate" io.json)" \
		"($rate) as \$is | (\$is - \$was) | fabs <= 512" stdout >/dev/null ||
		fail "$format is not read back"
done

# Text is bounded; nothing of a pipe is guessed.
head -c 70000000 /dev/zero | tr '\0' 'x' | "$WALPROBE" import - >out 2>err
[ $? -eq 3 ] || fail "text of 70 MB"
grep -q 'longer than 64 MB' err || fail "bound"
exit 0
