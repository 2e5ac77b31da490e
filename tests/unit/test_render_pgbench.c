/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"

#include "walprobe/render.h"

static const struct wp_column ramp_columns[] = {
	{ "target", "", "", WP_KIND_TEXT, "" },
	{ "clients", "", "", WP_KIND_INT, "" },
	{ "threads", "", "", WP_KIND_INT, "" },
	{ "protocol", "", "", WP_KIND_TEXT, "" },
	{ "transactions", "", "", WP_KIND_INT, "" },
	{ "tps_excluding", "", "1/s", WP_KIND_REAL, "" },
	{ "tps_including", "", "1/s", WP_KIND_REAL, "" },
	{ "latency_mean_ns", "", "ns", WP_KIND_INT, "" },
	{ "connect_ns", "", "ns", WP_KIND_INT, "" },
	{ "failed", "", "", WP_KIND_INT, "" },
	{ "skipped", "", "", WP_KIND_INT, "" },
};

static const struct wp_column script_columns[] = {
	{ "target", "", "", WP_KIND_TEXT, "" },
	{ "clients", "", "", WP_KIND_INT, "" },
	{ "script", "", "", WP_KIND_TEXT, "" },
};

static struct wp_result *sample(bool is_finished)
{
	struct wp_result *result = wp_result_new("ramp");
	struct wp_row *row = wp_table_add_row(
		wp_result_table(result, "ramp", "", ramp_columns, WP_COUNT(ramp_columns)));

	wp_result_add_environment(result, "scale", "10", "db");
	wp_result_add_parameter(result, "transactions", "10", WP_KIND_INT, "option");
	wp_result_add_parameter(result, "rounds", "1", WP_KIND_INT, "option");
	wp_result_add_parameter(result, "max-tries", "1", WP_KIND_INT, "default");
	wp_row_text(row, "target", "db");
	wp_row_int(row, "clients", 4);
	wp_row_int(row, "threads", 1);
	wp_row_text(row, "protocol", "prepared");
	wp_row_int(row, "transactions", is_finished ? 40 : 7);
	wp_row_int(row, "latency_mean_ns", 1234567);
	wp_row_int(row, "connect_ns", 6000000);
	wp_row_int(row, "failed", 0);
	wp_row_int(row, "skipped", 0);
	if (is_finished) {
		wp_row_real(row, "tps_excluding", 523.125);
		wp_row_real(row, "tps_including", 502.0625);
	}
	row = wp_table_add_row(
		wp_result_table(result, "scripts", "", script_columns, WP_COUNT(script_columns)));
	wp_row_text(row, "target", "db");
	wp_row_int(row, "clients", 4);
	wp_row_text(row, "script", "<builtin: TPC-B (sort of)>");
	return result;
}

static char *rendered(struct wp_result *result)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	wp_render_pgbench(result, NULL, stream);
	(void)fclose(stream);
	wp_result_free(result);
	return text;
}

static void a_step_reads_as_a_run_of_pgbench(void **state)
{
	char *text = rendered(sample(true));

	(void)state;
	assert_string_equal(text, "transaction type: <builtin: TPC-B (sort of)>\n"
				  "scaling factor: 10\n"
				  "query mode: prepared\n"
				  "number of clients: 4\n"
				  "number of threads: 1\n"
				  "maximum number of tries: 1\n"
				  "number of transactions per client: 10\n"
				  "number of transactions actually processed: 40/40\n"
				  "number of failed transactions: 0 (0.000%)\n"
				  "latency average = 1.235 ms\n"
				  "initial connection time = 6.000 ms\n"
				  "tps = 523.125000 (without initial connection time)\n");
	free(text);
}

static void a_step_that_was_not_finished_has_no_rate(void **state)
{
	char *text = rendered(sample(false));

	(void)state;
	assert_non_null(strstr(text, "actually processed: 7/40\n"));
	assert_null(strstr(text, "tps"));
	assert_null(strstr(text, "nan"));
	free(text);
}

static void a_replay_prints_the_lines_of_2001_byte_for_byte(void **state)
{
	struct wp_result *result = sample(true);
	char *text;

	(void)state;
	wp_result_add_parameter(result, "like-2001", "on", WP_KIND_TEXT, "option");
	text = rendered(result);
	assert_non_null(strstr(text, "\ntps = 502.062500(including connections establishing)\n"
				     "tps = 523.125000(excluding connections establishing)\n"));
	assert_non_null(strstr(text, "transaction type: TPC-B (sort of)\n"));
	free(text);
}

static void each_of_several_targets_is_named(void **state)
{
	struct wp_result *result = sample(true);
	struct wp_row *row = wp_table_add_row(result->tables[0]);
	char *text;

	(void)state;
	wp_row_text(row, "target", "ext2");
	wp_row_int(row, "clients", 4);
	wp_row_int(row, "transactions", 4);
	row = wp_table_add_row(result->tables[0]);
	wp_row_text(row, "target", "never begun");
	text = rendered(result);
	assert_ptr_equal(strstr(text, "target: db\ntransaction type: "), text);
	assert_non_null(strstr(text, "\ntarget: ext2\ntransaction type: "));
	assert_null(strstr(text, "never begun"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_step_reads_as_a_run_of_pgbench),
		cmocka_unit_test(a_step_that_was_not_finished_has_no_rate),
		cmocka_unit_test(a_replay_prints_the_lines_of_2001_byte_for_byte),
		cmocka_unit_test(each_of_several_targets_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
