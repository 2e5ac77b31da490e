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
	TEXT("variant", "variant",
		"What is written, as in walprobe sync; same-fd syncs before the file is closed; "
		"sync-only is the time of the sync call alone, without the write before it."),
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
	NS("min_ns", "min", "Shortest operation."),
	NS("stddev_ns", "stddev", "Standard deviation of mean_ns."),
	NS("p95_ns", "p95", "95 % of the operations took no longer."),
	TEXT("mean_from", "mean from", "printed, or derived from ops_per_s."),
	TEXT("job", "job", "What the tool calls the job."),
	TEXT("direct", "O_DIRECT", "Whether the file was opened with O_DIRECT: yes or no."),
	TEXT("ranked", "ranked", "yes, or why the figures are left out of comparisons."),
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
	NS("min_ns", "min", "Shortest operation."),
	NS("stddev_ns", "stddev", "Standard deviation of mean_ns."),
	NS("p95_ns", "p95", "95 % of the operations took no longer."),
	NS("p9999_ns", "p99.99", "99.99 % of the operations took no longer."),
	TEXT("latency_of", "latency of",
		"What the times are of: completion (since the request was submitted) or total."),
	COUNT("depth", "depth", "Requests that each job kept outstanding."),
	NS("elapsed_ns", "elapsed", "Measured time."),
	TEXT("job", "job", "What the tool calls the job."),
	TEXT("ranked", "ranked", "yes, or why the figures are left out of comparisons."),
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
	TEXT("script", "script", "What pgbench calls the transaction type."),
	COUNT("scale", "scale", "Scale of the tables."),
	TEXT("section", "section", "Heading above the run."),
	TEXT("latency_from", "mean from", "printed, or derived: clients by transactions a second."),
	COUNT("transactions_planned", "planned", "Transactions that were to be done."),
	COUNT("transactions_per_client", "per client", "Transactions asked of each client."),
	COUNT("max_tries", "max tries", "Tries that a transaction had at most."),
	NS("duration_ns", "duration", "Time that was asked for."),
	NS("elapsed_ns", "elapsed", "Measured time."),
	NS("schedule_lag_mean_ns", "lag",
		"Mean time from a transaction's scheduled to its real begin."),
	NS("schedule_lag_max_ns", "max lag", "Longest such time."),
	TEXT("connections", "connections", "kept, or one for each transaction (-C)."),
	TEXT("ranked", "ranked", "yes, or why the figures do not speak of the log's speed."),
};

static const struct wp_column script_columns[] = {
	TEXT("target", "target", "Label of the server."),
	COUNT("clients", "clients", "Connections that run transactions."),
	TEXT("script", "script", "Name of the script."),
	COUNT("weight", "weight", "Its weight among the scripts."),
	COUNT("transactions", "transactions", "Transactions done."),
	RATE("tps_excluding", "tps", "Transactions of this script a second."),
	COUNT("failed", "failed",
		"Transactions given up after a serialization failure or deadlock."),
	NS("latency_mean_ns", "mean", "Mean time of a transaction."),
	NS("latency_stddev_ns", "stddev", "Standard deviation of that."),
	NS("max_ns", "max", "Longest transaction."),
};

static const struct wp_column statement_columns[] = {
	TEXT("target", "target", "Label of the server."),
	COUNT("clients", "clients", "Connections that run transactions."),
	TEXT("script", "script", "Script that the command is in."),
	COUNT("number", "#", "Place of the command in the script, from 1."),
	NS("mean_ns", "mean", "Mean time of the command."),
	COUNT("failures", "failures", "Serialization failures and deadlocks in it."),
	COUNT("retries", "retries", "Such errors after which the transaction was tried again."),
	TEXT("command", "command", "The command."),
};

static const struct wp_column progress_columns[] = {
	TEXT("target", "target", "Label of the server."),
	COUNT("clients", "clients", "Connections that run transactions."),
	NS("time_ns", "time", "End of the interval, since the begin of the run."),
	NS("interval_ns", "interval", "Its length."),
	RATE("tps", "tps", "Transactions a second in it."),
	COUNT("transactions", "transactions", "Transactions done in it."),
	NS("latency_mean_ns", "mean", "Mean time of a transaction in it."),
	NS("latency_stddev_ns", "stddev", "Standard deviation of that."),
	NS("max_ns", "max", "Longest transaction in it."),
	NS("schedule_lag_mean_ns", "lag", "Mean delay of their begin."),
	COUNT("skipped", "skipped", "Not begun in it, too late for the latency limit."),
	COUNT("failed", "failed", "Failed in it."),
	COUNT("retried", "retried", "Tried again in it."),
	COUNT("retries", "retries", "Tries beyond the first in it."),
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

struct wp_table *wp_import_scripts_table(struct wp_import *in)
{
	return wp_result_table(in->result, "scripts", "Scripts that were run", script_columns,
		WP_COUNT(script_columns));
}

struct wp_table *wp_import_statements_table(struct wp_import *in)
{
	return wp_result_table(in->result, "statements", "Time of each command of the scripts",
		statement_columns, WP_COUNT(statement_columns));
}

struct wp_table *wp_import_progress_table(struct wp_import *in)
{
	return wp_result_table(in->result, "progress", "Over time, as published", progress_columns,
		WP_COUNT(progress_columns));
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
