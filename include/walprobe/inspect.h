/* SPDX-License-Identifier: PostgreSQL */
/*
 * inspect.h - what lies under a target, what was measured there, and what that means.
 *
 * Floor: probe. Fills the target's entry, the tables "inspect" (a row for each layer), "flush"
 * (a row for each series of the measurement), "controllers" and "drives" (what they said of their
 * caches), and the checks of wp_judges.
 * Threads: main thread only.
 */
#ifndef WALPROBE_INSPECT_H
#define WALPROBE_INSPECT_H

#include "walprobe/cache_facts.h"
#include "walprobe/run.h"
#include "walprobe/target.h"

struct wp_inspect_options {
	int64_t control_ns; /* each of the two pauses that show what others do */
	int64_t operations; /* of each series of the flush measurement */
	bool is_no_write;   /* look only: what needs a file is unknown with that reason */
	const struct wp_cache_facts *saved; /* what tools said elsewhere; NULL: ask them here */
};

/*
 * wp_inspect_target_with - all checks of one open target.
 *
 * Where target->dir is the user's own directory (opened for inspection), a private directory is
 * made for the measurement, as wp_target_open() places it, and stays in the registry; where it is
 * private already, one is made in it and removed again.
 * A target that is not open gets its entry and a row that says why.
 * Returns: 0; what could not be measured is told through wp_run_problem() and leaves unknown
 * checks. -WP_E_STOPPED after a signal: the checks are there, the measurement is not.
 */
int wp_inspect_target_with(struct wp_run *run, struct wp_target *target,
	const struct wp_inspect_options *options, struct wp_err *err);

/* wp_inspect_saved - the checks "controller" and "write-cache" of saved output alone, without a
 * target; label names the output. */
void wp_inspect_saved(struct wp_run *run, const char *label, const struct wp_cache_facts *saved);

/* wp_inspect_absent - the entry of a target that could not be opened, and a row that says why. */
void wp_inspect_absent(struct wp_run *run, const char *label, const char *reason);

/*
 * wp_inspect_target - the same with pauses of 1 s and 100 operations; quick: 0.3 s and 40.
 */
int wp_inspect_target(
	struct wp_run *run, struct wp_target *target, bool is_quick, struct wp_err *err);

#endif
