/* SPDX-License-Identifier: PostgreSQL */
/*
 * compare_stats.h - paired comparison of rounds: Hodges-Lehmann, exact Wilcoxon signed-rank
 * interval, Holm, and the verdict words.
 *
 * Floor: stats (may include base). No clock, no randomness: the same rounds give the same words.
 * Threads: yes, no state.
 */
#ifndef WALPROBE_COMPARE_STATS_H
#define WALPROBE_COMPARE_STATS_H

#include "walprobe/base.h"

#define WP_ROUNDS_MINIMUM 6

enum wp_verdict {
	WP_VERDICT_FASTER,
	WP_VERDICT_SLOWER,
	WP_VERDICT_NO_PRACTICAL_DIFFERENCE,
	WP_VERDICT_NO_DIFFERENCE_SHOWN,
	WP_VERDICT_TOO_FEW_ROUNDS,
	WP_VERDICT_NOT_QUIET,
	WP_VERDICT_NO_INTERVAL,
	WP_VERDICT_NOT_COMPARABLE,
};

/* wp_verdict_name - the words of the contract: "faster", "no practical difference", ... */
const char *wp_verdict_name(enum wp_verdict verdict);

/*
 * wp_signed_rank - Hodges-Lehmann estimate and exact 95 % interval of the centre of differences.
 *
 * differences  count values, all finite; count 1 or more.
 * low, high    interval from the order statistics of the Walsh averages by the exact null
 *              distribution (count up to 40, normal approximation above); -inf, +inf when count is
 *              too small for the level (5 or fewer at 0.95).
 * p_value      two-sided, exact where count is at most 40 (ties by midranks), normal approximation
 *              with correction for continuity and ties above, zeros dropped; 1 when all are zero.
 * Source: Hollander & Wolfe, Nonparametric Statistical Methods, 3.1 to 3.3.
 */
void wp_signed_rank(const double *differences, size_t count, double level, double *estimate,
	double *low, double *high, double *p_value);

/* wp_holm - adjust count p-values in place by Holm's step-down method; order kept. */
void wp_holm(double *p_values, size_t count);

/*
 * wp_pairs_rounds_needed - rounds below which Holm can claim nothing in a family of so many pairs,
 * however far apart they lie: the least p-value of n rounds is 2^(1 - n).
 *
 * Returns: at least WP_ROUNDS_MINIMUM.
 */
size_t wp_pairs_rounds_needed(size_t pairs);

/* one pair of targets in one measurement */
struct wp_pair {
	const double *a; /* value per round; NaN: no value in that round */
	const double *b;
	size_t count;
	bool is_lower_better;
	const char *verb;   /* of the sentence; NULL: "commits" */
	const char *metric; /* of the sentence where lower is better, as "p99"; NULL: "latency" */
	/* results */
	size_t rounds; /* rounds in which both have a value */
	double ratio;  /* a / b in the metric's unit; NaN when no round has both */
	double low;
	double high;
	double p_value; /* before Holm */
	double p_holm;  /* after it, over the pairs with rounds enough; 1 when there are too few */
	enum wp_verdict verdict;
};

/*
 * wp_pairs_judge - ratios, intervals and verdicts of one family (all pairs of one measurement).
 *
 * twin        the A/A pair of the same machine and time, judged too; NULL when there is none, as
 *             for documents: then the twin's rule is left out.
 * margin      practical margin as a ratio above 1, e.g. 1.05.
 * A value that is not finite and above 0 counts as missing. A difference is claimed only when the
 * interval excludes 1 and is not wholly inside the margin, Holm over the family agrees at 5 %, and
 * |ln ratio| lies beyond both ends of the twin's interval; where only the twin withholds it the
 * verdict is not quiet, otherwise no difference shown. A twin with fewer than 6 rounds withholds
 * every claim. "no interval" and "not comparable" are never given here but set by the caller.
 */
void wp_pairs_judge(struct wp_pair *pairs, size_t count, struct wp_pair *twin, double margin);

/*
 * wp_verdict_sentence - the sentence of one pair, as in
 * "xfs fdatasync commits 1.18x as fast as ext4 fdatasync (95% CI 1.12-1.24, 10 rounds)".
 *
 * The rounds still needed are counted as n x (half width of the interval / margin)^2. Where only
 * Holm withholds a claim, the adjusted p-value stands beside the interval.
 * Returns: out. Never more than three significant digits, never "faster" without an interval.
 */
const char *wp_verdict_sentence(const struct wp_pair *pair, const struct wp_pair *twin,
	double margin, const char *a, const char *b, char *out, size_t size);

/* steadiness of the last rounds, after the SNIA PTS */
struct wp_steady {
	bool is_steady;
	double range_ratio; /* (max - min) / mean of the window */
	double slope_ratio; /* |least-squares slope x window| / mean */
};

/*
 * wp_steady_check - over the last 5 finite values; steady when range <= 0.20 and slope <= 0.10.
 * Fewer than 5 values, or a mean that is not above 0: not steady, both ratios NaN.
 */
struct wp_steady wp_steady_check(const double *values, size_t count);

#endif
