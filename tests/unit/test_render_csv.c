/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "sample_result.h"

static void check_golden(struct wp_result *result, const char *name)
{
	char *csv = sample_render(result, wp_render_csv, false, false);

	sample_golden(name, csv);
	free(csv);
	wp_result_free(result);
}

static void a_comparison_looks_like_this(void **state)
{
	(void)state;
	check_golden(sample_stopped(), "stopped.csv");
}

static void odd_content_looks_like_this(void **state)
{
	(void)state;
	check_golden(sample_odd(), "odd.csv");
}

static void fields_are_quoted_where_they_must_be(void **state)
{
	static const struct wp_column columns[] = {
		{ "first", "", "", WP_KIND_TEXT, "" },
		{ "second", "", "", WP_KIND_TEXT, "" },
	};
	static const struct {
		const char *text;
		const char *line; /* with the text in both columns */
	} cases[] = {
		{ "plain", "plain,plain\n" },
		{ "", "\"\",\"\"\n" },
		{ NULL, ",\n" },
		{ "a,b", "\"a,b\",\"a,b\"\n" },
		{ "say \"x\"", "\"say \"\"x\"\"\",\"say \"\"x\"\"\"\n" },
		{ "two\nlines", "\"two\nlines\",\"two\nlines\"\n" },
		{ "return\r", "\"return\r\",\"return\r\"\n" },
		{ " blank", "\" blank\",\" blank\"\n" },
		{ "# table", "\"# table\",# table\n" },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		struct wp_result *result = wp_result_new("x");
		struct wp_table *table = wp_result_table(result, "t", "T", columns, 2);
		struct wp_row *row = wp_table_add_row(table);
		static const char head[] = "# table t: T\nfirst,second\n";
		char *csv;

		wp_row_text(row, "first", cases[i].text);
		wp_row_text(row, "second", cases[i].text);
		csv = sample_render(result, wp_render_csv, false, false);
		assert_memory_equal(csv, head, strlen(head));
		assert_memory_equal(csv + strlen(head), cases[i].line, strlen(cases[i].line));
		assert_memory_equal(
			csv + strlen(head) + strlen(cases[i].line), "# table checks: ", 16);
		free(csv);
		wp_result_free(result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_comparison_looks_like_this),
		cmocka_unit_test(odd_content_looks_like_this),
		cmocka_unit_test(fields_are_quoted_where_they_must_be),
	};

	return cmocka_run_group_tests_name("render_csv", tests, NULL, NULL);
}
