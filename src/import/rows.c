/* SPDX-License-Identifier: PostgreSQL */
#include "rows.h"

#include <ctype.h>
#include <strings.h>

#define TEXT(key, label, meaning)                                                                  \
	{                                                                                          \
		key, label, "", WP_KIND_TEXT, meaning                                              \
	}
#define INT(key, label, unit, meaning)                                                             \
	{                                                                                          \
		key, label, unit, WP_KIND_INT, meaning                                             \
	}
#define REAL(key, label, unit, meaning)                                                            \
	{                                                                                          \
		key, label, unit, WP_KIND_REAL, meaning                                            \
	}
#define PLACE                                                                                      \
	TEXT("source", "source", "File that was read."),                                           \
		INT("line", "line", "", "Line of it where the run begins.")

static const struct wp_column ramp_columns[] = {
	TEXT("target", "target", "Label of the run's place."),
	INT("clients", "clients", "", "Connections that ran transactions."),
	INT("threads", "threads", "", "Threads of pgbench that served them."),
	TEXT("protocol", "protocol", "Query protocol."),
	TEXT("script", "script", "What pgbench calls the transaction type."),
	INT("scale", "scale", "", "Scale of the tables."),
	TEXT("section", "section", "Heading above the run."),
	REAL("tps_excluding", "tps", "1/s", "Transactions a second without the time to connect."),
	REAL("ci_low", "low", "1/s", "Lower end of its 95 % interval."),
	REAL("ci_high", "high", "1/s", "Upper end of its 95 % interval."),
	REAL("tps_including", "tps incl. connecting", "1/s",
		"The same with the time to make the connections."),
	INT("latency_mean_ns", "mean", "ns", "Mean time of a transaction."),
	TEXT("latency_from", "mean from", "printed, or derived: clients by transactions a second."),
	INT("latency_stddev_ns", "stddev", "ns", "Standard deviation of that."),
	INT("p50_ns", "p50", "ns", "Median time of a transaction."),
	INT("p90_ns", "p90", "ns", "90 % were done in this time."),
	INT("p99_ns", "p99", "ns", "99 % were done in this time."),
	INT("p999_ns", "p99.9", "ns", "99.9 % were done in this time."),
	INT("max_ns", "max", "ns", "Longest transaction."),
	INT("max_stall_ns", "stall", "ns", "Longest time in which no client finished one."),
	REAL("commits_per_sync", "commits /sync", "", "Transactions for each sync of the log."),
	INT("wal_sync_mean_ns", "wal sync", "ns", "Mean time of a sync of the log."),
	REAL("wal_bytes_per_transaction", "wal bytes", "bytes",
		"Log written for each transaction."),
	INT("transactions", "transactions", "", "Transactions done."),
	INT("transactions_planned", "planned", "", "Transactions that were to be done."),
	INT("failed", "failed", "", "Given up after a serialization failure or deadlock."),
	INT("serialization_failures", "serialization", "", "Of these, serialization."),
	INT("deadlock_failures", "deadlock", "", "Of these, deadlock."),
	INT("retried", "retried", "", "Transactions tried more than once."),
	INT("retries", "retries", "", "Tries beyond the first."),
	INT("skipped", "skipped", "", "Too late for the latency limit, not begun."),
	INT("late", "late", "", "Done, above the latency limit."),
	INT("max_tries", "max tries", "", "Tries that a transaction had at most."),
	INT("transactions_per_client", "per client", "", "Transactions asked of each client."),
	INT("duration_ns", "duration", "ns", "Time that was asked for."),
	INT("elapsed_ns", "elapsed", "ns", "Measured time."),
	INT("connect_ns", "connect", "ns",
		"Time to make the connections; with a new one for each transaction, of one."),
	INT("schedule_lag_mean_ns", "lag", "ns",
		"Mean time from a transaction's scheduled to its real begin."),
	INT("schedule_lag_max_ns", "max lag", "ns", "Longest such time."),
	INT("client_cpu_ns_per_transaction", "client CPU", "ns",
		"Processor time of the client for each transaction."),
	TEXT("connections", "connections", "kept, or one for each transaction (-C)."),
	TEXT("ranked", "ranked", "yes, or why the figures do not speak of the log's speed."),
	TEXT("tool_version", "version", "Version of pgbench and of the server, as printed."),
	PLACE,
};

static const struct wp_column script_columns[] = {
	TEXT("target", "target", "Label of the run's place."),
	INT("clients", "clients", "", "Connections that ran transactions."),
	TEXT("script", "script", "Name of the script."),
	INT("weight", "weight", "", "Its weight among the scripts."),
	INT("transactions", "transactions", "", "Transactions done."),
	REAL("tps_excluding", "tps", "1/s", "Transactions of this script a second."),
	INT("failed", "failed", "", "Given up after a serialization failure or deadlock."),
	INT("latency_mean_ns", "mean", "ns", "Mean time of a transaction."),
	INT("latency_stddev_ns", "stddev", "ns", "Standard deviation of that."),
	PLACE,
};

static const struct wp_column statement_columns[] = {
	TEXT("target", "target", "Label of the run's place."),
	INT("clients", "clients", "", "Connections that ran transactions."),
	TEXT("script", "script", "Script that the command is in."),
	INT("number", "#", "", "Place of the command in the script, from 1."),
	INT("mean_ns", "mean", "ns", "Mean time of the command."),
	INT("failures", "failures", "", "Serialization failures and deadlocks in it."),
	INT("retries", "retries", "", "Such errors after which the transaction was tried again."),
	TEXT("command", "command", "The command."),
	PLACE,
};

static const struct wp_column progress_columns[] = {
	TEXT("target", "target", "Label of the run's place."),
	INT("clients", "clients", "", "Connections that ran transactions."),
	INT("time_ns", "time", "ns", "End of the interval, from the begin of the run."),
	INT("interval_ns", "interval", "ns", "Its length."),
	REAL("tps", "tps", "1/s", "Transactions a second in it."),
	INT("transactions", "transactions", "", "Transactions done in it."),
	INT("latency_mean_ns", "mean", "ns", "Mean time of a transaction in it."),
	INT("latency_stddev_ns", "stddev", "ns", "Standard deviation of that."),
	INT("max_ns", "max", "ns", "Longest transaction in it."),
	INT("schedule_lag_mean_ns", "lag", "ns", "Mean delay of their begin."),
	INT("skipped", "skipped", "", "Not begun in it, too late for the latency limit."),
	INT("failed", "failed", "", "Failed in it."),
	INT("retried", "retried", "", "Tried again in it."),
	INT("retries", "retries", "", "Tries beyond the first in it."),
	PLACE,
};

static const struct wp_column sync_columns[] = {
	TEXT("target", "target", "Label of the run's place."),
	TEXT("method", "method", "wal_sync_method; none where nothing is synced."),
	TEXT("variant", "variant",
		"What is written: overwrite and two-writes rewrite written pages; 1x16kB to 16x1kB "
		"are 16 kB in that many writes; same-fd and other-fd open the file anew for each "
		"operation, and sync before or after it is closed and opened again; unsynced "
		"leaves all to the kernel; sync-only is the time of the sync call alone."),
	INT("write_bytes", "write", "bytes", "Bytes of one write."),
	INT("writes_per_op", "writes", "", "Writes in one operation."),
	REAL("ops_per_s", "ops/s", "1/s", "Operations a second."),
	REAL("ci_low", "low", "1/s", "Lower end of the 95 % interval of ops_per_s."),
	REAL("ci_high", "high", "1/s", "Upper end of the 95 % interval of ops_per_s."),
	INT("mean_ns", "mean", "ns", "Mean time of one operation."),
	TEXT("mean_from", "mean from", "printed, or derived from ops_per_s."),
	REAL("stddev_ns", "stddev", "ns", "Standard deviation of that."),
	INT("min_ns", "min", "ns", "Shortest operation."),
	INT("p50_ns", "p50", "ns", "Half of the operations took no longer."),
	INT("p90_ns", "p90", "ns", "90 % of the operations took no longer."),
	INT("p95_ns", "p95", "ns", "95 % of the operations took no longer."),
	INT("p99_ns", "p99", "ns", "99 % of the operations took no longer."),
	INT("p999_ns", "p99.9", "ns", "99.9 % of the operations took no longer."),
	INT("max_ns", "max", "ns", "Longest operation."),
	INT("ops", "ops", "", "Operations."),
	REAL("flushes_per_op", "flushes/op", "", "FLUSH requests at the device for one."),
	TEXT("direct", "O_DIRECT",
		"Whether the file was opened with O_DIRECT: yes, no, or absent where it is "
		"not told."),
	TEXT("test_length", "test length", "What pgbench's sister says of a test's length."),
	TEXT("ranked", "ranked", "yes, or why the figures are left out of comparisons."),
	TEXT("tool_version", "version", "Version of the tool, where it is told."),
	PLACE,
};

static const struct wp_column io_columns[] = {
	TEXT("target", "target", "Label of the run's place."),
	TEXT("test", "test",
		"read, write, random-read, random-write; mixed where both were done at once; "
		"\"order unknown\" where the file does not tell sequential from random."),
	INT("record_bytes", "record", "bytes", "Bytes of one operation."),
	INT("file_bytes", "file", "bytes", "Size of the files."),
	INT("jobs", "jobs", "", "Threads or processes that worked at the same time."),
	REAL("bytes_per_s", "MB/s", "bytes/s", "Bytes a second."),
	REAL("ops_per_s", "ops/s", "1/s", "Operations a second."),
	REAL("ci_low", "low", "1/s", "Lower end of the 95 % interval of ops_per_s."),
	REAL("ci_high", "high", "1/s", "Upper end of the 95 % interval of ops_per_s."),
	INT("mean_ns", "mean", "ns", "Mean time of one operation."),
	REAL("stddev_ns", "stddev", "ns", "Standard deviation of that."),
	INT("min_ns", "min", "ns", "Shortest operation."),
	INT("p50_ns", "p50", "ns", "Half of the operations took no longer."),
	INT("p90_ns", "p90", "ns", "90 % of the operations took no longer."),
	INT("p95_ns", "p95", "ns", "95 % of the operations took no longer."),
	INT("p99_ns", "p99", "ns", "99 % of the operations took no longer."),
	INT("p999_ns", "p99.9", "ns", "99.9 % of the operations took no longer."),
	INT("p9999_ns", "p99.99", "ns", "99.99 % of the operations took no longer."),
	INT("max_ns", "max", "ns", "Longest operation."),
	INT("ops", "ops", "", "Operations."),
	REAL("cpu_percent", "CPU %", "", "Processor time in per cent of the measured time."),
	TEXT("latency_of", "latency of",
		"What the times are of: completion (from the request's submission) or total."),
	INT("depth", "depth", "", "Requests that a job kept outstanding."),
	INT("elapsed_ns", "elapsed", "ns", "Measured time."),
	TEXT("job", "job", "Name of fio's job."),
	TEXT("cache", "cache", "How the page cache was kept out: direct, or absent."),
	TEXT("ranked", "ranked", "yes, or why the figures are left out of comparisons."),
	TEXT("tool_version", "version", "Version of the tool."),
	PLACE,
};

static const struct table {
	const char *name;
	const char *title;
	const struct wp_column *columns;
	size_t count;
} tables[] = {
	{ "ramp", "Client ramp", ramp_columns, WP_COUNT(ramp_columns) },
	{ "scripts", "Scripts that were run", script_columns, WP_COUNT(script_columns) },
	{ "statements", "Time of each command of the scripts", statement_columns,
		WP_COUNT(statement_columns) },
	{ "progress", "Over time", progress_columns, WP_COUNT(progress_columns) },
	{ "sync", "Synchronous writes", sync_columns, WP_COUNT(sync_columns) },
	{ "io", "Reading and writing", io_columns, WP_COUNT(io_columns) },
};

struct wp_row *rows_add(struct wp_import *in, const char *name)
{
	const struct table *table = tables;

	while (strcmp(table->name, name) != 0)
		table++;
	return wp_table_add_row(
		wp_result_table(in->result, name, table->title, table->columns, table->count));
}

static bool has_column(const struct wp_row *row, const char *key)
{
	return wp_table_column(row->table, key) >= 0;
}

void rows_text(struct wp_row *row, const char *key, const char *value)
{
	if (has_column(row, key))
		wp_row_text(row, key, value);
}

void rows_int(struct wp_row *row, const char *key, int64_t value)
{
	if (has_column(row, key))
		wp_row_int(row, key, value);
}

void rows_real(struct wp_row *row, const char *key, double value)
{
	if (has_column(row, key))
		wp_row_real(row, key, value);
}

void rows_absent(struct wp_row *row, const char *key, const char *reason)
{
	if (has_column(row, key))
		wp_row_absent(row, key, reason);
}

void rows_place(struct wp_import *in, struct wp_row *row, const char *target, size_t line)
{
	rows_text(row, "target", target);
	rows_text(row, "source", in->name ? in->name : "-");
	rows_int(row, "line", (int64_t)line);
}

void rows_absent_rest(struct wp_row *row, const char *reason)
{
	for (size_t i = 0; i < row->table->column_count; i++)
		if (row->cells[i].state == WP_CELL_ABSENT && !row->cells[i].text)
			wp_row_absent(row, row->table->columns[i].key, reason);
}

const char *rows_file_system(const char *text)
{
	static const char *const names[] = { "ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "jfs",
		"reiserfs", "reiser4", "f2fs", "nfs", "nfs4", "vfat", "fat", "ntfs", "tmpfs", "ufs",
		"apfs", "hfs", "bcachefs", "nilfs2", "exfat" };

	for (const char *at = text; *at; at++) {
		if (at > text && isalnum((unsigned char)at[-1]))
			continue;
		for (size_t i = 0; i < WP_COUNT(names); i++) {
			size_t length = strlen(names[i]);

			if (strncasecmp(at, names[i], length) == 0 &&
				!isalnum((unsigned char)at[length]))
				return names[i];
		}
	}
	return NULL;
}

const char *rows_base_name(const struct wp_import *in)
{
	const char *slash;

	if (!in->name || !*in->name || strcmp(in->name, "-") == 0)
		return "standard input";
	slash = strrchr(in->name, '/');
	return slash && slash[1] ? slash + 1 : in->name;
}
