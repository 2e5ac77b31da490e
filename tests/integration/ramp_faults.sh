#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
# ramp while the server, its connections or its disk fail: what was done is told, no rate for a step
# that could not be finished, one message, and an end.
. "$(dirname "$0")/lib.sh"
. "$TESTS/tools/server.sh"
proxy=
image_mounted=
loop=
# shellcheck disable=SC2317 # the trap calls it
leave() {
	[ -z "$proxy" ] || kill "$proxy" 2>/dev/null
	# Whatever a failed test left stopped goes on, and is then removed.
	server_signal CONT
	remove_server
	[ -z "$image_mounted" ] || umount image
	[ -z "$loop" ] || losetup -d "$loop"
}
trap leave EXIT

row() { # FIELD [CLIENTS]: of table ramp in r.json
	json_rows ramp r.json | jq -r "select(.clients == ${2:-.clients}) | .$1"
}
ramp() { # STATUS OPTION...: a document in r.json; it ends within $limit seconds
	local status=$1
	shift
	rm -f r.json
	expect_status "$status" timeout -k 5 "${limit:-20}" "$WALPROBE" ramp --format=json -o r.json --rounds=1 -n "$@"
}
postmaster() {
	head -1 "$PG_ROOT/data/postmaster.pid"
}
# shellcheck disable=SC2317
server_signal() { # SIGNAL: to the postmaster and all its children
	local pid
	pid=$(postmaster 2>/dev/null) || return 0
	kill "-$1" "$pid" 2>/dev/null
	pkill "-$1" -P "$pid"
}
# When clients of ours have been at work for a while: what a shell in the background waits for.
clients_run() { # COUNT
	local left=100
	until [ "$(sql "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'walprobe client' AND query <> ''" 2>/dev/null)" = "$1" ]; do
		[ $((left -= 1)) -gt 0 ] || return 1
		sleep 0.1
	done
	sleep 0.5
}
lost_one() { # WHAT: the step of r.json was not finished, but what was done is told
	[ "$(row tps_excluding)" = null ] && [ "$(row tps_including)" = null ] || fail "$1: a rate although a client was lost"
	[ "$(row lost_clients)" -ge 1 ] || fail "$1: lost_clients is $(row lost_clients)"
	[ "$(row transactions)" -gt 0 ] || fail "$1: what was done is not told"
	expect_one_error
}
no_backends() {
	local left=50
	until [ "$(sql "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'walprobe%'" 2>/dev/null)" = 0 ]; do
		[ $((left -= 1)) -gt 0 ] || fail "backends are left"
		sleep 0.1
	done
}

begin() {
	echo "$*"
}

start_server autovacuum=off
expect_status 0 "$WALPROBE" ramp -i -s 8 -q

begin "a backend is terminated"
(clients_run 4 && sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'walprobe client' LIMIT 1") >/dev/null &
ramp 3 -c 4 -T 8
wait $!
lost_one "a terminated backend"
[ "$(row lost_clients)" = 1 ] || fail "more clients lost than one"
expect_text err 'client [0-3] .*terminating connection due to administrator command'

begin "a backend is terminated, asked to go on"
(clients_run 4 && sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'walprobe client' LIMIT 1") >/dev/null &
ramp 0 -c 4 -T 4 --keep-going
wait $!
[ "$(row tps_excluding)" != null ] && [ "$(row lost_clients)" = 1 ] || fail "--keep-going: $(row tps_excluding) tps, $(row lost_clients) lost"
expect_text err 'warning: .*1 of 4 clients were lost, the first error: .*terminating connection'

begin "all backends are terminated"
(clients_run 4 && sql "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'walprobe client'") >/dev/null &
ramp 3 -c 4 -T 8 --keep-going
wait $!
[ "$(row tps_excluding)" = null ] && [ "$(row lost_clients)" = 4 ] || fail "all lost: $(row tps_excluding) tps, $(row lost_clients) lost"
no_backends

begin "the network is cut"
mkdir net
cc -O -o cut_proxy "$TESTS/tools/cut_proxy.c" || fail "the proxy does not build"
./cut_proxy "net/.s.PGSQL.$PGPORT" "$PG_ROOT/.s.PGSQL.$PGPORT" &
proxy=$!
connections() { # SIGNAL: to the last of the proxy's connections, a client's
	kill "-$1" "$(pgrep -P "$proxy" | sort -n | tail -1)"
}
(clients_run 4 && connections KILL) &
ramp 3 -h "$PWD/net" -c 4 -T 8
wait $!
lost_one "a closed socket"
expect_text err 'client 3 lost its connection: '
# Nothing comes through any more, and nobody says so.
(clients_run 4 && connections STOP) &
before=$(date +%s%N)
ramp 0 -h "$PWD/net" -S -c 4 -T 4
wait $!
[ "$(row cut)" = 1 ] || fail "a silent connection: cut is $(row cut)"
[ "$(row overrun_ns)" -lt 2000000000 ] || fail "a silent connection: $(row overrun_ns) ns beyond the time"
[ $(($(date +%s%N) - before)) -lt 14000000000 ] || fail "a silent connection: too late an end"
kill "$proxy"
wait "$proxy" 2>/dev/null
proxy=
no_backends

begin "the server stops to answer"
for threads in 1 2; do
	(clients_run 4 && server_signal STOP) &
	before=$(date +%s%N)
	ramp 3 -c 4 -j $threads -T 4
	took=$(($(date +%s%N) - before))
	wait $!
	server_signal CONT
	[ "$(row tps_excluding)" = null ] || fail "a rate although the server stopped"
	[ "$(row transactions)" -gt 0 ] && [ "$(row cut)" -ge 1 ] || fail "what was done is not told"
	[ "$(row overrun_ns)" -lt 2000000000 ] || fail "a stopped server: $(row overrun_ns) ns beyond the time"
	[ $took -lt 14000000000 ] || fail "a stopped server: $took ns for 4 s"
	expect_text err 'the server did not answer'
	expect_one_error
	no_backends
done
begin "the server stops to answer, without a time"
(clients_run 2 && server_signal STOP) &
ramp 3 -c 2 -t 1000000 --stall-limit=2s
wait $!
server_signal CONT
expect_text err 'did not answer any client for 2 s'
expect_text err 'stall-limit'
[ "$(row tps_excluding)" = null ] && [ "$(row transactions)" -gt 0 ] || fail "a stall: $(row tps_excluding) tps of $(row transactions)"
no_backends

begin "a signal while the server does not answer"
(clients_run 2 && server_signal STOP && pkill -INT -f -- "--log-prefix=stopme$$") &
ramp 130 -c 2 -T 30 --log-prefix=stopme$$ -l
wait $!
server_signal CONT
no_backends
rm -f stopme*

begin "statement timeout"
sql 'CREATE TABLE xy (id int PRIMARY KEY, v int); INSERT INTO xy SELECT n, 0 FROM generate_series(1, 2) AS n'
sql "CREATE ROLE hasty LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO hasty; ALTER ROLE hasty SET statement_timeout = '300ms'"
printf 'UPDATE pgbench_tellers SET tbalance = tbalance + 1 WHERE tid = 1 + :client_id;\n\\set n :n + 1\nSELECT pg_sleep(CASE WHEN :n = 20 AND :client_id = 1 THEN 5 ELSE 0.01 END);\n' >late.sql
ramp 3 -U hasty -f late.sql -D n=0 -c 3 -T 5 --no-checkpoint --no-untimed
lost_one "a statement timeout"
expect_text err 'client 1 .*line 3 .*canceling statement due to statement timeout'
expect_text err 'statement_timeout of this role'

begin "deadlocks and serialization failures"
sql "ALTER SYSTEM SET deadlock_timeout = '10ms'" && sql 'SELECT pg_reload_conf()' >/dev/null
cat >dead.sql <<'S'
\set first 1 + :client_id % 2
BEGIN;
UPDATE xy SET v = v + 1 WHERE id = :first;
\sleep 20 ms
UPDATE xy SET v = v + 1 WHERE id = 3 - :first;
END;
S
sql 'UPDATE xy SET v = 0'
ramp 0 -f dead.sql -c 2 -t 15 --no-untimed
[ "$(row deadlock_failures)" -gt 0 ] && [ "$(row failed)" = "$(row deadlock_failures)" ] || fail "no deadlock failed"
[ $(($(row transactions) + $(row failed))) = 30 ] && [ "$(row retried)" = 0 ] || fail "deadlocks: $(row transactions) done, $(row failed) failed"
[ "$(sql 'SELECT v FROM xy WHERE id = 1')" = "$(row transactions)" ] || fail "deadlocks: the rows tell otherwise"
# The server's own count of deadlocks is that of the tries that failed.
deadlocks() { sql "SELECT deadlocks FROM pg_stat_database WHERE datname = 'postgres'"; }
sleep 1.2
before=$(deadlocks)
sql 'UPDATE xy SET v = 0'
ramp 0 -f dead.sql -c 2 -t 15 --no-untimed --max-tries=3
sleep 1.2
[ $(($(row transactions) + $(row failed))) = 30 ] || fail "deadlocks, tried again: $(row transactions) done, $(row failed) failed"
[ $(($(deadlocks) - before)) = $(($(row retries) + $(row failed))) ] ||
	fail "$(($(deadlocks) - before)) deadlocks, $(row retries) retries and $(row failed) failures"
[ "$(sql 'SELECT v FROM xy WHERE id = 1')" = "$(row transactions)" ] || fail "deadlocks, tried again: the rows tell otherwise"
cat >serial.sql <<'S'
BEGIN ISOLATION LEVEL SERIALIZABLE;
SELECT v FROM xy WHERE id = 1;
UPDATE xy SET v = v + 1 WHERE id = 1;
END;
S
for tries in 1 2 1000; do
	sql 'UPDATE xy SET v = 0'
	ramp 0 -f serial.sql -c 4 -t 25 --max-tries=$tries
	[ $(($(row transactions) + $(row failed))) = 100 ] || fail "$tries tries: $(row transactions) done, $(row failed) failed"
	[ "$(row failed)" = "$(row serialization_failures)" ] || fail "$tries tries: kinds"
	[ "$(sql 'SELECT v FROM xy WHERE id = 1')" = "$(row transactions)" ] || fail "$tries tries: the rows tell otherwise"
	[ "$(row retries)" -ge "$(row retried)" ] && [ "$(row retries)" -le $((100 * (tries - 1))) ] || fail "$tries tries: $(row retries) retries"
	[ $tries != 1000 ] || [ "$(row failed)" = 0 ] || fail "a thousand tries: $(row failed) failed"
done

begin "too many connections"
ramp 3 -c 59 -T 1
expect_text err 'too many clients: 61 connections are needed, the server has [0-9]+ free'
expect_text err 'max_connections'
expect_one_error
sql "CREATE ROLE few LOGIN CONNECTION LIMIT 4; GRANT ALL ON ALL TABLES IN SCHEMA public TO few"
ramp 3 -U few -c 8 -T 1 --no-checkpoint
expect_text err 'client [0-9]: .*too many connections for role "few"'
expect_one_error
[ "$(row tps_excluding)" = null ] || fail "a rate with too few connections"
# One step too large does not undo the others.
ramp 3 -U few -c 1,8 -S -t 20 --no-checkpoint
[ "$(row tps_excluding 1)" != null ] && [ "$(row transactions 1)" = 20 ] || fail "the step that could be run has no rate"
[ "$(row tps_excluding 8)" = null ] || fail "the step that could not be run has a rate"
no_backends

begin "the server is killed"
(clients_run 2 && kill -KILL "$(postmaster)") &
ramp 3 -c 2 -T 8
wait $!
lost_one "a killed server"
# Where nobody reaps orphans at once, the dead postmaster's id still looks alive.
sleep 1
rm -f "$PG_ROOT/data/postmaster.pid" "$PG_ROOT"/.s.PGSQL.*
start_server autovacuum=off
# What was measured before stays: the order of the two steps is drawn, so both are looked at.
(
	clients_run 2
	until ! clients_run 2 || [ "$(sql "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'walprobe client'")" != 2 ]; do sleep 0.1; done
	clients_run 3 && kill -KILL "$(postmaster)"
) >/dev/null 2>&1 &
sql 'TRUNCATE pgbench_history'
for seed in 1 2 3 4 5 6; do
	# The smaller step first
	order=$(expect_status 0 "$WALPROBE" ramp -c 2,3 -t 1 --rounds=1 -n --seed=$seed --progress=always -S; grep -o '[23] clients, round 1' err | head -1)
	[ "$order" != "2 clients, round 1" ] || break
done
ramp 3 -c 2,3 -T 4 --seed=$seed
wait $!
[ "$(row tps_excluding 2)" != null ] && [ "$(row transactions 2)" -gt 0 ] || fail "the step that was finished has no rate"
[ "$(row tps_excluding 3)" = null ] || fail "the step in which the server was killed has a rate"
[ "$(json .complete r.json)" = false ] || fail "the document is said to be complete"

begin "what is measured is not the disk"
remove_server
flagged() { # REASON CHECK STATUS
	row ranked | grep -q "$1" || fail "ranked is $(row ranked) instead of $1"
	json ".checks[] | select(.id == \"$2\") | .status + \" \" + .observed" r.json | grep -qE "^$3 .*" ||
		fail "no check $2 with $3: $(json ".checks[] | select(.id == \"$2\")" r.json -c)"
}
mkdir -p "$PG_ROOT" && { [ "$(id -u)" != 0 ] || chown postgres "$PG_ROOT"; }
start_server autovacuum=off
expect_status 0 "$WALPROBE" ramp -i -s 1 -q
ramp 0 -c 1 -t 5
[ "$(row ranked)" = yes ] || fail "an honest server is not ranked: $(row ranked)"
for off in fsync full_page_writes synchronous_commit; do
	stop_server
	start_server autovacuum=off $off=off
	case $off in
	synchronous_commit) ramp 0 -c 1 -t 5 && flagged "$off is off" server-settings info ;;
	*) ramp 1 -c 1 -t 5 && flagged "$off is off" server-settings fail ;;
	esac
done
stop_server
start_server autovacuum=off
# Also when it is the role's own setting and not the server's.
sql "CREATE ROLE loose LOGIN SUPERUSER; ALTER ROLE loose SET synchronous_commit = off"
ramp 0 -U loose -c 1 -t 5
flagged "synchronous_commit is off" server-settings info
sql 'ALTER TABLE pgbench_history SET UNLOGGED'
ramp 0 -c 1 -t 5
flagged "table pgbench_history is unlogged" unlogged info
sql 'ALTER TABLE pgbench_history SET LOGGED'
stop_server
echo 'int fsync(int fd) { (void)fd; return 0; } int fdatasync(int fd) { (void)fd; return 0; }' >eatmydata.c
cc -shared -fPIC -w -o "$PG_ROOT/libeatmydata.so" eatmydata.c || fail "no library"
chmod 755 "$PG_ROOT/libeatmydata.so"
LD_PRELOAD=$PG_ROOT/libeatmydata.so start_server autovacuum=off
ramp 1 -c 1 -t 5
flagged "libeatmydata is loaded" server-settings fail
stop_server

begin "the disk under pg_wal is full"
[ "$(id -u)" = 0 ] && losetup -f >/dev/null 2>&1 || { echo "without root or loop devices this part is left out"; exit 0; }
truncate -s 48M disk && mkfs.ext4 -q -F disk && mkdir image || fail "no image"
loop=$(losetup -f --show disk) && mount "$loop" image && image_mounted=yes || fail "no mount"
chmod 755 . && chown postgres image
rm -rf "$PG_ROOT/data"
(cd / && "${PG_AS[@]}" "$PG_BIN/initdb" -D "$PG_ROOT/data" -A trust -U postgres --wal-segsize=1) >initdb.log 2>&1 || fail "initdb: $(cat initdb.log)"
mv "$PG_ROOT/data/pg_wal" image/wal && ln -s "$PWD/image/wal" "$PG_ROOT/data/pg_wal"
start_server autovacuum=off max_wal_size=1GB min_wal_size=2MB checkpoint_timeout=1h
expect_status 0 "$WALPROBE" ramp -i -s 1 -q
sql 'CHECKPOINT'
# Three segments more, and it is full.
head -c "$((($(stat -f -c %a image) * $(stat -f -c %S image)) - 3000000))" /dev/zero >image/other || fail "no filler"
limit=60 ramp 3 -c 4 -T 40
lost_one "a full disk"
expect_text err 'No space left on device'
expect_text err 'hint: .*full'
