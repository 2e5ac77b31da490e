/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"

#include "walprobe/mem.h"
#include "walprobe/render.h"

static const struct wp_column ramp_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "" },
	{ "clients", "clients", "", WP_KIND_INT, "" },
	{ "tps_excluding", "tps", "1/s", WP_KIND_REAL, "" },
	{ "p50_ns", "p50", "ns", WP_KIND_INT, "" },
	{ "ranked", "ranked", "", WP_KIND_TEXT, "" },
};

static const struct wp_column cluster_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "" },
	{ "setting", "setting", "", WP_KIND_TEXT, "" },
	{ "value", "value", "", WP_KIND_TEXT, "" },
	{ "source", "source", "", WP_KIND_TEXT, "" },
};

static const struct wp_column comparison_columns[] = {
	{ "table", "", "", WP_KIND_TEXT, "" },
	{ "metric", "", "", WP_KIND_TEXT, "" },
	{ "clients", "", "", WP_KIND_INT, "" },
	{ "record_bytes", "", "", WP_KIND_INT, "" },
	{ "a", "", "", WP_KIND_TEXT, "" },
	{ "b", "", "", WP_KIND_TEXT, "" },
	{ "ratio", "", "", WP_KIND_REAL, "" },
	{ "ci_low", "", "", WP_KIND_REAL, "" },
	{ "ci_high", "", "", WP_KIND_REAL, "" },
	{ "verdict", "", "", WP_KIND_TEXT, "" },
};

static void add_step(struct wp_result *result, const char *target, int64_t clients, double tps)
{
	struct wp_row *row = wp_table_add_row(wp_result_table(
		result, "ramp", "Client ramp", ramp_columns, WP_COUNT(ramp_columns)));

	wp_row_text(row, "target", target);
	wp_row_int(row, "clients", clients);
	if (tps > 0)
		wp_row_real(row, "tps_excluding", tps);
	else
		wp_row_absent(row, "tps_excluding", "the server has ended");
	wp_row_int(row, "p50_ns", 1500000);
	wp_row_text(row, "ranked",
		strcmp(target, "fat") == 0 ? "fsync does not reach the file" : "yes");
}

static void add_setting(struct wp_result *result, const char *target, const char *setting,
	const char *value, const char *source)
{
	struct wp_row *row = wp_table_add_row(wp_result_table(
		result, "cluster", "Settings", cluster_columns, WP_COUNT(cluster_columns)));

	wp_row_text(row, "target", target);
	wp_row_text(row, "setting", setting);
	wp_row_text(row, "source", source);
	if (value)
		wp_row_text(row, "value", value);
	else
		wp_row_absent(row, "value", "this version lacks it");
}

static void add_pair(struct wp_result *result, int64_t clients, const char *verdict)
{
	struct wp_row *row = wp_table_add_row(wp_result_table(
		result, "comparison", "Pairs", comparison_columns, WP_COUNT(comparison_columns)));

	wp_row_text(row, "table", "ramp");
	wp_row_text(row, "metric", "tps_excluding");
	wp_row_int(row, "clients", clients);
	wp_row_text(row, "a", "ext2");
	wp_row_text(row, "b", "xfs");
	wp_row_real(row, "ratio", 1.5);
	wp_row_real(row, "ci_low", 1.25);
	wp_row_real(row, "ci_high", 1.75);
	wp_row_text(row, "verdict", verdict);
}

static char *rendered(struct wp_result *result, bool is_verbose)
{
	const struct wp_render_options options = { .is_verbose = is_verbose };
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	wp_render_text(result, &options, stream);
	(void)fclose(stream);
	return text;
}

static void clients_stand_down_and_targets_across(void **state)
{
	struct wp_result *result = wp_result_new("ramp");
	char *text;

	(void)state;
	add_step(result, "ext2", 1, 100);
	add_step(result, "ext2", 2, 190);
	add_step(result, "fat", 1, 50);
	add_step(result, "fat", 2, 0);
	text = rendered(result, false);
	assert_non_null(strstr(text, "Client ramp\n"
				     "  left out of the ranking: fat: fsync does not reach the "
				     "file\n"
				     "  tps\n"
				     "  clients  ext2   fat\n"
				     "  -------  ----  ----\n"
				     "        1   100  50.0\n"
				     "        2   190  -[1]\n"));
	assert_non_null(strstr(text, "\n  [1] the server has ended\n"));
	free(text);
	wp_result_free(result);
}

static void one_target_needs_no_table_across(void **state)
{
	struct wp_result *result = wp_result_new("ramp");
	char *text;

	(void)state;
	add_step(result, "db", 1, 100);
	add_step(result, "db", 2, 190);
	text = rendered(result, false);
	assert_null(strstr(text, "clients  db"));
	assert_non_null(strstr(text, "ranked: yes"));
	free(text);
	wp_result_free(result);
}

static void steps_of_many_targets_are_left_to_the_verbose(void **state)
{
	struct wp_result *result = wp_result_new("ramp");
	char *text;

	(void)state;
	for (int64_t i = 1; i <= 13; i++) {
		add_step(result, "ext2", i, 100 + (double)i);
		add_step(result, "xfs", i, 200 + (double)i);
	}
	text = rendered(result, false);
	assert_non_null(strstr(text, "-v shows each step"));
	assert_null(strstr(text, "target  clients"));
	free(text);
	text = rendered(result, true);
	assert_non_null(strstr(text, "target  clients"));
	free(text);
	wp_result_free(result);
}

static void of_many_pairs_those_with_a_verdict_are_shown(void **state)
{
	struct wp_result *result = wp_result_new("ramp");
	char *text;

	(void)state;
	for (int64_t i = 1; i <= 30; i++)
		add_pair(result, i,
			i == 7        ? "faster"
			: i % 10 == 3 ? "not quiet"
				      : "no difference shown");
	text = rendered(result, false);
	assert_non_null(strstr(text, "7 clients"));
	assert_non_null(strstr(text, "ext2 is faster"));
	assert_null(strstr(text, "8 clients"));
	assert_non_null(strstr(
		text, "  no difference shown in 26, not quiet in 3 of 30 comparisons (-v)\n"));
	free(text);
	text = rendered(result, true);
	assert_non_null(strstr(text, "8 clients"));
	assert_null(strstr(text, "comparisons (-v)"));
	free(text);
	wp_result_free(result);
}

static void settings_of_all_servers_are_said_once(void **state)
{
	static const char *const targets[] = { "ext2", "xfs" };
	struct wp_result *result = wp_result_new("ramp");
	char *text;

	(void)state;
	for (size_t i = 0; i < WP_COUNT(targets); i++) {
		add_setting(result, targets[i], "port", i ? "2" : "1", "walprobe");
		add_setting(result, targets[i], "fsync", "on", "walprobe");
		add_setting(result, targets[i], "commit_delay", "7", "--set");
		add_setting(result, targets[i], "wal_buffers", i ? "8MB" : "4MB", "default");
		add_setting(result, targets[i], "work_mem", "", "default");
		add_setting(result, targets[i], "debug_io_direct", NULL, "default");
	}
	text = rendered(result, false);
	assert_non_null(
		strstr(text, "Settings\n"
			     "  asked for by --set: commit_delay = 7\n"
			     "  chosen, so that WAL is what limits the speed: fsync = on\n"
			     "  the server's defaults: wal_buffers = 4MB (ext2), work_mem = "
			     "'', wal_buffers = 8MB (xfs)\n"));
	free(text);
	wp_result_free(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clients_stand_down_and_targets_across),
		cmocka_unit_test(one_target_needs_no_table_across),
		cmocka_unit_test(steps_of_many_targets_are_left_to_the_verbose),
		cmocka_unit_test(of_many_pairs_those_with_a_verdict_are_shown),
		cmocka_unit_test(settings_of_all_servers_are_said_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
