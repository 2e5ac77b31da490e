/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"

#include "fake_rounds.h"

#include <math.h>

/* In place of the walk to real devices. */
__attribute__((weak)) void wp_flush_read(const struct wp_os *os, const struct wp_stack_roots *roots,
	const struct wp_stack *stack, struct wp_flush_counts *out)
{
	(void)os;
	(void)roots;
	fake_flush_read(stack, out);
}

static const struct wp_column sync_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "" },
	{ "method", "method", "", WP_KIND_TEXT, "" },
	{ "variant", "variant", "", WP_KIND_TEXT, "" },
	{ "ops_per_s", "ops/s", "1/s", WP_KIND_REAL, "" },
	{ "ci_low", "low", "1/s", WP_KIND_REAL, "" },
	{ "ci_high", "high", "1/s", WP_KIND_REAL, "" },
	{ "mean_ns", "mean", "ns", WP_KIND_INT, "" },
	{ "p50_ns", "p50", "ns", WP_KIND_INT, "" },
	{ "p99_ns", "p99", "ns", WP_KIND_INT, "" },
	{ "p999_ns", "p99.9", "ns", WP_KIND_INT, "" },
	{ "max_ns", "max", "ns", WP_KIND_INT, "" },
	{ "ops", "ops", "", WP_KIND_INT, "" },
	{ "flushes_per_op", "flushes", "", WP_KIND_REAL, "" },
	{ "steady", "steady", "", WP_KIND_TEXT, "" },
};

static struct wp_row *fill(const struct wp_measure *measure)
{
	struct wp_row *row = wp_table_add_row(wp_result_table(
		plan.run.result, "sync", "Sync", sync_columns, WP_COUNT(sync_columns)));

	wp_measure_fill_row(measure, row);
	return row;
}

static const char *reason(const struct wp_row *row, const char *key)
{
	assert_int_equal(wp_row_cell(row, key)->state, WP_CELL_ABSENT);
	return wp_row_cell(row, key)->text;
}

static void a_row_holds_what_the_rounds_gave(void **state)
{
	const struct wp_row *row;

	(void)state;
	plan.targets[0].stack.layers = &disk_layer;
	plan.targets[0].stack.layer_count = 1;
	assert_int_equal(run_plan(), 0);
	row = fill(item(0));
	assert_string_equal(wp_row_get_text(row, "target"), "a");
	assert_string_equal(wp_row_get_text(row, "method"), "fdatasync");
	assert_string_equal(wp_row_get_text(row, "variant"), "overwrite");
	/* values 101 ... 110: nearly even, so the middle is near 105.5 */
	assert_true(fabs(wp_row_get_number(row, "ops_per_s") - 105.5) < 0.1);
	assert_true(wp_row_get_number(row, "ci_low") > 101);
	assert_true(wp_row_get_number(row, "ci_low") < 105);
	assert_true(wp_row_get_number(row, "ci_high") < 110);
	assert_true(wp_row_get_number(row, "ci_high") > 106);
	assert_int_equal(wp_row_cell(row, "mean_ns")->integer, 5500);
	assert_in_range(wp_row_cell(row, "p50_ns")->integer, 5000, 5040);
	assert_int_equal(wp_row_cell(row, "p99_ns")->integer, 10000);
	assert_int_equal(wp_row_cell(row, "max_ns")->integer, 10000);
	assert_string_equal(reason(row, "p999_ns"), "p99.9 needs 1000 samples, there are 100");
	assert_int_equal(wp_row_cell(row, "ops")->integer, 100);
	assert_true(fabs(wp_row_get_number(row, "flushes_per_op") - 2) < 1e-9);
	assert_string_equal(wp_row_get_text(row, "steady"), "yes");
	assert_string_equal(reason(fill(item(2)), "flushes_per_op"), "no block device");
}

static void too_little_is_absent_with_its_reason(void **state)
{
	const struct wp_row *row;

	(void)state;
	plan.run.rounds = 4;
	plan.scripts[1].samples = 0;
	plan.scripts[2].fail_at = 1;
	plan.scripts[2].fail_code = WP_E_UNSUPPORTED;
	plan.targets[0].stack.layers = &disk_layer;
	plan.targets[0].stack.layer_count = 1;
	assert_int_equal(run_plan(), 0);
	row = fill(item(0));
	assert_true(wp_row_get_number(row, "ops_per_s") > 0);
	assert_string_equal(reason(row, "ci_low"), "fewer than 6 rounds");
	assert_string_equal(reason(row, "ci_high"), "fewer than 6 rounds");
	assert_string_equal(reason(row, "p99_ns"), "p99 needs 100 samples, there are 40");
	assert_string_equal(reason(row, "steady"), "fewer than 5 rounds");
	row = fill(item(1));
	assert_string_equal(reason(row, "p50_ns"), "no latency was recorded");
	assert_string_equal(reason(row, "max_ns"), "no latency was recorded");
	assert_string_equal(reason(row, "flushes_per_op"), "no synchronous write");
	row = fill(item(2));
	assert_string_equal(wp_row_get_text(row, "target"), "b");
	for (size_t i = 3; i < WP_COUNT(sync_columns); i++)
		assert_string_equal(reason(row, sync_columns[i].key),
			"could not sync \"f\": Input/output error");
}

static void raw_rounds_stay_in_the_document(void **state)
{
	const struct wp_table *table;
	struct wp_measure *twin = add_measure(&plan.targets[0], &plan.scripts[4], 4);
	int twins = 0;
	int dropped = 0;

	(void)state;
	twin->is_twin = true;
	plan.scripts[1].fail_at = 3;
	plan.scripts[1].fail_code = WP_E_UNSUPPORTED;
	plan.scripts[0].foreign_ticks[5] = 200;
	assert_int_equal(run_plan(), 0);
	wp_rounds_fill(&plan.run, &plan.measures);
	table = wp_result_find_table(plan.run.result, "rounds");
	assert_int_equal(table->row_count, 4 * 10 + 2);
	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];

		assert_string_equal(wp_row_get_text(row, "table"), "sync");
		assert_string_equal(wp_row_get_text(row, "metric"), "ops_per_s");
		assert_true(wp_row_get_number(row, "value") > 0);
		assert_int_equal(wp_row_cell(row, "clients")->state, WP_CELL_ABSENT);
		assert_string_equal(reason(row, "foreign_io"), "cannot be seen here");
		twins += strcmp(wp_row_get_text(row, "twin"), "yes") == 0;
		dropped += strncmp(wp_row_get_text(row, "dropped"), "foreign CPU", 11) == 0;
	}
	assert_int_equal(twins, 10);
	assert_int_equal(dropped, 4);
	/* Measure 1's two rounds before it stopped: there, but not counting. */
	assert_int_equal(wp_row_cell(table->rows[10], "round")->integer, 1);
	assert_string_equal(wp_row_get_text(table->rows[10], "variant"), "two-writes");
	assert_string_equal(wp_row_get_text(table->rows[10], "dropped"),
		"could not sync \"f\": Input/output error");
}

static void releasing_a_list_releases_its_measures(void **state)
{
	(void)state;
	wp_measures_release(&plan.measures);
	for (int i = 0; i < 4; i++)
		assert_true(plan.scripts[i].is_released);
	assert_int_equal(plan.measures.count, 0);
	wp_measures_release(&plan.measures);
}

static void the_first_reason_of_absence_stays(void **state)
{
	char text[64];

	(void)state;
	wp_measure_set_absent(item(0), "first %d", 1);
	wp_measure_set_absent(item(0), "second");
	assert_string_equal(item(0)->absent, "first 1");
	item(0)->clients = 8;
	assert_string_equal(wp_measure_describe(item(0), text, sizeof(text)),
		"a fdatasync overwrite, 8 clients");
	assert_string_equal(wp_measure_describe(item(0), text, 8), "a fdata");
}

static void a_problem_is_told_with_detail_and_hint(void **state)
{
	struct wp_err err;

	(void)state;
	(void)wp_fail(&err, WP_E_SYS, ENOSPC, "could not write \"x\"");
	wp_err_detail(&err, "8192 bytes needed.");
	wp_err_hint(&err, "Make room.");
	wp_run_problem(&plan.run, &err);
	assert_string_equal(machine.told,
		"error: could not write \"x\": No space left on device (8192 bytes needed.)\n"
		"hint: Make room.\n");
	assert_int_equal(plan.run.problem_count, 1);
	plan.run.tell = NULL;
	wp_run_problem(&plan.run, &err);
	assert_int_equal(plan.run.problem_count, 2);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_row_holds_what_the_rounds_gave),
		TEST(too_little_is_absent_with_its_reason),
		TEST(raw_rounds_stay_in_the_document),
		TEST(releasing_a_list_releases_its_measures),
		TEST(the_first_reason_of_absence_stays),
		TEST(a_problem_is_told_with_detail_and_hint),
	};

	return cmocka_run_group_tests_name("measures", tests, NULL, NULL);
}
