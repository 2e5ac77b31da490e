/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "sample_result.h"
#include "walprobe/mem.h"

static const struct wp_column columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label." },
	{ "test", "test", "", WP_KIND_TEXT, "What is done." },
	{ "record_bytes", "record", "bytes", WP_KIND_INT, "Bytes of one operation." },
	{ "file_bytes", "file", "bytes", WP_KIND_INT, "Size of the files." },
	{ "bytes_per_s", "MB/s", "bytes/s", WP_KIND_REAL, "Rate." },
	{ "ops_per_s", "ops/s", "1/s", WP_KIND_REAL, "Rate." },
	{ "max_ns", "max", "ns", WP_KIND_INT, "Longest." },
	{ "ops", "ops", "", WP_KIND_INT, "Operations." },
	{ "cpu_percent", "CPU %", "", WP_KIND_REAL, "Processor time." },
};

static void add(struct wp_table *table, const char *target, const char *test, int64_t record,
	int64_t file, double ops_per_s)
{
	struct wp_row *row = wp_table_add_row(table);

	wp_row_text(row, "target", target);
	wp_row_text(row, "test", test);
	if (record)
		wp_row_int(row, "record_bytes", record);
	if (file)
		wp_row_int(row, "file_bytes", file);
	if (!(ops_per_s > 0)) {
		wp_row_absent(row, "ops_per_s", "O_DIRECT refused: EINVAL");
		return;
	}
	wp_row_real(row, "ops_per_s", ops_per_s);
	if (record)
		wp_row_real(row, "bytes_per_s", ops_per_s * (double)record);
	wp_row_int(row, "max_ns", (int64_t)(1e12 / ops_per_s));
	wp_row_int(row, "ops", 4242);
	wp_row_real(row, "cpu_percent", 41.7);
}

static void add_target(struct wp_table *table, const char *target, double factor)
{
	static const char *const bytes[] = { "putc", "write1", "getc", "read1" };
	static const char *const records[] = { "write", "rewrite", "overwrite", "read", "reread",
		"random-read", "random-write", "backward-read", "seeks" };
	static const char *const small[] = { "create-seq", "stat-seq", "delete-seq",
		"create-random", "stat-random", "delete-random", "create-seq-synced" };

	for (size_t i = 0; i < WP_COUNT(bytes); i++)
		add(table, target, bytes[i], 1, INT64_C(3) << 30, factor * 1e6 * (double)(i + 1));
	for (size_t i = 0; i < WP_COUNT(records); i++)
		for (int64_t record = 8192; record <= 16384; record *= 2)
			add(table, target, records[i], record, INT64_C(3) << 30,
				strcmp(records[i], "seeks") == 0 ? factor * 701.25
								 : factor * 1000 * (double)(i + 1));
	add(table, target, "archive", 16 << 20, INT64_C(3) << 30, 12);
	for (size_t i = 0; i < WP_COUNT(small); i++)
		add(table, target, small[i], 0, 0, factor * 20000 * (double)(i + 1));
}

static struct wp_result *sample(void)
{
	struct wp_result *result = wp_result_new("io");
	struct wp_table *table =
		wp_result_table(result, "io", "Big and small files", columns, WP_COUNT(columns));

	free(result->version);
	result->version = wp_xstrdup("0.1.0");
	wp_result_add_parameter(result, "jobs", "1", WP_KIND_INT, "default");
	wp_result_add_parameter(result, "seed", "7", WP_KIND_INT, "option");
	wp_result_add_parameter(result, "seekers", "5", WP_KIND_INT, "default");
	wp_result_add_parameter(result, "files", "16:4096:0:10", WP_KIND_TEXT, "option");
	wp_result_add_parameter(result, "sync", "o_dsync", WP_KIND_TEXT, "option");
	wp_result_add_parameter(result, "timed", "fsync,close", WP_KIND_TEXT, "default");
	wp_result_add_parameter(result, "direct", "off", WP_KIND_TEXT, "default");
	add_target(table, "ext4", 1);
	add_target(table, "xfs, new", 2.5);
	add(table, "f2fs", "read", 8192, INT64_C(100) << 20, 0);
	return result;
}

static char *render(wp_render_fn *fn)
{
	struct wp_result *result = sample();
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
