/* SPDX-License-Identifier: PostgreSQL */
#include "fake_os.h"
#include "harness.h"
#include "walprobe/journal.h"
#include "walprobe/mem.h"

static const uint8_t id[WP_RUN_ID_BYTES] = { 0xab, 0xcd };

/* a witness's memory with one run in it */
struct store {
	const struct wp_os *os;
	struct wp_ledger ledger;
	struct wp_journal journal;
	struct wp_ledger_run *run;
};

static int reopen(struct store *store, const struct wp_os *os, const char *dir, struct wp_err *err)
{
	int rc;

	memset(store, 0, sizeof(*store));
	store->os = os;
	rc = wp_journal_open(&store->journal, os, dir, &store->ledger, err);
	store->run = store->ledger.count ? store->ledger.runs[0] : NULL;
	return rc;
}

static void close_store(struct store *store)
{
	wp_journal_close(&store->journal);
	wp_ledger_release(&store->ledger);
}

static void add(struct store *store, const struct wp_put *put)
{
	const char *problem = NULL;

	assert_false(put->is_full);
	if (!wp_ledger_apply(&store->ledger, put->bytes, put->used, &store->run, &problem))
		fail_msg("refused: %s", problem);
	wp_journal_add(&store->journal, put->bytes, put->used);
}

static void begin_run(struct store *store)
{
	struct wp_manifest manifest = { .page_bytes = 8192, .slots = 4, .batch = 1, .writers = 2 };
	const struct wp_cycle_start start = { .cycle = 1, .power_cycles = -1, .bases = { 0, 100 } };
	uint8_t bytes[WP_ENTRY_MAXIMUM];
	struct wp_put put = { .bytes = bytes, .size = sizeof(bytes) };

	memcpy(manifest.run, id, sizeof(id));
	(void)snprintf(manifest.machine, sizeof(manifest.machine), "m");
	(void)snprintf(manifest.path, sizeof(manifest.path), "/p");
	wp_entry_run(&put, &manifest);
	add(store, &put);
	put.used = 0;
	wp_entry_cycle(&put, id, &start, 2);
	add(store, &put);
}

static void say_acked(struct store *store, uint64_t first, uint64_t second)
{
	const uint64_t acked[] = { first, second };
	static const int64_t exposures[WP_EXPOSURES] = { 1, 2, 3 };
	uint8_t bytes[WP_ENTRY_MAXIMUM];
	struct wp_put put = { .bytes = bytes, .size = sizeof(bytes) };

	wp_entry_acked(&put, id, acked, 2, exposures, 5);
	add(store, &put);
}

static void say_segment(struct store *store, uint32_t segno, bool is_dropped)
{
	const struct wp_ledger_segment segment = { .segno = segno, .slots = 4, .cycle = 1 };
	uint8_t bytes[WP_ENTRY_MAXIMUM];
	struct wp_put put = { .bytes = bytes, .size = sizeof(bytes) };

	if (is_dropped)
		wp_entry_drop(&put, id, 0, segno);
	else
		wp_entry_segment(&put, id, &segment);
	add(store, &put);
}

static char *newest_file(const char *dir)
{
	struct wp_names names = { NULL, 0 };
	char *path;

	assert_int_equal(wp_os_list(wp_os_linux(), dir, &names), 0);
	assert_true(names.count > 0);
	path = wp_xasprintf("%s/%s", dir, names.names[names.count - 1]);
	wp_names_release(&names);
	return path;
}

static void what_was_flushed_is_known_after_a_kill(void **state)
{
	const char *dir = scratch_dir();
	struct store store;

	(void)state;
	assert_int_equal(reopen(&store, wp_os_linux(), dir, NULL), 0);
	begin_run(&store);
	say_segment(&store, 1, false);
	say_segment(&store, 2, false);
	say_segment(&store, 1, true);
	say_acked(&store, 7, 109);
	assert_int_equal(wp_journal_flush(&store.journal, NULL), 0);
	say_acked(&store, 8, 110); /* never flushed */
	close_store(&store);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(reopen(&store, wp_os_linux(), dir, NULL), 0);
		assert_non_null(store.run);
		assert_int_equal(store.run->acked[0], 7);
		assert_int_equal(store.run->acked[1], 109);
		assert_int_equal(wp_ledger_total(store.run), 16);
		assert_int_equal(store.run->segment_count, 1);
		assert_int_equal(store.run->segments[0].segno, 2);
		assert_int_equal(store.run->exposures[2], 3);
		assert_false(store.run->is_damaged);
		close_store(&store);
	}
	assert_int_equal(scratch_dir_count(dir), 1);
	scratch_dir_remove(dir);
}

static void a_torn_end_only_knows_less(void **state)
{
	const char *dir = scratch_dir();
	struct store store;
	struct stat info;
	int64_t size;

	(void)state;
	assert_int_equal(reopen(&store, wp_os_linux(), dir, NULL), 0);
	begin_run(&store);
	say_acked(&store, 5, 105);
	assert_int_equal(wp_journal_flush(&store.journal, NULL), 0);
	size = store.journal.end_bytes;
	say_acked(&store, 9, 109);
	assert_int_equal(wp_journal_flush(&store.journal, NULL), 0);
	for (int64_t cut = store.journal.end_bytes - 1; cut > size; cut -= 7) {
		char *path = newest_file(dir);
		struct wp_ledger ledger = { NULL, 0 };
		int fd = wp_os_open(wp_os_linux(), path, O_RDWR, 0);

		assert_int_equal(wp_os_ftruncate(wp_os_linux(), fd, cut), 0);
		assert_int_equal(wp_os_close(wp_os_linux(), fd), 0);
		assert_int_equal(wp_os_stat(wp_os_linux(), path, &info), 0);
		assert_int_equal(wp_journal_read(wp_os_linux(), dir, &ledger, NULL), 0);
		assert_int_equal(ledger.runs[0]->acked[0], 5);
		assert_false(ledger.runs[0]->is_damaged);
		wp_ledger_release(&ledger);
		free(path);
	}
	close_store(&store);
	scratch_dir_remove(dir);
}

static void damage_in_the_middle_is_not_taken_for_an_end(void **state)
{
	const char *dir = scratch_dir();
	struct store store;
	char *path;
	int fd;

	(void)state;
	assert_int_equal(reopen(&store, wp_os_linux(), dir, NULL), 0);
	begin_run(&store);
	assert_int_equal(wp_journal_flush(&store.journal, NULL), 0);
	path = newest_file(dir);
	fd = wp_os_open(wp_os_linux(), path, O_RDWR, 0);
	say_segment(&store, 1, false);
	say_acked(&store, 5, 105);
	assert_int_equal(wp_journal_flush(&store.journal, NULL), 0);
	/* The last byte of the segment's entry. */
	assert_int_equal(wp_os_pwrite(wp_os_linux(), fd, "x", 1, store.journal.end_bytes - 80), 1);
	assert_int_equal(wp_os_close(wp_os_linux(), fd), 0);
	close_store(&store);
	assert_int_equal(reopen(&store, wp_os_linux(), dir, NULL), 0);
	assert_true(store.journal.is_damaged);
	assert_true(store.run->is_damaged);
	close_store(&store);
	/* It stays known, and the damaged file is kept. */
	assert_int_equal(reopen(&store, wp_os_linux(), dir, NULL), 0);
	assert_true(store.run->is_damaged);
	close_store(&store);
	assert_int_equal(scratch_dir_count(dir), 2);
	free(path);
	scratch_dir_remove(dir);
}

static void a_full_disk_keeps_all_for_later(void **state)
{
	const char *dir = scratch_dir();
	struct fake_os fake;
	struct store store;

	(void)state;
	fake_os_init(&fake);
	assert_int_equal(reopen(&store, &fake.os, dir, NULL), 0);
	begin_run(&store);
	say_acked(&store, 5, 105);
	fake_os_arm(&fake, "pwrite", 1, ENOSPC);
	assert_int_equal(wp_journal_flush(&store.journal, NULL), -WP_E_NOSPACE);
	assert_true(store.journal.is_full);
	say_acked(&store, 6, 106);
	assert_int_equal(wp_journal_flush(&store.journal, NULL), 0);
	assert_false(store.journal.is_full);
	close_store(&store);
	assert_int_equal(reopen(&store, wp_os_linux(), dir, NULL), 0);
	assert_int_equal(store.run->acked[0], 6);
	close_store(&store);
	scratch_dir_remove(dir);
}

static void a_failed_sync_is_final(void **state)
{
	static const int errnos[] = { EIO, ENOSPC, EDQUOT };
	const char *dir = scratch_dir();
	struct fake_os fake;
	struct store store;

	(void)state;
	for (size_t i = 0; i < WP_COUNT(errnos); i++) {
		struct wp_err err = { 0 };

		fake_os_init(&fake);
		assert_int_equal(reopen(&store, &fake.os, dir, NULL), 0);
		begin_run(&store);
		fake_os_arm(&fake, "fdatasync", 1, errnos[i]);
		assert_int_equal(wp_journal_flush(&store.journal, &err), -WP_E_SYS);
		assert_non_null(strstr(err.message, "journal."));
		close_store(&store);
	}
	scratch_dir_remove(dir);
}

static void every_failing_call_of_an_opening_is_told(void **state)
{
	const char *dir = scratch_dir();
	char *path = wp_xasprintf("%s/store", dir);
	struct fake_os fake;
	struct store store;

	(void)state;
	assert_int_equal(reopen(&store, wp_os_linux(), path, NULL), 0);
	begin_run(&store);
	say_acked(&store, 5, 105);
	assert_int_equal(wp_journal_flush(&store.journal, NULL), 0);
	close_store(&store);
	for (int64_t n = 1;; n++) {
		struct wp_err err = { 0 };
		int rc;

		fake_os_init(&fake);
		fake_os_arm(&fake, NULL, n, EIO);
		rc = reopen(&store, &fake.os, path, &err);
		if (rc)
			assert_non_null(strstr(err.message, "store"));
		else
			assert_int_equal(store.run->acked[0], 5);
		close_store(&store);
		assert_int_equal(atomic_load(&fake.open_count), 0);
		/* Nothing that was known may be lost by it. */
		assert_int_equal(reopen(&store, wp_os_linux(), path, NULL), 0);
		assert_int_equal(store.run->acked[0], 5);
		close_store(&store);
		if (atomic_load(&fake.failures) == 0)
			break;
	}
	free(path);
	scratch_dir_remove(dir);
}

static void two_witnesses_do_not_share_a_store(void **state)
{
	const char *dir = scratch_dir();
	struct store store;
	struct store other;
	struct wp_err err = { 0 };

	(void)state;
	assert_int_equal(reopen(&store, wp_os_linux(), dir, NULL), 0);
	assert_int_equal(reopen(&other, wp_os_linux(), dir, &err), -WP_E_SYS);
	assert_non_null(strstr(err.message, "another witness"));
	close_store(&other);
	close_store(&store);
	scratch_dir_remove(dir);
}

static const char *refusal(struct store *store, const struct wp_put *put)
{
	const char *problem = "";

	return wp_ledger_apply(&store->ledger, put->bytes, put->used, NULL, &problem) ? NULL
										      : problem;
}

static void what_contradicts_the_run_is_refused(void **state)
{
	const char *dir = scratch_dir();
	struct wp_cycle_start start = { .cycle = 1, .instance = { 1 } };
	uint8_t bytes[WP_ENTRY_MAXIMUM];
	struct wp_put put = { .bytes = bytes, .size = sizeof(bytes) };
	static const uint8_t other[WP_RUN_ID_BYTES] = { 1 };
	struct wp_manifest manifest;
	struct store store;

	(void)state;
	assert_int_equal(reopen(&store, wp_os_linux(), dir, NULL), 0);
	begin_run(&store);
	manifest = store.run->manifest;
	wp_entry_run(&put, &manifest);
	assert_null(refusal(&store, &put));
	manifest.slots++;
	put.used = 0;
	wp_entry_run(&put, &manifest);
	assert_non_null(strstr(refusal(&store, &put), "another manifest"));
	put.used = 0;
	wp_entry_cycle(&put, id, &start, 2);
	assert_non_null(strstr(refusal(&store, &put), "another process"));
	put.used = 0;
	wp_entry_drop(&put, other, 0, 1);
	assert_non_null(strstr(refusal(&store, &put), "not known"));
	/* Cut short anywhere, nothing is taken and nothing breaks. */
	put.used = 0;
	wp_entry_run(&put, &store.run->manifest);
	for (size_t length = 0; length < put.used; length++) {
		const struct wp_put part = { .bytes = bytes, .used = length };

		assert_non_null(refusal(&store, &part));
	}
	close_store(&store);
	scratch_dir_remove(dir);
}

static void acknowledgements_never_go_back(void **state)
{
	const char *dir = scratch_dir();
	struct store store;

	(void)state;
	assert_int_equal(reopen(&store, wp_os_linux(), dir, NULL), 0);
	begin_run(&store);
	say_acked(&store, 9, 101);
	say_acked(&store, 4, 108);
	assert_int_equal(store.run->acked[0], 9);
	assert_int_equal(store.run->acked[1], 108);
	close_store(&store);
	scratch_dir_remove(dir);
}

/* One record each 100 ms for ten minutes, of writer 0. */
static void it_is_known_about_when_a_record_was_acknowledged(void **state)
{
	static const int64_t exposures[WP_EXPOSURES] = { 0 };
	const char *dir = scratch_dir();
	const int64_t step_ns = 100 * WP_NS_PER_MS;
	const uint64_t last = 6000;
	struct store store;
	uint8_t bytes[WP_ENTRY_MAXIMUM];

	(void)state;
	assert_int_equal(reopen(&store, wp_os_linux(), dir, NULL), 0);
	begin_run(&store);
	for (uint64_t i = 1; i <= last; i++) {
		struct wp_put put = { .bytes = bytes, .size = sizeof(bytes) };
		const uint64_t acked[] = { i, 100 };

		wp_entry_acked(&put, id, acked, 2, exposures, (int64_t)i * step_ns);
		add(&store, &put);
	}
	assert_int_equal(wp_journal_flush(&store.journal, NULL), 0);
	close_store(&store);
	assert_int_equal(reopen(&store, wp_os_linux(), dir, NULL), 0);
	assert_true(store.run->mark_count <= WP_MARKS);
	assert_int_equal(wp_ledger_age_ns(store.run, 0, last + 1), -1);
	assert_int_equal(wp_ledger_age_ns(store.run, 0, last), 0);
	for (uint64_t age = 1; age < 5000; age += 7) {
		int64_t told_ns = wp_ledger_age_ns(store.run, 0, last - age);

		assert_true(told_ns <= (int64_t)age * step_ns);
		assert_true(told_ns >= (int64_t)age * step_ns / 4);
	}
	close_store(&store);
	scratch_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_flushed_is_known_after_a_kill),
		cmocka_unit_test(a_torn_end_only_knows_less),
		cmocka_unit_test(damage_in_the_middle_is_not_taken_for_an_end),
		cmocka_unit_test(a_full_disk_keeps_all_for_later),
		cmocka_unit_test(a_failed_sync_is_final),
		cmocka_unit_test(every_failing_call_of_an_opening_is_told),
		cmocka_unit_test(two_witnesses_do_not_share_a_store),
		cmocka_unit_test(what_contradicts_the_run_is_refused),
		cmocka_unit_test(acknowledgements_never_go_back),
		cmocka_unit_test(it_is_known_about_when_a_record_was_acknowledged),
	};

	return cmocka_run_group_tests_name("journal", tests, NULL, NULL);
}
