/* SPDX-License-Identifier: PostgreSQL */
/*
 * measure_targets.h - what every measuring command does first: parse, open and inspect all targets.
 *
 * Floor: cli. A target that fails is told and counted, and the others go on.
 * Threads: main thread only.
 */
#ifndef WALPROBE_SRC_MEASURE_TARGETS_H
#define WALPROBE_SRC_MEASURE_TARGETS_H

#include "walprobe/measure.h"

struct wp_measure_targets {
	struct wp_target_specs specs;
	struct wp_target *items; /* one for each spec, in order; look at is_open */
	size_t count;
	size_t open_count;
};

/*
 * wp_measure_targets_open - all targets of a command line, opened and quickly inspected.
 *
 * Tells what earlier runs left there, and moves into a mount namespace of its own for images. A
 * place that cannot be used is not open, and its absent says why: the
 * reason that the place gave, or the message of its failure, which has been told then.
 * needed_bytes  space that the measurement will use in each target.
 * Returns: 0, also when nothing could be opened (see wp_measure_targets_none()); -WP_E_USAGE for
 * the words; -WP_E_STOPPED. Release in every case.
 */
int wp_measure_targets_open(struct wp_run *run, const char *const *words, size_t count,
	int64_t needed_bytes, struct wp_measure_targets *out, struct wp_err *err);

/*
 * wp_measure_targets_open_on - the same; images are mounted below mounts_on, where another user
 * gets through to them. NULL: beside the image.
 */
int wp_measure_targets_open_on(struct wp_run *run, const char *const *words, size_t count,
	int64_t needed_bytes, const char *mounts_on, struct wp_measure_targets *out,
	struct wp_err *err);

/* wp_measure_targets_fail - one target failed later on: told, counted, and no longer open. */
void wp_measure_targets_fail(struct wp_run *run, struct wp_measure_targets *targets, size_t index,
	const struct wp_err *failure);

/*
 * wp_measure_targets_none - -WP_E_UNSUPPORTED "no target could be measured" when none is open and
 * no failure was told that says so already; else 0.
 */
int wp_measure_targets_none(
	const struct wp_run *run, const struct wp_measure_targets *targets, struct wp_err *err);

/* wp_measure_targets_tell_duration - a note before a run that takes longer than 10 s. */
void wp_measure_targets_tell_duration(struct wp_run *run, const struct wp_measures *measures);

/* wp_measure_targets_release - free; what was made is undone by the registry. */
void wp_measure_targets_release(struct wp_measure_targets *targets);

#endif
