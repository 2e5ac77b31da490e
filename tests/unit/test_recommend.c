/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"

#include "walprobe/comparison.h"
#include "walprobe/server_advice.h"

static const struct wp_column append_columns[] = {
	{ "target", "", "", WP_KIND_TEXT, "" },
	{ "method", "", "", WP_KIND_TEXT, "" },
	{ "clients", "", "", WP_KIND_INT, "" },
	{ "commits_per_s", "", "", WP_KIND_REAL, "" },
};

static const struct wp_column comparison_columns[] = {
	{ "table", "", "", WP_KIND_TEXT, "" },
	{ "method", "", "", WP_KIND_TEXT, "" },
	{ "variant", "", "", WP_KIND_TEXT, "" },
	{ "clients", "", "", WP_KIND_INT, "" },
	{ "a", "", "", WP_KIND_TEXT, "" },
	{ "b", "", "", WP_KIND_TEXT, "" },
	{ "verdict", "", "", WP_KIND_TEXT, "" },
	{ "sentence", "", "", WP_KIND_TEXT, "" },
};

static const struct wp_column methods_columns[] = {
	{ "target", "", "", WP_KIND_TEXT, "" },
	{ "table", "", "", WP_KIND_TEXT, "" },
	{ "variant", "", "", WP_KIND_TEXT, "" },
	{ "a", "", "", WP_KIND_TEXT, "" },
	{ "b", "", "", WP_KIND_TEXT, "" },
	{ "ratio", "", "", WP_KIND_REAL, "" },
	{ "verdict", "", "", WP_KIND_TEXT, "" },
	{ "sentence", "", "", WP_KIND_TEXT, "" },
};

static struct wp_run run;

static void begin(void)
{
	memset(&run, 0, sizeof(run));
	run.result = wp_result_new("compare");
}

static void measured(const char *target, int64_t clients, double commits_per_s)
{
	struct wp_table *table =
		wp_result_table(run.result, "append", "", append_columns, WP_COUNT(append_columns));
	struct wp_row *row = wp_table_add_row(table);
	bool is_known = false;

	for (size_t i = 0; i < run.result->target_count; i++)
		is_known |= strcmp(run.result->targets[i]->label, target) == 0;
	if (!is_known)
		(void)wp_result_add_target(run.result, target);
	wp_row_text(row, "target", target);
	wp_row_text(row, "method", "fdatasync");
	wp_row_int(row, "clients", clients);
	wp_row_real(row, "commits_per_s", commits_per_s);
}

static void compared(const char *a, const char *b, int64_t clients, const char *verdict)
{
	struct wp_table *table = wp_result_table(
		run.result, "comparison", "", comparison_columns, WP_COUNT(comparison_columns));
	struct wp_row *row = wp_table_add_row(table);

	wp_row_text(row, "table", "append");
	wp_row_text(row, "method", "fdatasync");
	wp_row_int(row, "clients", clients);
	wp_row_text(row, "a", a);
	wp_row_text(row, "b", b);
	wp_row_text(row, "verdict", verdict);
	wp_row_text(row, "sentence", "SENTENCE");
}

static void checked(const char *target, const char *id, enum wp_check_status status)
{
	wp_result_add_check(run.result, id, target, status, NULL, NULL, "CHECKTEXT");
}

static const char *recommended(const char *item)
{
	const struct wp_table *table = wp_result_find_table(run.result, "recommendation");

	for (size_t i = 0; table && i < table->row_count; i++)
		if (strcmp(wp_row_get_text(table->rows[i], "item"), item) == 0)
			return wp_row_get_text(table->rows[i], "value");
	return "nothing said";
}

static void the_target_shown_to_be_faster_wins(void **state)
{
	(void)state;
	begin();
	measured("ext4", 8, 2000);
	measured("xfs", 8, 1500);
	compared("ext4", "xfs", 8, "faster");
	checked("ext4", "flush-sent", WP_CHECK_PASS);
	checked("xfs", "flush-sent", WP_CHECK_PASS);
	wp_recommend_fill(&run);
	assert_string_equal(recommended("pg_wal on"), "ext4");
	assert_string_equal(recommended("not recommended"), "nothing said");
	wp_result_free(run.result);
}

static void a_higher_figure_alone_wins_nothing(void **state)
{
	(void)state;
	begin();
	measured("ext4", 8, 2000);
	measured("xfs", 8, 1500);
	compared("ext4", "xfs", 8, "no difference shown");
	wp_recommend_fill(&run);
	assert_string_equal(recommended("pg_wal on"), "ext4 or xfs");
	wp_result_free(run.result);
}

static void a_target_without_flush_is_refused_however_fast(void **state)
{
	(void)state;
	begin();
	measured("liar", 8, 90000);
	measured("xfs", 8, 1500);
	compared("liar", "xfs", 8, "faster");
	checked("liar", "flush-sent", WP_CHECK_FAIL);
	checked("xfs", "flush-sent", WP_CHECK_PASS);
	wp_recommend_fill(&run);
	assert_string_equal(recommended("pg_wal on"), "xfs");
	assert_string_equal(recommended("not recommended"), "liar");
	wp_result_free(run.result);
}

static void memory_is_never_recommended(void **state)
{
	(void)state;
	begin();
	measured("shm", 8, 90000);
	checked("shm", "volatile", WP_CHECK_INFO);
	wp_recommend_fill(&run);
	assert_string_equal(recommended("pg_wal on"), "none of these");
	wp_result_free(run.result);
}

static void one_client_decides_where_eight_do_not(void **state)
{
	(void)state;
	begin();
	measured("a", 1, 100);
	measured("a", 8, 800);
	measured("b", 1, 200);
	measured("b", 8, 790);
	compared("a", "b", 8, "no practical difference");
	compared("a", "b", 1, "slower");
	wp_recommend_fill(&run);
	assert_string_equal(recommended("pg_wal on"), "b");
	wp_result_free(run.result);
}

static void method(const char *a, const char *b, double ratio, const char *verdict)
{
	struct wp_table *table = wp_result_table(
		run.result, "methods", "", methods_columns, WP_COUNT(methods_columns));
	struct wp_row *row = wp_table_add_row(table);

	wp_row_text(row, "target", "a");
	wp_row_text(row, "table", "sync");
	wp_row_text(row, "variant", "overwrite");
	wp_row_text(row, "a", a);
	wp_row_text(row, "b", b);
	wp_row_real(row, "ratio", ratio);
	wp_row_text(row, "verdict", verdict);
}

static void fdatasync_stays_unless_another_is_shown_faster(void **state)
{
	(void)state;
	begin();
	measured("a", 1, 100);
	method("open_datasync", "fdatasync", 1.3, "not quiet");
	wp_recommend_fill(&run);
	assert_string_equal(recommended("wal_sync_method"), "fdatasync");
	wp_result_free(run.result);
	begin();
	measured("a", 1, 100);
	method("open_datasync", "fdatasync", 1.3, "faster");
	method("fdatasync", "open_sync", 0.6, "slower");
	wp_recommend_fill(&run);
	assert_string_equal(recommended("wal_sync_method"), "open_sync");
	wp_result_free(run.result);
}

static void copy_on_write_turns_recycling_off(void **state)
{
	(void)state;
	begin();
	measured("btrfs", 1, 100);
	checked("btrfs", "recycle-cow", WP_CHECK_INFO);
	wp_recommend_fill(&run);
	assert_string_equal(recommended("wal_recycle, wal_init_zero"), "off, off");
	wp_result_free(run.result);
}

static void an_unsafe_server_fails_the_check(void **state)
{
	struct wp_server_setting settings[] = {
		{ (char *)(uintptr_t) "fsync", (char *)(uintptr_t) "off", NULL },
		{ (char *)(uintptr_t) "wal_sync_method", (char *)(uintptr_t) "open_sync", NULL },
	};
	struct wp_server_facts facts = {
		.version = (char *)(uintptr_t) "15", .settings = settings, .setting_count = 2
	};

	(void)state;
	begin();
	measured("server", 1, 100);
	method("fdatasync", "open_sync", 1.0, "no difference shown");
	wp_server_advice_checks(&run, &facts, "server");
	assert_true(wp_result_has_failed_check(run.result));
	wp_server_advice_changes(&run, &facts, "server");
	assert_string_equal(recommended("change on the server"), "nothing said");
	wp_result_free(run.result);
}

static void a_server_is_told_the_better_method(void **state)
{
	struct wp_server_setting settings[] = {
		{ (char *)(uintptr_t) "wal_sync_method", (char *)(uintptr_t) "open_sync", NULL },
	};
	struct wp_server_facts facts = {
		.version = (char *)(uintptr_t) "15", .settings = settings, .setting_count = 1
	};

	(void)state;
	begin();
	measured("a", 1, 100);
	method("fdatasync", "open_sync", 1.0, "no difference shown");
	wp_server_advice_checks(&run, &facts, "a");
	assert_false(wp_result_has_failed_check(run.result));
	wp_recommend_fill(&run);
	wp_server_advice_changes(&run, &facts, "a");
	assert_non_null(
		strstr(recommended("change on the server"), "SET wal_sync_method = 'fdatasync'"));
	wp_result_free(run.result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_target_shown_to_be_faster_wins),
		cmocka_unit_test(a_higher_figure_alone_wins_nothing),
		cmocka_unit_test(a_target_without_flush_is_refused_however_fast),
		cmocka_unit_test(memory_is_never_recommended),
		cmocka_unit_test(one_client_decides_where_eight_do_not),
		cmocka_unit_test(fdatasync_stays_unless_another_is_shown_faster),
		cmocka_unit_test(copy_on_write_turns_recycling_off),
		cmocka_unit_test(an_unsafe_server_fails_the_check),
		cmocka_unit_test(a_server_is_told_the_better_method),
	};

	return cmocka_run_group_tests_name("recommend", tests, NULL, NULL);
}
