/* SPDX-License-Identifier: PostgreSQL */
#include "import_input.h"
#include "walprobe/mem.h"

#include <math.h>

#define KB 1024.0

static const char *const columns[] = { "write", "overwrite", "read", "reread", "random-read",
	"random-write", "backward-read", "record-rewrite", "stride-read", "fwrite", "frewrite",
	"fread", "freread" };

/* kB/s of a test with this file and record size (kB); -1: absent. */
static double rate(const struct wp_result *result, const char *target, const char *test,
	double file_kb, double record_kb)
{
	const struct wp_table *table = wp_result_find_table(result, "io");

	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];
		double file = wp_row_get_number(row, "file_bytes");
		double record = wp_row_get_number(row, "record_bytes");

		if (strcmp(wp_row_get_text(row, "target"), target) != 0 ||
			strcmp(wp_row_get_text(row, "test"), test) != 0 ||
			fabs(file - file_kb * KB) > 0 || fabs(record - record_kb * KB) > 0)
			continue;
		if (wp_row_cell(row, "bytes_per_s")->state == WP_CELL_ABSENT)
			return -1;
		assert_true(fabs(wp_row_get_number(row, "ops_per_s") * record_kb * KB /
					    wp_row_get_number(row, "bytes_per_s") -
				    1) < 1e-12);
		return wp_row_get_number(row, "bytes_per_s") / KB;
	}
	fail_msg("%s: no row %s %.0f/%.0f", target, test, file_kb, record_kb);
	return 0;
}

static void check(double own, double wanted)
{
	if (!(fabs(own - wanted) <= 0))
		fail_msg("%.9g instead of %.9g", own, wanted);
}

static void check_line(const struct wp_result *result, const char *target, double file_kb,
	double record_kb, const double *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++)
		check(rate(result, target, columns[i], file_kb, record_kb), wanted[i]);
}

static const struct wp_table *io(const struct wp_result *result)
{
	return wp_result_find_table(result, "io");
}

static double sum_of(const struct wp_result *result, const char *test)
{
	double sum = 0;

	for (size_t i = 0; i < io(result)->row_count; i++)
		if (strcmp(wp_row_get_text(io(result)->rows[i], "test"), test) == 0)
			sum += wp_row_get_number(io(result)->rows[i], "bytes_per_s") / KB;
	return sum;
}

static void thirteen_columns_are_figures_of_the_page_cache(void **state)
{
	static const double first[] = { 5169375, 7712220, 7634280, 7649870, 7541971, 8989992,
		7688128, 11968815, 7556588, 7164076, 7202157, 7687779, 7659035 };
	static const double last[] = { 4339063, 6326118, 6555321, 6716513, 6629950, 7111713,
		6512349, 5660099, 5905991, 4184304, 4137072, 6555854, 6736193 };
	struct wp_result *result = import_case("14-iozone-3434-auto-cached/iozone.out");

	(void)state;
	assert_int_equal(result->target_count, 1);
	assert_int_equal(io(result)->row_count, 8 * 13);
	assert_null(wp_result_find_table(result, "not_understood"));
	check_line(result, "input", 1048576, 512, first, 13);
	check_line(result, "input", 2097152, 4096, last, 13);
	check(sum_of(result, "write"), 38803356);
	assert_string_equal(import_run_field(result, 0, "version"), "3.434");
	assert_string_equal(import_run_field(result, 0, "command"),
		"iozone -a -n 1g -g 2g -y 512k -q 4m -f /tmp/testme");
	assert_string_equal(import_run_field(result, 0, "started"), "Wed Feb 14 14:29:28 2018");
	for (size_t i = 0; i < io(result)->row_count; i++)
		assert_string_equal(wp_row_get_text(io(result)->rows[i], "cached"), "yes");
	assert_non_null(import_check(result, "cached", "input"));
	wp_result_free(result);
}

static void an_excel_report_alone_is_a_triangle(void **state)
{
	static const double row[] = { 1452528, 1991276, 1690338, 2203800, 1933893 };
	struct wp_result *result = import_case("15-iozone-excel-report-only/iozone-excel.txt");
	double most = 0;

	(void)state;
	assert_int_equal(result->target_count, 1);
	assert_int_equal(io(result)->row_count, 13 * 56);
	check(rate(result, "input", "write", 64, 4), 581273);
	check(rate(result, "input", "write", 4096, 128), 1773166);
	check(rate(result, "input", "freread", 4096, 4096), 4801789);
	for (size_t i = 0; i < WP_COUNT(row); i++)
		check(rate(result, "input", "random-write", 64, (double)(4 << i)), row[i]);
	for (size_t i = 0; i < io(result)->row_count; i++)
		if (strcmp(wp_row_get_text(io(result)->rows[i], "test"), "write") == 0)
			most = fmax(
				most, wp_row_get_number(io(result)->rows[i], "bytes_per_s") / KB);
	check(most, 1773166);
	assert_non_null(strstr(import_run_field(result, 0, "settings"), "unit not told"));
	wp_result_free(result);
}

static void old_widths_and_many_rows_are_read(void **state)
{
	struct wp_result *result = import_case("16-iozone-3327-auto-163rows/xfs1.iozone");
	size_t rows_of_size[21] = { 0 };

	(void)state;
	assert_int_equal(io(result)->row_count, 163 * 13);
	check_line(result, "input", 4194304, 64,
		(const double[]){ 2000643, 2318817, 101957, 102706, 9910, 2228854 }, 6);
	check(rate(result, "input", "write", 4, 4), 188920);
	check(rate(result, "input", "read", 4, 4), 562886);
	for (size_t i = 0; i < io(result)->row_count; i += 13)
		rows_of_size[(size_t)log2(
			wp_row_get_number(io(result)->rows[i], "file_bytes") / 4 / KB)]++;
	for (size_t i = 0; i < WP_COUNT(rows_of_size); i++)
		assert_int_equal(rows_of_size[i], i < 13 ? i + 1 : 9);
	/* Reads after mounting again are the disk's; writes of 2 GB/s are not. */
	for (size_t i = 0; i < io(result)->row_count; i++) {
		const struct wp_row *row = io(result)->rows[i];

		if (wp_row_get_number(row, "file_bytes") < 4194304 * KB)
			continue;
		if (strcmp(wp_row_get_text(row, "test"), "write") == 0)
			assert_string_equal(wp_row_get_text(row, "cached"), "yes");
		if (strcmp(wp_row_get_text(row, "test"), "read") == 0)
			assert_string_equal(wp_row_get_text(row, "cached"), "");
	}
	wp_result_free(result);
}

static void four_tables_of_a_post_are_told_by_their_headings(void **state)
{
	static const struct {
		const char *label;
		double r8[6];
		double r1024[6];
	} tables[] = {
		{ "NFS", { 53210, 57769, 24304, 24448, 1360, 4775 },
			{ 57458, 57006, 24187, 24292, 29701, 43892 } },
		{ "POHMELFS", { 66473, 63721, 74232, 74288, 1103, 4953 },
			{ 62790, 62130, 73322, 74100, 27741, 46470 } },
		{ "xfs nobarrier", { 75124, 60560, 77672, 77797, 1860, 5059 },
			{ 74838, 64217, 77796, 77765, 55100, 46104 } },
		{ "ext4 writeback", { 72107, 73017, 77276, 77335, 1849, 5015 },
			{ 72184, 74131, 77264, 77250, 55649, 50365 } },
	};
	static const char *const fstypes[] = { "nfs", "pohmelfs", "xfs", "ext4" };
	struct wp_result *result = import_case("18-iozone-four-filesystems-blog/blog-tables.txt");

	(void)state;
	assert_int_equal(result->target_count, WP_COUNT(tables));
	assert_int_equal(io(result)->row_count, 4 * 8 * 6);
	for (size_t i = 0; i < WP_COUNT(tables); i++) {
		check_line(result, tables[i].label, 8388608, 8, tables[i].r8, 6);
		check_line(result, tables[i].label, 8388608, 1024, tables[i].r1024, 6);
		assert_string_equal(result->targets[i]->label, tables[i].label);
		assert_string_equal(result->targets[i]->fstype, fstypes[i]);
	}
	assert_string_equal(result->targets[2]->mount_options,
		"logbufs=8,nobarrier,noatime,nodiratime,osyncisdsync");
	assert_string_equal(result->targets[3]->mount_options, "rw,noatime,data=writeback,extents");
	assert_int_equal(import_check(result, "barriers", "xfs nobarrier")->status, WP_CHECK_FAIL);
	assert_non_null(import_check(result, "mount-options", "ext4 writeback"));
	assert_non_null(import_check(result, "rate-plausible", "NFS"));
	assert_null(import_check(result, "imported", NULL));
	wp_result_free(result);
}

static void a_table_that_was_copied_is_told(void **state)
{
	static const char table[] = "     KB  reclen   write rewrite    read    reread\n"
				    "8388608       8   53210   57769    24304    24448\n"
				    "8388608      16   54577   57481    23871    24080\n";
	char *text = wp_xasprintf("xfs:\n%s\next4:\n%s", table, table);
	struct wp_result *result = import_text(text);

	(void)state;
	assert_int_equal(import_check(result, "imported", "ext4")->status, WP_CHECK_UNKNOWN);
	wp_result_free(result);
	free(text);
}

static void throughput_mode_has_children_and_parent(void **state)
{
	static const struct {
		const char *test;
		double children;
		double parent;
	} tests[] = {
		{ "write", 109333.84, 109326.48 },
		{ "overwrite", 111377.63, 111370.21 },
		{ "read", 123864.27, 123854.96 },
		{ "reread", 167226.50, 167222.79 },
	};
	struct wp_result *result = import_case("21-iozone-throughput-nfs-close/mail-excerpt.txt");

	(void)state;
	assert_int_equal(result->target_count, 1);
	assert_int_equal(io(result)->row_count, WP_COUNT(tests));
	for (size_t i = 0; i < WP_COUNT(tests); i++) {
		const struct wp_row *row =
			import_row(result, "throughput", "input", tests[i].test, "jobs", 1);

		check(rate(result, "input", tests[i].test, 2097152, 128), tests[i].children);
		check(wp_row_get_number(row, "children_bytes_per_s") / KB, tests[i].children);
		check(wp_row_get_number(row, "parent_bytes_per_s") / KB, tests[i].parent);
		check(wp_row_get_number(row, "least_bytes"), 2097152 * KB);
	}
	assert_string_equal(import_run_field(result, 0, "version"), "3.169");
	assert_non_null(strstr(import_run_field(result, 0, "settings"), "close within the time"));
	assert_non_null(strstr(import_check(result, "cached", "input")->text, "-c"));
	assert_non_null(strstr(import_check(result, "rate-plausible", "input")->text, "1.35"));
	wp_result_free(result);
}

static void each_host_of_pdsh_is_a_target(void **state)
{
	struct wp_result *result = import_case("23-iozone-pdsh-prefixed-10-nodes/pdsh.txt");
	double sum = 0;

	(void)state;
	assert_int_equal(result->target_count, 10);
	for (size_t i = 0; i < 10; i++) {
		const struct wp_row *row = io(result)->rows[i];

		assert_string_equal(
			wp_row_get_text(row, "target"), import_run_field(result, i, "machine"));
		assert_string_equal(wp_row_get_text(row, "test"), "write");
		check(wp_row_get_number(row, "jobs"), 1);
		sum += wp_row_get_number(row, "bytes_per_s") / KB;
	}
	check(wp_row_get_number(
		      import_row(result, "io", "node16", "write", NULL, 0), "bytes_per_s") /
			KB,
		302399.16);
	check(wp_row_get_number(
		      import_row(result, "io", "node15", "write", NULL, 0), "bytes_per_s") /
			KB,
		303576.34);
	assert_true(fabs(sum / 10 - 302809.22) < 0.005);
	assert_non_null(strstr(import_check(result, "rate-plausible", NULL)->text, "0.39 %"));
	wp_result_free(result);
}

/* ---- what no case has -------------------------------------------------------------------------- */

static const char head[] =
	"        Command line used: iozone -s 4m -r 8k%s\n%s"
	"                                                              random    random     bkwd   "
	" "
	"record    stride\n"
	"              kB  reclen    write  rewrite    read    reread    read     write     read   "
	"rewrite      read   fwrite frewrite    fread  freread\n";

static struct wp_result *import_table(const char *options, const char *mode, const char *row)
{
	char *text;
	struct wp_result *result;

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	char *top = wp_xasprintf(head, options, mode);
#pragma GCC diagnostic pop

	text = wp_xasprintf("Iozone: Performance Test of File I/O\n%s%s\n", top, row);
	result = import_text(text);
	free(top);
	free(text);
	return result;
}

static void tests_left_out_are_told_by_their_place(void **state)
{
	struct wp_result *result = import_table("", "        Output is in kBytes/sec\n",
		"            4096       8   100000   200000                     300000   400000");

	(void)state;
	assert_non_null(result);
	assert_int_equal(io(result)->row_count, 4);
	check(rate(result, "input", "overwrite", 4096, 8), 200000);
	check(rate(result, "input", "random-read", 4096, 8), 300000);
	check(rate(result, "input", "random-write", 4096, 8), 400000);
	wp_result_free(result);
}

static void tests_left_out_are_told_by_the_command_line(void **state)
{
	struct wp_result *result =
		import_table(" -i 0 -i 2", "", "4096 8 100000 200000 300000 400000");

	(void)state;
	assert_int_equal(io(result)->row_count, 4);
	check(rate(result, "input", "random-write", 4096, 8), 400000);
	wp_result_free(result);
}

static void tests_left_out_without_a_trace_are_absent(void **state)
{
	struct wp_result *result = import_table("", "", "4096 8 100000 200000 300000 400000");

	(void)state;
	assert_non_null(result);
	check(rate(result, "input", "write", 4096, 8), -1);
	check(rate(result, "input", "random-read", 4096, 8), -1);
	wp_result_free(result);
}

static void operations_and_microseconds_are_no_bytes(void **state)
{
	struct wp_result *result =
		import_table("", "        OPS Mode. Output is in operations per second.\n",
			"            4096       8   100000   200000");
	const struct wp_row *row;

	(void)state;
	row = import_row(result, "io", "input", "write", NULL, 0);
	check(wp_row_get_number(row, "ops_per_s"), 100000);
	check(wp_row_get_number(row, "bytes_per_s"), 100000 * 8 * KB);
	wp_result_free(result);
	result = import_table("",
		"        Microseconds/op Mode. Output is in microseconds per operation.\n",
		"            4096       8       25       30");
	row = import_row(result, "io", "input", "write", NULL, 0);
	check(wp_row_get_number(row, "mean_ns"), 25000);
	assert_int_equal(wp_row_cell(row, "bytes_per_s")->state, WP_CELL_ABSENT);
	assert_int_equal(wp_row_cell(row, "ops_per_s")->state, WP_CELL_ABSENT);
	wp_result_free(result);
}

static void an_excel_report_below_its_table_says_nothing_new(void **state)
{
	struct wp_result *result = import_table(" -R", "        Output is in kBytes/sec\n",
		"            4096       8   100000   200000\n"
		"\n"
		"iozone test complete.\n"
		"Excel output is below:\n"
		"\n"
		"\"Writer report\"\n"
		"        \"8\"\n"
		"\"4096\"   100000 \n"
		"\n"
		"\"Re-writer report\"\n"
		"        \"8\"\n"
		"\"4096\"   200001 ");

	(void)state;
	assert_int_equal(result->target_count, 1);
	assert_int_equal(io(result)->row_count, 2);
	check(rate(result, "input", "overwrite", 4096, 8), 200000);
	assert_non_null(strstr(import_check(result, "imported", "input")->text, "1 figures"));
	wp_result_free(result);
}

static void decimal_commas_are_points_where_two_digits_follow(void **state)
{
	struct wp_result *result =
		import_text("Children see throughput for  2 readers  =  109333,84 KB/sec\n");

	(void)state;
	check(wp_row_get_number(
		      import_row(result, "io", "input", "read", "jobs", 2), "bytes_per_s") /
			KB,
		109333.84);
	wp_result_free(result);
	assert_null(import_text("Children see throughput for  2 readers  =  109,333 KB/sec\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(thirteen_columns_are_figures_of_the_page_cache),
		cmocka_unit_test(an_excel_report_alone_is_a_triangle),
		cmocka_unit_test(old_widths_and_many_rows_are_read),
		cmocka_unit_test(four_tables_of_a_post_are_told_by_their_headings),
		cmocka_unit_test(a_table_that_was_copied_is_told),
		cmocka_unit_test(throughput_mode_has_children_and_parent),
		cmocka_unit_test(each_host_of_pdsh_is_a_target),
		cmocka_unit_test(tests_left_out_are_told_by_their_place),
		cmocka_unit_test(tests_left_out_are_told_by_the_command_line),
		cmocka_unit_test(tests_left_out_without_a_trace_are_absent),
		cmocka_unit_test(operations_and_microseconds_are_no_bytes),
		cmocka_unit_test(an_excel_report_below_its_table_says_nothing_new),
		cmocka_unit_test(decimal_commas_are_points_where_two_digits_follow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
