/* SPDX-License-Identifier: PostgreSQL */
/*
 * process.h - which process is which; private to src/os.
 *
 * Floor: os.
 */
#ifndef WALPROBE_OS_PROCESS_H
#define WALPROBE_OS_PROCESS_H

#include "walprobe/os.h"

/*
 * wp_process_start - start time of a running process, in clock ticks since boot.
 *
 * Returns: field 22 of /proc/PID/stat, or -1 with *out_errno set: ENOENT or ESRCH when there is no
 * such process; one that has ended and was not yet waited for counts as gone.
 * Source: proc(5).
 */
int64_t wp_process_start(const struct wp_os *os, int64_t pid, int *out_errno);

/* wp_process_parent - process id of its parent, field 4 of /proc/PID/stat; -1 when it is gone. */
int64_t wp_process_parent(const struct wp_os *os, int64_t pid);

#endif
