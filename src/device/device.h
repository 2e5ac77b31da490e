/* SPDX-License-Identifier: PostgreSQL */
/*
 * device.h - what the files of src/device share: the mount table and the walk over the layers.
 */
#ifndef WALPROBE_DEVICE_DEVICE_H
#define WALPROBE_DEVICE_DEVICE_H

#include "walprobe/mem.h"
#include "walprobe/stack.h"

/* More than any real machine stacks; a broken or hostile tree ends here. */
#define MOUNTS_MAX 16
#define LAYERS_MAX 256

struct libmnt_table;

/* a mount as the table has it */
struct mount_entry {
	struct wp_mount mount; /* owned */
	unsigned major;        /* 0: anonymous device (btrfs, overlay, tmpfs ...) */
	unsigned minor;
	int row; /* place in the table */
};

/* one walk from a directory to its devices */
struct walk {
	const struct wp_os *os;
	const char *sys;
	const char *deleted_in;
	bool is_live;
	struct libmnt_table *table;
	struct wp_stack *stack;
};

/* indexes into stack->layers, without repeats */
struct layer_list {
	int items[LAYERS_MAX];
	size_t count;
};

/* mount_table_load - read a mount table in mountinfo's or /proc/mounts' form. */
int mount_table_load(const char *path, struct libmnt_table **out, struct wp_err *err);

/* mount_table_free - accepts NULL. */
void mount_table_free(struct libmnt_table *table);

/*
 * mount_table_find - the mount that an absolute path without symbolic links lies on.
 *
 * device  st_dev of path, 0 when not known: a covering mount with that device is preferred.
 * Returns: true with *out filled (release out->mount), false when no mount covers path.
 */
bool mount_table_find(
	struct libmnt_table *table, const char *path, dev_t device, struct mount_entry *out);

/* mount_release - free the strings. */
void mount_release(struct wp_mount *mount);

/* layer_list_add - append unless it is there or the list is full. */
void layer_list_add(struct layer_list *list, int index);

/* walk_attribute - text of /sys/class/block/NAME/ATTRIBUTE; NULL when it cannot be read. */
char *walk_attribute(const struct walk *walk, const char *name, const char *attribute);

/* walk_name_of_device - kernel name of a device number; NULL when sysfs has none. */
char *walk_name_of_device(const struct walk *walk, unsigned major, unsigned minor);

/* walk_name_of_source - kernel name of "/dev/..."; NULL when it is no block device. */
char *walk_name_of_source(const struct walk *walk, const char *source);

/* walk_add_layer - index of the layer with this kernel name, read from sysfs when new; -1 when
 * there are too many. */
int walk_add_layer(struct walk *walk, const char *name);

/* walk_stacked - add the layers under a partition, dm, md, bcache device or multipath head. */
void walk_stacked(struct walk *walk, int index, struct layer_list *below);

/* walk_is_request_based - true when the driver takes requests, so that flushes are counted. */
bool walk_is_request_based(const struct walk *walk, int index);

#endif
