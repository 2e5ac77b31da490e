/* SPDX-License-Identifier: PostgreSQL */
#include "probe/sync_columns.h"

const struct wp_column wp_sync_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label of the target." },
	{ "method", "method", "", WP_KIND_TEXT,
		"wal_sync_method; none for rwf-dsync and unsynced, which PostgreSQL cannot do." },
	{ "variant", "variant", "", WP_KIND_TEXT,
		"What is written: overwrite and two-writes rewrite written pages; new-page, "
		"fallocated "
		"and sparse write each page of a zero-filled, fallocated or empty segment for the "
		"first time; direct is overwrite with O_DIRECT; other-fd opens, writes and closes, "
		"then opens again, syncs and closes; 1x16kB to 16x1kB are 16 kB in that many "
		"writes; "
		"rwf-dsync is pwritev2 with RWF_DSYNC; unsynced leaves all to the kernel." },
	{ "write_bytes", "write", "bytes", WP_KIND_INT, "Bytes of one write." },
	{ "writes_per_op", "writes", "", WP_KIND_INT,
		"Writes in one operation; methods with a sync call sync once after the last." },
	{ "ops_per_s", "ops/s", "1/s", WP_KIND_REAL,
		"Operations per second of measured time, middle of the rounds (Hodges-Lehmann)." },
	{ "ci_low", "low", "1/s", WP_KIND_REAL, "Lower end of the 95 % interval of ops_per_s." },
	{ "ci_high", "high", "1/s", WP_KIND_REAL, "Upper end of the 95 % interval of ops_per_s." },
	{ "mean_ns", "mean", "ns", WP_KIND_INT, "Mean time of one operation, write and sync." },
	{ "p50_ns", "p50", "ns", WP_KIND_INT, "Half of the operations took no longer." },
	{ "p90_ns", "p90", "ns", WP_KIND_INT, "90 % of the operations took no longer." },
	{ "p99_ns", "p99", "ns", WP_KIND_INT, "99 % of the operations took no longer." },
	{ "p999_ns", "p99.9", "ns", WP_KIND_INT, "99.9 % of the operations took no longer." },
	{ "max_ns", "max", "ns", WP_KIND_INT, "Longest operation." },
	{ "ops", "ops", "", WP_KIND_INT, "Operations over all rounds that count." },
	{ "flushes_per_op", "flushes/op", "", WP_KIND_REAL,
		"FLUSH requests at the device for one operation, all in the round counted." },
	{ "steady", "steady", "", WP_KIND_TEXT,
		"Whether the last five rounds lie within 20 % and without a trend of 10 %." },
};

const size_t wp_sync_column_count = WP_COUNT(wp_sync_columns);
