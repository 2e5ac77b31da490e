/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/mem.h"
#include "walprobe/os.h"

#include <dirent.h>
#include <limits.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

static int result(int rc)
{
	return rc < 0 ? -errno : rc;
}

static int64_t result64(ssize_t rc)
{
	return rc < 0 ? -errno : (int64_t)rc;
}

static int linux_open(void *ctx, const char *path, int flags, unsigned mode)
{
	int fd;

	(void)ctx;
	do
		fd = open(path, flags | O_CLOEXEC, (mode_t)mode);
	while (fd < 0 && errno == EINTR);
	return result(fd);
}

static int linux_close(void *ctx, int fd)
{
	(void)ctx;
	/* On Linux the descriptor is gone even after EINTR. */
	return close(fd) < 0 && errno != EINTR ? -errno : 0;
}

/* A signal must be able to end a wait for somebody else's output, so EINTR is passed on. */
static int64_t linux_read(void *ctx, int fd, void *buffer, size_t length)
{
	(void)ctx;
	return result64(read(fd, buffer, length));
}

static int64_t linux_pread(void *ctx, int fd, void *buffer, size_t length, int64_t offset)
{
	ssize_t rc;

	(void)ctx;
	do
		rc = pread(fd, buffer, length, offset);
	while (rc < 0 && errno == EINTR);
	return result64(rc);
}

static int64_t linux_pwrite(void *ctx, int fd, const void *buffer, size_t length, int64_t offset)
{
	ssize_t rc;

	(void)ctx;
	do
		rc = pwrite(fd, buffer, length, offset);
	while (rc < 0 && errno == EINTR);
	return result64(rc);
}

static int64_t linux_pwritev(
	void *ctx, int fd, const struct iovec *parts, int count, int64_t offset)
{
	ssize_t rc;

	(void)ctx;
	do
		rc = pwritev(fd, parts, count, offset);
	while (rc < 0 && errno == EINTR);
	return result64(rc);
}

static int64_t linux_pwritev2(
	void *ctx, int fd, const struct iovec *parts, int count, int64_t offset, int flags)
{
	ssize_t rc;

	(void)ctx;
	do
		rc = pwritev2(fd, parts, count, offset, flags);
	while (rc < 0 && errno == EINTR);
	return result64(rc);
}

static int linux_fsync(void *ctx, int fd)
{
	(void)ctx;
	return result(fsync(fd));
}

static int linux_fdatasync(void *ctx, int fd)
{
	(void)ctx;
	return result(fdatasync(fd));
}

static int linux_fallocate(void *ctx, int fd, int mode, int64_t offset, int64_t length)
{
	int rc;

	(void)ctx;
	do
		rc = fallocate(fd, mode, offset, length);
	while (rc < 0 && errno == EINTR);
	return result(rc);
}

static int linux_ftruncate(void *ctx, int fd, int64_t length)
{
	int rc;

	(void)ctx;
	do
		rc = ftruncate(fd, length);
	while (rc < 0 && errno == EINTR);
	return result(rc);
}

static int linux_fadvise(void *ctx, int fd, int64_t offset, int64_t length, int advice)
{
	(void)ctx;
	return -posix_fadvise(fd, offset, length, advice);
}

static int linux_fstat(void *ctx, int fd, struct stat *out)
{
	(void)ctx;
	return result(fstat(fd, out));
}

static int linux_stat(void *ctx, const char *path, struct stat *out)
{
	(void)ctx;
	return result(stat(path, out));
}

static int linux_lstat(void *ctx, const char *path, struct stat *out)
{
	(void)ctx;
	return result(lstat(path, out));
}

static int linux_statvfs(void *ctx, const char *path, struct statvfs *out)
{
	(void)ctx;
	return result(statvfs(path, out));
}

static int linux_access(void *ctx, const char *path, int mode)
{
	(void)ctx;
	return result(access(path, mode));
}

static int linux_realpath(void *ctx, const char *path, char **out)
{
	char *resolved = realpath(path, NULL);

	(void)ctx;
	if (!resolved)
		return -errno;
	*out = resolved;
	return 0;
}

static int linux_unlink(void *ctx, const char *path)
{
	(void)ctx;
	return result(unlink(path));
}

static int linux_rename(void *ctx, const char *from, const char *to)
{
	(void)ctx;
	return result(rename(from, to));
}

static int linux_link(void *ctx, const char *from, const char *to)
{
	(void)ctx;
	return result(link(from, to));
}

static int linux_mkdir(void *ctx, const char *path, unsigned mode)
{
	(void)ctx;
	return result(mkdir(path, (mode_t)mode));
}

static int linux_mkdtemp(void *ctx, char *template_path)
{
	(void)ctx;
	return mkdtemp(template_path) ? 0 : -errno;
}

static int linux_rmdir(void *ctx, const char *path)
{
	(void)ctx;
	return result(rmdir(path));
}

static int linux_chmod(void *ctx, const char *path, unsigned mode)
{
	(void)ctx;
	return result(chmod(path, (mode_t)mode));
}

static int linux_fchown(void *ctx, int fd, unsigned uid, unsigned gid)
{
	(void)ctx;
	return result(fchown(fd, (uid_t)uid, (gid_t)gid));
}

static int linux_readlink(void *ctx, const char *path, char **out)
{
	char text[PATH_MAX];
	ssize_t length = readlink(path, text, sizeof(text));

	(void)ctx;
	if (length < 0)
		return -errno;
	if (length == (ssize_t)sizeof(text))
		return -ENAMETOOLONG;
	*out = wp_xstrndup(text, (size_t)length);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int read_entries(DIR *directory, struct wp_names *names)
{
	struct dirent *entry;

	for (errno = 0; (entry = readdir(directory)) != NULL; errno = 0) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		names->names =
			wp_xreallocarray(names->names, names->count + 1, sizeof(*names->names));
		names->names[names->count++] = wp_xstrdup(entry->d_name);
	}
	return -errno;
}

static int linux_list(void *ctx, const char *path, struct wp_names *out)
{
	struct wp_names names = { NULL, 0 };
	DIR *directory = opendir(path);
	int rc;

	(void)ctx;
	if (!directory)
		return -errno;
	rc = read_entries(directory, &names);
	(void)closedir(directory); /* read only: nothing can be lost */
	if (rc) {
		wp_names_release(&names);
		return rc;
	}
	if (names.count)
		qsort(names.names, names.count, sizeof(*names.names), compare_names);
	*out = names;
	return 0;
}

static int linux_ioctl(void *ctx, int fd, unsigned long request, void *argument)
{
	(void)ctx;
	return result(ioctl(fd, request, argument));
}

static int linux_syncfs(void *ctx, int fd)
{
	(void)ctx;
	return result(syncfs(fd));
}

static int linux_flock(void *ctx, int fd, int operation)
{
	(void)ctx;
	return result(flock(fd, operation));
}

static int linux_umount(void *ctx, const char *path, int flags)
{
	(void)ctx;
	return result(umount2(path, flags));
}

static int linux_mount(void *ctx, const char *source, const char *path, const char *type,
	unsigned long flags, const char *data)
{
	(void)ctx;
	return result(mount(source, path, type, flags, data));
}

static int linux_unshare(void *ctx, int flags)
{
	(void)ctx;
	return result(unshare(flags));
}

static int linux_mknod(
	void *ctx, const char *path, unsigned mode, unsigned major_number, unsigned minor_number)
{
	(void)ctx;
	return result(mknod(path, (mode_t)mode, makedev(major_number, minor_number)));
}

/* fsopen() looks the type up, and loads its module, as mount() would, and needs no device. */
static int linux_has_filesystem(void *ctx, const char *type)
{
	long fd;

	(void)ctx;
#ifdef SYS_fsopen
	fd = syscall(SYS_fsopen, type, 1U /* FSOPEN_CLOEXEC */);
#else
	fd = -1;
	errno = ENOSYS;
	(void)type;
#endif
	if (fd < 0)
		return -errno;
	(void)close((int)fd); /* nothing was written */
	return 0;
}

static int64_t linux_lseek(void *ctx, int fd, int64_t offset, int whence)
{
	(void)ctx;
	return result64(lseek(fd, offset, whence));
}

static int64_t linux_geteuid(void *ctx)
{
	(void)ctx;
	return (int64_t)geteuid();
}

static int64_t linux_now_ns(void *ctx)
{
	struct timespec now;

	(void)ctx;
	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail with this clock */
	return now.tv_sec * WP_NS_PER_S + now.tv_nsec;
}

static int64_t linux_cpu_ns(void *ctx)
{
	struct timespec used;

	(void)ctx;
	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used); /* cannot fail for one's own thread */
	return used.tv_sec * WP_NS_PER_S + used.tv_nsec;
}

static int linux_sleep_ns(void *ctx, int64_t duration_ns)
{
	struct timespec duration = { .tv_sec = duration_ns / WP_NS_PER_S,
		.tv_nsec = duration_ns % WP_NS_PER_S };

	(void)ctx;
	return -clock_nanosleep(CLOCK_MONOTONIC, 0, &duration, NULL);
}

const struct wp_os *wp_os_linux(void)
{
	static const struct wp_os_ops ops = {
		.open = linux_open,
		.close = linux_close,
		.read = linux_read,
		.pread = linux_pread,
		.pwrite = linux_pwrite,
		.pwritev = linux_pwritev,
		.pwritev2 = linux_pwritev2,
		.fsync = linux_fsync,
		.fdatasync = linux_fdatasync,
		.fallocate = linux_fallocate,
		.ftruncate = linux_ftruncate,
		.fadvise = linux_fadvise,
		.fstat = linux_fstat,
		.stat = linux_stat,
		.lstat = linux_lstat,
		.statvfs = linux_statvfs,
		.access = linux_access,
		.realpath = linux_realpath,
		.unlink = linux_unlink,
		.rename = linux_rename,
		.link = linux_link,
		.mkdir = linux_mkdir,
		.mkdtemp = linux_mkdtemp,
		.rmdir = linux_rmdir,
		.chmod = linux_chmod,
		.fchown = linux_fchown,
		.readlink = linux_readlink,
		.list = linux_list,
		.ioctl = linux_ioctl,
		.syncfs = linux_syncfs,
		.flock = linux_flock,
		.umount = linux_umount,
		.mount = linux_mount,
		.unshare = linux_unshare,
		.mknod = linux_mknod,
		.has_filesystem = linux_has_filesystem,
		.lseek = linux_lseek,
		.geteuid = linux_geteuid,
		.now_ns = linux_now_ns,
		.cpu_ns = linux_cpu_ns,
		.sleep_ns = linux_sleep_ns,
	};
	static const struct wp_os os = { .ops = &ops, .ctx = NULL };

	return &os;
}
