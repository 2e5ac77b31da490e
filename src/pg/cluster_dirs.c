/* SPDX-License-Identifier: PostgreSQL */
#include "pg/cluster_internal.h"

#include "walprobe/mem.h"
#include "walprobe/random.h"
#include "walprobe/units.h"

#define SEGMENT_BYTES (INT64_C(16) << 20)
#define WAL_LEAST (5 * SEGMENT_BYTES)
#define WAL_MOST (INT64_C(4) << 30)
#define BUFFERS_LEAST (INT64_C(32) << 20)
#define BUFFERS_MOST (INT64_C(256) << 20)
#define TABLE_MOST (4 << 20)
#define PORT_FIRST 20000
#define PORT_COUNT 40000
#define PORT_TRIES 100
#define ALL_RIGHTS 7 /* R_OK | W_OK | X_OK of access() */
#define ENTER_AND_WRITE 3
#define ENTER 1

static int try_base(const struct wp_os *os, const struct wp_user *user, const char *base,
	char **place, struct wp_err *err)
{
	char *absolute = NULL;
	int rc = wp_os_realpath(os, base, &absolute);

	if (rc)
		return wp_fail(err, WP_E_SYS, -rc, "could not find directory \"%s\"", base);
	rc = wp_os_access(os, absolute, ENTER_AND_WRITE);
	if (rc)
		rc = wp_fail(err, WP_E_SYS, -rc, "could not write to directory \"%s\"", absolute);
	else
		rc = wp_user_reach(user, absolute, ENTER, err);
	if (rc)
		free(absolute);
	else
		*place = absolute;
	return rc;
}

int wp_cluster_base(const struct wp_os *os, const struct wp_user *user, const char *base,
	char **place, struct wp_err *err)
{
	const char *temporary = getenv("TMPDIR");
	const char *const usual[] = { temporary && *temporary ? temporary : "/tmp", "/tmp",
		"/var/tmp" };
	int first = 0;

	if (base)
		return try_base(os, user, base, place, err);
	for (size_t i = 0; i < WP_COUNT(usual); i++) {
		int rc = try_base(os, user, usual[i], place, first ? NULL : err);

		if (!rc)
			return 0;
		if (!first)
			first = rc;
	}
	wp_err_hint(err, "Name a directory that the server's user can reach with --base.");
	return first;
}

int64_t wp_cluster_wal_bytes(const struct wp_os *os, const char *directory, struct wp_err *err)
{
	char free_text[32];
	struct statvfs info;
	int64_t free_bytes;
	int64_t half;
	int rc = wp_os_statvfs(os, directory, &info);

	if (rc)
		return wp_fail(
			err, WP_E_SYS, -rc, "could not read the free space of \"%s\"", directory);
	/* Some file systems do not count; writing will tell. */
	if (info.f_blocks == 0)
		return WAL_MOST / 4;
	free_bytes = (int64_t)(info.f_bavail * info.f_frsize);
	if (free_bytes < WAL_LEAST) {
		rc = wp_fail(err, WP_E_NOSPACE, ENOSPC, "could not make room for pg_wal in \"%s\"",
			directory);
		wp_err_detail(err,
			"%" PRId64 " bytes (80 MB) are needed, %" PRId64 " bytes (%s) are free.",
			WAL_LEAST, free_bytes,
			wp_format_size(free_bytes, free_text, sizeof(free_text)));
		wp_err_hint(err, "Free some space, or make an image larger with size=.");
		return rc;
	}
	half = free_bytes / 2 / SEGMENT_BYTES * SEGMENT_BYTES;
	return half < WAL_MOST ? half : WAL_MOST;
}

int64_t wp_cluster_memory_bytes(const char *meminfo)
{
	const char *line = strstr(meminfo, "MemTotal:");
	int64_t kilobytes = line ? strtoll(line + strlen("MemTotal:"), NULL, 10) : 0;
	int64_t part = kilobytes / 16 / 1024 << 20;

	if (part < BUFFERS_LEAST)
		return BUFFERS_LEAST;
	return part < BUFFERS_MOST ? part : BUFFERS_MOST;
}

int64_t wp_cluster_buffer_bytes(const struct wp_os *os)
{
	int sys_errno;
	char *meminfo = wp_os_read_text(os, "/proc/meminfo", 65536, &sys_errno);
	int64_t bytes = meminfo ? wp_cluster_memory_bytes(meminfo) : BUFFERS_LEAST;

	free(meminfo);
	return bytes;
}

static bool means_no_owners(int rc)
{
	return rc == -EPERM || rc == -ENOSYS || rc == -EOPNOTSUPP || rc == -EINVAL;
}

/* A fresh directory, open as fd, gets owner and mode. */
static int hand_over(const struct wp_os *os, const struct wp_user *user, int fd)
{
	char here[40];
	int rc = 0;

	(void)snprintf(here, sizeof(here), "/proc/self/fd/%d", fd);
	if (user->is_other)
		rc = wp_os_fchown(os, fd, user->uid, user->gid);
	return rc ? rc : wp_os_chmod(os, here, 0700);
}

/* In the directory open as parent. Descriptors: nobody can swap the path for another meanwhile. */
static int make_in(const struct wp_os *os, const struct wp_user *user, int parent, const char *name,
	bool *knows_owners)
{
	char *here = wp_xasprintf("/proc/self/fd/%d/%s", parent, name);
	int rc = wp_os_mkdir(os, here, 0700);
	int fd = rc ? rc : wp_os_open(os, here, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);

	free(here);
	if (fd < 0)
		return fd;
	rc = hand_over(os, user, fd);
	(void)wp_os_close(os, fd); /* read only: nothing can be lost */
	if (knows_owners) {
		*knows_owners = rc == 0;
		if (means_no_owners(rc))
			rc = 0;
	}
	return rc;
}

int wp_cluster_make_directory(const struct wp_os *os, const struct wp_user *user,
	const char *parent, const char *name, char **path, bool *knows_owners, struct wp_err *err)
{
	char *made = wp_xasprintf("%s/%s", parent, name);
	int fd = wp_os_open(os, parent, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	int rc = fd < 0 ? fd : make_in(os, user, fd, name, knows_owners);

	if (fd >= 0)
		(void)wp_os_close(os, fd); /* read only */
	if (means_no_owners(rc)) {
		rc = wp_fail(err, WP_E_UNSUPPORTED, -rc,
			"could not give directory \"%s\" to user \"%s\"", made, user->name);
		wp_err_hint(err, "This file system knows no owners, so a data directory cannot lie "
				 "there; pg_wal alone can.");
	} else if (rc) {
		rc = wp_fail(err, WP_E_SYS, -rc, "could not create directory \"%s\"", made);
	} else {
		rc = wp_user_reach(user, made, ALL_RIGHTS, err);
	}
	if (rc)
		free(made);
	else
		*path = made;
	return rc;
}

bool wp_cluster_port_is_taken(const char *table, int port)
{
	for (const char *line = strchr(table, '\n'); line; line = strchr(line + 1, '\n')) {
		unsigned number;

		if (sscanf(line, " %*u: %*[0-9A-Fa-f]:%x", &number) == 1 && (int)number == port)
			return true;
	}
	return false;
}

static bool is_taken(const struct wp_os *os, int port)
{
	static const char *const tables[] = { "/proc/net/tcp", "/proc/net/tcp6" };
	bool is_so = false;

	for (size_t i = 0; i < WP_COUNT(tables) && !is_so; i++) {
		int sys_errno;
		char *text = wp_os_read_text(os, tables[i], TABLE_MOST, &sys_errno);

		/* Nothing listens on it; a taken one would only confuse those who keep it. */
		is_so = text && wp_cluster_port_is_taken(text, port);
		free(text);
	}
	return is_so;
}

/* Directories are unique, so mixing their names in gives clusters of one run different ports. */
static int pick_port(const struct wp_os *os, uint64_t seed, const char *directory)
{
	struct wp_random random;
	int port = PORT_FIRST;

	for (const char *at = directory; *at; at++)
		seed = (seed ^ (unsigned char)*at) * UINT64_C(0x100000001b3);
	wp_random_init(&random, seed);
	for (int i = 0; i < PORT_TRIES; i++) {
		port = PORT_FIRST + (int)wp_random_below(&random, PORT_COUNT);
		if (!is_taken(os, port))
			break;
	}
	return port;
}

static bool is_short_enough(const char *directory, int port)
{
	int length = snprintf(NULL, 0, "%s/socket/.s.PGSQL.%d", directory, port);

	return length > 0 && length <= WP_SOCKET_PATH_MOST;
}

int wp_cluster_make_sockets(struct wp_cluster *cluster, uint64_t seed, struct wp_err *err)
{
	const struct wp_os *os = wp_registry_os(cluster->registry);
	const struct wp_user *user = cluster->user;
	char *directory = NULL;
	int rc = 0;

	cluster->port = pick_port(os, seed, cluster->directory);
	if (is_short_enough(cluster->directory, cluster->port))
		directory = wp_xstrdup(cluster->directory);
	else
		rc = wp_workdir_create(cluster->registry, "/tmp", &directory, NULL, err);
	if (!rc && user->is_other)
		rc = wp_workdir_share(os, directory, user->gid, err);
	if (!rc && !is_short_enough(directory, cluster->port))
		rc = wp_fail(err, WP_E_SYS, ENAMETOOLONG, "could not place a socket in \"%s\"",
			directory);
	if (!rc)
		rc = wp_cluster_make_directory(
			os, user, directory, "socket", &cluster->socket_directory, NULL, err);
	free(directory);
	return rc;
}
