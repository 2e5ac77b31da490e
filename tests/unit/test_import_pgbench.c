/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "import_case.h"

static const struct wp_row *only_row(const struct wp_result *result)
{
	assert_int_equal(case_rows(result, "ramp"), 1);
	return case_nth(result, "ramp", 0);
}

static void a_diff_of_2001_becomes_two_ramps(void **state)
{
	static const double ext2[][2] = { { 18.697006, 19.193225 }, { 32.444226, 33.499452 },
		{ 43.042861, 44.816086 }, { 46.033959, 47.681683 }, { 49.980258, 51.874653 },
		{ 51.800192, 53.752739 }, { 52.652660, 54.616802 }, { 55.440884, 57.525931 } };
	static const double fat[][2] = { { 37.439512, 39.710461 }, { 44.782177, 46.799328 },
		{ 55.416117, 58.057013 }, { 61.752368, 64.796970 }, { 63.124090, 67.225563 },
		{ 65.452545, 68.741933 }, { 66.525419, 69.727409 }, { 67.331052, 70.575482 } };
	struct wp_result *result = case_file("24-pgbench-71-diff-ext2-fat/mail.txt");

	(void)state;
	assert_int_equal(case_rows(result, "ramp"), 16);
	assert_int_equal(result->target_count, 2);
	for (size_t i = 0; i < 16; i++) {
		const struct wp_row *row = case_nth(result, "ramp", i);
		const double *tps = i < 8 ? ext2[i] : fat[i - 8];

		assert_string_equal(wp_row_get_text(row, "target"), i < 8 ? "ext2" : "fat");
		case_expect(row, "clients", (double)(i % 8 + 1));
		case_expect(row, "transactions", 32 * (double)(i % 8 + 1));
		case_expect(row, "tps_including", tps[0]);
		case_expect(row, "tps_excluding", tps[1]);
		assert_string_equal(wp_row_get_text(row, "latency_from"), "derived");
		case_expect_absent(row, "scale");
		case_expect_absent(row, "p99_ns");
	}
	assert_string_equal(result->targets[0]->fstype, "ext2");
	assert_string_equal(result->targets[1]->fstype, "fat");
	wp_result_free(result);
}

static void version_13_has_two_rates(void **state)
{
	struct wp_result *result = case_file("25-pgbench-13-plain/pgbench.txt");
	const struct wp_row *row = only_row(result);

	(void)state;
	assert_non_null(strstr(wp_row_get_text(row, "script"), "select-pages.sql"));
	assert_string_equal(wp_row_get_text(row, "protocol"), "simple");
	case_expect(row, "scale", 4250);
	case_expect(row, "clients", 12);
	case_expect(row, "threads", 12);
	case_expect(row, "duration_ns", 60e9);
	case_expect(row, "transactions", 32484);
	case_expect(row, "latency_mean_ns", 22203000);
	case_expect(row, "tps_including", 540.479109);
	case_expect(row, "tps_excluding", 540.578481);
	case_expect_absent(row, "latency_stddev_ns");
	assert_int_equal(case_rows(result, "not_understood"), 0);
	wp_result_free(result);
}

static void a_warm_up_is_kept_apart_and_a_summary_table_is_no_run(void **state)
{
	static const double runs[][4] = { { 1185125, 8097000, 146725000, 3952.077593 },
		{ 2385331, 8047000, 157934000, 3976.442323 },
		{ 2380108, 8065000, 143238000, 3967.670593 },
		{ 2411845, 7959000, 152182000, 4020.635072 } };
	struct wp_result *result = case_file("26-pgbench-18-warmup-and-runs/bench100.md");

	(void)state;
	assert_int_equal(case_rows(result, "ramp"), 4);
	for (size_t i = 0; i < 4; i++) {
		const struct wp_row *row = case_nth(result, "ramp", i);

		case_expect(row, "transactions", runs[i][0]);
		case_expect(row, "latency_mean_ns", runs[i][1]);
		case_expect(row, "connect_ns", runs[i][2]);
		case_expect(row, "tps_excluding", runs[i][3]);
		case_expect(row, "failed", 0);
		case_expect(row, "max_tries", 1);
		case_expect(row, "scale", 100);
		case_expect(row, "clients", 32);
		case_expect(row, "threads", 4);
		case_expect_absent(row, "tps_including");
		assert_string_equal(wp_row_get_text(row, "protocol"), "prepared");
		assert_string_equal(wp_row_get_text(row, "ranked"), i ? "yes" : "a warm-up");
		assert_string_equal(wp_row_get_text(case_nth(result, "runs", i), "version"),
			"18.3 (Ubuntu 18.3-1)");
	}
	assert_int_equal(result->target_count, 4);
	assert_string_equal(wp_row_get_text(case_nth(result, "ramp", 0), "section"), "WARMUP");
	assert_string_equal(wp_row_get_text(case_nth(result, "ramp", 3), "section"), "RUN 3");
	wp_result_free(result);
}

static void statements_have_their_times(void **state)
{
	struct wp_result *result = case_file("29-pgbench-10-script-statistics/pgbench.txt");
	const struct wp_row *row = only_row(result);
	double sum = 0;

	(void)state;
	case_expect(row, "transactions", 375474);
	case_expect(row, "latency_mean_ns", 26667000);
	case_expect(row, "tps_including", 3749.964314);
	case_expect(row, "tps_excluding", 3754.003534);
	assert_int_equal(case_rows(result, "statements"), 11);
	for (size_t i = 0; i < 11; i++) {
		case_expect(case_nth(result, "statements", i), "number", (double)(i + 1));
		sum += wp_row_get_number(case_nth(result, "statements", i), "mean_ns");
	}
	assert_int_equal((int)sum, 26592000);
	row = case_row(result, "statements", "command", "END;");
	case_expect(row, "mean_ns", 2100000);
	wp_result_free(result);
}

static void weighted_scripts_do_not_touch_the_figures_of_all(void **state)
{
	static const double scripts[][5] = { { 90, 69326, 228.068186, 2084000, 1813000 },
		{ 9, 7109, 23.387138, 274741000, 55187000 },
		{ 1, 759, 2.496953, 9146638000, 770821000 } };
	struct wp_result *result = case_file("34-pgbench-16-weighted-mixed-olap/pgbench.txt");
	const struct wp_row *row = only_row(result);

	(void)state;
	case_expect(row, "transactions", 77195);
	case_expect(row, "latency_mean_ns", 118131000);
	case_expect(row, "tps_excluding", 253.955567);
	case_expect(row, "connect_ns", 8340000);
	case_expect(row, "failed", 0);
	case_expect_absent(row, "latency_stddev_ns");
	assert_non_null(strstr(wp_row_get_text(row, "ranked"), "several scripts"));
	assert_int_equal(case_rows(result, "scripts"), 3);
	for (size_t i = 0; i < 3; i++) {
		row = case_nth(result, "scripts", i);
		case_expect(row, "weight", scripts[i][0]);
		case_expect(row, "transactions", scripts[i][1]);
		case_expect(row, "tps_excluding", scripts[i][2]);
		case_expect(row, "latency_mean_ns", scripts[i][3]);
		case_expect(row, "latency_stddev_ns", scripts[i][4]);
	}
	wp_result_free(result);
}

static void a_command_glued_to_a_figure_begins_the_next_run(void **state)
{
	struct wp_result *result = case_file("35-pgbench-multi-C-glued-line/pgbench.txt");
	const struct wp_row *row;

	(void)state;
	assert_int_equal(case_rows(result, "ramp"), 2);
	row = case_nth(result, "ramp", 0);
	case_expect(row, "tps_including", 424.570891);
	case_expect(row, "tps_excluding", 446.603964);
	case_expect(row, "latency_mean_ns", 47106000);
	assert_string_equal(wp_row_get_text(row, "connections"), "one for each transaction");
	row = case_nth(result, "ramp", 1);
	case_expect(row, "tps_including", 6069.891271);
	case_expect(row, "tps_excluding", 6356.626329);
	case_expect(row, "latency_mean_ns", 3295000);
	assert_int_equal(case_rows(result, "scripts"), 2);
	row = case_nth(result, "scripts", 1);
	case_expect(row, "transactions", 10031);
	case_expect(row, "latency_mean_ns", 21331000);
	case_expect(row, "latency_stddev_ns", 12773000);
	wp_result_free(result);
}

static void an_aborted_run_inherits_nothing(void **state)
{
	struct wp_result *result = case_file("36-pgbench-aborted-no-tps-yugabyte/pgbench.txt");
	const struct wp_row *row;

	(void)state;
	assert_int_equal(case_rows(result, "ramp"), 2);
	row = case_nth(result, "ramp", 0);
	assert_string_equal(wp_row_get_text(row, "script"), "<builtin: TPC-B (sort of)>");
	assert_non_null(strstr(wp_row_get_text(row, "ranked"), "aborted"));
	case_expect_absent(row, "clients");
	case_expect_absent(row, "tps_excluding");
	case_expect_absent(row, "transactions");
	row = case_nth(result, "ramp", 1);
	assert_string_equal(wp_row_get_text(case_nth(result, "runs", 1), "version"),
		"14.3, server 11.2-YB-2024.2.0.0-b0");
	case_expect(row, "transactions", 144220);
	case_expect(row, "latency_mean_ns", 40917000);
	case_expect(row, "connect_ns", 2009740000);
	case_expect(row, "tps_excluding", 1221.977158);
	case_expect(case_nth(result, "statements", 0), "mean_ns", 3000);
	case_expect(case_nth(result, "statements", 1), "mean_ns", 41047000);
	wp_result_free(result);
}

static void lines_joined_by_a_pager_are_told_apart(void **state)
{
	struct wp_result *result = case_file("40-pgbench-93-more-padded-lines/pgbench.txt");
	const struct wp_row *row = only_row(result);

	(void)state;
	case_expect(row, "transactions", 12496);
	case_expect(row, "tps_including", 624.747958);
	case_expect(row, "tps_excluding", 625.375564);
	case_expect(row, "latency_mean_ns", 1599039);
	assert_string_equal(wp_row_get_text(row, "latency_from"), "derived");
	wp_result_free(result);
}

static void the_output_is_believed_and_a_failed_connection_is_no_run(void **state)
{
	struct wp_result *result =
		case_file("42-pgbench-8x-date-hostname-time-wrapper/pgbench.txt");
	const struct wp_row *row = only_row(result);

	(void)state;
	case_expect(row, "clients", 200);
	case_expect(row, "threads", 100);
	case_expect(row, "scale", 1);
	case_expect(row, "transactions", 200000);
	case_expect(row, "transactions_planned", 200000);
	case_expect(row, "tps_including", 439.798734);
	case_expect(row, "tps_excluding", 440.029375);
	wp_result_free(result);

	result = case_file("42-pgbench-8x-date-hostname-time-wrapper/pgbench-french-9x.txt");
	row = only_row(result);
	case_expect(row, "clients", 10);
	case_expect(row, "transactions", 100);
	case_expect(row, "tps_including", 77.993447);
	case_expect(row, "tps_excluding", 88.977249);
	wp_result_free(result);
}

static void progress_is_a_table_over_time(void **state)
{
	struct wp_result *result = case_file("43-pgbench-clients-1000-on-scale-10/pgbench.txt");
	const struct wp_row *row = only_row(result);

	(void)state;
	case_expect(row, "transactions", 29882);
	case_expect(row, "latency_stddev_ns", 467336000);
	case_expect(row, "tps_excluding", 2945.093549);
	assert_int_equal(case_rows(result, "progress"), 9);
	row = case_nth(result, "progress", 8);
	case_expect(row, "time_ns", 10e9);
	case_expect(row, "tps", 2008.5);
	case_expect(row, "latency_mean_ns", 507810000);
	case_expect(row, "latency_stddev_ns", 657340000);
	assert_int_equal(case_rows(result, "statements"), 11);
	wp_result_free(result);
}

static void an_ellipsis_in_the_first_line_hides_nothing(void **state)
{
	struct wp_result *result =
		case_file("78-impossible-commit-rate-laptop-1292-vs-27/pgbench.txt");
	const struct wp_row *row = only_row(result);

	(void)state;
	case_expect(row, "clients", 4);
	case_expect(row, "scale", 25);
	case_expect(row, "transactions", 400000);
	case_expect(row, "tps_including", 1292.258304);
	case_expect(row, "tps_excluding", 1292.281493);
	wp_result_free(result);
}

/* ---- what no case has ------------------------------------------------------------------------ */

static const char full_18[] =
	"pgbench (18.0)\nstarting vacuum...end.\n"
	"progress: 1.0 s, 950.1 tps, lat 4.100 ms stddev 1.200, 3 failed, lag 0.250 ms, 2 skipped, "
	"7 retried, 9 retries\n"
	"transaction type: <builtin: TPC-B (sort of)>\nscaling factor: 10\nquery mode: prepared\n"
	"number of clients: 4\nnumber of threads: 2\nmaximum number of tries: 5\nduration: 2 s\n"
	"number of transactions actually processed: 1900\n"
	"number of failed transactions: 6 (0.315%)\n"
	"number of serialization failures: 4 (0.210%)\n"
	"number of deadlock failures: 2 (0.105%)\n"
	"number of transactions retried: 11 (0.577%)\ntotal number of retries: 15\n"
	"number of transactions skipped: 12 (0.630%)\n"
	"number of transactions above the 10.0 ms latency limit: 33/1900 (1.737%)\n"
	"latency average = 4.205 ms\nlatency stddev = 1.305 ms\n"
	"rate limit schedule lag: avg 0.301 (max 5.402) ms\n"
	"initial connection time = 6.007 ms\ntps = 951.123456 (without initial connection time)\n"
	"statement latencies in milliseconds, failures and retries:\n"
	"         0.002           0           0  \\set aid random(1, 100000 * :scale)\n"
	"         1.250           6          15  END;\n";

static void version_18_with_every_option(void **state)
{
	struct wp_result *result = case_text("all.txt", full_18);
	const struct wp_row *row = only_row(result);

	(void)state;
	case_expect(row, "failed", 6);
	case_expect(row, "serialization_failures", 4);
	case_expect(row, "deadlock_failures", 2);
	case_expect(row, "retried", 11);
	case_expect(row, "retries", 15);
	case_expect(row, "skipped", 12);
	case_expect(row, "late", 33);
	case_expect(row, "max_tries", 5);
	case_expect(row, "schedule_lag_mean_ns", 301000);
	case_expect(row, "schedule_lag_max_ns", 5402000);
	case_expect(row, "tps_excluding", 951.123456);
	row = case_nth(result, "progress", 0);
	case_expect(row, "tps", 950.1);
	case_expect(row, "failed", 3);
	case_expect(row, "schedule_lag_mean_ns", 250000);
	case_expect(row, "skipped", 2);
	case_expect(row, "retried", 7);
	case_expect(row, "retries", 9);
	row = case_nth(result, "statements", 1);
	case_expect(row, "mean_ns", 1250000);
	case_expect(row, "failures", 6);
	case_expect(row, "retries", 15);
	assert_int_equal(case_rows(result, "not_understood"), 0);
	wp_result_free(result);
}

static void a_decimal_comma_is_read_where_it_can_be_nothing_else(void **state)
{
	struct wp_result *result = case_text("fr.txt",
		"number of clients: 2\nnumber of threads: 1\nduration: 5 s\n"
		"number of transactions actually processed: 100\nlatency average = 8,047 ms\n"
		"tps = 540,479109 (including connections establishing)\n"
		"tps = 3,952 (excluding connections establishing)\n");
	const struct wp_row *row = only_row(result);

	(void)state;
	case_expect(row, "latency_mean_ns", 8047000);
	case_expect(row, "tps_including", 540.479109);
	case_expect_absent(row, "tps_excluding");
	wp_result_free(result);
}

static void a_figure_that_a_line_end_cuts_is_mended_or_absent(void **state)
{
	struct wp_result *result = case_text("cut.txt",
		"transaction type: TPC-B (sort of)\nscaling factor: 10\nnumber of clients: 1\n2\n"
		"number of transactions actually processed: 32\nlatency average = 12.4\n56 ms\n"
		"tps = 624.74\n7958 (including connections establishing)\n"
		"tps = 625.3755\n");
	const struct wp_row *row = only_row(result);

	(void)state;
	case_expect_absent(row, "clients");
	case_expect(row, "latency_mean_ns", 12456000);
	case_expect(row, "tps_including", 624.747958);
	case_expect_absent(row, "tps_excluding");
	wp_result_free(result);
}

static void steps_of_one_file_share_its_target(void **state)
{
	static const char step[] =
		"transaction type: TPC-B (sort of)\nscaling factor: 10\nnumber of clients: %d\n"
		"number of transactions actually processed: 320/320\n"
		"tps = %d.000000 (including connections establishing)\n"
		"tps = %d.500000 (excluding connections establishing)\n\n";
	char text[4096] = "";
	struct wp_result *result;

	(void)state;
	for (int i = 0; i < 4; i++) {
		size_t used = strlen(text);
		int clients = i % 3 + 1;

		(void)snprintf(text + used, sizeof(text) - used, step, clients, i + 10, i + 10);
	}
	result = case_text("dir/xfs.log", text);
	assert_int_equal(case_rows(result, "ramp"), 4);
	assert_int_equal(result->target_count, 2);
	assert_string_equal(wp_row_get_text(case_nth(result, "ramp", 2), "target"), "xfs.log");
	assert_string_equal(wp_row_get_text(case_nth(result, "ramp", 3), "target"), "xfs.log#2");
	wp_result_free(result);
}

static void prose_about_pgbench_is_no_run(void **state)
{
	struct wp_result *result = case_text("mail.txt",
		"I ran pgbench -c 8 -T 60 on it, and the duration: 60 s was enough.\n"
		"We got about tps = 500 in the end.\n");

	(void)state;
	assert_int_equal(case_rows(result, "ramp"), 0);
	assert_int_equal(result->target_count, 0);
	wp_result_free(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_diff_of_2001_becomes_two_ramps),
		cmocka_unit_test(version_13_has_two_rates),
		cmocka_unit_test(a_warm_up_is_kept_apart_and_a_summary_table_is_no_run),
		cmocka_unit_test(statements_have_their_times),
		cmocka_unit_test(weighted_scripts_do_not_touch_the_figures_of_all),
		cmocka_unit_test(a_command_glued_to_a_figure_begins_the_next_run),
		cmocka_unit_test(an_aborted_run_inherits_nothing),
		cmocka_unit_test(lines_joined_by_a_pager_are_told_apart),
		cmocka_unit_test(the_output_is_believed_and_a_failed_connection_is_no_run),
		cmocka_unit_test(progress_is_a_table_over_time),
		cmocka_unit_test(an_ellipsis_in_the_first_line_hides_nothing),
		cmocka_unit_test(version_18_with_every_option),
		cmocka_unit_test(a_decimal_comma_is_read_where_it_can_be_nothing_else),
		cmocka_unit_test(a_figure_that_a_line_end_cuts_is_mended_or_absent),
		cmocka_unit_test(steps_of_one_file_share_its_target),
		cmocka_unit_test(prose_about_pgbench_is_no_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
