/* SPDX-License-Identifier: PostgreSQL */
/*
 * The method: a pair of targets is compared by the log ratios of their rounds, d = ln(a / b). Its
 * middle is the median of the Walsh averages (d_i + d_j) / 2, its interval the k-th smallest and
 * k-th largest of them, where k comes from the null distribution of Wilcoxon's signed-rank sum:
 * the largest k with P(T < k) at most half of what the level leaves. No resampling, so the same
 * rounds give the same words, and the level is kept at the small counts that a run can afford,
 * where bootstrap intervals are too narrow.
 */
#include "walprobe/compare_stats.h"
#include "walprobe/mem.h"

#include <math.h>

#define EXACT_COUNT 40
#define LEVEL 0.95
#define STEADY_WINDOW 5

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;

	return (left > right) - (left < right);
}

static double normal_below(double z)
{
	return 0.5 * erfc(-z / sqrt(2));
}

/*
 * P(T <= t) under the null, where T adds each of the ranks with probability one half. Ranks are
 * given doubled, so that the midranks of ties are whole numbers; t is doubled too. The caller
 * frees the result: sum_of_ranks + 1 cumulated probabilities.
 */
static double *exact_distribution(const unsigned *doubled_ranks, size_t count)
{
	size_t sum = 0;
	double *below;

	for (size_t i = 0; i < count; i++)
		sum += doubled_ranks[i];
	below = wp_xcalloc(sum + 1, sizeof(*below));
	below[0] = 1;
	sum = 0;
	for (size_t i = 0; i < count; i++) {
		size_t rank = doubled_ranks[i];

		sum += rank;
		/* Downwards in place; halving is exact in binary. */
		for (size_t t = sum + 1; t-- > 0;)
			below[t] = (below[t] + (t >= rank ? below[t - rank] : 0)) / 2;
	}
	for (size_t t = 1; t <= sum; t++)
		below[t] += below[t - 1];
	return below;
}

/* The largest k with P(T < k) <= tail, without ties; 0 when there is none. */
static size_t rank_of_limit_exact(size_t count, double tail)
{
	unsigned doubled_ranks[EXACT_COUNT];
	double *below;
	size_t k = 0;

	for (size_t i = 0; i < count; i++)
		doubled_ranks[i] = 2 * (unsigned)(i + 1);
	below = exact_distribution(doubled_ranks, count);
	while (below[2 * k] <= tail)
		k++;
	free(below);
	return k;
}

static size_t rank_of_limit_normal(size_t count, double tail)
{
	double n = (double)count;
	double mean = n * (n + 1) / 4;
	double deviation = sqrt(n * (n + 1) * (2 * n + 1) / 24);
	size_t k = (size_t)mean;

	/* With the continuity correction P(T <= k - 1) is read at k - 1/2. */
	while (k > 0 && normal_below(((double)k - 0.5 - mean) / deviation) > tail)
		k--;
	return k;
}

/* All (d_i + d_j) / 2 with i <= j, sorted; the caller frees. */
static double *walsh_averages(const double *differences, size_t count, size_t *out_count)
{
	size_t total = count * (count + 1) / 2;
	double *averages = wp_xcalloc(total, sizeof(*averages));
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		for (size_t j = i; j < count; j++)
			averages[used++] = differences[i] / 2 + differences[j] / 2;
	qsort(averages, total, sizeof(*averages), compare_doubles);
	*out_count = total;
	return averages;
}

/* Absolute values of the differences that are not zero, sorted; the sign stays in negative. */
struct ranked {
	double magnitude;
	bool is_positive;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *left = a;
	const struct ranked *right = b;

	return compare_doubles(&left->magnitude, &right->magnitude);
}

/*
 * Midranks, doubled, of the sorted magnitudes. Returns the doubled rank sum of the positive ones;
 * *tie_term receives the sum of t^3 - t over the groups of ties.
 */
static size_t assign_ranks(
	const struct ranked *items, size_t count, unsigned *doubled_ranks, double *tie_term)
{
	size_t positive_sum = 0;
	size_t end;

	*tie_term = 0;
	for (size_t start = 0; start < count; start = end) {
		double size;

		end = start + 1;
		while (end < count && items[end].magnitude <= items[start].magnitude)
			end++;
		size = (double)(end - start);
		*tie_term += size * size * size - size;
		for (size_t i = start; i < end; i++) {
			doubled_ranks[i] = (unsigned)(start + 1 + end);
			if (items[i].is_positive)
				positive_sum += doubled_ranks[i];
		}
	}
	return positive_sum;
}

static double two_sided(double lower, double upper)
{
	double p_value = 2 * (lower < upper ? lower : upper);

	return p_value < 1 ? p_value : 1;
}

static double p_exact(const unsigned *doubled_ranks, size_t count, size_t positive_sum)
{
	double *below = exact_distribution(doubled_ranks, count);
	double lower = below[positive_sum];
	double upper = positive_sum ? 1 - below[positive_sum - 1] : 1;

	free(below);
	return two_sided(lower, upper);
}

static double p_normal(size_t count, size_t positive_sum, double tie_term)
{
	double n = (double)count;
	double t = (double)positive_sum / 2;
	double mean = n * (n + 1) / 4;
	double deviation = sqrt(n * (n + 1) * (2 * n + 1) / 24 - tie_term / 48);

	return two_sided(normal_below((t + 0.5 - mean) / deviation),
		normal_below((mean - t + 0.5) / deviation));
}

static double signed_rank_p(const double *differences, size_t count)
{
	struct ranked *items = wp_xcalloc(count, sizeof(*items));
	unsigned *doubled_ranks = wp_xcalloc(count, sizeof(*doubled_ranks));
	size_t used = 0;
	double p_value = 1;

	for (size_t i = 0; i < count; i++)
		if (differences[i] < 0 || differences[i] > 0)
			items[used++] = (struct ranked){ .magnitude = fabs(differences[i]),
				.is_positive = differences[i] > 0 };
	if (used) {
		double tie_term;
		size_t positive_sum;

		qsort(items, used, sizeof(*items), compare_ranked);
		positive_sum = assign_ranks(items, used, doubled_ranks, &tie_term);
		p_value = used <= EXACT_COUNT ? p_exact(doubled_ranks, used, positive_sum)
					      : p_normal(used, positive_sum, tie_term);
	}
	free(doubled_ranks);
	free(items);
	return p_value;
}

void wp_signed_rank(const double *differences, size_t count, double level, double *estimate,
	double *low, double *high, double *p_value)
{
	double tail = (1 - level) / 2;
	size_t total;
	double *averages = walsh_averages(differences, count, &total);
	size_t k = count <= EXACT_COUNT ? rank_of_limit_exact(count, tail)
					: rank_of_limit_normal(count, tail);

	assert(count > 0);
	*estimate = averages[(total - 1) / 2] / 2 + averages[total / 2] / 2;
	*low = k ? averages[k - 1] : (double)-INFINITY;
	*high = k ? averages[total - k] : (double)INFINITY;
	*p_value = signed_rank_p(differences, count);
	free(averages);
}

struct indexed {
	double value;
	size_t index;
};

static int compare_indexed(const void *a, const void *b)
{
	const struct indexed *left = a;
	const struct indexed *right = b;

	return compare_doubles(&left->value, &right->value);
}

size_t wp_pairs_rounds_needed(size_t pairs)
{
	double least = (double)pairs;
	size_t rounds = 1;

	for (; least > 1 - LEVEL; rounds++)
		least /= 2;
	return rounds < WP_ROUNDS_MINIMUM ? WP_ROUNDS_MINIMUM : rounds;
}

void wp_holm(double *p_values, size_t count)
{
	struct indexed *order = wp_xcalloc(count, sizeof(*order));
	double largest = 0;

	for (size_t i = 0; i < count; i++)
		order[i] = (struct indexed){ .value = p_values[i], .index = i };
	if (count)
		qsort(order, count, sizeof(*order), compare_indexed);
	for (size_t i = 0; i < count; i++) {
		double adjusted = order[i].value * (double)(count - i);

		/* A later p-value is never adjusted below an earlier one. */
		if (adjusted > largest)
			largest = adjusted < 1 ? adjusted : 1;
		p_values[order[i].index] = largest;
	}
	free(order);
}

static bool is_usable(double value)
{
	return isfinite(value) && value > 0;
}

/* Ratio and interval of the rounds in which both sides have a value. */
static void measure_pair(struct wp_pair *pair)
{
	double *differences = wp_xcalloc(pair->count, sizeof(*differences));
	double estimate;
	double low;
	double high;

	pair->rounds = 0;
	for (size_t i = 0; i < pair->count; i++)
		if (is_usable(pair->a[i]) && is_usable(pair->b[i]))
			differences[pair->rounds++] = log(pair->a[i]) - log(pair->b[i]);
	pair->ratio = pair->low = pair->high = (double)NAN;
	pair->p_value = pair->p_holm = 1;
	if (pair->rounds) {
		wp_signed_rank(
			differences, pair->rounds, LEVEL, &estimate, &low, &high, &pair->p_value);
		pair->ratio = exp(estimate);
		pair->low = exp(low);
		pair->high = exp(high);
		pair->p_holm = pair->p_value;
	}
	free(differences);
}

/* Holm over the pairs that have rounds enough; the others make no claim and take no share. */
static void adjust_family(struct wp_pair *pairs, size_t count)
{
	double *p_values = wp_xcalloc(count, sizeof(*p_values));
	size_t used = 0;

	for (size_t i = 0; i < count; i++)
		if (pairs[i].rounds >= WP_ROUNDS_MINIMUM)
			p_values[used++] = pairs[i].p_value;
	wp_holm(p_values, used);
	used = 0;
	for (size_t i = 0; i < count; i++)
		if (pairs[i].rounds >= WP_ROUNDS_MINIMUM)
			pairs[i].p_holm = p_values[used++];
	free(p_values);
}

/* The largest effect, as |ln ratio|, that this machine shows between two equal things. */
static double twin_reach(const struct wp_pair *twin)
{
	double low;
	double high;

	if (!twin)
		return 0;
	if (twin->rounds < WP_ROUNDS_MINIMUM || !is_usable(twin->low) || !is_usable(twin->high))
		return (double)INFINITY;
	low = fabs(log(twin->low));
	high = fabs(log(twin->high));
	return low > high ? low : high;
}

static enum wp_verdict judge(const struct wp_pair *pair, double reach, double margin)
{
	if (pair->rounds < WP_ROUNDS_MINIMUM)
		return WP_VERDICT_TOO_FEW_ROUNDS;
	if (pair->low >= 1 / margin && pair->high <= margin)
		return WP_VERDICT_NO_PRACTICAL_DIFFERENCE;
	if ((pair->low <= 1 && pair->high >= 1) || pair->p_holm > 1 - LEVEL)
		return WP_VERDICT_NO_DIFFERENCE_SHOWN;
	if (!(fabs(log(pair->ratio)) > reach))
		return WP_VERDICT_NOT_QUIET;
	return (pair->ratio > 1) != pair->is_lower_better ? WP_VERDICT_FASTER : WP_VERDICT_SLOWER;
}

void wp_pairs_judge(struct wp_pair *pairs, size_t count, struct wp_pair *twin, double margin)
{
	double reach;

	if (twin) {
		measure_pair(twin);
		twin->verdict = judge(twin, 0, margin);
	}
	for (size_t i = 0; i < count; i++)
		measure_pair(&pairs[i]);
	adjust_family(pairs, count);
	reach = twin_reach(twin);
	for (size_t i = 0; i < count; i++)
		pairs[i].verdict = judge(&pairs[i], reach, margin);
}

const char *wp_verdict_name(enum wp_verdict verdict)
{
	static const char *const names[] = {
		[WP_VERDICT_FASTER] = "faster",
		[WP_VERDICT_SLOWER] = "slower",
		[WP_VERDICT_NO_PRACTICAL_DIFFERENCE] = "no practical difference",
		[WP_VERDICT_NO_DIFFERENCE_SHOWN] = "no difference shown",
		[WP_VERDICT_TOO_FEW_ROUNDS] = "too few rounds",
		[WP_VERDICT_NOT_QUIET] = "not quiet",
		[WP_VERDICT_NO_INTERVAL] = "no interval",
		[WP_VERDICT_NOT_COMPARABLE] = "not comparable",
	};

	assert((size_t)verdict < WP_COUNT(names));
	return names[verdict];
}

struct wp_steady wp_steady_check(const double *values, size_t count)
{
	struct wp_steady steady = { .range_ratio = (double)NAN, .slope_ratio = (double)NAN };
	double window[STEADY_WINDOW];
	size_t used = 0;
	double sum = 0;
	double smallest = (double)INFINITY;
	double largest = (double)-INFINITY;
	double slope = 0;

	for (size_t i = count; i-- > 0 && used < STEADY_WINDOW;)
		if (isfinite(values[i]))
			window[used++] = values[i];
	if (used < STEADY_WINDOW)
		return steady;
	for (size_t i = 0; i < STEADY_WINDOW; i++) {
		double place = (double)i - (STEADY_WINDOW - 1) / 2.0;

		sum += window[i];
		slope += place * window[i];
		smallest = fmin(smallest, window[i]);
		largest = fmax(largest, window[i]);
	}
	if (!(sum > 0))
		return steady;
	/* The squared places of n equidistant points add up to n (n^2 - 1) / 12. */
	slope /= STEADY_WINDOW * (STEADY_WINDOW * STEADY_WINDOW - 1) / 12.0;
	steady.range_ratio = (largest - smallest) / (sum / STEADY_WINDOW);
	steady.slope_ratio = fabs(slope) * STEADY_WINDOW / (sum / STEADY_WINDOW);
	steady.is_steady = steady.range_ratio <= 0.20 && steady.slope_ratio <= 0.10;
	return steady;
}
