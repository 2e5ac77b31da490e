/* SPDX-License-Identifier: PostgreSQL */
/*
 * method.h - wal_sync_method: names, open flags, and the sync that belongs to each.
 *
 * Floor: wal (may include base, os, stats). Source: PostgreSQL xlog.c, get_sync_bit() and
 * issue_xlog_fsync().
 * Threads: yes, no state.
 */
#ifndef WALPROBE_METHOD_H
#define WALPROBE_METHOD_H

#include "walprobe/os.h"

enum wp_method {
	WP_METHOD_OPEN_DATASYNC,
	WP_METHOD_FDATASYNC,
	WP_METHOD_FSYNC,
	WP_METHOD_FSYNC_WRITETHROUGH,
	WP_METHOD_OPEN_SYNC,
	WP_METHOD_COUNT,
};

struct wp_method_set {
	enum wp_method items[WP_METHOD_COUNT];
	size_t count;
};

/* wp_method_name - PostgreSQL's name of the method. */
const char *wp_method_name(enum wp_method method);

/*
 * wp_method_parse_list - "fdatasync,open_datasync" or "all", in the order written; no repeats.
 * "all" is all five in PostgreSQL's order, the one that this platform lacks included.
 */
int wp_method_parse_list(const char *text, struct wp_method_set *out, struct wp_err *err);

/* wp_method_is_supported - false with a static reason for fsync_writethrough outside macOS. */
bool wp_method_is_supported(enum wp_method method, const char **reason);

/* wp_method_open_flags - O_DSYNC, O_SYNC or 0, to add to O_RDWR. */
int wp_method_open_flags(enum wp_method method);

/* wp_method_sync - the sync after a write: fsync, fdatasync, or nothing for open_*; 0 or -errno. */
int wp_method_sync(const struct wp_os *os, enum wp_method method, int fd);

#endif
