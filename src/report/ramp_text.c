/* SPDX-License-Identifier: PostgreSQL */
#include "ramp_text.h"
#include "cells.h"
#include "grid.h"
#include "walprobe/mem.h"
#include "wrap.h"

#define INDENT 2

static const char *const figures[] = { "tps_excluding", "tps_including", "p50_ns", "p99_ns",
	"commits_per_sync" };

/* indexes of the first row of each target, or of each step */
struct places {
	size_t *rows;
	size_t count;
};

static bool is_same_text(const struct wp_row *a, const struct wp_row *b, const char *key)
{
	return strcmp(wp_row_get_text(a, key), wp_row_get_text(b, key)) == 0;
}

static bool is_same_number(const struct wp_row *a, const struct wp_row *b, const char *key)
{
	return wp_row_cell(a, key)->integer == wp_row_cell(b, key)->integer;
}

static struct places distinct(const struct wp_table *table, const char *key,
	bool (*is_same)(const struct wp_row *a, const struct wp_row *b, const char *key))
{
	struct places places = { wp_xcalloc(table->row_count, sizeof(size_t)), 0 };

	for (size_t i = 0; i < table->row_count; i++) {
		size_t j = 0;

		while (j < places.count &&
			!is_same(table->rows[i], table->rows[places.rows[j]], key))
			j++;
		if (j == places.count)
			places.rows[places.count++] = i;
	}
	return places;
}

static const struct wp_row *find(
	const struct wp_table *table, const struct wp_row *target, const struct wp_row *step)
{
	for (size_t i = 0; i < table->row_count; i++)
		if (is_same_text(table->rows[i], target, "target") &&
			is_same_number(table->rows[i], step, "clients"))
			return table->rows[i];
	return NULL;
}

static void fill_step(struct wp_grid *grid, const struct wp_table *table,
	const struct places *targets, const struct wp_row *step, size_t column,
	const struct wp_scale *scale, struct wp_notes *notes)
{
	size_t at = wp_grid_add_row(grid);
	char text[WP_CELL_SIZE];

	(void)snprintf(text, sizeof(text), "%" PRId64, wp_row_cell(step, "clients")->integer);
	wp_grid_set(grid, at, 0, text);
	for (size_t i = 0; i < targets->count; i++) {
		const struct wp_row *row = find(table, table->rows[targets->rows[i]], step);

		if (row)
			wp_grid_set(grid, at, i + 1,
				wp_cell_format(&row->cells[column], scale, notes, text));
	}
}

/* Whose figures do not speak of the log, and why. */
static void print_unranked(
	const struct wp_table *table, const struct places *targets, size_t limit, FILE *stream)
{
	for (size_t i = 0; i < targets->count; i++) {
		const struct wp_row *row = table->rows[targets->rows[i]];
		const char *ranked = wp_row_get_text(row, "ranked");
		char *line;

		if (!*ranked || strcmp(ranked, "yes") == 0)
			continue;
		line = wp_xasprintf("%s: %s", wp_row_get_text(row, "target"), ranked);
		wp_wrap_print(stream, limit, INDENT, "left out of the ranking: ", line);
		free(line);
	}
}

static void print_figure(const struct wp_table *table, const char *key,
	const struct places *targets, const struct places *steps, struct wp_notes *notes,
	size_t limit, FILE *stream)
{
	int column = wp_table_column(table, key);
	struct wp_grid grid = { .key_count = 1 };
	size_t index = (size_t)column;
	struct wp_scale scale;
	char *title;

	if (column < 0)
		return;
	scale = wp_scale_pick(table, &index, 1);
	title = wp_xasprintf("%s%s%s", table->columns[index].label,
		*scale.unit && strcmp(scale.unit, "1/s") != 0 ? ", " : "",
		strcmp(scale.unit, "1/s") != 0 ? scale.unit : "");
	wp_wrap_print(stream, limit, INDENT, "", title);
	free(title);
	wp_grid_add_column(&grid, "clients", WP_ALIGN_POINT);
	for (size_t i = 0; i < targets->count; i++)
		wp_grid_add_column(&grid, wp_row_get_text(table->rows[targets->rows[i]], "target"),
			WP_ALIGN_POINT);
	for (size_t i = 0; i < steps->count; i++)
		fill_step(&grid, table, targets, table->rows[steps->rows[i]], index, &scale, notes);
	wp_grid_print(&grid, limit, INDENT, stream);
	fputc('\n', stream);
	wp_grid_release(&grid);
}

/* What no tool told is no block of published figures. */
static bool is_told(const struct wp_table *table, const char *key)
{
	for (size_t i = 0; i < table->row_count; i++)
		if (wp_row_cell(table->rows[i], key)->state != WP_CELL_ABSENT)
			return true;
	return false;
}

/* A figure after the other; why some are missing is said once, under the last. */
static void print_figures(const struct wp_table *table, const struct places *targets,
	const struct places *steps, bool is_published, size_t limit, FILE *stream)
{
	struct wp_notes notes = { 0 };

	print_unranked(table, targets, limit, stream);
	for (size_t i = 0; i < WP_COUNT(figures); i++)
		if (!is_published || is_told(table, figures[i]))
			print_figure(table, figures[i], targets, steps, &notes, limit, stream);
	wp_notes_print(&notes, limit, INDENT, stream);
	if (notes.count)
		fputc('\n', stream);
	wp_notes_release(&notes);
}

static void print_2001(const struct wp_table *table, FILE *stream)
{
	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];

		fprintf(stream, "  %s, %" PRId64 " client%s\n", wp_row_get_text(row, "target"),
			wp_row_cell(row, "clients")->integer,
			wp_row_cell(row, "clients")->integer == 1 ? "" : "s");
		wp_ramp_put_2001(row, stream);
	}
	fputc('\n', stream);
}

void wp_ramp_print_across(
	const struct wp_result *result, const struct wp_table *table, size_t limit, FILE *stream)
{
	const char *replay = wp_result_parameter(result, "like-2001");
	struct places targets = distinct(table, "target", is_same_text);
	struct places steps = distinct(table, "clients", is_same_number);
	bool is_published = result->command && strcmp(result->command, "import") == 0;

	if (replay && strcmp(replay, "on") == 0)
		print_2001(table, stream);
	if (targets.count > 1)
		print_figures(table, &targets, &steps, is_published, limit, stream);
	free(targets.rows);
	free(steps.rows);
}
