/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "walprobe/change_point.h"
#include "walprobe/random.h"

#define COUNT 300

static double values[COUNT];

/* Rates around level with 10 % noise, falling to lower from the change on. */
static void fill(uint64_t seed, size_t change, double level, double lower)
{
	struct wp_random random;

	wp_random_init(&random, seed);
	for (size_t i = 0; i < COUNT; i++)
		values[i] = (i < change ? level : lower) * (0.9 + 0.2 * wp_random_unit(&random));
}

static void a_fall_is_found_where_it_is(void **state)
{
	static const size_t changes[] = { 60, 100, 150, 240 };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(changes); i++) {
		struct wp_change_point point;

		fill(i, changes[i], 1200, 120);
		point = wp_change_point_find(values, COUNT, 0.8);
		assert_true(point.is_found);
		assert_int_equal(point.index, changes[i]);
		assert_true(point.before > 1100 && point.before < 1300);
		assert_true(point.after > 110 && point.after < 130);
	}
}

static void steady_noise_never_is_a_fall(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		fill(seed, COUNT, 1200, 0);
		assert_false(wp_change_point_find(values, COUNT, 0.8).is_found);
	}
}

static void single_outliers_are_no_fall(void **state)
{
	(void)state;
	fill(1, COUNT, 1200, 0);
	for (size_t i = 7; i < COUNT; i += 50)
		values[i] = 3;
	assert_false(wp_change_point_find(values, COUNT, 0.8).is_found);
}

static void a_rise_is_no_fall(void **state)
{
	(void)state;
	fill(1, 150, 120, 1200);
	assert_false(wp_change_point_find(values, COUNT, 0.8).is_found);
}

static void a_small_fall_is_certain_but_does_not_count(void **state)
{
	struct wp_change_point point;

	(void)state;
	fill(1, 150, 1200, 1080);
	point = wp_change_point_find(values, COUNT, 0.8);
	assert_true(point.p_value < 0.001);
	assert_false(point.is_found);
}

static void a_handful_of_values_gives_no_answer(void **state)
{
	(void)state;
	fill(1, 5, 1200, 120);
	assert_false(wp_change_point_find(values, 9, 0.8).is_found);
	assert_false(wp_change_point_find(values, 0, 0.8).is_found);
	for (size_t i = 0; i < COUNT; i++)
		values[i] = 7;
	assert_false(wp_change_point_find(values, COUNT, 0.8).is_found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fall_is_found_where_it_is),
		cmocka_unit_test(steady_noise_never_is_a_fall),
		cmocka_unit_test(single_outliers_are_no_fall),
		cmocka_unit_test(a_rise_is_no_fall),
		cmocka_unit_test(a_small_fall_is_certain_but_does_not_count),
		cmocka_unit_test(a_handful_of_values_gives_no_answer),
	};

	return cmocka_run_group_tests_name("change_point", tests, NULL, NULL);
}
