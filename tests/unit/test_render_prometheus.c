/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "sample_result.h"
#include "walprobe/mem.h"

static void a_comparison_looks_like_this(void **state)
{
	struct wp_result *result = sample_stopped();
	char *text = sample_render(result, wp_render_prometheus, false, false);

	(void)state;
	sample_golden("stopped.prom", text);
	free(text);
	wp_result_free(result);
}

static const struct wp_column columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "" },
	{ "method", "method", "", WP_KIND_TEXT, "" },
	{ "ops_per_s", "ops/s", "1/s", WP_KIND_REAL, "rate\n\\ of \"all\"" },
	{ "p50_ns", "p50", "ns", WP_KIND_INT, "time" },
};

static void add_row(struct wp_result *result, const char *target, double rate)
{
	struct wp_table *table =
		wp_result_table(result, "sync", "Syncs", columns, WP_COUNT(columns));
	struct wp_row *row = wp_table_add_row(table);

	wp_row_text(row, "target", target);
	wp_row_text(row, "method", "fsync");
	wp_row_real(row, "ops_per_s", rate);
	if (rate > 1)
		wp_row_int(row, "p50_ns", 1500000);
	else
		wp_row_absent(row, "p50_ns", "too few");
}

static void labels_and_help_are_escaped_and_label_sets_stand_once(void **state)
{
	struct wp_result *result = wp_result_new("sync");
	char *text;

	(void)state;
	add_row(result, "a\"b\\c\nd", 100);
	add_row(result, "same", 1);
	add_row(result, "same", 200);
	text = sample_render(result, wp_render_prometheus, false, false);
	assert_non_null(strstr(text, "# HELP walprobe_sync_ops_per_second rate \\\\ of \"all\"\n"
				     "# TYPE walprobe_sync_ops_per_second gauge\n"
				     "walprobe_sync_ops_per_second{target=\"a\\\"b\\\\c d\","
				     "method=\"fsync\",variant=\"\"} 100\n"
				     "walprobe_sync_ops_per_second{target=\"same\",method="
				     "\"fsync\",variant=\"\"} 1\n"
				     "walprobe_sync_ops_per_second{target=\"same\",method="
				     "\"fsync\",variant=\"\",row=\"2\"} 200\n"));
	/* Base units, and nothing for what was not measured. */
	assert_non_null(strstr(text, "walprobe_sync_p50_seconds{target=\"same\",method=\"fsync\","
				     "variant=\"\",row=\"2\"} 0.0015\n"));
	assert_null(strstr(text, "walprobe_sync_p50_seconds{target=\"same\",method=\"fsync\","
				 "variant=\"\"} "));
	free(text);
	wp_result_free(result);
}

static void of_a_check_told_twice_the_worst_counts(void **state)
{
	struct wp_result *result = wp_result_new("inspect");
	char *text;

	(void)state;
	wp_result_add_check(result, "links", "a", WP_CHECK_PASS, NULL, NULL, "");
	wp_result_add_check(result, "links", "a", WP_CHECK_FAIL, NULL, NULL, "");
	wp_result_add_check(result, "links", "a", WP_CHECK_UNKNOWN, NULL, NULL, "");
	text = sample_render(result, wp_render_prometheus, false, false);
	assert_non_null(
		strstr(text, "# TYPE walprobe_check gauge\n"
			     "walprobe_check{check=\"links\",target=\"a\",status=\"pass\"} 0\n"
			     "walprobe_check{check=\"links\",target=\"a\",status=\"fail\"} 1\n"
			     "walprobe_check{check=\"links\",target=\"a\",status=\"unknown\"} 0\n"
			     "walprobe_check{check=\"links\",target=\"a\",status=\"info\"} 0\n"));
	assert_null(strstr(strstr(text, "status=\"info\""), "status=\"pass\""));
	free(text);
	wp_result_free(result);
}

static void the_time_is_counted_from_1970(void **state)
{
	static const struct {
		const char *started;
		const char *line;
	} cases[] = {
		{ "1970-01-01T00:00:00Z", "walprobe_start_time_seconds 0\n" },
		{ "2000-02-29T12:00:00Z", "walprobe_start_time_seconds 951825600\n" },
		{ "2026-11-30T20:15:00Z", "walprobe_start_time_seconds 1796069700\n" },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		struct wp_result *result = wp_result_new("x");
		char *text;

		result->started = wp_xstrdup(cases[i].started);
		text = sample_render(result, wp_render_prometheus, false, false);
		assert_non_null(strstr(text, cases[i].line));
		free(text);
		wp_result_free(result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_comparison_looks_like_this),
		cmocka_unit_test(labels_and_help_are_escaped_and_label_sets_stand_once),
		cmocka_unit_test(of_a_check_told_twice_the_worst_counts),
		cmocka_unit_test(the_time_is_counted_from_1970),
	};

	return cmocka_run_group_tests_name("render_prometheus", tests, NULL, NULL);
}
