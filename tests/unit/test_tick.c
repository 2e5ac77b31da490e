/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "fake_os.h"
#include "walprobe/tick.h"

static void the_counter_keeps_to_the_scale_of_the_clock(void **state)
{
	const struct wp_os *os = wp_os_linux();
	struct wp_tick tick;
	int64_t end_ns;

	(void)state;
	wp_tick_init(&tick, os);
	wp_tick_start(&tick);
	end_ns = wp_os_now_ns(os) + 2 * WP_TICK_LEARN_NS;
	while (wp_os_now_ns(os) < end_ns)
		;
	wp_tick_stop(&tick);
	assert_true(wp_tick_is_learnt(&tick) || !tick.is_usable);
	for (int i = 0; i < 1000; i++) {
		int64_t before_ns = wp_os_now_ns(os);
		int64_t now_ns = wp_tick_now(&tick);
		int64_t after_ns = wp_os_now_ns(os);

		/* 1/1000 of the stretch learnt from, far more than the rate can be wrong */
		assert_true(now_ns >= before_ns - WP_TICK_LEARN_NS / 100);
		assert_true(now_ns <= after_ns + WP_TICK_LEARN_NS / 100);
	}
}

static void another_system_is_asked_for_its_own_time(void **state)
{
	struct fake_os fake;
	struct wp_tick tick;

	(void)state;
	fake_os_init(&fake);
	atomic_store(&fake.now_ns, 1);
	wp_tick_init(&tick, &fake.os);
	assert_false(tick.is_usable);
	wp_tick_start(&tick);
	(void)atomic_fetch_add(&fake.now_ns, 50 * WP_NS_PER_MS);
	wp_tick_stop(&tick);
	assert_int_equal(wp_tick_now(&tick), atomic_load(&fake.now_ns));
}

static void a_counter_that_changes_its_rate_is_used_no_more(void **state)
{
	struct fake_os fake;
	struct wp_tick tick = { .os = &fake.os, .is_usable = true, .rate_q32 = 1 };

	(void)state;
	fake_os_init(&fake);
	atomic_store(&fake.now_ns, 1);
	/* The scripted clock stands still or jumps, so its rate never fits the one "learnt". */
	wp_tick_start(&tick);
	(void)atomic_fetch_add(&fake.now_ns, 50 * WP_NS_PER_MS);
	wp_tick_stop(&tick);
	assert_false(tick.is_usable);
	assert_int_equal(wp_tick_now(&tick), atomic_load(&fake.now_ns));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_counter_keeps_to_the_scale_of_the_clock),
		cmocka_unit_test(another_system_is_asked_for_its_own_time),
		cmocka_unit_test(a_counter_that_changes_its_rate_is_used_no_more),
	};

	return cmocka_run_group_tests_name("tick", tests, NULL, NULL);
}
