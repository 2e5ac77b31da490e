/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "sample_result.h"
#include "walprobe/compare_parts.h"
#include "walprobe/mem.h"

#define MARGIN 1.05

static const struct wp_column io_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "" },
	{ "test", "test", "", WP_KIND_TEXT, "" },
	{ "record_bytes", "record", "bytes", WP_KIND_INT, "" },
	{ "file_bytes", "file", "bytes", WP_KIND_INT, "" },
	{ "bytes_per_s", "MB/s", "bytes/s", WP_KIND_REAL, "" },
	{ "cached", "cached", "", WP_KIND_TEXT, "" },
};

static const struct wp_column sync_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "" },
	{ "method", "method", "", WP_KIND_TEXT, "" },
	{ "variant", "variant", "", WP_KIND_TEXT, "" },
	{ "ops_per_s", "ops/s", "1/s", WP_KIND_REAL, "" },
};

static const struct wp_column round_columns[] = {
	{ "table", "table", "", WP_KIND_TEXT, "" },
	{ "metric", "metric", "", WP_KIND_TEXT, "" },
	{ "target", "target", "", WP_KIND_TEXT, "" },
	{ "method", "method", "", WP_KIND_TEXT, "" },
	{ "variant", "variant", "", WP_KIND_TEXT, "" },
	{ "round", "round", "", WP_KIND_INT, "" },
	{ "value", "value", "", WP_KIND_REAL, "" },
	{ "twin", "twin", "", WP_KIND_TEXT, "" },
	{ "dropped", "dropped", "", WP_KIND_TEXT, "" },
};

static struct wp_part part(
	const char *command, const char *file, const char *host, const char *kernel)
{
	struct wp_part made = { .result = wp_result_new(command), .file = file };

	wp_result_add_environment(made.result, "host", host, "x");
	wp_result_add_environment(made.result, "kernel", kernel, "x");
	return made;
}

static void add_target(struct wp_part *to, const char *label)
{
	wp_target_info_set(wp_result_add_target(to->result, label), "/x", label, NULL);
}

static void add_read(struct wp_part *to, const char *target, int64_t file_bytes, double bytes_per_s,
	const char *cached)
{
	struct wp_table *table =
		wp_result_table(to->result, "io", "Files", io_columns, WP_COUNT(io_columns));
	struct wp_row *row = wp_table_add_row(table);

	wp_row_text(row, "target", target);
	wp_row_text(row, "test", "read");
	wp_row_int(row, "record_bytes", 8192);
	wp_row_int(row, "file_bytes", file_bytes);
	wp_row_real(row, "bytes_per_s", bytes_per_s);
	wp_row_text(row, "cached", cached);
}

/* A sync row with count rounds around rate. */
static void add_sync(struct wp_part *to, const char *target, double rate, int64_t count)
{
	struct wp_table *rounds = wp_result_table(
		to->result, "rounds", "Rounds", round_columns, WP_COUNT(round_columns));
	struct wp_table *table =
		wp_result_table(to->result, "sync", "Syncs", sync_columns, WP_COUNT(sync_columns));
	struct wp_row *row = wp_table_add_row(table);

	wp_row_text(row, "target", target);
	wp_row_text(row, "method", "fdatasync");
	wp_row_text(row, "variant", "overwrite");
	wp_row_real(row, "ops_per_s", rate);
	for (int64_t round = 1; round <= count; round++) {
		/* In the even rounds also a twin's, which must not be taken for the target's own. */
		for (int64_t twin = 0; twin <= (round % 2 == 0); twin++) {
			row = wp_table_add_row(rounds);
			wp_row_text(row, "table", "sync");
			wp_row_text(row, "metric", "ops_per_s");
			wp_row_text(row, "target", target);
			wp_row_text(row, "method", "fdatasync");
			wp_row_text(row, "variant", "overwrite");
			wp_row_int(row, "round", round);
			wp_row_real(
				row, "value", twin ? 1 : rate * (1 + 0.001 * (double)(round % 3)));
			wp_row_text(row, "twin", twin ? "yes" : "");
		}
	}
}

static const struct wp_row *row_of(const struct wp_result *result, const char *table, size_t index)
{
	const struct wp_table *found = wp_result_find_table(result, table);

	assert_non_null(found);
	assert_true(found->row_count > index);
	return found->rows[index];
}

static void documents_are_named_by_host_where_hosts_differ(void **state)
{
	struct wp_part parts[] = { part("io", "/a/x.json", "db1", "6.1"),
		part("io", "/b/x.json", "db2", "6.1") };

	(void)state;
	add_target(&parts[0], "data");
	add_target(&parts[1], "data");
	wp_parts_label(parts, 2);
	assert_string_equal(parts[0].name, "db1");
	assert_string_equal(parts[1].result->targets[0]->label, "db2: data");
	wp_parts_release(parts, 2);
}

static void documents_of_one_host_are_named_by_file_and_number(void **state)
{
	struct wp_part parts[] = { part("io", "/a/x.json", "db1", "6.1"),
		part("io", "/b/x.json", "db1", "6.1"), part("io", "-", "db1", "6.1") };

	(void)state;
	wp_parts_label(parts, 3);
	assert_string_equal(parts[0].name, "x");
	assert_string_equal(parts[1].name, "x#2");
	assert_string_equal(parts[2].name, "standard input");
	wp_parts_release(parts, 3);
}

static void labels_that_differ_stay_as_they_are(void **state)
{
	struct wp_part parts[] = { part("io", "x.json", "db1", "6.1"),
		part("io", "y.json", "db1", "6.1") };

	(void)state;
	add_target(&parts[0], "ext4");
	add_target(&parts[1], "xfs");
	wp_parts_label(parts, 2);
	assert_string_equal(parts[0].result->targets[0]->label, "ext4");
	assert_string_equal(parts[1].result->targets[0]->label, "xfs");
	wp_parts_release(parts, 2);
}

static void tables_of_one_name_become_one_and_targets_follow_their_labels(void **state)
{
	struct wp_part parts[] = { part("io", "x.json", "db1", "6.1"),
		part("io", "y.json", "db1", "6.1") };
	struct wp_result *all;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		add_target(&parts[i], "data");
		add_read(&parts[i], "data", 1 << 20, 100 + (double)i, "no");
		wp_result_add_check(
			parts[i].result, "links", "data", WP_CHECK_PASS, NULL, NULL, "");
	}
	wp_parts_label(parts, 2);
	all = wp_parts_combine(parts, 2);
	assert_string_equal(wp_row_get_text(row_of(all, "io", 0), "target"), "x: data");
	assert_string_equal(wp_row_get_text(row_of(all, "io", 1), "target"), "y: data");
	assert_true(wp_row_get_number(row_of(all, "io", 1), "bytes_per_s") > 100.5);
	assert_string_equal(all->checks[1].target, "y: data");
	assert_string_equal(all->targets[1]->label, "y: data");
	assert_int_equal(wp_result_find_table(all, "documents")->row_count, 2);
	wp_result_free(all);
	wp_parts_release(parts, 2);
}

static void facts_that_differ_are_told_with_the_document(void **state)
{
	struct wp_part parts[] = { part("io", "x.json", "db1", "6.1"),
		part("io", "y.json", "db1", "6.8") };
	struct wp_result *all;

	(void)state;
	wp_parts_label(parts, 2);
	all = wp_parts_combine(parts, 2);
	assert_int_equal(all->environment_count, 3);
	assert_string_equal(all->environment[0].key, "host");
	assert_string_equal(all->environment[1].key, "x: kernel");
	assert_string_equal(all->environment[2].value, "6.8");
	wp_result_free(all);
	wp_parts_release(parts, 2);
}

/* The combined document of parts that take part in a comparison. */
static struct wp_result *compare(struct wp_part *parts, size_t count)
{
	struct wp_result *all;

	wp_parts_label(parts, count);
	all = wp_parts_combine(parts, count);
	wp_compare_parts(parts, count, MARGIN, all);
	return all;
}

static void rounds_give_a_ratio_with_an_interval(void **state)
{
	struct wp_part parts[] = { part("sync", "x.json", "db1", "6.1"),
		part("sync", "y.json", "db1", "6.1") };
	struct wp_result *all;
	const struct wp_row *row;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		add_target(&parts[i], "data");
		add_sync(&parts[i], "data", i ? 100 : 200, 10);
	}
	all = compare(parts, 2);
	row = row_of(all, "comparison", 0);
	assert_string_equal(wp_row_get_text(row, "a"), "x: data");
	assert_string_equal(wp_row_get_text(row, "verdict"), "faster");
	assert_int_equal(wp_row_cell(row, "rounds")->integer, 10);
	assert_true(wp_row_get_number(row, "ci_low") > 1.9);
	wp_result_free(all);
	wp_parts_release(parts, 2);
}

static void single_figures_give_a_ratio_and_no_interval(void **state)
{
	struct wp_part parts[] = { part("import", "x.json", "here", "6.1"),
		part("import", "y.json", "here", "6.8") };
	struct wp_result *all;
	const struct wp_row *row;

	(void)state;
	add_target(&parts[0], "ext2");
	add_read(&parts[0], "ext2", 1 << 30, 100, NULL);
	add_target(&parts[0], "fat");
	add_read(&parts[0], "fat", 1 << 30, 200, NULL);
	add_target(&parts[1], "xfs");
	add_read(&parts[1], "xfs", 1 << 30, 400, NULL);
	all = compare(parts, 2);
	assert_int_equal(wp_result_find_table(all, "comparison")->row_count, 3);
	row = row_of(all, "comparison", 0);
	assert_string_equal(wp_row_get_text(row, "verdict"), "no interval");
	assert_true(wp_row_get_number(row, "ratio") == 0.5);
	assert_int_equal(wp_row_cell(row, "ci_low")->state, WP_CELL_ABSENT);
	wp_result_free(all);
	wp_parts_release(parts, 2);
}

static void check_difference(struct wp_part *parts, const char *reason)
{
	struct wp_result *all = compare(parts, 2);
	const struct wp_row *row = row_of(all, "comparison", 0);

	assert_string_equal(wp_row_get_text(row, "verdict"), "not comparable");
	assert_int_equal(wp_row_cell(row, "ratio")->state, WP_CELL_ABSENT);
	assert_string_equal(wp_row_cell(row, "ratio")->text, reason);
	wp_result_free(all);
	wp_parts_release(parts, 2);
}

static void other_conditions_are_not_comparable_and_say_why(void **state)
{
	struct wp_part parts[2];

	(void)state;
	for (int i = 0; i < 4; i++) {
		parts[0] = part("io", "x.json", "db1", "6.1");
		parts[1] = part("io", "y.json", "db1", i == 0 ? "6.8" : "6.1");
		add_read(&parts[0], "x", INT64_C(1) << 30, 100, "no");
		add_read(&parts[1], "y", INT64_C(1) << (i == 1 ? 33 : 30), 100,
			i == 2 ? "yes" : "no");
		wp_result_add_parameter(parts[0].result, "sync", "fsync", WP_KIND_TEXT, "default");
		wp_result_add_parameter(parts[1].result, "sync", i == 3 ? "none" : "fsync",
			WP_KIND_TEXT, "default");
		check_difference(parts, i == 0   ? "other kernel: 6.1 against 6.8"
					: i == 1 ? "other size: 1.00 GB against 8.00 GB"
					: i == 2 ? "device against page cache"
						 : "other --sync: fsync against none");
	}
}

static void rows_of_several_sizes_find_their_like(void **state)
{
	struct wp_part parts[] = { part("io", "x.json", "db1", "6.1"),
		part("io", "y.json", "db1", "6.1") };
	struct wp_result *all;

	(void)state;
	for (int i = 0; i < 2; i++) {
		add_read(&parts[i], i ? "y" : "x", 1 << 20, 100, "no");
		add_read(&parts[i], i ? "y" : "x", 1 << 24, 50, "no");
	}
	all = compare(parts, 2);
	assert_int_equal(wp_result_find_table(all, "comparison")->row_count, 2);
	for (size_t i = 0; i < 2; i++)
		assert_true(wp_row_get_number(row_of(all, "comparison", i), "ratio") == 1);
	wp_result_free(all);
	wp_parts_release(parts, 2);
}

static struct wp_changes change(double now, int64_t rounds, bool is_failing)
{
	struct wp_part parts[] = { part("sync", "x.json", "db1", "6.1"),
		part("sync", "y.json", "db1", "6.8") };
	struct wp_changes changes;

	for (size_t i = 0; i < 2; i++) {
		add_target(&parts[i], "data");
		add_sync(&parts[i], "data", i ? now : 100, rounds);
		wp_result_add_check(parts[i].result, "flush-sent", "data",
			i && is_failing ? WP_CHECK_FAIL : WP_CHECK_PASS, NULL, NULL, "");
	}
	changes = wp_compare_baseline(&parts[0], &parts[1], MARGIN, parts[1].result);
	assert_int_equal(wp_result_find_table(parts[1].result, "changes")->row_count, 1);
	wp_parts_release(parts, 2);
	return changes;
}

static void slower_than_the_baseline_is_counted_also_under_another_kernel(void **state)
{
	(void)state;
	assert_int_equal(change(80, 10, false).slower, 1);
	assert_int_equal(change(80, 10, false).compared, 1);
	assert_int_equal(change(99, 10, false).slower, 0);
	assert_int_equal(change(120, 10, false).slower, 0);
	/* Without rounds enough nothing is claimed. */
	assert_int_equal(change(80, 4, false).slower, 0);
	assert_int_equal(change(80, 0, false).slower, 0);
	assert_int_equal(change(100, 10, false).failing, 0);
	assert_int_equal(change(100, 10, true).failing, 1);
}

static void several_documents_look_like_this(void **state)
{
	struct wp_part parts[] = { { .result = sample_compare(), .file = "monday.json" },
		{ .result = sample_stopped(), .file = "tuesday.json" } };
	struct wp_result *all;
	char *text;

	(void)state;
	all = compare(parts, 2);
	text = sample_render(all, wp_render_text, false, false);
	sample_golden("combined.txt", text);
	free(text);
	wp_result_free(all);
	wp_parts_release(parts, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(documents_are_named_by_host_where_hosts_differ),
		cmocka_unit_test(documents_of_one_host_are_named_by_file_and_number),
		cmocka_unit_test(labels_that_differ_stay_as_they_are),
		cmocka_unit_test(tables_of_one_name_become_one_and_targets_follow_their_labels),
		cmocka_unit_test(facts_that_differ_are_told_with_the_document),
		cmocka_unit_test(rounds_give_a_ratio_with_an_interval),
		cmocka_unit_test(single_figures_give_a_ratio_and_no_interval),
		cmocka_unit_test(other_conditions_are_not_comparable_and_say_why),
		cmocka_unit_test(rows_of_several_sizes_find_their_like),
		cmocka_unit_test(slower_than_the_baseline_is_counted_also_under_another_kernel),
		cmocka_unit_test(several_documents_look_like_this),
	};

	return cmocka_run_group_tests_name("combine", tests, NULL, NULL);
}
