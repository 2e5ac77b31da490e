/* SPDX-License-Identifier: PostgreSQL */
/*
 * prose.h - the tables that read as sentences: comparison, changes and recommendation.
 *
 * Floor: report, private.
 * Threads: no.
 */
#ifndef WALPROBE_REPORT_PROSE_H
#define WALPROBE_REPORT_PROSE_H

#include "views.h"

/*
 * wp_prose_fill - a comparison or changes: one line per pair, with measurement, ratio, interval and
 * verdict; pairs that were never measured, or cannot be compared, are named once with the reason.
 *
 * has_all  false: where there are many pairs, those without a verdict are only counted
 * Returns: false for other tables, with nothing done.
 */
bool wp_prose_fill(const struct wp_result *result, const struct wp_table *table, bool has_all,
	struct wp_shown *shown);

/* wp_recommendation_print - "1. item: value", and why under it. */
void wp_recommendation_print(const struct wp_table *table, size_t limit, FILE *stream);

#endif
