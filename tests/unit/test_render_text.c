/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "report/utf8.h"
#include "report/wrap.h"
#include "sample_result.h"

static void check_golden(
	struct wp_result *result, const char *name, bool is_colored, bool is_verbose)
{
	char *text = sample_render(result, wp_render_text, is_colored, is_verbose);

	sample_golden(name, text);
	free(text);
	wp_result_free(result);
}

static void a_comparison_looks_like_this(void **state)
{
	(void)state;
	check_golden(sample_compare(), "compare.txt", false, false);
}

static void a_stopped_run_with_a_failed_check_looks_like_this(void **state)
{
	(void)state;
	check_golden(sample_stopped(), "stopped.txt", false, false);
}

static void colours_and_details_look_like_this(void **state)
{
	(void)state;
	check_golden(sample_stopped(), "stopped-colour-verbose.txt", true, true);
}

static void odd_content_looks_like_this(void **state)
{
	(void)state;
	check_golden(sample_odd(), "odd.txt", false, true);
}

static void no_line_is_wider_than_100_or_ends_in_blanks(void **state)
{
	struct wp_result *results[] = { sample_compare(), sample_stopped(), sample_odd() };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(results); i++) {
		char *text = sample_render(results[i], wp_render_text, false, true);
		char *rest = text;
		char *line;

		while ((line = strsep(&rest, "\n")) != NULL) {
			size_t length = strlen(line);

			if (wp_utf8_width(line) > 100)
				fail_msg("wider than 100: %s", line);
			if (length && line[length - 1] == ' ')
				fail_msg("blank at the end: %s", line);
		}
		free(text);
		wp_result_free(results[i]);
	}
}

static void failed_checks_stand_before_everything_else(void **state)
{
	struct wp_result *result = sample_stopped();
	char *text = sample_render(result, wp_render_text, false, true);
	const char *failed = strstr(text, "FAIL");

	(void)state;
	assert_non_null(failed);
	assert_true(failed < strstr(text, "Recommendation"));
	assert_true(failed < strstr(text, "PASS"));
	assert_non_null(strstr(text, "INCOMPLETE"));
	assert_true(strstr(text, "INCOMPLETE") < failed);
	free(text);
	wp_result_free(result);
}

static void rounds_are_shown_on_demand_only(void **state)
{
	struct wp_result *result = sample_compare();
	char *brief = sample_render(result, wp_render_text, false, false);
	char *full = sample_render(result, wp_render_text, false, true);

	(void)state;
	assert_null(strstr(brief, "Every round"));
	assert_non_null(strstr(full, "Every round"));
	free(full);
	free(brief);
	wp_result_free(result);
}

static void a_row_without_figures_is_a_line_with_the_reason(void **state)
{
	static const struct wp_column columns[] = {
		{ "target", "target", "", WP_KIND_TEXT, "" },
		{ "clients", "clients", "", WP_KIND_INT, "" },
		{ "rate", "rate", "1/s", WP_KIND_REAL, "" },
		{ "p50_ns", "p50", "ns", WP_KIND_INT, "" },
	};
	struct wp_result *result = wp_result_new("x");
	struct wp_table *table = wp_result_table(result, "t", "T", columns, WP_COUNT(columns));
	struct wp_row *row = wp_table_add_row(table);
	char *text;

	(void)state;
	wp_row_text(row, "target", "gone");
	wp_row_int(row, "clients", 8);
	wp_row_absent(row, "rate", "no mkfs");
	wp_row_absent(row, "p50_ns", "no mkfs");
	row = wp_table_add_row(table);
	wp_row_text(row, "target", "half");
	wp_row_int(row, "clients", 8);
	wp_row_absent(row, "rate", "no mkfs");
	wp_row_int(row, "p50_ns", 1500000);
	text = sample_render(result, wp_render_text, false, false);
	assert_non_null(strstr(text, "  half          8  -[1]    1.50\n"
				     "  [1] no mkfs\n"
				     "  not measured: gone: no mkfs\n"));
	free(text);
	wp_result_free(result);
}

static void nothing_from_a_document_controls_the_terminal(void **state)
{
	struct wp_result *result = sample_odd();
	char *text = sample_render(result, wp_render_text, false, true);

	(void)state;
	assert_null(strchr(text, '\033'));
	assert_null(strchr(text, '\x01'));
	assert_null(strstr(text, "\xE2\x80\xAE"));
	free(text);
	wp_result_free(result);
}

static void lines_break_at_blanks_then_at_separators(void **state)
{
	static const struct {
		const char *text;
		size_t width;
		const char *lines[5];
	} cases[] = {
		{ "", 5, { "" } },
		{ "one two three", 7, { "one two", "three" } },
		{ "one two three", 100, { "one two three" } },
		{ "exactly ten", 7, { "exactly", "ten" } },
		{ "rw,relatime,data=ordered", 12, { "rw,relatime,", "data=ordered" } },
		{ "abcdefgh", 3, { "abc", "def", "gh" } },
		{ "日本語", 4, { "日本", "語" } },
		{ "日", 1, { "日" } },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		struct wp_lines lines;
		size_t count = 0;

		wp_wrap(cases[i].text, cases[i].width, &lines);
		while (count < 5 && cases[i].lines[count])
			count++;
		assert_int_equal(lines.count, count);
		for (size_t k = 0; k < count; k++)
			assert_string_equal(lines.lines[k], cases[i].lines[k]);
		wp_lines_release(&lines);
	}
}

static void broken_utf8_reads_as_replacement(void **state)
{
	static const char *const broken[] = { "\xFF", "\xC3", "\xC0\x80", "\xED\xA0\x80",
		"\xF4\x90\x80\x80", "\xE2\x82", "\x80" };
	uint32_t code;

	(void)state;
	for (size_t i = 0; i < WP_COUNT(broken); i++) {
		assert_int_equal(wp_utf8_next(broken[i], &code), 1);
		assert_int_equal(code, WP_UTF8_REPLACEMENT);
	}
	assert_int_equal(wp_utf8_next("\xF0\x9F\x98\x80", &code), 4);
	assert_int_equal(code, 0x1F600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_comparison_looks_like_this),
		cmocka_unit_test(a_stopped_run_with_a_failed_check_looks_like_this),
		cmocka_unit_test(colours_and_details_look_like_this),
		cmocka_unit_test(odd_content_looks_like_this),
		cmocka_unit_test(no_line_is_wider_than_100_or_ends_in_blanks),
		cmocka_unit_test(failed_checks_stand_before_everything_else),
		cmocka_unit_test(rounds_are_shown_on_demand_only),
		cmocka_unit_test(a_row_without_figures_is_a_line_with_the_reason),
		cmocka_unit_test(nothing_from_a_document_controls_the_terminal),
		cmocka_unit_test(lines_break_at_blanks_then_at_separators),
		cmocka_unit_test(broken_utf8_reads_as_replacement),
	};

	return cmocka_run_group_tests_name("render_text", tests, NULL, NULL);
}
