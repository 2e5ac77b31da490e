/* SPDX-License-Identifier: PostgreSQL */
#include "fake_os.h"
#include "harness.h"
#include "walprobe/mem.h"
#include "walprobe/record.h"
#include "walprobe/secret.h"

#define SECTORS 16

static const uint8_t seed[WP_SEED_BYTES] = { 1, 2, 3 };
static const struct wp_stamp sample = { .sectors = SECTORS,
	.kind = WP_RECORD_DATA,
	.run = UINT64_C(0x1122334455667788),
	.writer = 3,
	.cycle = 2,
	.segno = 9,
	.seq = UINT64_C(1) << 40,
	.position = 65536,
	.physical = 4,
	.generation = 5,
	.horizon = UINT64_C(0x0001000000000007) };

static void a_sector_says_what_and_where_it_is(void **state)
{
	struct wp_payload *payload = wp_payload_new(seed);
	uint8_t page[SECTORS * WP_SECTOR_BYTES];
	struct wp_stamp found;

	(void)state;
	wp_record_build(payload, &sample, SECTORS, page);
	for (size_t i = 0; i < SECTORS; i++) {
		assert_true(wp_record_read(page + i * WP_SECTOR_BYTES, &found));
		assert_int_equal(found.sector, i);
		assert_int_equal(found.sectors, SECTORS);
		assert_int_equal(found.run, sample.run);
		assert_int_equal(found.writer, sample.writer);
		assert_int_equal(found.cycle, sample.cycle);
		assert_int_equal(found.segno, sample.segno);
		assert_int_equal(found.seq, sample.seq);
		assert_int_equal(found.position, sample.position);
		assert_int_equal(found.physical, sample.physical);
		assert_int_equal(found.generation, sample.generation);
		assert_int_equal(wp_horizon_writer(found.horizon), 1);
		assert_int_equal(wp_horizon_seq(found.horizon), 7);
	}
	wp_payload_free(payload);
}

static void every_flipped_bit_is_seen(void **state)
{
	struct wp_payload *payload = wp_payload_new(seed);
	uint8_t page[SECTORS * WP_SECTOR_BYTES];
	struct wp_stamp expected = sample;
	struct wp_stamp found;
	unsigned bits;

	(void)state;
	wp_record_build(payload, &sample, SECTORS, page);
	expected.sector = 7;
	for (size_t bit = 0; bit < WP_SECTOR_BYTES * 8; bit++) {
		uint8_t sector[WP_SECTOR_BYTES];
		bool is_horizon = bit / 8 >= 48 && bit / 8 < 56;

		memcpy(sector, page + (size_t)7 * WP_SECTOR_BYTES, sizeof(sector));
		sector[bit / 8] ^= (uint8_t)(1U << (bit % 8));
		assert_int_equal(wp_record_compare(payload, &expected, sector, &found, &bits),
			WP_SECTOR_FLIPPED);
		/* A horizon cannot be foretold; its checksums tell instead of it. */
		assert_true(is_horizon ? bits > 0 : bits == 1);
	}
	wp_payload_free(payload);
}

static void payloads_differ_between_records_sectors_and_runs(void **state)
{
	static const uint8_t other_seed[WP_SEED_BYTES] = { 1, 2, 4 };
	struct wp_payload *payload = wp_payload_new(seed);
	struct wp_payload *other = wp_payload_new(other_seed);
	uint8_t a[2 * WP_SECTOR_BYTES];
	uint8_t b[2 * WP_SECTOR_BYTES];
	struct wp_stamp next = sample;

	(void)state;
	wp_record_build(payload, &sample, 2, a);
	assert_memory_not_equal(a + 64, a + WP_SECTOR_BYTES + 64, WP_SECTOR_PAYLOAD_BYTES);
	next.seq++;
	wp_record_build(payload, &next, 2, b);
	assert_memory_not_equal(a + 64, b + 64, WP_SECTOR_PAYLOAD_BYTES);
	wp_record_build(other, &sample, 2, b);
	assert_memory_not_equal(a + 64, b + 64, WP_SECTOR_PAYLOAD_BYTES);
	wp_record_build(payload, &sample, 2, b);
	assert_memory_equal(a, b, sizeof(a));
	wp_payload_free(other);
	wp_payload_free(payload);
}

static enum wp_sector_state state_of(struct wp_payload *payload, const struct wp_stamp *written)
{
	uint8_t page[SECTORS * WP_SECTOR_BYTES];
	struct wp_stamp found;
	unsigned bits;

	wp_record_build(payload, written, SECTORS, page);
	return wp_record_compare(payload, &sample, page, &found, &bits);
}

static void what_stands_in_the_place_is_told_apart(void **state)
{
	struct wp_payload *payload = wp_payload_new(seed);
	uint8_t sector[WP_SECTOR_BYTES] = { 0 };
	struct wp_stamp stamp = sample;
	struct wp_stamp found;
	unsigned bits;

	(void)state;
	assert_int_equal(state_of(payload, &stamp), WP_SECTOR_EXPECTED);
	stamp.horizon = 99;
	assert_int_equal(state_of(payload, &stamp), WP_SECTOR_EXPECTED);
	stamp.generation--;
	stamp.seq -= 100;
	assert_int_equal(state_of(payload, &stamp), WP_SECTOR_STALE);
	stamp = sample;
	stamp.kind = WP_RECORD_PREFILL;
	assert_int_equal(state_of(payload, &stamp), WP_SECTOR_PREFILL);
	stamp = sample;
	stamp.position += 8192;
	assert_int_equal(state_of(payload, &stamp), WP_SECTOR_FOREIGN);
	stamp = sample;
	stamp.physical++;
	assert_int_equal(state_of(payload, &stamp), WP_SECTOR_FOREIGN);
	stamp = sample;
	stamp.cycle--;
	assert_int_equal(state_of(payload, &stamp), WP_SECTOR_OTHER_RUN);
	stamp = sample;
	stamp.run++;
	assert_int_equal(state_of(payload, &stamp), WP_SECTOR_OTHER_RUN);
	assert_int_equal(
		wp_record_compare(payload, &sample, sector, &found, &bits), WP_SECTOR_ZERO);
	memset(sector, 'x', sizeof(sector));
	assert_int_equal(
		wp_record_compare(payload, &sample, sector, &found, &bits), WP_SECTOR_GARBAGE);
	wp_payload_free(payload);
}

static void write_key(const char *path, size_t length, unsigned mode)
{
	const struct wp_os *os = wp_os_linux();
	uint8_t bytes[WP_KEY_MAXIMUM_BYTES + 1] = { 7 };
	int fd;

	(void)wp_os_unlink(os, path);
	fd = wp_os_open(os, path, O_WRONLY | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(wp_os_write_all(os, fd, bytes, length, 0), 0);
	assert_int_equal(wp_os_close(os, fd), 0);
	assert_int_equal(wp_os_chmod(os, path, mode), 0);
}

static void a_key_file_is_long_enough_and_its_owners_alone(void **state)
{
	static const struct {
		size_t length;
		unsigned mode;
		int rc;
	} cases[] = {
		{ 16, 0600, 0 },
		{ 4096, 0400, 0 },
		{ 15, 0600, -WP_E_USAGE },
		{ 4097, 0600, -WP_E_USAGE },
		{ 32, 0640, -WP_E_USAGE },
		{ 32, 0604, -WP_E_USAGE },
		{ 32, 0620, -WP_E_USAGE },
	};
	const char *dir = scratch_dir();
	char *path = wp_xasprintf("%s/key", dir);
	struct wp_key key;

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		struct wp_err err = { 0 };

		write_key(path, cases[i].length, cases[i].mode);
		assert_int_equal(wp_key_load(wp_os_linux(), path, &key, &err), cases[i].rc);
		assert_true(cases[i].rc == 0 || (strstr(err.message, path) && err.hint[0]));
		assert_int_equal(key.length, cases[i].rc ? 0 : cases[i].length);
	}
	assert_int_equal(wp_key_load(wp_os_linux(), dir, &key, NULL), -WP_E_USAGE);
	free(path);
	scratch_dir_remove(dir);
}

static void a_new_key_is_never_written_over_another(void **state)
{
	const char *dir = scratch_dir();
	char *path = wp_xasprintf("%s/key", dir);
	struct wp_key key;
	struct wp_key again;
	struct wp_err err = { 0 };

	(void)state;
	assert_int_equal(wp_key_create(wp_os_linux(), path, NULL), 0);
	assert_int_equal(wp_key_load(wp_os_linux(), path, &key, NULL), 0);
	assert_int_equal(key.length, WP_KEY_NEW_BYTES);
	assert_int_equal(wp_key_create(wp_os_linux(), path, &err), -WP_E_SYS);
	assert_int_equal(wp_key_load(wp_os_linux(), path, &again, NULL), 0);
	assert_memory_equal(key.bytes, again.bytes, WP_KEY_NEW_BYTES);
	free(path);
	scratch_dir_remove(dir);
}

static void a_key_that_could_not_be_written_leaves_nothing(void **state)
{
	const char *dir = scratch_dir();
	char *path = wp_xasprintf("%s/key", dir);
	struct fake_os fake;

	(void)state;
	for (int64_t n = 1;; n++) {
		struct wp_err err = { 0 };
		int rc;

		fake_os_init(&fake);
		fake_os_arm(&fake, NULL, n, EIO);
		rc = wp_key_create(&fake.os, path, &err);
		assert_int_equal(atomic_load(&fake.open_count), 0);
		if (atomic_load(&fake.failures) == 0) {
			assert_int_equal(rc, 0);
			break;
		}
		assert_int_equal(rc, -WP_E_SYS);
		assert_non_null(strstr(err.message, path));
		assert_int_equal(scratch_dir_count(dir), 0);
	}
	free(path);
	scratch_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sector_says_what_and_where_it_is),
		cmocka_unit_test(every_flipped_bit_is_seen),
		cmocka_unit_test(payloads_differ_between_records_sectors_and_runs),
		cmocka_unit_test(what_stands_in_the_place_is_told_apart),
		cmocka_unit_test(a_key_file_is_long_enough_and_its_owners_alone),
		cmocka_unit_test(a_new_key_is_never_written_over_another),
		cmocka_unit_test(a_key_that_could_not_be_written_leaves_nothing),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
