/* SPDX-License-Identifier: PostgreSQL */
/* What the importers stand on: cleaning, undoing of line breaks, labels, headings. */
#include "import/clean.h"
#include "import_input.h"
#include "probe/io_internal.h"
#include "probe/sync_columns.h"
#include "walprobe/mem.h"

static void check_lines(const char *text, const char *const *wanted, size_t count)
{
	struct wp_import in = { .name = "input" };

	wp_clean_lines(&in, text, strlen(text));
	assert_int_equal(in.line_count, count);
	for (size_t i = 0; i < count; i++)
		assert_string_equal(in.lines[i].text, wanted[i]);
	wp_clean_release(&in);
}

#define CHECK_LINES(text, ...)                                                                     \
	do {                                                                                       \
		static const char *const wanted[] = { __VA_ARGS__ };                               \
		check_lines(text, wanted, WP_COUNT(wanted));                                       \
	} while (0)

static void marks_of_mail_and_web_are_taken_away(void **state)
{
	(void)state;
	CHECK_LINES("> a\r\n>> > b  \n>c\n", "a", "b", "c");
	CHECK_LINES("a\tb\n\tc", "a       b", "        c");
	CHECK_LINES("a &gt; b&nbsp;c<br>\n<pre>d</pre>", "a > b c", "d");
	CHECK_LINES("\xEF\xBB\xBF"
		    "a\xC2\xA0"
		    "b",
		"a b");
	CHECK_LINES("\033[1ma\033[0m\n```text\nb\n```\n", "a", "", "b", "");
	CHECK_LINES("10%\r50%\r100%\n", "10%", "50%", "100%");
}

static void quoted_printable_is_told_from_equals_signs(void **state)
{
	(void)state;
	CHECK_LINES("tps =3D 85.1=\n84\nb=20\n", "tps = 85.184", "b");
	CHECK_LINES("iodepth=20\nbs=4k\n", "iodepth=20", "bs=4k");
}

static void lines_of_hosts_are_brought_together(void **state)
{
	struct wp_import in = { .name = "input" };
	static const char text[] = "n1: a\nn2: b\nn1:   c\nn2: d\n";

	(void)state;
	wp_clean_lines(&in, text, strlen(text));
	assert_int_equal(in.line_count, 4);
	assert_string_equal(in.lines[1].text, "  c");
	assert_string_equal(in.lines[1].host, "n1");
	assert_int_equal(in.lines[1].number, 3);
	assert_string_equal(in.lines[2].host, "n2");
	wp_clean_release(&in);
	CHECK_LINES("progress: 1.0 s\nprogress: 2.0 s\n", "progress: 1.0 s", "progress: 2.0 s");
	CHECK_LINES("a: b\nno prefix\n", "a: b", "no prefix");
}

/* ---- line breaks ------------------------------------------------------------------------------- */

static bool parse_numbers(const char *text, const void *ctx, void *out)
{
	const int *wanted = ctx;
	double *numbers = out;
	int count = 0;

	for (;;) {
		text += strspn(text, " ");
		if (!*text)
			return count >= wanted[0] && count <= wanted[1];
		if (count == wanted[1] || !wp_import_number(text, &numbers[count++], &text) ||
			(*text && *text != ' '))
			return false;
	}
}

static size_t unwrap(const char *text, const int range[2], double numbers[4], bool *is_ambiguous)
{
	struct wp_import in = { .name = "input" };
	size_t count;

	wp_clean_lines(&in, text, strlen(text));
	count = wp_import_unwrap(
		&in, 0, 3, parse_numbers, range, numbers, 4 * sizeof(*numbers), is_ambiguous);
	wp_clean_release(&in);
	return count;
}

static void the_longest_reading_of_a_broken_line_wins(void **state)
{
	static const int three[] = { 3, 3 };
	double numbers[4];
	bool is_ambiguous;

	(void)state;
	assert_int_equal(unwrap("1 2 10\n0\nx", three, numbers, &is_ambiguous), 2);
	assert_true(numbers[2] > 99 && numbers[2] < 101);
	assert_int_equal(unwrap("1 2\n10\nx", three, numbers, &is_ambiguous), 2);
	assert_true(numbers[2] > 9 && numbers[2] < 11);
	assert_int_equal(unwrap("1 2 10\n\n0", three, numbers, &is_ambiguous), 1);
}

static void two_readings_are_none(void **state)
{
	static const int range[] = { 3, 4 };
	static const int four[] = { 4, 4 };
	double numbers[4];
	bool is_ambiguous;

	(void)state;
	/* "1 2 3 4" or "1 2 34": then "1 2 3" is not sure either. */
	assert_int_equal(unwrap("1 2 3\n4", range, numbers, &is_ambiguous), 0);
	assert_true(is_ambiguous);
	assert_int_equal(unwrap("1 2\n3\n4 5", four, numbers, &is_ambiguous), 0);
	assert_true(is_ambiguous);
	assert_true(numbers[0] < 1 && numbers[0] > -1);
}

static void numbers_are_plain(void **state)
{
	double number;
	const char *end;

	(void)state;
	assert_true(wp_import_number("12.5ms", &number, &end) && strcmp(end, "ms") == 0);
	assert_false(wp_import_number("-1", &number, &end));
	assert_false(wp_import_number("inf", &number, &end));
	assert_false(wp_import_number("0x10", &number, &end));
	assert_false(wp_import_number("1e5", &number, &end));
	assert_false(wp_import_number("", &number, &end));
}

/* ---- runs -------------------------------------------------------------------------------------- */

static const char row[] = "hostE,2G,21270,87,32856,11,10533,3,10962,51,28744,5,157.0,0,16,"
			  "21675,96,+++++,+++,23523,100,23700,99,+++++,+++,13062,61\n";

static void check_label(const char *above, const char *label, const char *options)
{
	char *text = wp_xasprintf("%s%s", above, row);
	struct wp_result *result = import_text(text);

	assert_non_null(result);
	assert_string_equal(result->targets[0]->label, label);
	assert_string_equal(
		result->targets[0]->mount_options ? result->targets[0]->mount_options : "",
		options);
	wp_result_free(result);
	free(text);
}

static void headings_become_labels(void **state)
{
	(void)state;
	check_label("", "hostE", "");
	check_label("xfs:\n$ bonnie++ -d /mnt\n\n", "xfs", "");
	check_label("And Ext4 to the group (mount options:\nrw,data=writeback):\n",
		"ext4 writeback", "rw,data=writeback");
	check_label(
		"mkfs.xfs -d agcount=75 /dev/sdc1;\nmount -o nobarrier,noatime /dev/sdc1 /mnt/:\n",
		"xfs nobarrier", "nobarrier,noatime");
	check_label("xfs (with write cache enabled on disks):\n", "xfs cache on", "");
	check_label("I tried not only the external storage but the internal drives, which is:\n",
		"hostE", "");
	check_label("I get this.\n", "hostE", "");
}

static void blanks_and_breaks_within_a_csv_row_are_undone(void **state)
{
	struct wp_result *result =
		import_text("hostE,2G,212 70,87,32856,11,10533,3,10962,51,28744,5,15 "
			    "7.0,0,16,21675,96,+++++,++\n"
			    "\n"
			    "+,23523,1\n"
			    "00,23700,99,+++++,+++,13062,61\n");
	const struct wp_row *seeks = import_row(result, "io", "hostE", "seeks", NULL, 0);
	const struct wp_row *removed = import_row(result, "io", "hostE", "delete-seq", NULL, 0);

	(void)state;
	assert_true(wp_row_get_number(seeks, "ops_per_s") > 156.9 &&
		    wp_row_get_number(seeks, "ops_per_s") < 157.1);
	assert_int_equal((int)wp_row_get_number(removed, "cpu_percent"), 100);
	assert_int_equal((int)(wp_row_get_number(import_row(result, "io", "hostE", "putc", NULL, 0),
				       "bytes_per_s") /
				 1024),
		21270);
	assert_int_equal(wp_result_find_table(result, "io")->row_count, 12);
	wp_result_free(result);
}

static void words_of_the_command_line_fill_what_is_open(void **state)
{
	const struct wp_import_words words = {
		.label = "before", .host = "db1", .fstype = "jfs", .mount_options = "noatime"
	};
	char *text = wp_xasprintf("xfs:\n%s", row);
	struct wp_result *result = import_text_as(text, &words);

	(void)state;
	assert_string_equal(result->targets[0]->label, "before");
	assert_string_equal(result->targets[0]->fstype, "xfs");
	assert_string_equal(result->targets[0]->mount_options, "noatime");
	assert_string_equal(import_run_field(result, 0, "machine"), "hostE");
	wp_result_free(result);
	free(text);
}

static void only_the_importer_that_is_asked_for_reads(void **state)
{
	const struct wp_import_words iozone = { .format = "iozone" };
	const struct wp_import_words csv = { .format = "bonnie-csv" };
	struct wp_result *result = import_text_as(row, &csv);

	(void)state;
	assert_non_null(result);
	assert_null(import_text_as(row, &iozone));
	wp_result_free(result);
}

static void many_lines_that_are_not_understood_are_counted(void **state)
{
	char *text = wp_xcalloc(1500 * 6 + sizeof(row), 1);
	const struct wp_table *table;
	struct wp_result *result;
	char *at = text;

	(void)state;
	for (int i = 0; i < 1500; i++, at += 6)
		memcpy(at, "prose\n", 6);
	memcpy(at, row, sizeof(row));
	result = import_text(text);
	table = wp_result_find_table(result, "not_understood");
	assert_int_equal(table->row_count, 1001);
	assert_int_equal((int)wp_row_get_number(table->rows[1000], "line"), 1500);
	assert_string_equal(
		wp_row_get_text(table->rows[1000], "text"), "(the last of 500 more lines)");
	wp_result_free(result);
	free(text);
}

static void importers_and_their_names_go_together(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; wp_importers[i]; i++) {
		assert_non_null(wp_importer_names[i]);
		assert_string_equal(wp_importers[i]->name, wp_importer_names[i]);
		assert_true(wp_importers[i]->take || wp_importers[i]->is_stream);
	}
	assert_null(wp_importer_names[i]);
}

/* Keys never change their meaning. */
static void check_columns(
	const struct wp_table *table, const struct wp_column *own, size_t count, size_t least)
{
	size_t same = 0;

	for (size_t i = 0; i < count; i++) {
		int at = wp_table_column(table, own[i].key);

		if (at < 0)
			continue;
		assert_string_equal(table->columns[at].unit, own[i].unit);
		assert_int_equal(table->columns[at].kind, own[i].kind);
		same++;
	}
	assert_true(same >= least);
}

static void columns_are_those_of_walprobe_s_own_commands(void **state)
{
	struct wp_import in = { .name = "input", .result = wp_result_new("import") };

	(void)state;
	check_columns(wp_import_io_table(&in), wp_io_columns, wp_io_column_count, 18);
	check_columns(wp_import_sync_table(&in), wp_sync_columns, wp_sync_column_count, 16);
	wp_result_free(in.result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_of_mail_and_web_are_taken_away),
		cmocka_unit_test(quoted_printable_is_told_from_equals_signs),
		cmocka_unit_test(lines_of_hosts_are_brought_together),
		cmocka_unit_test(the_longest_reading_of_a_broken_line_wins),
		cmocka_unit_test(two_readings_are_none),
		cmocka_unit_test(numbers_are_plain),
		cmocka_unit_test(headings_become_labels),
		cmocka_unit_test(blanks_and_breaks_within_a_csv_row_are_undone),
		cmocka_unit_test(words_of_the_command_line_fill_what_is_open),
		cmocka_unit_test(only_the_importer_that_is_asked_for_reads),
		cmocka_unit_test(many_lines_that_are_not_understood_are_counted),
		cmocka_unit_test(importers_and_their_names_go_together),
		cmocka_unit_test(columns_are_those_of_walprobe_s_own_commands),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
