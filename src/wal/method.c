/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/mem.h"
#include "walprobe/method.h"

static const char *const names[WP_METHOD_COUNT] = {
	[WP_METHOD_OPEN_DATASYNC] = "open_datasync",
	[WP_METHOD_FDATASYNC] = "fdatasync",
	[WP_METHOD_FSYNC] = "fsync",
	[WP_METHOD_FSYNC_WRITETHROUGH] = "fsync_writethrough",
	[WP_METHOD_OPEN_SYNC] = "open_sync",
};

const char *wp_method_name(enum wp_method method)
{
	return names[method];
}

static int add_named(const char *name, struct wp_method_set *set, struct wp_err *err)
{
	for (size_t i = 0; i < set->count; i++)
		if (strcmp(names[set->items[i]], name) == 0)
			return wp_fail(err, WP_E_USAGE, 0, "method \"%s\" appears twice", name);
	for (int method = 0; method < WP_METHOD_COUNT; method++)
		if (strcmp(names[method], name) == 0) {
			set->items[set->count++] = (enum wp_method)method;
			return 0;
		}
	(void)wp_fail(err, WP_E_USAGE, 0, "unknown wal_sync_method \"%s\"", name);
	wp_err_hint(err, "Known are open_datasync, fdatasync, fsync, fsync_writethrough, open_sync "
			 "and all.");
	return -WP_E_USAGE;
}

int wp_method_parse_list(const char *text, struct wp_method_set *out, struct wp_err *err)
{
	struct wp_method_set set = { .count = 0 };
	char *copy;
	char *rest;
	char *item;
	int rc = 0;

	if (strcmp(text, "all") == 0) {
		for (int method = 0; method < WP_METHOD_COUNT; method++)
			set.items[set.count++] = (enum wp_method)method;
		*out = set;
		return 0;
	}
	copy = wp_xstrdup(text);
	rest = copy;
	while (!rc && (item = strsep(&rest, ",")) != NULL)
		rc = add_named(item, &set, err);
	free(copy);
	if (!rc)
		*out = set;
	return rc;
}

bool wp_method_is_supported(enum wp_method method, const char **reason)
{
	if (method != WP_METHOD_FSYNC_WRITETHROUGH)
		return true;
	if (reason)
		*reason = "fsync_writethrough exists on macOS and Windows only";
	return false;
}

int wp_method_open_flags(enum wp_method method)
{
	switch (method) {
	case WP_METHOD_OPEN_DATASYNC:
		return O_DSYNC;
	case WP_METHOD_OPEN_SYNC:
		return O_SYNC;
	default:
		return 0;
	}
}

int wp_method_sync(const struct wp_os *os, enum wp_method method, int fd)
{
	switch (method) {
	case WP_METHOD_FDATASYNC:
		return wp_os_fdatasync(os, fd);
	case WP_METHOD_FSYNC:
		return wp_os_fsync(os, fd);
	default:
		return 0;
	}
}
