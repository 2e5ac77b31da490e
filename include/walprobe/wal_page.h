/* SPDX-License-Identifier: PostgreSQL */
/*
 * wal_page.h - WAL pages and records as PostgreSQL lays them out, byte for byte.
 *
 * Floor: wal (may include base, os, stats). Every page starts with a header (24 bytes, 40 on the
 * first page of a segment); records start on 8-byte boundaries and run on over pages. A committed
 * transaction is here one record of the XLOG resource manager (NOOP, whose data is random) and a
 * COMMIT record of 34 bytes, so that pg_waldump reads what the model wrote. The data never
 * repeats: storage that compresses or deduplicates gains nothing.
 * Source: PostgreSQL access/xlog_internal.h, access/xlogrecord.h.
 * Threads: yes, no state.
 */
#ifndef WALPROBE_WAL_PAGE_H
#define WALPROBE_WAL_PAGE_H

#include "walprobe/random.h"

#define WP_WAL_PAGE_BYTES 8192
#define WP_WAL_SHORT_HEADER_BYTES 24
#define WP_WAL_LONG_HEADER_BYTES 40
#define WP_WAL_RECORD_HEADER_BYTES 24
#define WP_WAL_COMMIT_BYTES 34
#define WP_WAL_DATA_MINIMUM_BYTES 32 /* smallest data record made here */
#define WP_WAL_TIMELINE 1

/* what the page headers of one cluster have in common */
struct wp_wal_format {
	uint16_t magic; /* 0xd110 in PostgreSQL 15 */
	uint32_t timeline;
	uint64_t system_id;
	int64_t segment_bytes;
};

/* wp_wal_page_header_bytes - header size of the page at this position, a multiple of 8192. */
size_t wp_wal_page_header_bytes(const struct wp_wal_format *format, uint64_t page_lsn);

/*
 * wp_wal_page_init - zero a page of 8192 bytes and write its header.
 *
 * remaining  bytes of a record that continues from the page before; 0: none does.
 * Returns: the header's size: where the page's contents start.
 */
size_t wp_wal_page_init(
	void *page, const struct wp_wal_format *format, uint64_t page_lsn, uint32_t remaining);

/*
 * wp_wal_record_data - a NOOP record of total bytes (32 or more) with random data.
 *
 * buffer  room for total bytes. The record still lacks its link and checksum:
 *         wp_wal_record_seal() puts them in once its place in the stream is known.
 */
void wp_wal_record_data(void *buffer, uint32_t total, uint32_t xid, struct wp_random *random);

/* wp_wal_record_commit - a COMMIT record of 34 bytes with this time stamp; to be sealed too. */
void wp_wal_record_commit(void *buffer, uint32_t xid, int64_t timestamp_us);

/* wp_wal_record_seal - put in the position of the record before and the final CRC-32C. */
void wp_wal_record_seal(void *buffer, uint64_t previous_lsn);

/* wp_wal_align - the next multiple of 8, where a record may start. */
static inline uint64_t wp_wal_align(uint64_t value)
{
	return (value + 7) & ~UINT64_C(7);
}

#endif
