/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/forked.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS (2 * WP_NS_PER_MS)

void *wp_shared_alloc(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (memory == MAP_FAILED) {
		(void)fputs("walprobe: error: out of memory\n", stderr);
		abort();
	}
	return memory;
}

void wp_shared_free(void *memory, size_t size)
{
	if (memory)
		(void)munmap(memory, size); /* fails only for what was never mapped */
}

static void become(pid_t parent, void (*run)(void *argument), void *argument)
{
	/* The parent may have died before the wish to follow it was known. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		_exit(1);
	/* Fails only for a leader, which a child that was just born is not. */
	(void)setsid();
	run(argument);
	_exit(0);
}

int wp_forked_start(void (*run)(void *argument), void *argument, int64_t *pid, struct wp_err *err)
{
	pid_t parent = getpid();
	pid_t child = fork();

	if (child < 0) {
		int rc = wp_fail(err, WP_E_SYS, errno, "could not start a process");

		wp_err_hint(err, "Use fewer clients, or raise the limit of processes (ulimit -u).");
		return rc;
	}
	if (child == 0)
		become(parent, run, argument);
	*pid = child;
	return 0;
}

bool wp_forked_wait(int64_t pid, int64_t limit_ns)
{
	const struct timespec look = { .tv_nsec = LOOK_NS };
	int status = 0;
	pid_t got;

	for (int64_t waited_ns = 0; waited_ns < limit_ns; waited_ns += LOOK_NS) {
		got = waitpid((pid_t)pid, &status, WNOHANG);
		if (got != 0)
			return got == (pid_t)pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
		(void)nanosleep(&look, NULL); /* a shorter one does no harm */
	}
	(void)kill((pid_t)pid, SIGKILL); /* gone already: it is reaped all the same */
	do
		got = waitpid((pid_t)pid, &status, 0);
	while (got < 0 && errno == EINTR);
	return false;
}
