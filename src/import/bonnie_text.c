/* SPDX-License-Identifier: PostgreSQL */
/*
 * The tables that bonnie++ and classic bonnie print. A CSV row of the same run that follows is more
 * exact and wins.
 */
#include "import/bonnie_cells.h"

#define ROW_LINES 3

/* ---- latency ----------------------------------------------------------------------------------- */

/* six times as text, and how many tests there are */
struct latency_text {
	char cells[WP_BONNIE_CELLS / 2][16];
};

static bool parse_latency(const char *text, const void *ctx, void *out)
{
	const size_t *wanted = ctx;
	struct latency_text *latency = out;
	struct wp_bonnie_token tokens[WP_BONNIE_TOKENS];
	size_t count = wp_bonnie_split(text, tokens);

	if (count != *wanted + 1 || tokens[0].length != 7 || strncmp(text, "Latency", 7) != 0)
		return false;
	for (size_t i = 1; i < count; i++) {
		char *cell = latency->cells[i - 1];

		wp_bonnie_copy(cell, sizeof(latency->cells[0]), tokens[i].text, tokens[i].length);
		if (wp_bonnie_latency_ns(cell) < 0)
			return false;
	}
	return true;
}

static size_t read_latency(
	const struct wp_import *in, size_t at, size_t first_test, struct wp_bonnie_run *run)
{
	struct latency_text latency;
	size_t wanted = 0;
	size_t cell = 0;
	size_t count;

	if (wp_import_is_blank(in, at) || strncmp(in->lines[at].text, "Latency", 7) != 0)
		return 0;
	for (size_t i = 0; i < WP_BONNIE_CELLS / 2; i++)
		wanted += run->figures[first_test + i].rate.state != WP_BONNIE_NOT_RUN;
	count = wp_import_unwrap(
		in, at, ROW_LINES, parse_latency, &wanted, &latency, sizeof(latency), NULL);
	for (size_t i = 0; count && i < WP_BONNIE_CELLS / 2; i++)
		if (run->figures[first_test + i].rate.state != WP_BONNIE_NOT_RUN)
			run->figures[first_test + i].longest_ns =
				wp_bonnie_latency_ns(latency.cells[cell++]);
	return count ? count : 1;
}

/* ---- figures ----------------------------------------------------------------------------------- */

static struct wp_bonnie_value value_of(const char *cell)
{
	static const char units[] = "kmg";
	size_t length = strlen(cell);
	const char *unit = length ? strchr(units, cell[length - 1]) : NULL;
	struct wp_bonnie_value value;
	char number[16];
	double factor = 1;

	if (!unit || !*unit)
		return wp_bonnie_value(cell);
	for (; unit > units; unit--)
		factor *= 1024;
	wp_bonnie_copy(number, sizeof(number), cell, length - 1);
	value = wp_bonnie_value(number);
	value.value *= factor;
	return value;
}

static void put_cells(
	const struct wp_bonnie_row_text *row, size_t first_test, struct wp_bonnie_run *run)
{
	for (size_t i = 0; i < WP_BONNIE_CELLS / 2; i++) {
		run->figures[first_test + i].rate = value_of(row->cells[2 * i]);
		run->figures[first_test + i].cpu = wp_bonnie_value(row->cells[2 * i + 1]);
	}
}

static void lose(struct wp_bonnie_run *run, size_t first_test, const char *reason)
{
	for (size_t i = 0; i < WP_BONNIE_CELLS / 2; i++) {
		struct wp_bonnie_figure *figure = &run->figures[first_test + i];

		figure->rate = (struct wp_bonnie_value){ WP_BONNIE_LOST, 0, reason };
		figure->cpu = figure->rate;
	}
}

/* 1.98 and later print a floating-point number of files as a whole one. */
static bool is_tree_wrong(const char *version)
{
	return strcmp(version, "1.98") >= 0;
}

static void set_kind(struct wp_bonnie_run *run, const struct wp_bonnie_head *head)
{
	(void)snprintf(run->version, sizeof(run->version), "%s", head->version);
	run->is_classic = head->is_classic;
	run->is_charwise = head->is_classic || !(head->has_units || head->is_concurrent ||
						       strcmp(head->version, "1.9") >= 0);
}

static const char columns_lost[] = "tests were left out, and the blanks or line ends that tell "
				   "which are lost";
static const char row_lost[] = "the row is cut off, or its line breaks can be undone in two ways";
static const char tree_wrong[] = "bonnie++ 1.98 and later print wrong figures of small files in "
				 "their table; only the CSV has them";

/* ---- a run ------------------------------------------------------------------------------------- */

/* The rows of the small files below a run; at is the line after it. Returns lines. */
static size_t read_tree(const struct wp_import *in, size_t at, struct wp_bonnie_run *run)
{
	struct wp_bonnie_row_text row;
	struct wp_bonnie_head head;
	size_t count;

	if (!wp_bonnie_read_head(in, at, true, &head))
		return 0;
	if (!run->version[0] && head.version[0] && !run->is_classic)
		set_kind(run, &head);
	count = wp_import_unwrap(in, at + head.lines, ROW_LINES, wp_bonnie_parse_row, &head, &row,
		sizeof(row), NULL);
	if (!count) {
		count = wp_import_unwrap(in, at + head.lines, 1, wp_bonnie_parse_lost_row, &head,
			&row, sizeof(row), NULL);
		lose(run, WP_BONNIE_IO, row_lost);
	} else {
		put_cells(&row, WP_BONNIE_IO, run);
	}
	run->has_files = count > 0;
	(void)snprintf(run->files, sizeof(run->files), "%s", row.size);
	count += head.lines;
	count += read_latency(in, at + count, WP_BONNIE_IO, run);
	if (run->has_files && is_tree_wrong(run->version))
		lose(run, WP_BONNIE_IO, tree_wrong);
	return count;
}

static size_t read_io(const struct wp_import *in, size_t at, const struct wp_bonnie_head *head,
	struct wp_bonnie_run *run)
{
	struct wp_bonnie_row_text row;
	char size[48];
	size_t count = wp_import_unwrap(
		in, at, ROW_LINES, wp_bonnie_parse_row, head, &row, sizeof(row), NULL);

	wp_bonnie_begin(run);
	set_kind(run, head);
	if (count) {
		put_cells(&row, 0, run);
	} else {
		count = wp_import_unwrap(
			in, at, 1, wp_bonnie_parse_lost_row, head, &row, sizeof(row), NULL);
		lose(run, 0, head->has_edges ? row_lost : columns_lost);
	}
	if (!count)
		return 0;
	(void)snprintf(run->name, sizeof(run->name), "%s", row.label);
	(void)snprintf(size, sizeof(size), "%s%s", row.size, head->is_classic ? "M" : "");
	(void)wp_bonnie_size(run, size);
	/* Up to 1.03 the size of a chunk is written unless it is this. */
	if (run->record_bytes < 0 && run->is_charwise && !run->is_classic)
		run->record_bytes = 8192;
	return count;
}

/* ---- table and CSV ----------------------------------------------------------------------------- */

/* The table may cut the name short. */
static bool is_same_run(const struct wp_bonnie_run *table, const struct wp_bonnie_run *csv)
{
	return strncmp(table->name, csv->name, strlen(table->name)) == 0 &&
	       table->file_bytes == csv->file_bytes;
}

static void merge(struct wp_bonnie_run *table, const struct wp_bonnie_run *csv, bool is_rounded)
{
	struct wp_bonnie_run both = *csv;

	both.differing = is_rounded ? NULL : wp_bonnie_differ(table, csv);
	for (size_t i = 0; i < WP_BONNIE_TESTS; i++) {
		struct wp_bonnie_figure *figure = &both.figures[i];

		if (figure->rate.state == WP_BONNIE_LOST)
			figure->rate = table->figures[i].rate;
		if (figure->cpu.state == WP_BONNIE_LOST)
			figure->cpu = table->figures[i].cpu;
		if (figure->longest_ns < 0)
			figure->longest_ns = table->figures[i].longest_ns;
	}
	if (table->version[0])
		(void)snprintf(both.version, sizeof(both.version), "%s", table->version);
	if (both.record_bytes < 0)
		both.record_bytes = table->record_bytes;
	both.has_files = csv->has_files || table->has_files;
	*table = both;
}

/* The CSV that bonnie++ prints below its table. Returns lines, the blank ones before it included. */
static size_t read_csv_below(
	const struct wp_import *in, size_t at, bool is_rounded, struct wp_bonnie_run *run)
{
	struct wp_bonnie_run csv;
	size_t blanks = 0;
	size_t count;

	while (blanks < 3 && at + blanks < in->line_count && wp_import_is_blank(in, at + blanks))
		blanks++;
	count = at + blanks < in->line_count ? wp_bonnie_read_csv(in, at + blanks, &csv) : 0;
	if (!count || !is_same_run(run, &csv))
		return 0;
	merge(run, &csv, is_rounded);
	return blanks + count;
}

static bool is_prompt_alone(const char *text)
{
	size_t length = strlen(text);

	return length && strchr("$#", text[length - 1]);
}

static size_t take(struct wp_import *in, size_t at)
{
	struct wp_bonnie_head head;
	size_t start = at;
	size_t next;

	if (!wp_bonnie_read_head(in, at, false, &head))
		return 0;
	next = at + head.lines;
	while (next < in->line_count && !wp_import_is_blank(in, next)) {
		struct wp_bonnie_run run;
		size_t count = read_io(in, next, &head, &run);

		if (!count)
			break;
		next += count;
		next += read_latency(in, next, 0, &run);
		next += read_tree(in, next, &run);
		next += read_csv_below(in, next, head.has_units, &run);
		wp_bonnie_add(in, start, next - start, &run);
		wp_import_mark(in, start, next - start);
		start = next;
		/* Behind a row that cannot be read may stand its rest, which is no row. */
		if (run.figures[1].rate.state == WP_BONNIE_LOST)
			break;
	}
	if (start == at)
		return 0;
	if (next < in->line_count && is_prompt_alone(in->lines[next].text))
		wp_import_mark(in, next, 1);
	return next - at;
}

const struct wp_importer wp_import_bonnie = {
	.name = "bonnie",
	.title = "tables of bonnie++ 1.0x, 1.9x, 2.00, and of classic bonnie",
	.take = take,
};
