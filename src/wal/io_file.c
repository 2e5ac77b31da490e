/* SPDX-License-Identifier: PostgreSQL */
#include "io_internal.h"

#include "walprobe/mem.h"
#include "walprobe/stop.h"
#include "walprobe/units.h"

#define FILL_BYTES (INT64_C(1) << 20)
#define BUFFER_ALIGNMENT 8192
#define PAGE_BYTES 8192
#define TELL_EVERY_NS (100 * WP_NS_PER_MS)

void wp_io_pool_init(
	struct wp_io_pool *pool, const struct wp_os *os, int jobs, int64_t buffer_bytes)
{
	if (buffer_bytes < WP_IO_SEGMENT_READ_BYTES)
		buffer_bytes = WP_IO_SEGMENT_READ_BYTES;
	*pool = (struct wp_io_pool){ .os = os, .jobs = jobs, .buffer_bytes = (size_t)buffer_bytes };
	pool->buffers = wp_xcalloc((size_t)jobs, sizeof(*pool->buffers));
	pool->hists = wp_xcalloc((size_t)jobs, sizeof(*pool->hists));
	pool->ticks = wp_xcalloc((size_t)jobs, sizeof(*pool->ticks));
	for (int i = 0; i < jobs; i++) {
		struct wp_random random;

		pool->buffers[i] = wp_xaligned(BUFFER_ALIGNMENT, pool->buffer_bytes);
		wp_random_init(&random, (uint64_t)i + 1);
		wp_random_fill(&random, pool->buffers[i], pool->buffer_bytes);
		wp_hist_init(&pool->hists[i]);
		wp_tick_init(&pool->ticks[i], os);
	}
}

void wp_io_pool_release(struct wp_io_pool *pool)
{
	for (int i = 0; i < pool->jobs; i++) {
		free(pool->buffers[i]);
		wp_hist_release(&pool->hists[i]);
	}
	free(pool->buffers);
	free(pool->hists);
	free(pool->ticks);
	memset(pool, 0, sizeof(*pool));
}

void wp_io_files_init(struct wp_io_files *files, const struct wp_os *os, const char *dir, int count,
	int64_t file_bytes)
{
	*files = (struct wp_io_files){
		.os = os, .dir = wp_xstrdup(dir), .count = count, .file_bytes = file_bytes
	};
}

void wp_io_files_release(struct wp_io_files *files)
{
	free(files->dir);
	memset(files, 0, sizeof(*files));
}

void wp_io_path(const struct wp_io_files *files, bool is_new, int index, char *out, size_t size)
{
	(void)snprintf(out, size, "%s/%s-%d", files->dir, is_new ? "new" : "data", index);
}

static void tell_space(const struct wp_os *os, const char *dir, int64_t needed, struct wp_err *err)
{
	struct statvfs space;
	char needed_text[32];
	char free_text[32];
	int64_t available;

	if (wp_os_statvfs(os, dir, &space) < 0)
		return;
	available = (int64_t)space.f_bavail * (int64_t)space.f_frsize;
	wp_err_detail(err, "%s (%" PRId64 " bytes) were needed, %s (%" PRId64 " bytes) are free.",
		wp_format_size(needed, needed_text, sizeof(needed_text)), needed,
		wp_format_size(available, free_text, sizeof(free_text)), available);
}

int wp_io_file_fail(const struct wp_os *os, const char *dir, const char *path, const char *call,
	int sys_errno, int64_t needed_bytes, struct wp_err *err)
{
	int rc = wp_fail(err, WP_E_SYS, sys_errno, "could not %s \"%s\"", call, path);

	switch (sys_errno) {
	case ENOSPC:
		tell_space(os, dir, needed_bytes, err);
		wp_err_hint(err, "Free some space, or use a smaller --size or fewer --files.");
		break;
	case EDQUOT:
		wp_err_hint(err, "Raise the quota, or use a smaller --size or fewer --files.");
		break;
	case EFBIG:
		wp_err_hint(err,
			"A limit of file sizes is in force (ulimit -f): raise it, or use a "
			"smaller --size.");
		break;
	case EMFILE:
	case ENFILE:
		wp_err_hint(err, "Raise the limit of open files (ulimit -n), or use fewer --jobs.");
		break;
	default:
		break;
	}
	return rc;
}

struct filling {
	const struct wp_io_files *files;
	unsigned char *buffer;
	uint64_t sequence;
	int64_t done_bytes;
	int64_t limit_bytes;
	int64_t told_ns;
	void (*tell)(void *ctx, int64_t done_bytes);
	void *ctx;
};

static int fill_failed(const struct filling *filling, const char *path, const char *call, int rc,
	struct wp_err *err)
{
	return wp_io_file_fail(filling->files->os, filling->files->dir, path, call, -rc,
		filling->files->count * filling->files->file_bytes, err);
}

static bool is_enough(const struct filling *filling)
{
	return filling->limit_bytes && filling->done_bytes >= filling->limit_bytes;
}

static void tell_progress(struct filling *filling)
{
	int64_t now_ns;

	if (!filling->tell)
		return;
	now_ns = wp_os_now_ns(filling->files->os);
	if (now_ns - filling->told_ns < TELL_EVERY_NS)
		return;
	filling->told_ns = now_ns;
	filling->tell(filling->ctx, filling->done_bytes);
}

static int fill_fd(struct filling *filling, int fd, const char *path, struct wp_err *err)
{
	int64_t size = filling->files->file_bytes;
	int rc = 0;

	for (int64_t at = 0; !rc && at < size && !is_enough(filling); at += FILL_BYTES) {
		int64_t part = size - at < FILL_BYTES ? size - at : FILL_BYTES;

		/* No two pages of the file are alike. */
		for (int64_t page = 0; page + (int64_t)sizeof(filling->sequence) <= part;
			page += PAGE_BYTES) {
			filling->sequence++;
			memcpy(filling->buffer + page, &filling->sequence,
				sizeof(filling->sequence));
		}
		rc = wp_os_write_all(filling->files->os, fd, filling->buffer, (size_t)part, at);
		if (rc)
			return fill_failed(filling, path, "write to", rc, err);
		filling->done_bytes += part;
		tell_progress(filling);
		rc = wp_stop_fail(err);
	}
	if (rc)
		return rc;
	rc = wp_os_fsync(filling->files->os, fd);
	return rc ? fill_failed(filling, path, "fsync", rc, err) : 0;
}

static int fill_file(struct filling *filling, int index, struct wp_err *err)
{
	const struct wp_os *os = filling->files->os;
	char path[4096];
	int close_rc;
	int fd;
	int rc;

	wp_io_path(filling->files, false, index, path, sizeof(path));
	fd = wp_os_open(os, path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return fill_failed(filling, path, "create", fd, err);
	rc = fill_fd(filling, fd, path, err);
	close_rc = wp_os_close(os, fd);
	if (close_rc && !rc)
		rc = fill_failed(filling, path, "close", close_rc, err);
	return rc;
}

int wp_io_files_make(const struct wp_io_files *files, uint64_t seed, int64_t limit_bytes,
	void (*tell)(void *ctx, int64_t done_bytes), void *ctx, struct wp_err *err)
{
	struct filling filling = { .files = files,
		.limit_bytes = limit_bytes,
		.tell = tell,
		.ctx = ctx,
		.told_ns = wp_os_now_ns(files->os) };
	struct wp_random random;
	int rc = 0;

	if (files->file_bytes == 0)
		return 0;
	filling.buffer = wp_xaligned(BUFFER_ALIGNMENT, FILL_BYTES);
	wp_random_init(&random, seed);
	wp_random_fill(&random, filling.buffer, FILL_BYTES);
	filling.sequence = wp_random_next(&random);
	for (int i = 0; !rc && i < files->count && !is_enough(&filling); i++)
		rc = fill_file(&filling, i, err);
	free(filling.buffer);
	if (rc || limit_bytes)
		wp_io_files_remove(files);
	return rc;
}

void wp_io_files_remove(const struct wp_io_files *files)
{
	char path[4096];

	for (int i = 0; i < files->count; i++) {
		wp_io_path(files, false, i, path, sizeof(path));
		(void)wp_os_unlink(files->os, path); /* what stays goes with the directory */
		wp_io_path(files, true, i, path, sizeof(path));
		(void)wp_os_unlink(files->os, path);
	}
}
