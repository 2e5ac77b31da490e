/* SPDX-License-Identifier: PostgreSQL */
/*
 * wal_reader.h - walk WAL records back, checking headers, links and checksums, for tests.
 *
 * Written from the format's description alone, without the code that writes pages.
 */
#ifndef WALPROBE_WAL_READER_H
#define WALPROBE_WAL_READER_H

#include "walprobe/base.h"

/* what a walk found */
struct wal_walk {
	int64_t records;
	int64_t commits;     /* COMMIT records among them */
	uint64_t end;        /* position after the last good record, aligned */
	const char *problem; /* why the walk ended; "end" when the next record is all zeros */
};

/*
 * wal_walk - read records from a stream of pages.
 *
 * bytes          the stream, whole pages; bytes[0] is at position start.
 * start          a multiple of 8192; the first record follows the first page's header.
 * segment_bytes  decides which pages have long headers.
 */
struct wal_walk wal_walk(
	const unsigned char *bytes, size_t length, uint64_t start, int64_t segment_bytes);

#endif
