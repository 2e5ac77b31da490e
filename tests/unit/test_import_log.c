/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "import_case.h"

#include <math.h>

static const char transactions[] = "0 1 1000 0 1700000000 500000\n"
				   "1 1 3000 0 1700000000 700000\n"
				   "0 2 2000 1 1700000001 250000\n"
				   "1 2 2000 0 1700000002 499000\n";

static void a_log_of_transactions_is_a_run(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < 200; piece += 7) {
		struct wp_result *result = case_pieces("pgbench_log.1", transactions, piece);
		const struct wp_row *row = case_nth(result, "ramp", 0);

		assert_int_equal(case_rows(result, "not_understood"), 0);
		case_expect(row, "clients", 2);
		case_expect(row, "transactions", 4);
		case_expect(row, "elapsed_ns", 2e9);
		case_expect(row, "tps_excluding", 2);
		case_expect(row, "latency_mean_ns", 2e6);
		case_expect(row, "latency_stddev_ns", 707107);
		case_expect(row, "max_ns", 3e6);
		case_expect_absent(row, "tps_including");
		case_expect_absent(row, "p99_ns");
		case_expect_absent(row, "retries");
		assert_int_equal(case_rows(result, "scripts"), 2);
		assert_int_equal(case_rows(result, "progress"), 3);
		row = case_nth(result, "progress", 1);
		case_expect(row, "tps", 1);
		case_expect(row, "latency_mean_ns", 2e6);
		case_expect_absent(case_nth(result, "progress", 0), "tps");
		case_expect_absent(case_nth(result, "progress", 2), "tps");
		wp_result_free(result);
	}
}

static void failed_and_skipped_transactions_are_counted_and_have_no_time(void **state)
{
	struct wp_result *result = case_pieces("pgbench_log.1",
		"0 1 1000 0 1700000000 500000 10 0\n"
		"0 2 skipped 0 1700000000 600000 900 0\n"
		"0 3 failed 0 1700000000 700000 30 2\n"
		"0 4 1000 0 1700000001 800000 50 1\n",
		64);
	const struct wp_row *row = case_nth(result, "ramp", 0);

	(void)state;
	case_expect(row, "transactions", 2);
	case_expect(row, "skipped", 1);
	case_expect(row, "failed", 1);
	case_expect(row, "latency_mean_ns", 1e6);
	case_expect(row, "schedule_lag_mean_ns", 30000);
	case_expect(row, "schedule_lag_max_ns", 50000);
	case_expect_absent(row, "serialization_failures");
	wp_result_free(result);
}

static void a_seventh_column_that_could_be_two_things_is_absent(void **state)
{
	struct wp_result *result = case_pieces("pgbench_log.1",
		"0 1 1000 0 1700000000 500000 3\n0 2 1000 0 1700000001 500000 4\n", 64);
	const struct wp_row *row = case_nth(result, "ramp", 0);

	(void)state;
	case_expect_absent(row, "schedule_lag_mean_ns");
	case_expect_absent(row, "retries");
	assert_non_null(strstr(wp_row_cell(row, "retries")->text, "does not tell which"));
	wp_result_free(result);
}

static void a_part_of_a_log_has_no_rate(void **state)
{
	static const struct {
		const char *text;
		const char *why;
	} logs[] = {
		{ "0 1 1000 0 1700000000 500000\n0 4 1000 0 1700000002 500000\n", "sample" },
		{ "0 1 1000 0 1700000000 500000\n0 1 1000 0 1700000009 500000\n", "more than one" },
		{ "3 1 1000 0 1700000000 500000\n4 1 1000 0 1700000002 500000\n", "one thread" },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(logs); i++) {
		struct wp_result *result = case_pieces("pgbench_log.1", logs[i].text, 64);
		const struct wp_row *row = case_nth(result, "ramp", 0);

		case_expect_absent(row, "tps_excluding");
		assert_non_null(strstr(wp_row_cell(row, "tps_excluding")->text, logs[i].why));
		case_expect(row, "latency_mean_ns", 1e6);
		wp_result_free(result);
	}
}

static void lines_that_are_none_are_counted_and_a_cut_end_is_one(void **state)
{
	struct wp_result *result = case_pieces("pgbench_log.1",
		"0 1 1000 0 1700000000 500000\n"
		"0 2 1000 0 1700000001 500000\n"
		"0 3 1000 0 170000\n"
		"pgbench: error: client 0 aborted\n"
		"0 4 1000 0 1700000003 50",
		10);

	(void)state;
	assert_int_equal(case_rows(result, "not_understood"), 3);
	case_expect(case_nth(result, "ramp", 0), "transactions", 2);
	assert_int_equal(case_check(result, "import-lines")->status, WP_CHECK_UNKNOWN);
	wp_result_free(result);
}

static void a_log_of_intervals_has_sums(void **state)
{
	struct wp_result *result = case_pieces("pgbench_log.1",
		"1700000000 100 200000 500000000 1000 9000 0 0 0 0 3 4 5 6 7\n"
		"1700000010 300 600000 1500000000 1500 8000 0 0 0 0 0 0 0 0 0\n"
		"1700000020 7 14000 28000000 2000 2000 0 0 0 0 0 0 0 0 0\n",
		33);
	const struct wp_row *row = case_nth(result, "ramp", 0);

	(void)state;
	assert_int_equal(case_rows(result, "not_understood"), 0);
	case_expect(row, "transactions", 407);
	case_expect(row, "tps_excluding", 20);
	case_expect(row, "latency_mean_ns", 2e6);
	case_expect(row, "max_ns", 9e6);
	case_expect(row, "skipped", 3);
	case_expect(row, "retried", 4);
	case_expect(row, "retries", 5);
	case_expect(row, "failed", 13);
	case_expect(row, "deadlock_failures", 7);
	case_expect_absent(row, "p50_ns");
	case_expect_absent(row, "clients");
	assert_int_equal(case_rows(result, "progress"), 3);
	row = case_nth(result, "progress", 0);
	case_expect(row, "interval_ns", 10e9);
	case_expect(row, "tps", 10);
	case_expect(row, "latency_stddev_ns", 1e6);
	case_expect_absent(case_nth(result, "progress", 2), "tps");
	wp_result_free(result);
}

static void sums_that_contradict_each_other_are_no_line(void **state)
{
	struct wp_result *result = case_pieces("pgbench_log.1",
		"1700000000 100 200000 500000000 1000 9000\n"
		"1700000001 100 200000 500000000 1000 9\n"
		"1700000002 100 200000 500000000 1000 9000\n",
		64);

	(void)state;
	assert_int_equal(case_rows(result, "not_understood"), 1);
	case_expect(case_nth(result, "ramp", 0), "transactions", 200);
	wp_result_free(result);
}

static void a_long_log_takes_few_stretches(void **state)
{
	static const struct wp_import_words no_words;
	struct wp_result *result = wp_result_new("import");
	struct wp_import_reader *reader = wp_import_open(result, "long", &no_words);
	char text[128];

	(void)state;
	for (int64_t i = 0; i < 20000; i++) {
		/* a second file of the run begins where the first did */
		int64_t second = 1700000000 + (i * 10 + 50000) % 200000;

		(void)snprintf(
			text, sizeof(text), "0 %" PRId64 " 1000 0 %" PRId64 " 5\n", i + 1, second);
		assert_int_equal(wp_import_feed(reader, text, strlen(text), NULL), 0);
	}
	assert_int_equal(wp_import_close(reader, true, NULL), 0);
	case_expect(case_nth(result, "ramp", 0), "transactions", 20000);
	assert_true(case_rows(result, "progress") <= 4096);
	assert_true(case_rows(result, "progress") >= 1024);
	for (size_t i = 1; i + 1 < case_rows(result, "progress"); i++)
		case_expect(case_nth(result, "progress", i), "latency_mean_ns", 1e6);
	wp_result_free(result);
}

static void other_columns_of_numbers_are_no_log(void **state)
{
	static const char *const texts[] = { "1 2 3 4 5 6\n7 8 9 10 11 12\n",
		"0 1 1000 0 1700000000 1000000\n0 2 1000 0 1700000000 5\n",
		"0 1 1000 0 1700000000 500000\ntotal\n", "4096 4 100 200 300 400\n", "" };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(texts); i++) {
		struct wp_result *result = case_text("numbers", texts[i]);

		assert_int_equal(case_rows(result, "ramp"), 0);
		wp_result_free(result);
	}
}

static void a_log_in_a_quoted_mail_is_found(void **state)
{
	struct wp_result *result =
		case_text("mail", "> What the log says:\n>\n> 0 1 1000 0 1700000000 500000\n"
				  "> 0 2 3000 0 1700000002 499000\n> and so on\n");

	(void)state;
	case_expect(case_nth(result, "ramp", 0), "transactions", 2);
	case_expect(case_nth(result, "ramp", 0), "latency_mean_ns", 2e6);
	wp_result_free(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_of_transactions_is_a_run),
		cmocka_unit_test(failed_and_skipped_transactions_are_counted_and_have_no_time),
		cmocka_unit_test(a_seventh_column_that_could_be_two_things_is_absent),
		cmocka_unit_test(a_part_of_a_log_has_no_rate),
		cmocka_unit_test(lines_that_are_none_are_counted_and_a_cut_end_is_one),
		cmocka_unit_test(a_log_of_intervals_has_sums),
		cmocka_unit_test(sums_that_contradict_each_other_are_no_line),
		cmocka_unit_test(a_long_log_takes_few_stretches),
		cmocka_unit_test(other_columns_of_numbers_are_no_log),
		cmocka_unit_test(a_log_in_a_quoted_mail_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
