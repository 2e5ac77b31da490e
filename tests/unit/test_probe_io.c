/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "fake_os.h"
#include "probe/io_internal.h"
#include "walprobe/mem.h"

static struct wp_io_options options;
static struct wp_err err;

static uint32_t bit(enum wp_io_test test)
{
	return UINT32_C(1) << test;
}

static void groups_hold_the_tables_of_bonnie_and_iozone(void **state)
{
	uint32_t bits;

	(void)state;
	assert_int_equal(wp_io_parse_tests("bonnie", &bits, &err), 0);
	assert_true(bits & bit(WP_IO_TEST_PUTC) && bits & bit(WP_IO_TEST_SEEKS) &&
		    bits & bit(WP_IO_TEST_DELETE_RANDOM));
	assert_false(bits & bit(WP_IO_TEST_BACKWARD_READ));
	assert_int_equal(wp_io_parse_tests("iozone", &bits, &err), 0);
	assert_int_equal(bits, bit(WP_IO_TEST_WRITE) | bit(WP_IO_TEST_OVERWRITE) |
				       bit(WP_IO_TEST_READ) | bit(WP_IO_TEST_REREAD) |
				       bit(WP_IO_TEST_RANDOM_READ) | bit(WP_IO_TEST_RANDOM_WRITE) |
				       bit(WP_IO_TEST_BACKWARD_READ) | bit(WP_IO_TEST_STRIDE_READ));
	assert_int_equal(wp_io_parse_tests("all", &bits, &err), 0);
	assert_int_equal(bits, (UINT32_C(1) << WP_IO_TEST_COUNT) - 1);
	assert_int_equal(wp_io_parse_tests("read,fast", &bits, &err), -WP_E_USAGE);
	assert_string_equal(err.message, "unknown test \"fast\"");
}

static void sizes_are_lists_and_ranges_that_double(void **state)
{
	struct wp_io_sizes sizes;

	(void)state;
	assert_int_equal(wp_io_parse_sizes("8kB-1MB", 1, 1 << 24, &sizes, &err), 0);
	assert_int_equal(sizes.count, 8);
	assert_int_equal(sizes.bytes[7], 1 << 20);
	assert_int_equal(wp_io_parse_sizes("4kB,8kB,16MB", 1, 1 << 24, &sizes, &err), 0);
	assert_int_equal(sizes.count, 3);
	assert_int_equal(sizes.bytes[2], 1 << 24);
	assert_int_equal(wp_io_parse_sizes("1MB-8kB", 1, 1 << 24, &sizes, &err), -WP_E_USAGE);
	assert_int_equal(wp_io_parse_sizes("8kB,8kB", 1, 1 << 24, &sizes, &err), -WP_E_USAGE);
	assert_int_equal(wp_io_parse_sizes("32MB", 1, 1 << 24, &sizes, &err), -WP_E_USAGE);
	assert_int_equal(wp_io_parse_sizes("8", 1, 1 << 24, &sizes, &err), -WP_E_USAGE);
	assert_int_equal(wp_io_parse_sizes("", 1, 1 << 24, &sizes, &err), -WP_E_USAGE);
}

static void files_are_thousands_with_sizes_and_directories(void **state)
{
	(void)state;
	assert_int_equal(wp_io_parse_files("16:4096:100:10", &options, &err), 0);
	assert_int_equal(options.small_count, 16384);
	assert_int_equal(options.small_most_bytes, 4096);
	assert_int_equal(options.small_least_bytes, 100);
	assert_int_equal(options.small_directories, 10);
	assert_int_equal(wp_io_parse_files("16", &options, &err), 0);
	assert_int_equal(options.small_directories, 1);
	assert_int_equal(wp_io_parse_files("0", &options, &err), -WP_E_USAGE);
	assert_int_equal(wp_io_parse_files("1:10:20", &options, &err), -WP_E_USAGE);
	assert_int_equal(wp_io_parse_files("1:2:3:4:5", &options, &err), -WP_E_USAGE);
	assert_int_equal(wp_io_parse_files("many", &options, &err), -WP_E_USAGE);
}

static void buffers_stay_below_their_limit(void **state)
{
	(void)state;
	options = (struct wp_io_options){ .jobs = 2, .seekers = 1 };
	options.records = (struct wp_io_sizes){ { 16 << 20 }, 1 };
	assert_int_equal(wp_io_check(&options, &err), 0);
	options.jobs = 3;
	assert_int_equal(wp_io_check(&options, &err), -WP_E_USAGE);
}

/* Counters of a device and of this process as files, as the kernel shows them. */
static struct fake_os fake;
static struct wp_os_ops ops;
static struct wp_os os;
static const char *dir;
static struct wp_run run;
static struct wp_target target;
static struct wp_layer layer;
static struct wp_measures measures;
static struct wp_io_study *study;
static bool has_device;

static int redirected_open(void *ctx, const char *path, int flags, unsigned mode)
{
	char other[512];

	if (strncmp(path, "/sys/", 5) != 0 && strcmp(path, "/proc/self/io") != 0)
		return fake.os.ops->open(ctx, path, flags, mode);
	(void)snprintf(other, sizeof(other), "%s/%s", dir, path[1] == 's' ? "stat" : "own");
	return fake.os.ops->open(ctx, other, flags, mode);
}

static void write_text(const char *name, const char *text)
{
	char *path = wp_xasprintf("%s/%s", dir, name);
	FILE *stream = fopen(path, "w");

	assert_non_null(stream);
	fputs(text, stream);
	assert_int_equal(fclose(stream), 0);
	free(path);
}

/* What the kernel shows after so many bytes read and written at the device, and read by us. */
static void set_counters(int64_t device_read, int64_t device_written, int64_t own)
{
	char text[256];

	(void)snprintf(text, sizeof(text),
		"1 0 %" PRId64 " 0 1 0 %" PRId64 " 0 0 0 0 0 0 0 0 0 0\n", device_read / 512,
		device_written / 512);
	write_text("stat", text);
	(void)snprintf(text, sizeof(text),
		"rchar: 1\nwchar: 1\nsyscr: 1\nsyscw: 1\nread_bytes: %" PRId64 "\nwrite_bytes: 0\n",
		own);
	write_text("own", text);
}

static int64_t device_bytes;
static int64_t own_bytes;

/* A disk: each read comes from it, is counted at the device and for us. */
static int64_t disk_pread(void *ctx, int fd, void *buffer, size_t length, int64_t offset)
{
	int64_t rc;

	if (has_device && length == 8192) {
		device_bytes += (int64_t)length;
		own_bytes += (int64_t)length;
		set_counters(device_bytes, 0, own_bytes);
	}
	rc = fake.os.ops->pread(ctx, fd, buffer, length, offset);
	return rc;
}

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
	ops.open = redirected_open;
	ops.pread = disk_pread;
	ops.syncfs = no_syncfs;
	os = (struct wp_os){ &ops, &fake };
	dir = scratch_dir();
	device_bytes = own_bytes = 0;
	has_device = false;
	set_counters(0, 0, 0);
	memset(&err, 0, sizeof(err));
	memset(&measures, 0, sizeof(measures));
	run = (struct wp_run){ .os = &os, .rounds = 6, .time_ns = 1, .seed = 1 };
	run.result = wp_result_new("io");
	layer = (struct wp_layer){ .name = wp_xstrdup("sda"), .is_leaf = true };
	target = (struct wp_target){ .label = "here", .is_open = true };
	target.dir = wp_xasprintf("%s/work", dir);
	assert_int_equal(wp_os_mkdir(&os, target.dir, 0700), 0);
	target.stack.layers = &layer;
	target.stack.layer_count = target.stack.top_count = 1;
	target.stack.fstype = wp_xstrdup("ext4");
	options = (struct wp_io_options){ .tests = bit(WP_IO_TEST_READ),
		.sync = WP_IO_SYNC_FSYNC,
		.is_sync_timed = true,
		.jobs = 1,
		.seekers = 1,
		.small_count = 64,
		.small_directories = 1 };
	options.records = (struct wp_io_sizes){ { 8192 }, 1 };
	options.files = (struct wp_io_sizes){ { 64 * 8192 }, 1 };
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fake_os_arm(&fake, NULL, 0, 0);
	wp_measures_release(&measures);
	wp_io_study_free(study);
	study = NULL;
	wp_result_free(run.result);
	free(layer.name);
	free(target.dir);
	free(target.stack.fstype);
	scratch_dir_remove(dir);
	return 0;
}

static void plan_and_make(void)
{
	study = wp_io_study_new(&run, &options);
	wp_io_plan(study, &target, &measures);
	assert_int_equal(wp_io_make(study, &target, &measures, &err), 0);
}

/* One block of each measure counts; the rows that come of it. */
static const struct wp_table *measure(void)
{
	for (size_t i = 0; i < measures.count; i++) {
		struct wp_measure *one = measures.items[i];
		struct wp_block block = { 0 };

		if (one->absent)
			continue;
		wp_hist_init(&one->hist);
		assert_int_equal(one->run(one, WP_NS_PER_MS, &one->hist, &block, &err), 0);
		one->operations = block.operations;
		one->elapsed_ns = block.elapsed_ns;
		one->io = block.io;
		one->values = wp_xcalloc(1, sizeof(*one->values));
		one->raw_values = wp_xcalloc(1, sizeof(*one->raw_values));
		one->values[0] = one->raw_values[0] = block.value;
		one->round_count = 1;
	}
	wp_io_fill(&run, &measures);
	return wp_result_find_table(run.result, "io");
}

static void a_file_that_fits_in_memory_is_marked_as_cached(void **state)
{
	const struct wp_table *table;

	(void)state;
	plan_and_make();
	table = measure();
	assert_string_equal(wp_row_get_text(table->rows[0], "cached"), "yes");
	assert_int_equal(wp_row_get_number(table->rows[0], "device_read_bytes"), 0);
	assert_true(wp_row_get_number(table->rows[0], "bytes_per_s") > 0);
}

static void reads_that_reach_the_device_are_not(void **state)
{
	const struct wp_table *table;

	(void)state;
	has_device = true;
	plan_and_make();
	table = measure();
	assert_string_equal(wp_row_get_text(table->rows[0], "cached"), "no");
	assert_true(wp_row_get_number(table->rows[0], "fetched_bytes") ==
		    wp_row_get_number(table->rows[0], "read_bytes"));
}

static void the_reads_of_others_are_not_taken_for_ours(void **state)
{
	struct wp_io_seen before = { .device.is_known = true };
	struct wp_io_seen after = { .device.is_known = true, .device.read_bytes = 1 << 20 };
	struct wp_block_io block = { .read_bytes = 1 << 20 };
	const struct wp_io_test_row *test = &wp_io_tests[WP_IO_TEST_READ];

	(void)state;
	wp_io_count(&before, &after, &block);
	assert_int_equal(block.device_read_bytes, 1 << 20);
	assert_int_equal(block.fetched_bytes, 0);
	assert_string_equal(wp_io_cached(test, "ext4", &block, 128), "yes");
	before.own_bytes = after.own_bytes = -1; /* the kernel does not count them */
	memset(&block, 0, sizeof(block));
	block.read_bytes = 1 << 20;
	wp_io_count(&before, &after, &block);
	assert_string_equal(wp_io_cached(test, "ext4", &block, 128), "no");
}

static void what_cannot_be_counted_is_unknown(void **state)
{
	struct wp_io_seen seen = { .device.unknown_reason = "no block device can be seen" };
	struct wp_block_io block = { .read_bytes = 1 << 20 };
	const struct wp_io_test_row *test = &wp_io_tests[WP_IO_TEST_READ];

	(void)state;
	wp_io_count(&seen, &seen, &block);
	assert_string_equal(wp_io_cached(test, "nfs4", &block, 128), "unknown");
	assert_string_equal(wp_io_cached(test, "tmpfs", &block, 128), "yes");
}

static void writes_left_in_memory_are_marked_and_synced_files_are_not(void **state)
{
	struct wp_block_io block = { .written_bytes = 1 << 20 };

	(void)state;
	assert_string_equal(wp_io_cached(&wp_io_tests[WP_IO_TEST_WRITE], "xfs", &block, 1), "yes");
	block.device_written_bytes = 1 << 20;
	assert_string_equal(wp_io_cached(&wp_io_tests[WP_IO_TEST_WRITE], "xfs", &block, 1), "no");
	memset(&block, 0, sizeof(block));
	assert_string_equal(
		wp_io_cached(&wp_io_tests[WP_IO_TEST_CREATE_SEQ], "xfs", &block, 100), "yes");
	assert_string_equal(
		wp_io_cached(&wp_io_tests[WP_IO_TEST_CREATE_SEQ_SYNCED], "xfs", &block, 100), "no");
}

static void every_test_gives_a_row_and_leaves_no_big_file(void **state)
{
	const struct wp_table *table;

	(void)state;
	options.tests = (UINT32_C(1) << WP_IO_TEST_COUNT) - 1;
	plan_and_make();
	table = measure();
	assert_int_equal(table->row_count, WP_IO_TEST_COUNT);
	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];

		if (strcmp(wp_row_get_text(row, "test"), "archive") == 0) {
			assert_non_null(strstr(wp_row_cell(row, "ops_per_s")->text, "16777216"));
			continue;
		}
		assert_true(wp_row_get_number(row, "ops_per_s") > 0);
		assert_true(wp_row_get_number(row, "cpu_percent") >= 0);
	}
	wp_measures_release(&measures);
	for (int i = 0; i < 2; i++) {
		char *path = wp_xasprintf("%s/%s-0", target.dir, i ? "new" : "data");
		struct stat info;

		assert_int_equal(wp_os_stat(&os, path, &info), -ENOENT);
		free(path);
	}
	assert_int_equal(atomic_load(&fake.open_count), 0);
}

static void several_file_sizes_are_told_apart(void **state)
{
	(void)state;
	options.files = (struct wp_io_sizes){ { 8 * 8192, 16 * 8192 }, 2 };
	plan_and_make();
	assert_int_equal(measures.count, 2);
	assert_string_not_equal(measures.items[0]->variant, measures.items[1]->variant);
}

static void a_target_that_is_not_open_has_rows_with_its_reason(void **state)
{
	static char reason[] = "the kernel lacks f2fs";

	(void)state;
	target.is_open = false;
	target.absent = reason;
	study = wp_io_study_new(&run, &options);
	wp_io_plan(study, &target, &measures);
	assert_string_equal(measures.items[0]->absent, reason);
	wp_io_fill(&run, &measures);
	assert_int_equal(wp_result_find_table(run.result, "io")->row_count, 1);
}

static void a_full_disk_makes_all_of_the_target_absent(void **state)
{
	(void)state;
	study = wp_io_study_new(&run, &options);
	wp_io_plan(study, &target, &measures);
	fake_os_arm(&fake, "pwrite", 1, ENOSPC);
	assert_int_equal(wp_io_make(study, &target, &measures, &err), -WP_E_NOSPACE);
	assert_non_null(measures.items[0]->absent);
	assert_int_equal(scratch_dir_count(target.dir), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_hold_the_tables_of_bonnie_and_iozone),
		cmocka_unit_test(sizes_are_lists_and_ranges_that_double),
		cmocka_unit_test(files_are_thousands_with_sizes_and_directories),
		cmocka_unit_test(buffers_stay_below_their_limit),
		TEST(a_file_that_fits_in_memory_is_marked_as_cached),
		TEST(reads_that_reach_the_device_are_not),
		TEST(the_reads_of_others_are_not_taken_for_ours),
		TEST(what_cannot_be_counted_is_unknown),
		TEST(writes_left_in_memory_are_marked_and_synced_files_are_not),
		TEST(every_test_gives_a_row_and_leaves_no_big_file),
		TEST(several_file_sizes_are_told_apart),
		TEST(a_target_that_is_not_open_has_rows_with_its_reason),
		TEST(a_full_disk_makes_all_of_the_target_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
