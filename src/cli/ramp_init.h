/* SPDX-License-Identifier: PostgreSQL */
/*
 * ramp_init.h - "walprobe ramp -i".
 *
 * Floor: cli.
 */
#ifndef WALPROBE_CLI_RAMP_INIT_H
#define WALPROBE_CLI_RAMP_INIT_H

#include "cli/ramp_options.h"
#include "walprobe/pgbench_init.h"

/* wp_ramp_init - make the tables, tell how long it took, and fill table "initialization". */
int wp_ramp_init(struct wp_run *run, const struct ramp_params *params, struct wp_err *err);

/*
 * wp_ramp_init_options - what the options of making tables mean.
 *
 * steps, scale  borrowed by the result; wp_ramp_init_steps() gives steps
 */
struct wp_init_options wp_ramp_init_options(
	struct wp_run *run, const struct ramp_params *params, const char *steps, int64_t scale);

/* wp_ramp_init_steps - the letters of the steps; the caller frees. */
char *wp_ramp_init_steps(const struct ramp_params *params);

#endif
