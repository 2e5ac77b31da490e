/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"

#include "walprobe/random.h"

/* The generator's authors publish no vectors; these are xoshiro256** over state 1, 2, 3, 4. */
static void the_generator_is_xoshiro256(void **state)
{
	struct wp_random random = { .state = { 1, 2, 3, 4 } };

	(void)state;
	assert_true(wp_random_next(&random) == UINT64_C(11520));
	assert_true(wp_random_next(&random) == UINT64_C(0));
	assert_true(wp_random_next(&random) == UINT64_C(1509978240));
	assert_true(wp_random_next(&random) == UINT64_C(1215971899390074240));
}

static void the_seed_is_spread_by_splitmix64(void **state)
{
	struct wp_random random;

	(void)state;
	wp_random_init(&random, 0);
	assert_true(random.state[0] == UINT64_C(0xe220a8397b1dcdaf));
	assert_true(random.state[1] == UINT64_C(0x6e789e6aa1b965f4));
}

static void the_same_seed_gives_the_same_bytes(void **state)
{
	struct wp_random first;
	struct wp_random second;
	unsigned char a[37];
	unsigned char b[37];

	(void)state;
	wp_random_init(&first, 42);
	wp_random_init(&second, 42);
	wp_random_fill(&first, a, sizeof(a));
	wp_random_fill(&second, b, sizeof(b));
	assert_memory_equal(a, b, sizeof(a));
	wp_random_init(&second, 43);
	wp_random_fill(&second, b, sizeof(b));
	assert_memory_not_equal(a, b, sizeof(a));
}

static void numbers_below_a_limit_are_even(void **state)
{
	struct wp_random random;
	int counts[6] = { 0 };

	(void)state;
	wp_random_init(&random, 1);
	for (int i = 0; i < 60000; i++)
		counts[wp_random_below(&random, 6)]++;
	for (int i = 0; i < 6; i++)
		assert_in_range(counts[i], 9600, 10400);
	assert_int_equal(wp_random_below(&random, 1), 0);
}

static void the_unit_interval_excludes_one(void **state)
{
	struct wp_random random;
	double sum = 0;

	(void)state;
	wp_random_init(&random, 2);
	for (int i = 0; i < 10000; i++) {
		double value = wp_random_unit(&random);

		assert_true(value >= 0 && value < 1);
		sum += value;
	}
	assert_true(sum > 4900 && sum < 5100);
}

static void a_shuffle_is_a_permutation_and_all_orders_come_up(void **state)
{
	struct wp_random random;
	int seen[3][3][3] = { 0 };

	(void)state;
	wp_random_init(&random, 3);
	for (int i = 0; i < 6000; i++) {
		size_t items[] = { 0, 1, 2 };

		wp_random_shuffle(&random, items, 3);
		assert_int_equal(items[0] + items[1] + items[2], 3);
		assert_true(items[0] != items[1] && items[1] != items[2] && items[0] != items[2]);
		seen[items[0]][items[1]][items[2]]++;
	}
	assert_in_range(seen[0][1][2], 850, 1150);
	assert_in_range(seen[0][2][1], 850, 1150);
	assert_in_range(seen[1][0][2], 850, 1150);
	assert_in_range(seen[1][2][0], 850, 1150);
	assert_in_range(seen[2][0][1], 850, 1150);
	assert_in_range(seen[2][1][0], 850, 1150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_generator_is_xoshiro256),
		cmocka_unit_test(the_seed_is_spread_by_splitmix64),
		cmocka_unit_test(the_same_seed_gives_the_same_bytes),
		cmocka_unit_test(numbers_below_a_limit_are_even),
		cmocka_unit_test(the_unit_interval_excludes_one),
		cmocka_unit_test(a_shuffle_is_a_permutation_and_all_orders_come_up),
	};

	return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
