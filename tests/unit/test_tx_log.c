/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"

#include "fake_os.h"
#include "pg/timer_heap.h"
#include "pg/tx_log.h"

#define WALL INT64_C(1796073731705980123)

static const struct wp_loop_log plain = { .prefix = "x" };
static const struct wp_tx_log_form bare = { .has_lag = false };

static const char *line(const struct wp_loop_log *options, const struct wp_tx_log_form *form,
	const struct wp_tx_entry *entry)
{
	static char text[256];
	size_t length = wp_tx_log_line(options, form, entry, WALL, text, sizeof(text));

	assert_int_equal(length, strlen(text));
	return text;
}

static void a_line_is_pgbenchs(void **state)
{
	const struct wp_tx_entry entry = { .client = 3,
		.number = 7,
		.script = 1,
		.latency_ns = 9102499,
		.lag_ns = 1500,
		.retries = 2 };
	const struct wp_tx_log_form with_lag = { .has_lag = true };
	const struct wp_tx_log_form with_all = { .has_lag = true, .has_retries = true };

	(void)state;
	assert_string_equal(line(&plain, &bare, &entry), "3 7 9102 1 1796073731 705980\n");
	assert_string_equal(line(&plain, &with_lag, &entry), "3 7 9102 1 1796073731 705980 2\n");
	assert_string_equal(line(&plain, &with_all, &entry), "3 7 9102 1 1796073731 705980 2 2\n");
}

static void what_was_not_done_says_so_in_place_of_its_time(void **state)
{
	const struct wp_loop_log detailed = { .prefix = "x", .is_detailed = true };
	struct wp_tx_entry entry = { .is_skipped = true };

	(void)state;
	assert_string_equal(line(&plain, &bare, &entry), "0 0 skipped 0 1796073731 705980\n");
	entry = (struct wp_tx_entry){ .is_serialization = true };
	assert_string_equal(line(&plain, &bare, &entry), "0 0 failed 0 1796073731 705980\n");
	assert_string_equal(
		line(&detailed, &bare, &entry), "0 0 serialization 0 1796073731 705980\n");
	entry = (struct wp_tx_entry){ .is_deadlock = true };
	assert_string_equal(line(&detailed, &bare, &entry), "0 0 deadlock 0 1796073731 705980\n");
}

static void an_interval_has_fifteen_fields(void **state)
{
	const struct wp_tx_log_form form = { .has_lag = true, .has_retries = true };
	const struct wp_tx_entry entries[] = {
		{ .latency_ns = 2000, .lag_ns = 1000 },
		{ .latency_ns = 4000, .lag_ns = 3000, .retries = 2 },
		{ .is_skipped = true },
		{ .is_deadlock = true, .latency_ns = 99000 },
	};
	struct wp_tx_sums sums = { .start_s = 1796073731 };
	char text[256];

	(void)state;
	for (size_t i = 0; i < WP_COUNT(entries); i++)
		wp_tx_sums_add(&sums, &form, &entries[i]);
	(void)wp_tx_sums_line(&sums, text, sizeof(text));
	assert_string_equal(text, "1796073731 2 6 20 2 4 4 10 1 3 1 1 2 0 1\n");
}

static void a_log_that_cannot_be_written_is_an_error_at_its_end(void **state)
{
	const char *dir = scratch_dir();
	struct wp_tx_entry entry = { .client = 1 };
	struct wp_loop_log options = { .prefix = NULL };
	struct wp_random random;
	struct wp_tx_log *log;
	struct fake_os fake;
	struct wp_err err = { 0 };
	char prefix[512];

	(void)state;
	(void)snprintf(prefix, sizeof(prefix), "%s/log", dir);
	options.prefix = prefix;
	wp_random_init(&random, 1);
	fake_os_init(&fake);
	log = wp_tx_log_open(&fake.os, &options, &bare, 1, &err);
	assert_non_null(log);
	wp_tx_log_add(log, &entry, &random);
	fake_os_arm(&fake, "pwrite", 1, ENOSPC);
	assert_int_equal(wp_tx_log_close(log, &err), -WP_E_NOSPACE);
	assert_non_null(strstr(err.message, prefix));
	assert_int_equal(atomic_load(&fake.open_count), 0);
	fake_os_arm(&fake, "open", 1, EACCES);
	assert_null(wp_tx_log_open(&fake.os, &options, &bare, 1, &err));
	assert_int_equal(err.code, WP_E_SYS);
	scratch_dir_remove(dir);
}

static void timers_come_back_in_the_order_of_their_times(void **state)
{
	static const int64_t times[] = { 50, 10, 40, 10, 30, 20, 60 };
	struct wp_timer_heap heap;
	int64_t last = 0;
	int owners[WP_COUNT(times)];

	(void)state;
	wp_timer_heap_init(&heap, WP_COUNT(times));
	assert_true(wp_timer_heap_next_ns(&heap) == INT64_MAX);
	assert_null(wp_timer_heap_take(&heap));
	for (size_t i = 0; i < WP_COUNT(times); i++)
		wp_timer_heap_add(&heap, times[i], &owners[i]);
	for (size_t i = 0; i < WP_COUNT(times); i++) {
		int64_t next = wp_timer_heap_next_ns(&heap);
		const int *owner = wp_timer_heap_take(&heap);

		assert_true(next >= last);
		assert_int_equal(times[owner - owners], next);
		last = next;
	}
	assert_null(wp_timer_heap_take(&heap));
	wp_timer_heap_release(&heap);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_is_pgbenchs),
		cmocka_unit_test(what_was_not_done_says_so_in_place_of_its_time),
		cmocka_unit_test(an_interval_has_fifteen_fields),
		cmocka_unit_test(a_log_that_cannot_be_written_is_an_error_at_its_end),
		cmocka_unit_test(timers_come_back_in_the_order_of_their_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
