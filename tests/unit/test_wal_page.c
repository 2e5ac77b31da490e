/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "wal_reader.h"
#include "walprobe/mem.h"
#include "walprobe/wal_page.h"

static const struct wp_wal_format format = {
	.magic = 0xd110,
	.timeline = 1,
	.system_id = UINT64_C(0x0123456789abcdef),
	.segment_bytes = INT64_C(16) << 20,
};

static void a_short_header_has_these_24_bytes(void **state)
{
	static const unsigned char wanted[24] = { 0x10, 0xd1, 0x05, 0x00, 0x01, 0, 0, 0, 0x00, 0x20,
		0x00, 0x01, 0, 0, 0, 0, 0x2a, 0, 0, 0, 0, 0, 0, 0 };
	unsigned char page[WP_WAL_PAGE_BYTES];

	(void)state;
	memset(page, 0xee, sizeof(page));
	assert_int_equal(wp_wal_page_init(page, &format, 0x1002000, 42), 24);
	assert_memory_equal(page, wanted, sizeof(wanted));
	for (size_t i = 24; i < sizeof(page); i++)
		assert_int_equal(page[i], 0);
}

static void the_first_page_of_a_segment_has_a_long_header(void **state)
{
	static const unsigned char wanted[40] = { 0x10, 0xd1, 0x06, 0x00, 0x01, 0, 0, 0, 0, 0, 0,
		0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23,
		0x01, 0, 0, 0, 0x01, 0, 0x20, 0, 0 };
	unsigned char page[WP_WAL_PAGE_BYTES];

	(void)state;
	assert_int_equal(wp_wal_page_init(page, &format, 0x1000000, 0), 40);
	assert_memory_equal(page, wanted, sizeof(wanted));
}

/* A commit as xact.c logs it: 24 bytes, one short data block with the time. */
static void a_commit_record_is_34_bytes(void **state)
{
	unsigned char record[WP_WAL_COMMIT_BYTES];

	(void)state;
	wp_wal_record_commit(record, 731, 0x1122334455667788);
	wp_wal_record_seal(record, 0x1000028);
	assert_int_equal(record[0], 34);
	assert_int_equal(record[4], 731 & 0xff);
	assert_int_equal(record[5], 731 >> 8);
	assert_int_equal(record[8], 0x28);
	assert_int_equal(record[16], 0x00);
	assert_int_equal(record[17], 1);
	assert_int_equal(record[24], 255);
	assert_int_equal(record[25], 8);
	assert_int_equal(record[26], 0x88);
}

static size_t put(unsigned char *page, size_t at, uint32_t total, uint64_t *previous,
	struct wp_random *random)
{
	wp_wal_record_data(page + at, total, 731, random);
	wp_wal_record_seal(page + at, *previous);
	*previous = 0x1000000 + at;
	return (size_t)wp_wal_align(at + total);
}

static void records_of_every_size_read_back(void **state)
{
	static const uint32_t totals[] = { 32, 33, 40, 280, 281, 282, 283, 284, 285, 288, 4096 };
	unsigned char page[WP_WAL_PAGE_BYTES];
	struct wp_random random;
	struct wal_walk walk;
	uint64_t previous = 0;
	size_t at = wp_wal_page_init(page, &format, 0x1000000, 0);

	(void)state;
	wp_random_init(&random, 7);
	for (size_t i = 0; i < WP_COUNT(totals); i++)
		at = put(page, at, totals[i], &previous, &random);
	walk = wal_walk(page, sizeof(page), 0x1000000, format.segment_bytes);
	assert_string_equal(walk.problem, "end");
	assert_int_equal(walk.records, WP_COUNT(totals));
	assert_int_equal(walk.end, 0x1000000 + at);
}

static void one_flipped_bit_anywhere_is_found(void **state)
{
	unsigned char page[WP_WAL_PAGE_BYTES];
	struct wp_random random;
	uint64_t previous = 0;
	size_t end;

	(void)state;
	wp_random_init(&random, 7);
	(void)wp_wal_page_init(page, &format, 0x1000000, 0);
	end = put(page, 40, 412, &previous, &random);
	/* All but the length, whose change makes the record another one. */
	for (size_t at = 44; at < 40 + 412; at++) {
		page[at] ^= 0x10;
		assert_int_equal(
			wal_walk(page, sizeof(page), 0x1000000, format.segment_bytes).records, 0);
		page[at] ^= 0x10;
	}
	assert_int_equal(end, wp_wal_align(40 + 412));
}

static void no_two_records_are_alike(void **state)
{
	unsigned char a[412];
	unsigned char b[412];
	struct wp_random random;
	size_t same = 0;

	(void)state;
	wp_random_init(&random, 7);
	wp_wal_record_data(a, sizeof(a), 1, &random);
	wp_wal_record_data(b, sizeof(b), 1, &random);
	for (size_t i = 29; i < sizeof(a); i++)
		same += a[i] == b[i];
	assert_true(same < 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_short_header_has_these_24_bytes),
		cmocka_unit_test(the_first_page_of_a_segment_has_a_long_header),
		cmocka_unit_test(a_commit_record_is_34_bytes),
		cmocka_unit_test(records_of_every_size_read_back),
		cmocka_unit_test(one_flipped_bit_anywhere_is_found),
		cmocka_unit_test(no_two_records_are_alike),
	};

	return cmocka_run_group_tests_name("wal_page", tests, NULL, NULL);
}
