/* SPDX-License-Identifier: PostgreSQL */
/*
 * A scratch file system: image file, loop device, mkfs, mount. The image is unlinked as soon as it
 * is attached and the loop device detaches itself, so that a kill leaves only an empty directory.
 */
#include "target/loop.h"
#include "target/mkfs.h"
#include "target/mount.h"
#include "target/place.h"
#include "walprobe/mem.h"
#include "walprobe/stop.h"

/* what is made on the way, one after another */
struct making {
	const struct wp_os *os;
	struct wp_registry *registry;
	const struct wp_target_spec *spec;
	const struct wp_target_options *options;
	struct wp_target *target;
	const struct wp_mkfs *mkfs;
	char *workdir;
	char *image;
	char *mount_point;
	struct wp_loop loop;
};

static int allocate(struct making *m, int fd, struct wp_err *err)
{
	int64_t size = m->spec->size_bytes;
	int rc = wp_os_fallocate(m->os, fd, 0, 0, size);

	if (rc == -EOPNOTSUPP || rc == -ENOSYS) {
		rc = wp_os_ftruncate(m->os, fd, size);
		if (!rc)
			m->target->note = wp_xstrdup("The image is a sparse file, because its file "
						     "system cannot reserve space.");
	}
	if (!rc)
		return 0;
	if (rc == -ENOSPC)
		/* It names the bytes, when it agrees that there are too few. */
		if (wp_place_has_room(m->os, m->workdir, size, -1, err) < 0)
			return -WP_E_NOSPACE;
	rc = wp_fail(err, WP_E_SYS, -rc, "could not allocate %" PRId64 " bytes for file \"%s\"",
		size, m->image);
	if (rc == -WP_E_SYS && err && err->sys_errno == EFBIG)
		wp_err_hint(err, "Choose a smaller image with size=.");
	return rc;
}

static int make_image(struct making *m, struct wp_err *err)
{
	int closed;
	int fd;
	int rc;

	m->image = wp_xasprintf("%s/image", m->workdir);
	fd = wp_os_open(m->os, m->image, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	if (fd < 0)
		return wp_fail(err, WP_E_SYS, -fd, "could not create file \"%s\"", m->image);
	rc = allocate(m, fd, err);
	closed = wp_os_close(m->os, fd);
	if (!rc && closed)
		rc = wp_fail(err, WP_E_SYS, -closed, "could not close file \"%s\"", m->image);
	return rc;
}

static int attach_image(struct making *m, struct wp_err *err)
{
	int rc = wp_loop_attach(m->os, m->registry, m->image, &m->loop, err);

	if (rc || m->options->is_kept)
		return rc;
	rc = wp_os_unlink(m->os, m->image);
	return rc ? wp_fail(err, WP_E_SYS, -rc, "could not remove file \"%s\"", m->image) : 0;
}

/* Beside the image, or in a private directory of its own elsewhere. */
static int make_mount_point(struct making *m, struct wp_err *err)
{
	char *apart = NULL;
	int rc = 0;

	if (m->options->mounts_on)
		rc = wp_workdir_create(m->registry, m->options->mounts_on, &apart, NULL, err);
	if (rc)
		return rc;
	m->mount_point = wp_xasprintf("%s/mnt", apart ? apart : m->workdir);
	free(apart);
	rc = wp_os_mkdir(m->os, m->mount_point, 0700);
	if (rc)
		rc = wp_fail(
			err, WP_E_SYS, -rc, "could not create directory \"%s\"", m->mount_point);
	return rc;
}

static int mount_image(struct making *m, struct wp_err *err)
{
	struct wp_err problem;
	int rc = make_mount_point(m, err);

	if (rc)
		return rc;
	rc = wp_mount_device(m->os, m->loop.path, m->mount_point, m->spec->fstype,
		m->spec->mount_options, &problem);
	if (!rc) {
		(void)wp_registry_push(m->registry, "mount", m->mount_point, wp_undo_mount, NULL);
		return 0;
	}
	if (problem.sys_errno == ENODEV)
		m->target->absent = wp_xasprintf(
			"this kernel lacks %s (module %s)", m->spec->fstype, m->mkfs->module);
	else if (err)
		*err = problem;
	return m->target->absent ? 0 : rc;
}

/* The directory to work in, on the new file system, with the room that it needs. */
static int make_directory(struct making *m, struct wp_err *err)
{
	char *path = wp_xasprintf("%s/pg_wal", m->mount_point);
	int rc = wp_os_mkdir(m->os, path, 0700);

	if (rc)
		rc = wp_fail(err, WP_E_SYS, -rc, "could not create directory \"%s\"", path);
	if (!rc) {
		rc = wp_place_has_room(m->os, path, m->options->needed_bytes, -1, err);
		if (rc)
			wp_err_hint(err, "Make the image larger with size=.");
	}
	if (rc)
		free(path);
	else
		m->target->dir = path;
	return rc;
}

static void note_cached(struct making *m)
{
	if (m->loop.is_direct || m->target->note)
		return;
	m->target->note = wp_xstrdup("The loop device cannot use direct I/O on the file system "
				     "below, so the page cache of the host may serve its reads.");
}

static int make_all(struct making *m, struct wp_err *err)
{
	char *place = NULL;
	int rc = wp_place_find(m->os, m->spec->on, m->spec->size_bytes, m->options, &place, err);

	if (!rc)
		rc = wp_workdir_create(m->registry, place, &m->workdir, NULL, err);
	free(place);
	if (!rc)
		rc = make_image(m, err);
	if (!rc)
		rc = attach_image(m, err);
	if (!rc)
		rc = wp_mkfs_run(m->os, m->mkfs, m->spec->mkfs_options, m->loop.path, err);
	if (!rc)
		rc = wp_stop_fail(err);
	if (!rc)
		rc = mount_image(m, err);
	if (!rc && !m->target->absent)
		rc = make_directory(m, err);
	if (!rc && !m->target->absent)
		note_cached(m);
	return rc;
}

static int refuse_user(const struct wp_os *os, struct wp_err *err)
{
	(void)wp_fail(err, WP_E_UNSUPPORTED, 0,
		"a scratch file system needs root, and this is user id %d", (int)wp_os_geteuid(os));
	wp_err_hint(err, "Run it with sudo, or name a directory on the file system to measure.");
	return -WP_E_UNSUPPORTED;
}

int wp_image_open(const struct wp_os *os, struct wp_registry *registry,
	const struct wp_target_spec *spec, const struct wp_target_options *options,
	struct wp_target *target, struct wp_err *err)
{
	struct making m = { .os = os,
		.registry = registry,
		.spec = spec,
		.options = options,
		.target = target,
		.mkfs = wp_mkfs_find(spec->fstype) };
	int rc;

	assert(m.mkfs); /* wp_targets_parse() let nothing else through */
	if (wp_os_geteuid(os) != 0)
		return refuse_user(os, err);
	target->absent = wp_mkfs_missing(os, m.mkfs);
	if (target->absent)
		return 0;
	rc = make_all(&m, err);
	free(m.workdir);
	free(m.image);
	free(m.mount_point);
	return rc;
}
