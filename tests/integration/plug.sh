#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# plug.sh - witness, plug write and plug verify on a plain directory of an honest file system. A
# killed writer stands for the cut, which the operator asserts; damage is done by hand.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/tools/witness.sh
. "$(dirname "$0")/../tools/witness.sh"
need_command jq
tls=
cuts=
# shellcheck disable=SC2016 # for the shell of the witness
cutter='kill -KILL $(cat victim) && touch cut.$(($(ls cut.* 2>/dev/null | wc -l) + 1))'
witness_pid=
writer_pid=
trap 'kill -KILL $witness_pid $writer_pid 2>/dev/null' EXIT

start_witness() {
	: >witness.log
	"$WALPROBE" witness --listen "${address:-127.0.0.1:0}" --key key --store store \
		${tls:+"$tls"} ${cuts:+--cut-command "$cutter" --on-command 'touch on.$(ls cut.* | wc -l)' \
		--off-time 2s --cut-delay 2s --cycles "$cuts" --yes-cut-power "$(hostname)"} \
		2>witness.log &
	witness_pid=$!
	wait_for grep -q 'listening at' witness.log
	address=$(sed -n 's/.*listening at \([^,]*\),.*/\1/p' witness.log)
}

# start_writer DIRECTORY [OPTION...] - until it is armed and has worked for a second
start_writer() {
	target=$1
	shift
	mkdir -p "$target"
	"$WALPROBE" plug write --witness "$address" --key key --space 8MB --segment-size 256kB "$@" \
		"$target" >writer.out 2>writer.log &
	writer_pid=$!
	wait_for grep -q 'note: armed' writer.log
	sleep 1.2
}

kill_writer() {
	kill -KILL "$writer_pid"
	wait "$writer_pid" 2>/dev/null
	writer_pid=
}

# cut DIRECTORY [OPTION...] - a writer that loses its power
cut() {
	start_writer "$@"
	kill_writer
}

# verify STATUS DIRECTORY [OPTION...]
verify() {
	status=$1
	target=$2
	shift 2
	expect_status "$status" "$WALPROBE" plug verify --witness "$address" --key key --format json "$@" \
		"$target"
}

# row KEY - of the verdict
row() {
	json ".tables[] | select(.name == \"verdict\") | .rows[0].$1" out
}

# expect_verdict VERDICT [TEXT] - TEXT is in the sentence
expect_verdict() {
	[ "$(row verdict)" = "$1" ] || fail "verdict is $(row verdict), not $1: $(sentence)"
	sentence | grep -qF -- "${2:-}" || fail "not in the sentence: \"$2\": $(sentence)"
}

sentence() {
	json '.checks[] | select(.id == "data-survived") | .text' out
}

# at_least KEY N
at_least() {
	[ "$(row "$1")" -ge "$2" ] || fail "$1 is $(row "$1"), less than $2"
}

# live DIRECTORY WRITER - the segment of a writer that is complete: the last but two or three
live() {
	find "$1"/walprobe-plug-* -name "wp.000$2.????????" | sort | tail -n 4 | head -n 1
}

# ---- keys and refusals
expect_status 0 "$WALPROBE" witness --new-key key
[ "$(stat -c %a key)" = 600 ] || fail "the key is not for its owner alone"
expect_status 3 "$WALPROBE" witness --new-key key
expect_status 0 "$WALPROBE" witness --new-key other-key
expect_status 2 "$WALPROBE" witness --key key --store store
expect_status 2 "$WALPROBE" plug
expect_status 2 "$WALPROBE" plug pull
expect_status 0 "$WALPROBE" plug --help
expect_text out 'plug verify'
expect_status 2 "$WALPROBE" plug write t
start_witness
chmod 644 other-key
expect_status 2 "$WALPROBE" plug verify --witness "$address" --key other-key .
expect_text err 'others than its owner'
chmod 600 other-key
mkdir t
expect_status 3 "$WALPROBE" plug write --witness "$address" --key other-key t
expect_text err 'wrong key'
expect_text witness.log 'refused: a wrong key'
expect_clean t
expect_status 2 "$WALPROBE" plug write --witness "$address" --key key image:ext4

# ---- what proves nothing is not passed
verify 4 t
expect_verdict 'cannot tell' 'there is no run here'
mkdir -p u/walprobe-plug-00112233445566778899aabbccddeeff
verify 4 u
expect_verdict 'cannot tell' 'knows nothing of this run'

# A witness that has lost its memory, as diskchecker.pl's has after a restart: a pass there.
start_writer t
kill_writer
stop_witness TERM
mv store forgotten
start_witness
verify 4 t --cut asserted --discard
expect_verdict 'cannot tell' 'knows nothing of this run'
[ "$(row judged)" = null ] || fail "judged $(row judged) of a run that the witness does not know"
expect_clean t

# A stop in good order.
expect_status 0 "$WALPROBE" plug write --witness "$address" --key key --space 8MB -T 1 --method \
	open_datasync t
expect_text out 'duration'
verify 4 t --cut asserted --discard
expect_verdict 'cannot tell' 'stopped in good order'
expect_clean t

# The machine was not restarted; the writers are at work.
start_writer t
verify 4 t --cut asserted
expect_verdict 'cannot tell' 'still at work'
kill_writer
verify 4 t
expect_verdict 'cannot tell' 'not restarted'

# ---- an honest file system: no loss, and again the same
verify 0 t --cut asserted
expect_verdict 'no loss' 'your own assertion'
at_least judged 100
[ "$(row cuts)" = 1 ] || fail "not one cut"
[ "$(row p_upper_95)" = 0.95 ] || fail "the bound is $(row p_upper_95)"
json '.tables[] | select(.name == "verdict") | .rows' out >first
verify 0 t --cut asserted
json '.tables[] | select(.name == "verdict") | .rows' out >second
cmp -s first second || fail "the second verdict differs from the first"
run=$(row run)

# The next cut of the same run; the cold area is looked at again.
cut t --run "$run"
expect_status 2 "$WALPROBE" plug write --witness "$address" --key key --run "$run" t
expect_text err 'was not judged yet'
verify 0 t --cut asserted
[ "$(row cuts)" = 2 ] && [ "$(row cycle)" = 2 ] || fail "not the second cut"
expect_status 0 "$WALPROBE" plug verify --witness "$address" --key key --cut asserted t
expect_text out 'NO LOSS in 2 effective cuts'

# ---- a service that goes on by itself after each cut, and a witness that makes the cuts
expect_status 2 "$WALPROBE" witness --listen :0 --key key --store other --cut-command true
expect_text err 'belong together'
expect_status 2 "$WALPROBE" plug write --witness none --cycles 2 t
stop_witness TERM
cuts=2
start_witness
mkdir c
for cycle in 1 2; do
	"$WALPROBE" plug write --witness "$address" --key key --space 8MB --segment-size 256kB \
		--cycles 2 --cut asserted c >writer.out 2>writer.log &
	writer_pid=$!
	echo "$writer_pid" >victim
	wait_for test -e "cut.$cycle"
	wait "$writer_pid" 2>/dev/null
	writer_pid=
	[ "$cycle" = 1 ] || expect_text writer.log 'cycle 1: NO LOSS; 1 of 2'
	wait_for test -e "on.$cycle"
done
wait_for grep -q '2 of 2 cuts are done' witness.log
cuts=
expect_status 0 "$WALPROBE" plug write --witness "$address" --key key --cycles 2 --cut asserted c
expect_text out 'NO LOSS in 2 effective cuts'
verify 0 c --cut asserted --discard
# What has lied is not written to again.
cut c
rm -rf c/walprobe-plug-*
expect_status 1 "$WALPROBE" plug write --witness "$address" --key key --cycles 2 --cut asserted c
expect_clean c

# ---- damage is proof, by its kind; writer 0 appends, 1 preallocates, 2 recycles, 3 creates
damage() {
	rm -rf t u
	cut t
	"$@" || fail "could not do the damage: $*"
	verify 1 t --cut asserted
	expect_verdict lies
}

zero_record() {
	dd if=/dev/zero of="$(live t 1)" bs=8192 seek=3 count=1 conv=notrunc status=none
}
tear_record() {
	dd if=/dev/zero of="$(live t 1)" bs=512 seek=51 count=7 conv=notrunc status=none
}
flip_bit() {
	printf '\001' | dd of="$(live t 0)" bs=1 seek=12345 conv=notrunc status=none
	printf '\002' | dd of="$(live t 0)" bs=1 seek=22345 conv=notrunc status=none
}
misdirect() {
	dd if="$(live t 0)" of="$(live t 1)" bs=8192 skip=2 seek=5 count=1 conv=notrunc status=none
}
lose_name() {
	rm "$(live t 1)"
}
shorten() {
	truncate -s 8192 "$(live t 0)"
}
lose_record_file() {
	rm "$(find t/walprobe-plug-* -name 'wp.0003.*' | sort | tail -n 40 | head -n 1)"
}
damage_cold() {
	dd if=/dev/zero of="$(echo t/walprobe-plug-*)/wp.cold" bs=512 seek=3 count=1 conv=notrunc status=none
}
lose_marker() {
	rm t/walprobe-plug-*/walprobe.run
}
lose_directory() {
	rm -rf t/walprobe-plug-*
}
lose_all() {
	rm -rf t
}

damage zero_record
at_least lost 1
at_least age_ns 1
sentence | grep -q 'had been acknowledged .* s before' || fail "no age: $(sentence)"
at_least reordered 1
damage tear_record
at_least torn 1
damage flip_bit
at_least flipped 1
damage misdirect
at_least misdirected 1
damage lose_name
at_least missing_names 1
at_least lost 32
damage shorten
at_least shortened 31
at_least lost 31
damage lose_record_file
at_least missing_names 1
damage damage_cold
at_least cold 1
damage lose_marker
row kinds | grep -q 'marker' || fail "kinds are $(row kinds)"
damage lose_directory
[ "$(row lost)" = "$(row judged)" ] || fail "not all is lost"
damage lose_all
at_least lost 100
expect_status 0 "$WALPROBE" witness --store store --list --format json
[ "$(json '[.tables[].rows[] | select(.verdict == "lies")] | length' out)" -ge 11 ] ||
	fail "the witness does not remember the lies"

# ---- nothing that happens to the witness makes an honest file system lie
mkdir -p t
start_writer t
stop_witness KILL
wait_for grep -q 'writers pause' writer.log
start_witness
wait_for grep -q 'writers go on' writer.log
sleep 1.2
stop_witness KILL
start_witness
sleep 1.2
kill_writer
verify 0 t --cut asserted --discard
expect_verdict 'no loss'

# Blind when the power went.
start_writer t
stop_witness KILL
wait_for grep -q 'writers pause' writer.log
sleep 0.3
kill_writer
start_witness
verify 4 t --cut asserted --discard
expect_verdict 'cannot tell'
rm -rf t

# ---- the same through TLS
stop_witness TERM
tls=--tls
start_witness
mkdir t2
expect_status 3 "$WALPROBE" plug write --witness "$address" --key key t2
expect_text err '--tls'
expect_status 3 "$WALPROBE" plug write --witness "$address" --key other-key --tls t2
expect_text err 'wrong key'
cut t2 --tls
verify 0 t2 --tls --cut asserted --discard
expect_verdict 'no loss'
expect_clean t2

# ---- the witness as a program of its own
stop_witness TERM
own=$(dirname "$WALPROBE")/walprobe-witness
[ -x "$own" ] || fail "there is no $own"
! ldd "$own" | grep -q libpq || fail "the witness needs libpq"
expect_status 0 "$own" --store store --list
expect_status 0 "$own" --help
