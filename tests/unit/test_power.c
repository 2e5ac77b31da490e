/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "walprobe/power.h"

static void expect(const char *json, int64_t power_cycles, int64_t unsafe_shutdowns)
{
	struct wp_power power;

	assert_int_equal(wp_power_parse(json, &power), power_cycles >= 0 || unsafe_shutdowns >= 0);
	assert_int_equal(power.power_cycles, power_cycles);
	assert_int_equal(power.unsafe_shutdowns, unsafe_shutdowns);
}

static void counters_of_every_kind_of_drive_are_found(void **state)
{
	(void)state;
	expect("{\"smartctl\": {}, \"power_cycle_count\": 61, \"ata_smart_attributes\": "
	       "{\"table\": ["
	       "{\"id\": 12, \"raw\": {\"value\": 61}},"
	       "{\"id\": 174, \"name\": \"Unexpect_Power_Loss_Ct\", \"raw\": {\"value\": 17}}]}}",
		61, 17);
	expect("{\"power_cycle_count\": 5, \"nvme_smart_health_information_log\": "
	       "{\"power_cycles\": 5, \"unsafe_shutdowns\": 4}}",
		5, 4);
	expect("{\"power_cycles\": 9, \"unsafe_shutdowns\": 8, \"num_err_log_entries\": 0}", 9, 8);
	expect("{\"scsi_start_stop_cycle_counter\": {\"accumulated_start_stop_cycles\": 33}}", 33,
		-1);
}

static void what_says_nothing_is_not_taken_for_a_count(void **state)
{
	(void)state;
	expect("", -1, -1);
	expect("[1, 2]", -1, -1);
	expect("{\"power_cycle_count\": \"many\"}", -1, -1);
	expect("{\"power_cycle_count\": -3}", -1, -1);
	expect("{\"power_cycle_count\": 1, ", -1, -1);
	expect("{\"ata_smart_attributes\": {\"table\": [7, {\"id\": 174}]}}", -1, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counters_of_every_kind_of_drive_are_found),
		cmocka_unit_test(what_says_nothing_is_not_taken_for_a_count),
	};

	return cmocka_run_group_tests_name("power", tests, NULL, NULL);
}
