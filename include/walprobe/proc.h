/* SPDX-License-Identifier: PostgreSQL */
/*
 * proc.h - run an external program and keep what it said.
 *
 * Floor: os. No shell: the words are handed over as they are. The child reads /dev/null or what it is given, runs in
 * the C locale and in a process group of its own, and dies with the thread that started it.
 * Threads: yes, but from a thread that outlives the program.
 */
#ifndef WALPROBE_PROC_H
#define WALPROBE_PROC_H

#include "walprobe/user.h"

#define WP_PROC_OUTPUT_BYTES 65536

struct wp_proc_options {
	int64_t limit_ns;    /* end it after this time; 0: no limit */
	const char *package; /* Debian package to name when the program is missing; may be NULL */
	const char *input;   /* what it reads from stdin; NULL: nothing */
	size_t output_bytes; /* of each stream that are kept; 0: WP_PROC_OUTPUT_BYTES */
	bool ignores_stop;   /* part of undoing: SIGINT and SIGTERM to us do not end it */
	const struct wp_user *user; /* whom it runs as; NULL: as us */
	const char *directory;      /* where it works; NULL: where we are */
	bool is_clean; /* without PG*, LD_PRELOAD, LANG and TZ: what PostgreSQL's programs need */
};

struct wp_proc_output {
	int exit_status;  /* -1 when a signal ended it */
	int signal;       /* 0, or the signal that ended it */
	char *out;        /* stdout, terminated; what is beyond the limit is dropped */
	size_t out_bytes; /* of it: a program may write zeros */
	char *errors;     /* stderr, likewise */
	bool is_cut;      /* something was dropped */
};

/*
 * wp_proc_find - path of a program: PATH, then /usr/sbin and /sbin, where mkfs lives and where an
 * ordinary user's PATH does not lead.
 *
 * Returns: 0 with *path (the caller frees), or -WP_E_UNSUPPORTED naming the program, with a hint
 * naming package when that is not NULL.
 */
int wp_proc_find(const struct wp_os *os, const char *program, const char *package, char **path,
	struct wp_err *err);

/*
 * wp_proc_run - run argv (NULL-terminated; [0] is looked up by wp_proc_find()) to its end.
 *
 * output   filled when 0 is returned; free with wp_proc_output_release().
 * Returns: 0 when it ran, whatever its exit status; -WP_E_UNSUPPORTED when there is no such
 * program; -WP_E_SYS when it could not be started or the time ran out; -WP_E_STOPPED when a
 * stop was requested. In the last two cases its whole process group was ended first: SIGTERM, and
 * SIGKILL after a second. What a program leaves running in its group is ended as well.
 */
int wp_proc_run(const struct wp_os *os, const char *const *argv,
	const struct wp_proc_options *options, struct wp_proc_output *output, struct wp_err *err);

/*
 * wp_proc_check - 0 when the program ended with exit status 0; otherwise -WP_E_SYS "PROGRAM failed
 * with exit status N" with the first line of its stderr (or stdout) as detail.
 */
int wp_proc_check(const char *program, const struct wp_proc_output *output, struct wp_err *err);

/* wp_proc_output_release - free; accepts a zeroed struct. */
void wp_proc_output_release(struct wp_proc_output *output);

#endif
