/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "walprobe/units.h"

static void durations_need_a_unit(void **state)
{
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {
		{ "500ms", 500 * WP_NS_PER_MS },
		{ "2s", 2 * WP_NS_PER_S },
		{ "1min", 60 * WP_NS_PER_S },
		{ "0.5s", 500 * WP_NS_PER_MS },
		{ "250 us", 250 * WP_NS_PER_US },
		{ "0s", 0 },
	};
	static const char *const bad[] = { "", "5", "s", "5x", "-1s", "inf s", "1e9s", "0x5s",
		"nan", "5 s s", "99999999999999999999d", ".s", "." };
	int64_t ns;

	(void)state;
	for (size_t i = 0; i < WP_COUNT(good); i++) {
		assert_int_equal(wp_parse_duration_ns(good[i].text, 0, &ns, NULL), 0);
		assert_int_equal(ns, good[i].ns);
	}
	for (size_t i = 0; i < WP_COUNT(bad); i++) {
		struct wp_err err = { 0 };

		assert_int_equal(wp_parse_duration_ns(bad[i], 0, &ns, &err), -WP_E_USAGE);
		assert_true(err.message[0] && err.hint[0]);
	}
}

static void pgbench_durations_take_bare_numbers(void **state)
{
	int64_t ns;

	(void)state;
	assert_int_equal(wp_parse_duration_ns("30", WP_NS_PER_S, &ns, NULL), 0);
	assert_int_equal(ns, 30 * WP_NS_PER_S);
	assert_int_equal(wp_parse_duration_ns("30ms", WP_NS_PER_S, &ns, NULL), 0);
	assert_int_equal(ns, 30 * WP_NS_PER_MS);
}

static void sizes_are_powers_of_1024(void **state)
{
	int64_t bytes;

	(void)state;
	assert_int_equal(wp_parse_size_bytes("8kB", &bytes, NULL), 0);
	assert_int_equal(bytes, 8192);
	assert_int_equal(wp_parse_size_bytes("1.5GB", &bytes, NULL), 0);
	assert_int_equal(bytes, 3 * (INT64_C(1) << 29));
	assert_int_equal(wp_parse_size_bytes("8192", &bytes, NULL), -WP_E_USAGE);
	assert_int_equal(wp_parse_size_bytes("8KB", &bytes, NULL), -WP_E_USAGE);
}

static void lists_of_numbers_keep_their_order(void **state)
{
	int64_t numbers[8];
	size_t count;

	(void)state;
	assert_int_equal(wp_parse_int_list("1-4,8,6", 1, 1000, numbers, 8, &count, NULL), 0);
	assert_int_equal(count, 6);
	assert_int_equal(numbers[3], 4);
	assert_int_equal(numbers[5], 6);
	assert_int_equal(wp_int_list_most(numbers, count), 8);
	assert_int_equal(wp_int_list_most(numbers, 0), 0);
	assert_int_equal(wp_parse_int_list("1,1", 1, 9, numbers, 8, &count, NULL), -WP_E_USAGE);
	assert_int_equal(wp_parse_int_list("0", 1, 9, numbers, 8, &count, NULL), -WP_E_USAGE);
	assert_int_equal(wp_parse_int_list("4-1", 1, 9, numbers, 8, &count, NULL), -WP_E_USAGE);
	assert_int_equal(wp_parse_int_list("1-9", 1, 9, numbers, 8, &count, NULL), -WP_E_USAGE);
	assert_int_equal(wp_parse_int_list("1,,2", 1, 9, numbers, 8, &count, NULL), -WP_E_USAGE);
	assert_int_equal(wp_parse_int_list("", 1, 9, numbers, 8, &count, NULL), -WP_E_USAGE);
}

static void figures_show_three_significant_digits(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 1.234, "1.23" },
		{ 9.996, "10.0" },
		{ 99.96, "100" },
		{ 999.6, "1000" },
		{ 6383.3, "6380" },
		{ 123456, "123000" },
		{ 0.01234, "0.0123" },
	};
	char text[32];

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++)
		assert_string_equal(wp_format_3(cases[i].value, text, sizeof(text)), cases[i].text);
	assert_string_equal(wp_format_duration(1234567, text, sizeof(text)), "1.23 ms");
	assert_string_equal(wp_format_duration(999999, text, sizeof(text)), "1.00 ms");
	assert_string_equal(wp_format_size(INT64_C(16) << 20, text, sizeof(text)), "16.0 MB");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(durations_need_a_unit),
		cmocka_unit_test(pgbench_durations_take_bare_numbers),
		cmocka_unit_test(sizes_are_powers_of_1024),
		cmocka_unit_test(lists_of_numbers_keep_their_order),
		cmocka_unit_test(figures_show_three_significant_digits),
	};

	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
