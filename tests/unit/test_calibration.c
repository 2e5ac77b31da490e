/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "walprobe/calibration.h"

#include <math.h>
#include <stdlib.h>

static const struct wp_column ramp_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "" },
	{ "clients", "clients", "", WP_KIND_INT, "" },
	{ "tps_excluding", "tps", "1/s", WP_KIND_REAL, "" },
	{ "server_cpu_ns_per_transaction", "server", "ns", WP_KIND_INT, "" },
	{ "client_cpu_ns_per_transaction", "client", "ns", WP_KIND_INT, "" },
	{ "wal_bytes_per_transaction", "wal", "bytes", WP_KIND_REAL, "" },
	{ "wal_fpi_per_transaction", "images", "", WP_KIND_REAL, "" },
	{ "commits_per_sync", "commits", "", WP_KIND_REAL, "" },
	{ "transactions", "transactions", "", WP_KIND_INT, "" },
	{ "rounds", "rounds", "", WP_KIND_INT, "" },
	{ "elapsed_ns", "elapsed", "ns", WP_KIND_INT, "" },
};

static const struct wp_column script_columns[] = { { "script", "script", "", WP_KIND_TEXT, "" } };

static void add_step(struct wp_result *result, int64_t clients, double tps, double images)
{
	struct wp_table *table =
		wp_result_table(result, "ramp", "", ramp_columns, WP_COUNT(ramp_columns));
	struct wp_row *row = wp_table_add_row(table);

	wp_row_text(row, "target", "server");
	wp_row_int(row, "clients", clients);
	wp_row_real(row, "tps_excluding", tps);
	wp_row_int(row, "server_cpu_ns_per_transaction", 160000 + clients * 1000);
	wp_row_int(row, "client_cpu_ns_per_transaction", 60000);
	wp_row_real(row, "wal_bytes_per_transaction", 480 + images * 7800);
	wp_row_real(row, "wal_fpi_per_transaction", images);
	wp_row_real(row, "commits_per_sync", 1);
	wp_row_int(row, "transactions", (int64_t)(tps * 6));
	wp_row_int(row, "rounds", 3);
	wp_row_int(row, "elapsed_ns", 6 * WP_NS_PER_S);
}

static void add_script(struct wp_result *result, const char *title)
{
	struct wp_table *table =
		wp_result_table(result, "scripts", "", script_columns, WP_COUNT(script_columns));

	wp_row_text(wp_table_add_row(table), "script", title);
}

/* A ramp with pg_wal on this file system. */
static struct wp_result *new_ramp(const char *title, const char *fstype)
{
	struct wp_result *result = wp_result_new("ramp");

	wp_result_add_environment(result, "processors", "2", "test");
	wp_result_add_environment(result, "cpu_model", "A processor", "test");
	wp_result_add_environment(result, "memory", "8 GB", "test");
	wp_result_add_environment(result, "kernel", "6.1", "test");
	wp_result_add_environment(result, "server_version", "15.18 (Debian)", "test");
	wp_result_add_environment(result, "scale", "10", "server");
	wp_target_info_set(wp_result_add_target(result, "server"), "/x", fstype, "rw");
	add_script(result, title);
	return result;
}

static struct wp_result *new_standard_ramp(void)
{
	struct wp_result *result = new_ramp("<builtin: TPC-B (sort of)>", "tmpfs");

	add_step(result, 8, 6000, 0);
	add_step(result, 1, 3000, 0);
	return result;
}

/* A run on a machine like that of new_ramp(). */
static void init_run(struct wp_run *run, const char *processors)
{
	memset(run, 0, sizeof(*run));
	run->result = wp_result_new("predict");
	wp_result_add_environment(run->result, "processors", processors, "test");
	wp_result_add_environment(run->result, "cpu_model", "A processor", "test");
	wp_result_add_environment(run->result, "memory", "8 GB", "test");
	wp_result_add_environment(run->result, "kernel", "6.1", "test");
}

static void refuse(struct wp_result *result, const char *why)
{
	struct wp_calibration calibration;
	struct wp_err err = { 0 };

	assert_int_equal(wp_calibration_read(result, "x.json", &calibration, &err), -WP_E_DATA);
	if (!strstr(err.message, why))
		fail_msg("\"%s\" does not say \"%s\"", err.message, why);
	wp_calibration_release(&calibration);
	wp_result_free(result);
}

static void a_ramp_calibrates_with_its_steps_in_order(void **state)
{
	struct wp_result *result = new_standard_ramp();
	struct wp_calibration calibration;

	(void)state;
	assert_int_equal(wp_calibration_read(result, "x.json", &calibration, NULL), 0);
	assert_string_equal(calibration.shape->name, "tpcb-like");
	assert_int_equal(calibration.scale, 10);
	assert_int_equal(calibration.step_count, 2);
	assert_int_equal(calibration.steps[0].clients, 1);
	assert_int_equal(calibration.steps[1].clients, 8);
	assert_int_equal(calibration.time_ns, 2 * WP_NS_PER_S);
	assert_true(calibration.steps[0].tps > 2999 && calibration.steps[0].tps < 3001);
	assert_int_equal(calibration.record_bytes, 480);
	assert_false(wp_calibration_is_fitted(&calibration));
	wp_calibration_release(&calibration);
	wp_result_free(result);
}

static void a_calibration_read_back_from_its_own_table_is_the_same(void **state)
{
	struct wp_result *result = new_standard_ramp();
	struct wp_calibration first;
	struct wp_calibration second;
	struct wp_run run;

	(void)state;
	assert_int_equal(wp_calibration_read(result, "x.json", &first, NULL), 0);
	for (size_t i = 0; i < first.step_count; i++) {
		first.steps[i].server_units = 1000.5 + (double)i;
		first.steps[i].client_units = 10;
		first.steps[i].tps_model = 2000;
	}
	init_run(&run, "2");
	wp_calibration_fill(&run, &first);
	assert_int_equal(wp_calibration_read(run.result, "y.json", &second, NULL), 0);
	assert_true(wp_calibration_is_fitted(&second));
	assert_ptr_equal(second.shape, first.shape);
	assert_int_equal(second.scale, first.scale);
	assert_int_equal(second.time_ns, first.time_ns);
	assert_int_equal(second.record_bytes, first.record_bytes);
	assert_string_equal(second.server_version, first.server_version);
	assert_memory_equal(
		&second.steps[1].server_units, &first.steps[1].server_units, sizeof(double));
	wp_calibration_release(&second);
	wp_calibration_release(&first);
	wp_result_free(run.result);
	wp_result_free(result);
}

static void page_images_give_their_size_and_their_pages(void **state)
{
	/* Of 20000 pages, as the mean over so many transactions of exp(-k / 20000). */
	static const double transactions[] = { 6000, 12000 };
	struct wp_result *result = new_ramp("<builtin: TPC-B (sort of)>", "tmpfs");
	struct wp_calibration calibration;

	(void)state;
	for (size_t i = 0; i < WP_COUNT(transactions); i++) {
		double x = transactions[i] / 20000;

		add_step(result, (int64_t)i + 1, transactions[i] / 2, (1 - exp(-x)) / x);
	}
	assert_int_equal(wp_calibration_read(result, "x.json", &calibration, NULL), 0);
	assert_int_equal(calibration.record_bytes, 480);
	assert_in_range(calibration.image_bytes, 7790, 7810);
	assert_in_range((int64_t)calibration.image_pages, 19800, 20200);
	wp_calibration_release(&calibration);
	wp_result_free(result);
}

static void between_two_steps_figures_go_by_the_logarithm_of_clients(void **state)
{
	struct wp_calibration calibration = { .step_count = 2 };

	(void)state;
	calibration.steps[0] = (struct wp_calibration_step){ .clients = 2, .server_units = 100 };
	calibration.steps[1] = (struct wp_calibration_step){ .clients = 8, .server_units = 200 };
	assert_int_equal((int)wp_calibration_step_for(&calibration, 1).server_units, 100);
	assert_int_equal((int)wp_calibration_step_for(&calibration, 2).server_units, 100);
	assert_int_equal(lround(wp_calibration_step_for(&calibration, 4).server_units), 150);
	assert_int_equal((int)wp_calibration_step_for(&calibration, 8).server_units, 200);
	assert_int_equal((int)wp_calibration_step_for(&calibration, 100).server_units, 200);
	assert_int_equal(wp_calibration_step_for(&calibration, 100).clients, 100);
}

static void what_the_model_cannot_follow_is_refused(void **state)
{
	struct wp_result *result;

	(void)state;
	refuse(wp_result_new("sync"), "no ramp");
	result = new_ramp("my.sql", "tmpfs");
	add_step(result, 1, 1000, 0);
	refuse(result, "script");
	result = new_standard_ramp();
	add_script(result, "<builtin: select only>");
	refuse(result, "several scripts");
	result = new_standard_ramp();
	wp_result_add_parameter(result, "jobs", "2", WP_KIND_INT, "option");
	refuse(result, "threads");
	result = new_standard_ramp();
	wp_result_add_parameter(result, "rate", "100", WP_KIND_TEXT, "option");
	refuse(result, "rate");
	refuse(new_ramp("<builtin: TPC-B (sort of)>", "tmpfs"), "no ramp");
}

/* status of the check that was made, or -1 */
static int check(struct wp_run *run, const char *processors, const char *fstype, int major,
	int64_t scale, bool is_forced, int expected_rc)
{
	struct wp_result *result = new_ramp("<builtin: TPC-B (sort of)>", fstype);
	struct wp_calibration calibration;
	struct wp_err err = { 0 };
	int status;

	add_step(result, 1, 1000, 0);
	assert_int_equal(wp_calibration_read(result, "x.json", &calibration, NULL), 0);
	init_run(run, processors);
	run->is_forced = is_forced;
	assert_int_equal(wp_calibration_check(run, &calibration, major, scale, &err), expected_rc);
	status = run->result->check_count ? (int)run->result->checks[0].status : -1;
	wp_calibration_release(&calibration);
	wp_result_free(run->result);
	wp_result_free(result);
	return status;
}

static void another_machine_or_version_is_refused_and_a_scale_flagged(void **state)
{
	struct wp_run run;

	(void)state;
	assert_int_equal(check(&run, "2", "tmpfs", 15, 10, false, 0), WP_CHECK_PASS);
	assert_int_equal(check(&run, "2", "tmpfs", 0, 0, false, 0), WP_CHECK_PASS);
	assert_int_equal(check(&run, "4", "tmpfs", 15, 10, false, -WP_E_DATA), -1);
	assert_int_equal(check(&run, "2", "tmpfs", 16, 10, false, -WP_E_DATA), -1);
	assert_int_equal(check(&run, "2", "tmpfs", 15, 100, false, 0), WP_CHECK_UNKNOWN);
	assert_int_equal(check(&run, "2", "ext4", 15, 10, false, 0), WP_CHECK_UNKNOWN);
	assert_int_equal(check(&run, "4", "tmpfs", 16, 10, true, 0), WP_CHECK_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ramp_calibrates_with_its_steps_in_order),
		cmocka_unit_test(a_calibration_read_back_from_its_own_table_is_the_same),
		cmocka_unit_test(page_images_give_their_size_and_their_pages),
		cmocka_unit_test(between_two_steps_figures_go_by_the_logarithm_of_clients),
		cmocka_unit_test(what_the_model_cannot_follow_is_refused),
		cmocka_unit_test(another_machine_or_version_is_refused_and_a_scale_flagged),
	};

	return cmocka_run_group_tests_name("calibration", tests, NULL, NULL);
}
