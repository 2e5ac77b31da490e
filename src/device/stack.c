/* SPDX-License-Identifier: PostgreSQL */
/*
 * From a directory to its devices: the mount table says which file system, the file system says
 * which devices, sysfs says what these lie on. A loop device leads back to a file, and so to a
 * mount; layers are therefore worked off as a queue (the array itself), and known names are not
 * entered again, which also ends a walk over a tree that bites its own tail.
 */
#include "device.h"

#define DELETED_SUFFIX " (deleted)"

static bool is_one_of(const char *word, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(word, *list) == 0)
			return true;
	return false;
}

/* Why a file system of this type has no block device that could be looked at; NULL: it has. */
static char *why_no_device(const struct wp_mount *mount)
{
	static const char *const memory[] = { "tmpfs", "ramfs", "devtmpfs", "hugetlbfs", NULL };
	static const char *const network[] = { "nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph",
		"glusterfs", "lustre", "beegfs", "gpfs", "afs", "ocfs2_dlmfs", NULL };
	static const char *const host[] = { "9p", "virtiofs", "vboxsf", "prl_fs", "hgfs", NULL };
	const char *type = mount->fstype ? mount->fstype : "";

	if (is_one_of(type, memory))
		return wp_xasprintf(
			"%s keeps everything in memory, there is no block device", type);
	if (is_one_of(type, network))
		return wp_xasprintf(
			"%s is a network file system, its devices are on the server", type);
	if (is_one_of(type, host))
		return wp_xasprintf("%s passes a directory of the host through, its devices are "
				    "not seen here",
			type);
	if (strcmp(type, "zfs") == 0)
		return wp_xstrdup(
			"a ZFS pool does not show its devices here, see zpool status -LP");
	if (strcmp(type, "fuse") == 0 || strncmp(type, "fuse.", 5) == 0)
		return wp_xasprintf("%s is served by a process (FUSE), which alone knows its "
				    "devices",
			type);
	return NULL;
}

static int keep_mount(struct wp_stack *stack, struct wp_mount *mount)
{
	if (stack->mount_count >= MOUNTS_MAX)
		return -1;
	stack->mounts =
		wp_xreallocarray(stack->mounts, stack->mount_count + 1, sizeof(*stack->mounts));
	stack->mounts[stack->mount_count++] = *mount;
	memset(mount, 0, sizeof(*mount));
	return 0;
}

static void add_named(struct walk *walk, char *name, struct layer_list *tops)
{
	if (name)
		layer_list_add(tops, walk_add_layer(walk, name));
	free(name);
}

/* All members of the btrfs file system that has device name; false when sysfs does not tell. */
static bool add_btrfs_members(struct walk *walk, const char *name, struct layer_list *tops)
{
	char *base = wp_xasprintf("%s/fs/btrfs", walk->sys);
	struct wp_names systems = { NULL, 0 };
	bool is_found = false;

	if (wp_os_list(walk->os, base, &systems) < 0)
		systems = (struct wp_names){ NULL, 0 };
	for (size_t i = 0; !is_found && i < systems.count; i++) {
		char *path = wp_xasprintf("%s/%s/devices", base, systems.names[i]);
		struct wp_names members = { NULL, 0 };

		if (wp_os_list(walk->os, path, &members) < 0)
			members = (struct wp_names){ NULL, 0 };
		for (size_t j = 0; j < members.count; j++)
			is_found = is_found || strcmp(members.names[j], name) == 0;
		for (size_t j = 0; is_found && j < members.count; j++)
			layer_list_add(tops, walk_add_layer(walk, members.names[j]));
		wp_names_release(&members);
		free(path);
	}
	wp_names_release(&systems);
	free(base);
	return is_found;
}

/* "/dev/sda:/dev/sdb", as bcachefs writes its members */
static void add_colon_list(struct walk *walk, const char *source, struct layer_list *tops)
{
	char *copy = wp_xstrdup(source);
	char *rest = copy;
	char *item;

	while ((item = strsep(&rest, ":")) != NULL)
		add_named(walk, walk_name_of_source(walk, item), tops);
	free(copy);
}

/* journal_dev=0x801 or journal_dev=2049 (ext3, ext4): the old 16 bit device number */
static char *name_of_journal_number(const struct walk *walk, const char *text)
{
	unsigned long number = strtoul(text, NULL, 0);

	return walk_name_of_device(walk, (unsigned)(number >> 8 & 0xff), (unsigned)(number & 0xff));
}

/* Logs on a device of their own, where the options show it. */
static void add_logs(struct walk *walk, const struct wp_mount *mount, struct layer_list *tops)
{
	static const char *const options[] = { "logdev", "journal_path", "jdev" };
	char *value;

	for (size_t i = 0; i < WP_COUNT(options); i++) {
		value = wp_mount_option(mount->options, options[i]);
		if (value)
			add_named(walk, walk_name_of_source(walk, value), tops);
		free(value);
	}
	value = wp_mount_option(mount->options, "journal_dev");
	if (value)
		add_named(walk, name_of_journal_number(walk, value), tops);
	free(value);
}

/* Devices that a file system lies on; 0 when none is found. */
static size_t add_devices(
	struct walk *walk, const struct mount_entry *entry, struct layer_list *tops)
{
	const struct wp_mount *mount = &entry->mount;
	char *name = NULL;

	if (entry->major)
		name = walk_name_of_device(walk, entry->major, entry->minor);
	if (!name)
		name = walk_name_of_source(walk, mount->source);
	if (name && strcmp(mount->fstype, "btrfs") == 0 && add_btrfs_members(walk, name, tops)) {
		free(name);
		return tops->count;
	}
	if (!name && mount->source && strncmp(mount->source, "/dev/", 5) == 0)
		add_colon_list(walk, mount->source, tops);
	add_named(walk, name, tops);
	add_logs(walk, mount, tops);
	return tops->count;
}

static bool find_entry(struct walk *walk, const char *path, struct mount_entry *entry)
{
	char *resolved = NULL;
	struct stat info;
	bool is_found;

	if (!walk->is_live)
		return mount_table_find(walk->table, path, 0, entry);
	if (wp_os_realpath(walk->os, path, &resolved) < 0)
		return false;
	if (wp_os_stat(walk->os, resolved, &info) < 0)
		info.st_dev = 0;
	is_found = mount_table_find(walk->table, resolved, info.st_dev, entry);
	free(resolved);
	return is_found;
}

/*
 * The upper directory of an overlay, into *path; NULL, or why it cannot be followed. Inside a
 * container the path is one of the host's: it is not there, or would lead to the overlay itself.
 */
static char *upper_of_overlay(struct walk *walk, const struct mount_entry *overlay, char **path)
{
	char *upper = wp_mount_option(overlay->mount.options, "upperdir");
	struct mount_entry below = { 0 };
	bool is_found;
	bool is_itself;

	if (!upper)
		return wp_xstrdup("this overlay has no upper directory that can be seen");
	is_found = upper[0] == '/' && find_entry(walk, upper, &below);
	is_itself = is_found && below.row == overlay->row;
	mount_release(&below.mount);
	if (!is_found || is_itself) {
		free(upper);
		return wp_xstrdup("the upper directory of this overlay lies outside of what can be "
				  "seen here (a container)");
	}
	*path = upper;
	return NULL;
}

/*
 * walk_place - enter the mount of path, the mounts under it when it is an overlay, and the devices
 * that the last of these lies on. Returns NULL, or why no device can be seen (freed by the caller).
 */
static char *walk_place(struct walk *walk, const char *start, struct layer_list *tops)
{
	char *path = wp_xstrdup(start);
	char *why = NULL;

	while (path) {
		struct mount_entry entry = { 0 };
		char *next = NULL;

		if (!find_entry(walk, path, &entry))
			why = wp_xasprintf("no mount that can be seen covers \"%s\"", path);
		else if (strcmp(entry.mount.fstype, "overlay") == 0)
			why = upper_of_overlay(walk, &entry, &next);
		else
			why = why_no_device(&entry.mount);
		if (!why && !next && add_devices(walk, &entry, tops) == 0)
			why = wp_xasprintf("no block device is known under %s on \"%s\"",
				entry.mount.fstype, entry.mount.mount_point);
		if (entry.mount.mount_point && keep_mount(walk->stack, &entry.mount) < 0 && !why)
			why = wp_xstrdup("too many mounts lie on one another");
		mount_release(&entry.mount);
		if (next && !walk->stack->upper_dir)
			walk->stack->upper_dir = wp_xstrdup(next);
		free(path);
		path = next;
		if (why && path) {
			free(path);
			path = NULL;
		}
	}
	return why;
}

/* Cut the last component off; "/" stays. */
static void cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		slash[slash == path] = '\0';
}

/* Where the file of a loop device lies: the file, or for a deleted one its directory. */
static char *place_of_backing(const struct walk *walk, const char *backing_file)
{
	size_t length = strlen(backing_file);
	size_t suffix = strlen(DELETED_SUFFIX);
	char *place;

	if (length < suffix || strcmp(backing_file + length - suffix, DELETED_SUFFIX) != 0)
		return wp_xstrdup(backing_file);
	if (walk->deleted_in)
		return wp_xstrdup(walk->deleted_in);
	/* The directory may be gone as well; what it lay in is most likely the same mount. */
	place = wp_xstrdup(backing_file);
	do
		cut_last(place);
	while (walk->is_live && strrchr(place, '/') > place &&
		wp_os_access(walk->os, place, F_OK) < 0);
	return place;
}

static void walk_backing(struct walk *walk, int index, struct layer_list *below)
{
	const char *name = walk->stack->layers[index].name;
	char *place = place_of_backing(walk, walk->stack->layers[index].backing_file);
	char *why = walk_place(walk, place, below);

	if (why && !walk->stack->unseen_below)
		walk->stack->unseen_below = wp_xasprintf("under %s: %s", name, why);
	free(why);
	free(place);
}

static void set_below(struct wp_layer *layer, const struct layer_list *list)
{
	if (list->count == 0)
		return;
	layer->below = wp_xcalloc(list->count, sizeof(*layer->below));
	layer->below_count = list->count;
	memcpy(layer->below, list->items, list->count * sizeof(*list->items));
}

/* Layers are appended while this runs, until nothing new turns up. */
static void expand_layers(struct walk *walk)
{
	for (size_t i = 0; i < walk->stack->layer_count; i++) {
		struct layer_list below = { .count = 0 };
		bool is_loop = walk->stack->layers[i].backing_file != NULL;

		if (is_loop)
			walk_backing(walk, (int)i, &below);
		else
			walk_stacked(walk, (int)i, &below);
		set_below(&walk->stack->layers[i], &below);
		walk->stack->layers[i].is_leaf =
			(is_loop || below.count == 0) && walk_is_request_based(walk, (int)i);
	}
}

/* The directory's own mount, as the plain fields show it. */
static void set_own_mount(struct wp_stack *stack)
{
	const struct wp_mount *mount = &stack->mounts[0];

	if (stack->mount_count == 0)
		return;
	stack->mount_point = wp_xstrdup(mount->mount_point);
	stack->source = wp_xstrdup(mount->source);
	stack->fstype = wp_xstrdup(mount->fstype);
	stack->mount_options = wp_xstrdup(mount->options);
	stack->is_read_only = mount->is_read_only;
}

static int check_path(const struct walk *walk, const char *path, struct wp_err *err)
{
	struct stat info;
	int rc;

	if (!walk->is_live)
		return 0;
	rc = wp_os_stat(walk->os, path, &info);
	return rc < 0 ? wp_fail(err, WP_E_SYS, -rc, "could not look up \"%s\"", path) : 0;
}

int wp_stack_find(const struct wp_os *os, const struct wp_stack_roots *roots, const char *path,
	struct wp_stack *out, struct wp_err *err)
{
	struct wp_stack stack = { 0 };
	struct layer_list tops = { .count = 0 };
	struct walk walk = {
		.os = os,
		.sys = roots && roots->sys ? roots->sys : "/sys",
		.deleted_in = roots ? roots->deleted_in : NULL,
		.is_live = !roots || !roots->mountinfo,
		.stack = &stack,
	};
	int rc = check_path(&walk, path, err);

	if (!rc)
		rc = mount_table_load(
			walk.is_live ? "/proc/self/mountinfo" : roots->mountinfo, &walk.table, err);
	if (rc)
		return rc;
	stack.unseen = walk_place(&walk, path, &tops);
	stack.top_count = stack.layer_count;
	set_own_mount(&stack);
	expand_layers(&walk);
	mount_table_free(walk.table);
	*out = stack;
	return 0;
}

static void release_layer(struct wp_layer *layer)
{
	free(layer->name);
	free(layer->alias);
	free(layer->kind);
	free(layer->below);
	free(layer->write_cache);
	free(layer->device_cache);
	free(layer->model);
	free(layer->scsi_address);
	free(layer->host_driver);
	free(layer->wwid);
	free(layer->backing_file);
	free(layer->scheduler);
}

void wp_stack_release(struct wp_stack *stack)
{
	for (size_t i = 0; i < stack->layer_count; i++)
		release_layer(&stack->layers[i]);
	for (size_t i = 0; i < stack->mount_count; i++)
		mount_release(&stack->mounts[i]);
	free(stack->layers);
	free(stack->mounts);
	free(stack->mount_point);
	free(stack->source);
	free(stack->fstype);
	free(stack->mount_options);
	free(stack->upper_dir);
	free(stack->unseen);
	free(stack->unseen_below);
	memset(stack, 0, sizeof(*stack));
}

bool wp_stack_has_option(const struct wp_stack *stack, const char *name)
{
	char *value = wp_mount_option(stack->mount_options, name);

	free(value);
	return value != NULL;
}

bool wp_stack_is_end(const struct wp_stack *stack, size_t layer)
{
	return stack->layers[layer].below_count == 0;
}

void wp_stack_describe(const struct wp_stack *stack, const char *path, struct wp_target_info *info)
{
	wp_target_info_set(info, path, stack->fstype, stack->mount_options);
	for (size_t i = 0; i < stack->layer_count; i++) {
		const struct wp_layer *layer = &stack->layers[i];

		wp_target_info_add_device(
			info, layer->name, layer->write_cache, layer->is_fua, layer->is_rotational);
	}
}

const char *wp_stack_sync_lost(const struct wp_stack *stack)
{
	/* fusefat writes to its image file and has no fsync operation (FUSE answers for it). */
	if (stack->fstype && strcmp(stack->fstype, "fuse.fusefat") == 0)
		return "fusefat never passes fsync on to its image";
	return NULL;
}
