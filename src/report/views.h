/* SPDX-License-Identifier: PostgreSQL */
/*
 * views.h - which columns of a table people are shown, and how.
 *
 * Floor: report, private. A table that has no view shows all its columns. A view may leave out
 * figures (JSON and CSV have them all), but never a text that tells two rows apart.
 * Threads: no.
 */
#ifndef WALPROBE_REPORT_VIEWS_H
#define WALPROBE_REPORT_VIEWS_H

#include "cells.h"
#include "grid.h"

/* a line below a table */
struct wp_shown_line {
	const char *lead; /* "not measured: "; static */
	char *text;
};

/* a table as people see it, whatever it is printed on */
struct wp_shown {
	char *folded; /* told once above it; "" for nothing */
	struct wp_grid grid;
	struct wp_notes notes;
	struct wp_shown_line *lines;
	size_t line_count;
};

/* wp_view_fill - table (one row or more, but not "recommendation", which is prose) into shown;
 * has_all as for wp_view_print(). */
void wp_view_fill(const struct wp_result *result, const struct wp_table *table, bool has_all,
	struct wp_shown *shown);

/* wp_shown_add_line - append a line with a copy of text. */
void wp_shown_add_line(struct wp_shown *shown, const char *lead, const char *text);

/* wp_shown_release - free what shown holds; accepts a zeroed struct. */
void wp_shown_release(struct wp_shown *shown);

/*
 * wp_view_print - the rows of table (one or more) with heading and notes, without its title.
 *
 * has_all  false: of long tables whose answer is said otherwise (steps of a ramp on several targets,
 *          pairs without a difference) only that
 */
void wp_view_print(const struct wp_result *result, const struct wp_table *table, bool has_all,
	size_t limit, FILE *stream);

#endif
