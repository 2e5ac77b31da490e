/* SPDX-License-Identifier: PostgreSQL */
#include "io_internal.h"

#define STRIDE 17       /* iozone: records from one read to the next */
#define SEEK_UPDATES 10 /* bonnie++: one seek in ten rewrites what it read */

bool wp_io_writes(enum wp_io_work work)
{
	return work == WP_IO_WRITE || work == WP_IO_REWRITE || work == WP_IO_SEEK ||
	       work == WP_IO_PUTC || work == WP_IO_WRITE_ONE;
}

__attribute__((cold)) int wp_io_failed(
	struct wp_io_job *job, const char *call, int64_t result, int64_t wanted)
{
	job->failed_call = call;
	job->failed_result = result;
	job->failed_wanted = wanted;
	return -1;
}

static inline int read_at(struct wp_io_job *job, int64_t bytes, int64_t offset)
{
	int64_t done = wp_os_pread(job->loop->os, job->fd, job->buffer, (size_t)bytes, offset);

	if (done != bytes)
		return wp_io_failed(job, "read", done, bytes);
	job->read_bytes += bytes;
	return 0;
}

static inline int write_at(struct wp_io_job *job, int64_t bytes, int64_t offset)
{
	int64_t done = wp_os_pwrite(job->loop->os, job->fd, job->buffer, (size_t)bytes, offset);

	if (done != bytes)
		return wp_io_failed(job, "write to", done, bytes);
	job->written_bytes += bytes;
	return 0;
}

/* Two writes with the same bytes could be merged or dropped by storage that deduplicates. */
static inline void stamp(struct wp_io_job *job)
{
	job->sequence++;
	memcpy(job->buffer, &job->sequence, sizeof(job->sequence));
}

static int read_record(struct wp_io_job *job, int64_t offset)
{
	return read_at(job, job->loop->plan.record_bytes, offset);
}

static int write_record(struct wp_io_job *job, int64_t offset)
{
	stamp(job);
	return write_at(job, job->loop->plan.record_bytes, offset);
}

static int rewrite_record(struct wp_io_job *job, int64_t offset)
{
	if (read_record(job, offset))
		return -1;
	stamp(job);
	return write_at(job, job->loop->plan.record_bytes, offset);
}

static int seek_record(struct wp_io_job *job, int64_t offset)
{
	if (job->operations % SEEK_UPDATES == SEEK_UPDATES - 1)
		return rewrite_record(job, offset);
	return read_record(job, offset);
}

static int read_segment(struct wp_io_job *job, int64_t offset)
{
	for (int64_t at = 0; at < WP_IO_SEGMENT_BYTES; at += WP_IO_SEGMENT_READ_BYTES)
		if (read_at(job, WP_IO_SEGMENT_READ_BYTES, offset + at))
			return -1;
	return 0;
}

static uint64_t stride_record(uint64_t place, uint64_t count)
{
	uint64_t whole = count / STRIDE; /* records in each of the 17 rows, one more in the first */
	uint64_t longer = count % STRIDE;
	uint64_t row;

	if (place < longer * (whole + 1)) {
		row = place / (whole + 1);
		return place % (whole + 1) * STRIDE + row;
	}
	place -= longer * (whole + 1);
	row = longer + place / whole;
	return place % whole * STRIDE + row;
}

uint64_t wp_io_ordered(const struct wp_io_job *job, uint64_t place)
{
	switch (job->loop->plan.order) {
	case WP_IO_BACKWARD:
		return job->shuffle.count - 1 - place;
	case WP_IO_STRIDE:
		return stride_record(place, job->shuffle.count);
	case WP_IO_RANDOM:
		return wp_io_shuffle_at(&job->shuffle, place);
	default:
		return place;
	}
}

/* Out of line, so that it stays a call for each byte as in stdio. */
static __attribute__((noinline)) void put_byte(struct wp_io_job *job, size_t *used, unsigned char c)
{
	job->buffer[(*used)++] = c;
}

static __attribute__((noinline)) unsigned char get_byte(const struct wp_io_job *job, size_t *used)
{
	return job->buffer[(*used)++];
}

static int put_buffer(struct wp_io_job *job, int64_t offset)
{
	size_t used = 0;

	while (used < WP_IO_STDIO_BYTES)
		put_byte(job, &used, (unsigned char)(used ^ (size_t)offset));
	return write_at(job, WP_IO_STDIO_BYTES, offset);
}

static int get_buffer(struct wp_io_job *job, int64_t offset)
{
	size_t used = 0;
	uint64_t sum = 0;

	if (read_at(job, WP_IO_STDIO_BYTES, offset))
		return -1;
	while (used < WP_IO_STDIO_BYTES)
		sum += get_byte(job, &used);
	job->sequence += sum; /* the bytes are used, so that they are read */
	return 0;
}

/* A look at the clock for each byte would be a twelfth of the time. */
static int write_bytes(struct wp_io_job *job, int64_t offset)
{
	for (int64_t at = offset; at < offset + WP_IO_BYTE_CALLS; at++) {
		job->buffer[0] = (unsigned char)at;
		if (write_at(job, 1, at))
			return -1;
	}
	return 0;
}

static int read_bytes(struct wp_io_job *job, int64_t offset)
{
	for (int64_t at = offset; at < offset + WP_IO_BYTE_CALLS; at++)
		if (read_at(job, 1, at))
			return -1;
	return 0;
}

int (*wp_io_operation(enum wp_io_work work))(struct wp_io_job *job, int64_t offset)
{
	static int (*const operations[])(struct wp_io_job *, int64_t) = {
		[WP_IO_READ] = read_record,
		[WP_IO_WRITE] = write_record,
		[WP_IO_REWRITE] = rewrite_record,
		[WP_IO_SEEK] = seek_record,
		[WP_IO_SEGMENT] = read_segment,
		[WP_IO_PUTC] = put_buffer,
		[WP_IO_GETC] = get_buffer,
		[WP_IO_WRITE_ONE] = write_bytes,
		[WP_IO_READ_ONE] = read_bytes,
	};

	return operations[work];
}

int64_t wp_io_step_bytes(const struct wp_io_plan *plan)
{
	if (plan->work == WP_IO_PUTC || plan->work == WP_IO_GETC)
		return WP_IO_STDIO_BYTES;
	if (plan->work == WP_IO_WRITE_ONE || plan->work == WP_IO_READ_ONE)
		return WP_IO_BYTE_CALLS;
	return plan->work == WP_IO_SEGMENT ? WP_IO_SEGMENT_BYTES : plan->record_bytes;
}
