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

/* wp_io_ordered - the record that stands at a place of the order. */
uint64_t wp_io_ordered(const struct wp_io_job *job, uint64_t place);

/* wp_io_next_offset - where the next record lies; -1: each came once. */
static inline int64_t wp_io_next_offset(struct wp_io_job *job)
{
	uint64_t record = job->place;

	if (job->taken == job->shuffle.count)
		return -1;
	job->taken++;
	if (++job->place == job->shuffle.count)
		job->place = 0;
	if (job->loop->plan.order != WP_IO_FORWARD)
		record = wp_io_ordered(job, record);
	return (int64_t)record * job->loop->step_bytes;
}

/* wp_io_path - "DIR/data-3" or "DIR/new-3" into out. */
void wp_io_path(const struct wp_io_files *files, bool is_new, int index, char *out, size_t size);

#endif
