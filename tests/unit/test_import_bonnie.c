/* SPDX-License-Identifier: PostgreSQL */
#include "import_input.h"
#include "walprobe/mem.h"

#include <math.h>

#define NONE (-1.0)
#define KB 1024.0

static const char *const names[] = { "putc", "write", "rewrite", "getc", "read", "seeks",
	"create-seq", "stat-seq", "delete-seq", "create-random", "stat-random", "delete-random" };

/* What a test of one run gives: kB/s or 1/s, per cent, both NONE for +++++ and left out. */
struct expected {
	double rate;
	double cpu;
};

static const char *test_name(size_t i, bool is_new)
{
	if (is_new && i == 0)
		return "write1";
	return is_new && i == 3 ? "read1" : names[i];
}

static void check_number(const struct wp_row *row, const char *key, double wanted)
{
	double own = wp_row_get_number(row, key);

	if (wanted < 0) {
		const struct wp_cell *cell = wp_row_cell(row, key);

		assert_int_equal(cell->state, WP_CELL_ABSENT);
		assert_non_null(cell->text);
		return;
	}
	if (!(fabs(own - wanted) <= 0))
		fail_msg("%s of %s is %.9g, not %.9g", key, wp_row_get_text(row, "test"), own,
			wanted);
}

static void check_run(const struct wp_result *result, const char *label, bool is_new,
	const struct expected *expected, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct wp_row *row =
			import_row(result, "io", label, test_name(i, is_new), NULL, 0);
		bool is_bytes = i < 5;
		double rate = expected[i].rate;

		check_number(row, is_bytes ? "bytes_per_s" : "ops_per_s",
			is_bytes && rate >= 0 ? rate * KB : rate);
		check_number(row, "cpu_percent", expected[i].cpu);
	}
}

static void check_file(const struct wp_result *result, const char *label, int64_t megabytes)
{
	const struct wp_row *row = import_row(result, "io", label, "write", NULL, 0);

	check_number(row, "file_bytes", (double)megabytes * KB * KB);
}

/* ---- cases ------------------------------------------------------------------------------------- */

static const char *const six[] = { "ext3 writeback", "ext3 ordered", "reiserfs", "jfs",
	"xfs cache off", "xfs cache on" };

static void check_six(const char *name)
{
	static const struct expected figures[][12] = {
		{ { 78625, 91 }, { 279921, 51 }, { 112346, 13 }, { 89463, 96 }, { 417695, 22 },
			{ 545.7, 0 }, { 5903, 99 }, { NONE, NONE }, { NONE, NONE }, { 6112, 99 },
			{ NONE, NONE }, { 18620, 100 } },
		{ { 74902, 89 }, { 250274, 52 }, { 123637, 16 }, { 88992, 96 }, { 417222, 23 },
			{ 548.3, 0 }, { 5941, 97 }, { NONE, NONE }, { NONE, NONE }, { 6270, 99 },
			{ NONE, NONE }, { 18670, 99 } },
		{ { 81004, 99 }, { 269191, 50 }, { 128322, 16 }, { 87865, 96 }, { 407035, 28 },
			{ 550.3, 0 }, { NONE, NONE }, { NONE, NONE }, { NONE, NONE },
			{ NONE, NONE }, { NONE, NONE }, { NONE, NONE } },
		{ { 73246, 80 }, { 268886, 28 }, { 110465, 9 }, { 89516, 96 }, { 413897, 21 },
			{ 639.5, 0 }, { 3756, 5 }, { NONE, NONE }, { NONE, NONE }, { 23763, 90 },
			{ NONE, NONE }, { 22371, 70 } },
		{ { 90621, 99 }, { 283916, 35 }, { 105871, 11 }, { 88569, 97 }, { 433890, 23 },
			{ 644.5, 0 }, { 28435, 95 }, { NONE, NONE }, { 28895, 82 }, { 28523, 91 },
			{ NONE, NONE }, { 24369, 86 } },
		{ { 90861, 99 }, { 348401, 43 }, { 131887, 14 }, { 89412, 97 }, { 432964, 23 },
			{ 658.7, 0 }, { 28871, 90 }, { NONE, NONE }, { 28923, 91 }, { 30879, 93 },
			{ NONE, NONE }, { 28012, 94 } },
	};
	static const char *const fstypes[] = { "ext3", "ext3", "reiserfs", "jfs", "xfs", "xfs" };
	struct wp_result *result = import_case(name);

	assert_int_equal(result->target_count, WP_COUNT(six));
	for (size_t i = 0; i < WP_COUNT(six); i++) {
		check_run(result, six[i], false, figures[i], 12);
		check_file(result, six[i], 64368);
		assert_string_equal(result->targets[i]->fstype, fstypes[i]);
		assert_string_equal(import_run_field(result, i, "machine"), "host-a");
		assert_string_equal(import_run_field(result, i, "version"), "1.03");
	}
	assert_int_equal(import_check(result, "write-cache", six[5])->status, WP_CHECK_FAIL);
	assert_null(import_check(result, "write-cache", six[4]));
	wp_result_free(result);
}

static void both_copies_of_a_wrapped_mail_give_the_same_six_runs(void **state)
{
	(void)state;
	check_six("01-bonnie-103-mailwrapped-6fs/input-list-archive.txt");
	check_six("01-bonnie-103-mailwrapped-6fs/input-webforum-copy.txt");
}

static void csv_of_two_formats_is_told_line_by_line(void **state)
{
	static const struct {
		const char *name;
		int64_t megabytes;
		double write;
		double rewrite;
		double read;
		double seeks;
		double longest_us;
	} hosts[] = {
		{ "host1", 8096, 110033, 48154, 134153, 228.2, 226000 },
		{ "host2", 8096, 109696, 46532, 131159, 237.8, 264000 },
		{ "host3", 16384, 94051, 40554, 121874, 380.3, 7694000 },
		{ "host4", 16384, 86703, 33424, 112701, 275.4, 7870000 },
		{ "host5", 8096, 75834, 41582, 112804, 1986, 8134000 },
		{ "host6", 8096, 99612, 41731, 110458, 1955, 779000 },
		{ "host7", 8096, 36403, 19240, 47958, 330.6, NONE },
	};
	struct wp_result *result = import_case("02-bonnie-csv-mixed-196-and-103/bonnie.csv");

	(void)state;
	assert_int_equal(result->target_count, WP_COUNT(hosts));
	assert_null(wp_result_find_table(result, "not_understood"));
	for (size_t i = 0; i < WP_COUNT(hosts); i++) {
		const char *name = hosts[i].name;
		const struct wp_row *write = import_row(result, "io", name, "write", NULL, 0);

		check_file(result, name, hosts[i].megabytes);
		check_number(write, "bytes_per_s", hosts[i].write * KB);
		check_number(write, "max_ns",
			hosts[i].longest_us < 0 ? NONE : hosts[i].longest_us * 1000);
		check_number(import_row(result, "io", name, "rewrite", NULL, 0), "bytes_per_s",
			hosts[i].rewrite * KB);
		check_number(import_row(result, "io", name, "read", NULL, 0), "bytes_per_s",
			hosts[i].read * KB);
		check_number(import_row(result, "io", name, "seeks", NULL, 0), "ops_per_s",
			hosts[i].seeks);
	}
	check_number(import_row(result, "io", "host1", "create-seq", NULL, 0), "ops_per_s", 30301);
	check_number(import_row(result, "io", "host1", "delete-seq", NULL, 0), "ops_per_s", 2525);
	check_number(import_row(result, "io", "host3", "stat-seq", NULL, 0), "ops_per_s", 332943);
	check_number(import_row(result, "io", "host6", "read1", NULL, 0), "bytes_per_s", NONE);
	check_number(import_row(result, "io", "host6", "read1", NULL, 0), "max_ns", 3891000);
	check_run(result, "host7", false,
		(const struct expected[]){ { 38449, 67 }, { 36403, 9 }, { 19240, 5 }, { 47427, 74 },
			{ 47958, 7 }, { 330.6, 0 }, { 216, 99 }, { NONE, NONE }, { 66339, 55 },
			{ 222, 99 }, { NONE, NONE }, { 304, 35 } },
		12);
	assert_string_equal(import_run_field(result, 0, "version"), "1.96");
	assert_non_null(strstr(import_run_field(result, 6, "settings"), "files 256"));
	assert_non_null(import_check(result, "comparable", "host7"));
	wp_result_free(result);
}

static void blank_columns_are_told_by_their_place(void **state)
{
	static const struct expected figures[][6] = {
		{ { NONE, NONE }, { 36236, 18 }, { 13423, 7 }, { NONE, NONE }, { 29948, 11 },
			{ 210.1, 0 } },
		{ { NONE, NONE }, { 35998, 18 }, { 12076, 7 }, { NONE, NONE }, { 19056, 9 },
			{ 206.7, 0 } },
		{ { NONE, NONE }, { 37450, 18 }, { 12101, 7 }, { NONE, NONE }, { 19363, 9 },
			{ 210.7, 0 } },
	};
	static const char *const kernels[] = { "2.4.20", "2.4.20-nas1", "2.4.20-nas2" };
	struct wp_result *result = import_case("06-bonnie-103-fast-mode-3-kernels/bonnie-fast.txt");

	(void)state;
	assert_int_equal(result->target_count, WP_COUNT(kernels));
	for (size_t i = 0; i < WP_COUNT(kernels); i++) {
		check_run(result, kernels[i], false, figures[i], 6);
		check_file(result, kernels[i], 1024);
	}
	wp_result_free(result);
}

static void a_reply_s_table_and_broken_csv_are_one_run(void **state)
{
	static const struct expected figures[] = { { 21270, 87 }, { 32856, 11 }, { 10533, 3 },
		{ 10962, 51 }, { 28744, 5 }, { 157.0, 0 }, { 21675, 96 }, { NONE, NONE },
		{ 23523, 100 }, { 23700, 99 }, { NONE, NONE }, { 13062, 61 } };
	struct wp_result *result = import_case("07-bonnie-103-quoted-reply/mail-excerpt.txt");

	(void)state;
	assert_int_equal(result->target_count, 1);
	check_run(result, "hostE", false, figures, 12);
	check_file(result, "hostE", 2048);
	assert_null(import_check(result, "imported", NULL));
	wp_result_free(result);
}

static void two_runs_of_one_machine_stay_apart(void **state)
{
	static const struct expected after[] = { { 33294, 91 }, { 57592, 20 }, { 26778, 5 },
		{ 30885, 77 }, { 56081, 5 }, { 174.2, 0 }, { 27313, 100 }, { NONE, NONE },
		{ 26421, 99 }, { 27285, 101 }, { NONE, NONE }, { 21477, 89 } };
	static const struct expected before[] = { { 10523, 28 }, { 11532, 3 }, { 7162, 1 },
		{ 24271, 60 }, { 53495, 5 }, { 164.3, 0 }, { 30498, 100 }, { NONE, NONE },
		{ 27244, 98 }, { 29630, 99 }, { NONE, NONE }, { 11587, 46 } };
	struct wp_result *result = import_case("08-bonnie-103-two-runs-same-host/mail-excerpt.txt");
	const struct wp_table *unknown = wp_result_find_table(result, "not_understood");

	(void)state;
	assert_int_equal(result->target_count, 2);
	check_run(result, "hostF", false, after, 12);
	check_run(result, "hostF#2", false, before, 12);
	assert_string_equal(
		import_run_field(result, 0, "title"), "Results with 2.4.32 + libata latest");
	assert_string_equal(import_run_field(result, 1, "machine"), "hostF");
	assert_int_equal(unknown->row_count, 2);
	assert_int_equal((int)wp_row_get_number(unknown->rows[1], "line"), 24);
	wp_result_free(result);
}

static void three_digits_and_their_units_are_read_as_printed(void **state)
{
	static const struct expected figures[] = { { NONE, NONE }, { 15.8 * KB, 19 },
		{ 60.5 * KB, 26 }, { NONE, NONE }, { 218 * KB, 31 }, { 279.1, 13 } };
	static const double longest_us[] = { NONE, 659000, 517000, NONE, 61146, 3052000 };
	struct wp_result *result = import_case("10-bonnie-200-no-csv-odirect-4k/mail-excerpt.txt");

	(void)state;
	assert_int_equal(result->target_count, 1);
	assert_string_equal(import_run_field(result, 0, "machine"), "");
	assert_string_equal(import_run_field(result, 0, "version"), "2.00");
	check_run(result, "input", true, figures, 6);
	check_file(result, "input", 65536);
	for (size_t i = 0; i < WP_COUNT(longest_us); i++)
		check_number(import_row(result, "io", "input", test_name(i, true), NULL, 0),
			"max_ns", longest_us[i] < 0 ? NONE : longest_us[i] * 1000);
	check_number(import_row(result, "io", "input", "write", NULL, 0), "record_bytes", 4 * KB);
	assert_non_null(import_check(result, "rate-plausible", "input"));
	wp_result_free(result);
}

static void a_slow_box_has_latencies_of_its_clock(void **state)
{
	static const struct expected figures[] = { { 48, 99 }, { 6224, 75 }, { 1782, 37 },
		{ 124, 99 }, { 2874, 26 }, { 100.4, 5 }, { 233, 99 }, { 6543, 100 }, { 3690, 89 },
		{ 235, 99 }, { 6907, 100 }, { 825, 98 } };
	static const double longest_us[] = { 348000, 428000, 936000, 84000, 788000, 543000, 79999,
		4000, 4000, 148000, 4000, 4000 };
	struct wp_result *result = import_case("11-bonnie-194-text-small-box/bonnie.txt");

	(void)state;
	assert_int_equal(result->target_count, 1);
	check_run(result, "blackfin", true, figures, 12);
	check_file(result, "blackfin", 300);
	for (size_t i = 0; i < WP_COUNT(longest_us); i++)
		check_number(import_row(result, "io", "blackfin", test_name(i, true), NULL, 0),
			"max_ns", longest_us[i] * 1000);
	assert_non_null(import_check(result, "resolution", "blackfin"));
	wp_result_free(result);
}

static void classic_bonnie_is_another_tool(void **state)
{
	static const struct expected slow[] = { { 16092, 36 }, { 9563, 1 }, { 6068, 1 },
		{ 11202, 24 }, { 49497, 5 }, { 180.6, 0 }, { 294, 1 }, { NONE, NONE }, { 311, 1 },
		{ 382, 2 }, { NONE, NONE }, { 117, 0 } };
	static const struct expected fast[] = { { 39389, 96 }, { 86195, 32 }, { 33475, 8 },
		{ 38358, 80 }, { 83507, 8 }, { 518.0, 0 }, { 2675, 98 }, { NONE, NONE },
		{ NONE, NONE }, { 2687, 98 }, { NONE, NONE }, { 8592, 97 } };
	static const struct expected classic[][6] = {
		{ { 16969, 28.2 }, { 8098, 7.5 }, { 7597, 8.3 }, { 11760, 18.6 }, { 15411, 10.6 },
			{ 47.3, 0.8 } },
		{ { 67903, 61.8 }, { 59348, 21.0 }, { 7413, 4.1 }, { 38698, 36.3 }, { 51930, 12.9 },
			{ 676.0, 1.5 } },
		{ { 67343, 61.0 }, { 61342, 22.2 }, { 7043, 4.0 }, { 39466, 37.1 }, { 52458, 12.6 },
			{ 384.6, 0.9 } },
	};
	static const char *const tools[] = { "bonnie", "bonnie++", "bonnie", "bonnie", "bonnie++" };
	struct wp_result *result =
		import_case("13-bonnie-classic-beside-bonniepp/forum-excerpt.txt");

	(void)state;
	assert_int_equal(result->target_count, WP_COUNT(tools));
	for (size_t i = 0; i < WP_COUNT(tools); i++)
		assert_string_equal(import_run_field(result, i, "tool"), tools[i]);
	check_run(result, result->targets[0]->label, false, classic[0], 6);
	check_run(result, result->targets[1]->label, false, slow, 12);
	check_run(result, result->targets[2]->label, false, classic[1], 6);
	check_run(result, result->targets[3]->label, false, classic[2], 6);
	check_run(result, result->targets[4]->label, false, fast, 12);
	check_file(result, result->targets[3]->label, 8192);
	wp_result_free(result);
}

/* ---- formats that no case has ------------------------------------------------------------------ */

static void a_row_of_196_without_big_files_lacks_a_comma(void **state)
{
	struct wp_result *result = import_text(
		"1.96,1.96,fslab3,1,1374655110,,,,,,,,,,,,,,60,32,32,,,1702,14,22085,49,10803,86,"
		"1682,14,13709,34,4044,42,,,,,,,1292ms,1059us,1221us,1316ms,21us,4066us\n");

	(void)state;
	assert_non_null(result);
	check_number(import_row(result, "io", "fslab3", "create-seq", NULL, 0), "ops_per_s", 1702);
	check_number(
		import_row(result, "io", "fslab3", "delete-random", NULL, 0), "ops_per_s", 4044);
	check_number(
		import_row(result, "io", "fslab3", "delete-random", NULL, 0), "max_ns", 4066000);
	assert_int_equal(wp_result_find_table(result, "io")->row_count, 6);
	assert_non_null(strstr(import_run_field(result, 0, "settings"), "files 60:32:32"));
	wp_result_free(result);
}

static void small_files_in_the_table_of_200_are_not_believed(void **state)
{
	struct wp_result *result = import_text(
		"Version  2.00       ------Sequential Output------ --Sequential Input- --Random-\n"
		"                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--\n"
		"Name:Size etc        /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n"
		"vm1:256M:16k          259k  99  343m  31  1.4g  88  400k  99  3.1g  99 12345  80\n"
		"Latency             32012us     300ms    1000us     100us      10us    9000us\n"
		"                    ------Sequential Create------ --------Random Create--------\n"
		"                    -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--\n"
		"              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP\n"
		"                 16 65536  99 +++++ +++ 65536  99 65536  99 +++++ +++ 65536  99\n"
		"Latency               200us     300us     400us     500us     600us     700us\n");

	(void)state;
	assert_non_null(result);
	check_run(result, "vm1", true,
		(const struct expected[]){ { 259, 99 }, { 343 * KB, 31 }, { 1.4 * KB * KB, 88 },
			{ 400, 99 }, { 3.1 * KB * KB, 99 }, { 12345, 80 }, { NONE, NONE },
			{ NONE, NONE }, { NONE, NONE }, { NONE, NONE }, { NONE, NONE },
			{ NONE, NONE } },
		12);
	assert_non_null(import_check(result, "cached", "vm1"));
	wp_result_free(result);
}

static void a_row_cut_within_a_figure_has_it_absent(void **state)
{
	struct wp_result *result = import_text("hostE,2G,21270,87,32856,11,10533,3,109");

	(void)state;
	assert_non_null(result);
	check_run(result, "hostE", false,
		(const struct expected[]){ { 21270, 87 }, { 32856, 11 }, { 10533, 3 },
			{ NONE, NONE }, { NONE, NONE }, { NONE, NONE } },
		6);
	wp_result_free(result);
}

static void a_run_told_again_in_a_reply_is_one_run(void **state)
{
	static const char row[] = "hostE,2G,21270,87,32856,11,10533,3,10962,51,28744,5,157.0,0,16,"
				  "21675,96,+++++,+++,23523,100,23700,99,+++++,+++,13062,61\n";
	char *text = wp_xasprintf("%sI get\n> %s", row, row);
	struct wp_result *result = import_text(text);

	(void)state;
	assert_int_equal(result->target_count, 1);
	assert_non_null(import_check(result, "imported", "hostE"));
	wp_result_free(result);
	free(text);
}

static void the_same_figures_under_another_heading_are_told(void **state)
{
	static const char row[] = "hostE,2G,21270,87,32856,11,10533,3,10962,51,28744,5,157.0,0,16,"
				  "21675,96,+++++,+++,23523,100,23700,99,+++++,+++,13062,61\n";
	char *text = wp_xasprintf("ext3:\n%sxfs:\n%s", row, row);
	struct wp_result *result = import_text(text);

	(void)state;
	assert_int_equal(result->target_count, 2);
	assert_int_equal(import_check(result, "imported", "xfs")->status, WP_CHECK_UNKNOWN);
	wp_result_free(result);
	free(text);
}

static void table_and_csv_that_differ_are_told(void **state)
{
	char *text = import_read("08-bonnie-103-two-runs-same-host/mail-excerpt.txt");
	char *wrong = strstr(text, "57592,20");
	struct wp_result *result;

	(void)state;
	wrong[0] = '6';
	result = import_text(text);
	assert_non_null(strstr(import_check(result, "imported", "hostF")->text, "write"));
	check_number(
		import_row(result, "io", "hostF", "write", NULL, 0), "bytes_per_s", 67592 * KB);
	wp_result_free(result);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_copies_of_a_wrapped_mail_give_the_same_six_runs),
		cmocka_unit_test(csv_of_two_formats_is_told_line_by_line),
		cmocka_unit_test(blank_columns_are_told_by_their_place),
		cmocka_unit_test(a_reply_s_table_and_broken_csv_are_one_run),
		cmocka_unit_test(two_runs_of_one_machine_stay_apart),
		cmocka_unit_test(three_digits_and_their_units_are_read_as_printed),
		cmocka_unit_test(a_slow_box_has_latencies_of_its_clock),
		cmocka_unit_test(classic_bonnie_is_another_tool),
		cmocka_unit_test(a_row_of_196_without_big_files_lacks_a_comma),
		cmocka_unit_test(small_files_in_the_table_of_200_are_not_believed),
		cmocka_unit_test(a_row_cut_within_a_figure_has_it_absent),
		cmocka_unit_test(a_run_told_again_in_a_reply_is_one_run),
		cmocka_unit_test(the_same_figures_under_another_heading_are_told),
		cmocka_unit_test(table_and_csv_that_differ_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
