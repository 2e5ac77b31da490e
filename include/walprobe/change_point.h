/* SPDX-License-Identifier: PostgreSQL */
/*
 * change_point.h - where the rate of a long run falls: a cache or a burst credit used up.
 *
 * Floor: stats (may include base). No clock, no randomness.
 * Source: Pettitt, A non-parametric approach to the change-point problem, 1979: ranks only, so
 * that single outliers (a checkpoint, a segment switch) do not count as a change.
 * Threads: yes, no state.
 */
#ifndef WALPROBE_CHANGE_POINT_H
#define WALPROBE_CHANGE_POINT_H

#include "walprobe/base.h"

#define WP_CHANGE_POINT_MINIMUM 10 /* fewer values give no answer */

struct wp_change_point {
	bool is_found;
	size_t index;   /* first value after the change */
	double before;  /* median of the values before */
	double after;   /* median from index on */
	double p_value; /* two-sided, Pettitt's approximation */
};

/*
 * wp_change_point_find - the one point at which values fall for good.
 *
 * values  count of them, all finite, at equal intervals.
 * fall    smallest fall that counts, as a ratio of medians below 1, e.g. 0.8.
 * A point is found when there are at least WP_CHANGE_POINT_MINIMUM values, the test says so at
 * p < 0.001, and the median after is at most fall times the median before.
 */
struct wp_change_point wp_change_point_find(const double *values, size_t count, double fall);

#endif
