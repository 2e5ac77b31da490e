/* SPDX-License-Identifier: PostgreSQL */
/*
 * err.h - the one error idiom.
 *
 * Floor: base. A function that can fail returns 0 or the negative of an enum wp_code, and fills the
 * caller's struct wp_err (last parameter, NULL allowed) with a message complete enough to print.
 * Messages follow PostgreSQL: lower case, no full stop, names in double quotes, "could not ...";
 * detail and hint are whole sentences. The library never prints; only cli does.
 * Threads: no; one struct per thread.
 */
#ifndef WALPROBE_ERR_H
#define WALPROBE_ERR_H

#include "walprobe/base.h"

/* code, exit status, name in JSON */
#define WP_ERROR_CODES(X)                                                                          \
	X(WP_OK, 0, "ok")                                                                          \
	X(WP_E_USAGE, 2, "usage")                                                                  \
	X(WP_E_SYS, 3, "system")                                                                   \
	X(WP_E_NOSPACE, 3, "no-space")                                                             \
	X(WP_E_UNSUPPORTED, 3, "unsupported")                                                      \
	X(WP_E_DATA, 3, "data")                                                                    \
	X(WP_E_SERVER, 3, "server")                                                                \
	X(WP_E_STOPPED, 130, "stopped")

enum wp_code {
#define X(code, status, name) code,
	WP_ERROR_CODES(X)
#undef X
};

struct wp_err {
	enum wp_code code;
	int sys_errno; /* 0 when no system call failed */
	char message[768];
	char detail[512]; /* may be empty */
	char hint[512];   /* may be empty */
};

/*
 * wp_fail - fill err and return -code, for "return wp_fail(...)".
 *
 * sys_errno  positive errno, whose text is appended after ": "; 0 for none. ENOSPC, EDQUOT turn
 *            WP_E_SYS into WP_E_NOSPACE.
 * err        may be NULL.
 */
int wp_fail(struct wp_err *err, enum wp_code code, int sys_errno, const char *format, ...)
	WP_PRINTF(4, 5);

/* wp_err_detail - set the detail sentence of err; err may be NULL. */
void wp_err_detail(struct wp_err *err, const char *format, ...) WP_PRINTF(2, 3);

/* wp_err_hint - set the hint sentence (what to do) of err; err may be NULL. */
void wp_err_hint(struct wp_err *err, const char *format, ...) WP_PRINTF(2, 3);

/* wp_err_prefix - put text before the message of err, as in "target \"x\": ". */
void wp_err_prefix(struct wp_err *err, const char *format, ...) WP_PRINTF(2, 3);

/* wp_err_print - "walprobe: error: ...", detail and hint lines; kind is "error" or "warning". */
void wp_err_print(const struct wp_err *err, const char *kind, FILE *stream);

/* wp_err_print_line - "walprobe: kind: text". Messages quote scripts, names and servers, so control
 * bytes are shown as \x01 and do not reach a terminal. */
void wp_err_print_line(const char *kind, const char *text, FILE *stream);

/* wp_code_exit_status - exit status of contract for a code. */
int wp_code_exit_status(enum wp_code code);

/* wp_errno_text - the C library's untranslated text of a positive errno; static storage. */
const char *wp_errno_text(int sys_errno);

/* wp_errno_name - "EINVAL" and the like; static storage. */
const char *wp_errno_name(int sys_errno);

#endif
