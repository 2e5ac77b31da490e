/* SPDX-License-Identifier: PostgreSQL */
/*
 * segment.h - segment files of pg_wal: names, creation, recycling and removal, call for call as
 * PostgreSQL makes them.
 *
 * Floor: wal (may include base, os, stats). An era picks what changed over the releases: the size
 * of the zero fill's writes, whether a segment gets its name by rename() or by link() and
 * unlink(), and which of these steps are synced.
 * Source: PostgreSQL xlog.c, XLogFileInitInternal(), InstallXLogFileSegment(), RemoveXlogFile();
 * fd.c, durable_rename(), durable_rename_excl(), durable_unlink().
 * Threads: yes; different threads must not work on the same segment number at once. Nothing is
 * allocated.
 */
#ifndef WALPROBE_SEGMENT_H
#define WALPROBE_SEGMENT_H

#include "walprobe/os.h"

#include <stdatomic.h>

#define WP_SEGMENT_NAME_BYTES 25
#define WP_SEGMENT_PATH_BYTES 1024
#define WP_SEGMENT_MINIMUM_BYTES (INT64_C(1) << 20)
#define WP_SEGMENT_MAXIMUM_BYTES (INT64_C(1) << 30)

/* one release's way with segments and writes */
struct wp_era {
	const char *name; /* as --pg-version takes it */
	uint16_t page_magic;
	int fill_pages;        /* 8 kB pages per write of the zero fill */
	bool is_link;          /* link() and unlink() instead of rename() */
	bool is_durable;       /* files and directory are synced around the new name */
	bool has_status_dir;   /* archive_status exists */
	int64_t write_pages;   /* most pages that one write gathers; 0: no limit */
	bool is_direct_always; /* O_DIRECT, where wanted, for every method, not for open_* alone */
	int64_t wake_pages;    /* completed pages that wake the walwriter before its time */
};

/* wp_era_find - "7.1", "12", "15" or "18"; NULL for another name. */
const struct wp_era *wp_era_find(const char *name);

/* one pg_wal directory */
struct wp_segments {
	const struct wp_os *os;
	const char *dir; /* borrowed */
	const struct wp_era *era;
	int64_t segment_bytes;
	int64_t ahead;  /* most segments that may lie ready before the current one */
	bool is_sparse; /* a new segment is one byte at its end (wal_init_zero = off) */
	bool is_link;   /* may differ from the era's */
	/* what was done, in calls that succeeded */
	atomic_llong fsyncs;
	atomic_llong created;
	atomic_llong recycled;
	atomic_llong removed;
	atomic_llong filled_bytes;
};

/*
 * wp_segment_name - 24 hexadecimal digits and a terminating zero: timeline, and the segment number
 * over and modulo the segments of 4 GB.
 *
 * Returns: out.
 */
const char *wp_segment_name(
	char out[WP_SEGMENT_NAME_BYTES], uint32_t timeline, uint64_t segno, int64_t segment_bytes);

/*
 * wp_segment_open - the working descriptor of a segment, which is created when it does not exist.
 *
 * owner   number of the process that asks, for the name of its temporary file.
 * flags   to add to O_RDWR: O_DSYNC, O_SYNC, O_DIRECT.
 * fd      receives the descriptor; the caller closes it.
 * Returns: 0, or -WP_E_SYS, -WP_E_NOSPACE (with the bytes needed and free), -WP_E_UNSUPPORTED
 * where hard links are wanted and missing; no descriptor and no temporary file is left then.
 */
int wp_segment_open(struct wp_segments *segments, int owner, uint64_t segno, int flags, int *fd,
	struct wp_err *err);

/*
 * wp_segment_retire - give an old segment a number that will be needed, or remove it.
 *
 * next   where to look for a free number; advanced past the number given.
 * limit  highest number that is still useful: beyond it the old segment is removed. 0: always.
 * Returns: 0, or as wp_segment_open().
 */
int wp_segment_retire(struct wp_segments *segments, uint64_t segno, uint64_t *next, uint64_t limit,
	struct wp_err *err);

/*
 * wp_segment_can_link - whether the directory takes hard links.
 *
 * Returns: 1; 0 when the system refuses (EPERM and the like; *sys_errno receives which); or
 * -WP_E_SYS when the trial itself failed. Leaves nothing behind.
 */
int wp_segment_can_link(
	const struct wp_os *os, const char *dir, int *sys_errno, struct wp_err *err);

#endif
