/* SPDX-License-Identifier: PostgreSQL */
/*
 * prose.h - the tables that read as sentences: comparison and recommendation.
 *
 * Floor: report, private.
 * Threads: no.
 */
#ifndef WALPROBE_REPORT_PROSE_H
#define WALPROBE_REPORT_PROSE_H

#include "walprobe/result.h"

/*
 * wp_comparison_print - one line per pair, with measurement, ratio, interval and verdict; pairs
 * that were never measured are named once, with the reason.
 *
 * has_all  false: where there are many pairs, those without a verdict are only counted
 */
void wp_comparison_print(const struct wp_result *result, const struct wp_table *table, bool has_all,
	size_t limit, FILE *stream);

/* wp_recommendation_print - "1. item: value", and why under it. */
void wp_recommendation_print(const struct wp_table *table, size_t limit, FILE *stream);

#endif
