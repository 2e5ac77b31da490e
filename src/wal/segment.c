/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/segment.h"
#include "walprobe/wal_page.h"

#define FILL_PAGES_MAXIMUM 128
#define FILE_MODE 0600

const struct wp_era *wp_era_find(const char *name)
{
	/*
	 * 7.1 stands for the releases before 8.0: one write per page, link and unlink, no sync of
	 * names. Its page layout is not imitated: pages look like those of 15.
	 */
	static const struct wp_era eras[] = {
		{ "7.1", 0xd110, 1, true, false, false, 1, false, 1 },
		{ "12", 0xd101, 1, true, true, true, 0, false, 1 },
		{ "15", 0xd110, 32, false, true, true, 0, false, 1 },
		{ "18", 0xd118, 128, false, true, true, 0, true, 128 },
	};

	for (size_t i = 0; i < WP_COUNT(eras); i++)
		if (strcmp(eras[i].name, name) == 0)
			return &eras[i];
	return NULL;
}

const char *wp_segment_name(
	char out[WP_SEGMENT_NAME_BYTES], uint32_t timeline, uint64_t segno, int64_t segment_bytes)
{
	uint64_t per_id = (UINT64_C(1) << 32) / (uint64_t)segment_bytes;

	(void)snprintf(out, WP_SEGMENT_NAME_BYTES, "%08X%08X%08X", timeline,
		(unsigned)(segno / per_id), (unsigned)(segno % per_id));
	return out;
}

static void segment_path(
	const struct wp_segments *segments, uint64_t segno, char out[WP_SEGMENT_PATH_BYTES])
{
	char name[WP_SEGMENT_NAME_BYTES];

	(void)snprintf(out, WP_SEGMENT_PATH_BYTES, "%s/%s", segments->dir,
		wp_segment_name(name, WP_WAL_TIMELINE, segno, segments->segment_bytes));
}

static int sync_fd(struct wp_segments *segments, int fd, const char *path, struct wp_err *err)
{
	int rc = wp_os_fsync(segments->os, fd);

	if (rc < 0)
		return wp_fail(err, WP_E_SYS, -rc, "could not fsync \"%s\"", path);
	(void)atomic_fetch_add_explicit(&segments->fsyncs, 1, memory_order_relaxed);
	return 0;
}

static int close_fd(struct wp_segments *segments, int fd, const char *path, struct wp_err *err)
{
	int rc = wp_os_close(segments->os, fd);

	return rc < 0 ? wp_fail(err, WP_E_SYS, -rc, "could not close \"%s\"", path) : 0;
}

static int sync_and_close(
	struct wp_segments *segments, int fd, const char *path, struct wp_err *err)
{
	int rc = sync_fd(segments, fd, path, err);

	if (rc) {
		(void)wp_os_close(segments->os, fd); /* the failed sync is what counts */
		return rc;
	}
	return close_fd(segments, fd, path, err);
}

static int sync_path(struct wp_segments *segments, const char *path, int flags, struct wp_err *err)
{
	int fd = wp_os_open(segments->os, path, flags, 0);

	if (fd < 0)
		return wp_fail(err, WP_E_SYS, -fd, "could not open \"%s\"", path);
	return sync_and_close(segments, fd, path, err);
}

static bool is_link_refused(int sys_errno)
{
	return sys_errno == EPERM || sys_errno == EOPNOTSUPP || sys_errno == ENOSYS ||
	       sys_errno == EMLINK;
}

static int link_and_unlink(
	struct wp_segments *segments, const char *from, const char *to, struct wp_err *err)
{
	int rc = wp_os_link(segments->os, from, to);

	if (rc < 0)
		return wp_fail(err, is_link_refused(-rc) ? WP_E_UNSUPPORTED : WP_E_SYS, -rc,
			"could not link \"%s\" to \"%s\"", from, to);
	rc = wp_os_unlink(segments->os, from);
	if (rc < 0)
		return wp_fail(err, WP_E_SYS, -rc, "could not unlink \"%s\"", from);
	return 0;
}

/* durable_rename() also syncs a file that bears the new name already; here none does. */
static int sync_target_if_any(struct wp_segments *segments, const char *to, struct wp_err *err)
{
	int fd = wp_os_open(segments->os, to, O_RDWR, 0);

	if (fd >= 0)
		return sync_and_close(segments, fd, to, err);
	return fd == -ENOENT ? 0 : wp_fail(err, WP_E_SYS, -fd, "could not open \"%s\"", to);
}

static int give_name(
	struct wp_segments *segments, const char *from, const char *to, struct wp_err *err)
{
	bool is_durable = segments->era->is_durable;
	int rc;

	if (is_durable && (rc = sync_path(segments, from, O_RDWR, err)) != 0)
		return rc;
	if (segments->is_link) {
		rc = link_and_unlink(segments, from, to, err);
	} else {
		if (is_durable && (rc = sync_target_if_any(segments, to, err)) != 0)
			return rc;
		rc = wp_os_rename(segments->os, from, to);
		if (rc < 0)
			rc = wp_fail(
				err, WP_E_SYS, -rc, "could not rename \"%s\" to \"%s\"", from, to);
	}
	if (!rc && is_durable)
		rc = sync_path(segments, to, O_RDWR, err);
	if (!rc && is_durable)
		rc = sync_path(segments, segments->dir, O_RDONLY, err);
	return rc;
}

/*
 * Give a file the first free number from *segno up to limit. *is_given is false when all are
 * taken.
 */
static int install(struct wp_segments *segments, const char *from, uint64_t *segno, uint64_t limit,
	bool *is_given, struct wp_err *err)
{
	char path[WP_SEGMENT_PATH_BYTES];
	struct stat info;
	int rc;

	*is_given = false;
	for (;;) {
		segment_path(segments, *segno, path);
		rc = wp_os_stat(segments->os, path, &info);
		if (rc == -ENOENT)
			break;
		if (rc < 0)
			return wp_fail(err, WP_E_SYS, -rc, "could not stat \"%s\"", path);
		if (*segno >= limit)
			return 0;
		(*segno)++;
	}
	rc = give_name(segments, from, path, err);
	*is_given = rc == 0;
	return rc;
}

static int write_zeros(const struct wp_segments *segments, int fd, int64_t bytes, int64_t offset)
{
	static _Alignas(4096) char zeros[WP_WAL_PAGE_BYTES];
	struct iovec parts[FILL_PAGES_MAXIMUM];
	int count = (int)(bytes / WP_WAL_PAGE_BYTES);
	int64_t written;

	if (count == 1)
		return wp_os_write_all(segments->os, fd, zeros, sizeof(zeros), offset);
	for (int i = 0; i < count; i++)
		parts[i] = (struct iovec){ .iov_base = zeros, .iov_len = sizeof(zeros) };
	written = wp_os_pwritev(segments->os, fd, parts, count, offset);
	if (written < 0)
		return (int)written;
	/* Zeros are all alike: what a short write left over goes page by page. */
	while (written < bytes) {
		size_t rest = (size_t)(bytes - written);
		int rc = wp_os_write_all(segments->os, fd, zeros,
			rest < sizeof(zeros) ? rest : sizeof(zeros), offset + written);

		if (rc < 0)
			return rc;
		written += (int64_t)(rest < sizeof(zeros) ? rest : sizeof(zeros));
	}
	return 0;
}

static int fill(struct wp_segments *segments, int fd)
{
	int64_t step = (int64_t)segments->era->fill_pages * WP_WAL_PAGE_BYTES;
	int64_t bytes = segments->segment_bytes;

	if (segments->is_sparse)
		return wp_os_write_all(segments->os, fd, "", 1, bytes - 1);
	for (int64_t offset = 0; offset < bytes; offset += step) {
		int rc = write_zeros(segments, fd, step, offset);

		if (rc < 0)
			return rc;
		(void)atomic_fetch_add_explicit(
			&segments->filled_bytes, step, memory_order_relaxed);
	}
	return 0;
}

static int fail_to_fill(
	const struct wp_segments *segments, const char *path, int sys_errno, struct wp_err *err)
{
	struct statvfs space;
	int rc = wp_fail(err, WP_E_SYS, sys_errno, "could not write \"%s\"", path);

	if (rc == -WP_E_NOSPACE && wp_os_statvfs(segments->os, segments->dir, &space) == 0)
		wp_err_detail(err,
			"A segment needs %" PRId64 " bytes; %" PRIu64 " bytes are free there.",
			segments->segment_bytes, (uint64_t)space.f_bavail * space.f_frsize);
	return rc;
}

/* A filled and synced file under a temporary name; nothing is left after a failure. */
static int make_temporary(struct wp_segments *segments, const char *path, struct wp_err *err)
{
	const struct wp_os *os = segments->os;
	int rc;
	int fd;

	(void)wp_os_unlink(
		os, path); /* PostgreSQL clears the way too; as a rule nothing is there */
	fd = wp_os_open(os, path, O_RDWR | O_CREAT | O_EXCL, FILE_MODE);
	if (fd < 0)
		return wp_fail(err, WP_E_SYS, -fd, "could not create \"%s\"", path);
	rc = fill(segments, fd);
	if (rc < 0) {
		rc = fail_to_fill(segments, path, -rc, err);
		(void)wp_os_unlink(os, path); /* the failed write is what counts */
		(void)wp_os_close(os, fd);
		return rc;
	}
	rc = sync_and_close(segments, fd, path, err);
	if (rc)
		(void)wp_os_unlink(os, path); /* the failed sync is what counts */
	return rc;
}

static int create(struct wp_segments *segments, int owner, uint64_t segno, struct wp_err *err)
{
	char path[WP_SEGMENT_PATH_BYTES];
	uint64_t number = segno;
	bool is_given;
	int rc;

	(void)snprintf(path, sizeof(path), "%s/xlogtemp.%d", segments->dir, owner);
	rc = make_temporary(segments, path, err);
	if (rc)
		return rc;
	rc = install(segments, path, &number, segno + (uint64_t)segments->ahead, &is_given, err);
	if (rc || !is_given)
		(void)wp_os_unlink(segments->os, path); /* may have got its name already */
	if (!rc)
		(void)atomic_fetch_add_explicit(&segments->created, 1, memory_order_relaxed);
	return rc;
}

int wp_segment_open(struct wp_segments *segments, int owner, uint64_t segno, int flags, int *fd,
	struct wp_err *err)
{
	char path[WP_SEGMENT_PATH_BYTES];
	int opened;
	int rc;

	segment_path(segments, segno, path);
	opened = wp_os_open(segments->os, path, O_RDWR | flags, 0);
	if (opened == -ENOENT) {
		rc = create(segments, owner, segno, err);
		if (rc)
			return rc;
		opened = wp_os_open(segments->os, path, O_RDWR | flags, 0);
	}
	if (opened < 0)
		return wp_fail(err, WP_E_SYS, -opened, "could not open \"%s\"", path);
	*fd = opened;
	return 0;
}

/* durable_unlink(), or plain unlink() in the days before it. */
static int remove_segment(struct wp_segments *segments, const char *path, struct wp_err *err)
{
	int rc = wp_os_unlink(segments->os, path);

	if (rc < 0)
		return wp_fail(err, WP_E_SYS, -rc, "could not unlink \"%s\"", path);
	if (segments->era->is_durable)
		rc = sync_path(segments, segments->dir, O_RDONLY, err);
	if (!rc)
		(void)atomic_fetch_add_explicit(&segments->removed, 1, memory_order_relaxed);
	return rc;
}

/* XLogArchiveCleanup(): without archiving neither file exists. */
static void unlink_status(const struct wp_segments *segments, uint64_t segno)
{
	static const char *const kinds[] = { "done", "ready" };
	char name[WP_SEGMENT_NAME_BYTES];
	char path[WP_SEGMENT_PATH_BYTES];

	if (!segments->era->has_status_dir)
		return;
	(void)wp_segment_name(name, WP_WAL_TIMELINE, segno, segments->segment_bytes);
	for (size_t i = 0; i < WP_COUNT(kinds); i++) {
		(void)snprintf(path, sizeof(path), "%s/archive_status/%s.%s", segments->dir, name,
			kinds[i]);
		(void)wp_os_unlink(segments->os, path); /* PostgreSQL does not look either */
	}
}

int wp_segment_retire(struct wp_segments *segments, uint64_t segno, uint64_t *next, uint64_t limit,
	struct wp_err *err)
{
	char path[WP_SEGMENT_PATH_BYTES];
	struct stat info;
	bool is_given = false;
	int rc = 0;

	segment_path(segments, segno, path);
	if (*next <= limit) {
		rc = wp_os_lstat(segments->os, path, &info);
		if (rc < 0)
			return wp_fail(err, WP_E_SYS, -rc, "could not stat \"%s\"", path);
		rc = install(segments, path, next, limit, &is_given, err);
	}
	if (rc)
		return rc;
	if (is_given) {
		(void)atomic_fetch_add_explicit(&segments->recycled, 1, memory_order_relaxed);
		(*next)++;
	} else {
		rc = remove_segment(segments, path, err);
	}
	if (!rc)
		unlink_status(segments, segno);
	return rc;
}

int wp_segment_can_link(const struct wp_os *os, const char *dir, int *sys_errno, struct wp_err *err)
{
	char from[WP_SEGMENT_PATH_BYTES];
	char to[WP_SEGMENT_PATH_BYTES];
	int fd;
	int rc;

	(void)snprintf(from, sizeof(from), "%s/link-from", dir);
	(void)snprintf(to, sizeof(to), "%s/link-to", dir);
	fd = wp_os_open(os, from, O_RDWR | O_CREAT | O_EXCL, FILE_MODE);
	if (fd < 0)
		return wp_fail(err, WP_E_SYS, -fd, "could not create \"%s\"", from);
	(void)wp_os_close(os, fd); /* empty: nothing can be lost */
	rc = wp_os_link(os, from, to);
	if (rc == 0)
		(void)wp_os_unlink(os, to); /* the directory is removed as a whole later */
	(void)wp_os_unlink(os, from);
	if (rc == 0)
		return 1;
	if (!is_link_refused(-rc))
		return wp_fail(err, WP_E_SYS, -rc, "could not link \"%s\" to \"%s\"", from, to);
	*sys_errno = -rc;
	return 0;
}
