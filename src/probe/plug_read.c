/* SPDX-License-Identifier: PostgreSQL */
#include "plug_read.h"
#include "walprobe/mem.h"
#include "walprobe/record.h"
#include "walprobe/thread.h"

#include <stdatomic.h>

#define ALIGNMENT 4096

enum job {
	JOB_OPEN,
	JOB_READ,
	JOB_END,
};

/* Owned by both sides: the one that leaves last frees it. */
struct plug_reader {
	const struct wp_os *os;
	int64_t timeout_ns;
	size_t size_bytes;
	struct wp_thread thread;
	struct wp_sem asked;
	struct wp_sem answered;
	bool is_hung;
	/* the job */
	enum job job;
	char *path;
	int fd;
	int64_t offset;
	size_t length;
	/* its result */
	int64_t result;
	int64_t file_bytes;
	uint8_t *buffer; /* the thread's, aligned */
	uint8_t *bytes;  /* the caller's */
	bool *unreadable;
};

static void do_open(struct plug_reader *reader)
{
	const struct wp_os *os = reader->os;
	struct stat info;
	int fd = wp_os_open(os, reader->path, O_RDONLY | O_DIRECT | O_NOFOLLOW, 0);
	int rc;

	if (fd == -EINVAL || fd == -EOPNOTSUPP) {
		fd = wp_os_open(os, reader->path, O_RDONLY | O_NOFOLLOW, 0);
		if (fd >= 0)
			/* Best effort: after a restart nothing is cached anyway. */
			(void)wp_os_fadvise(os, fd, 0, 0, POSIX_FADV_DONTNEED);
	}
	reader->result = fd;
	if (fd < 0)
		return;
	rc = wp_os_fstat(os, fd, &info);
	if (!rc && !S_ISREG(info.st_mode))
		rc = -EINVAL;
	reader->file_bytes = info.st_size;
	if (rc < 0) {
		(void)wp_os_close(os, fd); /* read only */
		reader->result = rc;
	}
}

static void run(void *argument)
{
	struct plug_reader *reader = argument;

	for (;;) {
		wp_sem_wait(&reader->asked);
		if (reader->job == JOB_END)
			return;
		if (reader->job == JOB_OPEN)
			do_open(reader);
		else
			reader->result = wp_os_pread(reader->os, reader->fd, reader->buffer,
				reader->length, reader->offset);
		wp_sem_post(&reader->answered);
	}
}

int plug_reader_new(struct plug_reader **out, const struct wp_os *os, size_t size_bytes,
	int64_t timeout_ns, struct wp_err *err)
{
	struct plug_reader *reader = wp_xcalloc(1, sizeof(*reader));
	int rc;

	reader->os = os;
	reader->timeout_ns = timeout_ns;
	reader->size_bytes = size_bytes;
	reader->buffer = wp_xaligned(ALIGNMENT, size_bytes);
	reader->bytes = wp_xcalloc(1, size_bytes);
	reader->unreadable = wp_xcalloc(size_bytes / WP_SECTOR_BYTES, sizeof(bool));
	wp_sem_init(&reader->asked, 0);
	wp_sem_init(&reader->answered, 0);
	rc = wp_thread_start(&reader->thread, run, reader, 0, err);
	if (rc)
		plug_reader_free(reader);
	else
		*out = reader;
	return rc;
}

void plug_reader_free(struct plug_reader *reader)
{
	if (!reader || reader->is_hung)
		return; /* its thread still uses it, perhaps for ever */
	if (reader->thread.is_started) {
		reader->job = JOB_END;
		wp_sem_post(&reader->asked);
		wp_thread_join(&reader->thread);
	}
	wp_sem_release(&reader->asked);
	wp_sem_release(&reader->answered);
	free(reader->path);
	free(reader->unreadable);
	free(reader->bytes);
	free(reader->buffer);
	free(reader);
}

/* The job's result, or -ETIMEDOUT. */
static int64_t ask(struct plug_reader *reader, enum job job)
{
	if (reader->is_hung)
		return -ETIMEDOUT;
	reader->job = job;
	wp_sem_post(&reader->asked);
	if (wp_sem_wait_for(&reader->answered, reader->timeout_ns))
		return reader->result;
	reader->is_hung = true;
	return -ETIMEDOUT;
}

bool plug_reader_is_hung(const struct plug_reader *reader)
{
	return reader->is_hung;
}

int plug_reader_open(struct plug_reader *reader, const char *path, int64_t *size_bytes)
{
	int64_t rc;

	if (reader->is_hung)
		return -ETIMEDOUT;
	free(reader->path);
	reader->path = wp_xstrdup(path);
	rc = ask(reader, JOB_OPEN);
	*size_bytes = rc < 0 ? 0 : reader->file_bytes;
	return (int)rc;
}

void plug_reader_close(struct plug_reader *reader, int fd)
{
	/* A close may wait for the read that hangs. */
	if (!reader->is_hung)
		(void)wp_os_close(reader->os, fd); /* read only */
}

static int64_t read_at(struct plug_reader *reader, int fd, int64_t offset, size_t length)
{
	reader->fd = fd;
	reader->offset = offset;
	reader->length = length;
	return ask(reader, JOB_READ);
}

static void read_sectors(struct plug_reader *reader, int fd, int64_t offset, size_t length)
{
	for (size_t at = 0; at < length; at += WP_SECTOR_BYTES) {
		int64_t got = read_at(reader, fd, offset + (int64_t)at, WP_SECTOR_BYTES);

		if (got == WP_SECTOR_BYTES)
			memcpy(reader->bytes + at, reader->buffer, WP_SECTOR_BYTES);
		else
			reader->unreadable[at / WP_SECTOR_BYTES] = true;
	}
}

size_t plug_reader_read(struct plug_reader *reader, int fd, int64_t offset, size_t length,
	const uint8_t **bytes, const bool **unreadable)
{
	int64_t got;

	assert(length <= reader->size_bytes);
	memset(reader->bytes, 0, length);
	memset(reader->unreadable, 0, length / WP_SECTOR_BYTES * sizeof(bool));
	*bytes = reader->bytes;
	*unreadable = reader->unreadable;
	got = read_at(reader, fd, offset, length);
	if (got >= 0) {
		memcpy(reader->bytes, reader->buffer, (size_t)got);
		return (size_t)got;
	}
	read_sectors(reader, fd, offset, length);
	return length;
}
