/* SPDX-License-Identifier: PostgreSQL */
/*
 * ramp_text.h - a client ramp as people read it.
 *
 * Floor: report, private.
 * Threads: no.
 */
#ifndef WALPROBE_REPORT_RAMP_TEXT_H
#define WALPROBE_REPORT_RAMP_TEXT_H

#include "walprobe/result.h"

/* wp_ramp_put_2001 - the two tps lines of pgbench 7.1; nothing where there is no rate. */
void wp_ramp_put_2001(const struct wp_row *row, FILE *stream);

/*
 * wp_ramp_print_across - where there are several targets: clients down, targets across, a block for
 * each figure; in a replay of 2001 pgbench 7.1's lines before.
 */
void wp_ramp_print_across(
	const struct wp_result *result, const struct wp_table *table, size_t limit, FILE *stream);

#endif
