/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/hist.h"
#include "walprobe/mem.h"

#include <math.h>

void wp_hist_init(struct wp_hist *hist)
{
	hist->counts = wp_xcalloc(WP_HIST_BUCKETS, sizeof(*hist->counts));
	wp_hist_clear(hist);
}

void wp_hist_release(struct wp_hist *hist)
{
	free(hist->counts);
	memset(hist, 0, sizeof(*hist));
}

void wp_hist_clear(struct wp_hist *hist)
{
	memset(hist->counts, 0, WP_HIST_BUCKETS * sizeof(*hist->counts));
	hist->count = 0;
	hist->sum_ns = 0;
	hist->min_ns = INT64_MAX;
	hist->max_ns = 0;
}

void wp_hist_merge(struct wp_hist *into, const struct wp_hist *from)
{
	for (size_t i = 0; i < WP_HIST_BUCKETS; i++)
		into->counts[i] += from->counts[i];
	into->count += from->count;
	into->sum_ns += from->sum_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	if (from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
}

int64_t wp_hist_bucket_top_ns(size_t bucket)
{
	size_t octave = bucket >> WP_HIST_SUB_BITS;
	int64_t within = (int64_t)(bucket & (WP_HIST_SUB - 1));

	if (octave == 0)
		return within;
	return ((within + WP_HIST_SUB + 1) << (octave - 1)) - 1;
}

int64_t wp_hist_quantile_ns(const struct wp_hist *hist, double q)
{
	int64_t wanted = (int64_t)ceil(q * (double)hist->count);
	uint64_t seen = 0;

	if (hist->count == 0)
		return -1;
	if (wanted < 1)
		wanted = 1;
	for (size_t i = 0; i < WP_HIST_BUCKETS; i++) {
		seen += hist->counts[i];
		if (seen >= (uint64_t)wanted) {
			int64_t top = wp_hist_bucket_top_ns(i);

			return top < hist->max_ns ? top : hist->max_ns;
		}
	}
	return hist->max_ns;
}
