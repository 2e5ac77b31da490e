/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/wal_page.h"
#include "walprobe/crc32c.h"

struct short_header {
	uint16_t magic;
	uint16_t info;
	uint32_t timeline;
	uint64_t page_lsn;
	uint32_t remaining;
	uint32_t padding;
};

struct long_header {
	struct short_header start;
	uint64_t system_id;
	uint32_t segment_bytes;
	uint32_t page_bytes;
};

struct record_header {
	uint32_t total;
	uint32_t xid;
	uint64_t previous_lsn;
	uint8_t info;
	uint8_t resource_manager;
	uint16_t padding;
	uint32_t crc;
};

_Static_assert(sizeof(struct short_header) == WP_WAL_SHORT_HEADER_BYTES, "short page header");
_Static_assert(sizeof(struct long_header) == WP_WAL_LONG_HEADER_BYTES, "long page header");
_Static_assert(sizeof(struct record_header) == WP_WAL_RECORD_HEADER_BYTES, "record header");

enum {
	INFO_CONTINUES = 1,
	INFO_LONG_HEADER = 2,
	INFO_BACKUP_REMOVABLE = 4,
};

enum {
	MANAGER_XLOG = 0,
	MANAGER_TRANSACTION = 1,
	XLOG_NOOP = 0x20,
	TRANSACTION_COMMIT = 0x00,
	ID_DATA_SHORT = 255,
	ID_DATA_LONG = 254,
};

size_t wp_wal_page_header_bytes(const struct wp_wal_format *format, uint64_t page_lsn)
{
	return page_lsn % (uint64_t)format->segment_bytes ? WP_WAL_SHORT_HEADER_BYTES
							  : WP_WAL_LONG_HEADER_BYTES;
}

size_t wp_wal_page_init(
	void *page, const struct wp_wal_format *format, uint64_t page_lsn, uint32_t remaining)
{
	size_t size = wp_wal_page_header_bytes(format, page_lsn);
	struct long_header header = {
		.start = {
			.magic = format->magic,
			.info = INFO_BACKUP_REMOVABLE,
			.timeline = format->timeline,
			.page_lsn = page_lsn,
			.remaining = remaining,
		},
		.system_id = format->system_id,
		.segment_bytes = (uint32_t)format->segment_bytes,
		.page_bytes = WP_WAL_PAGE_BYTES,
	};

	if (remaining)
		header.start.info |= INFO_CONTINUES;
	if (size == WP_WAL_LONG_HEADER_BYTES)
		header.start.info |= INFO_LONG_HEADER;
	memset(page, 0, WP_WAL_PAGE_BYTES);
	memcpy(page, &header, size);
	return size;
}

/* The checksum covers the data first and then the header: its state waits in the crc field. */
static void put_header(void *buffer, uint32_t total, uint32_t xid, uint8_t manager, uint8_t info)
{
	unsigned char *bytes = buffer;
	struct record_header header = {
		.total = total,
		.xid = xid,
		.info = info,
		.resource_manager = manager,
		.crc = wp_crc32c_extend(
			WP_CRC32C_START, bytes + sizeof(header), total - sizeof(header)),
	};

	memcpy(buffer, &header, sizeof(header));
}

void wp_wal_record_data(void *buffer, uint32_t total, uint32_t xid, struct wp_random *random)
{
	unsigned char *bytes = (unsigned char *)buffer + sizeof(struct record_header);
	uint32_t length = total - (uint32_t)sizeof(struct record_header) - 2;

	assert(total >= WP_WAL_DATA_MINIMUM_BYTES);
	if (length <= UINT8_MAX) {
		*bytes++ = ID_DATA_SHORT;
		*bytes++ = (unsigned char)length;
	} else {
		length -= 3;
		*bytes++ = ID_DATA_LONG;
		memcpy(bytes, &length, sizeof(length));
		bytes += sizeof(length);
	}
	wp_random_fill(random, bytes, length);
	put_header(buffer, total, xid, MANAGER_XLOG, XLOG_NOOP);
}

void wp_wal_record_commit(void *buffer, uint32_t xid, int64_t timestamp_us)
{
	unsigned char *bytes = (unsigned char *)buffer + sizeof(struct record_header);

	bytes[0] = ID_DATA_SHORT;
	bytes[1] = sizeof(timestamp_us);
	memcpy(bytes + 2, &timestamp_us, sizeof(timestamp_us));
	put_header(buffer, WP_WAL_COMMIT_BYTES, xid, MANAGER_TRANSACTION, TRANSACTION_COMMIT);
}

void wp_wal_record_seal(void *buffer, uint64_t previous_lsn)
{
	struct record_header header;

	memcpy(&header, buffer, sizeof(header));
	header.previous_lsn = previous_lsn;
	header.crc = wp_crc32c_finish(
		wp_crc32c_extend(header.crc, &header, offsetof(struct record_header, crc)));
	memcpy(buffer, &header, sizeof(header));
}
