#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
# ramp on targets: a throwaway server for each, what is told of them, and that nothing is left.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/tools/server_processes.sh
. "$(dirname "$0")/../tools/server_processes.sh"
need_root
need_command jq psql runuser
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || skip "PostgreSQL's server is not installed"
id postgres >/dev/null 2>&1 || skip "there is no user postgres"

# A place that other users can get to, which the test's own directory is not.
work=$(mktemp -d /tmp/wp-ramp.XXXXXX) || fail "mktemp"
# Data in memory where there is room for it: the disk of a test machine may be slow.
memory=
[ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)" -lt 2000000 ] 2>/dev/null ||
	memory=$(mktemp -d /dev/shm/wp-ramp.XXXXXX 2>/dev/null)
fat_mounted=
runner=
leave() {
	[ -z "$runner" ] || kill -KILL "$runner" 2>/dev/null
	[ -z "$fat_mounted" ] || timeout 10 umount "$work/fat" 2>/dev/null
	cd /
	rm -rf --one-file-system "$work" ${memory:+"$memory"}
}
trap leave EXIT
chmod 711 "$work"
cd "$work" || fail "cd"
TMPDIR=${memory:-$work}/tmp
export TMPDIR
chmod 711 "${memory:-$work}"
mkdir -m 1777 "$TMPDIR"
mkdir plain other
image=
! losetup -f >/dev/null 2>&1 || image=image:ext4:size=200MB

postmasters() {
	for server in $(server_processes "$work" "$TMPDIR"); do
		! grep -qz '^-D$' "/proc/$server/cmdline" 2>/dev/null || echo "$server"
	done
}

nothing_left() {
	[ -z "$(server_processes "$work" "$TMPDIR")" ] || fail "a server is left ($1)"
	for place in "$TMPDIR" "$work" "$work"/*/; do
		expect_clean "$place"
	done
	! grep -qF " $TMPDIR/" /proc/self/mountinfo || fail "a mount is left ($1)"
	[ -z "$(losetup -l -n -O BACK-FILE | grep -F "$work")" ] || fail "a loop device is left ($1)"
}

ramp() { # STATUS OPTION...: a document in r.json
	local status=$1
	shift
	rm -f r.json
	expect_status "$status" timeout 120 "$WALPROBE" ramp --save=r.json "$@"
}

rows() { # FILTER: over the rows of table ramp, one value
	json "[.tables[] | select(.name == \"ramp\") | .rows[]] | $1" r.json
}

begin() { # heading of a part, for a reader of the log
	echo "$*"
}

# start OPTION...: in the background, until its rounds have begun; its id is in $runner
start() {
	"$WALPROBE" ramp --save=r.json --progress=always -c 1,2 -T 300ms --rounds=100 "$@" >out 2>err </dev/null &
	runner=$!
	for _ in $(seq 600); do
		! grep -q 'round [3-9] of 100' err || return 0
		kill -0 "$runner" 2>/dev/null || break
		sleep 0.05
	done
	cat err >&2
	fail "no round began: $*"
}

ends() { # STATUS SECONDS
	local begun=$SECONDS
	wait "$runner"
	got=$?
	runner=
	[ "$got" -eq "$1" ] || { cat err >&2; fail "status $got instead of $1"; }
	[ $((SECONDS - begun)) -le "$2" ] || fail "took more than $2 s to end"
}

begin "several targets"
targets=("$work/plain" second="$work/other")
[ -z "$image" ] || targets+=("$image")
ramp 0 -c 1,3 -t 10 --rounds=6 --seed=4 --set commit_delay=7 "${targets[@]}"
nothing_left "several targets"
count=${#targets[@]}
[ "$(rows 'length')" = $((2 * count)) ] || fail "rows: $(rows 'length')"
[ "$(rows 'map(.transactions) | unique | sort | join(" ")')" = "60 180" ] || fail "transactions"
[ "$(rows 'map(select(.ranked != "yes")) | length')" = 0 ] || fail "not all are ranked"
[ "$(rows 'map(select(.tps_excluding <= 0 or .tps_including > .tps_excluding or .flushes == null or
	.commits_per_sync <= 0 or .ci_low == null)) | length')" = 0 ] || fail "figures: $(rows .)"
[ "$(json '[.tables[] | select(.name == "comparison") | .rows[]] | length' r.json)" = $((count * (count - 1))) ] ||
	fail "pairs and steps"
[ "$(json '[.tables[] | select(.name == "rounds") | .rows[]] | length' r.json)" = $((12 * count)) ] || fail "rounds"
[ "$(json '[.targets[].label] | index("second")' r.json)" = 1 ] || fail "targets"
[ "$(json '[.environment[] | select(.key == "scale") | .value] | unique | join(" ")' r.json)" = 3 ] || fail "scale"
[ "$(json_rows cluster r.json | jq -r 'select(.setting == "commit_delay") | "\(.value) \(.source)"' | sort -u)" = "7 --set" ] ||
	fail "settings"
[ "$(json '[.checks[] | select(.id == "accounting" and .status != "pass")] | length' r.json)" = 0 ] || fail "accounting"
expect_text out '^  clients +/.*plain +second'
expect_text out 'asked for by --set: commit_delay = 7'
expect_text err 'tables of scale 3'
[ -z "$image" ] || expect_text err '3 targets make 3 pairs, of which fewer than 8 rounds may show no difference'
[ "$(grep -n '^Client ramp' out | cut -d: -f1)" -lt "$(grep -n '^Every pair' out | cut -d: -f1)" ] || fail "order"
mv out printed
expect_status 0 "$WALPROBE" report r.json
cmp out printed || fail "report prints something else"
expect_status 0 "$WALPROBE" report --format=csv r.json

begin "pgbench's output, the recipe of 2001"
expect_status 0 "$WALPROBE" ramp --format=pgbench -c 2 -t 5 -s 1 -N plain other
[ "$(grep -c '^target: ' out)" = 2 ] && expect_text out '^target: other$'
[ "$(grep -c '^number of transactions actually processed: 10/10$' out)" = 2 ] || fail "pgbench: $(cat out)"
expect_status 0 "$WALPROBE" ramp --format=pgbench --like-2001 -c 1 -t 5 plain
! grep -q '^target: ' out || fail "a label where there is one target"
expect_text out '^tps = [0-9.]+\(including connections establishing\)$'
nothing_left "pgbench"

begin "everything on the target, a base, how tables are made"
mkdir -m 1777 base
echo 'SELECT 1 / (:scale - 1) + :scale;' >scale.sql
ramp 0 -c 1 -t 5 --rounds=1 -s 2 --whole --base=base --foreign-keys --partitions=2 --server-side "${image:-plain}"
expect_text err 'all on the target, tables of scale 2'
if [ -n "$image" ]; then
	expect_status 3 "$WALPROBE" ramp -c 1 -t 5 --rounds=1 -s 20 --whole --base=base "$image"
	expect_text err 'target "ext4": could not make room for the data of 1 server .*No space left on device'
fi
ramp 0 -c 2 -t 5 --rounds=1 --base=base -f scale.sql plain
expect_clean base
nothing_left "whole"

begin "as an ordinary user"
mkdir -m 777 open
cp "$WALPROBE" walprobe
chmod 755 walprobe
expect_status 0 timeout 60 runuser -u nobody -- "$work/walprobe" ramp -c 1,2 -t 5 --rounds=1 one=open two=open
expect_text out '^  clients +one +two$'
[ -z "$image" ] || expect_status 3 timeout 60 runuser -u nobody -- "$work/walprobe" ramp -c 1 -t 5 --rounds=1 "$image"
mkdir -m 700 closed
expect_status 3 timeout 60 runuser -u nobody -- "$work/walprobe" ramp -c 1 -t 5 --rounds=1 closed one=open
expect_one_error
expect_text out 'one'
nothing_left "as nobody"

begin "refusals"
refused() { # PATTERN OPTION...
	local pattern=$1
	shift
	expect_status 2 "$WALPROBE" ramp "$@"
	expect_text err "$pattern"
}
refused 'option -d is for a server that runs already' -d x plain
refused 'option -h is for a server that runs already' -h x plain
refused 'option -i is for a server that runs already' -i plain
refused 'option --replace-tables is for' --replace-tables plain
refused 'option --base is for throwaway servers' --base=/tmp -d x
refused 'option --whole is for throwaway servers' --whole
refused 'option --set is for throwaway servers' --set fsync=on
refused 'option --keep is for throwaway servers' --keep
refused 'can only be used in initialization' --foreign-keys
refused 'setting "port" of a throwaway server cannot be chosen' --set port=1 plain
expect_status 3 "$WALPROBE" ramp -c 1 -t 1 --run-as=nosuchuser plain
expect_one_error
expect_status 3 "$WALPROBE" ramp -c 1 -t 1 -s 10000000 plain
expect_text err 'could not make room for the data .*No space left on device'
expect_text err 'bytes .* are needed at scale 10000000'
expect_one_error
nothing_left "refusals"

begin "a server that is not set for a test of the log"
ramp 1 -c 1 -t 20 --rounds=6 --set fsync=off plain other
expect_text out 'left out of the ranking: plain: fsync is off'
[ "$(json '[.tables[] | select(.name == "comparison")] | length' r.json)" = 0 ] || fail "unranked ones are compared"

if [ -n "$image" ]; then
	begin "the disk under pg_wal fills up"
	printf "SELECT pg_logical_emit_message(true, 'x', repeat('x', 100000));\n" >big.sql
	ramp 3 -f big.sql -c 1,2 -t 100 --rounds=6 -s 1 --set max_wal_size=1GB --no-checkpoint image:ext4:size=150MB plain
	expect_one_error
	expect_text err 'target "ext4": the server has ended: pg_wal in .* is full: No space left on device.*16777216 bytes .* are needed.* are free'
	[ "$(rows 'map(select(.target == "ext4" and .tps_excluding == null)) | length')" = 1 ] || fail "the step under way has a rate"
	[ "$(rows 'map(select(.target == "ext4" and .tps_excluding > 0)) | length')" = 1 ] || fail "the other step has none"
	[ "$(rows 'map(select(.target == "plain")) | map(.transactions) | join(" ")')" = "600 1200" ] || fail "the other target"
	expect_status 3 timeout 60 "$WALPROBE" ramp -c 1 -t 1 --rounds=1 -s 10 --set max_wal_size=1GB image:ext4:size=110MB
	expect_text err 'is full: No space left on device'
	expect_one_error
	expect_status 3 timeout 60 "$WALPROBE" ramp -c 1 -t 1 --rounds=1 image:ext4:size=64MB
	expect_text err 'bytes \(80 MB\) are needed'
	nothing_left "full"
fi

begin "a server is killed"
start second="$work/other" plain
kill -KILL "$(postmasters | head -n 1)"
for _ in $(seq 200); do
	! grep -q 'error: target' err || break
	sleep 0.05
done
expect_text err 'target "[a-z]*": the server in .* has ended: signal 9 \(Killed\)'
sleep 1
kill -INT "$runner"
ends 130 15
nothing_left "a server killed"
[ "$(rows 'map(select(.tps_excluding == null)) | length')" = 1 ] || fail "rates: $(rows 'map(.tps_excluding)')"

begin "signals"
for signal in INT TERM; do
	start "${image:-other}" plain
	kill -$signal "$runner"
	ends "$([ $signal = INT ] && echo 130 || echo 143)" 15
	expect_text out '^INCOMPLETE'
	expect_text out '^Client ramp'
	nothing_left "SIG$signal"
done
for delay in 0.4 2; do
	"$WALPROBE" ramp -c 4 -t 1000 "${image:-other}" plain >out 2>err </dev/null &
	runner=$!
	sleep $delay
	kill -TERM "$runner"
	ends 143 15
	nothing_left "SIGTERM after $delay s"
done

begin "SIGKILL"
start "${image:-other}" plain
kill -KILL "$runner"
wait "$runner" 2>/dev/null
runner=
for _ in $(seq 100); do
	[ -n "$(server_processes "$work" "$TMPDIR")" ] || break
	sleep 0.05
done
[ -z "$(server_processes "$work" "$TMPDIR")" ] || fail "the servers outlive us"
expect_status 0 timeout 60 "$WALPROBE" ramp -c 1 -t 1 --rounds=1 plain
expect_text err "found left over from an earlier run .*\"$TMPDIR/walprobe-"
expect_text err 'found left over from an earlier run .*plain/walprobe-'
expect_status 0 "$WALPROBE" cleanup "$work" "$TMPDIR" plain other
nothing_left "SIGKILL"

begin "--keep"
expect_status 0 timeout 60 "$WALPROBE" ramp -c 1 -t 3 --rounds=1 --keep plain ${image:+"$image"}
address=$(sed -n 's/.*reach it with \(psql .* postgres\); stop.*/\1/p' err | head -n 1)
[ "$(eval "$address -XAtqc 'SELECT count(*) FROM pgbench_history'")" -ge 3 ] || { cat err; fail "the kept server"; }
commands=$(sed -n 's/.*remove it with "walprobe \(cleanup [^"]*\)".*/\1/p' err)
[ -n "$commands" ] || fail "no way to remove it is told"
while read -r command; do
	# shellcheck disable=SC2086 # words
	expect_status 0 "$WALPROBE" $command
done <<<"$commands"
nothing_left "kept"

# A FAT file system knows neither owners nor links, and fusefat loses fsync.
if command -v fusefat >/dev/null 2>&1 && command -v mkfs.vfat >/dev/null 2>&1 && [ -e /dev/fuse ]; then
	begin "FAT"
	mkdir fat
	truncate -s 300M fat.img
	mkfs.vfat fat.img >/dev/null || fail "mkfs.vfat"
	timeout 20 fusefat -o "rw+,allow_other,uid=$(id -u postgres),gid=$(id -g postgres),umask=077" fat.img fat \
		>fat.log 2>&1 </dev/null || fail "fusefat"
	fat_mounted=yes
	ramp 1 -c 1,2 -t 10 --rounds=6 fat plain other
	expect_text out 'left out of the ranking: fat: fsync does not reach the file'
	expect_text err 'target "fat": fsync does not reach the file'
	[ "$(rows 'map(select(.target == "fat")) | map(.transactions) | join(" ")')" = "60 120" ] || fail "fat is not measured"
	[ "$(json '[.tables[] | select(.name == "comparison") | .rows[] | select(.a == "fat" or .b == "fat")] | length' r.json)" = 0 ] ||
		fail "fat is compared"
	[ "$(json '[.checks[] | select(.status == "fail") | .id + " " + .target] | join(",")' r.json)" = "fsync-reaches-file fat" ] ||
		fail "failed checks"
	nothing_left FAT
	timeout 10 umount fat || fail "umount"
	timeout 20 fusefat -o rw+ fat.img fat >fat.log 2>&1 </dev/null || fail "fusefat"
	expect_status 3 timeout 30 "$WALPROBE" ramp -c 1 -t 1 --rounds=1 fat
	expect_text err 'allow_other'
	expect_one_error
	timeout 10 umount fat || fail "umount"
	fat_mounted=
fi
exit 0
