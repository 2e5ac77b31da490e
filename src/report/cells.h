/* SPDX-License-Identifier: PostgreSQL */
/*
 * cells.h - cells of a result as people read them: scaled units, three significant digits,
 * numbered notes for what is absent.
 *
 * Floor: report, private.
 * Threads: no.
 */
#ifndef WALPROBE_REPORT_CELLS_H
#define WALPROBE_REPORT_CELLS_H

#include "walprobe/result.h"

#define WP_CELL_SIZE 64

/* how the numbers of one column are shown */
struct wp_scale {
	double factor;    /* what one shown unit counts in the column's unit */
	const char *unit; /* for the heading; "" when the cells carry it or there is none */
	bool is_duration;
	bool is_size;
	bool is_each; /* every cell with a unit of its own */
};

/* distinct reasons of absent cells, in the order met */
struct wp_notes {
	const char **reasons; /* borrowed from the result */
	size_t count;
};

/*
 * wp_scale_pick - one scale for these columns together, so that they can be compared at a glance.
 *
 * columns  indexes of columns with the same unit; count 1 or more.
 * Returns: a scale; is_each when the values lie too far apart for one unit.
 */
struct wp_scale wp_scale_pick(const struct wp_table *table, const size_t *columns, size_t count);

/*
 * wp_cell_format - cell into out (room for WP_CELL_SIZE; texts are returned, not copied).
 *
 * notes  gets the reason of an absent cell, which then shows as "-[1]"; without one as "-".
 * Returns: out or the cell's own text.
 */
const char *wp_cell_format(const struct wp_cell *cell, const struct wp_scale *scale,
	struct wp_notes *notes, char *out);

/* wp_cell_interval - "low-high" of two cells with one scale; "-[1]" when either is absent. */
const char *wp_cell_interval(const struct wp_cell *low, const struct wp_cell *high,
	const struct wp_scale *scale, struct wp_notes *notes, char *out);

/* wp_number_3 - three significant digits of any finite number into out, room for WP_CELL_SIZE. */
const char *wp_number_3(double value, char *out);

/* wp_notes_print - "[1] reason" lines of at most limit cells. */
void wp_notes_print(const struct wp_notes *notes, size_t limit, size_t indent, FILE *stream);

/* wp_notes_release - free the list; accepts a zeroed struct. */
void wp_notes_release(struct wp_notes *notes);

#endif
