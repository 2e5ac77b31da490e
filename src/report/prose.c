/* SPDX-License-Identifier: PostgreSQL */
#include "prose.h"
#include "walprobe/mem.h"
#include "walprobe/units.h"
#include "wrap.h"

#define INDENT 2
#define PAIRS_MOST 24

static bool is_same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* ---- comparison: one row reads as a sentence -------------------------------------------------- */

/* The column's label where the compared table is in the document; else the metric's own name. */
static const char *metric_label(const struct wp_result *result, const struct wp_row *row)
{
	const char *metric = wp_row_get_text(row, "metric");
	const struct wp_table *table = wp_result_find_table(result, wp_row_get_text(row, "table"));
	int column = table ? wp_table_column(table, metric) : -1;

	if (column >= 0 && table->columns[column].label && *table->columns[column].label)
		return table->columns[column].label;
	return metric;
}

/* "append fdatasync, 8 clients: commits/s"; the caller frees. */
static char *measurement(const struct wp_result *result, const struct wp_row *row)
{
	const struct wp_cell *clients = wp_row_cell(row, "clients");
	const struct wp_cell *record = wp_row_cell(row, "record_bytes");
	const char *variant = wp_row_get_text(row, "variant");
	char *text = wp_xstrdup(wp_row_get_text(row, "table"));
	char part[WP_CELL_SIZE];

	wp_join(&text, " ", wp_row_get_text(row, "method"));
	/* The plain case goes without saying. */
	if (strcmp(variant, "overwrite") != 0)
		wp_join(&text, " ", variant);
	wp_join(&text, " ", wp_row_get_text(row, "test"));
	if (record->state == WP_CELL_INT)
		wp_join(&text, " ", wp_format_size(record->integer, part, sizeof(part)));
	if (clients->state == WP_CELL_INT) {
		(void)snprintf(part, sizeof(part), "%" PRId64 " client%s", clients->integer,
			clients->integer == 1 ? "" : "s");
		wp_join(&text, ", ", part);
	}
	wp_join(&text, ": ", metric_label(result, row));
	return text;
}

static const char *ratio_text(const struct wp_cell *cell, struct wp_notes *notes, char *out)
{
	static const struct wp_scale plain = { .factor = 1, .unit = "" };

	return wp_cell_format(cell, &plain, notes, out);
}

/* "ext4 is faster": who is meant by a word about a against b; the caller frees. */
static char *verdict_text(const struct wp_row *row, struct wp_notes *notes)
{
	const struct wp_cell *cell = wp_row_cell(row, "verdict");
	char text[WP_CELL_SIZE];

	if (cell->state == WP_CELL_TEXT &&
		(strcmp(cell->text, "faster") == 0 || strcmp(cell->text, "slower") == 0))
		return wp_xasprintf("%s is %s", wp_row_get_text(row, "a"), cell->text);
	return wp_xstrdup(ratio_text(cell, notes, text));
}

static void fill_pair(
	struct wp_grid *grid, const struct wp_row *row, const char *what, struct wp_notes *notes)
{
	static const struct wp_scale plain = { .factor = 1, .unit = "" };
	size_t at = wp_grid_add_row(grid);
	char text[WP_CELL_SIZE];
	char *verdict;

	wp_grid_set(grid, at, 0, what);
	wp_grid_set(grid, at, 1, wp_row_get_text(row, "a"));
	wp_grid_set(grid, at, 2, wp_row_get_text(row, "b"));
	wp_grid_set(grid, at, 3, ratio_text(wp_row_cell(row, "ratio"), notes, text));
	wp_grid_set(grid, at, 4,
		wp_cell_interval(wp_row_cell(row, "ci_low"), wp_row_cell(row, "ci_high"), &plain,
			notes, text));
	verdict = verdict_text(row, notes);
	wp_grid_set(grid, at, 5, verdict);
	free(verdict);
}

/* A pair that was never measured, and why; its row would say nothing. */
static const char *missing_pair(const struct wp_row *row)
{
	const struct wp_cell *ratio = wp_row_cell(row, "ratio");

	return ratio->state == WP_CELL_ABSENT ? ratio->text : NULL;
}

static bool is_same_pair(const struct wp_row *x, const struct wp_row *y)
{
	return is_same(missing_pair(x), missing_pair(y)) &&
	       is_same(wp_row_get_text(x, "a"), wp_row_get_text(y, "a")) &&
	       is_same(wp_row_get_text(x, "b"), wp_row_get_text(y, "b"));
}

/* As wp_missing_tell(), for pairs. */
static void tell_missing_pairs(const struct wp_table *table, size_t first, struct wp_shown *shown)
{
	const char *reason = missing_pair(table->rows[first]);
	char *names = wp_xstrdup("");

	for (size_t i = 0; i < first; i++)
		if (is_same(missing_pair(table->rows[i]), reason))
			goto out;
	for (size_t i = first; i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];
		bool is_told = !is_same(missing_pair(row), reason);
		char *name;

		for (size_t k = first; k < i && !is_told; k++)
			is_told = is_same_pair(row, table->rows[k]);
		if (is_told)
			continue;
		name = wp_xasprintf(
			"%s and %s", wp_row_get_text(row, "a"), wp_row_get_text(row, "b"));
		wp_join(&names, ", ", name);
		free(name);
	}
	wp_join(&names, ": ", reason);
	wp_shown_add_line(shown, "not comparable: ", names);
out:
	free(names);
}

/* Nothing was shown about a pair. */
static bool has_verdict(const struct wp_row *row)
{
	static const char *const none[] = { "no difference shown", "too few rounds", "not quiet" };
	const char *verdict = wp_row_get_text(row, "verdict");

	for (size_t i = 0; i < WP_COUNT(none); i++)
		if (strcmp(verdict, none[i]) == 0)
			return false;
	return true;
}

/* What the others are called, each with how many they are. */
static void tell_unshown(const struct wp_table *table, struct wp_shown *shown)
{
	char *line = wp_xstrdup("");

	for (size_t i = 0; i < table->row_count; i++) {
		const char *verdict = wp_row_get_text(table->rows[i], "verdict");
		size_t count = 0;
		char *part;

		if (missing_pair(table->rows[i]) || has_verdict(table->rows[i]))
			continue;
		for (size_t j = 0; j < table->row_count; j++)
			if (is_same(wp_row_get_text(table->rows[j], "verdict"), verdict))
				count += j < i ? table->row_count + 1 : 1;
		/* Told at the first of its kind. */
		if (count > table->row_count)
			continue;
		part = wp_xasprintf("%s in %zu", verdict, count);
		wp_join(&line, ", ", part);
		free(part);
	}
	if (*line) {
		char *whole = wp_xasprintf("%s of %zu comparisons (-v)", line, table->row_count);

		wp_shown_add_line(shown, "", whole);
		free(whole);
	}
	free(line);
}

static void fill_comparison(const struct wp_result *result, const struct wp_table *table,
	bool has_all, struct wp_shown *shown)
{
	bool is_short = !has_all && table->row_count > PAIRS_MOST;
	char *previous = wp_xstrdup("");

	shown->grid.key_count = 3;
	wp_grid_add_column(&shown->grid, "measurement", WP_ALIGN_LEFT);
	wp_grid_add_column(&shown->grid, "a", WP_ALIGN_LEFT);
	wp_grid_add_column(&shown->grid, "b", WP_ALIGN_LEFT);
	wp_grid_add_column(&shown->grid, "a / b", WP_ALIGN_POINT);
	wp_grid_add_column(&shown->grid, "95% CI", WP_ALIGN_RIGHT);
	wp_grid_add_column(&shown->grid, "verdict", WP_ALIGN_LEFT);
	for (size_t i = 0; i < table->row_count; i++) {
		char *what;

		if (missing_pair(table->rows[i]) || (is_short && !has_verdict(table->rows[i])))
			continue;
		what = measurement(result, table->rows[i]);
		/* The pairs of one measurement read as one group. */
		fill_pair(&shown->grid, table->rows[i], strcmp(what, previous) == 0 ? "" : what,
			&shown->notes);
		free(previous);
		previous = what;
	}
	if (is_short)
		tell_unshown(table, shown);
	for (size_t i = 0; i < table->row_count; i++)
		if (missing_pair(table->rows[i]))
			tell_missing_pairs(table, i, shown);
	free(previous);
}

/* ---- changes: one row reads as a sentence, too ------------------------------------------------- */

/* In the unit that people read the metric in: MB/s where it counts bytes. */
static const char *figure_text(const struct wp_row *row, const char *key, char *out)
{
	bool is_bytes = strcmp(wp_row_get_text(row, "metric"), "bytes_per_s") == 0;
	double value = wp_row_get_number(row, key);

	if (wp_row_cell(row, key)->state == WP_CELL_ABSENT)
		return "-";
	return wp_number_3(is_bytes ? value / 1048576 : value, out);
}

static void fill_change(const struct wp_result *result, const struct wp_row *row,
	struct wp_grid *grid, struct wp_notes *notes)
{
	static const struct wp_scale plain = { .factor = 1, .unit = "" };
	size_t at = wp_grid_add_row(grid);
	char *what = measurement(result, row);
	char text[WP_CELL_SIZE];

	wp_grid_set(grid, at, 0, what);
	wp_grid_set(grid, at, 1, wp_row_get_text(row, "target"));
	wp_grid_set(grid, at, 2, figure_text(row, "before", text));
	wp_grid_set(grid, at, 3, figure_text(row, "after", text));
	wp_grid_set(grid, at, 4, ratio_text(wp_row_cell(row, "ratio"), notes, text));
	wp_grid_set(grid, at, 5,
		wp_cell_interval(wp_row_cell(row, "ci_low"), wp_row_cell(row, "ci_high"), &plain,
			notes, text));
	wp_grid_set(grid, at, 6, wp_row_get_text(row, "verdict"));
	free(what);
}

static void fill_changes(
	const struct wp_result *result, const struct wp_table *table, struct wp_shown *shown)
{
	shown->grid.key_count = 2;
	wp_grid_add_column(&shown->grid, "measurement", WP_ALIGN_LEFT);
	wp_grid_add_column(&shown->grid, "target", WP_ALIGN_LEFT);
	wp_grid_add_column(&shown->grid, "before", WP_ALIGN_POINT);
	wp_grid_add_column(&shown->grid, "now", WP_ALIGN_POINT);
	wp_grid_add_column(&shown->grid, "now / before", WP_ALIGN_POINT);
	wp_grid_add_column(&shown->grid, "95% CI", WP_ALIGN_RIGHT);
	wp_grid_add_column(&shown->grid, "now it is", WP_ALIGN_LEFT);
	for (size_t i = 0; i < table->row_count; i++)
		fill_change(result, table->rows[i], &shown->grid, &shown->notes);
}

bool wp_prose_fill(const struct wp_result *result, const struct wp_table *table, bool has_all,
	struct wp_shown *shown)
{
	if (strcmp(table->name, "changes") == 0)
		fill_changes(result, table, shown);
	else if (strcmp(table->name, "comparison") == 0 ||
		 strcmp(table->name, "comparison_across") == 0)
		fill_comparison(result, table, has_all, shown);
	else
		return false;
	return true;
}

/* ---- recommendation: prose ------------------------------------------------------------------- */

/* "1. wal_sync_method: fdatasync (on ext4)" */
static void print_advice(const struct wp_row *row, size_t limit, FILE *stream)
{
	const struct wp_cell *rank = wp_row_cell(row, "rank");
	const char *target = wp_row_get_text(row, "target");
	const char *value = wp_row_get_text(row, "value");
	const char *item = wp_row_get_text(row, "item");
	/* A value that names the target already, as the place for pg_wal does, is enough. */
	bool is_named = !*target || strstr(value, target);
	char *lead = rank->state == WP_CELL_INT ? wp_xasprintf("%" PRId64 ". ", rank->integer)
						: wp_xstrdup("");
	char *line = wp_xasprintf("%s%s%s%s%s%s", item, *item ? ": " : "", value,
		is_named ? "" : " (on ", is_named ? "" : target, is_named ? "" : ")");

	wp_wrap_print(stream, limit, INDENT, lead, line);
	if (*wp_row_get_text(row, "why"))
		wp_wrap_print(stream, limit, INDENT + 5, "", wp_row_get_text(row, "why"));
	free(line);
	free(lead);
}

void wp_recommendation_print(const struct wp_table *table, size_t limit, FILE *stream)
{
	for (size_t i = 0; i < table->row_count; i++)
		print_advice(table->rows[i], limit, stream);
}
