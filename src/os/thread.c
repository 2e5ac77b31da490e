/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/thread.h"

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif
#include <signal.h>
#include <time.h>

static void *enter(void *argument)
{
	struct wp_thread *thread = argument;

	thread->run(thread->argument);
	return NULL;
}

/* Signals go to the main thread, which decides; a worker only looks at the stop flag. */
static int create_blocked(struct wp_thread *thread, const pthread_attr_t *attributes)
{
	sigset_t all;
	sigset_t before;
	int rc;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread->handle, attributes, enter, thread);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return rc;
}

int wp_thread_start(struct wp_thread *thread, void (*run)(void *argument), void *argument,
	size_t stack_bytes, struct wp_err *err)
{
	pthread_attr_t attributes;
	int rc;

	thread->run = run;
	thread->argument = argument;
	thread->is_started = false;
	(void)pthread_attr_init(&attributes);
	rc = stack_bytes ? pthread_attr_setstacksize(&attributes, stack_bytes) : 0;
	if (!rc)
		rc = create_blocked(thread, &attributes);
	(void)pthread_attr_destroy(&attributes);
	if (rc) {
		(void)wp_fail(err, WP_E_SYS, rc, "could not start a thread");
		wp_err_hint(err, "Use fewer clients, or raise the limit of processes (ulimit -u).");
		return -WP_E_SYS;
	}
	thread->is_started = true;
	return 0;
}

void wp_thread_join(struct wp_thread *thread)
{
	if (thread->is_started)
		(void)pthread_join(
			thread->handle, NULL); /* fails only for a handle that is not ours */
	thread->is_started = false;
}

void wp_mutex_init(struct wp_mutex *mutex)
{
	(void)pthread_mutex_init(&mutex->handle, NULL); /* cannot fail without attributes */
}

void wp_mutex_init_shared(struct wp_mutex *mutex)
{
	pthread_mutexattr_t attributes;

	(void)pthread_mutexattr_init(&attributes);
	(void)pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	(void)pthread_mutex_init(&mutex->handle, &attributes); /* cannot fail with these */
	(void)pthread_mutexattr_destroy(&attributes);
}

void wp_mutex_release(struct wp_mutex *mutex)
{
	(void)pthread_mutex_destroy(&mutex->handle);
}

void wp_mutex_lock(struct wp_mutex *mutex)
{
	int rc = pthread_mutex_lock(&mutex->handle);

	assert(rc == 0);
	(void)rc;
}

void wp_mutex_unlock(struct wp_mutex *mutex)
{
	int rc = pthread_mutex_unlock(&mutex->handle);

	assert(rc == 0);
	(void)rc;
}

void wp_sem_init(struct wp_sem *sem, unsigned count)
{
	int rc = sem_init(&sem->handle, 0, count);

	assert(rc == 0);
	(void)rc;
}

void wp_sem_init_shared(struct wp_sem *sem, unsigned count)
{
	int rc = sem_init(&sem->handle, 1, count);

	assert(rc == 0);
	(void)rc;
}

void wp_sem_release(struct wp_sem *sem)
{
	(void)sem_destroy(&sem->handle);
}

void wp_sem_post(struct wp_sem *sem)
{
	int rc = sem_post(&sem->handle);

	assert(rc == 0);
	(void)rc;
}

void wp_sem_wait(struct wp_sem *sem)
{
	while (sem_wait(&sem->handle) < 0)
		assert(errno == EINTR);
}

bool wp_sem_wait_for(struct wp_sem *sem, int64_t duration_ns)
{
	struct timespec until;
	int64_t until_ns;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until_ns = until.tv_sec * WP_NS_PER_S + until.tv_nsec + duration_ns;
	until.tv_sec = until_ns / WP_NS_PER_S;
	until.tv_nsec = until_ns % WP_NS_PER_S;
	while (sem_clockwait(&sem->handle, CLOCK_MONOTONIC, &until) < 0) {
		if (errno == ETIMEDOUT)
			return false;
		assert(errno == EINTR);
	}
#ifdef __SANITIZE_THREAD__
	/* It knows sem_post() and sem_wait(), but not this one. */
	__tsan_acquire(&sem->handle);
#endif
	return true;
}
