/* SPDX-License-Identifier: PostgreSQL */
#include "sample_result.h"
#include "harness.h"
#include "walprobe/mem.h"

#include <float.h>

#define COLUMN(key, label, unit, kind, meaning)                                                    \
	{                                                                                          \
		key, label, unit, WP_KIND_##kind, meaning                                          \
	}

static const struct wp_column sync_columns[] = {
	COLUMN("target", "target", "", TEXT, "label of the target"),
	COLUMN("method", "method", "", TEXT, "wal_sync_method"),
	COLUMN("variant", "variant", "", TEXT, "what is written"),
	COLUMN("write_bytes", "write", "bytes", INT, "bytes of one write"),
	COLUMN("writes_per_op", "writes", "", INT, "writes before one sync"),
	COLUMN("ops_per_s", "ops/s", "1/s", REAL, "operations per second"),
	COLUMN("ci_low", "low", "1/s", REAL, "lower end of the 95% interval"),
	COLUMN("ci_high", "high", "1/s", REAL, "upper end of the 95% interval"),
	COLUMN("mean_ns", "mean", "ns", INT, "mean time of one operation"),
	COLUMN("p50_ns", "p50", "ns", INT, "median time of one operation"),
	COLUMN("p90_ns", "p90", "ns", INT, "90 of 100 operations take no longer"),
	COLUMN("p99_ns", "p99", "ns", INT, "99 of 100 operations take no longer"),
	COLUMN("p999_ns", "p99.9", "ns", INT, "999 of 1,000 operations take no longer"),
	COLUMN("max_ns", "max", "ns", INT, "the slowest operation"),
	COLUMN("ops", "ops", "", INT, "operations measured"),
	COLUMN("flushes_per_op", "flush/op", "", REAL, "FLUSH or FUA requests per operation"),
};

static const struct wp_column append_columns[] = {
	COLUMN("target", "target", "", TEXT, "label of the target"),
	COLUMN("method", "method", "", TEXT, "wal_sync_method"),
	COLUMN("recycle", "recycle", "", TEXT, "how old segments are used again"),
	COLUMN("clients", "clients", "", INT, "committing clients"),
	COLUMN("commits_per_s", "commits/s", "1/s", REAL, "commits per second"),
	COLUMN("ci_low", "low", "1/s", REAL, "lower end of the 95% interval"),
	COLUMN("ci_high", "high", "1/s", REAL, "upper end of the 95% interval"),
	COLUMN("p50_ns", "p50", "ns", INT, "median time of one commit"),
	COLUMN("p99_ns", "p99", "ns", INT, "99 of 100 commits take no longer"),
	COLUMN("p999_ns", "p99.9", "ns", INT, "999 of 1,000 commits take no longer"),
	COLUMN("max_ns", "max", "ns", INT, "the slowest commit"),
	COLUMN("commits_per_sync", "commits/sync", "", REAL, "commits that one sync carries"),
	COLUMN("syncs", "syncs", "", INT, "synchronous writes"),
	COLUMN("flushes_per_sync", "flush/sync", "", REAL, "FLUSH or FUA requests per sync"),
	COLUMN("bytes_per_commit", "WAL", "bytes", INT, "WAL bytes of one commit"),
	COLUMN("segments", "segments", "", INT, "segments filled"),
	COLUMN("recycled", "recycled", "", INT, "segments used again"),
	COLUMN("switch_p50_ns", "switch p50", "ns", INT, "median stall at a segment switch"),
	COLUMN("switch_max_ns", "switch max", "ns", INT, "longest stall at a segment switch"),
};

static const struct wp_column comparison_columns[] = {
	COLUMN("table", "table", "", TEXT, "table that holds the figures"),
	COLUMN("metric", "metric", "", TEXT, "column that is compared"),
	COLUMN("method", "method", "", TEXT, "wal_sync_method"),
	COLUMN("variant", "variant", "", TEXT, "what is written"),
	COLUMN("clients", "clients", "", INT, "committing clients"),
	COLUMN("test", "test", "", TEXT, "test of io"),
	COLUMN("record_bytes", "record", "bytes", INT, "record size of io"),
	COLUMN("a", "a", "", TEXT, "first target"),
	COLUMN("b", "b", "", TEXT, "second target"),
	COLUMN("rounds", "rounds", "", INT, "rounds in which both were measured"),
	COLUMN("ratio", "ratio", "", REAL, "a / b"),
	COLUMN("ci_low", "low", "", REAL, "lower end of the 95% interval"),
	COLUMN("ci_high", "high", "", REAL, "upper end of the 95% interval"),
	COLUMN("verdict", "verdict", "", TEXT, "a against b, as to speed"),
};

static const struct wp_column summary_columns[] = {
	COLUMN("target", "target", "", TEXT, "label of the target"),
	COLUMN("sync_fdatasync", "fdatasync 8kB ops/s", "1/s", REAL, "one write, fdatasync"),
	COLUMN("sync_open_datasync", "open_datasync 8kB ops/s", "1/s", REAL, "O_DSYNC"),
	COLUMN("append_1", "append 1 client commits/s", "1/s", REAL, "commits of one client"),
	COLUMN("append_8", "append 8 clients commits/s", "1/s", REAL, "commits of 8 clients"),
	COLUMN("append_8_p99", "append 8 clients p99", "ns", REAL, "p99 of one commit"),
};

static const struct wp_column recommendation_columns[] = {
	COLUMN("rank", "rank", "", INT, "1 is the best"),
	COLUMN("target", "target", "", TEXT, "label of the target"),
	COLUMN("item", "item", "", TEXT, "what to set"),
	COLUMN("value", "value", "", TEXT, "what to set it to"),
	COLUMN("why", "why", "", TEXT, "the figures behind it"),
};

static const struct wp_column round_columns[] = {
	COLUMN("table", "table", "", TEXT, "table that the figures go into"),
	COLUMN("metric", "metric", "", TEXT, "what value is"),
	COLUMN("target", "target", "", TEXT, "label of the target"),
	COLUMN("method", "method", "", TEXT, "wal_sync_method"),
	COLUMN("variant", "variant", "", TEXT, "what is written"),
	COLUMN("clients", "clients", "", INT, "committing clients"),
	COLUMN("test", "test", "", TEXT, "test of io"),
	COLUMN("record_bytes", "record", "bytes", INT, "record size of io"),
	COLUMN("round", "round", "", INT, "from 1"),
	COLUMN("value", "value", "", REAL, "in the metric's unit"),
};

static const char no_f2fs[] = "mkfs.f2fs is not installed (package f2fs-tools)";

static struct wp_table *add_table(struct wp_result *result, const char *name, const char *title,
	const struct wp_column *columns, size_t count)
{
	return wp_result_table(result, name, title, columns, count);
}

/* Every figure of row is absent for the same reason. */
static void all_absent(struct wp_row *row, const char *reason)
{
	for (size_t i = 0; i < row->table->column_count; i++)
		if (row->cells[i].state == WP_CELL_ABSENT)
			wp_row_absent(row, row->table->columns[i].key, reason);
}

static void add_sync(struct wp_result *result, const char *target, const char *method, double rate)
{
	struct wp_table *table = add_table(result, "sync", "One 8 kB write and one sync, by method",
		sync_columns, WP_COUNT(sync_columns));
	struct wp_row *row = wp_table_add_row(table);

	wp_row_text(row, "target", target);
	wp_row_text(row, "method", method);
	wp_row_text(row, "variant", "overwrite");
	if (rate <= 0) {
		all_absent(row, no_f2fs);
		return;
	}
	wp_row_int(row, "write_bytes", 8192);
	wp_row_int(row, "writes_per_op", 1);
	wp_row_real(row, "ops_per_s", rate);
	wp_row_real(row, "ci_low", rate * 0.97);
	wp_row_real(row, "ci_high", rate * 1.025);
	wp_row_int(row, "mean_ns", (int64_t)(1e9 / rate));
	wp_row_int(row, "p50_ns", (int64_t)(0.92e9 / rate));
	wp_row_int(row, "p90_ns", (int64_t)(1.3e9 / rate));
	wp_row_int(row, "p99_ns", (int64_t)(2.4e9 / rate));
	if (rate < 1000)
		wp_row_absent(row, "p999_ns", "fewer than 1,000 samples");
	else
		wp_row_int(row, "p999_ns", (int64_t)(9.1e9 / rate));
	wp_row_int(row, "max_ns", (int64_t)(61e9 / rate));
	wp_row_int(row, "ops", (int64_t)(rate * 5));
	wp_row_real(row, "flushes_per_op", rate < 1000 ? 2.004 : 1.0);
}

static void add_append(struct wp_result *result, const char *target, int64_t clients, double rate)
{
	struct wp_table *table =
		add_table(result, "append", "Commits into WAL segments (the model of pg_wal)",
			append_columns, WP_COUNT(append_columns));
	struct wp_row *row = wp_table_add_row(table);

	wp_row_text(row, "target", target);
	wp_row_text(row, "method", "fdatasync");
	wp_row_text(row, "recycle", "rename");
	wp_row_int(row, "clients", clients);
	if (rate <= 0) {
		all_absent(row, no_f2fs);
		return;
	}
	wp_row_real(row, "commits_per_s", rate);
	wp_row_real(row, "ci_low", rate * 0.96);
	wp_row_real(row, "ci_high", rate * 1.04);
	wp_row_int(row, "p50_ns", (int64_t)((double)clients * 0.9e9 / rate));
	wp_row_int(row, "p99_ns", (int64_t)((double)clients * 3e9 / rate));
	wp_row_int(row, "p999_ns", (int64_t)((double)clients * 9e9 / rate));
	wp_row_int(row, "max_ns", (int64_t)((double)clients * 40e9 / rate));
	wp_row_real(row, "commits_per_sync", clients == 1 ? 1.0 : 4.03);
	wp_row_int(row, "syncs", (int64_t)(rate * 5));
	wp_row_real(row, "flushes_per_sync", 1.002);
	wp_row_int(row, "bytes_per_commit", 412);
	wp_row_int(row, "segments", 9);
	if (clients == 1) {
		wp_row_absent(row, "recycled", "no segment was recycled in the time given");
		wp_row_absent(row, "switch_p50_ns", "no segment was recycled in the time given");
		wp_row_absent(row, "switch_max_ns", "no segment was recycled in the time given");
		return;
	}
	wp_row_int(row, "recycled", 5);
	wp_row_int(row, "switch_p50_ns", 183400);
	wp_row_int(row, "switch_max_ns", 2914000);
}

static void add_pair(struct wp_result *result, int64_t clients, const char *a, const char *b,
	double ratio, double low, double high, const char *verdict)
{
	struct wp_table *table = add_table(result, "comparison",
		"Every pair of targets, with what can be said of it", comparison_columns,
		WP_COUNT(comparison_columns));
	struct wp_row *row = wp_table_add_row(table);

	wp_row_text(row, "table", clients ? "append" : "sync");
	wp_row_text(row, "metric", clients ? "commits_per_s" : "ops_per_s");
	wp_row_text(row, "method", "fdatasync");
	wp_row_text(row, "variant", clients ? NULL : "overwrite");
	if (clients)
		wp_row_int(row, "clients", clients);
	wp_row_text(row, "a", a);
	wp_row_text(row, "b", b);
	wp_row_int(row, "rounds", 10);
	if (ratio > 0) {
		wp_row_real(row, "ratio", ratio);
		wp_row_real(row, "ci_low", low);
		wp_row_real(row, "ci_high", high);
	} else {
		all_absent(row, no_f2fs);
	}
	wp_row_text(row, "verdict", verdict);
}

static void add_summary(struct wp_result *result, const char *target, double scale)
{
	struct wp_table *table = add_table(result, "summary", "Targets at a glance",
		summary_columns, WP_COUNT(summary_columns));
	struct wp_row *row = wp_table_add_row(table);

	wp_row_text(row, "target", target);
	if (scale <= 0) {
		all_absent(row, no_f2fs);
		return;
	}
	wp_row_real(row, "sync_fdatasync", 6383.3 * scale);
	wp_row_real(row, "sync_open_datasync", 6512.25 * scale);
	wp_row_real(row, "append_1", 5480.7 * scale);
	wp_row_real(row, "append_8", 19233.0 * scale);
	wp_row_real(row, "append_8_p99", 1247000 / scale);
}

static void add_advice(struct wp_result *result, int64_t rank, const char *target, const char *item,
	const char *value, const char *why)
{
	struct wp_table *table = add_table(result, "recommendation", "Recommendation",
		recommendation_columns, WP_COUNT(recommendation_columns));
	struct wp_row *row = wp_table_add_row(table);

	if (rank)
		wp_row_int(row, "rank", rank);
	wp_row_text(row, "target", target);
	wp_row_text(row, "item", item);
	wp_row_text(row, "value", value);
	wp_row_text(row, "why", why);
}

static void add_rounds(struct wp_result *result)
{
	struct wp_table *table = add_table(result, "rounds", "Every round, as measured",
		round_columns, WP_COUNT(round_columns));

	for (int64_t round = 1; round <= 3; round++) {
		struct wp_row *row = wp_table_add_row(table);

		wp_row_text(row, "table", "sync");
		wp_row_text(row, "metric", "ops_per_s");
		wp_row_text(row, "target", "ext4");
		wp_row_text(row, "method", "fdatasync");
		wp_row_text(row, "variant", "overwrite");
		wp_row_int(row, "round", round);
		if (round == 2)
			wp_row_absent(row, "value", "the round was dropped: foreign load");
		else
			wp_row_real(row, "value", 6383.3 + (double)round / 3);
	}
}

static void add_machine(struct wp_result *result)
{
	static const char *const words[] = { "walprobe", "compare", "image:ext4", "image:xfs",
		"image:btrfs", "image:f2fs", "--save", "my file.json" };

	for (size_t i = 0; i < WP_COUNT(words); i++)
		wp_result_add_argument(result, words[i]);
	result->started = wp_xstrdup("2026-11-30T20:15:00Z");
	wp_result_add_environment(result, "kernel", "6.1.0-18-amd64", "uname");
	wp_result_add_environment(result, "cpus", "2", "sched_getaffinity");
	wp_result_add_parameter(result, "rounds", "10", WP_KIND_INT, "default");
	wp_result_add_parameter(result, "margin", "1.050", WP_KIND_REAL, "option");
	wp_result_add_parameter(result, "time", "500ms", WP_KIND_TEXT, "default");
	wp_result_add_parameter(result, "save", NULL, WP_KIND_TEXT, "default");
}

static void add_targets(struct wp_result *result)
{
	static const char xfs_options[] = "rw,relatime,attr2,inode64,logbufs=8,logbsize=32k,"
					  "noquota";
	static const char *const options[] = { "rw,relatime", xfs_options,
		"rw,relatime,discard=async,space_cache=v2,subvolid=5,subvol=/" };
	static const char *const types[] = { "ext4", "xfs", "btrfs" };

	for (size_t i = 0; i < WP_COUNT(types); i++) {
		struct wp_target_info *target = wp_result_add_target(result, types[i]);
		char *path = wp_xasprintf("/var/tmp/walprobe-Ab12C%zu/mnt", i);

		wp_target_info_set(target, path, types[i], options[i]);
		wp_target_info_add_device(target, "loop0", "write back", 0, 0);
		wp_target_info_add_device(target, "sda1", NULL, -1, -1);
		wp_target_info_add_device(target, "sda", "write through", 1, 1);
		free(path);
	}
	(void)wp_result_add_target(result, "f2fs");
}

static void add_checks(struct wp_result *result)
{
	static const char *const targets[] = { "ext4", "xfs", "btrfs" };

	for (size_t i = 0; i < WP_COUNT(targets); i++)
		wp_result_add_check(result, "flush-sent", targets[i], WP_CHECK_PASS,
			"1 flush or more per synchronous write", "1.00",
			"each synchronous write sends a flush to loop0");
	wp_result_add_check(result, "recycle-cow", "btrfs", WP_CHECK_INFO, NULL, NULL,
		"btrfs copies on write, so recycling a segment saves nothing: set wal_recycle = "
		"off and wal_init_zero = off there, and measure again");
	wp_result_add_check(result, "write-cache", "xfs", WP_CHECK_UNKNOWN, NULL, NULL,
		"what lies below sda1 does not say whether it has a cache");
}

static void fill_figures(struct wp_result *result)
{
	static const char *const methods[] = { "open_datasync", "fdatasync", "fsync", "open_sync" };
	static const double scales[] = { 1, 0.97, 0.14, 0 };
	static const char *const targets[] = { "ext4", "xfs", "btrfs", "f2fs" };

	for (size_t i = 0; i < WP_COUNT(targets); i++)
		for (size_t j = 0; j < WP_COUNT(methods); j++)
			add_sync(result, targets[i], methods[j],
				(6512.25 - 700 * (double)j) * scales[i]);
	for (size_t i = 0; i < WP_COUNT(targets); i++) {
		add_append(result, targets[i], 1, 5480.7 * scales[i]);
		add_append(result, targets[i], 8, 19233.0 * scales[i]);
		add_summary(result, targets[i], scales[i]);
	}
	for (int64_t clients = 0; clients <= 8; clients += 8) {
		add_pair(
			result, clients, "ext4", "xfs", 1.031, 0.983, 1.081, "no difference shown");
		add_pair(result, clients, "ext4", "btrfs", 7.14, 6.55, 7.81, "faster");
		add_pair(result, clients, "btrfs", "xfs", 0.1443, 0.131, 0.158, "slower");
		add_pair(result, clients, "ext4", "f2fs", 0, 0, 0, "not comparable");
	}
}

struct wp_result *sample_compare(void)
{
	struct wp_result *result = wp_result_new("compare");

	add_machine(result);
	add_targets(result);
	fill_figures(result);
	add_advice(result, 1, "ext4", "pg_wal on", "ext4",
		"19,200 commits/s at 8 clients (95% CI 18,500-20,000); no difference was shown to "
		"xfs, and btrfs is 7.1 times slower");
	add_advice(result, 2, "ext4", "wal_sync_method", "fdatasync",
		"the default; no other method was shown to be faster here");
	add_advice(result, 3, "ext4", "wal_recycle, wal_init_zero", "on, on",
		"the defaults; the file system overwrites in place, so a recycled segment is "
		"written without changing its metadata");
	add_advice(result, 4, "btrfs", "mount option", "nodiscard, with fstrim from a timer", NULL);
	add_rounds(result);
	add_checks(result);
	return result;
}

struct wp_result *sample_stopped(void)
{
	struct wp_result *result = sample_compare();

	result->is_complete = false;
	wp_result_add_check(result, "flush-sent", "btrfs", WP_CHECK_FAIL,
		"1 flush or more per synchronous write", "0.00",
		"commits on btrfs are lost when power fails: it is mounted with nobarrier; remount "
		"it with barrier");
	return result;
}

static void fill_odd_cells(struct wp_result *result)
{
	static const double reals[] = { 0, -0.0, 0.1, 1.0 / 3, 1e22, 1e300, DBL_MAX, DBL_MIN,
		4.9406564584124654e-324, -123456.789, 6000 };
	static const int64_t integers[] = { 0, -1, INT64_MAX, INT64_MIN, 8192, 1, 2, 3, 4, 5, 6 };
	static const char *const texts[] = { "", " ", "a \"quoted\" word", "comma, and\nnew line",
		"tab\tand \033[31mescape", "\\back/slash", "Grüße, 日本語 e\xCC\x81",
		"broken \xFF\xC3 bytes", "#not a comment", "\x7F\xE2\x80\xAE", "plain" };
	struct wp_column columns[20];
	struct wp_table *table;

	for (size_t j = 0; j < WP_COUNT(columns); j++)
		columns[j] = (struct wp_column){ wp_xasprintf("k%zu \"é\"", j),
			wp_xasprintf("column %zu", j),
			j == 5   ? "ns"
			: j == 6 ? "bytes"
				 : "",
			j == 0  ? WP_KIND_TEXT
			: j % 2 ? WP_KIND_REAL
				: WP_KIND_INT,
			"odd" };
	table = wp_result_table(
		result, "odd,\n\"table\"", "A title\nof two lines", columns, WP_COUNT(columns));
	for (size_t i = 0; i < WP_COUNT(reals); i++) {
		struct wp_row *row = wp_table_add_row(table);

		wp_row_text(row, columns[0].key, texts[i]);
		for (size_t j = 1; j < WP_COUNT(columns); j++) {
			if (j == 3)
				wp_row_absent(row, columns[j].key, i % 2 ? texts[i] : NULL);
			else if (j % 2)
				wp_row_real(row, columns[j].key, reals[i]);
			else
				wp_row_int(row, columns[j].key, integers[i]);
		}
	}
	for (size_t j = 0; j < WP_COUNT(columns); j++) {
		free((void *)(uintptr_t)columns[j].key);
		free((void *)(uintptr_t)columns[j].label);
	}
}

struct wp_result *sample_odd(void)
{
	static const char long_label[] = "/srv/database/cluster-fifteen/with=a,long:name/"
					 "and_one_word_that_has_no_place_to_break_it_whatever_one_"
					 "does_about_it_in_the_end/日本語日本語日本語日本語";
	struct wp_result *result = wp_result_new("odd\x01 command");
	struct wp_target_info *target = wp_result_add_target(result, long_label);

	wp_result_add_argument(result, "it's");
	wp_result_add_argument(result, long_label);
	wp_target_info_set(target, long_label, NULL, NULL);
	wp_target_info_add_device(target, long_label, NULL, 1, 0);
	add_sync(result, long_label, "fdatasync", 1e-3);
	add_sync(result, "tmpfs", "fdatasync", 2.5e6);
	add_append(result, long_label, 1000, 77777);
	add_pair(result, 8, long_label, long_label, 1, 0.999, 1.001, "no practical difference");
	add_advice(result, 0, long_label, long_label, long_label, long_label);
	wp_result_add_check(result, long_label, long_label, WP_CHECK_FAIL, NULL, NULL, long_label);
	wp_result_add_check(result, "x", NULL, WP_CHECK_INFO, "a", "b", NULL);
	wp_result_add_parameter(result, "integer", "007", WP_KIND_INT, NULL);
	wp_result_add_parameter(result, "no integer", "0x7", WP_KIND_INT, NULL);
	wp_result_add_parameter(result, "no real", "inf", WP_KIND_REAL, NULL);
	wp_result_add_parameter(result, "real", "1e3", WP_KIND_REAL, long_label);
	wp_result_add_environment(result, "nothing", NULL, NULL);
	fill_odd_cells(result);
	(void)wp_result_table(result, "empty", NULL, round_columns, WP_COUNT(round_columns));
	return result;
}

char *sample_render(
	const struct wp_result *result, wp_render_fn *render, bool is_colored, bool is_verbose)
{
	const struct wp_render_options options = { .is_colored = is_colored,
		.is_verbose = is_verbose };
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	assert_non_null(stream);
	render(result, &options, stream);
	assert_int_equal(fclose(stream), 0);
	return text;
}

static char *read_file(const char *path)
{
	FILE *stream = fopen(path, "rb");
	char *text;
	size_t length;

	if (!stream)
		return NULL;
	text = wp_xcalloc((size_t)1 << 20, 1);
	length = fread(text, 1, ((size_t)1 << 20) - 1, stream);
	text[length] = '\0';
	(void)fclose(stream); /* read only */
	return text;
}

void sample_golden(const char *name, const char *text)
{
	char *path = wp_xasprintf("tests/golden/%s", name);
	const char *bless = getenv("WP_BLESS");
	char *golden;

	if (bless && strcmp(bless, "1") == 0) {
		FILE *stream = fopen(path, "wb");

		assert_non_null(stream);
		assert_int_equal(fwrite(text, 1, strlen(text), stream), strlen(text));
		assert_int_equal(fclose(stream), 0);
	}
	golden = read_file(path);
	if (!golden)
		fail_msg("could not read %s; WP_BLESS=1 writes it", path);
	assert_string_equal(text, golden);
	free(golden);
	free(path);
}
