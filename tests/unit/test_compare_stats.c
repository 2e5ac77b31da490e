/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"

#include "walprobe/compare_stats.h"
#include "walprobe/mem.h"
#include "walprobe/random.h"

#include <math.h>

#define MARGIN 1.05

static bool is_near(double value, double expected)
{
	return fabs(value - expected) < 1e-9;
}

struct answer {
	double estimate;
	double low;
	double high;
	double p_value;
};

static struct answer signed_rank(const double *differences, size_t count)
{
	struct answer answer;

	wp_signed_rank(differences, count, 0.95, &answer.estimate, &answer.low, &answer.high,
		&answer.p_value);
	return answer;
}

/* A normal deviate by Box and Muller. */
static double normal(struct wp_random *random)
{
	double radius = sqrt(-2 * log(1 - wp_random_unit(random)));

	return radius * cos(2 * 3.14159265358979323846 * wp_random_unit(random));
}

/* Hamilton's depression scale before and after, Hollander & Wolfe, table 3.1 and examples. */
static void the_textbook_example_comes_out_as_published(void **state)
{
	static const double before[] = { 1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30 };
	static const double after[] = { 0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29 };
	double differences[WP_COUNT(before)];
	struct answer answer;

	(void)state;
	for (size_t i = 0; i < WP_COUNT(before); i++)
		differences[i] = before[i] - after[i];
	answer = signed_rank(differences, WP_COUNT(before));
	assert_true(is_near(answer.estimate, 0.46));
	assert_true(is_near(answer.low, 0.010));
	assert_true(is_near(answer.high, 0.786));
	assert_true(is_near(answer.p_value, 20.0 / 512));
}

static void p_values_of_small_samples_are_exact(void **state)
{
	static const struct {
		double differences[6];
		size_t count;
		double p_value;
	} cases[] = {
		{ { 1 }, 1, 1 }, { { 1, 2, 3 }, 3, 2.0 / 8 }, { { -1, -2, -3 }, 3, 2.0 / 8 },
		{ { 1, 2, 3, 4, 5, 6 }, 6, 2.0 / 64 }, { { -1, 2, 3, 4, 5, 6 }, 6, 4.0 / 64 },
		{ { 1, 2, -3 }, 3, 1 },                        /* T = 3 is the middle of 0..6 */
		{ { 1, -2, 3, 4 }, 4, 6.0 / 16 },              /* T- = 2: {}, {1}, {2} */
		{ { 0, 0, 3, 4, 5 }, 5, 2.0 / 8 },             /* zeros dropped */
		{ { 0, 0, 0 }, 3, 1 }, { { 1, 1, -1 }, 3, 1 }, /* midranks 2 2 2 */
		{ { 1, 1, 1, 1, 2, -1 }, 6, 12.0 / 64 },       /* midranks 3 3 3 3 6 3, T- = 3 */
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++)
		assert_true(is_near(signed_rank(cases[i].differences, cases[i].count).p_value,
			cases[i].p_value));
}

static int compare_doubles(const void *a, const void *b)
{
	double left = *(const double *)a;
	double right = *(const double *)b;

	return (left > right) - (left < right);
}

/* The interval's ends are the k-th Walsh averages, k one above the published critical value. */
static void intervals_agree_with_published_critical_values(void **state)
{
	static const struct {
		size_t count;
		size_t critical; /* T at 5 % two-sided; at 50 less one, by the approximation */
	} cases[] = { { 6, 0 }, { 7, 2 }, { 8, 3 }, { 10, 8 }, { 15, 25 }, { 20, 52 }, { 30, 137 },
		{ 40, 264 }, { 50, 433 } };
	static double averages[50 * 51 / 2];
	double differences[50];
	struct wp_random random;

	(void)state;
	wp_random_init(&random, 7);
	for (size_t c = 0; c < WP_COUNT(cases); c++) {
		size_t count = cases[c].count;
		size_t total = 0;
		struct answer answer;

		for (size_t i = 0; i < count; i++)
			differences[i] = normal(&random);
		for (size_t i = 0; i < count; i++)
			for (size_t j = i; j < count; j++)
				averages[total++] = (differences[i] + differences[j]) / 2;
		qsort(averages, total, sizeof(*averages), compare_doubles);
		answer = signed_rank(differences, count);
		assert_true(is_near(answer.low, averages[cases[c].critical]));
		assert_true(is_near(answer.high, averages[total - 1 - cases[c].critical]));
	}
}

static void five_rounds_have_no_interval_at_95_percent(void **state)
{
	static const double differences[] = { 1, 2, 3, 4, 5 };
	struct answer answer = signed_rank(differences, 5);

	(void)state;
	assert_true(is_near(answer.estimate, 3));
	assert_true(isinf(answer.low) && answer.low < 0);
	assert_true(isinf(answer.high) && answer.high > 0);
}

static void large_samples_use_the_normal_approximation(void **state)
{
	double differences[60];
	struct answer answer;

	(void)state;
	for (int i = 0; i < 60; i++)
		differences[i] = i - 20; /* one zero, 20 negative, 39 positive, with ties */
	answer = signed_rank(differences, 60);
	assert_true(is_near(answer.estimate, 9.5));
	/* n = 59, T+ = 1360, 20 pairs of ties: z = (1360 - 885 - 0.5) / sqrt(17552.5 - 2.5) */
	assert_true(is_near(answer.p_value, erfc(474.5 / sqrt(17550.0) / sqrt(2))));
}

static void holm_steps_down(void **state)
{
	double example[] = { 0.01, 0.04, 0.03, 0.005 };
	double capped[] = { 0.9, 0.8 };

	(void)state;
	wp_holm(example, 4);
	assert_true(is_near(example[0], 0.03));
	assert_true(is_near(example[1], 0.06));
	assert_true(is_near(example[2], 0.06));
	assert_true(is_near(example[3], 0.02));
	wp_holm(capped, 2);
	assert_true(is_near(capped[0], 1) && is_near(capped[1], 1));
	wp_holm(NULL, 0);
}

static void many_pairs_need_more_rounds(void **state)
{
	static const struct {
		size_t pairs;
		size_t rounds;
	} cases[] = { { 0, 6 }, { 1, 6 }, { 2, 7 }, { 3, 7 }, { 15, 10 }, { 45, 11 } };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		size_t rounds = wp_pairs_rounds_needed(cases[i].pairs);

		assert_int_equal(rounds, cases[i].rounds);
		assert_true((double)cases[i].pairs * pow(2, 1 - (double)rounds) <= 0.05);
	}
}

/* a is b times ratio, times a spread that the rounds share out evenly; count rounds. */
static void make_pair(
	struct wp_pair *pair, double *a, double *b, size_t count, double ratio, double spread)
{
	for (size_t i = 0; i < count; i++) {
		double place = count > 1 ? 2.0 * (double)i / (double)(count - 1) - 1 : 0;

		b[i] = 1000 + 10 * (double)i;
		a[i] = b[i] * ratio * exp(spread * place);
	}
	*pair = (struct wp_pair){ .a = a, .b = b, .count = count };
}

static const char *sentence(const struct wp_pair *pair, const struct wp_pair *twin)
{
	static char text[256];

	return wp_verdict_sentence(
		pair, twin, MARGIN, "xfs fdatasync", "ext4 fdatasync", text, sizeof(text));
}

static void every_verdict_has_its_words_and_sentence(void **state)
{
	static const struct {
		size_t rounds;
		double ratio;
		double spread;
		double twin_ratio;
		double twin_spread;
		enum wp_verdict verdict;
		const char *words;
		const char *text;
	} cases[] = {
		{ 10, 1.18, 0.09, 1, 0.02, WP_VERDICT_FASTER, "faster",
			"xfs fdatasync commits 1.18x as fast as ext4 fdatasync (95% CI 1.12-1.24, "
			"10 rounds)" },
		{ 10, 0.85, 0.05, 1, 0.02, WP_VERDICT_SLOWER, "slower",
			"xfs fdatasync commits 0.85x as fast as ext4 fdatasync (95% CI 0.83-0.87, "
			"10 rounds)" },
		{ 10, 1.01, 0.03, 1, 0.02, WP_VERDICT_NO_PRACTICAL_DIFFERENCE,
			"no practical difference",
			"no practical difference (ratio 1.01, 95% CI 0.99-1.03, margin 5%)" },
		{ 10, 1.06, 0.24, 1, 0.02, WP_VERDICT_NO_DIFFERENCE_SHOWN, "no difference shown",
			"no difference shown (ratio 1.06, 95% CI 0.93-1.21); about 81 more rounds "
			"would be needed for +-5%" },
		{ 4, 3, 0, 1, 0, WP_VERDICT_TOO_FEW_ROUNDS, "too few rounds",
			"too few rounds for a verdict (4 of 6)" },
		{ 10, 1.12, 0.05, 1.0, 0.29, WP_VERDICT_NOT_QUIET, "not quiet",
			"no verdict: this machine was not quiet (A/A 0.85-1.17)" },
	};
	double a[10];
	double b[10];
	double c[10];
	double d[10];

	/* The fifth-smallest step of ten even ones ends the interval: ratio x exp(5/9 spread). */
	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		struct wp_pair pair;
		struct wp_pair twin;

		make_pair(&pair, a, b, cases[i].rounds, cases[i].ratio, cases[i].spread);
		make_pair(&twin, c, d, cases[i].rounds, cases[i].twin_ratio, cases[i].twin_spread);
		wp_pairs_judge(&pair, 1, &twin, MARGIN);
		assert_string_equal(sentence(&pair, &twin), cases[i].text);
		assert_int_equal(pair.verdict, cases[i].verdict);
		assert_string_equal(wp_verdict_name(pair.verdict), cases[i].words);
		assert_true(is_near(pair.ratio, cases[i].ratio));
	}
}

static void verdicts_of_documents_have_their_sentences(void **state)
{
	struct wp_pair pair = { .ratio = 1.2712, .verdict = WP_VERDICT_NO_INTERVAL };

	(void)state;
	assert_string_equal(sentence(&pair, NULL),
		"ratio 1.27, published single runs: no interval can be given");
	assert_string_equal(wp_verdict_name(pair.verdict), "no interval");
	pair.verdict = WP_VERDICT_NOT_COMPARABLE;
	assert_string_equal(sentence(&pair, NULL), "not comparable");
}

static void lower_latency_is_called_faster(void **state)
{
	double a[10];
	double b[10];
	struct wp_pair pair;

	(void)state;
	make_pair(&pair, a, b, 10, 0.71, 0.303);
	pair.is_lower_better = true;
	pair.metric = "p99";
	wp_pairs_judge(&pair, 1, NULL, MARGIN);
	assert_int_equal(pair.verdict, WP_VERDICT_FASTER);
	assert_string_equal(sentence(&pair, NULL), "p99 0.71x (95% CI 0.60-0.84, lower is better)");
	make_pair(&pair, a, b, 10, 1.4, 0.1);
	pair.is_lower_better = true;
	wp_pairs_judge(&pair, 1, NULL, MARGIN);
	assert_int_equal(pair.verdict, WP_VERDICT_SLOWER);
}

static void no_figure_has_more_than_three_digits(void **state)
{
	double a[10];
	double b[10];
	struct wp_pair pair;

	(void)state;
	make_pair(&pair, a, b, 10, 123.456, 0.02);
	pair.verb = "reads";
	wp_pairs_judge(&pair, 1, NULL, MARGIN);
	assert_string_equal(sentence(&pair, NULL),
		"xfs fdatasync reads 123x as fast as ext4 fdatasync (95% CI 122-125, 10 rounds)");
	make_pair(&pair, a, b, 10, 1.2, 4);
	wp_pairs_judge(&pair, 1, NULL, MARGIN);
	assert_string_equal(sentence(&pair, NULL), "no difference shown (ratio 1.20, 95% CI "
						   "0.13-11.1); more than 1000 more rounds would "
						   "be needed for +-5%");
}

/* Six rounds give p = 1/32 at best: enough for one pair, not for two. */
static void holm_withholds_a_claim_of_a_larger_family(void **state)
{
	double a[2][6];
	double b[2][6];
	struct wp_pair pairs[2];

	(void)state;
	make_pair(&pairs[0], a[0], b[0], 6, 1.3, 0.01);
	wp_pairs_judge(pairs, 1, NULL, MARGIN);
	assert_int_equal(pairs[0].verdict, WP_VERDICT_FASTER);
	make_pair(&pairs[1], a[1], b[1], 6, 1.4, 0.01);
	wp_pairs_judge(pairs, 2, NULL, MARGIN);
	assert_int_equal(pairs[0].verdict, WP_VERDICT_NO_DIFFERENCE_SHOWN);
	assert_true(is_near(pairs[0].p_value, 1.0 / 32));
	assert_true(is_near(pairs[0].p_holm, 1.0 / 16));
	assert_string_equal(sentence(&pairs[0], NULL),
		"no difference shown (ratio 1.30, 95% CI 1.29-1.31, p 0.0625 after Holm); about 1 "
		"more rounds would be needed for +-5%");
	/* A pair without rounds enough takes no share of the family's 5 %. */
	pairs[1].count = 5;
	wp_pairs_judge(pairs, 2, NULL, MARGIN);
	assert_int_equal(pairs[0].verdict, WP_VERDICT_FASTER);
	assert_int_equal(pairs[1].verdict, WP_VERDICT_TOO_FEW_ROUNDS);
}

static void a_twin_without_an_interval_withholds_every_claim(void **state)
{
	double a[10];
	double b[10];
	double c[10];
	double d[10];
	struct wp_pair pair;
	struct wp_pair twin;

	(void)state;
	make_pair(&pair, a, b, 10, 2, 0.01);
	make_pair(&twin, c, d, 10, 1, 0.01);
	for (size_t i = 0; i < 5; i++)
		c[i] = (double)NAN;
	wp_pairs_judge(&pair, 1, &twin, MARGIN);
	assert_int_equal(pair.verdict, WP_VERDICT_NOT_QUIET);
	assert_string_equal(sentence(&pair, &twin),
		"no verdict: this machine was not shown to be quiet (A/A has 5 of 6 rounds)");
	twin.count = 0;
	wp_pairs_judge(&pair, 1, &twin, MARGIN);
	assert_int_equal(pair.verdict, WP_VERDICT_NOT_QUIET);
	/* Without a claim there is nothing to withhold. */
	make_pair(&pair, a, b, 10, 1.01, 0.01);
	wp_pairs_judge(&pair, 1, &twin, MARGIN);
	assert_int_equal(pair.verdict, WP_VERDICT_NO_PRACTICAL_DIFFERENCE);
}

static void the_farther_end_of_the_twin_counts(void **state)
{
	double a[10];
	double b[10];
	double c[10];
	double d[10];
	struct wp_pair pair;
	struct wp_pair twin;

	(void)state;
	make_pair(&pair, a, b, 10, 1.2, 0.01);
	make_pair(&twin, c, d, 10, 0.9, 0.2); /* 0.81-1.01, and ln 0.81 is beyond ln 1.2 */
	wp_pairs_judge(&pair, 1, &twin, MARGIN);
	assert_int_equal(pair.verdict, WP_VERDICT_NOT_QUIET);
	make_pair(&pair, a, b, 10, 1.3, 0.01); /* beyond 1 / 0.81 */
	wp_pairs_judge(&pair, 1, &twin, MARGIN);
	assert_int_equal(pair.verdict, WP_VERDICT_FASTER);
}

static void values_that_are_not_positive_are_missing(void **state)
{
	double a[10];
	double b[10];
	struct wp_pair pair;

	(void)state;
	make_pair(&pair, a, b, 10, 1.5, 0.01);
	a[0] = 0;
	a[1] = -1;
	b[2] = (double)NAN;
	b[3] = (double)INFINITY;
	wp_pairs_judge(&pair, 1, NULL, MARGIN);
	assert_int_equal(pair.rounds, 6);
	assert_int_equal(pair.verdict, WP_VERDICT_FASTER);
	a[4] = 0;
	wp_pairs_judge(&pair, 1, NULL, MARGIN);
	assert_string_equal(sentence(&pair, NULL), "too few rounds for a verdict (5 of 6)");
	for (size_t i = 0; i < 10; i++)
		a[i] = 0;
	wp_pairs_judge(&pair, 1, NULL, MARGIN);
	assert_int_equal(pair.rounds, 0);
	assert_true(isnan(pair.ratio));
	assert_string_equal(sentence(&pair, NULL), "too few rounds for a verdict (0 of 6)");
}

/* The seed is fixed, so this either always passes or always fails. */
static void intervals_cover_the_truth_as_often_as_they_say(void **state)
{
	enum {
		TRIALS = 2000,
		ROUNDS = 10
	};
	struct wp_random random;
	double differences[ROUNDS];
	int covered = 0;

	(void)state;
	wp_random_init(&random, 20010815);
	for (int trial = 0; trial < TRIALS; trial++) {
		struct answer answer;

		for (size_t i = 0; i < ROUNDS; i++)
			differences[i] = 0.3 + normal(&random);
		answer = signed_rank(differences, ROUNDS);
		if (answer.low <= 0.3 && answer.high >= 0.3)
			covered++;
	}
	assert_in_range(covered, TRIALS * 93 / 100, TRIALS * 97 / 100);
}

/* Three equal targets and a twin of the first; rounds shared, as a noisy machine gives them. */
static int false_claims(int trials, double noise)
{
	enum {
		ROUNDS = 10,
		TARGETS = 3
	};
	static double values[TARGETS + 1][ROUNDS];
	struct wp_random random;
	int claims = 0;

	wp_random_init(&random, 3);
	for (int trial = 0; trial < trials; trial++) {
		struct wp_pair pairs[TARGETS];
		struct wp_pair twin = { .a = values[0], .b = values[TARGETS], .count = ROUNDS };

		for (size_t i = 0; i < ROUNDS; i++) {
			double shared = normal(&random);

			for (size_t t = 0; t <= TARGETS; t++)
				values[t][i] = exp(shared + noise * normal(&random));
		}
		for (size_t t = 0; t < TARGETS; t++)
			pairs[t] = (struct wp_pair){
				.a = values[t], .b = values[(t + 1) % TARGETS], .count = ROUNDS
			};
		wp_pairs_judge(pairs, TARGETS, &twin, MARGIN);
		for (size_t t = 0; t < TARGETS; t++)
			if (pairs[t].verdict == WP_VERDICT_FASTER ||
				pairs[t].verdict == WP_VERDICT_SLOWER)
				claims++;
	}
	return claims;
}

static void equal_targets_are_rarely_called_different(void **state)
{
	enum {
		TRIALS = 1000
	};

	(void)state;
	assert_in_range(false_claims(TRIALS, 0.02), 0, TRIALS * 3 * 5 / 100);
	assert_in_range(false_claims(TRIALS, 0.3), 0, TRIALS * 3 * 5 / 100);
}

static void steadiness_looks_at_the_last_five_rounds(void **state)
{
	static const double steady[] = { 500, (double)NAN, 100, 101, (double)NAN, 99, 100, 100 };
	static const double wide[] = { 100, 121, 100, 100, 100 };
	static const double sloping[] = { 100, 103, 106, 109, 112 };
	static const double zeros[] = { 0, 0, 0, 0, 0 };
	struct wp_steady answer;

	(void)state;
	answer = wp_steady_check(steady, WP_COUNT(steady));
	assert_true(answer.is_steady);
	assert_true(is_near(answer.range_ratio, 0.02));
	answer = wp_steady_check(wide, WP_COUNT(wide));
	assert_false(answer.is_steady);
	assert_true(is_near(answer.range_ratio, 21 / 104.2));
	answer = wp_steady_check(sloping, WP_COUNT(sloping));
	assert_false(answer.is_steady);
	assert_true(is_near(answer.range_ratio, 12.0 / 106));
	assert_true(is_near(answer.slope_ratio, 15.0 / 106));
	answer = wp_steady_check(wide, 4);
	assert_false(answer.is_steady);
	assert_true(isnan(answer.range_ratio));
	assert_false(wp_steady_check(zeros, WP_COUNT(zeros)).is_steady);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_textbook_example_comes_out_as_published),
		cmocka_unit_test(p_values_of_small_samples_are_exact),
		cmocka_unit_test(intervals_agree_with_published_critical_values),
		cmocka_unit_test(five_rounds_have_no_interval_at_95_percent),
		cmocka_unit_test(large_samples_use_the_normal_approximation),
		cmocka_unit_test(holm_steps_down),
		cmocka_unit_test(many_pairs_need_more_rounds),
		cmocka_unit_test(every_verdict_has_its_words_and_sentence),
		cmocka_unit_test(verdicts_of_documents_have_their_sentences),
		cmocka_unit_test(lower_latency_is_called_faster),
		cmocka_unit_test(no_figure_has_more_than_three_digits),
		cmocka_unit_test(holm_withholds_a_claim_of_a_larger_family),
		cmocka_unit_test(a_twin_without_an_interval_withholds_every_claim),
		cmocka_unit_test(the_farther_end_of_the_twin_counts),
		cmocka_unit_test(values_that_are_not_positive_are_missing),
		cmocka_unit_test(intervals_cover_the_truth_as_often_as_they_say),
		cmocka_unit_test(equal_targets_are_rarely_called_different),
		cmocka_unit_test(steadiness_looks_at_the_last_five_rounds),
	};

	return cmocka_run_group_tests_name("compare_stats", tests, NULL, NULL);
}
