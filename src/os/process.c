/* SPDX-License-Identifier: PostgreSQL */
#include "os/process.h"

#include "walprobe/mem.h"

int64_t wp_process_start(const struct wp_os *os, int64_t pid, int *out_errno)
{
	char *path = wp_xasprintf("/proc/%" PRId64 "/stat", pid);
	char *text = wp_os_read_text(os, path, 4095, out_errno);
	char *field;
	int64_t start = -1;

	free(path);
	if (!text)
		return -1;
	/* The name in field 2 may hold spaces and brackets: count from its last bracket. */
	field = strrchr(text, ')');
	*out_errno = ESRCH;
	if (field && field[1] == ' ' && !strchr("ZXx", field[2])) {
		for (int number = 2; field && number < 22; number++)
			field = strchr(field + 1, ' ');
		*out_errno = ENODATA;
		if (field)
			start = strtoll(field + 1, NULL, 10);
	}
	free(text);
	return start;
}
