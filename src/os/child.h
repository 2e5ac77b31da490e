/* SPDX-License-Identifier: PostgreSQL */
/*
 * child.h - fork and exec with what our children have in common; private to src/os.
 *
 * Floor: os. Threads: the child dies with the thread that started it (unless asked not to).
 */
#ifndef WALPROBE_OS_CHILD_H
#define WALPROBE_OS_CHILD_H

#include "walprobe/user.h"

#include <sys/types.h>

struct wp_child_spec {
	const char *path;
	const char *const *argv;    /* NULL-terminated */
	const struct wp_user *user; /* whom to become; NULL: stay who we are */
	const char *directory;      /* where to work; NULL: where we are */
	int in;                     /* descriptor that becomes stdin; 0: /dev/null does */
	int out;                    /* descriptors that become stdout and stderr */
	int errors;
	int death_signal; /* what it gets when our thread ends; 0: nothing */
	bool is_clean;    /* without settings of PostgreSQL's clients, preloads, time zone */
	bool is_session;  /* in a session of its own, with umask 077; else a process group */
};

/*
 * wp_child_start - run the program; the locale is C, signals are as by default.
 *
 * Returns: 0 with *pid once it runs, or -errno of what failed, up to exec.
 */
int wp_child_start(const struct wp_child_spec *spec, pid_t *pid);

#endif
