/* SPDX-License-Identifier: PostgreSQL */
/*
 * part_figures.h - the figures of documents that can be compared, with their rounds and conditions.
 *
 * Floor: probe.
 */
#ifndef WALPROBE_PROBE_PART_FIGURES_H
#define WALPROBE_PROBE_PART_FIGURES_H

#include "probe/comparison_table.h"
#include "walprobe/combine.h"

/* one row that was measured */
struct wp_figure {
	const struct wp_part *part;
	const struct wp_row *row;
	const char *target;
	struct wp_measurement measurement; /* its metric is that of the rounds */
	double *rounds;                    /* by round, NaN: none or dropped; NULL: no rounds */
	size_t round_count;
	bool is_done; /* for who walks through families */
};

struct wp_figures {
	struct wp_figure *items;
	size_t count;
};

/* wp_figures_add - every figure of one part; release in the end. */
void wp_figures_add(struct wp_figures *figures, const struct wp_part *part);

/* wp_figures_release - free the arrays. */
void wp_figures_release(struct wp_figures *figures);

/* wp_figure_is_same - the same measurement, whatever the target and the conditions. */
bool wp_figure_is_same(const struct wp_figure *a, const struct wp_figure *b);

/*
 * wp_figure_difference - in what the conditions of two figures differ so that they cannot be
 * compared, as "other kernel: 6.1.0 against 6.8.0"; NULL: in nothing that is known. The caller frees.
 */
char *wp_figure_difference(
	const struct wp_figure *a, const struct wp_figure *b, bool may_kernel_differ);

/* wp_figure_values - the one figure of each in a metric that both have; returns the metric, or NULL
 * when there is none. */
const char *wp_figure_values(
	const struct wp_figure *a, const struct wp_figure *b, double *a_value, double *b_value);

#endif
