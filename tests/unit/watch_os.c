/* SPDX-License-Identifier: PostgreSQL */
#include "watch_os.h"

#include "walprobe/mem.h"

static const struct wp_os *real(void)
{
	return wp_os_linux();
}

static void WP_PRINTF(2, 3) note(struct watch_os *watch, const char *format, ...)
{
	va_list args;
	char *line;
	size_t used;

	if (!atomic_load(&watch->is_recording))
		return;
	va_start(args, format);
	line = wp_xvasprintf(format, args);
	va_end(args);
	used = strlen(line);
	wp_mutex_lock(&watch->guard);
	watch->calls = wp_xreallocarray(watch->calls, watch->length + used + 2, 1);
	memcpy(watch->calls + watch->length, line, used);
	watch->length += used;
	watch->calls[watch->length++] = '\n';
	watch->calls[watch->length] = '\0';
	wp_mutex_unlock(&watch->guard);
	free(line);
}

static const char *base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static const char *outcome(int64_t rc)
{
	return rc < 0 ? wp_errno_name((int)-rc) : "ok";
}

static const char *flag_words(int flags, char *out, size_t size)
{
	(void)snprintf(out, size, "%s%s%s%s%s", (flags & O_ACCMODE) == O_RDWR ? "rw" : "ro",
		flags & O_CREAT ? "+creat" : "", flags & O_EXCL ? "+excl" : "",
		(flags & O_SYNC) == O_SYNC ? "+sync" : (flags & O_DSYNC ? "+dsync" : ""),
		flags & O_DIRECT ? "+direct" : "");
	return out;
}

static int watch_open(void *ctx, const char *path, int flags, unsigned mode)
{
	char words[48];
	int rc = wp_os_open(real(), path, flags, mode);

	note(ctx, "open %s %s %s", base(path), flag_words(flags, words, sizeof(words)),
		outcome(rc));
	return rc;
}

static int watch_close(void *ctx, int fd)
{
	int rc = wp_os_close(real(), fd);

	note(ctx, "close");
	return rc;
}

static int64_t watch_pwrite(void *ctx, int fd, const void *buffer, size_t length, int64_t offset)
{
	int64_t rc = wp_os_pwrite(real(), fd, buffer, length, offset);

	note(ctx, "pwrite %zu at %" PRId64, length, offset);
	return rc;
}

static int64_t watch_pwritev(
	void *ctx, int fd, const struct iovec *parts, int count, int64_t offset)
{
	int64_t rc = wp_os_pwritev(real(), fd, parts, count, offset);

	note(ctx, "pwritev %dx%zu at %" PRId64, count, parts[0].iov_len, offset);
	return rc;
}

static int flush(struct watch_os *watch, const char *name, int rc)
{
	note(watch, "%s", name);
	if (watch->flush_sleep_ns)
		(void)wp_os_sleep_ns(real(), watch->flush_sleep_ns);
	return rc;
}

static int watch_fsync(void *ctx, int fd)
{
	return flush(ctx, "fsync", wp_os_fsync(real(), fd));
}

static int watch_fdatasync(void *ctx, int fd)
{
	struct watch_os *watch = ctx;

	if (atomic_load(&watch->has_failed))
		(void)atomic_fetch_add(&watch->syncs_after_failure, 1);
	if (atomic_load(&watch->fail_sync_at) && atomic_fetch_sub(&watch->fail_sync_at, 1) == 1) {
		atomic_store(&watch->has_failed, true);
		return -EIO;
	}
	return flush(watch, "fdatasync", wp_os_fdatasync(real(), fd));
}

static int watch_stat(void *ctx, const char *path, struct stat *out)
{
	int rc = wp_os_stat(real(), path, out);

	note(ctx, "stat %s %s", base(path), outcome(rc));
	return rc;
}

static int watch_lstat(void *ctx, const char *path, struct stat *out)
{
	int rc = wp_os_lstat(real(), path, out);

	note(ctx, "lstat %s %s", base(path), outcome(rc));
	return rc;
}

static int watch_unlink(void *ctx, const char *path)
{
	int rc = wp_os_unlink(real(), path);

	note(ctx, "unlink %s %s", base(path), outcome(rc));
	return rc;
}

static int watch_rename(void *ctx, const char *from, const char *to)
{
	int rc = wp_os_rename(real(), from, to);

	note(ctx, "rename %s %s", base(from), base(to));
	return rc;
}

static int watch_link(void *ctx, const char *from, const char *to)
{
	struct watch_os *watch = ctx;
	int rc = atomic_load(&watch->refuse_link) ? -EPERM : wp_os_link(real(), from, to);

	note(ctx, "link %s %s", base(from), base(to));
	return rc;
}

void watch_os_init(struct watch_os *watch)
{
	static struct wp_os_ops ops;

	ops = *real()->ops;
	ops.open = watch_open;
	ops.close = watch_close;
	ops.pwrite = watch_pwrite;
	ops.pwritev = watch_pwritev;
	ops.fsync = watch_fsync;
	ops.fdatasync = watch_fdatasync;
	ops.stat = watch_stat;
	ops.lstat = watch_lstat;
	ops.unlink = watch_unlink;
	ops.rename = watch_rename;
	ops.link = watch_link;
	memset(watch, 0, sizeof(*watch));
	wp_mutex_init(&watch->guard);
	watch->os.ops = &ops;
	watch->os.ctx = watch;
	watch->calls = wp_xcalloc(1, 1);
	atomic_store(&watch->is_recording, true);
}

void watch_os_release(struct watch_os *watch)
{
	wp_mutex_release(&watch->guard);
	free(watch->calls);
	watch->calls = NULL;
}

void watch_os_clear(struct watch_os *watch)
{
	watch->length = 0;
	watch->calls[0] = '\0';
}
