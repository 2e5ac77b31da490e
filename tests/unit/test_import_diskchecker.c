/* SPDX-License-Identifier: PostgreSQL */
#include "import_input.h"

#define CASE "37-diskchecker-create-and-clean-verify/"

static void create_gives_the_writes_until_the_power_cut(void **state)
{
	struct wp_result *result = import_case(CASE "create.txt");
	const struct wp_row *row = import_row(result, "sync", "nodeB", NULL, "ops", 23081);

	(void)state;
	assert_int_equal((int)wp_row_get_number(row, "ops_per_s"), 1049);
	assert_int_equal((int)wp_row_get_number(row, "write_bytes"), 16384);
	assert_string_equal(wp_row_get_text(row, "method"), "fsync");
	assert_non_null(strstr(import_check(result, "imported", "nodeB")->text, "51.20 %"));
	assert_non_null(strstr(import_check(result, "imported", "nodeB")->text, "22 s"));
	assert_string_equal(import_run_field(result, 0, "command"),
		"/root/diskchecker.pl -s nodeA  create  osd_test 500M");
	wp_result_free(result);
}

static void a_clean_verify_speaks_of_one_run(void **state)
{
	struct wp_result *result = import_case(CASE "verify.txt");
	const struct wp_row *row = import_row(result, "verdict", "nodeB", NULL, "lost", 0);

	(void)state;
	assert_string_equal(wp_row_get_text(row, "verdict"), "no loss");
	assert_string_equal(wp_row_get_text(row, "run"), "osd_test");
	assert_int_equal(import_check(result, "data-survived", "nodeB")->status, WP_CHECK_PASS);
	assert_non_null(
		strstr(import_check(result, "data-survived", "nodeB")->text, "in this run"));
	wp_result_free(result);
}

static void errors_are_a_lie(void **state)
{
	struct wp_result *result = import_text(" verifying: 0.00%\n"
					       "  Error at page 3112, 0 seconds before end.\n"
					       "  Error at page 10, 1 seconds before end.\n"
					       " verifying: 100.00%\n"
					       "Total errors: 2\n"
					       "Histogram of seconds before end:\n");
	const struct wp_row *row = import_row(result, "verdict", "input", NULL, "lost", 2);

	(void)state;
	assert_string_equal(wp_row_get_text(row, "verdict"), "lies");
	assert_int_equal(import_check(result, "data-survived", NULL)->status, WP_CHECK_FAIL);
	wp_result_free(result);
}

static void a_verify_without_its_end_cannot_tell(void **state)
{
	struct wp_result *result = import_text(" verifying: 0.00%\n verifying: 50.35%\n");
	const struct wp_row *row = import_row(result, "verdict", "input", NULL, NULL, 0);

	(void)state;
	assert_string_equal(wp_row_get_text(row, "verdict"), "cannot tell");
	assert_int_equal(wp_row_cell(row, "lost")->state, WP_CELL_ABSENT);
	assert_int_equal(import_check(result, "data-survived", NULL)->status, WP_CHECK_UNKNOWN);
	wp_result_free(result);
}

static void findings_in_prose_are_no_output(void **state)
{
	char *text = import_read("39-diskchecker-virtualbox-16-per-second/report.txt");

	(void)state;
	assert_null(import_text(text));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(create_gives_the_writes_until_the_power_cut),
		cmocka_unit_test(a_clean_verify_speaks_of_one_run),
		cmocka_unit_test(errors_are_a_lie),
		cmocka_unit_test(a_verify_without_its_end_cannot_tell),
		cmocka_unit_test(findings_in_prose_are_no_output),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
