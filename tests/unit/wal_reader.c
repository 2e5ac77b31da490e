/* SPDX-License-Identifier: PostgreSQL */
#include "wal_reader.h"

#include "walprobe/mem.h"

#define PAGE 8192

struct reader {
	const unsigned char *bytes;
	size_t length;
	uint64_t start;
	uint64_t position;
	int64_t segment_bytes;
	const char *problem;
};

static uint64_t get(const unsigned char *bytes, int size)
{
	uint64_t value = 0;

	while (size-- > 0)
		value = value << 8 | bytes[size];
	return value;
}

/* One bit at a time: shares nothing with the code under test. */
static uint32_t crc(uint32_t state, const unsigned char *bytes, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		state ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			state = state & 1 ? state >> 1 ^ UINT32_C(0x82f63b78) : state >> 1;
	}
	return state;
}

static bool check_page(struct reader *r, size_t remaining)
{
	const unsigned char *page = r->bytes + (r->position - r->start);
	bool is_long = r->position % (uint64_t)r->segment_bytes == 0;
	unsigned info = (remaining ? 1u : 0u) | (is_long ? 2u : 0u) | 4u;

	if (r->position + PAGE > r->start + r->length) {
		r->problem = "stream ends";
		return false;
	}
	if (get(page + 2, 2) != info)
		r->problem = "page flags";
	else if (get(page + 4, 4) != 1)
		r->problem = "timeline";
	else if (get(page + 8, 8) != r->position)
		r->problem = "page position";
	else if (get(page + 16, 4) != remaining)
		r->problem = "remaining length";
	else if (is_long && get(page + 32, 4) != (uint64_t)r->segment_bytes)
		r->problem = "segment size";
	else if (is_long && get(page + 36, 4) != PAGE)
		r->problem = "page size";
	r->position += is_long ? 40 : 24;
	return r->problem == NULL;
}

static bool take(struct reader *r, unsigned char *out, size_t length, size_t total_left)
{
	for (size_t done = 0; done < length;) {
		size_t part = PAGE - (size_t)(r->position % PAGE);

		if (r->position % PAGE == 0) {
			if (!check_page(r, total_left - done))
				return false;
			continue;
		}
		if (part > length - done)
			part = length - done;
		memcpy(out + done, r->bytes + (r->position - r->start), part);
		r->position += part;
		done += part;
	}
	return true;
}

static bool take_record(struct reader *r, struct wal_walk *walk, uint64_t *previous)
{
	unsigned char *record;
	uint64_t at;
	size_t total;

	if (r->position % PAGE == 0 && !check_page(r, 0))
		return false;
	at = r->position;
	total = (size_t)get(r->bytes + (at - r->start), 4);
	if (total == 0) {
		r->problem = "end";
		return false;
	}
	record = wp_xcalloc(total < 24 ? 24 : total, 1);
	if (total < 24)
		r->problem = "record length";
	else if (!take(r, record, total, total))
		(void)r; /* the problem is set */
	else if (get(record + 8, 8) != *previous)
		r->problem = "link";
	else if ((crc(crc(UINT32_C(0xffffffff), record + 24, total - 24), record, 20) ^
			 UINT32_C(0xffffffff)) != get(record + 20, 4))
		r->problem = "checksum";
	walk->records += !r->problem;
	walk->commits += !r->problem && record[17] == 1;
	free(record);
	r->position = (r->position + 7) & ~UINT64_C(7);
	*previous = at;
	return r->problem == NULL;
}

struct wal_walk wal_walk(
	const unsigned char *bytes, size_t length, uint64_t start, int64_t segment_bytes)
{
	struct reader r = { bytes, length, start, start, segment_bytes, NULL };
	struct wal_walk walk = { .end = start };
	uint64_t previous = 0;

	while (take_record(&r, &walk, &previous))
		walk.end = r.position;
	walk.problem = r.problem;
	return walk;
}
