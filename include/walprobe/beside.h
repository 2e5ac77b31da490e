/* SPDX-License-Identifier: PostgreSQL */
/*
 * beside.h - writes and fsyncs of data files beside the WAL, as a checkpoint makes them.
 *
 * Floor: wal (may include base, os, stats). Four files of 16 MB; a thousand 8 kB pages a second at
 * random places, spread over the second in small batches as a checkpoint spreads its writes, and
 * at the end of each second an fsync of each file.
 * Source: PostgreSQL bufmgr.c, BufferSync(); sync.c, ProcessSyncRequests().
 * Threads: main thread only; the work runs on a thread of its own.
 */
#ifndef WALPROBE_BESIDE_H
#define WALPROBE_BESIDE_H

#include "walprobe/os.h"

#define WP_BESIDE_FILES 4
#define WP_BESIDE_FILE_BYTES (INT64_C(16) << 20)

struct wp_beside;

/*
 * wp_beside_new - write and sync the files in dir (64 MB).
 *
 * out  receives the object; free with wp_beside_free(). The files stay: the directory's owner
 *      removes them.
 */
int wp_beside_new(const struct wp_os *os, const char *dir, uint64_t seed, struct wp_beside **out,
	struct wp_err *err);

/* wp_beside_free - close and free; accepts NULL. Stopped first. */
void wp_beside_free(struct wp_beside *beside);

/* wp_beside_start - begin to write; 0 or -WP_E_SYS. */
int wp_beside_start(struct wp_beside *beside, struct wp_err *err);

/*
 * wp_beside_stop - end, after the write or sync that is under way; harmless when not started.
 *
 * Returns: 0, or -code of the first write or sync that failed, after which no more were made.
 */
int wp_beside_stop(struct wp_beside *beside, struct wp_err *err);

#endif
