/* SPDX-License-Identifier: PostgreSQL */
/*
 * sync_evidence.h - settings above the block layer that make fsync return early: a library in the
 * server's memory, a ZFS data set, an NFS export.
 *
 * Floor: device (may include base, os, result). The parsers are pure.
 * Threads: yes.
 */
#ifndef WALPROBE_SYNC_EVIDENCE_H
#define WALPROBE_SYNC_EVIDENCE_H

#include "walprobe/stack.h"

enum wp_zfs_sync {
	WP_ZFS_SYNC_UNKNOWN,
	WP_ZFS_SYNC_STANDARD,
	WP_ZFS_SYNC_ALWAYS,
	WP_ZFS_SYNC_DISABLED,
};

/* requests of an NFS mount so far; -1: not known */
struct wp_nfs_counts {
	int64_t writes;
	int64_t commits;
};

/* zero-filled: nothing was found */
struct wp_sync_evidence {
	char *dropped; /* what drops syncs here, in words; NULL: nothing that was seen */
	char *source;  /* what a reader should know of the far side; NULL: nothing */
};

/* wp_maps_sync_dropper - name of a library that makes syncs vanish among the lines of a
 * /proc/PID/maps, which the caller frees; NULL: none. */
char *wp_maps_sync_dropper(const char *maps);

/* wp_zfs_sync_parse - the "sync" property of one data set, as zfs get prints it with or without
 * headings (-H). */
enum wp_zfs_sync wp_zfs_sync_parse(const char *text);

/* wp_nfs_counts_parse - WRITE and COMMIT requests of the mount at mount_point in a text like
 * /proc/self/mountstats; false when it is not there. */
bool wp_nfs_counts_parse(const char *text, const char *mount_point, struct wp_nfs_counts *out);

/* wp_nfs_export_is_async - a server's table of exports (/var/lib/nfs/etab) says async for path. */
bool wp_nfs_export_is_async(const char *text, const char *path);

/*
 * wp_sync_evidence_find - look at the postmasters whose pg_wal lies under the mount point of stack,
 * at the data set when it is ZFS, at the export when it is NFS from this host.
 *
 * proc  NULL: "/proc". What may not be read is passed over.
 */
void wp_sync_evidence_find(const struct wp_os *os, const char *proc, const struct wp_stack *stack,
	struct wp_sync_evidence *out);

/* wp_sync_evidence_release - free; accepts a zeroed struct. */
void wp_sync_evidence_release(struct wp_sync_evidence *evidence);

#endif
