/* SPDX-License-Identifier: PostgreSQL */
/*
 * plan.h - which columns of a table are shown, and the rows that have nothing to show.
 *
 * Floor: report, private.
 * Threads: no.
 */
#ifndef WALPROBE_REPORT_PLAN_H
#define WALPROBE_REPORT_PLAN_H

#include "views.h"

struct wp_plan_item {
	size_t column;
	int high; /* column of the upper end of an interval; -1: none */
	const char *heading;
	unsigned flags; /* of the view */
	struct wp_scale scale;
};

/* columns of the table in order, each with its scale */
struct wp_plan {
	struct wp_plan_item *items;
	size_t count;
	size_t key_count;
	bool is_published; /* by other tools, which tell little */
};

/* wp_column_has_unit - whether the column's unit is this one. */
bool wp_column_has_unit(const struct wp_table *table, size_t column, const char *unit);

/*
 * wp_missing_reason - the one reason for which all figures of the row are absent (in a table without
 * figures, all but its first column); NULL when there is no such.
 */
const char *wp_missing_reason(const struct wp_plan *plan, const struct wp_row *row);

/* wp_missing_tell - a line with the names behind the reason of row first, unless an earlier row gave
 * the same reason. */
void wp_missing_tell(const struct wp_plan *plan, const struct wp_table *table, size_t first,
	struct wp_shown *shown);

/* wp_plan_drop_empty - leave out columns in which nothing is and nothing was to be, and of published
 * figures those that no tool told: the document has the reasons. */
void wp_plan_drop_empty(struct wp_plan *plan, const struct wp_table *table);

#endif
