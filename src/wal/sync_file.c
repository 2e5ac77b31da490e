/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/mem.h"
#include "walprobe/stop.h"
#include "walprobe/sync_loop.h"
#include "walprobe/units.h"

#define ZERO_CHUNK_BYTES (256 * 1024) /* PostgreSQL 14 to 17: 32 pages in one pwritev */

void wp_sync_file_init(struct wp_sync_file *file, const struct wp_os *os, const char *dir,
	const char *name, enum wp_sync_fill fill, int64_t size_bytes)
{
	*file = (struct wp_sync_file){ .os = os, .fill = fill, .size_bytes = size_bytes };
	file->dir = wp_xstrdup(dir);
	file->path = wp_xasprintf("%s/%s", dir, name);
}

void wp_sync_file_release(struct wp_sync_file *file)
{
	free(file->dir);
	free(file->path);
	memset(file, 0, sizeof(*file));
}

int wp_sync_file_remove(struct wp_sync_file *file, struct wp_err *err)
{
	int rc;

	if (!file->is_made)
		return 0;
	rc = wp_os_unlink(file->os, file->path);
	file->is_made = false;
	file->next_bytes = 0;
	if (rc && rc != -ENOENT)
		return wp_fail(err, WP_E_SYS, -rc, "could not remove \"%s\"", file->path);
	return 0;
}

int wp_sync_file_fail(
	const struct wp_sync_file *file, const char *call, int sys_errno, struct wp_err *err)
{
	struct statvfs space;
	char needed[32];
	char available[32];
	int64_t free_bytes;
	int rc = wp_fail(err, WP_E_SYS, sys_errno, "could not %s \"%s\"", call, file->path);

	if (rc != -WP_E_NOSPACE || wp_os_statvfs(file->os, file->dir, &space) < 0)
		return rc;
	free_bytes = (int64_t)space.f_bavail * (int64_t)space.f_frsize;
	wp_err_detail(err, "%s (%" PRId64 " bytes) were needed, %s (%" PRId64 " bytes) are free.",
		wp_format_size(file->size_bytes, needed, sizeof(needed)), file->size_bytes,
		wp_format_size(free_bytes, available, sizeof(available)), free_bytes);
	wp_err_hint(err, "Free some space, or use smaller files.");
	return rc;
}

static int fill_zeros(const struct wp_sync_file *file, int fd, struct wp_err *err)
{
	unsigned char *zeros = wp_xcalloc(ZERO_CHUNK_BYTES, 1);
	int rc = 0;

	for (int64_t offset = 0; !rc && offset < file->size_bytes; offset += ZERO_CHUNK_BYTES) {
		int64_t left = file->size_bytes - offset;
		size_t size = left < ZERO_CHUNK_BYTES ? (size_t)left : ZERO_CHUNK_BYTES;

		rc = wp_os_write_all(file->os, fd, zeros, size, offset);
		if (rc)
			rc = wp_sync_file_fail(file, "write to", -rc, err);
		else
			rc = wp_stop_fail(err); /* a slow disk takes seconds for one file */
	}
	free(zeros);
	return rc;
}

static int fill(const struct wp_sync_file *file, int fd, struct wp_err *err)
{
	int rc = 0;

	switch (file->fill) {
	case WP_SYNC_FILL_ZERO:
		return fill_zeros(file, fd, err);
	case WP_SYNC_FILL_ALLOCATE:
		rc = wp_os_fallocate(file->os, fd, 0, 0, file->size_bytes);
		if (rc == -EOPNOTSUPP || rc == -ENOSYS)
			return wp_fail(err, WP_E_UNSUPPORTED, 0, "fallocate refused: %s",
				wp_errno_name(-rc));
		break;
	case WP_SYNC_FILL_SPARSE:
		rc = wp_os_write_all(file->os, fd, "", 1, file->size_bytes - 1);
		break;
	}
	return rc ? wp_sync_file_fail(file,
			    file->fill == WP_SYNC_FILL_ALLOCATE ? "allocate" : "write to", -rc, err)
		  : 0;
}

/* The name must be on disk too, or the first timed sync pays for it (fsync_fname in fd.c). */
static int sync_directory(const struct wp_sync_file *file, struct wp_err *err)
{
	int fd = wp_os_open(file->os, file->dir, O_RDONLY | O_DIRECTORY, 0);
	int rc;

	if (fd < 0)
		return wp_fail(err, WP_E_SYS, -fd, "could not open \"%s\"", file->dir);
	rc = wp_os_fsync(file->os, fd);
	(void)wp_os_close(file->os, fd); /* read only: nothing can be lost */
	/* Some file systems have no fsync of directories, which PostgreSQL lets pass as well. */
	if (rc && rc != -EBADF && rc != -EINVAL)
		return wp_fail(err, WP_E_SYS, -rc, "could not fsync \"%s\"", file->dir);
	return 0;
}

/* Fill, sync and close fd. */
static int complete(const struct wp_sync_file *file, int fd, struct wp_err *err)
{
	int rc = fill(file, fd, err);
	int close_rc;

	if (!rc) {
		rc = wp_os_fsync(file->os, fd);
		if (rc)
			rc = wp_sync_file_fail(file, "fsync", -rc, err);
	}
	close_rc = wp_os_close(file->os, fd);
	if (close_rc && !rc)
		rc = wp_sync_file_fail(file, "close", -close_rc, err);
	return rc;
}

int wp_sync_file_make(struct wp_sync_file *file, int64_t *syncs, struct wp_err *err)
{
	int rc = wp_sync_file_remove(file, err);
	int fd;

	if (rc)
		return rc;
	fd = wp_os_open(file->os, file->path, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (fd < 0)
		return wp_sync_file_fail(file, "create", -fd, err);
	file->is_made = true;
	rc = complete(file, fd, err);
	if (!rc)
		rc = sync_directory(file, err);
	if (rc)
		(void)wp_sync_file_remove(file, NULL); /* the first failure is the one to tell */
	else if (syncs)
		*syncs += 2;
	return rc;
}
