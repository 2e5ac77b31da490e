/* SPDX-License-Identifier: PostgreSQL */
/*
 * recommendation.h - the lines of table "recommendation".
 *
 * Floor: probe.
 */
#ifndef WALPROBE_PROBE_RECOMMENDATION_H
#define WALPROBE_PROBE_RECOMMENDATION_H

#include "walprobe/run.h"

/*
 * wp_recommendation_add - one more line, less important than those before; target NULL when the
 * line speaks of none.
 */
void wp_recommendation_add(struct wp_run *run, const char *target, const char *item,
	const char *value, const char *why);

#endif
