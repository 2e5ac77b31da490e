/* SPDX-License-Identifier: PostgreSQL */
/*
 * pgwal.h - directories in which a PostgreSQL server lives; private to src/target.
 *
 * Floor: target. Threads: no.
 */
#ifndef WALPROBE_TARGET_PGWAL_H
#define WALPROBE_TARGET_PGWAL_H

#include "walprobe/os.h"

/*
 * wp_pgwal_place - the directory to make ours in when the user named directory.
 *
 * directory  absolute, without symbolic links.
 * Where there is no sign of PostgreSQL it is the directory itself. A pg_wal (it holds segments), a
 * data directory or a directory inside one, or one that holds a pg_wal with segments is refused
 * without is_forced. With it the place is the nearest directory above that is outside the data
 * directory, on the same file system; or else the data directory, beside pg_wal; never pg_wal.
 * Returns: 0 with *place (the caller frees), or -WP_E_UNSUPPORTED with a hint.
 */
int wp_pgwal_place(const struct wp_os *os, const char *directory, bool is_forced, char **place,
	struct wp_err *err);

#endif
