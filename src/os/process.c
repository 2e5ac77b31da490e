/* SPDX-License-Identifier: PostgreSQL */
#include "os/process.h"

#include "walprobe/mem.h"

/*
 * A number of /proc/PID/stat, counted as proc(5) does, 4 or more. The name in field 2 may hold
 * spaces and brackets: it is counted from its last bracket.
 */
static int64_t stat_number(const struct wp_os *os, int64_t pid, int number, int *out_errno)
{
	char *path = wp_xasprintf("/proc/%" PRId64 "/stat", pid);
	char *text = wp_os_read_text(os, path, 4095, out_errno);
	char *field;
	int64_t value = -1;

	free(path);
	if (!text)
		return -1;
	field = strrchr(text, ')');
	*out_errno = ESRCH;
	if (field && field[1] == ' ' && !strchr("ZXx", field[2])) {
		for (int i = 2; field && i < number; i++)
			field = strchr(field + 1, ' ');
		*out_errno = ENODATA;
		if (field)
			value = strtoll(field + 1, NULL, 10);
	}
	free(text);
	return value;
}

int64_t wp_process_start(const struct wp_os *os, int64_t pid, int *out_errno)
{
	return stat_number(os, pid, 22, out_errno);
}

int64_t wp_process_parent(const struct wp_os *os, int64_t pid)
{
	int sys_errno = 0;

	return stat_number(os, pid, 4, &sys_errno);
}
