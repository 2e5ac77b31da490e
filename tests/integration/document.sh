#!/bin/bash
# What is printed, saved and rendered again: one document, byte for byte; and output that fails.
. "$(dirname "$0")/lib.sh"

short="--rounds=6 --time=20ms --warmup=0s"
mkdir a b

# The saved document renders to the very bytes that the command printed, in every format.
for format in text json csv; do
	expect_status 0 "$WALPROBE" sync $short --variant=overwrite --method=fdatasync,fsync \
		--format=$format --save=saved.json -o printed a b
	expect_status 0 "$WALPROBE" report --format=$format -o again saved.json
	cmp printed again || fail "report --format=$format differs from what sync printed"
done
expect_status 0 "$WALPROBE" report saved.json --format=json -o again
cmp saved.json again || fail "the saved document does not survive reading and writing"

# The document has the form of the contract.
jq -e '.format == "walprobe" and .schema == 1 and .command == "sync" and .complete == true' saved.json >/dev/null ||
	fail "head of the document"
jq -e '[.targets[].label] == ["a", "b"]' saved.json >/dev/null || fail "labels of directories"
jq -e '.tables[] | select(.name == "sync") | .rows | length == 4 and
	all(.ops_per_s > 0 and .ci_low <= .ops_per_s and .ops_per_s <= .ci_high and .variant == "overwrite")' \
	saved.json >/dev/null || fail "rows of table sync"
jq -e '.tables[] | select(.name == "rounds") | .rows | length >= 24' saved.json >/dev/null ||
	fail "the raw rounds are kept"
jq -e '.parameters[] | select(.key == "rounds") | .value == 6' saved.json >/dev/null || fail "parameters"
jq -e '.environment | map(.key) | index("kernel")' saved.json >/dev/null || fail "environment"

# Too few samples or rounds leave a reason, never a figure.
expect_status 0 "$WALPROBE" sync --rounds=2 --time=2ms --warmup=0s --variant=overwrite \
	--method=fdatasync --format=json -o few.json a
jq -e '.tables[] | select(.name == "sync") | .rows[0] | .ci_low == null and (.absent.ci_low | test("round"))' \
	few.json >/dev/null || fail "an interval from two rounds"

# Absent is null with a reason.
expect_status 0 "$WALPROBE" sync $short --method=fsync_writethrough --variant=overwrite --format=json -o wt.json a
jq -e '.tables[] | select(.name == "sync") | .rows[0] | .ops_per_s == null and (.absent.ops_per_s | length > 0)' \
	wt.json >/dev/null || fail "fsync_writethrough is absent with a reason"

# Output that cannot be written.
if [ -w /dev/full ]; then
	"$WALPROBE" sync $short --method=fdatasync --variant=overwrite a >/dev/full 2>err
	[ $? -eq 3 ] || fail "full standard output is status 3"
	expect_text err 'could not write to standard output: No space left on device'
	"$WALPROBE" --help >/dev/full 2>err
	[ $? -eq 3 ] || fail "help on a full standard output is status 3"
fi
"$WALPROBE" sync $short --method=fdatasync --variant=overwrite a >&- 2>err
[ $? -eq 3 ] || fail "closed standard output is status 3"
expect_status 3 "$WALPROBE" sync $short -o /nonexistent/x --method=fdatasync a
grep -q '"/nonexistent/x"' err || fail "-o names the file"
expect_status 3 "$WALPROBE" sync $short --save=/nonexistent/x --method=fdatasync a

# A run that measures nothing leaves no empty files behind, and does not destroy the old ones.
expect_status 3 "$WALPROBE" sync $short --save=new.json nosuchdir
[ ! -e new.json ] || fail "an empty new.json was left"
echo precious >old.json
expect_status 3 "$WALPROBE" sync $short --save=old.json nosuchdir
grep -q precious old.json || fail "old.json was destroyed though nothing was measured"

# report refuses what is no document.
echo '{"format": "walprobe"' >bad.json
expect_status 3 "$WALPROBE" report bad.json
grep -q 'bad.json' err || fail "report names the file"
expect_status 3 "$WALPROBE" report nosuch.json
expect_status 2 "$WALPROBE" report
for word in --nosuch --rounds=0 --rounds=x --time=5 --format=nosuch --method=nosuch; do
	expect_status 2 "$WALPROBE" sync $word a
	[ ! -s out ] || fail "$word: standard output is not empty"
	grep -q 'hint' err || fail "$word: no hint"
done
expect_status 2 "$WALPROBE" sync x=a x=b
expect_status 2 "$WALPROBE" nosuch
expect_status 2 "$WALPROBE"
expect_status 0 "$WALPROBE" --version
[ -z "$(find a b -mindepth 1)" ] || fail "something was left in the targets"
