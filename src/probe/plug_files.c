/* SPDX-License-Identifier: PostgreSQL */
/*
 * The files of a run. Each is made under a temporary name, filled, synced, renamed, and its name
 * synced, as XLogFileInit() and durable_rename() do it; only then may anybody be told of it.
 */
#include "plug_internal.h"
#include "walprobe/mem.h"

#define FILE_MODE 0600
#define FILL_BYTES ((size_t)256 << 10)

static int fail_on(struct wp_err *err, int rc, const char *call, const char *path)
{
	return wp_fail(err, WP_E_SYS, -rc, "could not %s \"%s\"", call, path);
}

int plug_sync_dir(const struct wp_os *os, const char *path, struct wp_err *err)
{
	int fd = wp_os_open(os, path, O_RDONLY | O_DIRECTORY, 0);
	int rc;

	if (fd < 0)
		return fail_on(err, fd, "open directory", path);
	rc = wp_os_fsync(os, fd);
	(void)wp_os_close(os, fd); /* nothing was written through it */
	/* As fsync_fname(): the file system has no such thing as syncing a directory. */
	if (rc == -EBADF || rc == -EINVAL)
		rc = 0;
	return rc < 0 ? fail_on(err, rc, "fsync directory", path) : 0;
}

static int sync_and_close(const struct wp_os *os, int fd, const char *path, struct wp_err *err)
{
	int rc = wp_os_fsync(os, fd);
	int closed = wp_os_close(os, fd);

	if (rc < 0)
		return fail_on(err, rc, "fsync", path);
	return closed < 0 ? fail_on(err, closed, "close", path) : 0;
}

/* From a temporary name, synced already, to the one that counts. */
static int install(const struct plug_dir *dir, const char *from, const char *to, struct wp_err *err)
{
	int rc = wp_os_rename(dir->os, from, to);
	int fd;

	if (rc < 0)
		return fail_on(err, rc, "rename", from);
	fd = wp_os_open(dir->os, to, O_RDWR, 0);
	if (fd < 0)
		return fail_on(err, fd, "open", to);
	rc = sync_and_close(dir->os, fd, to, err);
	return rc ? rc : plug_sync_dir(dir->os, dir->path, err);
}

static int create_temporary(
	const struct plug_dir *dir, const char *path, int *fd, struct wp_err *err)
{
	(void)wp_os_unlink(dir->os, path); /* as a rule nothing is there */
	*fd = wp_os_open(dir->os, path, O_RDWR | O_CREAT | O_EXCL, FILE_MODE);
	return *fd < 0 ? fail_on(err, *fd, "create", path) : 0;
}

int plug_file_write(
	const struct plug_dir *dir, const char *name, const char *text, struct wp_err *err)
{
	char *temporary = wp_xasprintf("%s/%s.new", dir->path, name);
	char *path = wp_xasprintf("%s/%s", dir->path, name);
	int fd;
	int rc = create_temporary(dir, temporary, &fd, err);

	if (!rc) {
		rc = wp_os_write_all(dir->os, fd, text, strlen(text), 0);
		if (rc < 0) {
			(void)wp_os_close(dir->os, fd); /* the failed write is what counts */
			rc = fail_on(err, rc, "write", temporary);
		} else {
			rc = sync_and_close(dir->os, fd, temporary, err);
		}
	}
	if (!rc)
		rc = install(dir, temporary, path, err);
	free(path);
	free(temporary);
	return rc;
}

/* what a file is filled with */
struct filling {
	struct wp_payload *payload; /* NULL: zeros */
	struct wp_stamp stamp;      /* of the first page */
};

static void next_page(const struct plug_dir *dir, struct filling *filling, uint8_t *page)
{
	if (!filling->payload)
		return; /* the buffer is of zeros */
	wp_record_build(filling->payload, &filling->stamp, dir->page_bytes / WP_SECTOR_BYTES, page);
	filling->stamp.seq++;
	filling->stamp.position += dir->page_bytes;
}

static int fill(const struct plug_dir *dir, int fd, uint32_t slots, struct filling *filling,
	const atomic_bool *is_stopped)
{
	size_t pages = FILL_BYTES / dir->page_bytes;
	uint8_t *buffer = wp_xaligned(4096, pages * dir->page_bytes);
	int rc = 0;

	for (uint32_t slot = 0; slot < slots && !rc;) {
		size_t count = slots - slot < pages ? slots - slot : pages;

		if (is_stopped && atomic_load_explicit(is_stopped, memory_order_relaxed))
			break;
		for (size_t i = 0; i < count; i++)
			next_page(dir, filling, buffer + i * dir->page_bytes);
		rc = wp_os_write_all(dir->os, fd, buffer, count * dir->page_bytes,
			(int64_t)slot * dir->page_bytes);
		slot += (uint32_t)count;
	}
	free(buffer);
	return rc;
}

static void prefill_stamp(
	const struct plug_dir *dir, const struct wp_ledger_segment *segment, struct wp_stamp *out)
{
	memset(out, 0, sizeof(*out));
	out->kind = WP_RECORD_PREFILL;
	out->run = dir->run;
	out->writer = segment->writer;
	out->cycle = dir->cycle;
	out->segno = segment->segno;
	out->physical = segment->physical;
	/* Each prefilled page has a payload of its own. */
	out->seq = (uint64_t)segment->physical << 24;
}

static int make_file(const struct plug_dir *dir, const char *temporary, const char *path,
	uint32_t slots, struct filling *filling, const atomic_bool *is_stopped, struct wp_err *err)
{
	int fd;
	int rc = create_temporary(dir, temporary, &fd, err);

	if (rc)
		return rc;
	rc = fill(dir, fd, slots, filling, is_stopped);
	if (rc < 0) {
		(void)wp_os_close(dir->os, fd); /* the failed write is what counts */
		(void)wp_os_unlink(dir->os, temporary);
		return fail_on(err, rc, "write", temporary);
	}
	rc = sync_and_close(dir->os, fd, temporary, err);
	return rc ? rc : install(dir, temporary, path, err);
}

int plug_segment_make(const struct plug_dir *dir, struct wp_payload *payload,
	enum wp_workload workload, const struct wp_ledger_segment *segment,
	const atomic_bool *is_stopped, struct wp_err *err)
{
	struct filling filling = { .payload = workload == WP_WORKLOAD_RECYCLE ? payload : NULL };
	uint32_t slots = workload == WP_WORKLOAD_APPEND ? 0 : segment->slots;
	char *temporary;
	char *path;
	int rc;

	if (workload == WP_WORKLOAD_CREATE)
		return 0; /* its records make their files themselves */
	prefill_stamp(dir, segment, &filling.stamp);
	temporary = wp_xasprintf("%s/wtemp.%04u", dir->path, segment->writer);
	path = plug_segment_path(dir->path, segment->writer, segment->segno);
	rc = make_file(dir, temporary, path, slots, &filling, is_stopped, err);
	free(path);
	free(temporary);
	return rc;
}

int plug_segment_recycle(const struct plug_dir *dir, const struct wp_ledger_segment *old_segment,
	const struct wp_ledger_segment *new_segment, struct wp_err *err)
{
	char *from = plug_segment_path(dir->path, old_segment->writer, old_segment->segno);
	char *to = plug_segment_path(dir->path, new_segment->writer, new_segment->segno);
	int fd = wp_os_open(dir->os, from, O_RDWR, 0);
	int rc;

	if (fd < 0)
		rc = fail_on(err, fd, "open", from);
	else
		rc = sync_and_close(dir->os, fd, from, err);
	if (!rc)
		rc = install(dir, from, to, err);
	free(to);
	free(from);
	return rc;
}

static int remove_file(const struct wp_os *os, char *path, struct wp_err *err)
{
	int rc = wp_os_unlink(os, path);

	rc = rc < 0 && rc != -ENOENT ? fail_on(err, rc, "unlink", path) : 0;
	free(path);
	return rc;
}

int plug_segment_remove(const struct plug_dir *dir, enum wp_workload workload,
	const struct wp_ledger_segment *segment, struct wp_err *err)
{
	int rc = 0;

	if (workload != WP_WORKLOAD_CREATE)
		rc = remove_file(dir->os,
			plug_segment_path(dir->path, segment->writer, segment->segno), err);
	for (uint32_t slot = 0; !rc && workload == WP_WORKLOAD_CREATE && slot < segment->slots;
		slot++)
		rc = remove_file(dir->os,
			plug_record_path(dir->path, segment->writer, segment->segno, slot), err);
	return rc ? rc : plug_sync_dir(dir->os, dir->path, err);
}

int plug_cold_make(const struct plug_dir *dir, struct wp_payload *payload,
	const struct wp_manifest *manifest, const struct wp_ledger_segment *segment,
	struct wp_err *err)
{
	struct filling filling = { .payload = payload };
	char *temporary = wp_xasprintf("%s/" PLUG_COLD ".new", dir->path);
	char *path = plug_cold_path(dir->path);
	int rc;

	wp_classify_expected(manifest, segment, 0, &filling.stamp);
	rc = make_file(dir, temporary, path, segment->slots, &filling, NULL, err);
	free(path);
	free(temporary);
	return rc;
}
