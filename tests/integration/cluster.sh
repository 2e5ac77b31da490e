#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# cluster.sh - throwaway clusters: where they lie, as whom they run, and that nothing is left of them.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/tools/server_processes.sh
. "$(dirname "$0")/../tools/server_processes.sh"
need_root
need_command cc pkg-config setpriv ps psql
library=$(dirname "$WALPROBE")/obj/plain/libwalprobe.a
[ -e "$library" ] || skip "the library was not built beside the program"
ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || skip "PostgreSQL's server is not installed"
id postgres >/dev/null 2>&1 || skip "there is no user postgres"

# A place that other users can get to, which the test's own directory is not.
work=$(mktemp -d /tmp/wp-cluster.XXXXXX) || fail "mktemp"
fat_mounted=
holder=
leave() {
	[ -z "$holder" ] || kill -KILL "$holder" 2>/dev/null
	[ -z "$fat_mounted" ] || umount "$work/fat" 2>/dev/null
	cd /
	rm -rf --one-file-system "$work"
}
trap leave EXIT
chmod 711 "$work"
cd "$work" || fail "cd"
TMPDIR=$work/tmp
export TMPDIR
mkdir -m 1777 tmp
# shellcheck disable=SC2046 # lists of words
cc -std=gnu11 -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I"$TESTS/../include" \
	$(pkg-config --cflags libpq mount jansson) -pthread -o tool "$TESTS/tools/cluster_tool.c" \
	"$library" $(pkg-config --libs libpq mount jansson) -lm || fail "the tool does not build"
tool=$work/tool
mkdir plain

# field KEY [LINE] - from the lines "key=value ..." of the last run
field() {
	grep '^label=' out | sed -n "${2:-1}p" | tr ' ' '\n' | sed -n "s/^$1=//p"
}

# sql LINE STATEMENT - on the server of that line
sql() {
	psql -XAtq -d "$(sed -n 's/^conninfo=//p' out | sed -n "${1}p")" -c "$2" 2>&1
}

segments() {
	awk '$8 == '"$(id -u postgres)"' && $7 == 0' /proc/sysvipc/shm | wc -l
}
segments_before=$(segments)

nothing_left() {
	[ -z "$(server_processes "$work")" ] || fail "a server is left ($1)"
	for place in "$TMPDIR" "$work"/*/; do
		expect_clean "$place"
	done
	! grep -qF " $work/tmp/" /proc/self/mountinfo || fail "a mount is left ($1)"
	[ "$(segments)" -le "$segments_before" ] || fail "shared memory is left ($1)"
}

# hold OPTION... - the tool in the background with servers that run; its id is in $holder
hold() {
	"$tool" --hold "$@" >out 2>err </dev/null &
	holder=$!
	for _ in $(seq 600); do
		! grep -q '^ready' out || return 0
		kill -0 "$holder" 2>/dev/null || break
		sleep 0.05
	done
	cat err >&2
	fail "no server got ready: $*"
}

# ends STATUS SECONDS - the held tool ends with it
ends() {
	begin=$SECONDS
	wait "$holder"
	got=$?
	holder=
	[ "$got" -eq "$1" ] || { cat err >&2; fail "status $got instead of $1"; }
	[ $((SECONDS - begin)) -le "$2" ] || fail "took more than $2 s to end"
}

# gone_within SECONDS
gone_within() {
	for _ in $(seq $(($1 * 20))); do
		[ -n "$(server_processes "$work")" ] || return 0
		sleep 0.05
	done
	fail "the server is still there after $1 s"
}

# As root: the server is not root, pg_wal lies on the target, nothing listens on the network, and
# variables of libpq reach neither the server nor our way to it.
export PGOPTIONS='-c synchronous_commit=off' PGDATABASE=nowhere PGPORT=1 PGUSER=nobody PGHOST=/nowhere
hold --set=wal_sync_method=open_datasync --set=commit_delay=10 plain
unset PGOPTIONS PGDATABASE PGPORT PGUSER PGHOST
[ "$(ps -o user= -p "$(field pid)")" = postgres ] || fail "the server does not run as postgres"
[ "$(readlink "$(field data)/pg_wal")" = "$(field wal)" ] || fail "pg_wal leads elsewhere"
case $(field wal) in "$work"/plain/walprobe-*/pg_wal) ;; *) fail "pg_wal is not on the target" ;; esac
case $(field data) in "$TMPDIR"/walprobe-*/data) ;; *) fail "data is not on the base" ;; esac
ls "$(field wal)"/0000* >/dev/null || fail "no segments on the target"
[ "$(sql 1 'SHOW wal_sync_method')" = open_datasync ] || fail "--set had no effect"
[ "$(sql 1 'SHOW synchronous_commit')" = on ] || fail "PGOPTIONS got through"
expect_text out '^setting commit_delay=10$'
expect_text out '^setting fsync=on$'
[ "$(stat -c %a:%U "$(field data)")" = 700:postgres ] || fail "mode of the data directory"
[ "$(stat -c %a:%U:%G "$(field base)")" = 710:root:postgres ] || fail "mode of the private directory"
hex=$(printf %04X "$(field port)")
! grep -q ":$hex 00000000:0000 0A" /proc/net/tcp || fail "it listens on the network"
! tr '\0' '\n' <"/proc/$(field pid)/environ" | grep -q '^PG' || fail "PG* reached the server"
[ "$(field is_ranked)$(field eatmydata)" = 10 ] || fail "left out of the ranking"
expect_status 0 "$WALPROBE" cleanup "$TMPDIR" plain
kill -0 "$(sed -n 's/.* pid=\([0-9]*\).*/\1/p' out)" 2>/dev/null
[ -n "$(server_processes "$work")" ] || fail "cleanup took a running run's server"
kill -INT "$holder"
ends 130 10
nothing_left "as root"

# Stopped and started again; the whole cluster on the target.
expect_status 0 "$tool" --again --whole plain
case $(field data) in "$work"/plain/walprobe-*/data) ;; *) fail "data is not on the target" ;; esac
nothing_left "whole"

# As an ordinary user, as which nothing needs to be given away.
mkdir -m 777 open
expect_status 0 setpriv --reuid=nobody --regid=nogroup --clear-groups "$tool" open
nothing_left "as nobody"
expect_status 3 setpriv --reuid=nobody --regid=nogroup --clear-groups "$tool" --run-as=postgres open
expect_text err 'only root can run the server as "postgres"'
expect_status 3 setpriv --reuid=54321 --regid=nogroup --clear-groups "$tool" open
expect_text err 'user id 54321 has no name'
expect_status 0 "$tool" --run-as=nobody plain
expect_status 2 "$tool" --run-as=root plain
expect_status 3 "$tool" --run-as=nosuchuser plain
expect_text err 'user "nosuchuser".* does not exist'
nothing_left "users"

# A directory that the server's user cannot enter is named, image mounts go where it can.
mkdir -m 700 closed
mkdir -m 777 closed/inner
expect_status 3 "$tool" closed/inner
expect_text err "user \"postgres\" cannot enter \"$work/closed\", which leads to"
expect_status 3 "$tool" --base=closed plain
expect_text err "user \"postgres\" cannot use \"$work/closed\""
TMPDIR=$work/closed expect_status 0 "$tool" --base=tmp plain
(cd closed && TMPDIR=$work/closed/inner "$tool" "$work/plain") >out 2>err || fail "no other base was found"
case $(field data) in /tmp/walprobe-*) ;; *) fail "the base is not /tmp" ;; esac
[ ! -e "$(field base)" ] || fail "left in /tmp"
nothing_left "closed"
rmdir closed/inner

# A socket's path may have 107 bytes; a longer base has its sockets elsewhere.
long=tmp/$(printf '%080d' 0)
mkdir -m 1777 "$long"
expect_status 0 "$tool" --base="$long" plain
expect_text out '^psql=psql -h /tmp/walprobe-[A-Za-z0-9]*/socket '
[ ! -e "$(sed -n 's/^psql=psql -h \([^ ]*\) .*/\1/p' out)" ] || fail "the socket directory is left"
mkdir -m 1777 "tmp/it's here"
hold --base="tmp/it's here" plain
[ "$(eval "$(sed -n 's/^psql=//p' out) -XAtqc 'SELECT 1'")" = 1 ] || fail "psql's words do not fit"
kill -TERM "$holder"
ends 143 10
expect_clean "tmp/it's here"
nothing_left "long paths"

# What is wrong with settings and programs.
expect_status 2 "$tool" --set=fsync plain
expect_status 2 "$tool" --set=port=1 plain
expect_text err 'setting "port" of a throwaway server cannot be chosen'
expect_status 3 "$tool" --set=wal_sync_method=nonsense plain
expect_text err 'invalid value for parameter "wal_sync_method"'
expect_text err 'Look whether the setting "wal_sync_method"'
expect_status 3 "$tool" --bindir="$work" plain
expect_text err 'no PostgreSQL server programs'
nothing_left "settings"

# A library that takes fsync away is seen from outside.
bin=$(dirname "$(ls /usr/lib/postgresql/*/bin/postgres | tail -n 1)")
mkdir -m 755 eaten
echo 'int eatmydata_there;' | cc -shared -fPIC -x c -o eaten/libeatmydata.so - || fail "cc"
for name in initdb postgres; do
	printf '#!/bin/sh\nLD_PRELOAD=%s exec %s "$@"\n' "$work/eaten/libeatmydata.so" "$bin/$name" >"eaten/$name"
	chmod 755 "eaten/$name"
done
expect_status 0 "$tool" --bindir=eaten plain
[ "$(field eatmydata)" = 1 ] || fail "eatmydata was not seen"
nothing_left eatmydata

# --keep: it runs on, can be reached, and cleanup stops and removes it.
expect_status 0 "$tool" --keep plain
expect_text err 'reach it with psql -h '
[ "$(sql 1 'SELECT 1')" = 1 ] || fail "the kept server does not answer"
expect_text err "walprobe cleanup $TMPDIR plain"
expect_status 0 "$WALPROBE" cleanup "$TMPDIR" plain
nothing_left "kept"

# A server that was killed: told how, and its orphans are gone, too.
hold plain
kill -KILL "$(field pid)"
ends 3 15
expect_text err 'has ended: signal 9 \(Killed\)'
nothing_left "server killed"

# One that somebody has stopped, with all its children.
hold plain
# shellcheck disable=SC2046 # process ids
kill -STOP $(server_processes "$work")
kill -INT "$holder"
ends 130 12
nothing_left "server stopped"

# SIGKILL of us takes the server along; cleanup removes the rest.
for signal in "" STOP; do
	hold plain
	pid=$(field pid)
	[ -z "$signal" ] || kill -STOP "$pid"
	kill -KILL "$holder"
	wait "$holder" 2>/dev/null
	holder=
	[ -n "$signal" ] || gone_within 5
	expect_status 0 "$WALPROBE" cleanup "$TMPDIR" plain
	nothing_left "we were killed"
done

# The same while initdb works.
for delay in 0.3 0.6 0.9; do
	"$tool" --hold plain >out 2>err </dev/null &
	holder=$!
	sleep "$delay"
	kill -KILL "$holder"
	wait "$holder" 2>/dev/null
	holder=
	expect_status 0 "$WALPROBE" cleanup "$TMPDIR" plain
	nothing_left "we were killed after $delay s"
done

# At any moment of the making.
for delay in 0 0.02 0.05 0.1 0.2 0.5 0.8 1.1 1.4; do
	"$tool" --hold plain >out 2>err </dev/null &
	holder=$!
	sleep "$delay"
	for _ in $(seq 100); do
		mask=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$holder/status")
		[ $((0x$mask & 0x4002)) -ne $((0x4002)) ] || break
		sleep 0.01
	done
	kill -TERM "$holder"
	ends 143 15
	nothing_left "SIGTERM at $delay s"
done

# FAT knows no owners: pg_wal is moved there, and its figures are not to be trusted.
if command -v fusefat >/dev/null 2>&1 && command -v mkfs.vfat >/dev/null 2>&1; then
	mkdir fat
	truncate -s 300M fat.img
	mkfs.vfat fat.img >/dev/null || fail "mkfs.vfat"
	fusefat -o "rw+,allow_other,uid=$(id -u postgres),gid=$(id -g postgres),umask=077" fat.img fat \
		>fat.log 2>&1 </dev/null || fail "fusefat"
	fat_mounted=yes
	hold fat
	[ "$(field knows_owners)" = 0 ] || fail "FAT knows owners?"
	[ "$(field is_ranked)" = 0 ] || fail "FAT is ranked"
	expect_text err 'fsync does not reach the file'
	[ "$(readlink "$(field data)/pg_wal")" = "$(field wal)" ] || fail "pg_wal leads elsewhere"
	sql 1 'CREATE TABLE t AS SELECT generate_series(1, 100000) AS n; CHECKPOINT; SELECT pg_switch_wal()' >sql.out
	[ "$(sql 1 'SELECT count(*) FROM t')" = 100000 ] || { cat sql.out >&2; fail "FAT does not hold"; }
	kill -INT "$holder"
	ends 130 15
	expect_status 3 "$tool" --whole fat
	expect_text err 'knows no owners'
	nothing_left FAT
	umount fat || fail "umount"
	fat_mounted=
fi

# Images, all at once, mounted below the base; too small a one says how much it lacks.
if losetup -f >/dev/null 2>&1; then
	set -- image:ext4:size=200MB
	! command -v mkfs.xfs >/dev/null 2>&1 || set -- "$@" image:xfs:size=320MB
	! command -v mkfs.btrfs >/dev/null 2>&1 || set -- "$@" image:btrfs:size=320MB
	mkdir -m 700 images
	(cd images && exec "$tool" "$@" "$work/plain") >out 2>err || { cat err >&2; fail "images"; }
	[ "$(grep -c '^label=' out)" -eq $(($# + 1)) ] || fail "not all targets"
	[ "$(grep '^setting max_wal_size=' out | sort -u | wc -l)" -eq 1 ] || fail "sizes differ"
	nothing_left images
	expect_status 3 "$tool" image:ext4:size=64MB
	expect_text err 'No space left on device'
	expect_text err 'bytes \(80 MB\) are needed'
	nothing_left "small image"
fi
exit 0
