/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "walprobe/crc32c.h"
#include "walprobe/random.h"

static void the_check_value_is_castagnolis(void **state)
{
	uint32_t table;

	(void)state;
	assert_int_equal(wp_crc32c("123456789", 9), UINT32_C(0xe3069283));
	table = wp_crc32c_extend_table(WP_CRC32C_START, "123456789", 9);
	assert_int_equal(wp_crc32c_finish(table), UINT32_C(0xe3069283));
	assert_int_equal(wp_crc32c("", 0), 0);
}

static void thirty_two_zeros_and_ones_as_in_rfc_3720(void **state)
{
	unsigned char bytes[32] = { 0 };

	(void)state;
	assert_int_equal(wp_crc32c(bytes, sizeof(bytes)), UINT32_C(0x8a9136aa));
	memset(bytes, 0xff, sizeof(bytes));
	assert_int_equal(wp_crc32c(bytes, sizeof(bytes)), UINT32_C(0x62a8ab43));
}

static void instruction_and_table_agree_at_every_length_and_alignment(void **state)
{
	unsigned char bytes[256];
	struct wp_random random;

	(void)state;
	wp_random_init(&random, 1);
	wp_random_fill(&random, bytes, sizeof(bytes));
	for (size_t start = 0; start < 8; start++)
		for (size_t length = 0; start + length <= sizeof(bytes); length++)
			assert_int_equal(wp_crc32c_extend(WP_CRC32C_START, bytes + start, length),
				wp_crc32c_extend_table(WP_CRC32C_START, bytes + start, length));
}

static void a_checksum_can_be_taken_in_parts(void **state)
{
	uint32_t parts = wp_crc32c_extend(WP_CRC32C_START, "12345", 5);

	(void)state;
	parts = wp_crc32c_extend(parts, "6789", 4);
	assert_int_equal(wp_crc32c_finish(parts), UINT32_C(0xe3069283));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_check_value_is_castagnolis),
		cmocka_unit_test(thirty_two_zeros_and_ones_as_in_rfc_3720),
		cmocka_unit_test(instruction_and_table_agree_at_every_length_and_alignment),
		cmocka_unit_test(a_checksum_can_be_taken_in_parts),
	};

	return cmocka_run_group_tests_name("crc32c", tests, NULL, NULL);
}
