/* SPDX-License-Identifier: PostgreSQL */
/*
 * measure_family.h - which measures are the same measurement, and the summary of all.
 *
 * Floor: probe.
 */
#ifndef WALPROBE_PROBE_MEASURE_FAMILY_H
#define WALPROBE_PROBE_MEASURE_FAMILY_H

#include "walprobe/measure.h"

/* measures that are compared with each other; twins are never in one */
struct wp_family {
	const struct wp_measure **items; /* owned array of borrowed measures */
	size_t count;
};

/* wp_measure_is_same - the same measurement, whatever the target. */
bool wp_measure_is_same(const struct wp_measure *a, const struct wp_measure *b);

/*
 * wp_family_of_targets - one measurement on all targets.
 *
 * Returns: true with family filled when the measure with this index is the first of a measurement
 * that at least two targets have; then the caller releases the family.
 */
bool wp_family_of_targets(
	const struct wp_measures *measures, size_t index, struct wp_family *family);

/* wp_family_of_methods - all methods of one kind of measurement on one target; as above. */
bool wp_family_of_methods(
	const struct wp_measures *measures, size_t index, struct wp_family *family);

/* wp_family_release - free the array. */
void wp_family_release(struct wp_family *family);

/* wp_summary_fill - table "summary": a row per target, a column per measurement. */
void wp_summary_fill(struct wp_run *run, const struct wp_measures *measures);

#endif
