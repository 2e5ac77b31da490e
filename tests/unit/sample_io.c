/* SPDX-License-Identifier: PostgreSQL */
#include "sample_io.h"
#include "harness.h"
#include "walprobe/mem.h"

static const struct wp_column columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label." },
	{ "test", "test", "", WP_KIND_TEXT, "What is done." },
	{ "record_bytes", "record", "bytes", WP_KIND_INT, "Bytes of one operation." },
	{ "file_bytes", "file", "bytes", WP_KIND_INT, "Size of the files." },
	{ "bytes_per_s", "MB/s", "bytes/s", WP_KIND_REAL, "Rate." },
	{ "ops_per_s", "ops/s", "1/s", WP_KIND_REAL, "Rate." },
	{ "max_ns", "max", "ns", WP_KIND_INT, "Longest." },
	{ "ops", "ops", "", WP_KIND_INT, "Operations." },
	{ "cpu_percent", "CPU %", "", WP_KIND_REAL, "Processor time." },
};

static void add(struct wp_table *table, const char *target, const char *test, int64_t record,
	int64_t file, double ops_per_s)
{
	struct wp_row *row = wp_table_add_row(table);

	wp_row_text(row, "target", target);
	wp_row_text(row, "test", test);
	if (record)
		wp_row_int(row, "record_bytes", record);
	if (file)
		wp_row_int(row, "file_bytes", file);
	if (!(ops_per_s > 0)) {
		wp_row_absent(row, "ops_per_s", "O_DIRECT refused: EINVAL");
		return;
	}
	wp_row_real(row, "ops_per_s", ops_per_s);
	if (record)
		wp_row_real(row, "bytes_per_s", ops_per_s * (double)record);
	wp_row_int(row, "max_ns", (int64_t)(1e12 / ops_per_s));
	wp_row_int(row, "ops", 4242);
	wp_row_real(row, "cpu_percent", 41.7);
}

static void add_target(struct wp_table *table, const char *target, double factor)
{
	static const char *const bytes[] = { "putc", "write1", "getc", "read1" };
	static const char *const records[] = { "write", "rewrite", "overwrite", "read", "reread",
		"random-read", "random-write", "backward-read", "seeks" };
	static const char *const small[] = { "create-seq", "stat-seq", "delete-seq",
		"create-random", "stat-random", "delete-random", "create-seq-synced" };

	for (size_t i = 0; i < WP_COUNT(bytes); i++)
		add(table, target, bytes[i], 1, INT64_C(3) << 30, factor * 1e6 * (double)(i + 1));
	for (size_t i = 0; i < WP_COUNT(records); i++)
		for (int64_t record = 8192; record <= 16384; record *= 2)
			add(table, target, records[i], record, INT64_C(3) << 30,
				strcmp(records[i], "seeks") == 0 ? factor * 701.25
								 : factor * 1000 * (double)(i + 1));
	add(table, target, "archive", 16 << 20, INT64_C(3) << 30, 12);
	for (size_t i = 0; i < WP_COUNT(small); i++)
		add(table, target, small[i], 0, 0, factor * 20000 * (double)(i + 1));
}

struct wp_result *sample_io(void)
{
	struct wp_result *result = wp_result_new("io");
	struct wp_table *table =
		wp_result_table(result, "io", "Big and small files", columns, WP_COUNT(columns));

	free(result->version);
	result->version = wp_xstrdup("0.1.0");
	wp_result_add_parameter(result, "jobs", "1", WP_KIND_INT, "default");
	wp_result_add_parameter(result, "seed", "7", WP_KIND_INT, "option");
	wp_result_add_parameter(result, "seekers", "5", WP_KIND_INT, "default");
	wp_result_add_parameter(result, "files", "16:4096:0:10", WP_KIND_TEXT, "option");
	wp_result_add_parameter(result, "sync", "o_dsync", WP_KIND_TEXT, "option");
	wp_result_add_parameter(result, "timed", "fsync,close", WP_KIND_TEXT, "default");
	wp_result_add_parameter(result, "direct", "off", WP_KIND_TEXT, "default");
	add_target(table, "ext4", 1);
	add_target(table, "xfs, new", 2.5);
	add(table, "f2fs", "read", 8192, INT64_C(100) << 20, 0);
	return result;
}
