/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/record.h"
#include "walprobe/crc32c.h"
#include "walprobe/mem.h"
#include "walprobe/wire.h"

#include <openssl/evp.h>

#define HEADER_BYTES 64
#define VERSION 1
#define BLOCKS_PER_SECTOR (WP_SECTOR_PAYLOAD_BYTES / 16)
/* Random bytes differ in half of their 4096 bits; a damaged sector that is still ours in far fewer. */
#define FLIPPED_BITS_MAXIMUM 1024

struct wp_payload {
	EVP_CIPHER_CTX *cipher;
};

static const uint8_t magic[4] = { 'W', 'P', 'S', '1' };

static void must(int is_good)
{
	if (is_good != 1) {
		fputs("walprobe: error: the cryptographic library failed\n", stderr);
		abort();
	}
}

struct wp_payload *wp_payload_new(const uint8_t seed[WP_SEED_BYTES])
{
	struct wp_payload *payload = wp_xcalloc(1, sizeof(*payload));
	static const uint8_t start[16] = { 0 };

	payload->cipher = EVP_CIPHER_CTX_new();
	must(payload->cipher != NULL);
	must(EVP_EncryptInit_ex(payload->cipher, EVP_aes_128_ctr(), NULL, seed, start));
	return payload;
}

void wp_payload_free(struct wp_payload *payload)
{
	if (!payload)
		return;
	EVP_CIPHER_CTX_free(payload->cipher);
	free(payload);
}

/* The counter block: kind, writer, sequence, and blocks of the record before this sector. */
static void begin_stream(struct wp_payload *payload, const struct wp_stamp *stamp, size_t sector)
{
	uint32_t block = (uint32_t)(sector * BLOCKS_PER_SECTOR);
	uint8_t start[16];
	struct wp_put put = { .bytes = start, .size = sizeof(start) };

	wp_put_number(&put, stamp->kind, 1);
	wp_put_number(&put, stamp->writer, 2);
	wp_put_number(&put, 0, 1);
	wp_put_number(&put, stamp->seq, 8);
	for (int shift = 24; shift >= 0; shift -= 8) /* AES-CTR counts in big endian */
		wp_put_number(&put, block >> shift, 1);
	must(EVP_EncryptInit_ex(payload->cipher, NULL, NULL, NULL, start));
}

static void next_payload(struct wp_payload *payload, uint8_t out[WP_SECTOR_PAYLOAD_BYTES])
{
	static const uint8_t zeros[WP_SECTOR_PAYLOAD_BYTES] = { 0 };
	int length = 0;

	must(EVP_EncryptUpdate(payload->cipher, out, &length, zeros, sizeof(zeros)));
	must(length == sizeof(zeros));
}

static void put_header(const struct wp_stamp *stamp, size_t sector, size_t sectors, uint8_t *out)
{
	struct wp_put put = { .bytes = out, .size = HEADER_BYTES };

	wp_put_bytes(&put, magic, sizeof(magic));
	wp_put_number(&put, VERSION, 1);
	wp_put_number(&put, sector, 1);
	wp_put_number(&put, sectors, 1);
	wp_put_number(&put, stamp->kind, 1);
	wp_put_number(&put, stamp->run, 8);
	wp_put_number(&put, stamp->writer, 2);
	wp_put_number(&put, stamp->cycle, 2);
	wp_put_number(&put, stamp->segno, 4);
	wp_put_number(&put, stamp->seq, 8);
	wp_put_number(&put, stamp->position, 8);
	wp_put_number(&put, stamp->physical, 4);
	wp_put_number(&put, stamp->generation, 4);
	wp_put_number(&put, stamp->horizon, 8);
	wp_put_number(&put, wp_crc32c(out, 56), 4);
}

static void put_sector_crc(uint8_t *sector)
{
	struct wp_put put = { .bytes = sector + 60, .size = 4 };
	uint32_t state = wp_crc32c_extend(WP_CRC32C_START, sector, 60);

	state = wp_crc32c_extend(state, sector + HEADER_BYTES, WP_SECTOR_PAYLOAD_BYTES);
	wp_put_number(&put, wp_crc32c_finish(state), 4);
}

void wp_record_build(
	struct wp_payload *payload, const struct wp_stamp *stamp, size_t sectors, uint8_t *page)
{
	assert(sectors <= WP_RECORD_SECTORS_MAXIMUM);
	begin_stream(payload, stamp, 0);
	for (size_t i = 0; i < sectors; i++) {
		uint8_t *sector = page + i * WP_SECTOR_BYTES;

		put_header(stamp, i, sectors, sector);
		next_payload(payload, sector + HEADER_BYTES);
		put_sector_crc(sector);
	}
}

bool wp_record_read(const uint8_t sector[WP_SECTOR_BYTES], struct wp_stamp *stamp)
{
	struct wp_get get = { .bytes = sector, .size = HEADER_BYTES };
	uint8_t start[4];
	uint64_t version;

	memset(stamp, 0, sizeof(*stamp));
	wp_get_bytes(&get, start, sizeof(start));
	version = wp_get_number(&get, 1);
	if (memcmp(start, magic, sizeof(magic)) != 0 || version != VERSION)
		return false;
	stamp->sector = (uint8_t)wp_get_number(&get, 1);
	stamp->sectors = (uint8_t)wp_get_number(&get, 1);
	stamp->kind = (uint8_t)wp_get_number(&get, 1);
	stamp->run = wp_get_number(&get, 8);
	stamp->writer = (uint16_t)wp_get_number(&get, 2);
	stamp->cycle = (uint16_t)wp_get_number(&get, 2);
	stamp->segno = (uint32_t)wp_get_number(&get, 4);
	stamp->seq = wp_get_number(&get, 8);
	stamp->position = wp_get_number(&get, 8);
	stamp->physical = (uint32_t)wp_get_number(&get, 4);
	stamp->generation = (uint32_t)wp_get_number(&get, 4);
	stamp->horizon = wp_get_number(&get, 8);
	if (wp_get_number(&get, 4) == wp_crc32c(sector, 56))
		return true;
	memset(stamp, 0, sizeof(*stamp));
	return false;
}

static bool is_zero(const uint8_t *sector)
{
	return sector[0] == 0 && memcmp(sector, sector + 1, WP_SECTOR_BYTES - 1) == 0;
}

static unsigned differing_bits(const uint8_t *a, const uint8_t *b)
{
	unsigned bits = 0;

	for (size_t i = 0; i < WP_SECTOR_BYTES; i++)
		bits += (unsigned)__builtin_popcount((unsigned)(a[i] ^ b[i]));
	return bits;
}

/* The bits by which found differs from the sector that stamp describes. */
static unsigned distance(
	struct wp_payload *payload, const struct wp_stamp *stamp, const uint8_t *found)
{
	uint8_t sector[WP_SECTOR_BYTES];

	begin_stream(payload, stamp, stamp->sector);
	put_header(stamp, stamp->sector, stamp->sectors, sector);
	next_payload(payload, sector + HEADER_BYTES);
	put_sector_crc(sector);
	return differing_bits(sector, found);
}

static bool is_same(const struct wp_stamp *a, const struct wp_stamp *b)
{
	return a->sector == b->sector && a->sectors == b->sectors && a->kind == b->kind &&
	       a->run == b->run && a->writer == b->writer && a->cycle == b->cycle &&
	       a->segno == b->segno && a->seq == b->seq && a->position == b->position &&
	       a->physical == b->physical && a->generation == b->generation;
}

static bool is_same_place(const struct wp_stamp *a, const struct wp_stamp *b)
{
	return a->sector == b->sector && a->position == b->position && a->physical == b->physical;
}

static enum wp_sector_state judge_other(
	const struct wp_stamp *expected, const struct wp_stamp *found)
{
	if (found->run != expected->run)
		return WP_SECTOR_OTHER_RUN;
	if (found->cycle != expected->cycle && found->kind != WP_RECORD_COLD)
		return WP_SECTOR_OTHER_RUN;
	if (is_same_place(expected, found) && found->generation < expected->generation)
		return WP_SECTOR_STALE;
	if (is_same_place(expected, found) && found->generation == expected->generation &&
		found->kind == WP_RECORD_PREFILL)
		return WP_SECTOR_PREFILL;
	return WP_SECTOR_FOREIGN;
}

enum wp_sector_state wp_record_compare(struct wp_payload *payload, const struct wp_stamp *expected,
	const uint8_t sector[WP_SECTOR_BYTES], struct wp_stamp *found, unsigned *bits)
{
	struct wp_stamp complete = *expected;
	bool has_stamp = wp_record_read(sector, found);
	unsigned differing;

	*bits = 0;
	if (!has_stamp && is_zero(sector))
		return WP_SECTOR_ZERO;
	if (has_stamp && !is_same(expected, found))
		return judge_other(expected, found);
	if (has_stamp) {
		complete.horizon = found->horizon;
	} else {
		/* The header is damaged: what it says as horizon may be right all the same. */
		struct wp_get get = { .bytes = sector + 48, .size = 8 };

		complete.horizon = wp_get_number(&get, 8);
	}
	differing = distance(payload, &complete, sector);
	if (differing == 0)
		return WP_SECTOR_EXPECTED;
	*bits = differing;
	return differing <= FLIPPED_BITS_MAXIMUM ? WP_SECTOR_FLIPPED : WP_SECTOR_GARBAGE;
}
