/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "fake_os.h"
#include "walprobe/mem.h"
#include "walprobe/probe_append.h"

static struct fake_os fake;
static struct wp_os_ops ops;
static struct wp_os os;
static struct wp_run run;
static struct wp_target target;
static struct wp_append_options options;
static struct wp_measures measures;
static struct wp_err err;
static char told[8192];

static void tell(void *ctx, const char *kind, const char *text)
{
	size_t used = strlen(told);

	(void)ctx;
	(void)snprintf(told + used, sizeof(told) - used, "%s: %s\n", kind, text);
}

/* Others' dirty pages on the same file system are none of this test's business. */
static int no_syncfs(void *ctx, int fd)
{
	(void)ctx;
	(void)fd;
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	fake_os_init(&fake);
	ops = *fake.os.ops;
	ops.syncfs = no_syncfs;
	os = (struct wp_os){ &ops, &fake };
	run = (struct wp_run){ .os = &os, .rounds = 1, .time_ns = WP_NS_PER_MS, .tell = tell };
	run.result = wp_result_new("append");
	memset(&target, 0, sizeof(target));
	target.label = "here";
	target.dir = wp_xstrdup(scratch_dir());
	target.is_open = true;
	wp_append_standard(&options);
	options.segment_bytes = INT64_C(1) << 20;
	options.segments = 2;
	options.client_count = 2;
	memset(&measures, 0, sizeof(measures));
	memset(&err, 0, sizeof(err));
	told[0] = '\0';
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fake_os_arm(&fake, NULL, 0, 0);
	wp_measures_release(&measures);
	wp_result_free(run.result);
	scratch_dir_remove(target.dir);
	free(target.dir);
	return 0;
}

static int plan(void)
{
	return wp_append_plan(&run, &target, &options, &measures, &err);
}

static const struct wp_row *row_of(int64_t clients)
{
	const struct wp_table *table = wp_result_find_table(run.result, "append");

	for (size_t i = 0; table && i < table->row_count; i++)
		if (wp_row_get_number(table->rows[i], "clients") == (double)clients)
			return table->rows[i];
	return NULL;
}

static void a_measure_for_each_method_and_number_of_clients(void **state)
{
	(void)state;
	assert_int_equal(wp_method_parse_list("all", &options.methods, NULL), 0);
	assert_int_equal(plan(), 0);
	assert_int_equal(measures.count, 5 * 2);
	for (size_t i = 0; i < measures.count; i++)
		assert_true(
			!measures.items[i]->absent || strstr(measures.items[i]->absent, "macOS"));
}

static void rows_have_commits_syncs_and_recycled_segments(void **state)
{
	(void)state;
	run.rounds = 3;
	run.time_ns = 30 * WP_NS_PER_MS;
	assert_int_equal(plan(), 0);
	assert_non_null(wp_append_plan_twin(measures.items[0], &measures));
	assert_int_equal(wp_rounds_run(&run, &measures, &err), 0);
	wp_append_fill(&run, &measures);
	assert_int_equal(wp_result_find_table(run.result, "append")->row_count, 2);
	for (int64_t clients = 1; clients <= 2; clients++) {
		const struct wp_cell *rate = wp_row_cell(row_of(clients), "commits_per_s");

		/* A busy machine may not reach the end of a segment; then it says so. */
		if (rate->state == WP_CELL_ABSENT) {
			assert_non_null(strstr(rate->text, "recycled"));
			continue;
		}
		assert_true(rate->real > 0);
		assert_true(wp_row_get_number(row_of(clients), "commits_per_sync") <= 2);
		assert_true(wp_row_get_number(row_of(clients), "recycled") >= 1);
	}
	assert_int_equal(wp_result_find_table(run.result, "append_first_lap")->row_count, 1);
}

static void where_nothing_is_recycled_there_is_no_steady_row(void **state)
{
	(void)state;
	options.is_natural = true;
	options.segment_bytes = INT64_C(16) << 20;
	assert_int_equal(plan(), 0);
	assert_int_equal(wp_rounds_run(&run, &measures, &err), 0);
	wp_append_fill(&run, &measures);
	assert_non_null(row_of(2));
	if (wp_row_cell(row_of(2), "commits_per_s")->state == WP_CELL_ABSENT)
		assert_non_null(strstr(wp_row_cell(row_of(2), "commits_per_s")->text, "recycled"));
}

static void without_hard_links_recycling_by_link_is_absent(void **state)
{
	(void)state;
	options.recycle = WP_RECYCLE_LINK;
	fake_os_arm(&fake, "link", 1, EPERM);
	assert_int_equal(plan(), 0);
	for (size_t i = 0; i < measures.count; i++)
		assert_non_null(strstr(measures.items[i]->absent, "link"));
	assert_int_equal(wp_rounds_run(&run, &measures, &err), 0);
	assert_int_equal(run.problem_count, 0);
}

static void a_target_that_is_not_open_leaves_rows_with_its_reason(void **state)
{
	(void)state;
	target.is_open = false;
	target.absent = wp_xstrdup("this kernel lacks jfs");
	assert_int_equal(plan(), 0);
	wp_append_fill(&run, &measures);
	assert_string_equal(wp_row_cell(row_of(1), "commits_per_s")->text, "this kernel lacks jfs");
	free(target.absent);
}

/* One failing call, whichever: one problem that names the target's files, no figure that counts a
 * failed sync, no descriptor left. */
static void fail_nth(const char *call, int64_t n)
{
	assert_int_equal(plan(), 0);
	fake_os_arm(&fake, call, n, EIO);
	assert_int_equal(wp_rounds_run(&run, &measures, &err), 0);
	if (atomic_load(&fake.failures)) {
		assert_int_equal(run.problem_count, 1);
		assert_non_null(strstr(told, target.dir));
		for (size_t i = 0; i < measures.count; i++)
			assert_non_null(measures.items[i]->absent);
	}
	fake_os_arm(&fake, NULL, 0, 0);
	wp_measures_release(&measures);
	assert_int_equal(atomic_load(&fake.open_count), 0);
}

static void a_failing_sync_or_write_takes_the_target_out(void **state)
{
	static const char *const calls[] = { "fdatasync", "pwrite", "pwritev", "fsync", "rename" };
	static const int64_t nth[] = { 1, 2, 3, 7 };

	for (size_t c = 0; c < WP_COUNT(calls); c++)
		for (size_t n = 0; n < WP_COUNT(nth); n++) {
			fail_nth(calls[c], nth[n]);
			(void)tear_down(state);
			(void)set_up(state);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		TEST(a_measure_for_each_method_and_number_of_clients),
		TEST(rows_have_commits_syncs_and_recycled_segments),
		TEST(where_nothing_is_recycled_there_is_no_steady_row),
		TEST(without_hard_links_recycling_by_link_is_absent),
		TEST(a_target_that_is_not_open_leaves_rows_with_its_reason),
		TEST(a_failing_sync_or_write_takes_the_target_out),
#undef TEST
	};

	return cmocka_run_group_tests_name("probe_append", tests, NULL, NULL);
}
