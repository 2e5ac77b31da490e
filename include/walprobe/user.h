/* SPDX-License-Identifier: PostgreSQL */
/*
 * user.h - the user that a PostgreSQL server of ours runs as, and what that user may reach.
 *
 * Floor: os. PostgreSQL refuses to run as root, so root must name somebody else.
 * Threads: main thread only.
 */
#ifndef WALPROBE_USER_H
#define WALPROBE_USER_H

#include "walprobe/os.h"

struct wp_user {
	char *name;
	unsigned uid;
	unsigned gid;
	unsigned *groups; /* all that it belongs to */
	size_t group_count;
	bool is_other; /* not the one that we run as */
};

/*
 * wp_user_find - the user to run a server as: for root the one named run_as, else "postgres"; for
 * anybody else themselves.
 *
 * run_as   NULL: not said.
 * Returns: 0, -WP_E_USAGE (root was named), or -WP_E_UNSUPPORTED with a hint: no such user, our
 * user id has no name (PostgreSQL needs one), or we are not root and another was named.
 */
int wp_user_find(
	const struct wp_os *os, const char *run_as, struct wp_user *out, struct wp_err *err);

/* wp_user_release - free; accepts a zeroed struct. */
void wp_user_release(struct wp_user *user);

/*
 * wp_user_become - give up who we are for good: groups, group, user; verified. For a child between
 * fork and exec: allocates nothing. Nothing happens unless user->is_other.
 *
 * Returns: 0, or -1 with errno set.
 */
int wp_user_become(const struct wp_user *user);

/*
 * wp_user_reach - 0 when user may enter every directory on the way to path (absolute) and has the
 * rights mode (R_OK, W_OK, X_OK of access()) on path itself. It is tried, in a child, as that user:
 * so access lists, FUSE and the like have their say.
 *
 * Returns: 0, or -WP_E_SYS with a message that names the first component that stands in the way
 * and a hint.
 */
int wp_user_reach(const struct wp_user *user, const char *path, int mode, struct wp_err *err);

#endif
