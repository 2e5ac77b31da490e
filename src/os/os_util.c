/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/mem.h"
#include "walprobe/os.h"

void wp_names_release(struct wp_names *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->names[i]);
	free(names->names);
	names->names = NULL;
	names->count = 0;
}

static int64_t read_up_to(const struct wp_os *os, int fd, char *buffer, size_t limit)
{
	size_t used = 0;

	while (used < limit) {
		int64_t got = wp_os_pread(os, fd, buffer + used, limit - used, (int64_t)used);

		if (got < 0)
			return got;
		if (got == 0)
			break;
		used += (size_t)got;
	}
	return (int64_t)used;
}

char *wp_os_read_text(const struct wp_os *os, const char *path, size_t limit, int *out_errno)
{
	int fd = wp_os_open(os, path, O_RDONLY, 0);
	char *text;
	int64_t used;

	if (fd < 0) {
		*out_errno = -fd;
		return NULL;
	}
	text = wp_xcalloc(limit + 1, 1);
	used = read_up_to(os, fd, text, limit);
	(void)wp_os_close(os, fd); /* read only: nothing can be lost */
	if (used < 0) {
		*out_errno = (int)-used;
		free(text);
		return NULL;
	}
	if (used > 0 && text[used - 1] == '\n')
		text[used - 1] = '\0';
	return text;
}

int wp_os_write_all(
	const struct wp_os *os, int fd, const void *buffer, size_t length, int64_t offset)
{
	const char *bytes = buffer;

	while (length > 0) {
		int64_t written = wp_os_pwrite(os, fd, bytes, length, offset);

		if (written < 0)
			return (int)written;
		if (written == 0)
			return -ENOSPC;
		bytes += written;
		offset += written;
		length -= (size_t)written;
	}
	return 0;
}
