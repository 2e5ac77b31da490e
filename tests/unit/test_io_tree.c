/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "fake_os.h"
#include "walprobe/io_tree.h"
#include "walprobe/stop.h"

#define COUNT 50

static struct fake_os fake;
static struct wp_os_ops ops;
static struct wp_os os;
static struct wp_io_pool pool;
static struct wp_io_tree tree;
static struct wp_hist hist;
static struct wp_io_counts counts;
static struct wp_err err;
static const char *dir;

/* The file system of the tests is others' too. */
static int no_syncfs(void *ctx, int fd)
{
	(void)ctx;
	(void)fd;
	return 0;
}

static int set_up(void **state)
{
	(void)state;
	wp_stop_reset();
	fake_os_init(&fake);
	ops = *fake.os.ops;
	ops.syncfs = no_syncfs;
	os = (struct wp_os){ &ops, &fake };
	dir = scratch_dir();
	wp_io_pool_init(&pool, &os, 1, 8192);
	wp_hist_init(&hist);
	memset(&counts, 0, sizeof(counts));
	memset(&err, 0, sizeof(err));
	memset(&tree, 0, sizeof(tree));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fake_os_arm(&fake, NULL, 0, 0);
	wp_io_tree_release(&tree);
	wp_io_pool_release(&pool);
	wp_hist_release(&hist);
	scratch_dir_remove(dir);
	wp_stop_reset();
	return 0;
}

static void init(enum wp_io_tree_work work, bool is_random, bool is_synced)
{
	struct wp_io_tree_plan plan = { .work = work,
		.is_random = is_random,
		.is_synced = is_synced,
		.count = COUNT,
		.most_bytes = 300,
		.least_bytes = 100,
		.directories = 3 };

	wp_io_tree_init(&tree, &plan, &os, dir, "files", &pool, 1);
}

static size_t count_files(void)
{
	size_t count = 0;

	for (int i = 0; i < 3; i++) {
		char path[256];

		(void)snprintf(path, sizeof(path), "%s/files/%05d", dir, i);
		count += scratch_dir_count(path);
	}
	return count;
}

static int run_pass(void)
{
	int rc = wp_io_tree_prepare(&tree, 60 * WP_NS_PER_S, &err);

	return rc ? rc : wp_io_tree_pass(&tree, 60 * WP_NS_PER_S, &hist, &counts, &err);
}

static void creating_makes_each_file_once_and_cleans_up(void **state)
{
	(void)state;
	for (int is_random = 0; is_random < 2; is_random++) {
		if (is_random) {
			tear_down(NULL);
			set_up(NULL);
		}
		init(WP_IO_CREATE, is_random, false);
		assert_int_equal(run_pass(), 0);
		assert_int_equal(counts.operations, COUNT);
		assert_int_equal(count_files(), COUNT);
		assert_true(
			counts.written_bytes >= 100 * COUNT && counts.written_bytes <= 300 * COUNT);
		assert_int_equal(hist.count, COUNT);
		assert_int_equal(wp_io_tree_finish(&tree, &err), 0);
		assert_int_equal(count_files(), 0);
	}
}

static void what_is_over_too_soon_is_done_again(void **state)
{
	(void)state;
	init(WP_IO_CREATE, false, false);
	for (int pass = 1; pass <= 3; pass++) {
		assert_int_equal(run_pass(), 0);
		assert_int_equal(counts.operations, pass * COUNT);
	}
}

static void looking_reads_what_is_in_the_files(void **state)
{
	(void)state;
	init(WP_IO_STAT, true, false);
	assert_int_equal(run_pass(), 0);
	assert_int_equal(counts.operations, COUNT);
	assert_true(counts.read_bytes >= 100 * COUNT);
	assert_int_equal(wp_io_tree_finish(&tree, &err), 0);
	assert_int_equal(count_files(), COUNT);
}

static void deleting_deletes_what_was_made_for_it(void **state)
{
	(void)state;
	init(WP_IO_DELETE, true, true);
	assert_int_equal(run_pass(), 0);
	assert_true(counts.operations > 0 && counts.operations <= COUNT);
	assert_int_equal(counts.syncs, counts.operations);
	assert_int_equal(count_files(), 0);
}

static void synced_creates_sync_file_and_directory(void **state)
{
	(void)state;
	init(WP_IO_CREATE, false, true);
	fake_os_arm(&fake, "fsync", INT64_MAX, EIO);
	assert_int_equal(run_pass(), 0);
	assert_int_equal(atomic_load(&fake.calls), 2 * COUNT);
	assert_int_equal(counts.syncs, 2 * COUNT);
}

static void any_call_may_fail(void **state)
{
	(void)state;
	for (enum wp_io_tree_work work = WP_IO_CREATE; work <= WP_IO_DELETE; work++)
		for (int64_t n = 1;; n++) {
			int rc;

			tear_down(NULL);
			set_up(NULL);
			init(work, false, true);
			fake_os_arm(&fake, NULL, n, EIO);
			rc = run_pass();
			if (!rc)
				rc = wp_io_tree_finish(&tree, &err);
			if (atomic_load(&fake.failures) == 0)
				break;
			assert_int_equal(atomic_load(&fake.open_count), 0);
			/* Descriptors that were only read from, and the time used, may be lost. */
			if (!rc)
				assert_true(strcmp(fake.last_failed, "close") == 0 ||
					    strcmp(fake.last_failed, "cpu_ns") == 0);
			else
				assert_non_null(strstr(err.message, dir));
		}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(creating_makes_each_file_once_and_cleans_up),
		TEST(what_is_over_too_soon_is_done_again),
		TEST(looking_reads_what_is_in_the_files),
		TEST(deleting_deletes_what_was_made_for_it),
		TEST(synced_creates_sync_file_and_directory),
		TEST(any_call_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
