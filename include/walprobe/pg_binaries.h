/* SPDX-License-Identifier: PostgreSQL */
/*
 * pg_binaries.h - the server programs of PostgreSQL (initdb, postgres) on this machine.
 *
 * Floor: pg (may include base, os, stats). Distributions keep them out of PATH, several versions
 * side by side. Threads: main thread only (programs are run).
 */
#ifndef WALPROBE_PG_BINARIES_H
#define WALPROBE_PG_BINARIES_H

#include "walprobe/user.h"

#define WP_PG_OLDEST 12

struct wp_pg_binaries {
	char *directory; /* absolute, without symbolic links; both programs lie in it */
	char *initdb;
	char *postgres;
	char *version; /* "15.18 (Debian 15.18-0+deb12u1)" */
	int major;     /* 15 */
};

/*
 * wp_pg_binaries_find - initdb and postgres of one version, 12 or later, that user can run: in
 * bindir and nowhere else when that is given; otherwise in PATH, where pg_config says, in
 * /usr/lib/postgresql/VERSION/bin (newest first), in /usr/pgsql-VERSION/bin. Each candidate is run
 * as that user for its version.
 *
 * Returns: 0, or -WP_E_UNSUPPORTED with what stood in the way and the Debian package to install;
 * -WP_E_STOPPED.
 */
int wp_pg_binaries_find(const struct wp_os *os, const char *bindir, const struct wp_user *user,
	struct wp_pg_binaries *out, struct wp_err *err);

/* wp_pg_binaries_release - free; accepts a zeroed struct. */
void wp_pg_binaries_release(struct wp_pg_binaries *binaries);

/*
 * wp_pg_version_parse - "postgres (PostgreSQL) 15.18 (Debian ...)" into major (15) and the words
 * from the number on, borrowed from line. Development versions ("19devel", "18beta1") count as
 * their major version.
 *
 * Returns: false when it is no such line.
 */
bool wp_pg_version_parse(const char *line, int *major, const char **version);

#endif
