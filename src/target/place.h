/* SPDX-License-Identifier: PostgreSQL */
/*
 * place.h - the checks that any directory passes before we make ours in it; private to src/target.
 *
 * Floor: target. Threads: main thread only.
 */
#ifndef WALPROBE_TARGET_PLACE_H
#define WALPROBE_TARGET_PLACE_H

#include "walprobe/target.h"

/*
 * wp_place_check - path is a directory that we may enter and, with will_write, write to.
 *
 * Returns: 0, or -code: does not exist, no directory, no permission (naming the user), read-only
 * file system (naming the mount point).
 */
int wp_place_check(const struct wp_os *os, const char *path, bool will_write, struct wp_err *err);

/*
 * wp_place_find - the directory in which ours is to be made for the user's path: itself, or beside
 * a live pg_wal; with room for needed_bytes and the reserve of options.
 *
 * place  absolute; the caller frees.
 */
int wp_place_find(const struct wp_os *os, const char *path, int64_t needed_bytes,
	const struct wp_target_options *options, char **place, struct wp_err *err);

/*
 * wp_place_has_room - 0 when path's file system has needed_bytes and the reserve
 * (wp_target_options) free; -WP_E_NOSPACE with the bytes needed and free.
 */
int wp_place_has_room(const struct wp_os *os, const char *path, int64_t needed_bytes,
	int64_t reserve_bytes, struct wp_err *err);

/* wp_image_open - wp_target_open() for images. */
int wp_image_open(const struct wp_os *os, struct wp_registry *registry,
	const struct wp_target_spec *spec, const struct wp_target_options *options,
	struct wp_target *target, struct wp_err *err);

#endif
