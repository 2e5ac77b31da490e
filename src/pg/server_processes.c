/* SPDX-License-Identifier: PostgreSQL */
/* The server's processes as /proc shows them; a server elsewhere shows nothing. */
#include "walprobe/mem.h"
#include "walprobe/server_counters.h"

#include <stdlib.h>

#define STAT_BYTES 4096
#define MAPS_BYTES (1 << 20)
#define TICK_NS (10 * WP_NS_PER_MS) /* USER_HZ is 100 wherever Linux runs PostgreSQL */

struct process {
	int64_t parent;
	int64_t own_ticks;
	int64_t waited_ticks; /* of children that ended */
};

/* The name in parentheses may hold anything, so what follows counts from its end. */
static bool parse_stat(const char *text, struct process *out)
{
	const char *rest = strrchr(text, ')');
	long long ticks[4];
	long long parent;

	if (!rest || sscanf(rest + 1,
			     " %*c %lld %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld "
			     "%lld %lld",
			     &parent, &ticks[0], &ticks[1], &ticks[2], &ticks[3]) != 5)
		return false;
	out->parent = parent;
	out->own_ticks = ticks[0] + ticks[1];
	out->waited_ticks = ticks[2] + ticks[3];
	return true;
}

static bool read_process(const struct wp_os *os, int64_t pid, struct process *out)
{
	char path[64];
	char *text;
	int read_errno;
	bool is_read;

	(void)snprintf(path, sizeof(path), "/proc/%" PRId64 "/stat", pid);
	text = wp_os_read_text(os, path, STAT_BYTES, &read_errno);
	is_read = text && parse_stat(text, out);
	free(text);
	return is_read;
}

static bool is_server_program(const struct wp_os *os, int64_t pid)
{
	char path[64];
	char *text;
	int read_errno;
	bool is_server;

	(void)snprintf(path, sizeof(path), "/proc/%" PRId64 "/comm", pid);
	text = wp_os_read_text(os, path, STAT_BYTES, &read_errno);
	is_server = text && (strcmp(text, "postgres") == 0 || strcmp(text, "postmaster") == 0);
	free(text);
	return is_server;
}

int64_t wp_server_postmaster(const struct wp_os *os, struct wp_session *session)
{
	struct process backend;
	struct wp_rows rows;
	int64_t pid;

	if (strcmp(wp_session_transport(session), "Unix socket") != 0 ||
		wp_session_query(session, "SELECT pg_catalog.pg_backend_pid()", 0,
			"could not read the backend's process id", &rows, NULL) ||
		!wp_rows_int(&rows, 0, 0, &pid))
		return 0;
	if (!is_server_program(os, pid) || !read_process(os, pid, &backend) ||
		!is_server_program(os, backend.parent))
		return 0;
	return backend.parent;
}

int64_t wp_server_cpu_ns(const struct wp_os *os, int64_t postmaster)
{
	struct wp_names names = { 0 };
	struct process process;
	int64_t ticks;

	if (!postmaster || !read_process(os, postmaster, &process) ||
		wp_os_list(os, "/proc", &names) < 0)
		return -1;
	ticks = process.own_ticks + process.waited_ticks;
	for (size_t i = 0; i < names.count; i++) {
		int64_t pid = strtoll(names.names[i], NULL, 10);

		if (pid > 0 && read_process(os, pid, &process) && process.parent == postmaster)
			ticks += process.own_ticks + process.waited_ticks;
	}
	wp_names_release(&names);
	return ticks * TICK_NS;
}

bool wp_server_has_library(const struct wp_os *os, int64_t pid, const char *word)
{
	char path[64];
	char *text;
	int read_errno;
	bool is_there;

	if (!pid)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/%" PRId64 "/maps", pid);
	text = wp_os_read_text(os, path, MAPS_BYTES, &read_errno);
	is_there = text && strstr(text, word);
	free(text);
	return is_there;
}
