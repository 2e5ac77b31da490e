/* SPDX-License-Identifier: PostgreSQL */
/*
 * host.h - small facts about this process and machine that are no measured work.
 *
 * Floor: os. Threads: yes.
 */
#ifndef WALPROBE_HOST_H
#define WALPROBE_HOST_H

#include "walprobe/err.h"

/* wp_host_utc - the time of day in UTC, ISO 8601 ("2026-11-30T20:15:00Z"), into out; for labels
 * only, durations come from the monotonic clock. */
void wp_host_utc(char *out, size_t size);

/*
 * wp_host_guard_descriptors - make sure that descriptors 0 to 2 are open, so that no file of ours
 * gets one of these numbers. A closed output stays one that cannot be written.
 */
void wp_host_guard_descriptors(void);

/* wp_host_wall_ns - the time of day as ns since 1970, for time stamps in logs. */
int64_t wp_host_wall_ns(void);

/* wp_host_is_terminal - true when fd is a terminal. */
bool wp_host_is_terminal(int fd);

/* wp_host_uid - effective user id. */
unsigned wp_host_uid(void);

/* wp_host_pid - process id. */
int64_t wp_host_pid(void);

/* wp_host_processors - processors that this process may run on, 1 or more. */
int64_t wp_host_processors(void);

#endif
