/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/user.h"

#include "walprobe/mem.h"

#include <grp.h>
#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#define STANDARD_NAME "postgres"
#define GROUPS_MOST 65536

/* what a child found on the way to a path */
struct obstacle {
	int sys_errno;
	size_t length; /* of the part of the path that ends in the component */
};

static void keep_groups(struct wp_user *user)
{
	int count = 64;
	gid_t *groups = wp_xcalloc((size_t)count, sizeof(*groups));

	while (getgrouplist(user->name, (gid_t)user->gid, groups, &count) < 0 &&
		count <= GROUPS_MOST)
		groups = wp_xreallocarray(groups, (size_t)count, sizeof(*groups));
	user->group_count = count <= GROUPS_MOST ? (size_t)count : 0;
	user->groups = wp_xcalloc(user->group_count + 1, sizeof(*user->groups));
	for (size_t i = 0; i < user->group_count; i++)
		user->groups[i] = groups[i];
	free(groups);
}

static int find_self(struct wp_user *user, int64_t uid, struct wp_err *err)
{
	struct passwd *entry = getpwuid((uid_t)uid);

	if (!entry) {
		(void)wp_fail(err, WP_E_UNSUPPORTED, 0, "user id %d has no name", (int)uid);
		wp_err_hint(err, "PostgreSQL refuses to run as a user without a name: add one to "
				 "/etc/passwd, or run walprobe as another user.");
		return -WP_E_UNSUPPORTED;
	}
	user->name = wp_xstrdup(entry->pw_name);
	user->uid = entry->pw_uid;
	user->gid = entry->pw_gid;
	return 0;
}

static int find_other(struct wp_user *user, const char *run_as, struct wp_err *err)
{
	const char *name = run_as ? run_as : STANDARD_NAME;
	struct passwd *entry = getpwnam(name);

	if (!entry) {
		(void)wp_fail(err, WP_E_UNSUPPORTED, 0,
			"user \"%s\", whom the server is to run as, does not exist", name);
		wp_err_hint(
			err, run_as ? "Name a user that exists with --run-as; \"nobody\" will do."
				    : "PostgreSQL refuses to run as root: name another user with "
				      "--run-as; \"nobody\" will do.");
		return -WP_E_UNSUPPORTED;
	}
	if (entry->pw_uid == 0) {
		(void)wp_fail(err, WP_E_USAGE, 0, "the server cannot run as \"%s\"", name);
		wp_err_hint(err, "PostgreSQL refuses to run as root; name another user.");
		return -WP_E_USAGE;
	}
	user->name = wp_xstrdup(name);
	user->uid = entry->pw_uid;
	user->gid = entry->pw_gid;
	user->is_other = true;
	return 0;
}

int wp_user_find(
	const struct wp_os *os, const char *run_as, struct wp_user *out, struct wp_err *err)
{
	struct wp_user user = { .name = NULL };
	int64_t uid = wp_os_geteuid(os);
	int rc = uid == 0 ? find_other(&user, run_as, err) : find_self(&user, uid, err);

	if (!rc && !user.is_other && run_as && strcmp(run_as, user.name) != 0) {
		rc = wp_fail(err, WP_E_UNSUPPORTED, 0,
			"only root can run the server as \"%s\", and this is \"%s\"", run_as,
			user.name);
		wp_err_hint(err, "Leave out --run-as, or run it with sudo.");
	}
	if (rc) {
		wp_user_release(&user);
		return rc;
	}
	keep_groups(&user);
	*out = user;
	return 0;
}

void wp_user_release(struct wp_user *user)
{
	free(user->name);
	free(user->groups);
	memset(user, 0, sizeof(*user));
}

static_assert(sizeof(gid_t) == sizeof(unsigned), "groups are handed over as they are");

int wp_user_become(const struct wp_user *user)
{
	if (!user->is_other)
		return 0;
	if (setgroups(user->group_count, user->groups) < 0 ||
		setresgid(user->gid, user->gid, user->gid) < 0 ||
		setresuid(user->uid, user->uid, user->uid) < 0)
		return -1;
	/* The way back must be closed. */
	if (setuid(0) == 0 || geteuid() != user->uid || getegid() != user->gid) {
		errno = EPERM;
		return -1;
	}
	return 0;
}

/* Length of the path up to the end of the component that begins at or after position at. */
static size_t next_component(const char *path, size_t at)
{
	while (path[at] == '/')
		at++;
	while (path[at] && path[at] != '/')
		at++;
	return at;
}

/* part has room for all of path. */
static struct obstacle walk(const char *path, char *part, int mode)
{
	struct obstacle found = { .sys_errno = 0 };
	size_t total = strlen(path);

	while (found.length < total) {
		bool is_last;

		found.length = next_component(path, found.length);
		memcpy(part, path, found.length);
		part[found.length] = '\0';
		is_last = path[found.length] == '\0';
		if (faccessat(AT_FDCWD, part, is_last ? mode : X_OK, AT_EACCESS) < 0) {
			found.sys_errno = errno;
			return found;
		}
	}
	return found;
}

static void walk_as(const struct wp_user *user, const char *path, char *part, int mode, int fd)
{
	struct obstacle found = { .sys_errno = 0 };

	if (wp_user_become(user) < 0)
		found.sys_errno = errno;
	else
		found = walk(path, part, mode);
	_exit(write(fd, &found, sizeof(found)) == (ssize_t)sizeof(found) ? 0 : 1);
}

/* The same in a child, as that user. */
static int walk_in_child(
	const struct wp_user *user, const char *path, char *part, int mode, struct obstacle *found)
{
	int ends[2];
	ssize_t got;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	child = fork();
	if (child == 0)
		walk_as(user, path, part, mode, ends[1]);
	if (child < 0) {
		int sys_errno = errno;

		(void)close(ends[0]); /* pipe ends: nothing can be lost */
		(void)close(ends[1]);
		return -sys_errno;
	}
	(void)close(ends[1]);
	do
		got = read(ends[0], found, sizeof(*found));
	while (got < 0 && errno == EINTR);
	(void)close(ends[0]);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	return got == (ssize_t)sizeof(*found) ? 0 : -EIO;
}

static int refuse(const struct wp_user *user, const char *path, const struct obstacle *found,
	struct wp_err *err)
{
	char *part = wp_xstrndup(path, found->length);

	if (found->length == 0)
		(void)wp_fail(err, WP_E_SYS, found->sys_errno, "could not become user \"%s\"",
			user->name);
	else if (path[found->length])
		(void)wp_fail(err, WP_E_SYS, found->sys_errno,
			"user \"%s\" cannot enter \"%s\", which leads to \"%s\"", user->name, part,
			path);
	else
		(void)wp_fail(err, WP_E_SYS, found->sys_errno, "user \"%s\" cannot use \"%s\"",
			user->name, part);
	if (found->sys_errno == EACCES && path[found->length])
		wp_err_hint(err,
			"Let that user in (as with \"chmod o+x %s\"), name a place that it can "
			"reach, or run the server as another user with --run-as.",
			part);
	free(part);
	return -WP_E_SYS;
}

int wp_user_reach(const struct wp_user *user, const char *path, int mode, struct wp_err *err)
{
	struct obstacle found = { .sys_errno = 0 };
	char *part = wp_xcalloc(strlen(path) + 1, 1);
	int rc = 0;

	if (user->is_other)
		rc = walk_in_child(user, path, part, mode, &found);
	else
		found = walk(path, part, mode);
	free(part);
	if (rc)
		return wp_fail(err, WP_E_SYS, -rc, "could not look at \"%s\" as user \"%s\"", path,
			user->name);
	return found.sys_errno ? refuse(user, path, &found, err) : 0;
}
