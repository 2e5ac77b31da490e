/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "fake_os.h"
#include "walprobe/probe_sync.h"
#include "walprobe/mem.h"

#define FILE_BYTES (INT64_C(256) << 10)

static struct fake_os fake;
static struct wp_os_ops ops;
static struct wp_os os;
static struct wp_run run;
static struct wp_target target;
static struct wp_sync_options options;
static struct wp_measures measures;
static struct wp_err err;
static char told[4096];

static void tell(void *ctx, const char *kind, const char *text)
{
	(void)ctx;
	size_t used = strlen(told);

	(void)snprintf(told + used, sizeof(told) - used, "%s: %s\n", kind, text);
}

/* Others' dirty pages on the same file system are none of this test's business. */
static int no_syncfs(void *ctx, int fd)
{
	(void)ctx;
	(void)fd;
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	fake_os_init(&fake);
	ops = *fake.os.ops;
	ops.syncfs = no_syncfs;
	os = (struct wp_os){ &ops, &fake };
	run = (struct wp_run){ .os = &os, .rounds = 6, .time_ns = 1, .tell = tell };
	run.result = wp_result_new("sync");
	memset(&target, 0, sizeof(target));
	target.label = "here";
	target.dir = wp_xstrdup(scratch_dir());
	target.is_open = true;
	options = (struct wp_sync_options){ .variants = WP_SYNC_ALL_VARIANTS,
		.file_bytes = FILE_BYTES };
	assert_int_equal(wp_method_parse_list("all", &options.methods, NULL), 0);
	memset(&measures, 0, sizeof(measures));
	memset(&err, 0, sizeof(err));
	told[0] = '\0';
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fake_os_arm(&fake, NULL, 0, 0);
	wp_measures_release(&measures);
	wp_result_free(run.result);
	scratch_dir_remove(target.dir);
	free(target.dir);
	return 0;
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static struct wp_measure *find(const char *method, const char *variant)
{
	for (size_t i = 0; i < measures.count; i++)
		if (is_same(measures.items[i]->method, method) &&
			strcmp(measures.items[i]->variant, variant) == 0)
			return measures.items[i];
	return NULL;
}

static int plan(void)
{
	return wp_sync_plan(&run, &target, &options, &measures, &err);
}

static void the_pairs_are_those_of_pg_test_fsync_and_more(void **state)
{
	static const char *const everywhere[] = { "overwrite", "two-writes", "new-page",
		"fallocated", "sparse", "direct" };
	static const char *const splits[] = { "1x16kB", "2x8kB", "4x4kB", "8x2kB", "16x1kB" };

	(void)state;
	assert_int_equal(plan(), 0);
	assert_int_equal(measures.count, 5 * 6 + 5 + 2 + 2);
	assert_int_equal(measures.count, wp_sync_count(&options));
	for (size_t v = 0; v < WP_COUNT(everywhere); v++)
		for (size_t m = 0; m < options.methods.count; m++)
			assert_non_null(
				find(wp_method_name(options.methods.items[m]), everywhere[v]));
	for (size_t v = 0; v < WP_COUNT(splits); v++)
		assert_non_null(find("open_sync", splits[v]));
	assert_non_null(find("fsync", "other-fd"));
	assert_non_null(find("fdatasync", "other-fd"));
	assert_non_null(find(NULL, "rwf-dsync"));
	assert_non_null(find(NULL, "unsynced"));
}

static void compare_plans_one_measure_for_each_method(void **state)
{
	(void)state;
	options.variants = 1u << WP_SYNC_OVERWRITE;
	assert_int_equal(wp_method_parse_list("fdatasync,fsync", &options.methods, NULL), 0);
	assert_int_equal(plan(), 0);
	assert_int_equal(measures.count, 2);
	assert_int_equal(scratch_dir_count(target.dir), 1);
}

static void writethrough_is_absent_with_the_reason(void **state)
{
	struct wp_measure *measure;

	(void)state;
	assert_int_equal(plan(), 0);
	measure = find("fsync_writethrough", "two-writes");
	assert_non_null(strstr(measure->absent, "macOS"));
	assert_null(find("fsync", "two-writes")->absent);
}

static void direct_is_a_variant_or_everywhere_or_nowhere(void **state)
{
	(void)state;
	options.direct = WP_SYNC_DIRECT_OFF;
	assert_int_equal(wp_sync_count(&options), 5 * 5 + 5 + 2 + 2);
	options.direct = WP_SYNC_DIRECT_ON;
	assert_int_equal(wp_sync_count(&options), 5 * 5 + 5 + 2 + 2);
	options.variants = 1u << WP_SYNC_DIRECT;
	assert_int_equal(wp_sync_count(&options), 5);
	options.direct = WP_SYNC_DIRECT_OFF;
	assert_int_equal(wp_sync_count(&options), 0);
}

/* What a 4 kB native disk says, on whatever this test runs on. */
static int64_t refuse_small_pwrite(
	void *ctx, int fd, const void *buffer, size_t length, int64_t offset)
{
	if (length > 1 && length < 4096)
		return -EINVAL;
	return fake.os.ops->pwrite(ctx, fd, buffer, length, offset);
}

static int open_without_direct(void *ctx, const char *path, int flags, unsigned mode)
{
	return fake.os.ops->open(ctx, path, flags & ~O_DIRECT, mode);
}

static void direct_writes_below_the_logical_block_leave_the_others_alone(void **state)
{
	struct wp_layer layer = { .name = NULL, .logical_block_bytes = 4096 };

	(void)state;
	ops.pwrite = refuse_small_pwrite;
	ops.open = open_without_direct;
	target.stack.layers = &layer;
	target.stack.layer_count = 1;
	options.direct = WP_SYNC_DIRECT_ON;
	assert_int_equal(plan(), 0);
	assert_string_equal(find("open_sync", "16x1kB")->absent,
		"1 kB is below the device's logical block of 4 kB");
	assert_string_equal(find("open_sync", "8x2kB")->absent,
		"2 kB is below the device's logical block of 4 kB");
	assert_null(find("open_sync", "4x4kB")->absent);
	assert_null(find("open_sync", "overwrite")->absent);
}

static int open_refusing_direct(void *ctx, const char *path, int flags, unsigned mode)
{
	return flags & O_DIRECT ? -EINVAL : fake.os.ops->open(ctx, path, flags, mode);
}

static int64_t no_pwritev2(
	void *ctx, int fd, const struct iovec *parts, int count, int64_t offset, int flags)
{
	(void)ctx;
	(void)fd;
	(void)parts;
	(void)count;
	(void)offset;
	(void)flags;
	return -EOPNOTSUPP;
}

static int no_fallocate(void *ctx, int fd, int mode, int64_t offset, int64_t length)
{
	(void)ctx;
	(void)fd;
	(void)mode;
	(void)offset;
	(void)length;
	return -EOPNOTSUPP;
}

static void a_poor_file_system_leaves_reasons_and_the_rest_is_measured(void **state)
{
	const struct wp_table *table;
	size_t measured = 0;

	(void)state;
	ops.open = open_refusing_direct;
	ops.pwritev2 = no_pwritev2;
	ops.fallocate = no_fallocate;
	assert_int_equal(plan(), 0);
	assert_string_equal(find("fdatasync", "direct")->absent, "O_DIRECT refused: EINVAL");
	assert_string_equal(find(NULL, "rwf-dsync")->absent, "RWF_DSYNC refused: EOPNOTSUPP");
	assert_string_equal(
		find("open_sync", "fallocated")->absent, "fallocate refused: EOPNOTSUPP");
	assert_int_equal(wp_rounds_run(&run, &measures, &err), 0);
	wp_sync_fill(&run, &measures);
	table = wp_result_find_table(run.result, "sync");
	assert_int_equal(table->row_count, measures.count);
	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];
		const struct wp_cell *rate = wp_row_cell(row, "ops_per_s");
		const struct wp_cell *ops_cell = wp_row_cell(row, "ops");

		assert_string_equal(wp_row_get_text(row, "target"), "here");
		assert_true(wp_row_get_number(row, "write_bytes") >= 1024);
		assert_true(wp_row_get_number(row, "writes_per_op") >= 1);
		assert_int_equal(rate->state == WP_CELL_ABSENT, measures.items[i]->absent != NULL);
		assert_int_equal(rate->state == WP_CELL_ABSENT, ops_cell->state == WP_CELL_ABSENT);
		if (rate->state == WP_CELL_ABSENT)
			assert_string_equal(rate->text, measures.items[i]->absent);
		else
			measured++;
	}
	/* all but fsync_writethrough, direct, fallocated of four methods, and RWF_DSYNC */
	assert_int_equal(measured, measures.count - 6 - 4 - 4 - 1);
	assert_int_equal(run.problem_count, 0);
	assert_int_equal(atomic_load(&fake.open_count), 0);
}

static void the_table_has_the_keys_that_scripts_rely_on(void **state)
{
	static const char *const keys[] = { "target", "method", "variant", "write_bytes",
		"writes_per_op", "ops_per_s", "ci_low", "ci_high", "mean_ns", "p50_ns", "p90_ns",
		"p99_ns", "p999_ns", "max_ns", "ops", "flushes_per_op" };
	const struct wp_table *table;

	(void)state;
	wp_sync_fill(&run, &measures);
	table = wp_result_find_table(run.result, "sync");
	assert_true(table->column_count >= WP_COUNT(keys));
	for (size_t i = 0; i < WP_COUNT(keys); i++)
		assert_string_equal(table->columns[i].key, keys[i]);
}

static void flushes_are_those_of_an_operation(void **state)
{
	const struct wp_table *table;

	(void)state;
	options.variants = 1u << WP_SYNC_2X8KB | 1u << WP_SYNC_NEW_PAGE;
	assert_int_equal(wp_method_parse_list("open_sync,fdatasync", &options.methods, NULL), 0);
	assert_int_equal(plan(), 0);
	assert_int_equal(measures.count, 3);
	for (size_t i = 0; i < measures.count; i++) {
		struct wp_measure *measure = measures.items[i];

		measure->operations = 100;
		/* four syncs made a file anew, each with a flush of its own */
		measure->syncs = strcmp(measure->variant, "2x8kB") == 0 ? 200 : 104;
		measure->flushes = measure->syncs;
	}
	wp_sync_fill(&run, &measures);
	table = wp_result_find_table(run.result, "sync");
	for (size_t i = 0; i < measures.count; i++) {
		bool is_split = strcmp(measures.items[i]->variant, "2x8kB") == 0;

		assert_true(wp_row_get_number(table->rows[i], "flushes_per_op") ==
			    (is_split ? 2.0 : 1.0));
	}
}

static void a_place_that_is_not_there_leaves_rows_with_its_reason(void **state)
{
	(void)state;
	target.is_open = false;
	target.absent = wp_xstrdup("the kernel lacks jfs");
	assert_int_equal(plan(), 0);
	assert_int_equal(measures.count, wp_sync_count(&options));
	for (size_t i = 0; i < measures.count; i++)
		assert_string_equal(measures.items[i]->absent, "the kernel lacks jfs");
	assert_int_equal(scratch_dir_count(target.dir), 0);
	free(target.absent);
}

static void the_files_fit_into_what_is_asked_for(void **state)
{
	int64_t files;

	(void)state;
	assert_int_equal(plan(), 0);
	files = (int64_t)scratch_dir_count(target.dir);
	assert_int_equal(files, 4);
	assert_true(wp_sync_needed_bytes(&options) >= (files + 1) * FILE_BYTES);
	options.variants = 1u << WP_SYNC_OVERWRITE;
	assert_true(wp_sync_needed_bytes(&options) < 2 * FILE_BYTES + (2 << 20));
	wp_measures_release(&measures);
	assert_int_equal(scratch_dir_count(target.dir), 0);
}

static void keep_leaves_the_files(void **state)
{
	(void)state;
	run.is_kept = true;
	options.variants = 1u << WP_SYNC_OVERWRITE;
	assert_int_equal(plan(), 0);
	wp_measures_release(&measures);
	assert_int_equal(scratch_dir_count(target.dir), 1);
}

static void a_twin_has_a_file_of_its_own_and_no_row(void **state)
{
	struct wp_measure *twin;

	(void)state;
	options.variants = 1u << WP_SYNC_OVERWRITE;
	assert_int_equal(wp_method_parse_list("fdatasync", &options.methods, NULL), 0);
	assert_int_equal(plan(), 0);
	twin = wp_sync_plan_twin(&run, measures.items[0], &measures, &err);
	assert_non_null(twin);
	assert_true(twin->is_twin);
	assert_string_equal(twin->method, "fdatasync");
	assert_string_equal(twin->variant, "overwrite");
	assert_ptr_equal(twin->target, &target);
	assert_int_equal(scratch_dir_count(target.dir), 2);
	assert_int_equal(wp_rounds_run(&run, &measures, &err), 0);
	assert_true(twin->operations >= 6);
	wp_sync_fill(&run, &measures);
	assert_int_equal(wp_result_find_table(run.result, "sync")->row_count, 1);
	wp_measures_release(&measures);
	assert_int_equal(scratch_dir_count(target.dir), 0);
}

static void an_absent_measure_has_no_twin(void **state)
{
	(void)state;
	options.variants = 1u << WP_SYNC_OVERWRITE;
	assert_int_equal(wp_method_parse_list("fsync_writethrough", &options.methods, NULL), 0);
	assert_int_equal(plan(), 0);
	assert_null(wp_sync_plan_twin(&run, measures.items[0], &measures, &err));
	assert_non_null(strstr(err.message, "macOS"));
}

static void every_failing_call_makes_the_target_absent_or_a_variant(void **state)
{
	(void)state;
	options.variants = 1u << WP_SYNC_OVERWRITE | 1u << WP_SYNC_SPARSE | 1u << WP_SYNC_DIRECT |
			   1u << WP_SYNC_RWF_DSYNC;
	assert_int_equal(wp_method_parse_list("fdatasync", &options.methods, NULL), 0);
	for (int64_t n = 1;; n++) {
		int failures;
		int rc;

		fake_os_arm(&fake, NULL, n, EIO);
		rc = plan();
		failures = atomic_load(&fake.failures);
		fake_os_arm(&fake, NULL, 0, 0);
		assert_int_equal(measures.count, 4);
		for (size_t i = 0; rc && i < measures.count; i++)
			assert_string_equal(measures.items[i]->absent, err.message);
		if (rc)
			assert_non_null(strstr(err.message, target.dir));
		wp_measures_release(&measures);
		assert_int_equal(atomic_load(&fake.open_count), 0);
		assert_int_equal(scratch_dir_count(target.dir), 0);
		if (!failures)
			break;
		assert_true(n < 1000);
	}
}

static void a_failed_sync_in_a_round_takes_the_target_out(void **state)
{
	(void)state;
	options.variants = 1u << WP_SYNC_OVERWRITE;
	assert_int_equal(wp_method_parse_list("fdatasync,fsync", &options.methods, NULL), 0);
	assert_int_equal(plan(), 0);
	fake_os_arm(&fake, "fdatasync", 3, EIO);
	assert_int_equal(wp_rounds_run(&run, &measures, &err), 0);
	assert_int_equal(run.problem_count, 1);
	assert_non_null(find("fdatasync", "overwrite")->absent);
	assert_non_null(find("fsync", "overwrite")->absent);
	assert_non_null(strstr(told, "could not fdatasync"));
}

static void variants_are_named_once_and_known(void **state)
{
	static const char *const bad[] = { "", "overwrite,", "direct,direct", "Overwrite", "16x1KB",
		"all,direct" };
	unsigned bits;

	(void)state;
	for (unsigned i = 0; i < WP_SYNC_VARIANT_COUNT; i++) {
		assert_int_equal(wp_sync_parse_variants(wp_sync_variant_name(i), &bits, &err), 0);
		assert_int_equal(bits, 1u << i);
	}
	assert_int_equal(wp_sync_parse_variants("sparse,overwrite", &bits, &err), 0);
	assert_int_equal(bits, 1u << WP_SYNC_OVERWRITE | 1u << WP_SYNC_SPARSE);
	assert_int_equal(wp_sync_parse_variants("all", &bits, &err), 0);
	assert_int_equal(bits, WP_SYNC_ALL_VARIANTS);
	for (size_t i = 0; i < WP_COUNT(bad); i++)
		assert_int_equal(wp_sync_parse_variants(bad[i], &bits, &err), -WP_E_USAGE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_pairs_are_those_of_pg_test_fsync_and_more),
		TEST(compare_plans_one_measure_for_each_method),
		TEST(writethrough_is_absent_with_the_reason),
		TEST(direct_is_a_variant_or_everywhere_or_nowhere),
		TEST(direct_writes_below_the_logical_block_leave_the_others_alone),
		TEST(a_poor_file_system_leaves_reasons_and_the_rest_is_measured),
		TEST(the_table_has_the_keys_that_scripts_rely_on),
		TEST(flushes_are_those_of_an_operation),
		TEST(a_place_that_is_not_there_leaves_rows_with_its_reason),
		TEST(the_files_fit_into_what_is_asked_for),
		TEST(keep_leaves_the_files),
		TEST(a_twin_has_a_file_of_its_own_and_no_row),
		TEST(an_absent_measure_has_no_twin),
		TEST(every_failing_call_makes_the_target_absent_or_a_variant),
		TEST(a_failed_sync_in_a_round_takes_the_target_out),
		TEST(variants_are_named_once_and_known),
	};

	return cmocka_run_group_tests_name("probe_sync", tests, NULL, NULL);
}
