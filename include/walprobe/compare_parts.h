/* SPDX-License-Identifier: PostgreSQL */
/*
 * compare_parts.h - figures of different documents against each other.
 *
 * Floor: probe. Rounds of one measurement are paired by their number. They were not taken at the
 * same time, so that an interval covers the runs' own spread, and whatever changed on the machines
 * in between is part of the ratio. There is no twin either: the margin alone guards. Single
 * published figures give a ratio and no interval. Figures taken under conditions that differ are not
 * compared, and the row says in what they do.
 * Threads: no.
 */
#ifndef WALPROBE_COMPARE_PARTS_H
#define WALPROBE_COMPARE_PARTS_H

#include "walprobe/combine.h"

/*
 * wp_compare_parts - every pair of targets of different parts, and those of one part that has not
 * compared them itself, in every measurement that both have: into table "comparison" of result.
 */
void wp_compare_parts(
	const struct wp_part *parts, size_t count, double margin, struct wp_result *result);

/* what wp_compare_baseline() found */
struct wp_changes {
	size_t compared;
	size_t slower;
	size_t failing; /* checks that fail now and did not before */
};

/*
 * wp_compare_baseline - every measurement of after against the same one of before, on the target with
 * the same label (the only target, where both have one): into table "changes" of result.
 *
 * Another kernel is no obstacle here: what it changed is what is asked.
 * Returns: counts.
 */
struct wp_changes wp_compare_baseline(const struct wp_part *before, const struct wp_part *after,
	double margin, struct wp_result *result);

#endif
