/* SPDX-License-Identifier: PostgreSQL */
/*
 * thread.h - threads, locks and semaphores; the only door to <pthread.h> and <semaphore.h>.
 *
 * Floor: os. A semaphore sleeps in a futex as PostgreSQL's PGSemaphore (unnamed POSIX) does, so
 * that waking a waiter costs here what it costs there.
 */
#ifndef WALPROBE_THREAD_H
#define WALPROBE_THREAD_H

#include "walprobe/err.h"

#include <pthread.h>
#include <semaphore.h>

struct wp_thread {
	pthread_t handle;
	void (*run)(void *argument);
	void *argument;
	bool is_started;
};

struct wp_mutex {
	pthread_mutex_t handle;
};

struct wp_sem {
	sem_t handle;
};

/*
 * wp_thread_start - run(argument) on a thread of its own, all signals blocked there.
 *
 * thread       caller owns it and must not move it until wp_thread_join().
 * stack_bytes  0 for the system's default; else at least 64 kB.
 * Returns: 0, or -WP_E_SYS (message says how many threads the system refused at is the caller's).
 */
int wp_thread_start(struct wp_thread *thread, void (*run)(void *argument), void *argument,
	size_t stack_bytes, struct wp_err *err);

/* wp_thread_join - wait for the end of a started thread; accepts a zeroed struct. */
void wp_thread_join(struct wp_thread *thread);

/* wp_mutex_init, wp_mutex_release - a plain mutex; init cannot fail with these attributes. */
void wp_mutex_init(struct wp_mutex *mutex);
void wp_mutex_release(struct wp_mutex *mutex);

/* wp_mutex_init_shared - the same in memory that processes share (forked.h). */
void wp_mutex_init_shared(struct wp_mutex *mutex);
void wp_mutex_lock(struct wp_mutex *mutex);
void wp_mutex_unlock(struct wp_mutex *mutex);

/* wp_sem_init, wp_sem_release - a semaphore of this process with a starting count. */
void wp_sem_init(struct wp_sem *sem, unsigned count);
/* wp_sem_init_shared - the same in memory that processes share (forked.h). */
void wp_sem_init_shared(struct wp_sem *sem, unsigned count);
void wp_sem_release(struct wp_sem *sem);
void wp_sem_post(struct wp_sem *sem);

/* wp_sem_wait - take one, sleeping as long as it takes; interruptions are waited through. */
void wp_sem_wait(struct wp_sem *sem);

/* wp_sem_wait_for - as wp_sem_wait, at most duration_ns; false when the time ran out. */
bool wp_sem_wait_for(struct wp_sem *sem, int64_t duration_ns);

#endif
