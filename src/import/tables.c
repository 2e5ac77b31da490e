/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/import.h"

#define TEXT(key, label, meaning)                                                                  \
	{                                                                                          \
		key, label, "", WP_KIND_TEXT, meaning                                              \
	}
#define COUNT(key, label, meaning)                                                                 \
	{                                                                                          \
		key, label, "", WP_KIND_INT, meaning                                               \
	}
#define BYTES(key, label, meaning)                                                                 \
	{                                                                                          \
		key, label, "bytes", WP_KIND_INT, meaning                                          \
	}
#define NS(key, label, meaning)                                                                    \
	{                                                                                          \
		key, label, "ns", WP_KIND_INT, meaning                                             \
	}
#define RATE(key, label, meaning)                                                                  \
	{                                                                                          \
		key, label, "1/s", WP_KIND_REAL, meaning                                           \
	}
#define RATIO(key, label, meaning)                                                                 \
	{                                                                                          \
		key, label, "", WP_KIND_REAL, meaning                                              \
	}

static const struct wp_column sync_columns[] = {
	TEXT("target", "target", "Label of the target."),
	TEXT("method", "method", "wal_sync_method, or what the tool calls it."),
	TEXT("variant", "variant", "What is written, as in walprobe sync."),
	BYTES("write_bytes", "write", "Bytes of one write."),
	COUNT("writes_per_op", "writes", "Writes in one operation."),
	RATE("ops_per_s", "ops/s", "Operations per second, as published."),
	RATE("ci_low", "low", "Lower end of the 95 % interval of ops_per_s."),
	RATE("ci_high", "high", "Upper end of the 95 % interval of ops_per_s."),
	NS("mean_ns", "mean", "Mean time of one operation, write and sync."),
	NS("p50_ns", "p50", "Half of the operations took no longer."),
	NS("p90_ns", "p90", "90 % of the operations took no longer."),
	NS("p99_ns", "p99", "99 % of the operations took no longer."),
	NS("p999_ns", "p99.9", "99.9 % of the operations took no longer."),
	NS("max_ns", "max", "Longest operation."),
	COUNT("ops", "ops", "Operations."),
	RATIO("flushes_per_op", "flushes/op", "FLUSH requests at the device for one operation."),
};

static const struct wp_column io_columns[] = {
	TEXT("target", "target", "Label of the target."),
	TEXT("test", "test",
		"What is done, in the names of walprobe io: write to a new file, overwrite what "
		"was written (iozone's rewrite), rewrite (bonnie++'s: read, change, write back), "
		"read, reread, random-read, random-write, backward-read, stride-read, seeks; putc "
		"and getc byte by byte through a buffer, write1 and read1 with a system call for "
		"each byte; create, stat and delete of small files; others as the tool names "
		"them."),
	BYTES("record_bytes", "record", "Bytes of one operation."),
	BYTES("file_bytes", "file", "Size of the files of all jobs together."),
	COUNT("jobs", "jobs", "Threads or processes that work at the same time."),
	{ "bytes_per_s", "MB/s", "bytes/s", WP_KIND_REAL, "Bytes per second, as published." },
	RATE("ops_per_s", "ops/s", "Operations (records, bytes or files) per second."),
	RATE("ci_low", "low", "Lower end of the 95 % interval of ops_per_s."),
	RATE("ci_high", "high", "Upper end of the 95 % interval of ops_per_s."),
	NS("mean_ns", "mean", "Mean time of one operation."),
	NS("p50_ns", "p50", "Half of the operations took no longer."),
	NS("p90_ns", "p90", "90 % of the operations took no longer."),
	NS("p99_ns", "p99", "99 % of the operations took no longer."),
	NS("p999_ns", "p99.9", "99.9 % of the operations took no longer."),
	NS("max_ns", "max", "Longest operation."),
	COUNT("ops", "ops", "Operations."),
	RATIO("cpu_percent", "CPU %",
		"Processor time in per cent of the measured time, as the tool counts it: 100 is "
		"one "
		"whole core."),
	TEXT("cached", "cached",
		"yes: by its rate, or by what the run left out of its time, a figure of the page "
		"cache; no: the run went past the cache or waited for the disk."),
};

static const struct wp_column ramp_columns[] = {
	TEXT("target", "target", "Label of the server."),
	COUNT("clients", "clients", "Connections that run transactions."),
	COUNT("threads", "threads", "Threads that serve them."),
	TEXT("protocol", "protocol", "Query protocol."),
	RATE("tps_excluding", "tps", "Transactions a second without the time to connect."),
	RATE("ci_low", "low", "Lower end of its 95 % interval."),
	RATE("ci_high", "high", "Upper end of its 95 % interval."),
	RATE("tps_including", "tps incl. connecting",
		"The same with the time to make the connections."),
	NS("latency_mean_ns", "mean", "Mean time of a transaction."),
	NS("latency_stddev_ns", "stddev", "Standard deviation of that."),
	NS("p50_ns", "p50", "Median time of a transaction."),
	NS("p90_ns", "p90", "90 % were done in this time."),
	NS("p99_ns", "p99", "99 % were done in this time."),
	NS("p999_ns", "p99.9", "99.9 % were done in this time."),
	NS("max_ns", "max", "Longest transaction."),
	NS("max_stall_ns", "stall", "Longest time in which no client finished a transaction."),
	RATIO("commits_per_sync", "commits /sync", "Transactions for each sync of the log."),
	NS("wal_sync_mean_ns", "wal sync", "Mean time of a sync of the log."),
	{ "wal_bytes_per_transaction", "wal bytes", "bytes", WP_KIND_REAL,
		"Log written for each transaction." },
	COUNT("transactions", "transactions", "Transactions done."),
	COUNT("failed", "failed",
		"Transactions given up after a serialization failure or deadlock."),
	COUNT("serialization_failures", "serialization", "Of these, serialization."),
	COUNT("deadlock_failures", "deadlock", "Of these, deadlock."),
	COUNT("retried", "retried", "Transactions tried more than once."),
	COUNT("retries", "retries", "Tries beyond the first."),
	COUNT("skipped", "skipped", "Too late for the latency limit, not begun."),
	COUNT("late", "late", "Done, above the latency limit."),
	NS("connect_ns", "connect", "Mean time to make one connection."),
	NS("client_cpu_ns_per_transaction", "client CPU",
		"Processor time of the client program for each transaction."),
};

static const struct wp_column verdict_columns[] = {
	TEXT("target", "target", "Label of the target."),
	TEXT("run", "run", "What the test file was called."),
	COUNT("cycle", "cycle", "Which power cut of the run, from 1."),
	TEXT("verdict", "verdict", "lies, no loss, or cannot tell."),
	COUNT("acknowledged", "acknowledged", "Writes that were acknowledged before the cut."),
	COUNT("judged", "judged", "Of these, witnessed and looked at afterwards."),
	COUNT("lost", "lost", "Of these, gone."),
	COUNT("torn", "torn", "Of these, partly there."),
	COUNT("flipped", "flipped", "Of these, with wrong bits."),
	COUNT("misdirected", "misdirected", "Of these, in another place."),
	COUNT("reordered", "reordered", "Of these, there while an earlier one is not."),
	COUNT("stale", "stale", "Of these, older than what was acknowledged."),
	COUNT("missing_names", "missing names", "Files whose name is gone."),
	COUNT("in_flight", "in flight", "Writes that were under way."),
	RATIO("p_upper_95", "p upper",
		"The chance of a loss per cut is at most this, at 95 % confidence."),
};

struct wp_table *wp_import_sync_table(struct wp_import *in)
{
	return wp_result_table(in->result, "sync", "Synchronous writes, as published", sync_columns,
		WP_COUNT(sync_columns));
}

struct wp_table *wp_import_io_table(struct wp_import *in)
{
	return wp_result_table(in->result, "io", "Reads and writes of files, as published",
		io_columns, WP_COUNT(io_columns));
}

struct wp_table *wp_import_ramp_table(struct wp_import *in)
{
	return wp_result_table(in->result, "ramp", "Transactions, as published", ramp_columns,
		WP_COUNT(ramp_columns));
}

struct wp_table *wp_import_verdict_table(struct wp_import *in)
{
	return wp_result_table(in->result, "verdict", "After a power cut, as published",
		verdict_columns, WP_COUNT(verdict_columns));
}

struct wp_row *wp_import_row(struct wp_table *table, const char *target)
{
	static const char *const ends[] = { "ci_low", "ci_high" };
	struct wp_row *row = wp_table_add_row(table);

	wp_row_text(row, "target", target);
	for (size_t i = 0; i < WP_COUNT(ends); i++)
		if (wp_table_column(table, ends[i]) >= 0)
			wp_row_absent(row, ends[i], "a published single run has no interval");
	return row;
}

void wp_import_absent_rest(struct wp_row *row, const char *reason)
{
	for (size_t i = 0; i < row->table->column_count; i++)
		if (row->cells[i].state == WP_CELL_ABSENT && !row->cells[i].text)
			wp_row_absent(row, row->table->columns[i].key, reason);
}
