/* SPDX-License-Identifier: PostgreSQL */
/*
 * comparison.h - pairs of targets, pairs of methods, the summary and the recommendation.
 *
 * Floor: probe. Works on measures of any table (sync, append, io): all of one measurement are one
 * family. Everything that is said ends up in tables of the result, with the figures it rests on.
 * Threads: main thread only.
 */
#ifndef WALPROBE_COMPARISON_H
#define WALPROBE_COMPARISON_H

#include "walprobe/compare_stats.h"
#include "walprobe/measure.h"

/* practical margin as a ratio above 1 */
#define WP_COMPARISON_MARGIN 1.05

/*
 * wp_comparison_fill - every pair of targets in every measurement into table "comparison", every
 * pair of methods on one target into table "methods", one row per target into table "summary".
 *
 * The hidden twin of a measurement, where one was planned, withholds the verdicts whose effect
 * lies within what it shows; where none was planned, margin alone guards.
 */
void wp_comparison_fill(struct wp_run *run, const struct wp_measures *measures, double margin);

/*
 * wp_recommend_fill - table "recommendation": which target, which wal_sync_method, which settings,
 * and why; from the tables and checks that are in the result already.
 *
 * A target whose flush does not reach the device, or that lies in memory, is never recommended.
 */
void wp_recommend_fill(struct wp_run *run);

#endif
