/* SPDX-License-Identifier: PostgreSQL */
/*
 * Published figures of five posts, each value checked by two other parsers
 * (tests/data/import/seeds/seeds.json), come out of the importers exactly. The rows of the second post,
 * which has tables alone, are made of its figures.
 */
#include "import_input.h"
#include "walprobe/mem.h"

#include <jansson.h>
#include <math.h>

#define KB 1024.0

static json_t *seeds;

static int load(void **state)
{
	char *text = import_read("seeds/seeds.json");

	(void)state;
	seeds = json_loads(text, 0, NULL);
	free(text);
	return seeds ? 0 : -1;
}

static int unload(void **state)
{
	(void)state;
	json_decref(seeds);
	return 0;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* name in the seeds, test in table io, column, factor to the column's unit */
static const struct {
	const char *metric;
	const char *test;
	const char *key;
	double factor;
} metrics[] = {
	{ "seq_output_per_chr", "putc", "bytes_per_s", KB },
	{ "seq_output_block", "write", "bytes_per_s", KB },
	{ "seq_output_rewrite", "rewrite", "bytes_per_s", KB },
	{ "seq_input_per_chr", "getc", "bytes_per_s", KB },
	{ "seq_input_block", "read", "bytes_per_s", KB },
	{ "random_seeks", "seeks", "ops_per_s", 1 },
	{ "seq_create", "create-seq", "ops_per_s", 1 },
	{ "seq_stat", "stat-seq", "ops_per_s", 1 },
	{ "seq_delete", "delete-seq", "ops_per_s", 1 },
	{ "random_create", "create-random", "ops_per_s", 1 },
	{ "random_stat", "stat-random", "ops_per_s", 1 },
	{ "random_delete", "delete-random", "ops_per_s", 1 },
	{ "write", "write", "bytes_per_s", KB },
	{ "rewrite", "overwrite", "bytes_per_s", KB },
	{ "read", "read", "bytes_per_s", KB },
	{ "reread", "reread", "bytes_per_s", KB },
	{ "random_read", "random-read", "bytes_per_s", KB },
	{ "random_write", "random-write", "bytes_per_s", KB },
};

static size_t find_metric(const char *name)
{
	for (size_t i = 0; i < WP_COUNT(metrics); i++)
		if (strcmp(metrics[i].metric, name) == 0)
			return i;
	fail_msg("no metric %s", name);
	return 0;
}

static void check_cell(
	const struct wp_row *row, const char *key, const json_t *wanted, double factor)
{
	const struct wp_cell *cell = wp_row_cell(row, key);

	if (!json_is_number(wanted)) {
		assert_int_equal(cell->state, WP_CELL_ABSENT);
		assert_non_null(strstr(cell->text, "+++++"));
		return;
	}
	if (!(fabs(wp_row_get_number(row, key) - json_number_value(wanted) * factor) <= 0))
		fail_msg("%s: %.9g is not %.9g", wp_row_get_text(row, "test"),
			wp_row_get_number(row, key), json_number_value(wanted) * factor);
}

/* Every metric of seed is in result under this label; returns how many there are. */
static size_t check_seed(const struct wp_result *result, const char *label, const json_t *seed)
{
	json_t *list = json_object_get(seed, "metrics");
	const json_t *record = json_object_get(seed, "reclen_kb");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *metric = json_array_get(list, i);
		size_t at = find_metric(text_of(metric, "metric"));
		const struct wp_row *row = import_row(result, "io", label, metrics[at].test,
			record ? "record_bytes" : NULL, json_number_value(record) * KB);

		check_cell(
			row, metrics[at].key, json_object_get(metric, "value"), metrics[at].factor);
		if (!record)
			check_cell(row, "cpu_percent", json_object_get(metric, "cpu_pct"), 1);
	}
	return json_array_size(list);
}

static void every_csv_row_comes_out_exactly(void **state)
{
	size_t values = 0;

	(void)state;
	for (size_t i = 0; i < json_array_size(seeds); i++) {
		const json_t *seed = json_array_get(seeds, i);
		struct wp_result *result;

		if (strcmp(text_of(seed, "table"), "bonnie++") != 0)
			continue;
		result = import_text(text_of(seed, "csv"));
		assert_non_null(result);
		values += check_seed(result, result->targets[0]->label, seed);
		wp_result_free(result);
	}
	assert_int_equal(values, 16 * 12);
}

static void check_mail(const char *name, const char *document)
{
	struct wp_result *result = import_case(name);
	size_t run = 0;

	for (size_t i = 0; i < json_array_size(seeds); i++) {
		const json_t *seed = json_array_get(seeds, i);

		if (strncmp(text_of(seed, "id"), document, 4) != 0)
			continue;
		assert_true(run < result->target_count);
		(void)check_seed(result, result->targets[run++]->label, seed);
	}
	assert_int_equal(run, 6);
	wp_result_free(result);
}

static void the_two_copies_of_the_mail_come_out_exactly(void **state)
{
	(void)state;
	check_mail("01-bonnie-103-mailwrapped-6fs/input-list-archive.txt", "000/");
	check_mail("01-bonnie-103-mailwrapped-6fs/input-webforum-copy.txt", "002/");
}

static void the_four_iozone_tables_come_out_exactly(void **state)
{
	struct wp_result *result = import_case("18-iozone-four-filesystems-blog/blog-tables.txt");
	size_t values = 0;

	(void)state;
	for (size_t i = 0; i < json_array_size(seeds); i++) {
		const json_t *seed = json_array_get(seeds, i);
		const char *label = NULL;

		if (strcmp(text_of(seed, "table"), "iozone") != 0)
			continue;
		for (size_t j = 0; j < result->target_count; j++)
			if (strcmp(result->targets[j]->fstype, text_of(seed, "filesystem")) == 0)
				label = result->targets[j]->label;
		assert_non_null(label);
		values += check_seed(result, label, seed);
	}
	assert_int_equal(values, 4 * 8 * 6);
	wp_result_free(result);
}

/* The tps of pgbench in 2001, for each number of clients on each file system. */
static void the_diff_of_pgbench_comes_out_exactly(void **state)
{
	struct wp_result *result = import_case("24-pgbench-71-diff-ext2-fat/mail.txt");
	size_t values = 0;

	(void)state;
	for (size_t i = 0; i < json_array_size(seeds); i++) {
		const json_t *seed = json_array_get(seeds, i);
		json_t *list = json_object_get(seed, "metrics");
		const struct wp_row *row;

		if (strcmp(text_of(seed, "table"), "pgbench") != 0)
			continue;
		row = import_row(result, "ramp", text_of(seed, "filesystem"), NULL, "clients",
			json_number_value(json_object_get(seed, "clients")));
		for (size_t j = 0; j < json_array_size(list); j++, values++) {
			const json_t *metric = json_array_get(list, j);
			bool is_including = strstr(text_of(metric, "metric"), "including") != NULL;

			check_cell(row, is_including ? "tps_including" : "tps_excluding",
				json_object_get(metric, "value"), 1);
		}
	}
	assert_int_equal(values, 2 * 8 * 2);
	wp_result_free(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_csv_row_comes_out_exactly),
		cmocka_unit_test(the_two_copies_of_the_mail_come_out_exactly),
		cmocka_unit_test(the_four_iozone_tables_come_out_exactly),
		cmocka_unit_test(the_diff_of_pgbench_comes_out_exactly),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
