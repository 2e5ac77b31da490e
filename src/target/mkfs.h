/* SPDX-License-Identifier: PostgreSQL */
/*
 * mkfs.h - the file systems that an image can hold; private to src/target.
 *
 * Floor: target. Threads: yes; the table is constant.
 */
#ifndef WALPROBE_TARGET_MKFS_H
#define WALPROBE_TARGET_MKFS_H

#include "walprobe/os.h"

struct wp_mkfs {
	const char *fstype;    /* as mount knows it */
	const char *program;   /* mkfs program */
	const char *flags[6];  /* NULL-terminated: quiet, forced, no discard, nothing put off */
	int64_t minimum_bytes; /* smallest image that the program takes */
	const char *package;   /* Debian package of the program */
	const char *module;    /* kernel module */
};

/* wp_mkfs_find - the row of this file system, or NULL. */
const struct wp_mkfs *wp_mkfs_find(const char *fstype);

/* wp_mkfs_names - all names, comma separated, into out; returns out. */
const char *wp_mkfs_names(char *out, size_t size);

/*
 * wp_mkfs_missing - why this machine cannot make or mount the file system, or NULL when it can as
 * far as can be told beforehand; the caller frees.
 */
char *wp_mkfs_missing(const struct wp_os *os, const struct wp_mkfs *mkfs);

/*
 * wp_mkfs_run - make the file system on device.
 *
 * options  the user's own, separated by blanks; NULL: none.
 * Returns: 0, or -code with the program's words as detail.
 */
int wp_mkfs_run(const struct wp_os *os, const struct wp_mkfs *mkfs, const char *options,
	const char *device, struct wp_err *err);

#endif
