/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"

#include "walprobe/ramp.h"

#include <math.h>

static struct wp_ramp_step step(int64_t clients, double tps)
{
	return (struct wp_ramp_step){
		.clients = clients,
		.tps = tps,
		.spread = 0.05,
		.elapsed_ns = 10 * WP_NS_PER_S,
		.client_cpu = 0.2,
		.checkpoints = 0,
		.rounds = 3,
	};
}

static const struct wp_check *find(const struct wp_result *result, const char *id)
{
	for (size_t i = 0; i < result->check_count; i++)
		if (strcmp(result->checks[i].id, id) == 0)
			return &result->checks[i];
	return NULL;
}

static void the_knee_is_the_first_step_that_no_later_one_exceeds(void **state)
{
	struct wp_ramp_step steps[] = { step(1, 100), step(2, 190), step(4, 300), step(8, 310),
		step(16, 290) };

	(void)state;
	assert_int_equal(wp_ramp_knee(steps, 5), 2);
	steps[4].tps = 320;
	assert_int_equal(wp_ramp_knee(steps, 5), 4 - 1);
	steps[3].tps = 400;
	steps[4].tps = 500;
	assert_int_equal(wp_ramp_knee(steps, 5), -1);
	assert_int_equal(wp_ramp_knee(steps, 1), -1);
	assert_int_equal(wp_ramp_knee(steps, 0), -1);
}

static void a_quiet_ramp_has_no_finding(void **state)
{
	struct wp_ramp_step steps[] = { step(1, 100), step(2, 200) };
	struct wp_result *result = wp_result_new("ramp");

	(void)state;
	wp_ramp_judge(result, "db", 8, true, steps, 2);
	assert_int_equal(result->check_count, 0);
	wp_result_free(result);
}

static void every_flaw_of_a_step_is_named_with_its_clients(void **state)
{
	struct wp_ramp_step steps[] = { step(1, 100), step(4, 200), step(8, 300) };
	struct wp_result *result = wp_result_new("ramp");

	(void)state;
	steps[1].client_cpu = 0.9;
	steps[1].checkpoints = 1;
	steps[2].connect_ns = 4 * WP_NS_PER_S;
	steps[2].idle_clients = 3;
	steps[0].spread = 0.5;
	steps[0].elapsed_ns = WP_NS_PER_S;
	wp_ramp_judge(result, "db", 4, true, steps, 3);
	assert_string_equal(find(result, "ramp-scale")->observed, "at 8 clients");
	assert_string_equal(find(result, "ramp-client-cpu")->observed, "at 4 clients");
	assert_string_equal(find(result, "ramp-checkpoint")->observed, "at 4 clients");
	assert_string_equal(find(result, "ramp-connect")->observed, "at 8 clients");
	assert_string_equal(find(result, "ramp-starved")->observed, "at 8 clients");
	assert_string_equal(find(result, "ramp-short")->observed, "at 1 client");
	assert_null(find(result, "ramp-knee"));
	assert_false(wp_result_has_failed_check(result));
	wp_result_free(result);
}

static void no_knee_is_read_from_figures_that_are_vague(void **state)
{
	struct wp_ramp_step steps[] = { step(1, 100), step(2, 200), step(4, 205) };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct wp_result *result = wp_result_new("ramp");

		steps[1].tps_low = i ? 150 : 190;
		steps[1].tps_high = 210;
		wp_ramp_judge(result, "db", 8, true, steps, 3);
		assert_true((find(result, "ramp-knee") != NULL) == (i == 0));
		wp_result_free(result);
	}
}

static void unknown_checkpoints_are_no_finding(void **state)
{
	struct wp_ramp_step steps[] = { step(1, 100) };
	struct wp_result *result = wp_result_new("ramp");

	(void)state;
	steps[0].checkpoints = (double)NAN;
	steps[0].spread = (double)NAN;
	wp_ramp_judge(result, "db", 1, true, steps, 1);
	assert_int_equal(result->check_count, 0);
	wp_result_free(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_knee_is_the_first_step_that_no_later_one_exceeds),
		cmocka_unit_test(a_quiet_ramp_has_no_finding),
		cmocka_unit_test(every_flaw_of_a_step_is_named_with_its_clients),
		cmocka_unit_test(unknown_checkpoints_are_no_finding),
		cmocka_unit_test(no_knee_is_read_from_figures_that_are_vague),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
