/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "fake_os.h"
#include "walprobe/mem.h"
#include "walprobe/row_lock.h"
#include "walprobe/server_load.h"
#include "walprobe/stop.h"
#include "walprobe/work.h"
#include "watch_os.h"

#define MB (INT64_C(1) << 20)
#define RUN_NS (40 * WP_NS_PER_MS)

static struct watch_os watch;
static const char *dir;
static struct wp_wal *wal;

static int set_up(void **state)
{
	struct wp_wal_config config = {
		.era = wp_era_find("15"), .segment_bytes = 16 * MB, .segments = 4, .seed = 42
	};

	(void)state;
	watch_os_init(&watch);
	atomic_store(&watch.is_recording, false);
	dir = scratch_dir();
	config.dir = dir;
	assert_int_equal(wp_wal_new(&watch.os, &config, &wal, NULL), 0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	wp_wal_free(wal);
	wal = NULL;
	scratch_dir_remove(dir);
	watch_os_release(&watch);
	return 0;
}

static struct wp_server_load load_of(const char *shape, int64_t clients)
{
	struct wp_server_load load = { .shape = wp_tx_shape_find(shape),
		.method = WP_METHOD_FDATASYNC,
		.clients = clients,
		.scale = 1,
		.server_units = 700,
		.client_units = 70,
		.record_bytes = 480,
		.commit_siblings = 5,
		.seed = 7 };

	assert_non_null(load.shape);
	return load;
}

static int run(
	const struct wp_server_load *load, struct wp_server_figures *figures, struct wp_err *err)
{
	struct wp_hist hist = { 0 };
	int rc;

	wp_hist_init(&hist);
	rc = wp_server_run(wal, load, RUN_NS, &hist, figures, err);
	if (!rc)
		assert_int_equal(hist.count, figures->wal.commits);
	wp_hist_release(&hist);
	return rc;
}

/* ---- the load -------------------------------------------------------------------------------- */

static void one_client_syncs_once_for_each_transaction(void **state)
{
	struct wp_server_load load = load_of("tpcb-like", 1);
	struct wp_server_figures figures;

	(void)state;
	assert_int_equal(run(&load, &figures, NULL), 0);
	assert_true(figures.wal.commits > 0);
	assert_int_equal(figures.wal.counts.syncs, figures.wal.commits);
	assert_int_equal(figures.row_waits, 0);
	assert_true(figures.server_cpu_ns > 0);
	assert_true(figures.client_cpu_ns > 0);
	assert_true(figures.wal.counts.flush_ns > 0);
}

static void every_commit_has_its_bytes(void **state)
{
	struct wp_server_load load = load_of("simple-update", 2);
	struct wp_server_figures figures;
	int64_t wanted;

	(void)state;
	load.record_bytes = 1000;
	assert_int_equal(run(&load, &figures, NULL), 0);
	wanted = figures.wal.commits * load.record_bytes;
	assert_in_range(figures.wal.wal_bytes, wanted - 2000, wanted + 2000);
	assert_int_equal(wp_wal_flushed(wal), wp_wal_inserted(wal));
}

static void clients_of_one_branch_commit_one_after_the_other(void **state)
{
	struct wp_server_load load = load_of("tpcb-like", 4);
	struct wp_server_figures figures;

	(void)state;
	watch.flush_sleep_ns = WP_NS_PER_MS;
	assert_int_equal(run(&load, &figures, NULL), 0);
	/* The row is held across the flush, so no flush has two of them. */
	assert_int_equal(figures.wal.counts.syncs, figures.wal.commits);
	assert_true(figures.row_waits > 0);
}

static void clients_without_common_rows_share_flushes(void **state)
{
	struct wp_server_load load = load_of("commit-only", 8);
	struct wp_server_figures figures;

	(void)state;
	watch.flush_sleep_ns = WP_NS_PER_MS;
	assert_int_equal(run(&load, &figures, NULL), 0);
	assert_int_equal(figures.row_waits, 0);
	assert_true(figures.wal.commits >= 2 * figures.wal.counts.syncs);
}

static void two_clients_take_turns_with_flushes(void **state)
{
	struct wp_server_load load = load_of("commit-only", 2);
	struct wp_server_figures figures;

	(void)state;
	watch.flush_sleep_ns = WP_NS_PER_MS;
	assert_int_equal(run(&load, &figures, NULL), 0);
	assert_true(figures.wal.commits * 10 < figures.wal.counts.syncs * 15);
}

static void page_images_fade_after_the_checkpoint(void **state)
{
	struct wp_server_load load = load_of("commit-only", 1);
	struct wp_server_figures figures;

	(void)state;
	load.images = (struct wp_tx_images){ .first = 1, .pages = 5, .stretch = 1, .bytes = 8000 };
	assert_int_equal(run(&load, &figures, NULL), 0);
	/* Five on average; a hundred would be every transaction. */
	assert_in_range(
		figures.wal.wal_bytes - figures.wal.commits * load.record_bytes, 8000, 20 * 8000);
}

static void a_failed_sync_ends_the_run_with_its_error(void **state)
{
	struct wp_server_load load = load_of("tpcb-like", 4);
	struct wp_server_figures figures;
	struct wp_err err = { 0 };

	(void)state;
	atomic_store(&watch.fail_sync_at, 5);
	assert_int_equal(run(&load, &figures, &err), -WP_E_SYS);
	assert_non_null(strstr(err.message, "fdatasync"));
	/* What shared the failed flush, or came later, was not acknowledged. */
	assert_in_range(figures.wal.commits, 1, 16);
	assert_int_equal(watch.syncs_after_failure, 0);
	assert_int_equal(run(&load, &figures, &err), -WP_E_SYS);
}

static void a_signal_ends_the_run(void **state)
{
	struct wp_server_load load = load_of("tpcb-like", 2);
	struct wp_server_figures figures;
	struct wp_hist hist = { 0 };
	struct wp_err err = { 0 };

	(void)state;
	wp_hist_init(&hist);
	wp_stop_raise(2);
	assert_int_equal(wp_server_run(wal, &load, 3600 * WP_NS_PER_S, &hist, &figures, &err),
		-WP_E_STOPPED);
	wp_stop_reset();
	wp_hist_release(&hist);
}

static void every_call_that_fails_is_told(void **state)
{
	struct wp_server_load load = load_of("simple-update", 2);
	struct wp_server_figures figures;
	int64_t n = 0;

	(void)state;
	for (;;) {
		struct wp_wal_config config = {
			.era = wp_era_find("15"), .segment_bytes = MB, .segments = 4, .seed = 1
		};
		struct wp_wal *own = NULL;
		struct wp_hist hist = { 0 };
		struct wp_err err = { 0 };
		struct fake_os fake;
		int rc;

		fake_os_init(&fake);
		config.dir = scratch_dir();
		assert_int_equal(wp_wal_new(&fake.os, &config, &own, NULL), 0);
		fake_os_arm(&fake, "open", ++n, EMFILE);
		wp_hist_init(&hist);
		rc = wp_server_run(own, &load, WP_NS_PER_MS, &hist, &figures, &err);
		wp_hist_release(&hist);
		wp_wal_free(own);
		assert_int_equal(fake.open_count, 0);
		scratch_dir_remove(config.dir);
		if (!fake.failures)
			break;
		assert_int_equal(rc, -WP_E_SYS);
		assert_true(err.message[0] != '\0');
	}
	assert_true(n > 2);
}

static void shapes_add_up(void **state)
{
	static const char *const names[] = { "tpcb-like", "simple-update", "commit-only" };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(names); i++) {
		const struct wp_tx_shape *shape = wp_tx_shape_find(names[i]);
		double sum = 0;

		for (int j = 0; j < shape->statements; j++)
			sum += shape->shares[j];
		assert_true(sum > 0.999 && sum < 1.001);
		assert_true(shape->xid_statement < shape->statements);
		/* Tellers before branches: nobody waits in a circle. */
		assert_true(shape->branch_statement < 0 ||
			    shape->teller_statement < shape->branch_statement);
	}
	assert_null(wp_tx_shape_find("select-only"));
}

/* ---- rows ------------------------------------------------------------------------------------ */

struct taker {
	struct wp_row_table *table;
	struct wp_thread thread;
	struct wp_row_waiter waiter;
	int *holders;
	int most;
};

static void take_often(void *argument)
{
	struct taker *taker = argument;

	for (int i = 0; i < 2000; i++) {
		int now;

		if (!wp_row_try(taker->table, 0))
			wp_row_wait(taker->table, 0, &taker->waiter);
		now = ++*taker->holders;
		taker->most = now > taker->most ? now : taker->most;
		--*taker->holders;
		wp_row_release(taker->table, 0);
	}
}

static void a_row_has_one_holder(void **state)
{
	struct taker takers[4];
	struct wp_row_table table;
	int holders = 0;

	(void)state;
	wp_row_table_init(&table, 2);
	for (size_t i = 0; i < WP_COUNT(takers); i++) {
		takers[i] = (struct taker){ .table = &table, .holders = &holders };
		wp_row_waiter_init(&takers[i].waiter);
	}
	for (size_t i = 0; i < WP_COUNT(takers); i++)
		assert_int_equal(
			wp_thread_start(&takers[i].thread, take_often, &takers[i], 0, NULL), 0);
	for (size_t i = 0; i < WP_COUNT(takers); i++) {
		wp_thread_join(&takers[i].thread);
		assert_int_equal(takers[i].most, 1);
	}
	assert_int_equal(holders, 0);
	assert_true(wp_row_try(&table, 0));
	assert_false(wp_row_try(&table, 0));
	assert_true(wp_row_try(&table, 1));
	for (size_t i = 0; i < WP_COUNT(takers); i++)
		wp_row_waiter_release(&takers[i].waiter);
	wp_row_table_release(&table);
}

static void work_visits_all_of_its_memory(void **state)
{
	struct wp_work work;
	uint32_t start;
	int64_t steps = 0;

	(void)state;
	wp_work_init(&work, 4096, 3);
	start = work.at;
	do {
		wp_work_do(&work, 1);
		steps++;
	} while (work.at != start && steps < 1000);
	assert_int_equal(steps, 4096 / 64);
	wp_work_release(&work);
}

#define WITH_WAL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_WAL(one_client_syncs_once_for_each_transaction),
		WITH_WAL(every_commit_has_its_bytes),
		WITH_WAL(clients_of_one_branch_commit_one_after_the_other),
		WITH_WAL(clients_without_common_rows_share_flushes),
		WITH_WAL(two_clients_take_turns_with_flushes),
		WITH_WAL(page_images_fade_after_the_checkpoint),
		WITH_WAL(a_failed_sync_ends_the_run_with_its_error),
		WITH_WAL(a_signal_ends_the_run),
		cmocka_unit_test(every_call_that_fails_is_told),
		cmocka_unit_test(shapes_add_up),
		cmocka_unit_test(a_row_has_one_holder),
		cmocka_unit_test(work_visits_all_of_its_memory),
	};

	return cmocka_run_group_tests_name("server_load", tests, NULL, NULL);
}
