/* SPDX-License-Identifier: PostgreSQL */
/*
 * stack.h - what lies under a directory: mount, file system, block layers, leaf devices.
 *
 * Floor: device (may include base, os, result). Mount facts through libmount; block layers from
 * sysfs (slaves/, partition parents, loop backing files, NVMe multipath paths, btrfs members).
 * The layers form a graph (one disk may lie under two parents): a device appears once.
 * Threads: no.
 */
#ifndef WALPROBE_STACK_H
#define WALPROBE_STACK_H

#include "walprobe/os.h"
#include "walprobe/result.h"

struct wp_layer {
	char *name;  /* kernel name: "sda1", "dm-0", "loop3", "nvme0n1" */
	char *alias; /* name that people know: "vg_01-md0_1", "data"; NULL: none */
	char *kind;  /* "disk", "part", "loop", "lvm", "crypt", "raid1", "mpath", ... */
	unsigned major;
	unsigned minor;
	int *below; /* indexes of the layers under this one */
	size_t below_count;
	bool is_leaf;    /* requests are counted here: request-based, nothing stacked below (a loop
	                         device too, although its file lies on something) */
	bool is_virtual; /* a hypervisor stands behind it (virtio, Xen, QEMU, cloud disks) */
	char *write_cache;  /* "write back", "write through"; NULL: cannot be seen */
	char *device_cache; /* the device's own report (cache_type); NULL: cannot be seen */
	int is_fua;         /* 1, 0, -1: cannot be seen */
	int is_rotational;  /* 1, 0, -1; not to be believed of loop and virtual devices */
	int rotation_rpm;   /* as the disk reports (VPD page B1h); 0: unknown or not rotating */
	int64_t logical_block_bytes; /* 0: unknown */
	char *model;                 /* NULL: unknown */
	char *backing_file;          /* loop devices: file they lie on; NULL otherwise */
	char *scheduler;             /* NULL: unknown */
	char *scsi_address;          /* "0:2:24:0": host, channel, id, lun; NULL: no SCSI disk */
	char *host_driver; /* driver of the SCSI host: "megaraid_sas", "ahci"; NULL: unknown */
	char *wwid;        /* "naa.600605b0..."; NULL: unknown */
};

/* one mount on the way down: the directory's own, then those under overlay and loop devices */
struct wp_mount {
	char *mount_point;
	char *source;
	char *fstype;
	char *options; /* as wp_stack.mount_options */
	bool is_read_only;
};

struct wp_stack {
	char *mount_point;
	char *source;        /* "/dev/sda1", "tmpfs", "server:/export" */
	char *fstype;        /* from the mount table, never from statfs */
	char *mount_options; /* mount and super block options, comma separated */
	bool is_read_only;
	char *upper_dir;         /* overlay: the directory whose stack is followed; else NULL */
	struct wp_layer *layers; /* [0] is what the file system lies on; empty: no block device */
	size_t layer_count;
	size_t top_count; /* layers[0 .. top_count-1] carry the file system: several for btrfs on
	                     several devices, or an external log */
	struct wp_mount *mounts; /* [0] is the directory's own mount */
	size_t mount_count;
	char *unseen; /* why no block device can be seen (NFS, tmpfs, FUSE ...); NULL when layers */
	char *unseen_below; /* layers end early for this reason (loop image deleted ...); or NULL */
};

/* where sysfs, procfs and the mount table are read; recorded trees in tests */
struct wp_stack_roots {
	const char *sys;        /* NULL: "/sys" */
	const char *mountinfo;  /* NULL: "/proc/self/mountinfo", and the live system is asked too */
	const char *deleted_in; /* where the deleted image of a loop device lay; NULL: the directory
	                           that its old name shows */
};

/*
 * wp_stack_find - walk from path (an existing file or directory) to the leaf devices.
 *
 * roots    NULL for the live system. With recorded trees, path is looked up in the recorded mount
 *          table by its longest prefix, and devices by the recorded major:minor.
 * Loops are followed into their backing file's own stack; overlay into its upper directory.
 * Returns: 0 (also when no block device can be seen: stack->unseen says why), or -code.
 */
int wp_stack_find(const struct wp_os *os, const struct wp_stack_roots *roots, const char *path,
	struct wp_stack *out, struct wp_err *err);

/* wp_stack_release - free; accepts a zeroed struct. */
void wp_stack_release(struct wp_stack *stack);

/* wp_stack_has_option - true when the mount options hold name, or name=anything. */
bool wp_stack_has_option(const struct wp_stack *stack, const char *name);

/*
 * wp_mount_option - value of an option in a comma separated list.
 *
 * Returns: the value, which the caller frees ("" for a bare word), or NULL when it is not there.
 */
char *wp_mount_option(const char *options, const char *name);

/*
 * wp_stack_counted - the layers whose requests wp_flush_read() adds up.
 *
 * indexes  receives at most stack->layer_count indexes, ascending.
 * Returns: how many; 0 with *reason set (static) when a branch ends without a device that counts.
 */
size_t wp_stack_counted(const struct wp_stack *stack, int *indexes, const char **reason);

/* wp_stack_is_end - true for a layer that nothing lies under: a disk, as far as can be seen. */
bool wp_stack_is_end(const struct wp_stack *stack, size_t layer);

/*
 * wp_stack_sync_lost - why fsync() of a file there is known to reach nothing although it succeeds,
 * as a clause; NULL when nothing is known. Static storage.
 */
const char *wp_stack_sync_lost(const struct wp_stack *stack);

/* wp_stack_describe - fill path, fstype, options and devices of a result's target entry. */
void wp_stack_describe(const struct wp_stack *stack, const char *path, struct wp_target_info *info);

/* requests counted by the kernel at the devices that hold the file system */
struct wp_flush_counts {
	bool is_known;
	const char *unknown_reason; /* static; when not known */
	int64_t flushes;            /* FLUSH requests completed */
	int64_t writes;             /* write requests, empty flushes included */
	int64_t written_bytes;
	int64_t reads;
	int64_t read_bytes;
};

/*
 * wp_flush_read - sum of the counters over the first request-based devices under the file system
 * (for a loop device the loop device itself, not what its file lies on; dm and md count nothing,
 * so their slaves are used; a partition's whole disk).
 *
 * Source: Documentation/admin-guide/iostats.rst, fields 16 and 17 (Linux 5.5 and later).
 */
void wp_flush_read(const struct wp_os *os, const struct wp_stack_roots *roots,
	const struct wp_stack *stack, struct wp_flush_counts *out);

/* wp_flush_read_layer - the same for one layer, whatever it is. */
void wp_flush_read_layer(const struct wp_os *os, const struct wp_stack_roots *roots,
	const struct wp_layer *layer, struct wp_flush_counts *out);

#endif
