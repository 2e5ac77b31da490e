/* SPDX-License-Identifier: PostgreSQL */
/*
 * io_internal.h - the operations behind io_loop.h.
 *
 * Floor: wal, private.
 */
#ifndef WALPROBE_SRC_IO_INTERNAL_H
#define WALPROBE_SRC_IO_INTERNAL_H

#include "walprobe/io_loop.h"

#define WP_IO_SEGMENT_READ_BYTES 131072 /* walsender.c, MAX_SEND_SIZE; cp reads as much */

/*
 * wp_io_operation - the function that does one operation of this work at an offset. It returns 0,
 * or -1 with failed_* of the job set.
 */
int (*wp_io_operation(enum wp_io_work work))(struct wp_io_job *job, int64_t offset);

/* wp_io_step_bytes - bytes that one operation of this plan covers. */
int64_t wp_io_step_bytes(const struct wp_io_plan *plan);

/* wp_io_writes - true when the work writes. */
bool wp_io_writes(enum wp_io_work work);

/* wp_io_failed - remember which call failed and how; returns -1. */
int wp_io_failed(struct wp_io_job *job, const char *call, int64_t result, int64_t wanted);

/* wp_io_next_offset - where the next record lies; -1: each came once. */
int64_t wp_io_next_offset(struct wp_io_job *job);

/* wp_io_path - "DIR/data-3" or "DIR/new-3" into out. */
void wp_io_path(const struct wp_io_files *files, bool is_new, int index, char *out, size_t size);

#endif
