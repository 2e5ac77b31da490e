#!/bin/bash
# SPDX-License-Identifier: PostgreSQL
#
# store.sh - documents in a results database: once and twice, views, questions, what is refused.
# shellcheck source=tests/integration/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/tools/server.sh
. "$(dirname "$0")/../tools/server.sh"
need_command jq
trap remove_server EXIT
trap 'exit 130' INT TERM HUP
start_server
db="host=$PG_ROOT port=$PGPORT user=postgres dbname=postgres"

# Documents of a small fleet: HOST STARTED KERNEL FDATASYNC_OPS CONTROLLER_STATUS OBSERVED
document() {
	jq -n --arg host "$1" --arg started "$2" --arg kernel "$3" --argjson ops "$4" --arg status "$5" --arg observed "$6" '{
		format: "walprobe", schema: 1, version: "0.1.0", command: "compare", argv: [], started: $started, complete: true,
		environment: [{key: "kernel", value: $kernel, source: "uname"}, {key: "host", value: $host, source: "uname"}],
		parameters: [],
		targets: [{label: "/data", path: "/data", fstype: "ext4", mount_options: "rw",
			device: [{name: "sda", write_cache: "write back", fua: false, rotational: false}]}],
		tables: [{name: "sync", title: "", columns: [
				{key: "target", label: "", unit: "", kind: "text", meaning: ""}, {key: "method", label: "", unit: "", kind: "text", meaning: ""},
				{key: "variant", label: "", unit: "", kind: "text", meaning: ""}, {key: "ops_per_s", label: "", unit: "1/s", kind: "real", meaning: ""},
				{key: "ci_low", label: "", unit: "1/s", kind: "real", meaning: ""}, {key: "ci_high", label: "", unit: "1/s", kind: "real", meaning: ""}],
			rows: [{target: "/data", method: "fdatasync", variant: "overwrite", ops_per_s: $ops, ci_low: ($ops * 0.95), ci_high: ($ops * 1.05)}]},
			{name: "inspect", title: "", columns: [
				{key: "target", label: "", unit: "", kind: "text", meaning: ""}, {key: "layer", label: "", unit: "", kind: "text", meaning: ""},
				{key: "model", label: "", unit: "", kind: "text", meaning: ""}, {key: "rotational", label: "", unit: "", kind: "int", meaning: ""}],
			rows: [{target: "/data", layer: "sda", model: "ACME 100", rotational: 0}]}],
		checks: [{id: "controller", target: "/data", status: $status, expected: "x", observed: $observed, text: "y"}]}'
}
document db1 2026-01-01T00:00:00Z 6.1 1000 pass "write back; battery or capacitor good; z" >db1-a.json
document db1 2026-02-01T00:00:00Z 6.2 800 fail "write back; battery or capacitor has failed; z" >db1-b.json
document db2 2026-02-01T00:00:00Z 6.1 1500 pass "write through; battery or capacitor charges or learns; z" >db2.json

# A reader makes nothing.
expect_status 3 "$WALPROBE" report --db "$db" --query lying-caches
expect_text err 'no schema "walprobe"'
[ "$(sql "SELECT count(*) FROM pg_namespace WHERE nspname = 'walprobe'")" = 0 ] || fail "a reader made a schema"

expect_status 0 "$WALPROBE" store --db "$db" --format=json db1-a.json db1-b.json db2.json
[ "$(json '[.tables[0].rows[].state] | unique | join(" ")' out)" = stored ] || fail "not stored"
counts="SELECT (SELECT count(*) FROM walprobe.document), (SELECT count(*) FROM walprobe.measurement),
	(SELECT count(*) FROM walprobe.check_result), (SELECT count(*) FROM walprobe.place), (SELECT count(*) FROM walprobe.device)"
[ "$(sql "$counts")" = "3|3|3|2|2" ] || fail "rows: $(sql "$counts")"

# Twice, and with other white space: nothing changes.
jq -c . db2.json >compact.json
expect_status 0 "$WALPROBE" store --db "$db" --format=json db1-a.json compact.json
[ "$(json '[.tables[0].rows[].state] | unique | join(" ")' out)" = "already there" ] || fail "stored twice"
[ "$(sql "$counts")" = "3|3|3|2|2" ] || fail "rows after storing twice: $(sql "$counts")"

# What comes back is what was stored.
sql "SELECT body FROM walprobe.document ORDER BY document_id LIMIT 1" >back.json
"$WALPROBE" report --format=json back.json >back && "$WALPROBE" report --format=json db1-a.json >there
cmp back there || fail "the document changed"

expect_status 0 "$WALPROBE" report --db "$db" --query lying-caches --format=json
[ "$(json '[.tables[0].rows[] | .host + " " + .check_id] | join(",")' out)" = "db1 controller" ] || fail "lying-caches"
expect_status 0 "$WALPROBE" report --db "$db" --query batteries --format=json
[ "$(json '[.tables[0].rows[] | .host + " " + .battery] | join(",")' out)" = "db2 charges or learns,db1 has failed" ] || fail "batteries"
expect_status 0 "$WALPROBE" report --db "$db" --query kernel-change --format=json
[ "$(json '.tables[0].rows[] | [.host, .old_kernel, .new_kernel, .ratio, .verdict] | join(" ")' out)" = "db1 6.1 6.2 0.8 slower" ] ||
	fail "kernel-change"
expect_status 0 "$WALPROBE" report --db "$db" --query fastest-file-system --format=json
[ "$(json '.tables[0].rows[] | [.device_model, .fstype, .places, .median] | join(" ")' out)" = "ACME 100 ext4 2 1150" ] ||
	fail "fastest-file-system"
for query in power-cuts silent-hosts; do
	expect_status 0 "$WALPROBE" report --db "$db" --query $query
done

# A query of one's own, which may not write.
echo "SELECT 1 AS a, 2.5 AS a, NULL AS b, 'x' AS c, 'NaN'::float8 AS d" >own.sql
expect_status 0 "$WALPROBE" report --db "$db" --sql own.sql --format=json
[ "$(json '.tables[0].rows[0] | [.a, .a_2, .b, .c, .d] | tostring' out)" = '[1,2.5,null,"x",null]' ] || fail "own query"
echo "DELETE FROM walprobe.check_result" >own.sql
expect_status 3 "$WALPROBE" report --db "$db" --sql own.sql
expect_text err 'read-only'

# One bad file keeps no good one out; a document without a host needs one.
jq 'del(.environment[] | select(.key == "host")) | .started = "2026-03-01T00:00:00Z"' db2.json >nobody.json
echo nothing >bad.json
expect_status 3 "$WALPROBE" store --db "$db" bad.json nobody.json missing.json
expect_text err 'names no host'
[ "$(sql "$counts")" = "3|3|3|2|2" ] || fail "rows after refusals"
expect_status 3 "$WALPROBE" store --db "$db" bad.json db1-a.json
expect_status 0 "$WALPROBE" store --db "$db" --host db3 nobody.json
[ "$(sql "$counts")" = "4|4|4|3|3" ] || fail "rows with --host: $(sql "$counts")"

# What a measuring command of this build saves can be stored as well.
mkdir here
"$WALPROBE" compare --rounds=1 --time=5ms --quiet --format=json here >own.json || [ $? = 1 ] || fail "compare"
expect_status 0 "$WALPROBE" store --db "$db" own.json
"$WALPROBE" inspect --operations=10 --control-time=50ms --quiet --format=json here | "$WALPROBE" store --db "$db" - >/dev/null ||
	fail "inspect into store"

# Words that do not fit, newer and foreign schemas.
expect_status 2 "$WALPROBE" report --db "$db" --query nonsense
expect_status 2 "$WALPROBE" report --db "$db" own.json --query batteries
expect_status 2 "$WALPROBE" report --query batteries
expect_status 2 "$WALPROBE" report --db "$db"
expect_status 2 "$WALPROBE" report
sql "INSERT INTO walprobe.schema_version VALUES (999)"
expect_status 3 "$WALPROBE" store --db "$db" db2.json
expect_text err 'version 999'
sql "DROP SCHEMA walprobe CASCADE; CREATE SCHEMA walprobe"
expect_status 3 "$WALPROBE" store --db "$db" db2.json
expect_text err 'did not make'
sql "DROP SCHEMA walprobe"

# Two that make the schema at the same moment.
"$WALPROBE" store --db "$db" db1-a.json >/dev/null 2>err1 &
"$WALPROBE" store --db "$db" db1-b.json >/dev/null 2>err2 || fail "the second: $(cat err2)"
wait $! || fail "the first: $(cat err1)"
[ "$(sql "SELECT count(*) FROM walprobe.document")" = 2 ] || fail "two at once"

# Without the right to make a schema.
sql "DROP SCHEMA walprobe CASCADE; CREATE ROLE guest LOGIN"
expect_status 3 "$WALPROBE" store --db "host=$PG_ROOT port=$PGPORT user=guest dbname=postgres" db2.json
expect_text err 'permission denied'
