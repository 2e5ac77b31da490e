/* SPDX-License-Identifier: PostgreSQL */
/*
 * ramp_init.h - "walprobe ramp -i".
 *
 * Floor: cli.
 */
#ifndef WALPROBE_CLI_RAMP_INIT_H
#define WALPROBE_CLI_RAMP_INIT_H

#include "cli/ramp_options.h"

/* wp_ramp_init - make the tables, tell how long it took, and fill table "initialization". */
int wp_ramp_init(struct wp_run *run, const struct ramp_params *params, struct wp_err *err);

#endif
