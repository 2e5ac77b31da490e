/* SPDX-License-Identifier: PostgreSQL */
#include "import/iozone.h"
#include "walprobe/mem.h"

#define KB 1024.0
#define MEMORY_PER_S                                                                               \
	3e9 /* bytes/s, which no disk of iozone's time reads or writes through a cache */

static const char not_told[] = "the input does not say";

static bool is_write(const char *test)
{
	return strstr(test, "write") != NULL;
}

static double bytes_per_s(const struct wp_iozone *run, const struct wp_iozone_figure *figure)
{
	if (run->unit == WP_IOZONE_KB_PER_S)
		return figure->value * KB;
	if (run->unit == WP_IOZONE_OPS_PER_S && figure->record_kb > 0)
		return figure->value * (double)figure->record_kb * KB;
	return -1;
}

/* ---- cached ------------------------------------------------------------------------------------ */

static const struct wp_iozone_figure *find(
	const struct wp_iozone *run, const struct wp_iozone_figure *like, const char *test)
{
	for (size_t i = 0; i < run->count; i++) {
		const struct wp_iozone_figure *figure = &run->figures[i];

		if (!figure->reason && figure->file_kb == like->file_kb &&
			figure->record_kb == like->record_kb && strcmp(figure->test, test) == 0)
			return figure;
	}
	return NULL;
}

static bool is_synced(const struct wp_iozone *run)
{
	return run->is_fsync_timed || run->is_sync;
}

/* "yes", "no", or NULL with a reason where it cannot be told. */
static const char *cached(
	const struct wp_iozone *run, const struct wp_iozone_figure *figure, const char **reason)
{
	const struct wp_iozone_figure *read;
	double rate = bytes_per_s(run, figure);

	*reason = "how much of the file fits in memory is not told";
	if (run->is_direct || (is_write(figure->test) && is_synced(run)))
		return "no";
	if (rate > MEMORY_PER_S)
		return "yes";
	if (!is_write(figure->test))
		return NULL;
	/* Reads after a remount come from the disk, and no disk writes three times as fast. */
	read = run->is_remounted ? find(run, figure, "read") : NULL;
	return read && rate > 3 * bytes_per_s(run, read) ? "yes" : NULL;
}

/* ---- rows -------------------------------------------------------------------------------------- */

static void put_size(struct wp_row *row, const char *key, int64_t kb)
{
	if (kb > 0)
		wp_row_int(row, key, kb * 1024);
	else
		wp_row_absent(row, key, not_told);
}

static void put_value(
	struct wp_row *row, const struct wp_iozone *run, const struct wp_iozone_figure *figure)
{
	double rate = bytes_per_s(run, figure);

	if (figure->reason) {
		wp_row_absent(row, "bytes_per_s", figure->reason);
		wp_row_absent(row, "ops_per_s", figure->reason);
		return;
	}
	if (run->unit == WP_IOZONE_US_PER_OP) {
		wp_row_int(row, "mean_ns", (int64_t)(figure->value * (double)WP_NS_PER_US));
		wp_import_absent_rest(row, "the run printed microseconds for each operation");
		return;
	}
	if (rate >= 0)
		wp_row_real(row, "bytes_per_s", rate);
	else
		wp_row_absent(row, "bytes_per_s", "the record size is not told");
	if (run->unit == WP_IOZONE_OPS_PER_S)
		wp_row_real(row, "ops_per_s", figure->value);
	else if (figure->record_kb > 0)
		wp_row_real(row, "ops_per_s", rate / (KB * (double)figure->record_kb));
	else
		wp_row_absent(row, "ops_per_s", "the record size is not told");
}

static void put_row(struct wp_table *table, const char *label, const struct wp_iozone *run,
	const struct wp_iozone_figure *figure)
{
	struct wp_row *row = wp_import_row(table, label);
	const char *reason = figure->reason;
	const char *word = reason ? NULL : cached(run, figure, &reason);

	wp_row_text(row, "test", figure->test);
	put_size(row, "file_bytes", figure->file_kb);
	put_size(row, "record_bytes", figure->record_kb);
	wp_row_int(row, "jobs", figure->jobs);
	if (word)
		wp_row_text(row, "cached", word);
	else
		wp_row_absent(row, "cached", reason);
	if (figure->has_detail && figure->detail.cpu_percent >= 0)
		wp_row_real(row, "cpu_percent", figure->detail.cpu_percent);
	put_value(row, run, figure);
	wp_import_absent_rest(row, "iozone does not tell it");
}

static const struct wp_column detail_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label of the run." },
	{ "test", "test", "", WP_KIND_TEXT, "As in table io." },
	{ "jobs", "jobs", "", WP_KIND_INT, "Processes or threads." },
	{ "children_bytes_per_s", "sum", "bytes/s", WP_KIND_REAL, "Sum of what each child saw." },
	{ "parent_bytes_per_s", "parent", "bytes/s", WP_KIND_REAL,
		"All bytes over the time from the first child's begin to the last one's end." },
	{ "least_bytes_per_s", "slowest", "bytes/s", WP_KIND_REAL, "The slowest child." },
	{ "most_bytes_per_s", "fastest", "bytes/s", WP_KIND_REAL, "The fastest child." },
	{ "mean_bytes_per_s", "mean", "bytes/s", WP_KIND_REAL, "Mean of the children." },
	{ "least_bytes", "least moved", "bytes", WP_KIND_INT,
		"Bytes that the slowest child had moved when the first was done." },
};

static void put_detail(struct wp_import *in, const char *label, const struct wp_iozone *run,
	const struct wp_iozone_figure *figure)
{
	const struct {
		const char *key;
		double value;
	} values[] = {
		{ "children_bytes_per_s", figure->value },
		{ "parent_bytes_per_s", figure->detail.parent },
		{ "least_bytes_per_s", figure->detail.least },
		{ "most_bytes_per_s", figure->detail.most },
		{ "mean_bytes_per_s", figure->detail.mean },
	};
	struct wp_table *table = wp_result_table(in->result, "throughput",
		"Processes of iozone -t, as published", detail_columns, WP_COUNT(detail_columns));
	struct wp_row *row = wp_import_row(table, label);

	wp_row_text(row, "test", figure->test);
	wp_row_int(row, "jobs", figure->jobs);
	for (size_t i = 0; i < WP_COUNT(values); i++) {
		if (values[i].value >= 0 && run->unit == WP_IOZONE_KB_PER_S)
			wp_row_real(row, values[i].key, values[i].value * KB);
		else
			wp_row_absent(row, values[i].key,
				run->unit == WP_IOZONE_KB_PER_S ? not_told
								: "the run printed no bytes");
	}
	if (figure->detail.least_kb >= 0)
		wp_row_int(row, "least_bytes", (int64_t)(figure->detail.least_kb * KB));
	else
		wp_row_absent(row, "least_bytes", not_told);
}

/* ---- checks ------------------------------------------------------------------------------------ */

static double highest(const struct wp_iozone *run, bool of_writes)
{
	double most = 0;

	for (size_t i = 0; i < run->count; i++) {
		double rate = bytes_per_s(run, &run->figures[i]);

		if (!run->figures[i].reason && is_write(run->figures[i].test) == of_writes &&
			rate > most)
			most = rate;
	}
	return most;
}

/* Without what iozone says about itself, its options cannot be known. */
static bool has_options(const struct wp_iozone *run)
{
	return run->version[0] || run->command || run->target || run->is_direct || is_synced(run) ||
	       run->is_close_timed;
}

static bool is_told(const struct wp_import *in, const char *id)
{
	for (size_t i = 0; i < in->result->check_count; i++)
		if (strcmp(in->result->checks[i].id, id) == 0 && !in->result->checks[i].target)
			return true;
	return false;
}

static void check_timing(struct wp_import *in, const char *label, const struct wp_iozone *run)
{
	double most = highest(run, true);

	if (run->is_direct || is_synced(run) || most <= 0)
		return;
	if (has_options(run))
		wp_import_check(in, "cached", label, WP_CHECK_INFO,
			"iozone ran without -e, -o and -I: its write figures (up to %.2f GB/s) do "
			"not "
			"contain the time to reach the disk%s%s, and cannot be set beside "
			"synchronous "
			"writes",
			most / 1e9,
			run->is_close_timed ? ", beyond what closing the file (-c) takes, which "
					      "on NFS is all of it"
					    : "",
			run->is_remounted ? " (its reads, after mounting again with -U, do)" : "");
	else if (!is_told(in, "cached"))
		wp_import_check(in, "cached", NULL, WP_CHECK_INFO,
			"the options of iozone are not told: without -e, -o or -I its write "
			"figures "
			"do not contain the time to reach the disk, and cannot be set beside "
			"synchronous writes");
}

static void check_memory(struct wp_import *in, const char *label, const struct wp_iozone *run)
{
	double most = highest(run, false);

	if (!run->is_direct && most > MEMORY_PER_S)
		wp_import_check(in, "rate-plausible", label, WP_CHECK_INFO,
			"reads with %.1f GB/s come from memory, and say nothing about the disk",
			most / 1e9);
}

static void check_reread(struct wp_import *in, const char *label, const struct wp_iozone *run)
{
	for (size_t i = 0; i < run->count; i++) {
		const struct wp_iozone_figure *read = &run->figures[i];
		const struct wp_iozone_figure *again;

		if (read->reason || !read->has_detail || strcmp(read->test, "read") != 0)
			continue;
		again = find(run, read, "reread");
		if (again && again->value > 1.25 * read->value)
			wp_import_check(in, "rate-plausible", label, WP_CHECK_INFO,
				"reading again (%.0f MB/s) was %.2f times as fast as reading: part "
				"of "
				"it came from a cache, as it must where that is more than the "
				"network "
				"carries (1 Gbit/s: 117 MB/s)",
				again->value * KB / 1e6, again->value / read->value);
	}
}

/* Writes that are faster than reads are on their way only. */
static void check_slow_reads(struct wp_import *in, const char *label, const struct wp_iozone *run)
{
	size_t slower = 0;
	size_t all = 0;
	double write_per_s = 0;
	double read_per_s = 0;

	for (size_t i = 0; i < run->count; i++) {
		const struct wp_iozone_figure *write = &run->figures[i];
		const struct wp_iozone_figure *read = find(run, write, "read");

		if (write->reason || !read || strcmp(write->test, "write") != 0)
			continue;
		all++;
		slower += write->value > 1.5 * read->value;
		write_per_s += bytes_per_s(run, write);
		read_per_s += bytes_per_s(run, read);
	}
	if (all >= 4 && slower == all && read_per_s > 0)
		wp_import_check(in, "rate-plausible", label, WP_CHECK_INFO,
			"reading (%.0f MB/s on average) was slower than writing (%.0f MB/s): what "
			"was "
			"written had not all reached the disk, or reads wait for a server",
			read_per_s / 1e6 / (double)all, write_per_s / 1e6 / (double)all);
}

/* ---- the same figures under another name ------------------------------------------------------- */

static size_t rows_of(const struct wp_table *table, const char *label, size_t *first)
{
	size_t count = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		if (strcmp(wp_row_get_text(table->rows[i], "target"), label) != 0)
			continue;
		*first = count ? *first : i;
		count++;
	}
	return count;
}

static bool is_equal_row(const struct wp_row *a, const struct wp_row *b)
{
	static const char *const keys[] = { "file_bytes", "record_bytes", "bytes_per_s" };

	if (strcmp(wp_row_get_text(a, "test"), wp_row_get_text(b, "test")) != 0)
		return false;
	for (size_t i = 0; i < WP_COUNT(keys); i++) {
		double one = wp_row_get_number(a, keys[i]);
		double two = wp_row_get_number(b, keys[i]);

		if (one < two || one > two)
			return false;
	}
	return true;
}

static void check_copied(struct wp_import *in, const char *label, const struct wp_table *table)
{
	size_t own_first = 0;
	size_t own = rows_of(table, label, &own_first);

	for (size_t i = 0; own >= 6 && i < in->result->target_count; i++) {
		const char *other = in->result->targets[i]->label;
		size_t first = 0;
		size_t count = rows_of(table, other, &first);
		size_t same = 0;

		if (count != own || first >= own_first)
			continue;
		while (same < own &&
			is_equal_row(table->rows[first + same], table->rows[own_first + same]))
			same++;
		if (same == own)
			wp_import_check(in, "imported", label, WP_CHECK_UNKNOWN,
				"all figures are those of \"%s\": one of the two was copied from "
				"the "
				"other",
				other);
	}
}

/* ---- a run ------------------------------------------------------------------------------------- */

static char *settings(const struct wp_iozone *run)
{
	const char *unit = run->is_unit_told ? "" : "unit not told, taken as kB/s; ";

	if (!has_options(run))
		return wp_xasprintf("%soptions not told", unit);
	return wp_xasprintf("%s%s%s%s%s", unit, run->is_direct ? "O_DIRECT; " : "",
		run->is_sync ? "synchronous writes; " : "",
		run->is_fsync_timed ? "fsync within the time" : "fsync not within the time",
		run->is_close_timed ? "; close within the time" : "");
}

void wp_iozone_fill(struct wp_import *in, size_t at, size_t count, const struct wp_iozone *run)
{
	struct wp_table *table = wp_import_io_table(in);
	struct wp_import_heading heading;
	char *words = settings(run);
	const char *label;
	struct wp_import_run out = { .tool = "iozone",
		.version = run->version,
		.started = run->started,
		.settings = words,
		.line = in->lines[at].number,
		.line_count = count };

	(void)wp_import_heading(in, at, "iozone", &heading);
	out.machine = run->host ? run->host : run->target;
	out.title = heading.title;
	out.fstype = heading.fstype;
	out.mount_options = heading.mount_options;
	out.command = run->command ? run->command : heading.command;
	label = wp_import_add_run(in, &out);
	for (size_t i = 0; i < run->count; i++) {
		put_row(table, label, run, &run->figures[i]);
		if (run->figures[i].has_detail)
			put_detail(in, label, run, &run->figures[i]);
	}
	if (run->differing)
		wp_import_check(in, "imported", label, WP_CHECK_INFO,
			"the Excel report differs from the table in %zu figures; the table was "
			"taken",
			run->differing);
	check_timing(in, label, run);
	check_memory(in, label, run);
	check_reread(in, label, run);
	check_slow_reads(in, label, run);
	check_copied(in, label, table);
	free(words);
	wp_import_heading_release(&heading);
}
