/* SPDX-License-Identifier: PostgreSQL */
/*
 * quiesce.h - write a target's file system back between blocks, waiting no longer than agreed.
 *
 * Floor: probe, private. syncfs() cannot be told when to give up, so it runs on a thread; one that
 * is late goes on, and is waited for again the next time and at the end.
 * Threads: main thread only.
 */
#ifndef WALPROBE_QUIESCE_H
#define WALPROBE_QUIESCE_H

#include "walprobe/target.h"
#include "walprobe/thread.h"

struct wp_quiesce {
	const struct wp_os *os;
	const struct wp_target *target;
	int fd; /* -1: not open */
	struct wp_thread thread;
	struct wp_sem done;
	bool is_running;
	int rc; /* of syncfs; read once done */
};

/* wp_quiesce_init - for one target; nothing is opened before it is needed. */
void wp_quiesce_init(
	struct wp_quiesce *quiesce, const struct wp_os *os, const struct wp_target *target);

/*
 * wp_quiesce_wait - write back what lies dirty on the target's file system.
 *
 * Returns: 0 (at once when the target has no directory), 1 when limit_ns passed before the end, or
 * -code: a failed write-back is data lost on that target.
 */
int wp_quiesce_wait(struct wp_quiesce *quiesce, int64_t limit_ns, struct wp_err *err);

/* wp_quiesce_release - wait for the thread, however long it takes, and close. */
void wp_quiesce_release(struct wp_quiesce *quiesce);

#endif
