/* SPDX-License-Identifier: PostgreSQL */
/* What ramp --format pgbench prints is read back to the values that it printed. */
#include "harness.h"
#include "import_case.h"
#include "walprobe/mem.h"
#include "walprobe/render.h"

#include <math.h>

#define US 1000
#define STEPS 3

/* tables as ramp makes them */
static const struct wp_column ramp_columns[] = {
	{ "target", "", "", WP_KIND_TEXT, "" },
	{ "clients", "", "", WP_KIND_INT, "" },
	{ "threads", "", "", WP_KIND_INT, "" },
	{ "protocol", "", "", WP_KIND_TEXT, "" },
	{ "tps_excluding", "", "1/s", WP_KIND_REAL, "" },
	{ "tps_including", "", "1/s", WP_KIND_REAL, "" },
	{ "latency_mean_ns", "", "ns", WP_KIND_INT, "" },
	{ "latency_stddev_ns", "", "ns", WP_KIND_INT, "" },
	{ "transactions", "", "", WP_KIND_INT, "" },
	{ "failed", "", "", WP_KIND_INT, "" },
	{ "serialization_failures", "", "", WP_KIND_INT, "" },
	{ "deadlock_failures", "", "", WP_KIND_INT, "" },
	{ "retried", "", "", WP_KIND_INT, "" },
	{ "retries", "", "", WP_KIND_INT, "" },
	{ "skipped", "", "", WP_KIND_INT, "" },
	{ "late", "", "", WP_KIND_INT, "" },
	{ "elapsed_ns", "", "ns", WP_KIND_INT, "" },
	{ "connect_ns", "", "ns", WP_KIND_INT, "" },
	{ "schedule_lag_mean_ns", "", "ns", WP_KIND_INT, "" },
	{ "schedule_lag_max_ns", "", "ns", WP_KIND_INT, "" },
};

static const struct wp_column script_columns[] = {
	{ "target", "", "", WP_KIND_TEXT, "" },
	{ "clients", "", "", WP_KIND_INT, "" },
	{ "script", "", "", WP_KIND_TEXT, "" },
	{ "weight", "", "", WP_KIND_INT, "" },
	{ "transactions", "", "", WP_KIND_INT, "" },
	{ "serialization_failures", "", "", WP_KIND_INT, "" },
	{ "deadlock_failures", "", "", WP_KIND_INT, "" },
	{ "latency_mean_ns", "", "ns", WP_KIND_INT, "" },
	{ "latency_stddev_ns", "", "ns", WP_KIND_INT, "" },
};

static const struct wp_column statement_columns[] = {
	{ "target", "", "", WP_KIND_TEXT, "" },
	{ "clients", "", "", WP_KIND_INT, "" },
	{ "script", "", "", WP_KIND_TEXT, "" },
	{ "number", "", "", WP_KIND_INT, "" },
	{ "mean_ns", "", "ns", WP_KIND_INT, "" },
	{ "failures", "", "", WP_KIND_INT, "" },
	{ "retries", "", "", WP_KIND_INT, "" },
	{ "command", "", "", WP_KIND_TEXT, "" },
};

static void add_step(struct wp_result *result, int64_t step)
{
	struct wp_row *row = wp_table_add_row(
		wp_result_table(result, "ramp", "", ramp_columns, WP_COUNT(ramp_columns)));

	wp_row_text(row, "target", "db");
	wp_row_int(row, "clients", 1 << step);
	wp_row_int(row, "threads", 1);
	wp_row_text(row, "protocol", "prepared");
	wp_row_real(row, "tps_excluding", 523.125 + (double)step);
	wp_row_real(row, "tps_including", 502.0625 + (double)step);
	/* pgbench prints whole microseconds */
	wp_row_int(row, "latency_mean_ns", (1234567 + step) * US);
	wp_row_int(row, "latency_stddev_ns", (4567 + step) * US);
	wp_row_int(row, "transactions", 4000 << step);
	wp_row_int(row, "failed", 5 + step);
	wp_row_int(row, "serialization_failures", 3 + step);
	wp_row_int(row, "deadlock_failures", 2);
	wp_row_int(row, "retried", 17 + step);
	wp_row_int(row, "retries", 23 + step);
	wp_row_int(row, "skipped", 7 + step);
	wp_row_int(row, "late", 11 + step);
	wp_row_int(row, "elapsed_ns", 8 * WP_NS_PER_S);
	wp_row_int(row, "connect_ns", (6001 + step) * US);
	wp_row_int(row, "schedule_lag_mean_ns", (301 + step) * US);
	wp_row_int(row, "schedule_lag_max_ns", (5402 + step) * US);
}

static void add_script(struct wp_result *result, int64_t step, const char *name, int64_t weight)
{
	struct wp_row *row = wp_table_add_row(
		wp_result_table(result, "scripts", "", script_columns, WP_COUNT(script_columns)));
	static const char *const commands[] = { "\\set aid random(1, 100000 * :scale)",
		"SELECT abalance FROM pgbench_accounts WHERE aid = :aid;" };

	wp_row_text(row, "target", "db");
	wp_row_int(row, "clients", 1 << step);
	wp_row_text(row, "script", name);
	wp_row_int(row, "weight", weight);
	wp_row_int(row, "transactions", (400 * weight) << step);
	wp_row_int(row, "serialization_failures", 1);
	wp_row_int(row, "deadlock_failures", 1);
	wp_row_int(row, "latency_mean_ns", (weight + 100) * US);
	wp_row_int(row, "latency_stddev_ns", (weight + 10) * US);
	for (size_t i = 0; i < WP_COUNT(commands); i++) {
		row = wp_table_add_row(wp_result_table(
			result, "statements", "", statement_columns, WP_COUNT(statement_columns)));
		wp_row_text(row, "target", "db");
		wp_row_int(row, "clients", 1 << step);
		wp_row_text(row, "script", name);
		wp_row_int(row, "number", (int64_t)i + 1);
		wp_row_int(row, "mean_ns", (weight + (int64_t)i) * US);
		wp_row_int(row, "failures", (int64_t)i);
		wp_row_int(row, "retries", (int64_t)i + 2);
		wp_row_text(row, "command", commands[i]);
	}
}

static struct wp_result *ramp(bool is_timed, bool is_several, const char *replay)
{
	struct wp_result *result = wp_result_new("ramp");
	static const char *const parameters[][2] = { { "rounds", "2" }, { "max-tries", "4" },
		{ "failures-detailed", "on" }, { "rate", "100" }, { "latency-limit", "10ms" } };

	wp_result_add_environment(result, "scale", "10", "db");
	for (size_t i = 0; i < WP_COUNT(parameters); i++)
		wp_result_add_parameter(
			result, parameters[i][0], parameters[i][1], WP_KIND_TEXT, "option");
	if (is_timed)
		wp_result_add_parameter(result, "time", "4s", WP_KIND_TEXT, "option");
	else
		wp_result_add_parameter(result, "transactions", "2000", WP_KIND_INT, "option");
	if (replay)
		wp_result_add_parameter(result, "like-2001", replay, WP_KIND_TEXT, "option");
	for (int64_t step = 0; step < STEPS; step++) {
		add_step(result, step);
		add_script(result, step, "<builtin: TPC-B (sort of)>", is_several ? 9 : 10);
		if (is_several)
			add_script(result, step, "/tmp/other.sql", 1);
	}
	return result;
}

static struct wp_result *read_back(const struct wp_result *result)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	struct wp_result *back;

	wp_render_pgbench(result, NULL, stream);
	(void)fclose(stream);
	back = case_text("ramp.txt", text);
	assert_int_equal(case_rows(back, "not_understood"), 0);
	free(text);
	return back;
}

static void expect_same(const struct wp_result *back, const struct wp_result *result,
	const char *table, const char *const *keys)
{
	assert_int_equal(case_rows(back, table), case_rows(result, table));
	for (size_t i = 0; i < case_rows(result, table); i++)
		for (const char *const *key = keys; *key; key++)
			case_expect(case_nth(back, table, i), *key,
				wp_row_get_number(case_nth(result, table, i), *key));
}

static void a_ramp_is_read_back_to_the_same_values(void **state)
{
	static const char *const ramp_keys[] = { "clients", "threads", "tps_excluding",
		"latency_mean_ns", "latency_stddev_ns", "transactions", "failed",
		"serialization_failures", "deadlock_failures", "retried", "retries", "skipped",
		"late", "connect_ns", "schedule_lag_mean_ns", "schedule_lag_max_ns", NULL };
	static const char *const statement_keys[] = { "clients", "number", "mean_ns", "failures",
		"retries", NULL };
	static const char *const script_keys[] = { "clients", "weight", "transactions",
		"latency_mean_ns", "latency_stddev_ns", NULL };

	(void)state;
	for (int way = 0; way < 4; way++) {
		bool is_timed = (way & 1) != 0;
		bool is_several = (way & 2) != 0;
		struct wp_result *result = ramp(is_timed, is_several, NULL);
		struct wp_result *back = read_back(result);

		expect_same(back, result, "ramp", ramp_keys);
		expect_same(back, result, "statements", statement_keys);
		if (is_several)
			expect_same(back, result, "scripts", script_keys);
		for (size_t i = 0; i < STEPS; i++) {
			const struct wp_row *row = case_nth(back, "ramp", i);

			assert_string_equal(wp_row_get_text(row, "protocol"), "prepared");
			case_expect(row, "scale", 10);
			case_expect(row, "max_tries", 4);
			if (is_timed)
				case_expect(row, "duration_ns", 8e9);
		}
		assert_int_equal(back->target_count, 1);
		wp_result_free(back);
		wp_result_free(result);
	}
}

static void a_replay_of_2001_is_read_back_to_the_same_values(void **state)
{
	static const char *const keys[] = { "clients", "tps_excluding", "tps_including",
		"transactions", NULL };
	struct wp_result *result = ramp(false, false, "on");
	struct wp_result *back = read_back(result);

	(void)state;
	expect_same(back, result, "ramp", keys);
	assert_int_equal(back->target_count, 1);
	wp_result_free(back);
	wp_result_free(result);
}

static void with_reconnections_the_one_rate_is_the_one_that_includes_them(void **state)
{
	struct wp_result *result = ramp(false, false, NULL);
	struct wp_result *back;

	(void)state;
	wp_result_add_parameter(result, "connect", "on", WP_KIND_TEXT, "option");
	back = read_back(result);
	for (size_t i = 0; i < STEPS; i++) {
		case_expect(case_nth(back, "ramp", i), "tps_including",
			wp_row_get_number(case_nth(result, "ramp", i), "tps_excluding"));
		case_expect_absent(case_nth(back, "ramp", i), "tps_excluding");
		case_expect(case_nth(back, "ramp", i), "connect_ns",
			wp_row_get_number(case_nth(result, "ramp", i), "connect_ns"));
	}
	wp_result_free(back);
	wp_result_free(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ramp_is_read_back_to_the_same_values),
		cmocka_unit_test(a_replay_of_2001_is_read_back_to_the_same_values),
		cmocka_unit_test(with_reconnections_the_one_rate_is_the_one_that_includes_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
