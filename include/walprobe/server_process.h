/* SPDX-License-Identifier: PostgreSQL */
/*
 * server_process.h - PostgreSQL's processes as the system shows them: started as our child, found
 * by the directory that they work in, and stopped.
 *
 * Floor: os. A process belongs to a directory when its program is named "postgres" and it works in
 * the directory or below it (every process of a server works in its data directory), or was started
 * with -D and such a directory. Process ids in files are not trusted.
 * Threads: main thread only.
 */
#ifndef WALPROBE_SERVER_PROCESS_H
#define WALPROBE_SERVER_PROCESS_H

#include "walprobe/user.h"

#define WP_SERVER_DATA_NAME "data" /* data directory in a private directory of ours */

struct wp_server_start {
	const char *program;        /* absolute path of postgres */
	const char *const *argv;    /* NULL-terminated */
	const struct wp_user *user; /* whom it runs as */
	const char *data_directory; /* where it starts */
	const char *log;            /* file that stdout and stderr are appended to */
	bool outlives_us;           /* --keep: it stays when we end, whatever the way */
};

/*
 * wp_server_start - run postgres as our child, in a session of its own (a terminal's ^C does not
 * reach it), in a clean environment. When our main thread ends for whatever reason it gets SIGQUIT,
 * PostgreSQL's immediate shutdown.
 *
 * Returns: 0 with *pid once the program runs (not yet: accepts connections), or -WP_E_SYS.
 */
int wp_server_start(const struct wp_os *os, const struct wp_server_start *start, int64_t *pid,
	struct wp_err *err);

/*
 * wp_server_has_ended - true once our child pid is gone.
 *
 * how  receives words for it: "exit status 1", "signal 9 (Killed)"
 */
bool wp_server_has_ended(int64_t pid, char *how, size_t size);

/*
 * wp_server_stop - end all processes that belong to directory, the postmaster first: SIGINT (fast
 * shutdown) and 10 s, SIGQUIT and 5 s, SIGKILL and 5 s; stopped ones are continued. A shared memory
 * segment that a killed server left is removed.
 *
 * directory   absolute, without symbolic links
 * is_patient  false: begin with SIGQUIT, nobody wants the data any more
 * Returns: 0 when none is left (or there never was one), -EBUSY when one would not go, or -errno.
 */
int wp_server_stop(const struct wp_os *os, const char *directory, bool is_patient);

/* wp_server_undo - the undo function of a running server; name is its data directory. */
int wp_server_undo(const struct wp_os *os, const char *name, void *argument);

#endif
