/* SPDX-License-Identifier: PostgreSQL */
/*
 * grid.h - cells of text laid out in columns, never wider than a limit.
 *
 * Floor: report, private. Ours and not libsmartcols, because that measures text in the locale of
 * the process, knows one block per table, and cuts what does not fit; a report has no locale,
 * stacks blocks and loses nothing.
 * Method: when the natural widths do not fit, columns of text are made narrower and their cells
 * wrapped; when that is not enough, the columns are split into stacked blocks in which the key
 * columns are repeated.
 * Threads: no.
 */
#ifndef WALPROBE_REPORT_GRID_H
#define WALPROBE_REPORT_GRID_H

#include "walprobe/base.h"

enum wp_align {
	WP_ALIGN_LEFT,
	WP_ALIGN_RIGHT,
	WP_ALIGN_POINT, /* numbers, their decimal points under each other */
};

struct wp_grid_column {
	char *heading;
	enum wp_align align;
	bool is_break; /* where blocks must be stacked, one starts here */
	size_t width;  /* while printing */
};

struct wp_grid {
	struct wp_grid_column *columns;
	size_t column_count;
	size_t key_count; /* leading columns that are repeated in every block */
	char **cells;     /* row by row; NULL: empty */
	size_t row_count;
	bool is_headless; /* no heading, no rule */
	/* SGR sequence for a cell of the first column, or NULL; NULL: no colours */
	const char *(*colour)(const char *cell);
};

/* wp_grid_add_column - a column at the right end, before the first row is added. */
void wp_grid_add_column(struct wp_grid *grid, const char *heading, enum wp_align align);

/* wp_grid_add_row - an empty row; returns its index. */
size_t wp_grid_add_row(struct wp_grid *grid);

/* wp_grid_set - put a cleaned copy of text into a cell. */
void wp_grid_set(struct wp_grid *grid, size_t row, size_t column, const char *text);

/* wp_grid_print - all rows, indented, in lines of at most limit cells (40 or more). */
void wp_grid_print(struct wp_grid *grid, size_t limit, size_t indent, FILE *stream);

/* wp_grid_release - free what the grid holds; accepts a zeroed struct. */
void wp_grid_release(struct wp_grid *grid);

#endif
