/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "fake_os.h"
#include "walprobe/io_loop.h"
#include "walprobe/mem.h"
#include "walprobe/stop.h"

#define RECORD 8192
#define RECORDS 40
#define FILE_BYTES ((int64_t)RECORD * RECORDS)
#define LOG_SIZE 4096

static struct fake_os fake;
static struct wp_os_ops ops;
static struct wp_os os;
static struct wp_io_pool pool;
static struct wp_io_files files;
static struct wp_io_loop loop;
static struct wp_hist hist;
static struct wp_io_counts counts;
static struct wp_err err;
static const char *dir;

/* what the system was asked, in order */
static struct {
	char call; /* r, w */
	int64_t offset;
	size_t length;
} asked[LOG_SIZE];
static atomic_size_t asked_count; /* the jobs of a test count together */
static bool has_direct_refused;

static void note(char call, int64_t offset, size_t length)
{
	size_t slot = atomic_fetch_add(&asked_count, 1);

	if (slot >= LOG_SIZE)
		return;
	asked[slot].call = call;
	asked[slot].offset = offset;
	asked[slot].length = length;
}

static int64_t noted_pread(void *ctx, int fd, void *buffer, size_t length, int64_t offset)
{
	note('r', offset, length);
	return fake.os.ops->pread(ctx, fd, buffer, length, offset);
}

static int64_t noted_pwrite(void *ctx, int fd, const void *buffer, size_t length, int64_t offset)
{
	note('w', offset, length);
	return fake.os.ops->pwrite(ctx, fd, buffer, length, offset);
}

static int direct_open(void *ctx, const char *path, int flags, unsigned mode)
{
	if ((flags & O_DIRECT) && has_direct_refused)
		return -EINVAL;
	return fake.os.ops->open(ctx, path, flags & ~O_DIRECT, mode);
}

static int set_up(void **state)
{
	(void)state;
	wp_stop_reset();
	fake_os_init(&fake);
	ops = *fake.os.ops;
	ops.open = direct_open;
	os = (struct wp_os){ &ops, &fake };
	dir = scratch_dir();
	wp_hist_init(&hist);
	memset(&counts, 0, sizeof(counts));
	memset(&err, 0, sizeof(err));
	memset(&loop, 0, sizeof(loop));
	has_direct_refused = false;
	asked_count = 0;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	fake_os_arm(&fake, NULL, 0, 0);
	wp_io_loop_release(&loop);
	wp_io_files_release(&files);
	wp_io_pool_release(&pool);
	wp_hist_release(&hist);
	scratch_dir_remove(dir);
	wp_stop_reset();
	return 0;
}

static void prepare(const struct wp_io_plan *plan)
{
	wp_io_pool_init(&pool, &os, plan->jobs, RECORD);
	wp_io_files_init(&files, &os, dir, plan->jobs, FILE_BYTES);
	assert_int_equal(wp_io_files_make(&files, 1, 0, NULL, NULL, &err), 0);
	wp_io_loop_init(&loop, plan, &files, &pool, 7);
	ops.pread = noted_pread;
	ops.pwrite = noted_pwrite;
	asked_count = 0;
}

static struct wp_io_plan plan_of(enum wp_io_work work, enum wp_io_order order)
{
	bool is_bytes = work == WP_IO_PUTC || work == WP_IO_GETC || work == WP_IO_WRITE_ONE ||
			work == WP_IO_READ_ONE;

	return (struct wp_io_plan){ .work = work,
		.order = order,
		.sync = WP_IO_SYNC_FSYNC,
		.is_sync_timed = true,
		.is_close_timed = true,
		.record_bytes = is_bytes ? 1 : RECORD,
		.file_bytes = FILE_BYTES,
		.jobs = 1 };
}

/* One block of one pass that comes to the end of the file. */
static int run_whole(void)
{
	int rc = wp_io_loop_prepare(&loop, &err);

	if (!rc)
		rc = wp_io_loop_pass(&loop, 60 * WP_NS_PER_S, &hist, &counts, &err);
	if (!rc)
		rc = wp_io_loop_finish(&loop, &err);
	return rc;
}

static void a_pass_takes_every_record_once_in_every_order(void **state)
{
	(void)state;
	for (enum wp_io_order order = WP_IO_FORWARD; order <= WP_IO_RANDOM; order++) {
		struct wp_io_plan plan = plan_of(WP_IO_READ, order);
		bool is_seen[RECORDS] = { false };

		if (order > WP_IO_FORWARD) {
			tear_down(NULL);
			set_up(NULL);
		}
		prepare(&plan);
		assert_int_equal(run_whole(), 0);
		assert_int_equal(asked_count, RECORDS);
		for (size_t i = 0; i < asked_count; i++) {
			assert_int_equal(asked[i].length, RECORD);
			assert_false(is_seen[asked[i].offset / RECORD]);
			is_seen[asked[i].offset / RECORD] = true;
		}
		if (order == WP_IO_BACKWARD)
			assert_int_equal(asked[0].offset, FILE_BYTES - RECORD);
		if (order == WP_IO_STRIDE)
			assert_int_equal(asked[1].offset - asked[0].offset, 17 * RECORD);
		assert_int_equal(counts.operations, RECORDS);
		assert_int_equal(counts.read_bytes, FILE_BYTES);
		assert_int_equal(hist.count, RECORDS);
	}
}

static void the_shuffle_is_a_permutation(void **state)
{
	static const uint64_t sizes[] = { 1, 2, 3, 5, 16, 17, 1000, 4097 };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(sizes); i++) {
		bool *is_seen = wp_xcalloc(sizes[i], sizeof(*is_seen));
		struct wp_io_shuffle shuffle;

		wp_io_shuffle_init(&shuffle, sizes[i], i);
		for (uint64_t place = 0; place < sizes[i]; place++) {
			uint64_t index = wp_io_shuffle_at(&shuffle, place);

			assert_true(index < sizes[i] && !is_seen[index]);
			is_seen[index] = true;
		}
		free(is_seen);
	}
}

static void rewriting_reads_and_writes_each_record(void **state)
{
	struct wp_io_plan plan = plan_of(WP_IO_REWRITE, WP_IO_FORWARD);

	(void)state;
	prepare(&plan);
	assert_int_equal(run_whole(), 0);
	assert_int_equal(asked_count, 2 * RECORDS);
	for (size_t i = 0; i < asked_count; i++) {
		assert_int_equal(asked[i].call, i % 2 ? 'w' : 'r');
		assert_int_equal(asked[i].offset, (int64_t)(i / 2) * RECORD);
	}
	assert_int_equal(counts.operations, RECORDS);
	assert_int_equal(counts.syncs, 1);
}

static void one_seek_in_ten_writes_back(void **state)
{
	struct wp_io_plan plan = plan_of(WP_IO_SEEK, WP_IO_RANDOM);

	(void)state;
	plan.is_sync_timed = false;
	prepare(&plan);
	assert_int_equal(run_whole(), 0);
	assert_int_equal(counts.written_bytes, RECORDS / 10 * RECORD);
	assert_int_equal(counts.read_bytes, RECORDS * RECORD);
}

static void putc_writes_buffers_and_write1_single_bytes(void **state)
{
	struct wp_io_plan plan = plan_of(WP_IO_PUTC, WP_IO_FORWARD);

	(void)state;
	plan.is_new = true;
	prepare(&plan);
	assert_int_equal(run_whole(), 0);
	assert_int_equal(asked[0].length, WP_IO_STDIO_BYTES);
	assert_int_equal(counts.operations, FILE_BYTES);
	tear_down(NULL);
	set_up(NULL);
	plan.work = WP_IO_WRITE_ONE;
	prepare(&plan);
	assert_int_equal(run_whole(), 0);
	assert_int_equal(asked[0].length, 1);
	assert_int_equal(asked[1].offset, 1);
	assert_int_equal(counts.operations, FILE_BYTES);
	assert_int_equal(hist.count, FILE_BYTES / WP_IO_BYTE_CALLS);
}

static void a_new_file_is_emptied_at_the_end(void **state)
{
	struct wp_io_plan plan = plan_of(WP_IO_WRITE, WP_IO_FORWARD);
	char path[256];
	struct stat info;

	(void)state;
	plan.is_new = true;
	prepare(&plan);
	assert_int_equal(run_whole(), 0);
	(void)snprintf(path, sizeof(path), "%s/new-0", dir);
	assert_int_equal(wp_os_stat(&os, path, &info), 0);
	assert_int_equal(info.st_size, 0);
	(void)snprintf(path, sizeof(path), "%s/data-0", dir);
	assert_int_equal(wp_os_stat(&os, path, &info), 0);
	assert_int_equal(info.st_size, FILE_BYTES);
}

static void the_cache_is_filled_before_a_reread(void **state)
{
	struct wp_io_plan plan = plan_of(WP_IO_READ, WP_IO_FORWARD);

	(void)state;
	plan.cache = WP_IO_CACHE_FILL;
	prepare(&plan);
	assert_int_equal(run_whole(), 0);
	assert_int_equal(asked_count, 2 * RECORDS);
	assert_int_equal(counts.read_bytes, FILE_BYTES);
}

static void jobs_have_files_of_their_own_and_are_added_up(void **state)
{
	struct wp_io_plan plan = plan_of(WP_IO_WRITE, WP_IO_RANDOM);

	(void)state;
	plan.jobs = 4;
	prepare(&plan);
	assert_int_equal(run_whole(), 0);
	assert_true(counts.operations >= RECORDS && counts.operations <= 4 * RECORDS);
	assert_int_equal(counts.written_bytes, counts.operations * RECORD);
	assert_int_equal(counts.syncs, 4);
	assert_int_equal(hist.count, counts.operations);
	assert_true(counts.elapsed_ns > 0);
	assert_int_equal(atomic_load(&fake.open_count), 0);
}

static void a_refused_o_direct_is_unsupported(void **state)
{
	struct wp_io_plan plan = plan_of(WP_IO_READ, WP_IO_FORWARD);

	(void)state;
	plan.is_direct = true;
	has_direct_refused = true;
	prepare(&plan);
	assert_int_equal(run_whole(), -WP_E_UNSUPPORTED);
	assert_string_equal(err.message, "O_DIRECT refused: EINVAL");
	assert_int_equal(atomic_load(&fake.open_count), 0);
}

static void limits_say_what_to_do(void **state)
{
	static const struct {
		const char *call;
		int sys_errno;
		const char *hint;
	} cases[] = {
		{ "pwrite", ENOSPC, "smaller --size" },
		{ "pwrite", EDQUOT, "quota" },
		{ "pwrite", EFBIG, "ulimit -f" },
		{ "open", EMFILE, "ulimit -n" },
	};
	struct wp_io_plan plan = plan_of(WP_IO_WRITE, WP_IO_FORWARD);

	(void)state;
	prepare(&plan);
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		memset(&err, 0, sizeof(err));
		fake_os_arm(&fake, cases[i].call, 1, cases[i].sys_errno);
		assert_true(run_whole() < 0);
		assert_non_null(strstr(err.message, "data-0"));
		assert_non_null(strstr(err.hint, cases[i].hint));
		assert_int_equal(atomic_load(&fake.open_count), 0);
	}
	fake_os_arm(&fake, "pwrite", 1, ENOSPC);
	assert_int_equal(run_whole(), -WP_E_NOSPACE);
	assert_non_null(strstr(err.detail, "were needed"));
}

static void a_short_write_is_an_error(void **state)
{
	struct wp_io_plan plan = plan_of(WP_IO_WRITE, WP_IO_FORWARD);

	(void)state;
	prepare(&plan);
	fake_os_arm(&fake, "pwrite", 3, EIO);
	fake.is_short_write = true;
	assert_int_equal(run_whole(), -WP_E_SYS);
	assert_non_null(strstr(err.message, "only 4096 of 8192 bytes"));
	assert_int_equal(counts.operations, 2);
}

static void a_signal_ends_the_pass(void **state)
{
	struct wp_io_plan plan = plan_of(WP_IO_READ, WP_IO_FORWARD);

	(void)state;
	prepare(&plan);
	assert_int_equal(wp_io_loop_prepare(&loop, &err), 0);
	wp_stop_raise(2);
	assert_int_equal(
		wp_io_loop_pass(&loop, 60 * WP_NS_PER_S, &hist, &counts, &err), -WP_E_STOPPED);
	assert_int_equal(counts.operations, 1);
	assert_int_equal(atomic_load(&fake.open_count), 0);
}

static bool may_be_ignored(const char *call)
{
	return strcmp(call, "fadvise") == 0 || strcmp(call, "cpu_ns") == 0 ||
	       strcmp(call, "unlink") == 0 || strcmp(call, "statvfs") == 0;
}

/* The whole life of a loop; 0 when nothing failed. */
static int live(const struct wp_io_plan *plan)
{
	int rc;

	wp_io_files_init(&files, &os, dir, plan->jobs, FILE_BYTES);
	rc = wp_io_files_make(&files, 1, 0, NULL, NULL, &err);
	if (!rc) {
		wp_io_loop_init(&loop, plan, &files, &pool, 7);
		rc = run_whole();
		wp_io_loop_release(&loop);
	}
	wp_io_files_remove(&files);
	wp_io_files_release(&files);
	return rc;
}

static void any_call_may_fail(void **state)
{
	static const enum wp_io_work works[] = { WP_IO_READ, WP_IO_WRITE, WP_IO_REWRITE,
		WP_IO_PUTC };

	(void)state;
	wp_io_pool_init(&pool, &os, 1, RECORD);
	for (size_t i = 0; i < WP_COUNT(works); i++) {
		struct wp_io_plan plan = plan_of(works[i], WP_IO_FORWARD);

		plan.is_new = works[i] == WP_IO_WRITE;
		for (int64_t n = 1;; n++) {
			int rc;

			memset(&err, 0, sizeof(err));
			fake_os_arm(&fake, NULL, n, EIO);
			rc = live(&plan);
			if (atomic_load(&fake.failures) == 0)
				break;
			if (!may_be_ignored(fake.last_failed)) {
				assert_true(rc < 0);
				assert_non_null(strstr(err.message, dir));
			}
			assert_int_equal(atomic_load(&fake.open_count), 0);
			fake_os_arm(&fake, NULL, 0, 0);
			wp_io_files_init(&files, &os, dir, 1, FILE_BYTES);
			wp_io_files_remove(&files);
			wp_io_files_release(&files);
			assert_int_equal(scratch_dir_count(dir), 0);
		}
	}
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(a_pass_takes_every_record_once_in_every_order),
		cmocka_unit_test(the_shuffle_is_a_permutation),
		TEST(rewriting_reads_and_writes_each_record),
		TEST(one_seek_in_ten_writes_back),
		TEST(putc_writes_buffers_and_write1_single_bytes),
		TEST(a_new_file_is_emptied_at_the_end),
		TEST(the_cache_is_filled_before_a_reread),
		TEST(jobs_have_files_of_their_own_and_are_added_up),
		TEST(a_refused_o_direct_is_unsupported),
		TEST(limits_say_what_to_do),
		TEST(a_short_write_is_an_error),
		TEST(a_signal_ends_the_pass),
		TEST(any_call_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
