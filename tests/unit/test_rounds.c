/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"

#include "fake_rounds.h"
#include "probe/kept.h"
#include "probe/quiesce.h"
#include "walprobe/stop.h"

#include <math.h>
#include <signal.h>

/* In place of the walk to real devices. */
__attribute__((weak)) void wp_flush_read(const struct wp_os *os, const struct wp_stack_roots *roots,
	const struct wp_stack *stack, struct wp_flush_counts *out)
{
	(void)os;
	(void)roots;
	fake_flush_read(stack, out);
}

static void every_round_runs_each_measure_once_in_a_new_order(void **state)
{
	int changed = 0;

	(void)state;
	assert_int_equal(run_plan(), 0);
	assert_int_equal(machine.log_count, 40);
	for (size_t round = 0; round < 10; round++) {
		const int *order = &machine.log[round * 4];
		int seen = 0;

		for (size_t i = 0; i < 4; i++)
			seen |= 1 << order[i];
		assert_int_equal(seen, 15);
		changed += memcmp(order, machine.log, 4 * sizeof(*order)) != 0;
	}
	assert_true(changed >= 5);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(item(i)->round_count, 10);
		assert_int_equal(item(i)->operations, 100);
		assert_int_equal(item(i)->hist.count, 100);
		assert_int_equal(item(i)->elapsed_ns, 10 * BLOCK_NS);
		for (int round = 0; round < 10; round++)
			assert_true(item(i)->values[round] > 0);
	}
	assert_true(plan.run.result->is_complete);
	assert_string_equal(machine.told, "");
}

static void the_seed_settles_the_order(void **state)
{
	int first[40];

	assert_int_equal(run_plan(), 0);
	memcpy(first, machine.log, sizeof(first));
	(void)tear_down(state);
	(void)set_up(state);
	assert_int_equal(run_plan(), 0);
	assert_memory_equal(first, machine.log, sizeof(first));
	(void)tear_down(state);
	(void)set_up(state);
	plan.run.seed = 2;
	assert_int_equal(run_plan(), 0);
	assert_memory_not_equal(first, machine.log, sizeof(first));
}

static void a_warm_up_is_run_once_and_not_counted(void **state)
{
	(void)state;
	plan.run.warmup_ns = BLOCK_NS / 5;
	assert_int_equal(run_plan(), 0);
	assert_int_equal(machine.log_count, 44);
	for (int i = 0; i < 4; i++)
		assert_int_equal(machine.log[i], i);
	assert_int_equal(item(0)->operations, 100);
	assert_int_equal(item(0)->hist.count, 100);
	assert_int_equal(item(0)->hist.min_ns, 2000); /* the first run's 1000 is not in it */
}

static void the_expected_time_counts_what_will_run(void **state)
{
	int64_t all_ns;

	(void)state;
	plan.run.warmup_ns = 100 * WP_NS_PER_MS;
	all_ns = wp_rounds_expected_ns(&plan.run, &plan.measures);
	assert_int_equal(all_ns, 4 * (10 * 520 + 120) * WP_NS_PER_MS);
	wp_measure_set_absent(item(0), "not here");
	assert_int_equal(wp_rounds_expected_ns(&plan.run, &plan.measures), all_ns / 4 * 3);
	assert_int_equal(run_plan(), 0);
	assert_int_equal(plan.scripts[0].runs, 0);
	assert_int_equal(machine.progress_calls, 33);
	assert_false(machine.has_bad_progress);
}

static void a_failure_stays_on_its_target(void **state)
{
	(void)state;
	plan.scripts[1].fail_at = 3;
	plan.scripts[1].fail_code = WP_E_SYS;
	assert_int_equal(run_plan(), 0);
	assert_int_equal(plan.run.problem_count, 1);
	assert_string_equal(
		machine.told, "error: target \"a\": could not sync \"f\": Input/output error\n");
	assert_string_equal(item(1)->absent, "could not sync \"f\": Input/output error");
	assert_string_equal(item(0)->absent,
		"a fdatasync two-writes failed: could not sync \"f\": Input/output error");
	assert_true(isnan(item(0)->values[0]) && isnan(item(1)->values[0]));
	assert_true(item(0)->raw_values[0] > 0);
	assert_int_equal(plan.scripts[1].runs, 3);
	assert_in_range(plan.scripts[0].runs, 2, 3);
	for (size_t i = 2; i < 4; i++) {
		assert_null(item(i)->absent);
		assert_int_equal(item(i)->operations, 100);
	}
	assert_true(plan.run.result->is_complete);
}

static void what_keeps_its_rounds_counts_them_when_its_target_fails(void **state)
{
	int64_t finished;

	(void)state;
	plan.scripts[1].fail_at = 3;
	plan.scripts[1].fail_code = WP_E_SERVER;
	item(0)->keeps_rounds = item(1)->keeps_rounds = true;
	assert_int_equal(run_plan(), 0);
	assert_int_equal(plan.run.problem_count, 1);
	assert_non_null(item(1)->absent);
	assert_true(isnan(item(1)->values[0]));
	assert_null(item(0)->absent);
	assert_true(item(0)->is_over);
	finished = plan.scripts[0].runs;
	assert_in_range(finished, 2, 3);
	assert_int_equal(item(0)->operations, 10 * finished);
	assert_true(item(0)->values[0] > 0 && item(0)->values[1] > 0);
	assert_int_equal(item(2)->operations, 100);
	assert_false(item(2)->is_over);
}

static void what_has_no_round_to_keep_is_absent(void **state)
{
	(void)state;
	plan.scripts[0].fail_at = plan.scripts[1].fail_at = 1;
	plan.scripts[0].fail_code = plan.scripts[1].fail_code = WP_E_SERVER;
	item(0)->keeps_rounds = item(1)->keeps_rounds = true;
	assert_int_equal(run_plan(), 0);
	assert_non_null(item(0)->absent);
	assert_non_null(item(1)->absent);
	assert_int_equal(plan.run.problem_count, 1);
}

static void the_rounds_end_when_every_target_failed(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		plan.scripts[i].fail_at = 1;
		plan.scripts[i].fail_code = WP_E_NOSPACE;
	}
	assert_int_equal(run_plan(), 0);
	assert_int_equal(plan.run.problem_count, 2);
	assert_int_equal(machine.log_count, 2);
	assert_int_equal(plan.measures.round_count, 1);
}

static void what_is_unsupported_is_absent_alone(void **state)
{
	(void)state;
	plan.scripts[2].fail_at = 1;
	plan.scripts[2].fail_code = WP_E_UNSUPPORTED;
	assert_int_equal(run_plan(), 0);
	assert_int_equal(plan.run.problem_count, 0);
	assert_string_equal(machine.told, "");
	assert_string_equal(item(2)->absent, "could not sync \"f\": Input/output error");
	assert_null(item(3)->absent);
	assert_int_equal(plan.scripts[2].runs, 1);
	assert_int_equal(item(3)->operations, 100);
}

static void a_signal_keeps_what_was_measured(void **state)
{
	struct wp_err err;

	(void)state;
	plan.scripts[3].stop_at = 4;
	assert_int_equal(wp_rounds_run(&plan.run, &plan.measures, &err), -WP_E_STOPPED);
	assert_int_equal(err.code, WP_E_STOPPED);
	assert_false(plan.run.result->is_complete);
	assert_int_equal(plan.run.problem_count, 0);
	assert_int_equal(machine.log[machine.log_count - 1], 3);
	assert_int_equal(item(3)->round_count, 4);
	assert_int_equal(item(3)->operations, 30);
	assert_true(item(3)->values[2] > 0);
	assert_true(isnan(item(3)->values[3])); /* cut by the signal */
	for (size_t i = 0; i < 3; i++) {
		assert_null(item(i)->absent);
		assert_int_equal(item(i)->operations, 10 * plan.scripts[i].runs);
	}
}

static void a_signal_before_the_start_measures_nothing(void **state)
{
	double middle;
	double low;
	double high;

	(void)state;
	wp_stop_raise(SIGTERM);
	assert_int_equal(run_plan(), -WP_E_STOPPED);
	assert_int_equal(machine.log_count, 0);
	assert_string_equal(
		wp_measure_interval(item(0), &middle, &low, &high), "no round was measured");
	assert_true(isnan(middle) && isnan(low) && isnan(high));
}

/* A round lasts 2 s here (4 blocks): 51 ticks of one core's 200 are more than a quarter. */
static void the_worst_rounds_are_dropped_as_whole_rounds(void **state)
{
	(void)state;
	plan.scripts[0].foreign_ticks[3] = 60;
	plan.scripts[1].foreign_ticks[5] = 90;
	plan.scripts[2].foreign_ticks[8] = 70;
	plan.scripts[3].foreign_ticks[9] = 40;
	assert_int_equal(run_plan(), 0);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(item(i)->operations, 80);
		assert_int_equal(item(i)->syncs, 80);
		assert_int_equal(item(i)->hist.count, 80);
		/* Runs 5 and 8 (5000 and 8000 ns) are not among the samples. */
		assert_int_equal(item(i)->hist.sum_ns, 10 * 1000 * (55 - 5 - 8));
		for (int round = 0; round < 10; round++) {
			assert_int_equal(isnan(item(i)->values[round]), round == 4 || round == 7);
			assert_true(item(i)->raw_values[round] > 0);
		}
	}
	assert_string_equal(plan.measures.rounds[4].dropped, "foreign CPU 45.0% of a core");
	assert_string_equal(plan.measures.rounds[7].dropped, "foreign CPU 35.0% of a core");
	assert_null(plan.measures.rounds[2].dropped);
	assert_string_equal(machine.told,
		"detail: round 5 does not count: foreign CPU 45.0% of a core\n"
		"detail: round 8 does not count: foreign CPU 35.0% of a core\n"
		"warning: this machine was busy in 3 of 10 rounds (worst: foreign CPU 45.0% of a "
		"core); 2 of them do not count, the others do\n");
}

static void six_rounds_always_remain(void **state)
{
	(void)state;
	plan.run.rounds = 6;
	for (int run = 1; run <= 6; run++)
		plan.scripts[0].foreign_ticks[run] = 100;
	assert_int_equal(run_plan(), 0);
	assert_int_equal(item(0)->operations, 60);
	assert_int_equal(wp_suspects_limit(5), 0);
	assert_int_equal(wp_suspects_limit(6), 0);
	assert_int_equal(wp_suspects_limit(7), 1);
	assert_int_equal(wp_suspects_limit(9), 1);
	assert_int_equal(wp_suspects_limit(10), 2);
	assert_int_equal(wp_suspects_limit(20), 4);
}

static void a_run_cut_short_may_drop_fewer_rounds(void **state)
{
	(void)state;
	for (int run = 1; run <= 5; run++)
		plan.scripts[0].foreign_ticks[run] = 100;
	plan.scripts[0].stop_at = 6;
	assert_int_equal(run_plan(), -WP_E_STOPPED);
	assert_int_equal(item(0)->operations, 50);
	assert_int_equal(item(0)->hist.count, 50);
	for (int round = 0; round < 5; round++)
		assert_true(item(0)->values[round] > 0);
}

static void foreign_requests_show_in_the_idle_windows(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		plan.targets[i].stack.layers = &disk_layer;
		plan.targets[i].stack.layer_count = 1;
	}
	plan.run.rounds = 7;
	machine.disk_requests_per_sleep = 1; /* 50 a second beside 200 */
	assert_int_equal(run_plan(), 0);
	assert_true(fabs(plan.measures.rounds[0].noise.foreign_io - 0.25) < 1e-9);
	assert_non_null(strstr(machine.told, "foreign I/O 25.0%"));
	assert_int_equal(item(0)->operations, 60);
}

static void flushes_are_counted_around_each_block(void **state)
{
	(void)state;
	plan.targets[0].stack.layers = &disk_layer;
	plan.targets[0].stack.layer_count = 1;
	plan.scripts[0].foreign_ticks[2] = 200; /* the dropped round's flushes do not count */
	assert_int_equal(run_plan(), 0);
	assert_null(item(0)->flushes_unknown);
	assert_int_equal(item(0)->syncs, 90);
	assert_int_equal(item(0)->flushes, 180);
	assert_string_equal(item(2)->flushes_unknown, "no block device");
}

static void every_block_is_followed_by_write_back_of_its_target(void **state)
{
	(void)state;
	plan.targets[0].dir = target_dir;
	assert_int_equal(run_plan(), 0);
	assert_int_equal(atomic_load(&machine.syncfs_calls), 1 + 2 * 10);
}

static void a_failed_write_back_fails_the_target(void **state)
{
	(void)state;
	plan.targets[0].dir = target_dir;
	atomic_store(&machine.syncfs_rc, -EIO);
	assert_int_equal(run_plan(), 0);
	assert_string_equal(machine.told,
		"error: target \"a\": could not write back the file system of \"/target\": "
		"Input/output error\n");
	assert_int_equal(plan.run.problem_count, 1);
	assert_non_null(item(0)->absent);
	assert_non_null(item(1)->absent);
	assert_int_equal(item(2)->operations, 100);
}

static struct wp_sem gate;

static int blocked_syncfs(void *ctx, int fd)
{
	wp_sem_wait(&gate);
	return fake_syncfs(ctx, fd);
}

static void late_write_back_is_not_waited_for(void **state)
{
	struct wp_quiesce quiesce;
	struct wp_err err;

	(void)state;
	wp_sem_init(&gate, 0);
	machine.ops.syncfs = blocked_syncfs;
	plan.targets[0].dir = target_dir;
	wp_quiesce_init(&quiesce, &machine.os, &plan.targets[0]);
	assert_int_equal(wp_quiesce_wait(&quiesce, 1, &err), 1);
	assert_int_equal(wp_quiesce_wait(&quiesce, 1, &err), 1); /* still the same one */
	wp_sem_post(&gate);
	assert_int_equal(wp_quiesce_wait(&quiesce, 60 * WP_NS_PER_S, &err), 0);
	assert_int_equal(atomic_load(&machine.syncfs_calls), 1);
	wp_sem_post(&gate);
	assert_int_equal(wp_quiesce_wait(&quiesce, 60 * WP_NS_PER_S, &err), 0);
	assert_int_equal(atomic_load(&machine.syncfs_calls), 2);
	wp_quiesce_release(&quiesce);
	wp_sem_release(&gate);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(every_round_runs_each_measure_once_in_a_new_order),
		TEST(the_seed_settles_the_order),
		TEST(a_warm_up_is_run_once_and_not_counted),
		TEST(the_expected_time_counts_what_will_run),
		TEST(a_failure_stays_on_its_target),
		TEST(what_keeps_its_rounds_counts_them_when_its_target_fails),
		TEST(what_has_no_round_to_keep_is_absent),
		TEST(the_rounds_end_when_every_target_failed),
		TEST(what_is_unsupported_is_absent_alone),
		TEST(a_signal_keeps_what_was_measured),
		TEST(a_signal_before_the_start_measures_nothing),
		TEST(the_worst_rounds_are_dropped_as_whole_rounds),
		TEST(six_rounds_always_remain),
		TEST(a_run_cut_short_may_drop_fewer_rounds),
		TEST(foreign_requests_show_in_the_idle_windows),
		TEST(flushes_are_counted_around_each_block),
		TEST(every_block_is_followed_by_write_back_of_its_target),
		TEST(a_failed_write_back_fails_the_target),
		TEST(late_write_back_is_not_waited_for),
	};

	return cmocka_run_group_tests_name("rounds", tests, NULL, NULL);
}
