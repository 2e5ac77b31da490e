/* SPDX-License-Identifier: PostgreSQL */
#include "fake_os.h"

#include "walprobe/mem.h"

/* True when this call must fail. */
static bool fails(struct fake_os *fake, const char *name)
{
	long long call;

	if (fake->only ? strcmp(fake->only, name) != 0 : strcmp(name, "now_ns") == 0)
		return false;
	call = atomic_fetch_add(&fake->calls, 1) + 1;
	if (!fake->fail_at || call < fake->fail_at || (call > fake->fail_at && !fake->is_sticky))
		return false;
	if (atomic_fetch_add(&fake->failures, 1) == 0)
		(void)snprintf(fake->last_failed, sizeof(fake->last_failed), "%s", name);
	return true;
}

#define FAKE(type, name, params, ...)                                                              \
	static type fake_##name params                                                             \
	{                                                                                          \
		struct fake_os *fake = ctx;                                                        \
		if (fails(fake, #name))                                                            \
			return -fake->fail_errno;                                                  \
		return wp_os_##name(fake->real, ##__VA_ARGS__);                                    \
	}
/* Done all the same, then reported as failed. */
#define FAKE_DONE(type, name, params, ...)                                                         \
	static type fake_##name params                                                             \
	{                                                                                          \
		struct fake_os *fake = ctx;                                                        \
		type rc = wp_os_##name(fake->real, ##__VA_ARGS__);                                 \
		return fails(fake, #name) ? -fake->fail_errno : rc;                                \
	}

static int fake_open(void *ctx, const char *path, int flags, unsigned mode)
{
	struct fake_os *fake = ctx;
	int fd;

	if (fails(fake, "open"))
		return -fake->fail_errno;
	fd = wp_os_open(fake->real, path, flags, mode);
	if (fd >= 0)
		(void)atomic_fetch_add(&fake->open_count, 1);
	return fd;
}

static int fake_close(void *ctx, int fd)
{
	struct fake_os *fake = ctx;
	int rc = wp_os_close(fake->real, fd);

	if (rc == 0)
		(void)atomic_fetch_sub(&fake->open_count, 1);
	return fails(fake, "close") ? -fake->fail_errno : rc;
}

static int64_t fake_pwrite(void *ctx, int fd, const void *buffer, size_t length, int64_t offset)
{
	struct fake_os *fake = ctx;

	if (fails(fake, "pwrite")) {
		if (!fake->is_short_write)
			return -fake->fail_errno;
		length /= 2;
	}
	return wp_os_pwrite(fake->real, fd, buffer, length, offset);
}

FAKE(int64_t, read, (void *ctx, int fd, void *buffer, size_t length), fd, buffer, length)
FAKE(int64_t, pread, (void *ctx, int fd, void *buffer, size_t length, int64_t offset), fd, buffer,
	length, offset)
FAKE(int64_t, pwritev, (void *ctx, int fd, const struct iovec *parts, int count, int64_t offset),
	fd, parts, count, offset)
FAKE(int64_t, pwritev2,
	(void *ctx, int fd, const struct iovec *parts, int count, int64_t offset, int flags), fd,
	parts, count, offset, flags)
FAKE(int, fsync, (void *ctx, int fd), fd)
FAKE(int, fdatasync, (void *ctx, int fd), fd)
FAKE(int, fallocate, (void *ctx, int fd, int mode, int64_t offset, int64_t length), fd, mode,
	offset, length)
FAKE(int, ftruncate, (void *ctx, int fd, int64_t length), fd, length)
FAKE(int, fadvise, (void *ctx, int fd, int64_t offset, int64_t length, int advice), fd, offset,
	length, advice)
FAKE(int, fstat, (void *ctx, int fd, struct stat *out), fd, out)
FAKE(int, stat, (void *ctx, const char *path, struct stat *out), path, out)
FAKE(int, lstat, (void *ctx, const char *path, struct stat *out), path, out)
FAKE(int, statvfs, (void *ctx, const char *path, struct statvfs *out), path, out)
FAKE(int, access, (void *ctx, const char *path, int mode), path, mode)
FAKE(int, realpath, (void *ctx, const char *path, char **out), path, out)
FAKE(int, rename, (void *ctx, const char *from, const char *to), from, to)
FAKE(int, link, (void *ctx, const char *from, const char *to), from, to)
FAKE(int, mkdir, (void *ctx, const char *path, unsigned mode), path, mode)
FAKE(int, mkdtemp, (void *ctx, char *template_path), template_path)
FAKE(int, chmod, (void *ctx, const char *path, unsigned mode), path, mode)
FAKE(int, fchown, (void *ctx, int fd, unsigned uid, unsigned gid), fd, uid, gid)
FAKE(int, readlink, (void *ctx, const char *path, char **out), path, out)
FAKE(int, list, (void *ctx, const char *path, struct wp_names *out), path, out)
FAKE(int, ioctl, (void *ctx, int fd, unsigned long request, void *argument), fd, request, argument)
FAKE(int, syncfs, (void *ctx, int fd), fd)
FAKE(int, flock, (void *ctx, int fd, int operation), fd, operation)
FAKE_DONE(int, unlink, (void *ctx, const char *path), path)
FAKE_DONE(int, rmdir, (void *ctx, const char *path), path)
FAKE_DONE(int, umount, (void *ctx, const char *path, int flags), path, flags)

FAKE(int, mount,
	(void *ctx, const char *source, const char *path, const char *type, unsigned long flags,
		const char *data),
	source, path, type, flags, data)
FAKE(int, unshare, (void *ctx, int flags), flags)
FAKE(int, mknod, (void *ctx, const char *path, unsigned mode, unsigned major, unsigned minor), path,
	mode, major, minor)
FAKE(int, has_filesystem, (void *ctx, const char *type), type)
FAKE(int64_t, lseek, (void *ctx, int fd, int64_t offset, int whence), fd, offset, whence)

static int64_t fake_geteuid(void *ctx)
{
	struct fake_os *fake = ctx;

	return fake->euid >= 0 ? fake->euid : wp_os_geteuid(fake->real);
}

static int64_t fake_now_ns(void *ctx)
{
	struct fake_os *fake = ctx;
	int64_t now = atomic_load(&fake->now_ns);

	return now ? now : wp_os_now_ns(fake->real);
}

static int64_t fake_cpu_ns(void *ctx)
{
	struct fake_os *fake = ctx;

	return wp_os_cpu_ns(fake->real);
}

static int fake_sleep_ns(void *ctx, int64_t duration_ns)
{
	struct fake_os *fake = ctx;

	if (fails(fake, "sleep_ns"))
		return -fake->fail_errno;
	if (!atomic_load(&fake->now_ns))
		return wp_os_sleep_ns(fake->real, duration_ns);
	(void)atomic_fetch_add(&fake->now_ns, duration_ns);
	return 0;
}

void fake_os_init(struct fake_os *fake)
{
	static const struct wp_os_ops ops = {
		.open = fake_open,
		.close = fake_close,
		.read = fake_read,
		.pread = fake_pread,
		.pwrite = fake_pwrite,
		.pwritev = fake_pwritev,
		.pwritev2 = fake_pwritev2,
		.fsync = fake_fsync,
		.fdatasync = fake_fdatasync,
		.fallocate = fake_fallocate,
		.ftruncate = fake_ftruncate,
		.fadvise = fake_fadvise,
		.fstat = fake_fstat,
		.stat = fake_stat,
		.lstat = fake_lstat,
		.statvfs = fake_statvfs,
		.access = fake_access,
		.realpath = fake_realpath,
		.unlink = fake_unlink,
		.rename = fake_rename,
		.link = fake_link,
		.mkdir = fake_mkdir,
		.mkdtemp = fake_mkdtemp,
		.rmdir = fake_rmdir,
		.chmod = fake_chmod,
		.fchown = fake_fchown,
		.readlink = fake_readlink,
		.list = fake_list,
		.ioctl = fake_ioctl,
		.syncfs = fake_syncfs,
		.flock = fake_flock,
		.umount = fake_umount,
		.mount = fake_mount,
		.unshare = fake_unshare,
		.mknod = fake_mknod,
		.has_filesystem = fake_has_filesystem,
		.lseek = fake_lseek,
		.geteuid = fake_geteuid,
		.now_ns = fake_now_ns,
		.cpu_ns = fake_cpu_ns,
		.sleep_ns = fake_sleep_ns,
	};

	memset(fake, 0, sizeof(*fake));
	fake->real = wp_os_linux();
	fake->euid = -1;
	fake->os.ops = &ops;
	fake->os.ctx = fake;
}

void fake_os_arm(struct fake_os *fake, const char *only, int64_t n, int fail_errno)
{
	fake->only = only;
	fake->fail_at = n;
	fake->fail_errno = fail_errno;
	atomic_store(&fake->calls, 0);
	atomic_store(&fake->failures, 0);
	fake->last_failed[0] = '\0';
}

const char *scratch_dir(void)
{
	static char path[256];
	const char *base = getenv("TMPDIR");
	int rc;

	(void)snprintf(path, sizeof(path), "%s/wp-unit-XXXXXX", base ? base : "/tmp");
	rc = wp_os_mkdtemp(wp_os_linux(), path);
	assert(rc == 0);
	(void)rc;
	return path;
}

size_t scratch_dir_count(const char *path)
{
	struct wp_names names = { NULL, 0 };
	size_t count;

	if (wp_os_list(wp_os_linux(), path, &names) < 0)
		return 0;
	count = names.count;
	wp_names_release(&names);
	return count;
}

static void remove_entry(const char *path)
{
	const struct wp_os *os = wp_os_linux();
	struct stat info;

	if (wp_os_lstat(os, path, &info) == 0 && S_ISDIR(info.st_mode))
		scratch_dir_remove(path);
	else
		(void)wp_os_unlink(os, path);
}

void scratch_dir_remove(const char *path)
{
	const struct wp_os *os = wp_os_linux();
	struct wp_names names = { NULL, 0 };

	if (wp_os_list(os, path, &names) == 0) {
		for (size_t i = 0; i < names.count; i++) {
			char *entry = wp_xasprintf("%s/%s", path, names.names[i]);

			remove_entry(entry);
			free(entry);
		}
	}
	wp_names_release(&names);
	(void)wp_os_rmdir(os, path);
}
