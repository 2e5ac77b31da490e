/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "sync_recorder.h"
#include "walprobe/stop.h"
#include "walprobe/sync_loop.h"

#define FILE_BYTES (INT64_C(256) << 10)
static const char *dir;
static struct wp_hist hist;
static struct wp_sync_file file;
static struct wp_sync_loop loop;
static struct wp_sync_counts done;
static struct wp_err err;

static int set_up(void **state)
{
	(void)state;
	recorder_init();
	wp_stop_reset();
	dir = scratch_dir();
	wp_hist_init(&hist);
	memset(&err, 0, sizeof(err));
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	wp_sync_loop_release(&loop);
	wp_sync_file_release(&file);
	wp_hist_release(&hist);
	scratch_dir_remove(dir);
	wp_stop_reset();
	return 0;
}

static struct wp_sync_plan plan_of(enum wp_method method, int writes, int64_t bytes)
{
	return (struct wp_sync_plan){
		.method = method, .writes_per_op = writes, .write_bytes = bytes
	};
}

static void prepare(const struct wp_sync_plan *plan, enum wp_sync_fill fill)
{
	wp_sync_file_init(&file, &recorder.os, dir, "f", fill, FILE_BYTES);
	wp_sync_loop_init(&loop, &file, plan, 7);
}

/* Make the file first, so that the record holds the loop alone. */
static int run_alone(const struct wp_sync_plan *plan, int64_t least_ns)
{
	prepare(plan, WP_SYNC_FILL_ZERO);
	assert_int_equal(wp_sync_file_make(&file, NULL, &err), 0);
	recorder.count = 0;
	recorder.syncs = 0;
	recorder.has_repeated_bytes = false;
	return wp_sync_loop_run(&loop, least_ns, &hist, &done, &err);
}

static void each_method_opens_and_syncs_as_postgresql_does(void **state)
{
	static const struct {
		enum wp_method method;
		int flags;
		const char *calls;
	} cases[] = {
		{ WP_METHOD_FDATASYNC, O_RDWR, "owdwdc" },
		{ WP_METHOD_FSYNC, O_RDWR, "owswsc" },
		{ WP_METHOD_OPEN_DATASYNC, O_RDWR | O_DSYNC, "owwc" },
		{ WP_METHOD_OPEN_SYNC, O_RDWR | O_SYNC, "owwc" },
	};

	(void)state;
	recorder.sync_ns = 0;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		for (int is_direct = 0; is_direct < 2; is_direct++) {
			struct wp_sync_plan plan = plan_of(cases[i].method, 1, 8192);

			plan.is_direct = is_direct;
			assert_int_equal(run_alone(&plan, 2000), 0);
			assert_string_equal(recorder_calls(), cases[i].calls);
			assert_int_equal(recorder.traces[0].flags,
				cases[i].flags | (is_direct ? O_DIRECT : 0));
			assert_int_equal(done.operations, 2);
			assert_int_equal(done.syncs, 2);
			assert_int_equal(wp_sync_file_remove(&file, NULL), 0);
			wp_sync_loop_release(&loop);
			wp_sync_file_release(&file);
		}
	}
}

static void two_writes_lie_side_by_side_with_one_sync(void **state)
{
	struct wp_sync_plan plan = plan_of(WP_METHOD_FDATASYNC, 2, 8192);

	(void)state;
	assert_int_equal(run_alone(&plan, 2 * 11000), 0);
	assert_string_equal(recorder_calls(), "owwdwwdc");
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(recorder.traces[1 + 3 * i].offset, 0);
		assert_int_equal(recorder.traces[2 + 3 * i].offset, 8192);
		assert_int_equal(recorder.traces[2 + 3 * i].size, 8192);
	}
	assert_int_equal(done.operations, 2);
	assert_int_equal(done.syncs, 2);
	assert_int_equal(wp_sync_loop_syncs_per_op(&plan), 1);
}

static void sixteen_kilobytes_in_pieces_are_one_operation(void **state)
{
	struct wp_sync_plan plan = plan_of(WP_METHOD_OPEN_SYNC, 16, 1024);

	(void)state;
	assert_int_equal(run_alone(&plan, 1), 0);
	assert_string_equal(recorder_calls(), "owwwwwwwwwwwwwwwwc");
	assert_int_equal(recorder.traces[16].offset, 15 * 1024);
	assert_int_equal(done.operations, 1);
	assert_int_equal(done.syncs, 16);
	assert_int_equal(hist.sum_ns, 16000);
}

static void another_descriptor_syncs_what_a_closed_one_wrote(void **state)
{
	struct wp_sync_plan plan = plan_of(WP_METHOD_FSYNC, 1, 8192);

	(void)state;
	plan.how = WP_SYNC_BY_OTHER_FD;
	assert_int_equal(run_alone(&plan, 20000), 0);
	assert_string_equal(recorder_calls(), "owcoscowcosc");
	assert_int_equal(done.operations, 2);
	assert_int_equal(atomic_load(&recorder.fake.open_count), 0);
}

static void rwf_dsync_uses_a_descriptor_without_sync_flags(void **state)
{
	struct wp_sync_plan plan = plan_of(WP_METHOD_FDATASYNC, 1, 8192);

	(void)state;
	plan.how = WP_SYNC_BY_RWF_DSYNC;
	assert_int_equal(run_alone(&plan, 1000), 0);
	assert_string_equal(recorder_calls(), "ovc");
	assert_int_equal(recorder.traces[0].flags, O_RDWR);
	assert_int_equal(recorder.traces[1].flags, RWF_DSYNC);
	assert_int_equal(done.syncs, 1);
}

static void unsynced_writes_are_synced_once_outside_of_the_time(void **state)
{
	struct wp_sync_plan plan = plan_of(WP_METHOD_FDATASYNC, 1, 8192);

	(void)state;
	plan.how = WP_SYNC_BY_NOTHING;
	assert_int_equal(run_alone(&plan, 3000), 0);
	assert_string_equal(recorder_calls(), "owwwsc");
	assert_int_equal(done.elapsed_ns, 3000);
	assert_int_equal(wp_sync_loop_syncs_per_op(&plan), 0);
}

static void latencies_are_exact_and_add_up_to_the_time(void **state)
{
	struct wp_sync_plan plan = plan_of(WP_METHOD_FDATASYNC, 1, 8192);

	(void)state;
	assert_int_equal(run_alone(&plan, 95000), 0);
	assert_int_equal(done.operations, 10);
	assert_int_equal(hist.count, 10);
	assert_int_equal(hist.min_ns, 10000);
	assert_int_equal(hist.max_ns, 10000);
	assert_int_equal(hist.sum_ns, done.elapsed_ns);
}

static void no_two_writes_carry_the_same_bytes(void **state)
{
	struct wp_sync_plan plan = plan_of(WP_METHOD_OPEN_SYNC, 2, 8192);

	(void)state;
	assert_int_equal(run_alone(&plan, 100000), 0);
	assert_false(recorder.has_repeated_bytes);
}

static void rolling_goes_through_the_file_and_starts_again(void **state)
{
	struct wp_sync_plan plan = plan_of(WP_METHOD_OPEN_DATASYNC, 1, 8192);
	int64_t pages = FILE_BYTES / 8192;

	(void)state;
	plan.offsets = WP_SYNC_ROLL;
	assert_int_equal(run_alone(&plan, (pages + 2) * 1000), 0);
	assert_int_equal(done.operations, pages + 2);
	for (int64_t i = 0; i < done.operations; i++)
		assert_int_equal(recorder.traces[1 + i].offset, i % pages * 8192);
}

static void a_used_up_file_is_made_anew_and_not_timed(void **state)
{
	struct wp_sync_plan plan = plan_of(WP_METHOD_FDATASYNC, 1, 8192);
	int64_t pages = FILE_BYTES / 8192;
	bool is_written[FILE_BYTES / 8192] = { false };
	int64_t operations = 0;

	(void)state;
	plan.offsets = WP_SYNC_FRESH;
	assert_int_equal(run_alone(&plan, 2 * pages * 10000 + 1), 0);
	assert_int_equal(done.operations, 2 * pages + 1);
	assert_int_equal(done.elapsed_ns, hist.sum_ns);
	assert_int_equal(done.elapsed_ns, done.operations * 10000);
	assert_int_equal(hist.max_ns, 10000);
	/* two times file and directory */
	assert_int_equal(done.syncs, done.operations + 4);
	for (size_t i = 0; i < recorder.count; i++) {
		const struct trace *trace = &recorder.traces[i];

		if (trace->call == 'u')
			memset(is_written, 0, sizeof(is_written));
		if (trace->call != 'w' || trace->size != 8192)
			continue;
		assert_false(is_written[trace->offset / 8192]);
		is_written[trace->offset / 8192] = true;
		operations++;
	}
	assert_int_equal(operations, done.operations);
	assert_int_equal(scratch_dir_count(dir), 1);
}

static void the_next_run_goes_on_with_fresh_pages(void **state)
{
	struct wp_sync_plan plan = plan_of(WP_METHOD_OPEN_SYNC, 1, 8192);

	(void)state;
	plan.offsets = WP_SYNC_FRESH;
	assert_int_equal(run_alone(&plan, 3000), 0);
	recorder.count = 0;
	assert_int_equal(wp_sync_loop_run(&loop, 1, &hist, &done, &err), 0);
	assert_int_equal(recorder.traces[1].offset, 3 * 8192);
}

static void files_are_made_as_segments_are(void **state)
{
	static const struct {
		enum wp_sync_fill fill;
		const char *calls;
	} cases[] = {
		{ WP_SYNC_FILL_ZERO, "owscosc" },
		{ WP_SYNC_FILL_ALLOCATE, "ofscosc" },
		{ WP_SYNC_FILL_SPARSE, "owscosc" },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		struct stat info;
		int64_t syncs = 0;

		wp_sync_file_init(&file, &recorder.os, dir, "f", cases[i].fill, FILE_BYTES);
		recorder.count = 0;
		assert_int_equal(wp_sync_file_make(&file, &syncs, &err), 0);
		assert_string_equal(recorder_calls(), cases[i].calls);
		assert_int_equal(syncs, 2);
		assert_int_equal(recorder.traces[0].flags, O_RDWR | O_CREAT | O_EXCL);
		assert_int_equal(wp_os_stat(wp_os_linux(), file.path, &info), 0);
		assert_int_equal(info.st_size, FILE_BYTES);
		assert_int_equal(info.st_mode & 0777, 0600);
		assert_int_equal(wp_sync_file_remove(&file, &err), 0);
		wp_sync_file_release(&file);
	}
}

static void an_existing_file_is_never_touched(void **state)
{
	struct wp_sync_plan plan = plan_of(WP_METHOD_FDATASYNC, 1, 8192);
	int fd;

	(void)state;
	prepare(&plan, WP_SYNC_FILL_ZERO);
	fd = wp_os_open(wp_os_linux(), file.path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(wp_os_write_all(wp_os_linux(), fd, "mine", 4, 0), 0);
	(void)wp_os_close(wp_os_linux(), fd);
	assert_int_equal(wp_sync_loop_run(&loop, 1, &hist, &done, &err), -WP_E_SYS);
	assert_int_equal(err.sys_errno, EEXIST);
	assert_int_equal(wp_sync_file_remove(&file, NULL), 0);
	assert_int_equal(scratch_dir_count(dir), 1);
}

/* All calls of one shape, each failing in turn. */
static void fail_each_call(const struct wp_sync_plan *plan, enum wp_sync_fill fill)
{
	for (int64_t n = 1;; n++) {
		char failed[sizeof(recorder.fake.last_failed)];
		int failures;
		int rc;

		wp_hist_clear(&hist);
		memset(&err, 0, sizeof(err));
		recorder.count = 0;
		prepare(plan, fill);
		fake_os_arm(&recorder.fake, NULL, n, EIO);
		rc = wp_sync_loop_run(&loop, 40000, &hist, &done, &err);
		failures = atomic_load(&recorder.fake.failures);
		memcpy(failed, recorder.fake.last_failed, sizeof(failed));
		fake_os_arm(&recorder.fake, NULL, 0, 0);
		assert_int_equal(wp_sync_file_remove(&file, NULL), 0);
		if (failures && rc) {
			assert_int_equal(rc, -WP_E_SYS);
			assert_int_equal(err.sys_errno, EIO);
			assert_non_null(strstr(err.message, dir));
		}
		/* Only closing what was opened to fsync the directory may fail without a word. */
		if (failures && !rc)
			assert_string_equal(failed, "close");
		assert_int_equal(done.operations, hist.count);
		assert_int_equal(atomic_load(&recorder.fake.open_count), 0);
		assert_int_equal(scratch_dir_count(dir), 0);
		wp_sync_loop_release(&loop);
		wp_sync_file_release(&file);
		if (!failures)
			break;
		assert_true(n < 1000);
	}
}

static void every_failing_call_names_the_file_and_leaves_nothing(void **state)
{
	static const enum wp_sync_how hows[] = { WP_SYNC_BY_METHOD, WP_SYNC_BY_OTHER_FD,
		WP_SYNC_BY_RWF_DSYNC, WP_SYNC_BY_NOTHING };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(hows); i++) {
		struct wp_sync_plan plan = plan_of(WP_METHOD_FDATASYNC, 2, 8192);

		plan.how = hows[i];
		fail_each_call(&plan, WP_SYNC_FILL_ZERO);
		plan.writes_per_op = 1;
		plan.offsets = WP_SYNC_FRESH;
		fail_each_call(&plan, WP_SYNC_FILL_ALLOCATE);
		plan.method = WP_METHOD_FSYNC;
		fail_each_call(&plan, WP_SYNC_FILL_SPARSE);
	}
}

static void a_failed_sync_ends_the_loop_and_is_never_counted(void **state)
{
	static const struct {
		enum wp_method method;
		const char *call;
		int writes;
	} cases[] = {
		{ WP_METHOD_FDATASYNC, "fdatasync", 1 },
		{ WP_METHOD_FDATASYNC, "fdatasync", 2 },
		{ WP_METHOD_FSYNC, "fsync", 1 },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		struct wp_sync_plan plan = plan_of(cases[i].method, cases[i].writes, 8192);

		wp_hist_clear(&hist);
		prepare(&plan, WP_SYNC_FILL_ZERO);
		assert_int_equal(wp_sync_file_make(&file, NULL, &err), 0);
		fake_os_arm(&recorder.fake, cases[i].call, 4, EIO);
		assert_int_equal(
			wp_sync_loop_run(&loop, WP_NS_PER_S, &hist, &done, &err), -WP_E_SYS);
		/* never a second try */
		assert_int_equal(atomic_load(&recorder.fake.calls), 4);
		assert_int_equal(done.operations, 3);
		assert_int_equal(done.syncs, 3);
		assert_int_equal(hist.count, 3);
		assert_int_equal(hist.sum_ns, done.elapsed_ns);
		assert_non_null(strstr(err.message, cases[i].call));
		assert_non_null(strstr(err.message, file.path));
		fake_os_arm(&recorder.fake, NULL, 0, 0);
		assert_int_equal(wp_sync_file_remove(&file, NULL), 0);
		wp_sync_loop_release(&loop);
		wp_sync_file_release(&file);
	}
}

static void a_short_write_is_an_error_with_its_bytes(void **state)
{
	struct wp_sync_plan plan = plan_of(WP_METHOD_FDATASYNC, 1, 8192);

	(void)state;
	prepare(&plan, WP_SYNC_FILL_ZERO);
	assert_int_equal(wp_sync_file_make(&file, NULL, &err), 0);
	recorder.fake.is_short_write = true;
	fake_os_arm(&recorder.fake, "pwrite", 3, EIO);
	assert_int_equal(wp_sync_loop_run(&loop, WP_NS_PER_S, &hist, &done, &err), -WP_E_SYS);
	assert_int_equal(done.operations, 2);
	assert_non_null(strstr(err.message, "wrote only 4096 of 8192 bytes"));
	assert_non_null(strstr(err.message, file.path));
	assert_int_equal(atomic_load(&recorder.fake.open_count), 0);
}

static void no_space_says_what_was_needed_and_what_is_free(void **state)
{
	struct wp_sync_plan plan = plan_of(WP_METHOD_FDATASYNC, 1, 8192);

	(void)state;
	prepare(&plan, WP_SYNC_FILL_ZERO);
	fake_os_arm(&recorder.fake, "pwrite", 1, ENOSPC);
	assert_int_equal(wp_sync_loop_run(&loop, 1, &hist, &done, &err), -WP_E_NOSPACE);
	assert_non_null(strstr(err.message, "No space left on device"));
	assert_non_null(strstr(err.detail, "262144 bytes"));
	assert_non_null(strstr(err.detail, "free"));
	assert_int_equal(scratch_dir_count(dir), 0);
}

static void a_signal_ends_the_loop_with_what_was_done(void **state)
{
	struct wp_sync_plan plan = plan_of(WP_METHOD_FDATASYNC, 1, 8192);

	(void)state;
	prepare(&plan, WP_SYNC_FILL_ZERO);
	assert_int_equal(wp_sync_file_make(&file, NULL, &err), 0);
	recorder.syncs = 0;
	recorder.stop_at_sync = 5;
	assert_int_equal(wp_sync_loop_run(&loop, WP_NS_PER_S, &hist, &done, &err), -WP_E_STOPPED);
	assert_int_equal(done.operations, 5);
	assert_int_equal(hist.count, 5);
	assert_int_equal(atomic_load(&recorder.fake.open_count), 0);
}

static void a_sync_broken_by_the_signal_is_a_stop_and_not_counted(void **state)
{
	struct wp_sync_plan plan = plan_of(WP_METHOD_FDATASYNC, 1, 8192);

	(void)state;
	prepare(&plan, WP_SYNC_FILL_ZERO);
	assert_int_equal(wp_sync_file_make(&file, NULL, &err), 0);
	recorder.syncs = 0;
	recorder.stop_at_sync = 3;
	fake_os_arm(&recorder.fake, "fdatasync", 3, EINTR);
	assert_int_equal(wp_sync_loop_run(&loop, WP_NS_PER_S, &hist, &done, &err), -WP_E_STOPPED);
	assert_int_equal(done.operations, 2);
}

static void what_the_system_lacks_is_unsupported_with_the_reason(void **state)
{
	static const struct {
		enum wp_sync_how how;
		enum wp_sync_fill fill;
		bool is_direct;
		const char *call;
		int64_t n;
		int fail_errno;
		int code;
		const char *reason;
	} cases[] = {
		/* open 1 makes the file, 2 is the directory, 3 the loop's own */
		{ WP_SYNC_BY_METHOD, WP_SYNC_FILL_ZERO, true, "open", 3, EINVAL, -WP_E_UNSUPPORTED,
			"O_DIRECT refused: EINVAL" },
		{ WP_SYNC_BY_METHOD, WP_SYNC_FILL_ZERO, true, "open", 3, EACCES, -WP_E_SYS,
			"could not open" },
		{ WP_SYNC_BY_METHOD, WP_SYNC_FILL_ZERO, false, "open", 3, EINVAL, -WP_E_SYS,
			"could not open" },
		{ WP_SYNC_BY_METHOD, WP_SYNC_FILL_SPARSE, true, "pwrite", 2, EINVAL,
			-WP_E_UNSUPPORTED, "O_DIRECT write of 8192 bytes refused: EINVAL" },
		{ WP_SYNC_BY_METHOD, WP_SYNC_FILL_SPARSE, false, "pwrite", 2, EINVAL, -WP_E_SYS,
			"could not write to" },
		{ WP_SYNC_BY_METHOD, WP_SYNC_FILL_ZERO, true, "fdatasync", 1, EINVAL, -WP_E_SYS,
			"could not fdatasync" },
		{ WP_SYNC_BY_RWF_DSYNC, WP_SYNC_FILL_ZERO, false, "pwritev2", 1, EOPNOTSUPP,
			-WP_E_UNSUPPORTED, "RWF_DSYNC refused: EOPNOTSUPP" },
		{ WP_SYNC_BY_RWF_DSYNC, WP_SYNC_FILL_ZERO, false, "pwritev2", 1, ENOSYS,
			-WP_E_UNSUPPORTED, "RWF_DSYNC refused: ENOSYS" },
		{ WP_SYNC_BY_RWF_DSYNC, WP_SYNC_FILL_ZERO, false, "pwritev2", 1, EIO, -WP_E_SYS,
			"could not write to" },
		{ WP_SYNC_BY_METHOD, WP_SYNC_FILL_ALLOCATE, false, "fallocate", 1, EOPNOTSUPP,
			-WP_E_UNSUPPORTED, "fallocate refused: EOPNOTSUPP" },
		{ WP_SYNC_BY_METHOD, WP_SYNC_FILL_ALLOCATE, false, "fallocate", 1, ENOSPC,
			-WP_E_NOSPACE, "could not allocate" },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		struct wp_sync_plan plan = plan_of(WP_METHOD_FDATASYNC, 1, 8192);

		plan.how = cases[i].how;
		plan.is_direct = cases[i].is_direct;
		prepare(&plan, cases[i].fill);
		fake_os_arm(&recorder.fake, cases[i].call, cases[i].n, cases[i].fail_errno);
		assert_int_equal(wp_sync_loop_try(&loop, &err), cases[i].code);
		assert_non_null(strstr(err.message, cases[i].reason));
		fake_os_arm(&recorder.fake, NULL, 0, 0);
		assert_int_equal(wp_sync_file_remove(&file, NULL), 0);
		assert_int_equal(atomic_load(&recorder.fake.open_count), 0);
		assert_int_equal(scratch_dir_count(dir), 0);
		wp_sync_loop_release(&loop);
		wp_sync_file_release(&file);
	}
}

static void a_try_leaves_the_file_and_uses_up_its_page(void **state)
{
	struct wp_sync_plan plan = plan_of(WP_METHOD_FDATASYNC, 1, 8192);

	(void)state;
	plan.offsets = WP_SYNC_FRESH;
	prepare(&plan, WP_SYNC_FILL_SPARSE);
	assert_int_equal(wp_sync_loop_try(&loop, &err), 0);
	assert_true(file.is_made);
	assert_int_equal(file.next_bytes, 8192);
	assert_int_equal(atomic_load(&recorder.fake.open_count), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(each_method_opens_and_syncs_as_postgresql_does),
		TEST(two_writes_lie_side_by_side_with_one_sync),
		TEST(sixteen_kilobytes_in_pieces_are_one_operation),
		TEST(another_descriptor_syncs_what_a_closed_one_wrote),
		TEST(rwf_dsync_uses_a_descriptor_without_sync_flags),
		TEST(unsynced_writes_are_synced_once_outside_of_the_time),
		TEST(latencies_are_exact_and_add_up_to_the_time),
		TEST(no_two_writes_carry_the_same_bytes),
		TEST(rolling_goes_through_the_file_and_starts_again),
		TEST(a_used_up_file_is_made_anew_and_not_timed),
		TEST(the_next_run_goes_on_with_fresh_pages),
		TEST(files_are_made_as_segments_are),
		TEST(an_existing_file_is_never_touched),
		TEST(every_failing_call_names_the_file_and_leaves_nothing),
		TEST(a_failed_sync_ends_the_loop_and_is_never_counted),
		TEST(a_short_write_is_an_error_with_its_bytes),
		TEST(no_space_says_what_was_needed_and_what_is_free),
		TEST(a_signal_ends_the_loop_with_what_was_done),
		TEST(a_sync_broken_by_the_signal_is_a_stop_and_not_counted),
		TEST(what_the_system_lacks_is_unsupported_with_the_reason),
		TEST(a_try_leaves_the_file_and_uses_up_its_page),
	};

	return cmocka_run_group_tests_name("sync_loop", tests, NULL, NULL);
}
