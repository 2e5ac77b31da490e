/* SPDX-License-Identifier: PostgreSQL */
#include "target/loop.h"

#include "walprobe/mem.h"

#include <linux/loop.h>

#define CONTROL "/dev/loop-control"
#define LOOP_MAJOR_NUMBER 7
#define RACE_TRIES 32
#define NODE_TRIES 20
#define FREE_TRIES 500
#define PAUSE_NS (10 * WP_NS_PER_MS)

/* File that a loop device lies on, as sysfs tells; NULL when it is free. The caller frees. */
static char *backing_file(const struct wp_os *os, const char *loop)
{
	char *path = wp_xasprintf("/sys/block/%s/loop/backing_file", loop);
	int sys_errno;
	char *file = wp_os_read_text(os, path, 4095, &sys_errno);

	free(path);
	return file;
}

/* The last user's close detaches the device, but not at once. name is "/dev/loopN". */
static int undo_loop(const struct wp_os *os, const char *name, void *argument)
{
	const char *loop = strrchr(name, '/') + 1;
	char *ours = backing_file(os, loop);
	bool is_ours = ours != NULL;

	(void)wp_os_close(os, (int)(intptr_t)argument); /* read only: nothing can be lost */
	for (int i = 0; is_ours && i < FREE_TRIES; i++) {
		char *now = backing_file(os, loop);

		is_ours = now && strcmp(now, ours) == 0;
		free(now);
		if (is_ours)
			(void)wp_os_sleep_ns(os, PAUSE_NS);
	}
	free(ours);
	return is_ours ? -EBUSY : 0;
}

static int undo_node(const struct wp_os *os, const char *name, void *argument)
{
	int rc = wp_os_unlink(os, name);

	(void)argument;
	return rc == -ENOENT ? 0 : rc;
}

/* devtmpfs makes the node; in a chroot with a /dev of its own nobody does. */
static int make_node(
	const struct wp_os *os, struct wp_registry *registry, const char *path, int number)
{
	struct stat info;
	int rc = wp_os_stat(os, path, &info);

	for (int i = 0; rc == -ENOENT && i < NODE_TRIES; i++) {
		(void)wp_os_sleep_ns(os, PAUSE_NS);
		rc = wp_os_stat(os, path, &info);
	}
	if (rc != -ENOENT)
		return rc;
	rc = wp_os_mknod(os, path, S_IFBLK | 0600, LOOP_MAJOR_NUMBER, (unsigned)number);
	if (!rc)
		(void)wp_registry_push(registry, "device node", path, undo_node, NULL);
	return rc == -EEXIST ? 0 : rc;
}

/* Before Linux 5.8: attach, then set what LOOP_CONFIGURE sets at once. */
static int configure_old(const struct wp_os *os, int fd, int image_fd)
{
	struct loop_info64 info = { .lo_flags = LO_FLAGS_AUTOCLEAR };
	int rc = wp_os_ioctl(os, fd, LOOP_SET_FD, (void *)(intptr_t)image_fd);

	if (rc)
		return rc;
	rc = wp_os_ioctl(os, fd, LOOP_SET_STATUS64, &info);
	if (rc)
		(void)wp_os_ioctl(os, fd, LOOP_CLR_FD, NULL); /* the first failure is told */
	else
		/* Refused where the file system below cannot: read back afterwards. */
		(void)wp_os_ioctl(os, fd, LOOP_SET_DIRECT_IO, (void *)(intptr_t)1);
	return rc;
}

static int configure(const struct wp_os *os, int fd, int image_fd)
{
	struct loop_config config = { .fd = (unsigned)image_fd };
	int rc;

	config.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO;
	rc = wp_os_ioctl(os, fd, LOOP_CONFIGURE, &config);
	if (rc == 0 || rc == -EBUSY)
		return rc;
	config.info.lo_flags = LO_FLAGS_AUTOCLEAR;
	rc = wp_os_ioctl(os, fd, LOOP_CONFIGURE, &config);
	if (rc == -EINVAL || rc == -ENOTTY)
		rc = configure_old(os, fd, image_fd);
	return rc;
}

/*
 * Keep the device by a descriptor that cannot write: some kernels refuse to mount a device that is
 * open for writing.
 */
static int hold(const struct wp_os *os, struct wp_registry *registry, struct wp_loop *loop)
{
	struct loop_info64 info = { .lo_flags = 0 };
	int fd = wp_os_open(os, loop->path, O_RDONLY, 0);

	if (fd < 0)
		return fd;
	(void)wp_registry_push(
		registry, "loop device", loop->path, undo_loop, (void *)(intptr_t)fd);
	loop->is_direct = wp_os_ioctl(os, fd, LOOP_GET_STATUS64, &info) == 0 &&
			  (info.lo_flags & LO_FLAGS_DIRECT_IO);
	return 0;
}

/* -EBUSY: another process was faster. */
static int attach_number(const struct wp_os *os, struct wp_registry *registry, int number,
	int image_fd, struct wp_loop *loop)
{
	int fd;
	int rc;

	(void)snprintf(loop->name, sizeof(loop->name), "loop%d", number);
	(void)snprintf(loop->path, sizeof(loop->path), "/dev/loop%d", number);
	rc = make_node(os, registry, loop->path, number);
	if (rc)
		return rc;
	fd = wp_os_open(os, loop->path, O_RDWR, 0);
	if (fd < 0)
		return fd;
	rc = configure(os, fd, image_fd);
	if (!rc)
		rc = hold(os, registry, loop);
	(void)wp_os_close(os, fd); /* nothing was written through it */
	return rc;
}

static void hint_directories(struct wp_err *err)
{
	wp_err_hint(err, "Loop devices may be missing here (\"modprobe loop\"; a container must be "
			 "given them); name directories instead of images.");
}

static int attach_free(const struct wp_os *os, struct wp_registry *registry, int control,
	int image_fd, struct wp_loop *loop, struct wp_err *err)
{
	int rc = -EBUSY;

	for (int i = 0; rc == -EBUSY && i < RACE_TRIES; i++) {
		int number = wp_os_ioctl(os, control, LOOP_CTL_GET_FREE, NULL);

		if (number < 0) {
			(void)wp_fail(err, WP_E_SYS, -number, "could not find a free loop device");
			hint_directories(err);
			return -WP_E_SYS;
		}
		rc = attach_number(os, registry, number, image_fd, loop);
	}
	if (!rc)
		return 0;
	(void)wp_fail(
		err, WP_E_SYS, -rc, "could not attach an image to loop device \"%s\"", loop->path);
	hint_directories(err);
	return -WP_E_SYS;
}

static int write_back(const struct wp_os *os, const char *path)
{
	static const char words[] = "write back";
	int fd = wp_os_open(os, path, O_WRONLY, 0);
	int rc;

	if (fd < 0)
		return fd;
	rc = wp_os_write_all(os, fd, words, strlen(words), 0);
	(void)wp_os_close(os, fd); /* sysfs answers the write itself */
	return rc;
}

static int ensure_write_cache(
	const struct wp_os *os, const struct wp_loop *loop, struct wp_err *err)
{
	char *path = wp_xasprintf("/sys/block/%s/queue/write_cache", loop->name);
	int sys_errno = 0;
	char *cache = wp_os_read_text(os, path, 63, &sys_errno);
	int rc = 0;

	/* Where it cannot be read, the checks on flushes say so. */
	if (cache && strcmp(cache, "write back") != 0) {
		rc = write_back(os, path);
		if (rc) {
			rc = wp_fail(err, WP_E_SYS, -rc,
				"loop device \"%s\" would send no flushes, and \"%s\" could not "
				"be set to \"write back\"",
				loop->path, path);
			wp_err_hint(err,
				"Someone set it to \"%s\", which outlives a detach; set "
				"it back.",
				cache);
		}
	}
	free(cache);
	free(path);
	return rc;
}

int wp_loop_attach(const struct wp_os *os, struct wp_registry *registry, const char *image,
	struct wp_loop *loop, struct wp_err *err)
{
	int image_fd = wp_os_open(os, image, O_RDWR, 0);
	int control = -1;
	int rc;

	if (image_fd < 0)
		return wp_fail(err, WP_E_SYS, -image_fd, "could not open file \"%s\"", image);
	control = wp_os_open(os, CONTROL, O_RDWR, 0);
	if (control < 0) {
		rc = wp_fail(err, WP_E_SYS, -control, "could not open \"%s\"", CONTROL);
		hint_directories(err);
	} else {
		rc = attach_free(os, registry, control, image_fd, loop, err);
		(void)wp_os_close(os, control); /* nothing was written */
	}
	if (!rc)
		rc = ensure_write_cache(os, loop, err);
	(void)wp_os_close(os, image_fd); /* the loop device has its own hold on it */
	return rc;
}
