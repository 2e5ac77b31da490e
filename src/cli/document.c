/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/document.h"
#include "walprobe/mem.h"
#include "walprobe/render.h"
#include "walprobe/stop.h"

#define STANDARD_INPUT 0

/* All that fd gives, up to one byte more than a document may have; *text belongs to the caller. */
static int read_all(const struct wp_os *os, int fd, const char *name, char **text, size_t *length,
	struct wp_err *err)
{
	size_t room = (size_t)64 << 10;

	*length = 0;
	*text = wp_xcalloc(room, 1);
	while (*length <= WP_DOCUMENT_LIMIT_BYTES) {
		int64_t got;

		if (*length == room) {
			room *= 2;
			*text = wp_xreallocarray(*text, room, 1);
		}
		got = wp_os_read(os, fd, *text + *length, room - *length);
		if (got == -EINTR) {
			int rc = wp_stop_fail(err);

			if (rc)
				return rc;
			continue;
		}
		if (got < 0)
			return wp_fail(err, WP_E_SYS, (int)-got, "could not read \"%s\"", name);
		if (got == 0)
			break;
		*length += (size_t)got;
	}
	return 0;
}

int wp_document_read(
	const struct wp_os *os, const char *path, struct wp_result **out, struct wp_err *err)
{
	bool is_standard_input = strcmp(path, "-") == 0;
	const char *name = is_standard_input ? "standard input" : path;
	char *text = NULL;
	size_t length;
	int fd;
	int rc;

	fd = is_standard_input ? STANDARD_INPUT : wp_os_open(os, path, O_RDONLY, 0);
	if (fd < 0)
		return wp_fail(err, WP_E_SYS, -fd, "could not open \"%s\"", path);
	rc = read_all(os, fd, name, &text, &length, err);
	if (!is_standard_input)
		(void)wp_os_close(os, fd); /* read only: nothing can be lost */
	if (!rc)
		rc = wp_result_read_json(text, length, name, out, err);
	free(text);
	return rc;
}
