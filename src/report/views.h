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

#include "walprobe/result.h"

/*
 * wp_view_print - the rows of table (one or more) with heading and notes, without its title.
 *
 * has_all  false: of long tables whose answer is said otherwise (steps of a ramp on several targets,
 *          pairs without a difference) only that
 */
void wp_view_print(const struct wp_result *result, const struct wp_table *table, bool has_all,
	size_t limit, FILE *stream);

#endif
