/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"

#include "walprobe/hist.h"
#include "walprobe/random.h"

static void every_value_lies_in_its_bucket(void **state)
{
	(void)state;
	for (unsigned bit = 0; bit < 42; bit++) {
		int64_t edge = INT64_C(1) << bit;
		int64_t values[] = { edge - 1, edge, edge + 1, edge + edge / 3 };

		for (size_t i = 0; i < WP_COUNT(values); i++) {
			size_t bucket = wp_hist_bucket(values[i]);
			int64_t top = wp_hist_bucket_top_ns(bucket);

			assert_true(bucket < WP_HIST_BUCKETS);
			assert_true(values[i] <= top);
			assert_true(bucket == 0 || values[i] > wp_hist_bucket_top_ns(bucket - 1));
			assert_true((double)(top - values[i]) <= (double)values[i] / WP_HIST_SUB);
		}
	}
}

static void extreme_values_stay_inside(void **state)
{
	(void)state;
	assert_int_equal(wp_hist_bucket(-5), 0);
	assert_int_equal(wp_hist_bucket(INT64_MAX), WP_HIST_BUCKETS - 1);
	assert_int_equal(wp_hist_bucket(INT64_C(1) << 42), WP_HIST_BUCKETS - 1);
}

static void an_empty_histogram_has_no_quantile(void **state)
{
	struct wp_hist hist;

	(void)state;
	wp_hist_init(&hist);
	assert_int_equal(wp_hist_quantile_ns(&hist, 0.5), -1);
	wp_hist_release(&hist);
	wp_hist_release(&hist);
}

static void quantiles_of_small_numbers_are_exact(void **state)
{
	struct wp_hist hist;

	(void)state;
	wp_hist_init(&hist);
	for (int64_t ns = 1; ns <= 100; ns++)
		wp_hist_record(&hist, ns);
	assert_int_equal(wp_hist_quantile_ns(&hist, 0), 1);
	assert_int_equal(wp_hist_quantile_ns(&hist, 0.5), 50);
	assert_int_equal(wp_hist_quantile_ns(&hist, 0.99), 99);
	assert_int_equal(wp_hist_quantile_ns(&hist, 1), 100);
	assert_int_equal(hist.sum_ns, 5050);
	assert_int_equal(hist.min_ns, 1);
	assert_int_equal(hist.max_ns, 100);
	wp_hist_clear(&hist);
	assert_int_equal(hist.count, 0);
	assert_int_equal(wp_hist_quantile_ns(&hist, 0.5), -1);
	wp_hist_release(&hist);
}

static void a_quantile_is_never_above_the_maximum(void **state)
{
	struct wp_hist hist;

	(void)state;
	wp_hist_init(&hist);
	wp_hist_record(&hist, 1000001);
	assert_int_equal(wp_hist_quantile_ns(&hist, 0.5), 1000001);
	wp_hist_record(&hist, INT64_C(1) << 50);
	assert_int_equal(wp_hist_quantile_ns(&hist, 1), wp_hist_bucket_top_ns(WP_HIST_BUCKETS - 1));
	assert_int_equal(hist.max_ns, INT64_C(1) << 50);
	wp_hist_release(&hist);
}

static void merging_is_the_same_as_recording_all(void **state)
{
	struct wp_hist parts[2];
	struct wp_hist whole;
	struct wp_random random;

	(void)state;
	wp_random_init(&random, 5);
	wp_hist_init(&parts[0]);
	wp_hist_init(&parts[1]);
	wp_hist_init(&whole);
	for (int i = 0; i < 1000; i++) {
		int64_t ns = (int64_t)wp_random_below(&random, 100000000);

		wp_hist_record(&parts[i % 2], ns);
		wp_hist_record(&whole, ns);
	}
	wp_hist_merge(&parts[0], &parts[1]);
	assert_memory_equal(parts[0].counts, whole.counts, WP_HIST_BUCKETS * sizeof(*whole.counts));
	assert_int_equal(parts[0].count, whole.count);
	assert_int_equal(parts[0].sum_ns, whole.sum_ns);
	assert_int_equal(parts[0].min_ns, whole.min_ns);
	assert_int_equal(parts[0].max_ns, whole.max_ns);
	wp_hist_release(&parts[0]);
	wp_hist_release(&parts[1]);
	wp_hist_release(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_value_lies_in_its_bucket),
		cmocka_unit_test(extreme_values_stay_inside),
		cmocka_unit_test(an_empty_histogram_has_no_quantile),
		cmocka_unit_test(quantiles_of_small_numbers_are_exact),
		cmocka_unit_test(a_quantile_is_never_above_the_maximum),
		cmocka_unit_test(merging_is_the_same_as_recording_all),
	};

	return cmocka_run_group_tests_name("hist", tests, NULL, NULL);
}
