/* SPDX-License-Identifier: PostgreSQL */
#include "device.h"

#include <libmount.h>
#include <sys/sysmacros.h>

int mount_table_load(const char *path, struct libmnt_table **out, struct wp_err *err)
{
	struct libmnt_table *table = mnt_new_table();
	int rc = table ? mnt_table_parse_file(table, path) : -ENOMEM;

	if (rc) {
		mount_table_free(table);
		(void)wp_fail(err, WP_E_SYS, rc < 0 ? -rc : EINVAL,
			"could not read mount table \"%s\"", path);
		wp_err_hint(err, "Is /proc mounted?");
		return -WP_E_SYS;
	}
	*out = table;
	return 0;
}

void mount_table_free(struct libmnt_table *table)
{
	mnt_unref_table(table);
}

/* True when path is target or lies below it. */
static bool covers(const char *target, const char *path)
{
	size_t length = target ? strlen(target) : 0;

	if (length == 0)
		return false;
	while (length > 0 && target[length - 1] == '/')
		length--;
	return strncmp(target, path, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

static bool is_in_table(struct libmnt_table *table, int id)
{
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs = NULL;
	bool is_found = false;

	while (!is_found && mnt_table_next_fs(table, iter, &fs) == 0)
		is_found = mnt_fs_get_id(fs) == id;
	mnt_free_iter(iter);
	return is_found;
}

/* The mount with the shortest covering mount point among those on parent; -1: among the roots. */
static struct libmnt_fs *next_on_path(struct libmnt_table *table, int parent, const char *path)
{
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *best = NULL;
	struct libmnt_fs *fs = NULL;

	while (mnt_table_next_fs(table, iter, &fs) == 0) {
		int its_parent = mnt_fs_get_parent_id(fs);

		/* The root of a namespace may be its own parent. */
		if (parent < 0 ? its_parent != mnt_fs_get_id(fs) && is_in_table(table, its_parent)
			       : its_parent != parent || mnt_fs_get_id(fs) == parent)
			continue;
		if (!covers(mnt_fs_get_target(fs), path))
			continue;
		/* Of two at the same place the later one is on top. */
		if (!best || strlen(mnt_fs_get_target(fs)) <= strlen(mnt_fs_get_target(best)))
			best = fs;
	}
	mnt_free_iter(iter);
	return best;
}

/*
 * Follow the path down the tree of mounts, as the kernel does: a mount on /a hides what was mounted
 * on /a/b before. Ids make a tree, so the walk ends; a broken table is cut off after its length.
 */
static struct libmnt_fs *find_by_tree(struct libmnt_table *table, const char *path)
{
	struct libmnt_fs *found = NULL;
	struct libmnt_fs *next = next_on_path(table, -1, path);

	for (int steps = mnt_table_get_nents(table); next && steps > 0; steps--) {
		found = next;
		next = next_on_path(table, mnt_fs_get_id(found), path);
	}
	return found;
}

/* Longest covering mount point, the last one of equals; device 0: any. */
static struct libmnt_fs *find_longest(struct libmnt_table *table, const char *path, dev_t device)
{
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *best = NULL;
	struct libmnt_fs *fs = NULL;

	while (mnt_table_next_fs(table, iter, &fs) == 0) {
		if (!covers(mnt_fs_get_target(fs), path))
			continue;
		if (device && mnt_fs_get_devno(fs) != device)
			continue;
		if (!best || strlen(mnt_fs_get_target(fs)) >= strlen(mnt_fs_get_target(best)))
			best = fs;
	}
	mnt_free_iter(iter);
	return best;
}

static struct libmnt_fs *find_mount(struct libmnt_table *table, const char *path, dev_t device)
{
	struct libmnt_fs *found = NULL;
	struct libmnt_fs *same_device;

	/* /proc/mounts has no ids. */
	if (mnt_table_is_empty(table))
		return NULL;
	found = find_by_tree(table, path);
	if (!found || mnt_fs_get_id(found) <= 0)
		found = find_longest(table, path, 0);
	if (!found || !device || mnt_fs_get_devno(found) == device)
		return found;
	/* A btrfs subvolume has a device number of its own that no mount shows. */
	same_device = find_longest(table, path, device);
	return same_device ? same_device : found;
}

bool mount_table_find(
	struct libmnt_table *table, const char *path, dev_t device, struct mount_entry *out)
{
	struct libmnt_fs *fs = find_mount(table, path, device);
	char *options;

	if (!fs)
		return false;
	options = mnt_fs_strdup_options(fs);
	*out = (struct mount_entry){
		.mount = {
			.mount_point = wp_xstrdup(mnt_fs_get_target(fs)),
			.source = wp_xstrdup(mnt_fs_get_source(fs)),
			.fstype = wp_xstrdup(mnt_fs_get_fstype(fs)),
			.options = wp_xstrdup(options ? options : ""),
		},
		.major = major(mnt_fs_get_devno(fs)),
		.minor = minor(mnt_fs_get_devno(fs)),
		.row = mnt_table_find_fs(table, fs),
	};
	free(options);
	options = wp_mount_option(out->mount.options, "ro");
	out->mount.is_read_only = options != NULL;
	free(options);
	return true;
}

void mount_release(struct wp_mount *mount)
{
	free(mount->mount_point);
	free(mount->source);
	free(mount->fstype);
	free(mount->options);
}

char *wp_mount_option(const char *options, const char *name)
{
	size_t name_length = strlen(name);

	for (const char *at = options; at && *at;) {
		const char *end = strchrnul(at, ',');
		size_t length = (size_t)(end - at);

		if (length >= name_length && strncmp(at, name, name_length) == 0) {
			if (length == name_length)
				return wp_xstrdup("");
			if (at[name_length] == '=')
				return wp_xstrndup(at + name_length + 1, length - name_length - 1);
		}
		at = *end ? end + 1 : end;
	}
	return NULL;
}
