/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"

#include "fake_os.h"
#include "walprobe/noise.h"

#include <math.h>

static bool is_near(double value, double expected)
{
	return fabs(value - expected) < 1e-9;
}

/* recorded on a virtual machine with two cores, Linux 6.18 */
static const char stat_text[] = "cpu  2068 7 2444 205845 788 3 42 13 5 0\n"
				"cpu0 624 0 862 104126 25 0 8 4 0 0\n"
				"cpu1 1443 0 1582 101719 763 0 34 8 0 0\n"
				"intr 184123 0 0 0 0\n"
				"ctxt 389163\n";
static const char self_text[] =
	"8007 (a) R 1 (b) R 7996 7996 4484 0 -1 4194304 101 0 0 0 11 22 33 44 20 0 1 0 105867 "
	"3133440 410 18446744073709551615 94240715431936 94240715451817 140723099272928 0 0 0";
static const char disk_text[] =
	"   67818    24897  3257298    15192    14175     7339   928536     2948        0    10336"
	"    18594     4866       13   123272      356     2331       97";
static const char disk_text_old[] = "   67818 24897 3257298 15192 14175 7339 928536 2948 0 10336 1";
static const char stall_text[] = "some avg10=12.67 avg60=5.03 avg300=1.23 total=7426555\n"
				 "full avg10=12.11 avg60=4.81 avg300=1.18 total=7092172";

static void the_line_of_all_cores_is_read(void **state)
{
	struct wp_noise_cpu cpu;

	(void)state;
	wp_noise_parse_cpu(stat_text, &cpu);
	assert_true(cpu.is_known);
	assert_int_equal(cpu.user, 2075);
	assert_int_equal(cpu.system, 2444 + 3 + 42);
	assert_int_equal(cpu.steal, 13);
	assert_int_equal(cpu.total, 2068 + 7 + 2444 + 205845 + 788 + 3 + 42 + 13);
	assert_int_equal(cpu.cores, 2);
}

static void a_name_with_parentheses_does_not_shift_the_fields(void **state)
{
	struct wp_noise_own own;

	(void)state;
	wp_noise_parse_own(self_text, &own);
	assert_true(own.is_known);
	assert_int_equal(own.user, 11 + 33);
	assert_int_equal(own.system, 22 + 44);
}

static void disks_of_every_kernel_age_are_summed(void **state)
{
	struct wp_noise_disk disk = { .is_known = true };

	(void)state;
	assert_true(wp_noise_parse_disk(disk_text, &disk));
	assert_int_equal(disk.requests, 67818 + 14175 + 4866 + 2331);
	assert_int_equal(disk.bytes, INT64_C(512) * (3257298 + 928536));
	assert_true(wp_noise_parse_disk(disk_text_old, &disk));
	assert_int_equal(disk.requests, 2 * (67818 + 14175) + 4866 + 2331);
}

static void the_some_line_of_pressure_is_read(void **state)
{
	struct wp_noise_stall stall;

	(void)state;
	wp_noise_parse_stall(stall_text, &stall);
	assert_true(stall.is_known);
	assert_int_equal(stall.total_us, 7426555);
}

static void anything_else_is_unknown(void **state)
{
	static const char *const texts[] = { "", "cpu", "cpu  1 2 3", "cpu  1 2 3 4 5 6 7 8\n",
		"some", "some avg10=1", "full avg10=0.0 total=5", "1 2 3", "1 (x", "1 (x)",
		"1 (x) R 1 2 3", "99999999999999999999 1 1 1 1 1 1 1 1 1 1", "a b c" };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(texts); i++) {
		struct wp_noise_cpu cpu;
		struct wp_noise_own own;
		struct wp_noise_stall stall;
		struct wp_noise_disk disk = { .is_known = true };

		wp_noise_parse_cpu(texts[i], &cpu);
		assert_false(cpu.is_known);
		wp_noise_parse_own(texts[i], &own);
		assert_false(own.is_known);
		wp_noise_parse_stall(texts[i], &stall);
		assert_false(stall.is_known);
		assert_false(wp_noise_parse_disk(texts[i], &disk));
		assert_int_equal(disk.requests, 0);
	}
}

static struct wp_noise_snapshot snapshot(int64_t user, int64_t system, int64_t steal, int64_t total)
{
	return (struct wp_noise_snapshot){
		.at_ns = total * 5 * WP_NS_PER_MS, /* 2 cores at 100 Hz */
		.cpu = { .is_known = true,
			.user = user,
			.system = system,
			.steal = steal,
			.total = total,
			.cores = 2 },
		.own = { .is_known = true },
		.cpu_stall = { .is_known = true },
		.io_stall = { .is_known = true },
	};
}

static void shares_come_from_the_difference_of_two_snapshots(void **state)
{
	struct wp_noise_snapshot before = snapshot(1000, 500, 10, 10000);
	struct wp_noise_snapshot after = snapshot(1120, 540, 16, 10400); /* 2 s */
	struct wp_noise noise;

	(void)state;
	after.own.user = 20;
	after.own.system = 10;
	after.cpu_stall.total_us = 500000;
	after.io_stall.total_us = 1000000;
	noise = wp_noise_between(&before, &after);
	assert_true(is_near(noise.foreign_cpu, 0.5));
	assert_true(is_near(noise.foreign_system, 0.15));
	assert_true(is_near(noise.steal, 0.015));
	assert_true(is_near(noise.cpu_stall, 0.25));
	assert_true(is_near(noise.io_stall, 0.5));
	assert_true(isnan(noise.foreign_io));
	/* More of ours than the machine's counters show, as they round differently. */
	after.own.user = 300;
	assert_true(is_near(wp_noise_between(&before, &after).foreign_cpu, 0));
}

static void a_missing_source_is_unknown_and_not_zero(void **state)
{
	struct wp_noise_snapshot before = snapshot(1000, 500, 10, 10000);
	struct wp_noise_snapshot after = snapshot(1100, 500, 10, 10400);
	struct wp_noise noise;
	char reason[64];

	(void)state;
	after.own.is_known = false;
	before.io_stall.is_known = false;
	noise = wp_noise_between(&before, &after);
	assert_true(isnan(noise.foreign_cpu));
	assert_true(isnan(noise.io_stall));
	assert_true(is_near(noise.steal, 0));
	assert_true(is_near(noise.cpu_stall, 0));
	before.cpu.is_known = false;
	noise = wp_noise_between(&before, &after);
	assert_true(isnan(noise.steal));
	assert_true(is_near(wp_noise_score(&noise, reason, sizeof(reason)), 0));
	/* Less than a tick apart: nothing can be said. */
	assert_true(isnan(wp_noise_between(&after, &after).steal));
}

static void foreign_io_is_the_rate_of_the_idle_windows(void **state)
{
	struct wp_noise_disk busy = { .is_known = true, .requests = 1000, .bytes = 8000000 };
	struct wp_noise_disk idle = { .is_known = true, .requests = 10, .bytes = 40000 };
	struct wp_noise_disk reading = { .is_known = true };
	struct wp_noise_disk unknown = { .is_known = false };

	(void)state;
	/* 20 a second beside 200 a second; bytes 1 in 20 */
	assert_true(
		is_near(wp_noise_foreign_io(&busy, 5 * WP_NS_PER_S, &idle, WP_NS_PER_S / 2), 0.10));
	idle.bytes = 400000;
	assert_true(
		is_near(wp_noise_foreign_io(&busy, 5 * WP_NS_PER_S, &idle, WP_NS_PER_S / 2), 0.50));
	idle.requests = 2;
	assert_true(
		is_near(wp_noise_foreign_io(&busy, 5 * WP_NS_PER_S, &idle, WP_NS_PER_S / 2), 0));
	assert_true(isnan(wp_noise_foreign_io(&busy, 5 * WP_NS_PER_S, &idle, 0)));
	wp_noise_disk_add(&idle, &reading, &unknown);
	assert_true(isnan(wp_noise_foreign_io(&busy, 5 * WP_NS_PER_S, &idle, 1)));
}

static void the_worst_guard_gives_the_reason(void **state)
{
	struct wp_noise noise = { .foreign_cpu = 0.25, .steal = 0.02, .foreign_io = 0.1 };
	char reason[64];

	(void)state;
	assert_true(is_near(wp_noise_score(&noise, reason, sizeof(reason)), 1));
	assert_string_equal(reason, "");
	noise.foreign_cpu = 0.412;
	(void)wp_noise_score(&noise, reason, sizeof(reason));
	assert_string_equal(reason, "foreign CPU 41.2% of a core");
	noise.steal = 0.0501;
	(void)wp_noise_score(&noise, reason, sizeof(reason));
	assert_string_equal(reason, "steal 5.01%");
	noise.foreign_io = 1;
	assert_true(is_near(wp_noise_score(&noise, reason, sizeof(reason)), 10));
	assert_string_equal(reason, "foreign I/O 100%");
}

static void a_system_that_shows_nothing_gives_a_snapshot_of_unknowns(void **state)
{
	static const char *const names[] = { "nosuchdisk" };
	struct wp_noise_snapshot read;
	struct wp_noise_disk disk;
	struct fake_os fake;

	(void)state;
	fake_os_init(&fake);
	fake_os_arm(&fake, "open", 1, EACCES);
	fake.is_sticky = true;
	wp_noise_read(&fake.os, &read);
	assert_false(read.cpu.is_known || read.own.is_known);
	assert_false(read.cpu_stall.is_known || read.io_stall.is_known);
	wp_noise_read_disks(&fake.os, names, 1, &disk);
	assert_false(disk.is_known);
	wp_noise_read_disks(&fake.os, names, 0, &disk);
	assert_false(disk.is_known);
	assert_int_equal(atomic_load(&fake.open_count), 0);
}

static void this_machine_can_be_read(void **state)
{
	struct wp_noise_snapshot read;

	(void)state;
	wp_noise_read(wp_os_linux(), &read);
	assert_true(read.cpu.is_known);
	assert_true(read.own.is_known);
	assert_true(read.cpu.total > 0 && read.cpu.cores > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_line_of_all_cores_is_read),
		cmocka_unit_test(a_name_with_parentheses_does_not_shift_the_fields),
		cmocka_unit_test(disks_of_every_kernel_age_are_summed),
		cmocka_unit_test(the_some_line_of_pressure_is_read),
		cmocka_unit_test(anything_else_is_unknown),
		cmocka_unit_test(shares_come_from_the_difference_of_two_snapshots),
		cmocka_unit_test(a_missing_source_is_unknown_and_not_zero),
		cmocka_unit_test(foreign_io_is_the_rate_of_the_idle_windows),
		cmocka_unit_test(the_worst_guard_gives_the_reason),
		cmocka_unit_test(a_system_that_shows_nothing_gives_a_snapshot_of_unknowns),
		cmocka_unit_test(this_machine_can_be_read),
	};

	return cmocka_run_group_tests_name("noise", tests, NULL, NULL);
}
