/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/host.h"

#include <fcntl.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

void wp_host_utc(char *out, size_t size)
{
	time_t now = time(NULL);
	struct tm parts;

	if (!gmtime_r(&now, &parts) || strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
		(void)snprintf(out, size, "unknown");
}

void wp_host_guard_descriptors(void)
{
	/* The lowest free number is taken, so this ends with the first one above 2. */
	int fd;

	do
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		(void)close(fd); /* nothing was written */
}

int64_t wp_host_wall_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail with this clock */
	return now.tv_sec * WP_NS_PER_S + now.tv_nsec;
}

bool wp_host_is_terminal(int fd)
{
	return isatty(fd) == 1;
}

unsigned wp_host_uid(void)
{
	return geteuid();
}

int64_t wp_host_pid(void)
{
	return getpid();
}

int64_t wp_host_processors(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
		return CPU_COUNT(&set);
	return 1;
}
