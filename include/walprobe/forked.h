/* SPDX-License-Identifier: PostgreSQL */
/*
 * forked.h - copies of this process that work beside it, and memory that all of them share.
 *
 * Floor: os (may include base). A copy leads a session of its own, as a server's backends do, so
 * that the scheduler weighs it as one of them; it dies with the thread that started it. It must
 * not return from its function by other ways than returning: no output that is buffered, no
 * registry, no threads are carried over. Locks and semaphores in shared memory must be those of
 * wp_mutex_init_shared() and wp_sem_init_shared().
 * Threads: main thread only, while it is the only one.
 */
#ifndef WALPROBE_FORKED_H
#define WALPROBE_FORKED_H

#include "walprobe/err.h"

/* wp_shared_alloc - size bytes, zeroed and touched, that copies of this process share. Never NULL:
 * ends the process when memory is out. */
void *wp_shared_alloc(size_t size);

/* wp_shared_free - give it back; accepts NULL. */
void wp_shared_free(void *memory, size_t size);

/*
 * wp_forked_start - run(argument) in a copy of this process, which ends with it.
 *
 * pid  receives its process id.
 * Returns: 0, or -WP_E_SYS.
 */
int wp_forked_start(void (*run)(void *argument), void *argument, int64_t *pid, struct wp_err *err);

/*
 * wp_forked_wait - wait for its end; it is killed after limit_ns.
 *
 * Returns: true when it ended by itself and well.
 */
bool wp_forked_wait(int64_t pid, int64_t limit_ns);

#endif
