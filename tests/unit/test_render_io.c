/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "sample_io.h"
#include "sample_result.h"

static char *render(wp_render_fn *fn)
{
	struct wp_result *result = sample_io();
	char *text = sample_render(result, fn, false, false);

	wp_result_free(result);
	return text;
}

static size_t fields_of_line(const char *line)
{
	size_t count = 1;

	for (; *line && *line != '\n'; line++)
		count += *line == ',';
	return count;
}

static void check_csv(wp_render_fn *fn, const char *golden, size_t fields)
{
	char *text = render(fn);

	for (const char *line = text; *line; line = strchr(line, '\n') + 1)
		assert_int_equal(fields_of_line(line), fields);
	sample_golden(golden, text);
	free(text);
}

static void bonnie_200_has_50_fields(void **state)
{
	(void)state;
	check_csv(wp_render_bonnie_200, "io-bonnie-2.00.csv", 50);
}

static void bonnie_103_has_27_fields(void **state)
{
	(void)state;
	check_csv(wp_render_bonnie_103, "io-bonnie-1.03.csv", 27);
}

static void iozone_numbers_end_where_its_headings_do(void **state)
{
	char *text = render(wp_render_iozone);
	const char *line = strstr(text, "3145728");

	(void)state;
	sample_golden("io-iozone.txt", text);
	assert_non_null(line);
	while (line > text && line[-1] != '\n')
		line--;
	/* kB reclen write rewrite read reread random-read random-write bkwd */
	static const size_t ends[] = { 16, 24, 33, 42, 51, 60, 69, 78, 87 };
	for (size_t i = 0; i < WP_COUNT(ends); i++)
		assert_true(line[ends[i] - 1] >= '0' && line[ends[i] - 1] <= '9' &&
			    (line[ends[i]] == ' ' || line[ends[i]] == '\n'));
	free(text);
}

static void a_document_without_the_table_gives_nothing(void **state)
{
	struct wp_result *result = wp_result_new("sync");
	wp_render_fn *const fns[] = { wp_render_bonnie_200, wp_render_bonnie_103,
		wp_render_iozone };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(fns); i++) {
		char *text = sample_render(result, fns[i], false, false);

		assert_string_equal(text, "");
		free(text);
	}
	wp_result_free(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bonnie_200_has_50_fields),
		cmocka_unit_test(bonnie_103_has_27_fields),
		cmocka_unit_test(iozone_numbers_end_where_its_headings_do),
		cmocka_unit_test(a_document_without_the_table_gives_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
