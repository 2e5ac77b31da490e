/* SPDX-License-Identifier: PostgreSQL */
/*
 * What a killed run left. A directory is ours when its marker says so, and left over when the
 * process that the marker names is gone. A marker made on another host (a shared file system) or
 * in another process namespace (a container) is left alone: its process cannot be seen from here.
 */
#include "os/process.h"
#include "walprobe/mem.h"
#include "walprobe/registry.h"
#include "walprobe/server_process.h"

#include <linux/loop.h>

#define STACKED_MOUNTS 8

/* Value of a "key value" line, or NULL; the caller frees. */
static char *marker_value(const char *marker, const char *key)
{
	size_t length = strlen(key);
	const char *line = marker;

	while (line && !(strncmp(line, key, length) == 0 && line[length] == ' ')) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	return line ? wp_xstrndup(line + length + 1, strcspn(line + length + 1, "\n")) : NULL;
}

static int64_t marker_number(const char *marker, const char *key)
{
	char *value = marker_value(marker, key);
	char *end = NULL;
	int64_t number = value && *value ? strtoll(value, &end, 10) : -1;

	if (end && *end)
		number = -1;
	free(value);
	return number;
}

/* Both markers have this line and it says different things. */
static bool differs(const char *theirs, const char *ours, const char *key)
{
	char *a = marker_value(theirs, key);
	char *b = marker_value(ours, key);
	bool is_different = a && b && strcmp(a, b) != 0;

	free(a);
	free(b);
	return is_different;
}

/* Why the process of this marker is surely gone, or NULL; the caller frees. */
static char *reason_gone(
	const struct wp_os *os, const char *marker, const char *ours, int64_t *out_pid)
{
	int64_t pid = marker_number(marker, "pid");
	int64_t start = marker_number(marker, "start");
	int sys_errno = 0;
	int64_t running;

	*out_pid = pid;
	if (pid <= 0 || start < 0 || differs(marker, ours, "host"))
		return NULL;
	if (differs(marker, ours, "boot"))
		return wp_xstrdup("made before the last boot");
	if (differs(marker, ours, "pids"))
		return NULL;
	running = wp_process_start(os, pid, &sys_errno);
	if (running == start)
		return NULL;
	if (running >= 0)
		return wp_xasprintf("process %" PRId64 " is gone, its number is another's", pid);
	if (sys_errno != ENOENT && sys_errno != ESRCH)
		return NULL;
	return wp_xasprintf("process %" PRId64 " is gone", pid);
}

/* Text of the marker in path when path is a real directory with our name; else NULL. */
static char *read_marker(const struct wp_os *os, const char *path)
{
	const char *name = strrchr(path, '/');
	char *marker = NULL;
	char *text = NULL;
	struct stat info;
	int sys_errno;

	name = name ? name + 1 : path;
	if (strncmp(name, WP_WORKDIR_PREFIX, strlen(WP_WORKDIR_PREFIX)) != 0)
		return NULL;
	if (wp_os_lstat(os, path, &info) < 0 || !S_ISDIR(info.st_mode))
		return NULL;
	marker = wp_xasprintf("%s/%s", path, WP_MARKER_NAME);
	if (wp_os_lstat(os, marker, &info) == 0 && S_ISREG(info.st_mode))
		text = wp_os_read_text(os, marker, 1023, &sys_errno);
	free(marker);
	return text;
}

static void look(
	const struct wp_os *os, const char *path, const char *ours, struct wp_leftovers *list)
{
	char *marker = read_marker(os, path);
	char *reason = NULL;
	int64_t pid = 0;

	if (marker)
		reason = reason_gone(os, marker, ours, &pid);
	free(marker);
	if (!reason)
		return;
	list->items = wp_xreallocarray(list->items, list->count + 1, sizeof(*list->items));
	list->items[list->count].path = wp_xstrdup(path);
	list->items[list->count].pid = pid;
	list->items[list->count++].reason = reason;
}

static char *our_marker(const struct wp_os *os, struct wp_err *err)
{
	int sys_errno = 0;
	char *ours = wp_marker_text(os, &sys_errno);

	if (!ours)
		(void)wp_fail(
			err, WP_E_SYS, sys_errno, "could not read about this process in /proc");
	return ours;
}

/* Absolute form of path without a trailing slash. */
static int absolute_path(const struct wp_os *os, const char *path, char **out, struct wp_err *err)
{
	int rc = wp_os_realpath(os, path, out);

	return rc ? wp_fail(err, WP_E_SYS, -rc, "could not find directory \"%s\"", path) : 0;
}

int wp_leftover_look(
	const struct wp_os *os, const char *path, struct wp_leftovers *list, struct wp_err *err)
{
	char *ours = our_marker(os, err);
	char *absolute = NULL;
	int rc = -WP_E_SYS;

	if (ours)
		rc = absolute_path(os, path, &absolute, err);
	if (!rc)
		look(os, absolute, ours, list);
	free(absolute);
	free(ours);
	return rc;
}

int wp_leftovers_find(
	const struct wp_os *os, const char *parent, struct wp_leftovers *out, struct wp_err *err)
{
	struct wp_leftovers list = { NULL, 0 };
	struct wp_names names = { NULL, 0 };
	char *absolute = NULL;
	char *ours = our_marker(os, err);
	int rc = -WP_E_SYS;

	if (!ours || absolute_path(os, parent, &absolute, err) < 0)
		goto out;
	rc = wp_os_list(os, absolute, &names);
	if (rc) {
		rc = wp_fail(err, WP_E_SYS, -rc, "could not read directory \"%s\"", parent);
		goto out;
	}
	for (size_t i = 0; i < names.count; i++) {
		char *path = wp_xasprintf(
			"%s/%s", strcmp(absolute, "/") == 0 ? "" : absolute, names.names[i]);

		look(os, path, ours, &list);
		free(path);
	}
	*out = list;
out:
	wp_names_release(&names);
	free(absolute);
	free(ours);
	return rc;
}

static int unmount_at(const struct wp_os *os, const char *path, dev_t device)
{
	struct stat info;
	int rc = wp_os_lstat(os, path, &info);

	for (int i = 0; rc == 0 && i < STACKED_MOUNTS; i++) {
		if (!S_ISDIR(info.st_mode) || info.st_dev == device)
			return 0;
		rc = wp_undo_mount(os, path, NULL);
		if (!rc)
			rc = wp_os_lstat(os, path, &info);
	}
	return rc == -ENOENT ? 0 : rc;
}

/* Ours are mounted one level below the directory. */
static int unmount_below(const struct wp_os *os, const char *path, dev_t device, struct wp_err *err)
{
	struct wp_names names = { NULL, 0 };
	int rc = wp_os_list(os, path, &names);

	if (rc)
		return wp_fail(err, WP_E_SYS, -rc, "could not read directory \"%s\"", path);
	for (size_t i = 0; i < names.count && !rc; i++) {
		char *below = wp_xasprintf("%s/%s", path, names.names[i]);

		rc = unmount_at(os, below, device);
		if (rc)
			rc = wp_fail(err, WP_E_SYS, -rc, "could not unmount \"%s\"", below);
		free(below);
	}
	wp_names_release(&names);
	return rc;
}

static bool lies_below(const struct wp_os *os, const char *loop, const char *directory)
{
	char *path = wp_xasprintf("/sys/block/%s/loop/backing_file", loop);
	size_t length = strlen(directory);
	int sys_errno;
	char *file = wp_os_read_text(os, path, 4095, &sys_errno);
	bool is_below = file && strncmp(file, directory, length) == 0 && file[length] == '/';

	free(path);
	free(file);
	return is_below;
}

static int detach(const struct wp_os *os, const char *loop, struct wp_err *err)
{
	char *path = wp_xasprintf("/dev/%s", loop);
	int fd = wp_os_open(os, path, O_RDONLY, 0);
	int rc = fd < 0 ? fd : wp_os_ioctl(os, fd, LOOP_CLR_FD, NULL);

	if (fd >= 0)
		(void)wp_os_close(os, fd); /* the ioctl's result is the one that counts */
	if (rc && rc != -ENXIO)
		rc = wp_fail(err, WP_E_SYS, -rc, "could not detach loop device \"%s\"", path);
	else
		rc = 0;
	free(path);
	return rc;
}

static int detach_loops(const struct wp_os *os, const char *directory, struct wp_err *err)
{
	struct wp_names names = { NULL, 0 };
	int rc = 0;

	if (wp_os_list(os, "/sys/block", &names) < 0)
		return 0; /* without sysfs there is nothing to find them by */
	for (size_t i = 0; i < names.count && !rc; i++)
		if (strncmp(names.names[i], "loop", 4) == 0 &&
			lies_below(os, names.names[i], directory))
			rc = detach(os, names.names[i], err);
	wp_names_release(&names);
	return rc;
}

int wp_leftover_remove(
	const struct wp_os *os, const struct wp_leftover *leftover, struct wp_err *err)
{
	struct stat info;
	int rc = wp_os_lstat(os, leftover->path, &info);

	if (rc)
		return rc == -ENOENT ? 0
				     : wp_fail(err, WP_E_SYS, -rc, "could not read \"%s\"",
					       leftover->path);
	rc = wp_server_stop(os, leftover->path, false);
	if (rc)
		return wp_fail(
			err, WP_E_SYS, -rc, "could not stop the server in \"%s\"", leftover->path);
	/* Only root mounts, in directories of its own: paths in another's could be swapped. */
	if (info.st_uid == 0 && wp_os_geteuid(os) == 0) {
		rc = unmount_below(os, leftover->path, info.st_dev, err);
		if (!rc)
			rc = detach_loops(os, leftover->path, err);
		if (rc)
			return rc;
	}
	rc = wp_remove_tree(os, leftover->path);
	if (rc)
		return wp_fail(err, WP_E_SYS, -rc, "could not remove \"%s\"", leftover->path);
	return 0;
}

void wp_leftovers_release(struct wp_leftovers *leftovers)
{
	for (size_t i = 0; i < leftovers->count; i++) {
		free(leftovers->items[i].path);
		free(leftovers->items[i].reason);
	}
	free(leftovers->items);
	leftovers->items = NULL;
	leftovers->count = 0;
}
