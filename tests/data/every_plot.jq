# A document with everything that can be drawn, for jq -n -f: what a page must show well.
def text($key): {key: $key, label: $key, unit: "", kind: "text", meaning: "x"};
def int($key; $unit): {key: $key, label: $key, unit: $unit, kind: "int", meaning: "x"};
def real($key; $unit): {key: $key, label: $key, unit: $unit, kind: "real", meaning: "x"};
["ext4", "/srv/a long name/of some directory/pg_wal", "xfs <b> & 'quoted'"] as $labels |
["fdatasync", "fsync", "open_datasync"] as $methods |
{
	format: "walprobe", schema: 1, version: "0.1.0", command: "compare", argv: ["walprobe", "compare"],
	started: "2026-11-30T20:15:00Z", complete: true,
	environment: [{key: "kernel", value: "6.1.0", source: "uname"}], parameters: [],
	targets: [$labels[] | {label: ., path: "/x", fstype: (if .[0:1] == "/" then "btrfs" else .[0:4] end),
		mount_options: "rw,relatime", device: []}],
	tables: [
		{name: "sync", title: "Synchronous writes", columns: [text("target"), text("method"), text("variant"),
			real("ops_per_s"; "1/s"), real("ci_low"; "1/s"), real("ci_high"; "1/s"), int("p50_ns"; "ns"),
			int("p90_ns"; "ns"), int("p99_ns"; "ns"), int("p999_ns"; "ns"), int("max_ns"; "ns")],
		 rows: [range(3) as $t | range(3) as $m | {target: $labels[$t], method: $methods[$m],
			variant: "overwrite", ops_per_s: (1000.5 * ($t + 1) + 100 * $m),
			ci_low: (900.5 * ($t + 1) + 100 * $m), ci_high: (1100.5 * ($t + 1) + 100 * $m),
			p50_ns: (900000 / ($t + 1) | floor), p90_ns: (1200000 / ($t + 1) | floor),
			p99_ns: (5000000 / ($t + 1) | floor), p999_ns: (20000000 / ($t + 1) | floor),
			max_ns: 90000000}]},
		{name: "append", title: "Commits", columns: [text("target"), text("method"), text("recycle"),
			int("clients"; ""), real("commits_per_s"; "1/s"), real("ci_low"; "1/s"), real("ci_high"; "1/s")],
		 rows: [range(3) as $t | (1, 2, 4, 8) as $c | {target: $labels[$t], method: "fdatasync",
			recycle: "rename", clients: $c, commits_per_s: (1000.5 * ($t + 1) * ($c | sqrt)),
			ci_low: (900.5 * ($t + 1) * ($c | sqrt)), ci_high: (1100.5 * ($t + 1) * ($c | sqrt))}]},
		{name: "io", title: "Files", columns: [text("target"), text("test"), int("record_bytes"; "bytes"),
			int("file_bytes"; "bytes"), real("bytes_per_s"; "bytes/s"), real("ops_per_s"; "1/s")],
		 rows: [range(3) as $t | (
			(("read", "random-write") as $test | (8, 16, 64, 256, 1024) as $k |
				{target: $labels[$t], test: $test, record_bytes: ($k * 1024), file_bytes: 8589934592,
				 bytes_per_s: (50000000.5 * ($t + 1) * ($k | log)), ops_per_s: 100.5}),
			(("putc", "write", "rewrite", "getc") as $test | {target: $labels[$t], test: $test,
				record_bytes: 8192, file_bytes: 8589934592, bytes_per_s: (90000000.5 * ($t + 1)),
				ops_per_s: 100.5}),
			{target: $labels[$t], test: "seeks", record_bytes: 8192, file_bytes: 8589934592,
				bytes_per_s: null, ops_per_s: (500.5 + $t), absent: {bytes_per_s: "seeks"}},
			(("seq-create", "random-delete") as $test | {target: $labels[$t], test: $test,
				record_bytes: null, file_bytes: null, bytes_per_s: null, ops_per_s: (5000.5 + $t)}))]},
		{name: "soak", title: "Commits over time", columns: [text("target"), text("method"),
			int("clients"; ""), int("elapsed_ns"; "ns"), real("commits_per_s"; "1/s")],
		 rows: [range(3) as $t | range(100) as $s | {target: $labels[$t], method: "fdatasync", clients: 8,
			elapsed_ns: ($s * 1000000000), commits_per_s: (if $s > 60 then 500.5 else 2000.5 + $t * 300 end)}]},
		{name: "soak_change", title: "Falls", columns: [text("target"), text("method"), int("clients"; ""),
			int("fell_after_ns"; "ns")],
		 rows: [{target: "ext4", method: "fdatasync", clients: 8, fell_after_ns: 61000000000}]},
		{name: "verdict", title: "Power cuts", columns: [text("target"), int("cycle"; ""), text("verdict")],
		 rows: [range(3) as $t | range(4) as $c | {target: $labels[$t], cycle: $c,
			verdict: (if $t == 0 then "no loss" elif $c == 0 then "cannot tell" else "lies" end)}]}
	],
	checks: [
		{id: "flush-sent", target: "ext4", status: "pass", expected: "1", observed: "1", text: "fine"},
		{id: "barriers", target: $labels[1], status: "fail", expected: "barriers", observed: "barrier=0",
		 text: "remount it with barrier=1"},
		{id: "write-cache", target: $labels[2], status: "unknown", expected: null, observed: null,
		 text: "it does not say"}
	]
}
