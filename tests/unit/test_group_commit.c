/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "fake_os.h"
#include "wal_reader.h"
#include "walprobe/mem.h"
#include "walprobe/stop.h"
#include "walprobe/wal_load.h"
#include "watch_os.h"

#define MB (INT64_C(1) << 20)

static struct watch_os watch;
static const char *dir;

static int set_up(void **state)
{
	(void)state;
	watch_os_init(&watch);
	atomic_store(&watch.is_recording, false);
	dir = scratch_dir();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scratch_dir_remove(dir);
	watch_os_release(&watch);
	return 0;
}

static struct wp_wal_config standard(void)
{
	struct wp_wal_config config = { .dir = dir,
		.era = wp_era_find("15"),
		.segment_bytes = MB,
		.segments = 3,
		.recycle = WP_RECYCLE_RENAME,
		.seed = 42 };

	return config;
}

static struct wp_wal *new_wal(const struct wp_os *os, const struct wp_wal_config *config)
{
	struct wp_wal *wal = NULL;

	assert_int_equal(wp_wal_new(os, config, &wal, NULL), 0);
	return wal;
}

static struct wp_wal_load plain_load(int64_t clients)
{
	struct wp_wal_load load = {
		.method = WP_METHOD_FDATASYNC, .clients = clients, .record_bytes = 412
	};

	return load;
}

/* One run with histograms of its own. */
static int run_once(struct wp_wal *wal, const struct wp_wal_load *load, int64_t least_ns,
	struct wp_wal_figures *figures, struct wp_err *err)
{
	struct wp_hist hist = { 0 };
	struct wp_hist switches = { 0 };
	int rc;

	wp_hist_init(&hist);
	wp_hist_init(&switches);
	rc = wp_wal_run(wal, load, least_ns, true, &hist, &switches, figures, err);
	if (!rc)
		assert_int_equal(hist.count, figures->commits);
	wp_hist_release(&hist);
	wp_hist_release(&switches);
	return rc;
}

/* ---- positions and pages, one thread ------------------------------------------------------------ */

static void commit_one(struct wp_wal *wal, struct wp_wal_backend *backend, int64_t bytes)
{
	uint64_t lsn;

	assert_int_equal(wp_wal_insert(wal, backend, bytes, &lsn), 0);
	assert_int_equal(wp_wal_flush(wal, backend, lsn), 0);
	assert_int_equal(wp_wal_flushed(wal), lsn);
}

static void every_flush_starts_at_the_old_tail_page(void **state)
{
	struct wp_wal_config config = standard();
	struct wp_wal *wal = new_wal(&watch.os, &config);
	struct wp_wal_backend backend;
	uint64_t old;

	(void)state;
	wp_wal_backend_init(&backend, wal, 1, 412);
	commit_one(wal, &backend, 412);
	atomic_store(&watch.is_recording, true);
	for (int i = 0; i < 500; i++) {
		char *wanted;
		uint64_t page;

		old = wp_wal_written(wal);
		watch_os_clear(&watch);
		commit_one(wal, &backend, 412);
		page = old - old % 8192;
		wanted = wp_xasprintf("pwrite %" PRIu64 " at %" PRIu64 "\nfdatasync\n",
			(wp_wal_written(wal) + 8191) / 8192 * 8192 - page, page % (uint64_t)MB);
		assert_string_equal(watch.calls, wanted);
		free(wanted);
	}
	wp_wal_backend_release(&backend, wal);
	wp_wal_free(wal);
}

static void mean_bytes_and_two_page_writes_follow_the_size_law(void **state)
{
	struct wp_wal_config config = standard();
	struct wp_wal *wal = new_wal(&watch.os, &config);
	struct wp_wal_backend backend;
	uint64_t start = wp_wal_inserted(wal);
	uint64_t inserted;

	(void)state;
	wp_wal_backend_init(&backend, wal, 1, 412);
	for (int i = 0; i < 2000; i++)
		commit_one(wal, &backend, 412);
	inserted = wp_wal_inserted(wal) - start;
	assert_in_range(inserted, 2000 * 412 - 64, 2000 * 412 + 64);
	/* One page each, and one more for each page begun: 412 / 8192 = 5 % write two. */
	assert_int_equal(wp_wal_counts_of(wal).writes, 2000);
	assert_in_range(wp_wal_counts_of(wal).written_bytes / 8192, 2000 + inserted / 8192 - 1,
		2000 + inserted / 8192);
	assert_int_equal(wp_wal_counts_of(wal).syncs, 2000);
	wp_wal_backend_release(&backend, wal);
	wp_wal_free(wal);
}

static unsigned char *read_file(const char *name, size_t size)
{
	char *path = wp_xasprintf("%s/pg_wal/%s", dir, name);
	unsigned char *bytes = wp_xcalloc(size, 1);
	int fd = wp_os_open(wp_os_linux(), path, O_RDONLY, 0);

	assert_true(fd >= 0);
	assert_int_equal(wp_os_pread(wp_os_linux(), fd, bytes, size, 0), size);
	(void)wp_os_close(wp_os_linux(), fd);
	free(path);
	return bytes;
}

static void what_is_written_reads_back_over_pages_and_segments(void **state)
{
	static const int64_t sizes[] = { 40, 72, 412, 260, 8412, 70000, 300000 };
	struct wp_wal_config config = standard();
	struct wp_wal *wal = new_wal(&watch.os, &config);
	struct wp_wal_backend backend;
	unsigned char *stream;
	unsigned char *second;
	struct wal_walk walk;
	int commits = 0;

	(void)state;
	wp_wal_backend_init(&backend, wal, 1, 300000);
	while (wp_wal_inserted(wal) < 2 * (uint64_t)MB + 300000)
		commit_one(wal, &backend, sizes[commits++ % (int)WP_COUNT(sizes)]);
	stream = read_file("000000010000000000000001", (size_t)MB);
	second = read_file("000000010000000000000002", (size_t)MB);
	stream = wp_xreallocarray(stream, 2 * (size_t)MB, 1);
	memcpy(stream + MB, second, (size_t)MB);
	walk = wal_walk(stream, 2 * (size_t)MB, (uint64_t)MB, MB);
	assert_string_equal(walk.problem, "end");
	assert_int_equal(walk.commits, commits);
	assert_int_equal(walk.end, wp_wal_inserted(wal));
	for (uint64_t at = walk.end; at % 8192; at++)
		assert_int_equal(stream[at - (uint64_t)MB], 0);
	free(second);
	free(stream);
	wp_wal_backend_release(&backend, wal);
	wp_wal_free(wal);
}

static void a_segment_end_is_synced_at_once_and_the_next_is_created_under_the_lock(void **state)
{
	struct wp_wal_config config = standard();
	struct wp_wal *wal = new_wal(&watch.os, &config);
	struct wp_wal_backend backend;

	(void)state;
	config.is_sparse = true;
	wp_wal_backend_init(&backend, wal, 1, 9000);
	wp_wal_segments(wal)->is_sparse = true;
	assert_int_equal(wp_wal_attach(wal, &backend), 0);
	wp_wal_jump(wal, 2 * (uint64_t)MB - 8192);
	atomic_store(&watch.is_recording, true);
	commit_one(wal, &backend, 9000);
	atomic_store(&watch.is_recording, false);
	assert_ptr_equal(
		strstr(watch.calls,
			"pwrite 8192 at 1040384\nfdatasync\nclose\n"
			"open 000000010000000000000002 rw ENOENT\nunlink xlogtemp.1 ENOENT\n"
			"open xlogtemp.1 rw+creat+excl ok\npwrite 1 at 1048575\n"),
		watch.calls);
	assert_non_null(strstr(
		watch.calls, "open 000000010000000000000002 rw ok\npwrite 8192 at 0\nfdatasync\n"));
	assert_int_equal(wp_wal_counts_of(wal).segment_ends, 1);
	assert_int_equal(wp_wal_switches(wal)->count, 1);
	wp_wal_backend_release(&backend, wal);
	wp_wal_free(wal);
}

static void open_methods_write_without_a_sync_call(void **state)
{
	struct wp_wal_config config = standard();
	struct wp_wal *wal = new_wal(&watch.os, &config);
	struct wp_wal_backend backend;

	(void)state;
	wp_wal_set_method(wal, WP_METHOD_OPEN_DATASYNC, 0, 0);
	wp_wal_backend_init(&backend, wal, 1, 412);
	commit_one(wal, &backend, 412);
	atomic_store(&watch.is_recording, true);
	commit_one(wal, &backend, 412);
	assert_string_equal(watch.calls, "pwrite 8192 at 0\n");
	assert_int_equal(wp_wal_counts_of(wal).syncs, 2);
	wp_wal_backend_release(&backend, wal);
	wp_wal_free(wal);
}

static void version_7_1_writes_one_page_at_a_time(void **state)
{
	struct wp_wal_config config = standard();
	struct wp_wal *wal;
	struct wp_wal_backend backend;

	(void)state;
	config.era = wp_era_find("7.1");
	wal = new_wal(&watch.os, &config);
	wp_wal_backend_init(&backend, wal, 1, 20000);
	assert_int_equal(wp_wal_attach(wal, &backend), 0);
	atomic_store(&watch.is_recording, true);
	commit_one(wal, &backend, 20000);
	assert_string_equal(watch.calls,
		"pwrite 8192 at 0\npwrite 8192 at 8192\npwrite 8192 at 16384\nfdatasync\n");
	wp_wal_backend_release(&backend, wal);
	wp_wal_free(wal);
}

static void a_full_ring_is_written_by_the_inserter_without_a_sync(void **state)
{
	struct wp_wal_config config = standard();
	struct wp_wal *wal;
	struct wp_wal_backend backend;
	uint64_t lsn;

	(void)state;
	config.segment_bytes = 64 * MB;
	config.is_sparse = true;
	wal = new_wal(&watch.os, &config);
	wp_wal_backend_init(&backend, wal, 1, 17 * MB);
	assert_int_equal(wp_wal_insert(wal, &backend, 17 * MB, &lsn), 0);
	assert_true(wp_wal_counts_of(wal).buffers_full >= 128);
	assert_int_equal(wp_wal_counts_of(wal).syncs, 0);
	assert_true(wp_wal_written(wal) >= lsn - 16 * (uint64_t)MB);
	assert_int_equal(wp_wal_flush(wal, &backend, lsn), 0);
	assert_int_equal(wp_wal_counts_of(wal).syncs, 1);
	wp_wal_backend_release(&backend, wal);
	wp_wal_free(wal);
}

static void checkpoints_keep_the_ring_at_its_size(void **state)
{
	struct wp_wal_config config = standard();
	struct wp_wal *wal = new_wal(&watch.os, &config);
	struct wp_wal_backend backend;

	(void)state;
	wp_wal_backend_init(&backend, wal, 1, 100000);
	for (int i = 0; i < 100; i++) {
		commit_one(wal, &backend, 100000);
		assert_int_equal(wp_wal_checkpoint(wal, NULL), 0);
	}
	/* archive_status is the fourth entry. */
	assert_true(scratch_dir_count(wp_wal_config_of(wal)->dir) <= 4);
	assert_true(atomic_load(&wp_wal_segments(wal)->recycled) >= 7);
	assert_true(atomic_load(&wp_wal_segments(wal)->created) <= 3);
	wp_wal_backend_release(&backend, wal);
	wp_wal_free(wal);
}

static void the_walwriter_writes_whole_pages_and_syncs_for_time_or_1_mb(void **state)
{
	struct wp_wal_config config = standard();
	struct wp_wal *wal = new_wal(&watch.os, &config);
	struct wp_wal_backend backend;
	int64_t last_sync_ns;
	uint64_t lsn;

	(void)state;
	wp_wal_backend_init(&backend, wal, 1, 2 * MB);
	assert_int_equal(wp_wal_insert(wal, &backend, 20000, &lsn), 0);
	last_sync_ns = wp_os_now_ns(&watch.os) + 3600 * WP_NS_PER_S; /* not yet due for long */
	assert_int_equal(wp_wal_background_flush(wal, &backend, &last_sync_ns), 0);
	assert_int_equal(wp_wal_written(wal), (uint64_t)MB + 16384);
	assert_int_equal(wp_wal_flushed(wal), (uint64_t)MB);
	assert_int_equal(wp_wal_counts_of(wal).syncs, 0);
	assert_int_equal(wp_wal_insert(wal, &backend, MB / 2, &lsn), 0);
	assert_int_equal(wp_wal_insert(wal, &backend, MB / 2 - 24000, &lsn), 0);
	assert_int_equal(wp_wal_background_flush(wal, &backend, &last_sync_ns), 0);
	assert_int_equal(wp_wal_counts_of(wal).syncs, 0);
	last_sync_ns = 1; /* long ago */
	assert_int_equal(wp_wal_insert(wal, &backend, 8192, &lsn), 0);
	assert_int_equal(wp_wal_background_flush(wal, &backend, &last_sync_ns), 0);
	assert_true(wp_wal_counts_of(wal).syncs >= 1);
	assert_true(last_sync_ns > 1);
	/* Nothing but the partial page is left: it goes out too. */
	last_sync_ns = 1;
	assert_int_equal(wp_wal_background_flush(wal, &backend, &last_sync_ns), 0);
	assert_int_equal(wp_wal_flushed(wal), lsn);
	wp_wal_backend_release(&backend, wal);
	wp_wal_free(wal);
}

/* ---- many threads ------------------------------------------------------------------------------- */

/* Groups are counted, not timed: the planted 2 ms only make sure that all others have arrived. */
static void commits_per_sync_are_1_1_2_4_at_1_2_4_8_clients(void **state)
{
	static const struct {
		int64_t clients;
		double wanted;
	} cases[] = { { 1, 1.0 }, { 2, 1.0 }, { 4, 2.0 }, { 8, 4.0 } };
	struct wp_wal_config config = standard();
	struct wp_wal *wal;

	(void)state;
	config.segment_bytes = 16 * MB;
	config.is_sparse = true;
	watch.flush_sleep_ns = 2 * WP_NS_PER_MS;
	wal = new_wal(&watch.os, &config);
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		struct wp_wal_load load = plain_load(cases[i].clients);
		struct wp_wal_figures figures;
		double ratio;

		assert_int_equal(run_once(wal, &load, 300 * WP_NS_PER_MS, &figures, NULL), 0);
		ratio = (double)figures.commits / (double)figures.counts.syncs;
		if (ratio < cases[i].wanted * 0.85 || ratio > cases[i].wanted * 1.15)
			fail_msg("%" PRId64 " clients: %.3f commits per sync", cases[i].clients,
				ratio);
	}
	wp_wal_free(wal);
}

static void commit_delay_gathers_all_clients_when_enough_are_active(void **state)
{
	struct wp_wal_config config = standard();
	struct wp_wal_load load = plain_load(8);
	struct wp_wal_figures figures;
	struct wp_wal *wal;

	(void)state;
	config.segment_bytes = 16 * MB;
	config.is_sparse = true;
	watch.flush_sleep_ns = 2 * WP_NS_PER_MS;
	wal = new_wal(&watch.os, &config);
	load.commit_delay_ns = 2 * WP_NS_PER_MS;
	load.commit_siblings = 5;
	assert_int_equal(run_once(wal, &load, 300 * WP_NS_PER_MS, &figures, NULL), 0);
	assert_true((double)figures.commits / (double)figures.counts.syncs > 6.0);
	load.commit_siblings = 8;
	assert_int_equal(run_once(wal, &load, 300 * WP_NS_PER_MS, &figures, NULL), 0);
	assert_true((double)figures.commits / (double)figures.counts.syncs < 5.0);
	wp_wal_free(wal);
}

static void after_a_failed_sync_nothing_is_acknowledged(void **state)
{
	struct wp_wal_config config = standard();
	struct wp_wal_load load = plain_load(8);
	struct wp_wal_figures figures;
	struct wp_err err = { 0 };
	struct wp_wal *wal = new_wal(&watch.os, &config);
	uint64_t flushed;

	(void)state;
	atomic_store(&watch.fail_sync_at, 20);
	assert_int_equal(run_once(wal, &load, 3600 * WP_NS_PER_S, &figures, &err), -WP_E_SYS);
	assert_int_equal(err.sys_errno, EIO);
	assert_non_null(strstr(err.message, "could not fdatasync"));
	assert_non_null(strstr(err.message, dir));
	assert_int_equal(atomic_load(&watch.syncs_after_failure), 0);
	flushed = wp_wal_flushed(wal);
	assert_true(flushed < wp_wal_inserted(wal));
	assert_int_equal(run_once(wal, &load, WP_NS_PER_MS, &figures, &err), -WP_E_SYS);
	assert_int_equal(wp_wal_flushed(wal), flushed);
	assert_int_equal(atomic_load(&watch.syncs_after_failure), 0);
	wp_wal_free(wal);
}

static void recycling_goes_on_beside_commits_and_keeps_the_ring(void **state)
{
	struct wp_wal_config config = standard();
	struct wp_wal_load load = plain_load(4);
	struct wp_wal_figures lap;
	struct wp_wal_figures figures;
	struct wp_wal_figures sum = { 0 };
	struct wp_hist hist = { 0 };
	struct wp_hist switches = { 0 };
	struct wp_wal *wal = new_wal(&watch.os, &config);

	(void)state;
	wp_hist_init(&hist);
	wp_hist_init(&switches);
	assert_int_equal(
		wp_wal_first_lap(wal, &load, 5 * WP_NS_PER_MS, false, &hist, &switches, &lap, NULL),
		0);
	assert_int_equal(atomic_load(&wp_wal_segments(wal)->created), 3);
	assert_int_equal(lap.counts.segment_ends, 2);
	assert_int_equal(switches.count, 2);
	assert_int_equal(scratch_dir_count(wp_wal_config_of(wal)->dir), 4);
	load.record_bytes = 20000;
	while (sum.recycled < 6) {
		assert_int_equal(run_once(wal, &load, 20 * WP_NS_PER_MS, &figures, NULL), 0);
		wp_wal_figures_add(&sum, &figures);
	}
	assert_true(sum.counts.segment_ends >= 6);
	assert_true(sum.wal_bytes >= 6 * MB);
	wp_hist_release(&hist);
	wp_hist_release(&switches);
	wp_wal_free(wal);
}

static void without_recycling_segments_are_removed_and_created(void **state)
{
	struct wp_wal_config config = standard();
	struct wp_wal_load load = plain_load(2);
	struct wp_wal_figures figures;
	struct wp_wal_figures sum = { 0 };
	struct wp_wal *wal;

	(void)state;
	config.recycle = WP_RECYCLE_NONE;
	wal = new_wal(&watch.os, &config);
	load.record_bytes = 50000;
	while (sum.removed < 3) {
		assert_int_equal(run_once(wal, &load, 10 * WP_NS_PER_MS, &figures, NULL), 0);
		wp_wal_figures_add(&sum, &figures);
	}
	assert_int_equal(sum.recycled, 0);
	assert_true(sum.created >= 3);
	wp_wal_free(wal);
}

static void an_approach_puts_a_segment_end_into_the_next_run(void **state)
{
	struct wp_wal_config config = standard();
	struct wp_wal_load load = plain_load(1);
	struct wp_wal_figures figures;
	struct wp_wal *wal;

	(void)state;
	config.segment_bytes = 16 * MB;
	config.is_sparse = true;
	wal = new_wal(&watch.os, &config);
	assert_int_equal(run_once(wal, &load, 20 * WP_NS_PER_MS, &figures, NULL), 0);
	wp_wal_approach(wal, 100000);
	assert_int_equal(wp_wal_inserted(wal), 2 * 16 * (uint64_t)MB - 49152);
	wp_wal_approach(wal, 50000);
	assert_int_equal(wp_wal_inserted(wal), 2 * 16 * (uint64_t)MB - 24576);
	wp_wal_approach(wal, 100000);
	assert_int_equal(wp_wal_inserted(wal), 2 * 16 * (uint64_t)MB - 24576);
	wp_wal_free(wal);
}

static void asynchronous_commits_leave_syncing_to_the_walwriter(void **state)
{
	struct wp_wal_config config = standard();
	struct wp_wal_load load = plain_load(2);
	struct wp_wal_figures figures;
	struct wp_wal *wal = new_wal(&watch.os, &config);

	(void)state;
	load.is_async = true;
	load.think_ns = 50 * WP_NS_PER_US;
	assert_int_equal(run_once(wal, &load, 50 * WP_NS_PER_MS, &figures, NULL), 0);
	assert_true(figures.commits > 0);
	assert_true(figures.counts.syncs * 4 < figures.commits);
	assert_int_equal(wp_wal_flushed(wal), wp_wal_inserted(wal));
	wp_wal_free(wal);
}

static void page_images_lengthen_the_first_transactions_after_a_checkpoint(void **state)
{
	struct wp_wal_config config = standard();
	struct wp_wal_load load = plain_load(2);
	struct wp_wal_figures figures;
	struct wp_wal *wal = new_wal(&watch.os, &config);

	(void)state;
	load.image_pages = 1000000;
	assert_int_equal(run_once(wal, &load, 20 * WP_NS_PER_MS, &figures, NULL), 0);
	assert_true(figures.wal_bytes / figures.commits > 7800);
	assert_true(figures.wal_bytes / figures.commits < 8600);
	wp_wal_free(wal);
}

static void a_signal_ends_a_run_of_a_thousand_clients(void **state)
{
	struct wp_wal_config config = standard();
	struct wp_wal_load load = plain_load(1000);
	struct wp_wal_figures figures;
	struct wp_err err = { 0 };
	struct wp_wal *wal = new_wal(&watch.os, &config);

	(void)state;
	wp_stop_raise(2);
	assert_int_equal(run_once(wal, &load, 3600 * WP_NS_PER_S, &figures, &err), -WP_E_STOPPED);
	wp_stop_reset();
	assert_int_equal(run_once(wal, &load, WP_NS_PER_MS, &figures, &err), 0);
	wp_wal_free(wal);
}

/* One short run with call n failing; true when nothing failed any more. */
static bool fails_cleanly(int64_t n)
{
	struct wp_wal_config config = standard();
	struct wp_wal_load load = plain_load(2);
	struct wp_wal_figures figures;
	struct wp_wal *wal = NULL;
	struct wp_err err = { 0 };
	struct fake_os fake;
	int rc;

	config.is_sparse = true;
	load.record_bytes = 30000;
	fake_os_init(&fake);
	fake_os_arm(&fake, NULL, n, EIO);
	rc = wp_wal_new(&fake.os, &config, &wal, &err);
	/* Long enough for a few segments, so that recycling is among the calls. */
	for (int i = 0; !rc && i < 3; i++)
		rc = run_once(wal, &load, WP_NS_PER_MS, &figures, &err);
	wp_wal_free(wal);
	assert_int_equal(atomic_load(&fake.open_count), 0);
	if (rc) {
		assert_int_equal(err.sys_errno, EIO);
		assert_non_null(strstr(err.message, dir));
	}
	scratch_dir_remove(dir);
	assert_int_equal(wp_os_mkdir(wp_os_linux(), dir, 0700), 0);
	return atomic_load(&fake.failures) == 0;
}

static void whichever_call_fails_all_threads_end_and_the_message_names_the_file(void **state)
{
	(void)state;
	/* Runs differ in length from machine to machine; the first calls are what matters. */
	for (int64_t n = 1; n < 250 && !fails_cleanly(n); n++)
		;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)
		IN_DIR(every_flush_starts_at_the_old_tail_page),
		IN_DIR(mean_bytes_and_two_page_writes_follow_the_size_law),
		IN_DIR(what_is_written_reads_back_over_pages_and_segments),
		IN_DIR(a_segment_end_is_synced_at_once_and_the_next_is_created_under_the_lock),
		IN_DIR(open_methods_write_without_a_sync_call),
		IN_DIR(version_7_1_writes_one_page_at_a_time),
		IN_DIR(a_full_ring_is_written_by_the_inserter_without_a_sync),
		IN_DIR(checkpoints_keep_the_ring_at_its_size),
		IN_DIR(the_walwriter_writes_whole_pages_and_syncs_for_time_or_1_mb),
		IN_DIR(commits_per_sync_are_1_1_2_4_at_1_2_4_8_clients),
		IN_DIR(commit_delay_gathers_all_clients_when_enough_are_active),
		IN_DIR(after_a_failed_sync_nothing_is_acknowledged),
		IN_DIR(recycling_goes_on_beside_commits_and_keeps_the_ring),
		IN_DIR(without_recycling_segments_are_removed_and_created),
		IN_DIR(an_approach_puts_a_segment_end_into_the_next_run),
		IN_DIR(asynchronous_commits_leave_syncing_to_the_walwriter),
		IN_DIR(page_images_lengthen_the_first_transactions_after_a_checkpoint),
		IN_DIR(a_signal_ends_a_run_of_a_thousand_clients),
		IN_DIR(whichever_call_fails_all_threads_end_and_the_message_names_the_file),
	};

	return cmocka_run_group_tests_name("group_commit", tests, NULL, NULL);
}
