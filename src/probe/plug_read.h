/* SPDX-License-Identifier: PostgreSQL */
/*
 * plug_read.h - reading files that may be damaged, on devices that may hang.
 *
 * One thread makes the reads, so that one that never returns can be left behind: reads after it
 * fail at once. Where a large read fails it is repeated sector by sector.
 */
#ifndef WALPROBE_PROBE_PLUG_READ_H
#define WALPROBE_PROBE_PLUG_READ_H

#include "walprobe/os.h"

struct plug_reader;

/* plug_reader_new - for reads of at most size_bytes, each at most timeout_ns long. */
int plug_reader_new(struct plug_reader **out, const struct wp_os *os, size_t size_bytes,
	int64_t timeout_ns, struct wp_err *err);

/* plug_reader_free - a reader that hangs is left behind. Accepts NULL. */
void plug_reader_free(struct plug_reader *reader);

/*
 * plug_reader_open - open a file for reading, past the page cache where that works.
 *
 * size_bytes  receives its size.
 * Returns: the descriptor, which plug_reader_close() closes, or -errno (-ETIMEDOUT: it hangs).
 */
int plug_reader_open(struct plug_reader *reader, const char *path, int64_t *size_bytes);

/* plug_reader_close - close what plug_reader_open() gave. */
void plug_reader_close(struct plug_reader *reader, int fd);

/* plug_reader_is_hung - a read did not return in time; nothing is read any more. */
bool plug_reader_is_hung(const struct plug_reader *reader);

/*
 * plug_reader_read - length bytes at offset (multiples of 512; the last may end with the file).
 *
 * bytes       borrowed until the next call; zeros where nothing could be read.
 * unreadable  one for each 512 bytes.
 * Returns: bytes of the file in this range; the rest is beyond its end.
 */
size_t plug_reader_read(struct plug_reader *reader, int fd, int64_t offset, size_t length,
	const uint8_t **bytes, const bool **unreadable);

#endif
