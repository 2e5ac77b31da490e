/* SPDX-License-Identifier: PostgreSQL */
/*
 * ramp_targets.h - "walprobe ramp TARGET...": a throwaway server for each target, and the ramp on
 * all of them, interleaved.
 *
 * Floor: cli.
 */
#ifndef WALPROBE_CLI_RAMP_TARGETS_H
#define WALPROBE_CLI_RAMP_TARGETS_H

#include "cli/ramp_options.h"

/*
 * wp_ramp_check_place - -WP_E_USAGE where options of running servers, of -i and of throwaway
 * servers are mixed, or given without what they need; else 0.
 */
int wp_ramp_check_place(const struct ramp_params *params, size_t target_count, struct wp_err *err);

/*
 * wp_ramp_targets - make the servers and their tables, run the ramp, fill the result.
 *
 * A target that fails is told and counted, and the others go on. The scale of options is set.
 * Returns: 0, or -code: what is wrong for all of them, -WP_E_STOPPED.
 */
int wp_ramp_targets(struct wp_run *run, const struct ramp_params *params, const char *const *words,
	size_t count, struct wp_ramp_options *options, struct wp_err *err);

/* wp_ramp_measure - tell how long it takes, run the rounds, fill the result; servers counts them. */
int wp_ramp_measure(struct wp_run *run, const struct wp_ramp_options *options, size_t servers,
	struct wp_measures *measures, struct wp_err *err);

#endif
