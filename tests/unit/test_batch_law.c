/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "walprobe/batch_law.h"

#include <math.h>

static double rate(int64_t clients, double outside_ns, double flush_ns)
{
	const struct wp_batch_law law = {
		.clients = clients, .outside_ns = outside_ns, .flush_ns = flush_ns
	};

	return wp_batch_law_rate(&law);
}

static void assert_near(double value, double expected)
{
	if (fabs(value - expected) > 0.01 * expected)
		fail_msg("%g instead of %g", value, expected);
}

static void one_client_does_one_after_the_other(void **state)
{
	(void)state;
	assert_near(rate(1, 400e3, 600e3), 1000);
}

static void two_clients_with_nothing_else_to_do_take_turns(void **state)
{
	(void)state;
	assert_near(rate(2, 1, 1e6), 1000);
}

static void many_clients_wait_half_of_them_for_each_flush(void **state)
{
	(void)state;
	assert_near(rate(8, 1, 2e6), 2000);
	assert_near(rate(32, 1, 2e6), 8000);
}

static void a_flush_that_costs_next_to_nothing_leaves_the_rest(void **state)
{
	(void)state;
	assert_near(rate(4, 1e6, 1), 4000);
}

static void processors_bound_the_rate(void **state)
{
	struct wp_batch_law law = {
		.clients = 100, .outside_ns = 1e6, .flush_ns = 1e3, .cpu_ns = 500e3, .processors = 2
	};

	(void)state;
	assert_near(wp_batch_law_rate(&law), 4000);
}

static void uneven_flushes_make_waiting_longer(void **state)
{
	struct wp_batch_law law = { .clients = 4, .outside_ns = 1e6, .flush_ns = 500e3 };
	double even = wp_batch_law_rate(&law);

	(void)state;
	law.variation = 1;
	assert_true(wp_batch_law_rate(&law) < even);
}

static void without_a_flush_time_there_is_no_rate(void **state)
{
	(void)state;
	assert_true(isnan(rate(1, 1e6, 0)));
	assert_true(isnan(rate(1, (double)NAN, 1e6)));
	assert_true(isnan(rate(0, 1e6, 1e6)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_client_does_one_after_the_other),
		cmocka_unit_test(two_clients_with_nothing_else_to_do_take_turns),
		cmocka_unit_test(many_clients_wait_half_of_them_for_each_flush),
		cmocka_unit_test(a_flush_that_costs_next_to_nothing_leaves_the_rest),
		cmocka_unit_test(processors_bound_the_rate),
		cmocka_unit_test(uneven_flushes_make_waiting_longer),
		cmocka_unit_test(without_a_flush_time_there_is_no_rate),
	};

	return cmocka_run_group_tests_name("batch_law", tests, NULL, NULL);
}
