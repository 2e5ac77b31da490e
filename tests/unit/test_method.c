/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "fake_os.h"
#include "walprobe/method.h"

static void open_flags_are_those_of_get_sync_bit(void **state)
{
	(void)state;
	assert_int_equal(wp_method_open_flags(WP_METHOD_FDATASYNC), 0);
	assert_int_equal(wp_method_open_flags(WP_METHOD_FSYNC), 0);
	assert_int_equal(wp_method_open_flags(WP_METHOD_FSYNC_WRITETHROUGH), 0);
	assert_int_equal(wp_method_open_flags(WP_METHOD_OPEN_DATASYNC), O_DSYNC);
	assert_int_equal(wp_method_open_flags(WP_METHOD_OPEN_SYNC), O_SYNC);
	assert_int_not_equal(O_SYNC, O_DSYNC);
}

static void each_method_makes_its_own_sync_call(void **state)
{
	static const struct {
		enum wp_method method;
		const char *call;
		int calls;
	} cases[] = {
		{ WP_METHOD_FDATASYNC, "fdatasync", 1 },
		{ WP_METHOD_FDATASYNC, "fsync", 0 },
		{ WP_METHOD_FSYNC, "fsync", 1 },
		{ WP_METHOD_FSYNC, "fdatasync", 0 },
		{ WP_METHOD_OPEN_SYNC, NULL, 0 },
		{ WP_METHOD_OPEN_DATASYNC, NULL, 0 },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		struct fake_os fake;

		fake_os_init(&fake);
		fake_os_arm(&fake, cases[i].call, 1, EIO);
		assert_int_equal(wp_method_sync(&fake.os, cases[i].method, -1),
			cases[i].calls ? -EIO : (cases[i].call ? -EBADF : 0));
		assert_int_equal(atomic_load(&fake.calls), cases[i].calls);
	}
}

static void lists_keep_their_order_and_refuse_what_they_do_not_know(void **state)
{
	static const char *const bad[] = { "", "fsync,", "fsync,fsync", "datasync", "all,fsync",
		"FSYNC", " fsync" };
	struct wp_method_set set;
	struct wp_err err;

	(void)state;
	assert_int_equal(wp_method_parse_list("fsync,open_sync", &set, &err), 0);
	assert_int_equal(set.count, 2);
	assert_int_equal(set.items[0], WP_METHOD_FSYNC);
	assert_int_equal(set.items[1], WP_METHOD_OPEN_SYNC);
	assert_int_equal(wp_method_parse_list("all", &set, &err), 0);
	assert_int_equal(set.count, WP_METHOD_COUNT);
	for (size_t i = 0; i < WP_COUNT(bad); i++) {
		set.count = 77;
		assert_int_equal(wp_method_parse_list(bad[i], &set, &err), -WP_E_USAGE);
		assert_int_equal(set.count, 77);
	}
}

static void only_writethrough_is_missing_here(void **state)
{
	const char *reason = NULL;

	(void)state;
	for (int method = 0; method < WP_METHOD_COUNT; method++)
		assert_int_equal(wp_method_is_supported((enum wp_method)method, &reason),
			method != WP_METHOD_FSYNC_WRITETHROUGH);
	assert_non_null(reason);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(open_flags_are_those_of_get_sync_bit),
		cmocka_unit_test(each_method_makes_its_own_sync_call),
		cmocka_unit_test(lists_keep_their_order_and_refuse_what_they_do_not_know),
		cmocka_unit_test(only_writethrough_is_missing_here),
	};

	return cmocka_run_group_tests_name("method", tests, NULL, NULL);
}
