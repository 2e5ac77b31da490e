/* SPDX-License-Identifier: PostgreSQL */
/*
 * A private directory and its marker. The marker is made right after the directory: between the
 * two calls a kill would leave an empty directory that no later run may claim by its name alone.
 */
#include "walprobe/mem.h"
#include "walprobe/registry.h"
#include "os/process.h"

#include <unistd.h>

#define REMOVE_PASSES 3

char *wp_marker_text(const struct wp_os *os, int *out_errno)
{
	char *boot = wp_os_read_text(os, "/proc/sys/kernel/random/boot_id", 127, out_errno);
	char *host = boot ? wp_os_read_text(os, "/proc/sys/kernel/hostname", 255, out_errno) : NULL;
	int64_t pid = getpid();
	int64_t start = host ? wp_process_start(os, pid, out_errno) : -1;
	struct stat pids = { .st_ino = 0 };
	char *text = NULL;

	/* Where namespaces cannot be told apart, process ids are taken as they stand. */
	if (wp_os_stat(os, "/proc/self/ns/pid", &pids) < 0)
		pids.st_ino = 0;
	if (start >= 0)
		text = wp_xasprintf("version %s\npid %" PRId64 "\nstart %" PRId64
				    "\nboot %s\nhost %s\npids %llu\n",
			WP_VERSION, pid, start, boot, host, (unsigned long long)pids.st_ino);
	free(boot);
	free(host);
	return text;
}

static int write_synced(const struct wp_os *os, const char *path, const char *text)
{
	int fd = wp_os_open(os, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	int closed;
	int rc;

	if (fd < 0)
		return fd;
	rc = wp_os_write_all(os, fd, text, strlen(text), 0);
	if (!rc)
		rc = wp_os_fsync(os, fd);
	closed = wp_os_close(os, fd);
	return rc ? rc : closed;
}

/* Like PostgreSQL's fsync_fname(): some file systems cannot sync a directory, which is no error. */
static int sync_directory(const struct wp_os *os, const char *path)
{
	int fd = wp_os_open(os, path, O_RDONLY | O_DIRECTORY, 0);
	int closed;
	int rc;

	if (fd < 0)
		return fd;
	rc = wp_os_fsync(os, fd);
	if (rc == -EBADF || rc == -EINVAL || rc == -EOPNOTSUPP)
		rc = 0;
	closed = wp_os_close(os, fd);
	return rc ? rc : closed;
}

static int write_marker(
	const struct wp_os *os, const char *directory, const char *text, struct wp_err *err)
{
	char *path = wp_xasprintf("%s/%s", directory, WP_MARKER_NAME);
	int rc = write_synced(os, path, text);

	if (rc)
		rc = wp_fail(err, WP_E_SYS, -rc, "could not write file \"%s\"", path);
	free(path);
	if (rc)
		return rc;
	rc = sync_directory(os, directory);
	return rc ? wp_fail(err, WP_E_SYS, -rc, "could not fsync directory \"%s\"", directory) : 0;
}

static int undo_directory(const struct wp_os *os, const char *name, void *argument)
{
	(void)argument;
	return wp_remove_tree(os, name);
}

static int make_directory(struct wp_registry *registry, const char *parent, const char *marker,
	char **path, uint64_t *ticket, struct wp_err *err)
{
	const struct wp_os *os = wp_registry_os(registry);
	char *made = wp_xasprintf(
		"%s/" WP_WORKDIR_PREFIX "XXXXXX", strcmp(parent, "/") == 0 ? "" : parent);
	uint64_t mine;
	int rc = wp_os_mkdtemp(os, made);

	if (rc) {
		rc = wp_fail(err, WP_E_SYS, -rc, "could not create a directory in \"%s\"", parent);
		free(made);
		return rc;
	}
	mine = wp_registry_push(registry, "directory", made, undo_directory, NULL);
	rc = write_marker(os, made, marker, err);
	if (rc) {
		/* The first failure is the one to tell. */
		(void)wp_registry_undo(registry, mine, NULL);
		free(made);
		return rc;
	}
	*path = made;
	if (ticket)
		*ticket = mine;
	return 0;
}

int wp_workdir_create(struct wp_registry *registry, const char *parent, char **path,
	uint64_t *ticket, struct wp_err *err)
{
	const struct wp_os *os = wp_registry_os(registry);
	char *absolute = NULL;
	char *marker = NULL;
	int sys_errno = 0;
	int rc = wp_os_realpath(os, parent, &absolute);

	if (rc)
		return wp_fail(err, WP_E_SYS, -rc, "could not find directory \"%s\"", parent);
	marker = wp_marker_text(os, &sys_errno);
	if (marker)
		rc = make_directory(registry, absolute, marker, path, ticket, err);
	else
		rc = wp_fail(
			err, WP_E_SYS, sys_errno, "could not read about this process in /proc");
	free(marker);
	free(absolute);
	return rc;
}

/* The directory carries the marker of this very process. */
static bool is_ours(const struct wp_os *os, const char *path)
{
	char *marker = wp_xasprintf("%s/" WP_MARKER_NAME, path);
	int sys_errno = 0;
	char *theirs = wp_os_read_text(os, marker, 1023, &sys_errno);
	char *ours = theirs ? wp_marker_text(os, &sys_errno) : NULL;
	bool is_same = ours && strncmp(theirs, ours, strlen(theirs)) == 0 &&
		       strlen(ours) == strlen(theirs) + 1;

	free(ours);
	free(theirs);
	free(marker);
	return is_same;
}

static bool knows_no_owners(int rc)
{
	return rc == -EPERM || rc == -ENOSYS || rc == -EOPNOTSUPP || rc == -EINVAL;
}

static int share_one(const struct wp_os *os, const char *path, unsigned gid, struct wp_err *err)
{
	int fd = wp_os_open(os, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	char here[40];
	int rc;

	if (fd < 0)
		return wp_fail(err, WP_E_SYS, -fd, "could not open directory \"%s\"", path);
	/* By descriptor: the path might lead elsewhere by now. */
	(void)snprintf(here, sizeof(here), "/proc/self/fd/%d", fd);
	rc = wp_os_fchown(os, fd, (unsigned)-1, gid);
	if (!rc)
		rc = wp_os_chmod(os, here, 0710);
	(void)wp_os_close(os, fd); /* read only: nothing can be lost */
	if (rc == 0 || knows_no_owners(rc))
		return 0;
	return wp_fail(
		err, WP_E_SYS, -rc, "could not let group %u into directory \"%s\"", gid, path);
}

int wp_workdir_share(const struct wp_os *os, const char *path, unsigned gid, struct wp_err *err)
{
	char *part = wp_xstrdup(path);
	bool is_marked = false;
	int rc = 0;

	while (*part && !is_ours(os, part))
		*strrchr(part, '/') = '\0';
	if (!*part)
		rc = wp_fail(err, WP_E_SYS, 0, "\"%s\" is in no directory of this run", path);
	else
		is_marked = true;
	/* From the marked one down to path itself. */
	for (size_t at = strlen(part); !rc && is_marked; at += strcspn(path + at + 1, "/") + 1) {
		char *directory = wp_xstrndup(path, at);

		rc = share_one(os, directory, gid, err);
		free(directory);
		if (path[at] == '\0')
			break;
	}
	free(part);
	return rc;
}

static int remove_directory(const struct wp_os *os, const char *path, dev_t device);

static int remove_entry(const struct wp_os *os, const char *path, dev_t device)
{
	struct stat info;
	int rc = wp_os_lstat(os, path, &info);

	if (rc)
		return rc == -ENOENT ? 0 : rc;
	if (S_ISDIR(info.st_mode))
		return remove_directory(os, path, device);
	rc = wp_os_unlink(os, path);
	return rc == -ENOENT ? 0 : rc;
}

/* All names in the directory open as fd. Paths go through the descriptor: nobody can swap a
 * directory for a symbolic link meanwhile and have us remove what that points to. */
static int remove_names(const struct wp_os *os, int fd, dev_t device)
{
	char here[40];
	struct wp_names names = { NULL, 0 };
	int first;

	(void)snprintf(here, sizeof(here), "/proc/self/fd/%d", fd);
	first = wp_os_list(os, here, &names);
	for (size_t i = 0; i < names.count; i++) {
		char *path = wp_xasprintf("%s/%s", here, names.names[i]);
		int rc = remove_entry(os, path, device);

		if (!first)
			first = rc;
		free(path);
	}
	wp_names_release(&names);
	return first;
}

/* device 0: that of the directory itself; otherwise another device is a mount, left alone. */
static int remove_directory(const struct wp_os *os, const char *path, dev_t device)
{
	int fd = wp_os_open(os, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	struct stat info;
	int removed;
	int rc;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	rc = wp_os_fstat(os, fd, &info);
	if (!rc && device && info.st_dev != device)
		rc = -EBUSY;
	if (!rc)
		rc = remove_names(os, fd, info.st_dev);
	(void)wp_os_close(os, fd); /* read only: nothing can be lost */
	if (rc == -EBUSY)
		return rc;
	removed = wp_os_rmdir(os, path);
	if (removed == 0 || removed == -ENOENT)
		return 0;
	return rc ? rc : removed;
}

int wp_remove_tree(const struct wp_os *os, const char *path)
{
	int rc = -EBUSY;

	/* Again: a late writer or NFS's renamed open files make a directory "not empty" once. */
	for (int i = 0; rc && i < REMOVE_PASSES; i++)
		rc = remove_directory(os, path, 0);
	return rc;
}
