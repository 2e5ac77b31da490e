#!/bin/sh
# SPDX-License-Identifier: PostgreSQL
# io: every test of bonnie++ and iozone, the formats, what the cache served, limits, full disks,
# signals.
. "$(dirname "$0")/lib.sh"

rows='.tables[] | select(.name == "io") | .rows'
quick='--rounds=1 --time=3ms --warmup=0s --size=4MB --files=1'

nothing_left() {
	[ "$(ls -A here)" = "" ] || fail "left behind after $1: $(ls -A here)"
}

mkdir here
# shellcheck disable=SC2086
expect_status 0 "$WALPROBE" io $quick --size=32MB --save=all.json here
nothing_left "all tests"
jq -e "$rows | length == 26" all.json >/dev/null || fail "rows: $(jq "$rows | length" all.json)"
jq -e "$rows | all(.ops_per_s > 0 and .cpu_percent != null and (.cached | IN(\"yes\", \"no\", \"unknown\")))" \
	all.json >/dev/null || fail "a row without figures: $(jq -c "$rows | .[]" all.json)"
for key in target test record_bytes bytes_per_s ops_per_s ci_low ci_high p50_ns p99_ns max_ns cpu_percent; do
	jq -e --arg k "$key" '.tables[] | select(.name == "io") | .columns | map(.key) | index($k)' \
		all.json >/dev/null || fail "no column $key"
done

# What is over too soon is done again: with the shortest files each row still has its time.
expect_status 0 "$WALPROBE" io --tests=write,read,create-seq --size=64kB --files=1 --rounds=1 \
	--time=20ms --warmup=0s --format=json here
jq -e "$rows | all(.ops_per_s > 0)" stdout >/dev/null || fail "too short"
jq -e "$rows | map(select(.test == \"write\"))[0] | .written_bytes > 65536" stdout >/dev/null ||
	fail "one pass only"

# The formats of the peers, also from a saved document.
expect_status 0 "$WALPROBE" report --format=bonnie-csv all.json
[ "$(awk -F, '{ print NF }' stdout)" = 50 ] || fail "bonnie-csv: $(cat stdout)"
cp stdout bonnie.csv
expect_status 0 "$WALPROBE" report --format=bonnie-csv-1.03 all.json
[ "$(awk -F, '{ print NF }' stdout)" = 27 ] || fail "bonnie-csv-1.03: $(cat stdout)"
if command -v bon_csv2html >/dev/null; then
	bon_csv2html <bonnie.csv >bonnie.html 2>bonnie.err
	[ ! -s bonnie.err ] || fail "bon_csv2html: $(cat bonnie.err)"
	grep -q "32M" bonnie.html || fail "bon_csv2html shows no row"
fi
# shellcheck disable=SC2086
expect_status 0 "$WALPROBE" io $quick --tests=iozone --record-sizes=8kB-64kB --format=iozone here
# As people's scripts read it: by the words of the heading, one line a record size.
awk '$1 == "kB" && $2 == "reclen" { head = NR } head && $1 == 4096 && NF == 10 { lines++ }
	END { exit lines != 4 }' stdout || fail "iozone: $(cat stdout)"

# Sizes, jobs, O_DIRECT, synchronous writes.
# shellcheck disable=SC2086
expect_status 0 "$WALPROBE" io $quick --tests=write,read,random-write --record-sizes=4kB,64kB \
	--size=1MB-2MB --jobs=3 --format=json here
jq -e "$rows | length == 12 and all(.ops_per_s > 0 and .jobs == 3)" stdout >/dev/null ||
	fail "jobs: $(cat stdout)"
for sync in none fsync o_sync o_dsync; do
	# shellcheck disable=SC2086
	expect_status 0 "$WALPROBE" io $quick --tests=overwrite --sync=$sync --timed=none --format=json here
	jq -e "$rows | all(.ops_per_s > 0)" stdout >/dev/null || fail "$sync"
done
# shellcheck disable=SC2086
expect_status 0 "$WALPROBE" io $quick --direct --tests=write1,read --format=json here
jq -e "$rows | map(select(.test == \"write1\"))[0].absent.ops_per_s == \"O_DIRECT needs whole blocks\"" \
	stdout >/dev/null || fail "write1 with O_DIRECT"
nothing_left "sizes and jobs"

# A file in memory is never a figure of a disk.
# shellcheck disable=SC2086
expect_status 0 "$WALPROBE" io $quick --cached --tests=read,random-read --format=json here
jq -e "$rows | all(.cached != \"no\")" stdout >/dev/null || fail "a cached read passes for the disk's"
if [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ]; then
	# shellcheck disable=SC2086
	expect_status 0 "$WALPROBE" io $quick --tests=write,read --format=json /dev/shm
	jq -e "$rows | all(.cached == \"yes\")" stdout >/dev/null || fail "tmpfs is not marked"
fi

# The words that are refused.
expect_status 2 "$WALPROBE" io
expect_status 2 "$WALPROBE" io --tests=nosuch here
expect_status 2 "$WALPROBE" io --record-sizes=1MB-8kB here
expect_status 2 "$WALPROBE" io --record-sizes=32MB here
expect_status 2 "$WALPROBE" io --record-sizes=16MB --jobs=64 here
expect_status 2 "$WALPROBE" io --cached --direct here
expect_status 2 "$WALPROBE" io --files=0 here
expect_status 2 "$WALPROBE" io --size=1kB here

# Limits: one message, nothing left.
limited() {
	(ulimit "$1" "$2" && shift 2 && exec "$@")
}
# shellcheck disable=SC2086
expect_status 3 limited -f 1024 "$WALPROBE" io $quick --tests=write,read here
expect_one_error
expect_text stderr 'File too large'
expect_text stderr 'ulimit -f'
nothing_left "a limit of file sizes"
# shellcheck disable=SC2086
expect_status 3 limited -n 24 "$WALPROBE" io $quick --tests=read --jobs=16 here
expect_one_error
nothing_left "a limit of open files"
expect_status 3 "$WALPROBE" io --size=60TB --tests=read here
expect_one_error
expect_text stderr 'No space left on device'

# Memory does not grow with the file.
if command -v /usr/bin/time >/dev/null; then
	expect_status 0 /usr/bin/time -f %M -o peak "$WALPROBE" io --tests=read,random-read,archive \
		--rounds=2 --time=20ms --warmup=0s --size=512MB here
	[ "$(cat peak)" -lt 65536 ] || fail "$(cat peak) kB of memory"
fi

# A signal: what was measured is printed and marked, nothing is left.
for signal in INT:130 TERM:143; do
	"$WALPROBE" io --quiet --size=16MB --save=cut.json here >cut.out 2>cut.err &
	pid=$!
	tries=0
	while [ "$(ls -A here)" = "" ] && [ "$tries" -lt 100 ]; do
		tries=$((tries + 1))
		sleep 0.1
	done
	sleep 1
	kill "-${signal%:*}" "$pid"
	wait "$pid"
	got=$?
	[ "$got" -eq "${signal#*:}" ] || fail "status $got after SIG${signal%:*}: $(cat cut.err)"
	nothing_left "SIG${signal%:*}"
done

need_loop
# A disk that is full before the files are written, and one without room for the small files.
mkdir mnt
truncate -s 32M image
mkfs.ext4 -q image
mount -o loop image mnt || skip "no loop mount here"
trap 'umount mnt 2>/dev/null' EXIT
# shellcheck disable=SC2086
expect_status 3 "$WALPROBE" io $quick --size=20MB --tests=write mnt
expect_one_error
expect_text stderr 'No space left on device'
expect_clean mnt
# shellcheck disable=SC2086
expect_status 3 "$WALPROBE" io $quick --files=16 --tests=stat-seq mnt
expect_one_error
expect_text stderr 'No space left on device'
expect_clean mnt
# What comes through a loop device is seen there.
# shellcheck disable=SC2086
expect_status 0 "$WALPROBE" io $quick --tests=read,random-read,write --format=json mnt
jq -e "$rows | map(select(.test == \"read\"))[0] | .cached == \"no\" and .device_read_bytes > 0" \
	stdout >/dev/null || fail "reads after the drop: $(jq -c "$rows" stdout)"
umount mnt
trap - EXIT
