/* SPDX-License-Identifier: PostgreSQL */
/*
 * os.h - the operating system behind one door.
 *
 * Floor: os (may include base). src/os/os_linux.c is the only file that makes these system calls;
 * tests put a failing or scripted system in its place. Every operation returns 0 or more on
 * success and -errno on failure, and never touches errno. EINTR is passed on only where the header
 * says so; otherwise the call is made again. Nothing is ever repeated after a failed sync.
 * Threads: yes, all operations; the struct is shared read-only.
 */
#ifndef WALPROBE_OS_H
#define WALPROBE_OS_H

#include "walprobe/err.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>

/* names of one directory, without "." and "..", sorted */
struct wp_names {
	char **names;
	size_t count;
};

struct wp_os_ops {
	int (*open)(void *ctx, const char *path, int flags, unsigned mode);
	int (*close)(void *ctx, int fd);
	int64_t (*read)(
		void *ctx, int fd, void *buffer, size_t length); /* pipes; -EINTR passed on */
	int64_t (*pread)(void *ctx, int fd, void *buffer, size_t length, int64_t offset);
	int64_t (*pwrite)(void *ctx, int fd, const void *buffer, size_t length, int64_t offset);
	int64_t (*pwritev)(void *ctx, int fd, const struct iovec *parts, int count, int64_t offset);
	int64_t (*pwritev2)(
		void *ctx, int fd, const struct iovec *parts, int count, int64_t offset, int flags);
	int (*fsync)(void *ctx, int fd);
	int (*fdatasync)(void *ctx, int fd);
	int (*fallocate)(void *ctx, int fd, int mode, int64_t offset, int64_t length);
	int (*ftruncate)(void *ctx, int fd, int64_t length);
	int (*fadvise)(void *ctx, int fd, int64_t offset, int64_t length, int advice);
	int (*fstat)(void *ctx, int fd, struct stat *out);
	int (*stat)(void *ctx, const char *path, struct stat *out);
	int (*lstat)(void *ctx, const char *path, struct stat *out);
	int (*statvfs)(void *ctx, const char *path, struct statvfs *out);
	int (*access)(void *ctx, const char *path, int mode);
	int (*realpath)(void *ctx, const char *path, char **out); /* *out: the caller frees */
	int (*unlink)(void *ctx, const char *path);
	int (*rename)(void *ctx, const char *from, const char *to);
	int (*link)(void *ctx, const char *from, const char *to);
	int (*mkdir)(void *ctx, const char *path, unsigned mode);
	int (*mkdtemp)(void *ctx, char *template_path);
	int (*rmdir)(void *ctx, const char *path);
	int (*chmod)(void *ctx, const char *path, unsigned mode);
	int (*fchown)(void *ctx, int fd, unsigned uid, unsigned gid);
	int (*readlink)(void *ctx, const char *path, char **out); /* *out: the caller frees */
	int (*list)(void *ctx, const char *path, struct wp_names *out);
	int (*ioctl)(void *ctx, int fd, unsigned long request, void *argument);
	int (*syncfs)(void *ctx, int fd);
	int (*flock)(void *ctx, int fd, int operation);
	int (*umount)(void *ctx, const char *path, int flags);
	int (*mount)(void *ctx, const char *source, const char *path, const char *type,
		unsigned long flags, const char *data);
	int (*unshare)(void *ctx, int flags);
	int (*mknod)(void *ctx, const char *path, unsigned mode, unsigned major, unsigned minor);
	int (*has_filesystem)(void *ctx, const char *type); /* -ENODEV: the kernel lacks it */
	int64_t (*lseek)(void *ctx, int fd, int64_t offset, int whence);
	int64_t (*geteuid)(void *ctx);                   /* effective user id; cannot fail */
	int64_t (*now_ns)(void *ctx);                    /* CLOCK_MONOTONIC */
	int64_t (*cpu_ns)(void *ctx);                    /* processor time of the calling thread */
	int (*sleep_ns)(void *ctx, int64_t duration_ns); /* -EINTR when a signal came */
};

struct wp_os {
	const struct wp_os_ops *ops;
	void *ctx;
};

/* wp_os_linux - the real system; one shared object, never freed. */
const struct wp_os *wp_os_linux(void);

/* wp_names_release - free what list() filled; accepts a zeroed struct. */
void wp_names_release(struct wp_names *names);

/* The calls, so that a caller reads wp_os_fsync(os, fd). Same results as the table above. */
#define WP_OS_CALL(type, name, declare, pass)                                                      \
	static inline type wp_os_##name declare                                                    \
	{                                                                                          \
		return os->ops->name pass;                                                         \
	}
WP_OS_CALL(int, open, (const struct wp_os *os, const char *path, int flags, unsigned mode),
	(os->ctx, path, flags, mode))
WP_OS_CALL(int, close, (const struct wp_os *os, int fd), (os->ctx, fd))
WP_OS_CALL(int64_t, read, (const struct wp_os *os, int fd, void *buffer, size_t length),
	(os->ctx, fd, buffer, length))
WP_OS_CALL(int64_t, pread,
	(const struct wp_os *os, int fd, void *buffer, size_t length, int64_t offset),
	(os->ctx, fd, buffer, length, offset))
WP_OS_CALL(int64_t, pwrite,
	(const struct wp_os *os, int fd, const void *buffer, size_t length, int64_t offset),
	(os->ctx, fd, buffer, length, offset))
WP_OS_CALL(int64_t, pwritev,
	(const struct wp_os *os, int fd, const struct iovec *parts, int count, int64_t offset),
	(os->ctx, fd, parts, count, offset))
WP_OS_CALL(int64_t, pwritev2,
	(const struct wp_os *os, int fd, const struct iovec *parts, int count, int64_t offset,
		int flags),
	(os->ctx, fd, parts, count, offset, flags))
WP_OS_CALL(int, fsync, (const struct wp_os *os, int fd), (os->ctx, fd))
WP_OS_CALL(int, fdatasync, (const struct wp_os *os, int fd), (os->ctx, fd))
WP_OS_CALL(int, fallocate,
	(const struct wp_os *os, int fd, int mode, int64_t offset, int64_t length),
	(os->ctx, fd, mode, offset, length))
WP_OS_CALL(int, ftruncate, (const struct wp_os *os, int fd, int64_t length), (os->ctx, fd, length))
WP_OS_CALL(int, fadvise,
	(const struct wp_os *os, int fd, int64_t offset, int64_t length, int advice),
	(os->ctx, fd, offset, length, advice))
WP_OS_CALL(int, fstat, (const struct wp_os *os, int fd, struct stat *out), (os->ctx, fd, out))
WP_OS_CALL(int, stat, (const struct wp_os *os, const char *path, struct stat *out),
	(os->ctx, path, out))
WP_OS_CALL(int, lstat, (const struct wp_os *os, const char *path, struct stat *out),
	(os->ctx, path, out))
WP_OS_CALL(int, statvfs, (const struct wp_os *os, const char *path, struct statvfs *out),
	(os->ctx, path, out))
WP_OS_CALL(int, access, (const struct wp_os *os, const char *path, int mode), (os->ctx, path, mode))
WP_OS_CALL(
	int, realpath, (const struct wp_os *os, const char *path, char **out), (os->ctx, path, out))
WP_OS_CALL(int, unlink, (const struct wp_os *os, const char *path), (os->ctx, path))
WP_OS_CALL(int, rename, (const struct wp_os *os, const char *from, const char *to),
	(os->ctx, from, to))
WP_OS_CALL(
	int, link, (const struct wp_os *os, const char *from, const char *to), (os->ctx, from, to))
WP_OS_CALL(int, mkdir, (const struct wp_os *os, const char *path, unsigned mode),
	(os->ctx, path, mode))
WP_OS_CALL(int, mkdtemp, (const struct wp_os *os, char *template_path), (os->ctx, template_path))
WP_OS_CALL(int, rmdir, (const struct wp_os *os, const char *path), (os->ctx, path))
WP_OS_CALL(int, chmod, (const struct wp_os *os, const char *path, unsigned mode),
	(os->ctx, path, mode))
WP_OS_CALL(int, fchown, (const struct wp_os *os, int fd, unsigned uid, unsigned gid),
	(os->ctx, fd, uid, gid))
WP_OS_CALL(
	int, readlink, (const struct wp_os *os, const char *path, char **out), (os->ctx, path, out))
WP_OS_CALL(int, list, (const struct wp_os *os, const char *path, struct wp_names *out),
	(os->ctx, path, out))
WP_OS_CALL(int, ioctl, (const struct wp_os *os, int fd, unsigned long request, void *argument),
	(os->ctx, fd, request, argument))
WP_OS_CALL(int, syncfs, (const struct wp_os *os, int fd), (os->ctx, fd))
WP_OS_CALL(int, flock, (const struct wp_os *os, int fd, int operation), (os->ctx, fd, operation))
WP_OS_CALL(
	int, umount, (const struct wp_os *os, const char *path, int flags), (os->ctx, path, flags))
WP_OS_CALL(int, mount,
	(const struct wp_os *os, const char *source, const char *path, const char *type,
		unsigned long flags, const char *data),
	(os->ctx, source, path, type, flags, data))
WP_OS_CALL(int, unshare, (const struct wp_os *os, int flags), (os->ctx, flags))
WP_OS_CALL(int, mknod,
	(const struct wp_os *os, const char *path, unsigned mode, unsigned major, unsigned minor),
	(os->ctx, path, mode, major, minor))
WP_OS_CALL(int, has_filesystem, (const struct wp_os *os, const char *type), (os->ctx, type))
WP_OS_CALL(int64_t, lseek, (const struct wp_os *os, int fd, int64_t offset, int whence),
	(os->ctx, fd, offset, whence))
WP_OS_CALL(int64_t, geteuid, (const struct wp_os *os), (os->ctx))
WP_OS_CALL(int64_t, now_ns, (const struct wp_os *os), (os->ctx))
WP_OS_CALL(int64_t, cpu_ns, (const struct wp_os *os), (os->ctx))
WP_OS_CALL(int, sleep_ns, (const struct wp_os *os, int64_t duration_ns), (os->ctx, duration_ns))
#undef WP_OS_CALL

/*
 * wp_os_read_text - a whole small file (sysfs, procfs, a marker) as text, at most limit bytes.
 *
 * Returns: the terminated text, trailing newline cut, which the caller frees; NULL with
 * *out_errno set (positive) when it cannot be read.
 */
char *wp_os_read_text(const struct wp_os *os, const char *path, size_t limit, int *out_errno);

/*
 * wp_os_write_all - pwrite until all of length is written.
 *
 * Returns: 0, or -errno; a write that makes no progress without an error counts as -ENOSPC, as
 * PostgreSQL counts it (xlog.c, XLogWrite).
 */
int wp_os_write_all(
	const struct wp_os *os, int fd, const void *buffer, size_t length, int64_t offset);

#endif
