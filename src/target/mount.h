/* SPDX-License-Identifier: PostgreSQL */
/*
 * mount.h - mount a file system through libmount; private to src/target.
 *
 * Floor: target. Threads: main thread only.
 */
#ifndef WALPROBE_TARGET_MOUNT_H
#define WALPROBE_TARGET_MOUNT_H

#include "walprobe/os.h"

/*
 * wp_mount_device - mount device on directory.
 *
 * options  as for mount -o; NULL: none.
 * Returns: 0, or -WP_E_SYS (err->sys_errno tells; ENODEV: the kernel lacks the file system) with
 * what the kernel logged meanwhile as detail, where that can be read.
 */
int wp_mount_device(const struct wp_os *os, const char *device, const char *directory,
	const char *fstype, const char *options, struct wp_err *err);

#endif
