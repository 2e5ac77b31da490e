/* SPDX-License-Identifier: PostgreSQL */
/*
 * hist.h - latency histogram with a fixed relative error.
 *
 * Floor: stats (may include base). No clock, no I/O.
 * Method: log-linear buckets after HdrHistogram, 128 to an octave: a quantile reads at most 1/128
 * high; minimum, maximum, sum and count are exact. 0..2^42 ns (73 minutes); longer counts there.
 * Threads: no; one histogram per thread, then wp_hist_merge().
 */
#ifndef WALPROBE_HIST_H
#define WALPROBE_HIST_H

#include "walprobe/base.h"

#define WP_HIST_SUB_BITS 7
#define WP_HIST_SUB (1 << WP_HIST_SUB_BITS)
#define WP_HIST_BUCKETS ((42 - WP_HIST_SUB_BITS + 1) * WP_HIST_SUB)

struct wp_hist {
	uint64_t *counts; /* WP_HIST_BUCKETS; owned */
	int64_t count;
	int64_t sum_ns;
	int64_t min_ns;
	int64_t max_ns;
};

/* wp_hist_init - allocate and touch the buckets, so that recording never faults a page in. */
void wp_hist_init(struct wp_hist *hist);

/* wp_hist_release - free the buckets; accepts a zeroed struct. */
void wp_hist_release(struct wp_hist *hist);

/* wp_hist_clear - forget all samples, keep the memory. */
void wp_hist_clear(struct wp_hist *hist);

/* wp_hist_merge - add all samples of from to into; both initialised. */
void wp_hist_merge(struct wp_hist *into, const struct wp_hist *from);

/* wp_hist_bucket - index of the bucket of a value in ns; negative values count as 0. */
static inline size_t wp_hist_bucket(int64_t ns)
{
	uint64_t value = ns < 0 ? 0 : (uint64_t)ns;
	unsigned shift;

	if (value < WP_HIST_SUB)
		return (size_t)value;
	shift = 63u - (unsigned)__builtin_clzll(value) - WP_HIST_SUB_BITS;
	if (shift + WP_HIST_SUB_BITS >= 42)
		return WP_HIST_BUCKETS - 1;
	return ((size_t)(shift + 1) << WP_HIST_SUB_BITS) + (size_t)((value >> shift) - WP_HIST_SUB);
}

/* wp_hist_record - add one sample in ns; no branch on state, no allocation: fit for timed loops. */
static inline void wp_hist_record(struct wp_hist *hist, int64_t ns)
{
	hist->counts[wp_hist_bucket(ns)]++;
	hist->count++;
	hist->sum_ns += ns;
	if (ns > hist->max_ns)
		hist->max_ns = ns;
	if (ns < hist->min_ns)
		hist->min_ns = ns;
}

/*
 * wp_hist_quantile_ns - smallest bucket top with at least q of the samples at or below it.
 *
 * q        0..1
 * Returns: ns, never above the exact maximum; -1 when the histogram is empty.
 */
int64_t wp_hist_quantile_ns(const struct wp_hist *hist, double q);

/* wp_hist_bucket_top_ns - the largest value that the bucket with this index holds. */
int64_t wp_hist_bucket_top_ns(size_t bucket);

#endif
