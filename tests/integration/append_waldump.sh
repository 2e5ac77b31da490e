#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# append_waldump.sh - what append writes is WAL: PostgreSQL's own reader takes its page headers,
# links and checksums, over pages and segments, up to the zeros after the last commit.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
waldump=/usr/lib/postgresql/15/bin/pg_waldump
[ -x "$waldump" ] || skip "pg_waldump of PostgreSQL 15 is not installed"
mkdir target

# read_wal - counts what can be read. Files whose turn has not come yet still hold what they held
# under their old name, or the zeros that they were created with; they are passed over.
read_wal() {
	commits=0
	others=0
	most=0
	for file in target/walprobe-*/pg_wal/[0-9A-F]*; do
		"$waldump" "$file" >dump 2>problem
		status=$?
		grep -Eq 'could not find a valid record after|header specifies 0 bytes' problem && continue
		# A whole segment, or the zeros after the last commit.
		[ "$status" -eq 0 ] || grep -q 'wanted 24, got 0' problem || fail "$file: $(cat problem)"
		here=$(grep -c 'rmgr: Transaction.* COMMIT 2' dump)
		commits=$((commits + here))
		others=$((others + $(grep -c 'rmgr: XLOG.* NOOP' dump)))
		[ "$here" -lt "$most" ] || fullest=$file
		[ "$here" -lt "$most" ] || most=$here
	done
}

# Segments at their own pace, so that the stream has no gaps; records longer than a page. A run may
# end just after a segment has begun: then there is too little to read, and another is made.
most=0
for _ in 1 2 3; do
	[ "$most" -lt 5 ] || break
	expect_status 0 "$WALPROBE" cleanup target
	expect_status 0 "$WALPROBE" append --keep --natural-switches --clients=2 --rounds=1 --time=50ms \
		--warmup=0s --segment-size=4MB --segments=2 --record-size=20kB target
	read_wal
done
[ "$most" -ge 5 ] || fail "only $most commits can be read"
# Every transaction is one record of data and a commit; one may be cut at each end of a file.
[ $((others - commits)) -le 3 ] && [ $((commits - others)) -le 3 ] ||
	fail "$commits commits, $others other records"

# The reader would notice: four bytes in the middle of a record.
offset=$("$waldump" "$fullest" 2>/dev/null | sed -n 's/.*lsn: 0\/\([0-9A-F]*\),.* NOOP.*/\1/p' | sed -n 1p)
offset=$((0x$offset % 1048576 + 100))
printf '\377\377\377\377' | dd of="$fullest" bs=1 seek="$offset" conv=notrunc 2>/dev/null
"$waldump" "$fullest" >dump 2>problem
grep -Eq 'incorrect resource manager data checksum|could not find a valid record' problem ||
	fail "a changed record passes: $(cat problem)"

expect_status 0 "$WALPROBE" cleanup target
expect_clean target
exit 0
