/* SPDX-License-Identifier: PostgreSQL */
/* What walprobe io prints in the layouts of other tools is read back to the values that it printed. */
#include "import_input.h"
#include "sample_io.h"
#include "sample_result.h"
#include "walprobe/mem.h"

#include <math.h>

#define KB 1024.0

static struct wp_result *original;
static struct wp_result *again;

static void there_and_back(wp_render_fn *render)
{
	char *text;

	original = sample_io();
	text = sample_render(original, render, false, false);
	again = import_text(text);
	assert_non_null(again);
	free(text);
}

static void release(void)
{
	wp_result_free(original);
	wp_result_free(again);
}

static const struct wp_table *io(const struct wp_result *result)
{
	return wp_result_find_table(result, "io");
}

static bool is_near(double a, double b, double within)
{
	return fabs(a - b) <= within * (1 + 1e-12);
}

/* bonnie++ cannot write a comma into a name. */
static bool is_same_name(const char *own, const char *wanted)
{
	return strncmp(own, wanted, 3) == 0;
}

/* The imported row of this test; of a test with records, of this record size. */
static const struct wp_row *find(const char *target, const char *test, double record)
{
	const struct wp_row *found = NULL;

	for (size_t i = 0; i < io(again)->row_count; i++) {
		const struct wp_row *row = io(again)->rows[i];

		if (is_same_name(wp_row_get_text(row, "target"), target) &&
			strcmp(wp_row_get_text(row, "test"), test) == 0 &&
			(isnan(record) ||
				is_near(wp_row_get_number(row, "record_bytes"), record, 0)) &&
			isfinite(wp_row_get_number(row, "ops_per_s")))
			found = row;
	}
	return found;
}

static void check(
	const struct wp_row *row, const struct wp_row *wanted, const char *key, double unit)
{
	double own = wp_row_get_number(row, key);
	double value = wp_row_get_number(wanted, key);

	if (!is_near(own, value, unit / 2) || fmod(own, unit) > 0)
		fail_msg("%s of %s: %.9g, was %.9g", key, wp_row_get_text(wanted, "test"), own,
			value);
}

static double unit_of_rate(double per_s)
{
	return per_s < 1000 ? 0 : 1;
}

/* Times are cut to whole microseconds below 0.1 s, to milliseconds below 100 s. */
static void check_longest(const struct wp_row *row, const struct wp_row *wanted)
{
	double value = wp_row_get_number(wanted, "max_ns");
	double unit = value < 1e8 ? 1e3 : 1e6;

	if (!is_near(wp_row_get_number(row, "max_ns"), floor(value / unit) * unit, 0))
		fail_msg("max_ns of %s: %.9g, was %.9g", wp_row_get_text(wanted, "test"),
			wp_row_get_number(row, "max_ns"), value);
}

/* Returns how many rows of the original are in the import. */
static size_t check_bonnie(bool has_longest)
{
	size_t found = 0;

	for (size_t i = 0; i < io(original)->row_count; i++) {
		const struct wp_row *wanted = io(original)->rows[i];
		const char *test = wp_row_get_text(wanted, "test");
		double per_s = wp_row_get_number(wanted, "ops_per_s");
		const struct wp_row *row = find(wp_row_get_text(wanted, "target"), test,
			wp_row_get_number(wanted, "record_bytes"));

		if (!row)
			continue;
		found++;
		check(row, wanted, "cpu_percent", 1);
		if (isfinite(wp_row_get_number(row, "bytes_per_s")))
			check(row, wanted, "bytes_per_s", KB);
		else
			assert_true(is_near(wp_row_get_number(row, "ops_per_s"), per_s,
				unit_of_rate(per_s) > 0 ? 0.5 : 0.05));
		if (isfinite(wp_row_get_number(row, "file_bytes")))
			check(row, wanted, "file_bytes", KB);
		if (has_longest)
			check_longest(row, wanted);
		if (has_longest && strcmp(test, "seeks") == 0)
			check(row, wanted, "ops", 1);
	}
	return found;
}

/* Of each of two targets: write, rewrite, read and seeks with two record sizes, both kinds of bytes
 * one by one, six tests of small files. */
static void csv_of_bonnie_200_is_read_back(void **state)
{
	(void)state;
	there_and_back(wp_render_bonnie_200);
	assert_int_equal(check_bonnie(true), 2 * (4 * 2 + 2 + 6));
	assert_non_null(strstr(import_run_field(again, 0, "settings"), "files 16:4096:0:10"));
	assert_int_equal(again->target_count, 5);
	release();
}

static void csv_of_bonnie_103_is_read_back(void **state)
{
	(void)state;
	there_and_back(wp_render_bonnie_103);
	assert_int_equal(check_bonnie(false), 2 * (4 * 2 + 2 + 6));
	assert_int_equal(again->target_count, 5);
	release();
}

static void table_of_iozone_is_read_back(void **state)
{
	size_t found = 0;

	(void)state;
	there_and_back(wp_render_iozone);
	for (size_t i = 0; i < io(original)->row_count; i++) {
		const struct wp_row *wanted = io(original)->rows[i];
		const struct wp_row *row = find(wp_row_get_text(wanted, "target"),
			wp_row_get_text(wanted, "test"), wp_row_get_number(wanted, "record_bytes"));

		if (!row)
			continue;
		found++;
		check(row, wanted, "bytes_per_s", KB);
		check(row, wanted, "file_bytes", KB);
		assert_string_equal(
			wp_row_get_text(row, "target"), wp_row_get_text(wanted, "target"));
		if (strstr(wp_row_get_text(row, "test"), "write"))
			assert_string_equal(wp_row_get_text(row, "cached"), "no");
	}
	/* write, overwrite, read, reread, random-read, random-write, backward-read */
	assert_int_equal(found, 2 * 2 * 7);
	assert_int_equal(io(again)->row_count, found);
	release();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(csv_of_bonnie_200_is_read_back),
		cmocka_unit_test(csv_of_bonnie_103_is_read_back),
		cmocka_unit_test(table_of_iozone_is_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
