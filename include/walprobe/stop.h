/* SPDX-License-Identifier: PostgreSQL */
/*
 * stop.h - SIGINT, SIGTERM and SIGHUP as one flag that every loop looks at.
 *
 * Floor: os. The handlers are installed even where the signals were ignored when walprobe started
 * (a shell's background job). SIGPIPE and SIGXFSZ are ignored: a closed output and a file beyond
 * the limit of sizes are errors of write. The flag is process wide because signals are.
 * Threads: yes.
 */
#ifndef WALPROBE_STOP_H
#define WALPROBE_STOP_H

#include "walprobe/err.h"

#include <stdatomic.h>

/* wp_stop_install - take over the signals; called once by main before any thread starts. */
void wp_stop_install(void);

/* wp_stop_flag - the word to read in a timed loop: 0, or the number of the signal that came. */
const atomic_int *wp_stop_flag(void);

/* wp_stop_requested - true once a signal came. */
bool wp_stop_requested(void);

/* wp_stop_exit_status - 130 for SIGINT, 143 for SIGTERM (and SIGHUP), 0 when none came. */
int wp_stop_exit_status(void);

/* wp_stop_fail - 0, or -WP_E_STOPPED with "interrupted" once a signal came. */
int wp_stop_fail(struct wp_err *err);

/* wp_stop_raise, wp_stop_reset - set and clear the flag without a signal, for tests. */
void wp_stop_raise(int signal_number);
void wp_stop_reset(void);

#endif
