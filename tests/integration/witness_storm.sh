#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
#
# witness_storm.sh - whatever becomes of the messages, of the witness and of its disk, a file system
# that keeps its promises is never said to lie: lost, delayed, repeated, reordered and damaged
# frames, hang-ups, a witness killed and started again, a store without space.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/tools/witness.sh
. "$(dirname "$0")/../tools/witness.sh"
need_command cc pkg-config jq
library=$(dirname "$WALPROBE")/obj/plain/libwalprobe.a
[ -e "$library" ] || skip "the library was not built beside the program"
store=store
witness_pid=
writer_pid=
network_pid=
leave() {
	for pid in $writer_pid $network_pid $witness_pid; do
		kill -KILL "$pid" 2>/dev/null
		wait "$pid" 2>/dev/null
	done
	umount small 2>/dev/null
}
trap leave EXIT

cc -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I"$TESTS/../include" -pthread -o bad_network \
	"$TESTS/tools/bad_network.c" "$library" -lm || fail "the tool does not build"

start_witness() {
	: >witness.log
	"$WALPROBE" witness --listen "${address:-127.0.0.1:0}" --key key --store "$store" 2>witness.log &
	witness_pid=$!
	wait_for grep -q 'listening at' witness.log
	address=$(sed -n 's/.*listening at \([^,]*\),.*/\1/p' witness.log)
}

# start_network SEED - sets where to the address that targets are to use
start_network() {
	./bad_network "$address" "$1" >network.out &
	network_pid=$!
	wait_for grep -q : network.out
	where=$(head -n 1 network.out)
}

stop_network() {
	kill "$network_pid"
	wait "$network_pid"
	network_pid=
	sed -n '2p' network.out
}

# start_writer - through the network, or past it
start_writer() {
	"$WALPROBE" plug write --witness "${where:-$address}" --key key --space 8MB --segment-size 128kB \
		t >writer.out 2>writer.log &
	writer_pid=$!
}

# An operator would call again where the weather keeps a run from beginning.
start_writer_in_storm() {
	for _ in $(seq 40); do
		start_writer
		for _ in $(seq 100); do
			! grep -q 'note: armed' writer.log || return 0
			kill -0 "$writer_pid" 2>/dev/null || break
			sleep 0.1
		done
		kill -KILL "$writer_pid" 2>/dev/null
		wait "$writer_pid" 2>/dev/null
		rm -rf t/walprobe-plug-*
	done
	cat writer.log >&2
	fail "no run begins"
}

# cut_and_verify STATUS... - one of these, never 1
cut_and_verify() {
	kill -KILL "$writer_pid" 2>/dev/null
	wait "$writer_pid" 2>/dev/null
	writer_pid=
	for _ in $(seq 20); do
		"$WALPROBE" plug verify --witness "$address" --key key --cut asserted --format json t \
			>out 2>err
		got=$?
		# What is still under way makes it look so.
		grep -q 'still at work' out || break
		sleep 0.3
	done
	verdict=$(json '.tables[] | select(.name == "verdict") | .rows[0] | "\(.verdict), \(.judged) judged"' out)
	echo "$verdict"
	case " $* " in
	*" $got "*) ;;
	*)
		json '.checks[].text' out >&2
		cat err >&2
		fail "status $got, not one of $*"
		;;
	esac
	rm -rf t/walprobe-plug-*
}

expect_status 0 "$WALPROBE" witness --new-key key
mkdir t
start_witness

# ---- bad weather; the cut comes in it, and when it is over
for seed in 1 2 3; do
	start_network "$seed"
	start_writer_in_storm
	sleep 3
	if [ "$seed" = 3 ]; then
		kill -USR1 "$network_pid"
		sleep 3.5
		cut_and_verify 0
	else
		cut_and_verify 0 4
	fi
	stop_network
done
where=

# ---- a witness that is killed again and again, in bad weather as well
start_network 4
start_writer_in_storm
for pause in 0.3 0.9 0.1 1.4; do
	stop_witness KILL
	start_witness
	sleep "$pause"
done
cut_and_verify 0 4
stop_network
where=
start_writer
wait_for grep -q 'note: armed' writer.log
for pause in 0.4 0.2 1.8; do
	stop_witness KILL
	start_witness
	sleep "$pause"
done
cut_and_verify 0

# ---- no space for what the witness must remember
stop_witness TERM
mkdir small
if ! mount -t tmpfs -o size=256k tmpfs small 2>/dev/null; then
	echo "without a full store: no tmpfs can be mounted here"
	exit 0
fi
store=small/store
start_witness

fill() {
	wait_for grep -q 'note: armed' writer.log
	dd if=/dev/zero of=small/filler bs=4k status=none 2>/dev/null
	# What is left of the journal's last page takes a while to be used up.
	wait_for grep -q 'nothing is acknowledged' witness.log
}

start_writer
fill
wait_for grep -q 'writers pause' writer.log
rm small/filler
wait_for grep -q 'there is space again' witness.log
wait_for grep -q 'writers go on' writer.log
sleep 1.3
cut_and_verify 0

start_writer
fill
wait_for grep -q 'writers pause' writer.log
sleep 0.3
kill -KILL "$writer_pid"
rm small/filler
wait_for grep -q 'there is space again' witness.log
cut_and_verify 4

start_writer
fill
stop_witness KILL
rm small/filler
start_witness
sleep 1.5
cut_and_verify 0
