/* SPDX-License-Identifier: PostgreSQL */
#include "target/pgwal.h"

#include "walprobe/mem.h"

/* what a directory is to PostgreSQL */
enum role {
	ROLE_NONE,
	ROLE_HOLDS_WAL, /* has a pg_wal with segments in it, and is no data directory */
	ROLE_DATA,      /* data directory, or a database's directory inside it */
	ROLE_WAL,       /* has segments in it */
};

/* XLogFileName of PostgreSQL: 24 upper case hexadecimal digits. */
static bool is_segment_name(const char *name)
{
	return strspn(name, "0123456789ABCDEF") == 24 && name[24] == '\0';
}

static bool has_segments(const struct wp_os *os, const char *directory)
{
	struct wp_names names = { NULL, 0 };
	bool has_one = false;

	/* What cannot be read cannot be a pg_wal of ours. */
	if (wp_os_list(os, directory, &names) < 0)
		return false;
	for (size_t i = 0; i < names.count && !has_one; i++)
		has_one = is_segment_name(names.names[i]);
	wp_names_release(&names);
	return has_one;
}

static char *below(const char *directory, const char *name)
{
	return wp_xasprintf("%s/%s", strcmp(directory, "/") == 0 ? "" : directory, name);
}

static bool exists(const struct wp_os *os, const char *directory, const char *name)
{
	char *path = below(directory, name);
	struct stat info;
	bool is_there = wp_os_stat(os, path, &info) == 0;

	free(path);
	return is_there;
}

static bool holds_wal(const struct wp_os *os, const char *directory)
{
	static const char *const names[] = { "pg_wal", "pg_xlog" };
	bool is_held = false;

	for (size_t i = 0; i < WP_COUNT(names) && !is_held; i++) {
		char *path = below(directory, names[i]);

		is_held = has_segments(os, path);
		free(path);
	}
	return is_held;
}

static enum role role_of(const struct wp_os *os, const char *directory)
{
	if (has_segments(os, directory))
		return ROLE_WAL;
	if (exists(os, directory, "PG_VERSION") || exists(os, directory, "postmaster.pid"))
		return ROLE_DATA;
	return holds_wal(os, directory) ? ROLE_HOLDS_WAL : ROLE_NONE;
}

/* Cut the last component off; false at the root. */
static bool climb(char *path)
{
	char *slash = strrchr(path, '/');

	if (strcmp(path, "/") == 0)
		return false;
	*(slash == path ? slash + 1 : slash) = '\0';
	return true;
}

struct survey {
	enum role role; /* of the directory itself */
	bool is_inside; /* the directory or one above it is a data directory or a pg_wal */
	char *outside;  /* nearest above that is neither and not inside one; same file system */
	char *beside;   /* nearest data directory, at or above it; same file system */
};

/* Look at the directory and all above it. */
static void look_up(const struct wp_os *os, const char *directory, struct survey *survey)
{
	char *path = wp_xstrdup(directory);
	struct stat start = { .st_dev = 0 };
	struct stat info;

	survey->role = role_of(os, directory);
	if (wp_os_stat(os, directory, &start) < 0)
		start.st_dev = 0;
	do {
		enum role role = role_of(os, path);
		bool is_same = wp_os_stat(os, path, &info) == 0 && info.st_dev == start.st_dev;

		if (role == ROLE_DATA || role == ROLE_WAL) {
			survey->is_inside = true;
			free(survey->outside);
			survey->outside = NULL;
		} else if (!survey->outside && is_same) {
			survey->outside = wp_xstrdup(path);
		}
		if (role == ROLE_DATA && !survey->beside && is_same)
			survey->beside = wp_xstrdup(path);
	} while (climb(path));
	free(path);
}

static int refuse(const char *directory, const struct survey *survey, struct wp_err *err)
{
	static const char *const words[] = {
		[ROLE_NONE] = "lies in a PostgreSQL data directory",
		[ROLE_HOLDS_WAL] = "holds a pg_wal",
		[ROLE_DATA] = "is a PostgreSQL data directory",
		[ROLE_WAL] = "is a pg_wal",
	};

	(void)wp_fail(
		err, WP_E_UNSUPPORTED, 0, "directory \"%s\" %s", directory, words[survey->role]);
	wp_err_detail(err, "Measuring there takes I/O from a server that may be running.");
	wp_err_hint(err, "Name another directory on the same file system, or add --force to "
			 "measure beside pg_wal.");
	return -WP_E_UNSUPPORTED;
}

int wp_pgwal_place(const struct wp_os *os, const char *directory, bool is_forced, char **place,
	struct wp_err *err)
{
	struct survey survey = { .role = ROLE_NONE };
	int rc = 0;

	look_up(os, directory, &survey);
	if (!survey.is_inside && survey.role != ROLE_HOLDS_WAL) {
		*place = wp_xstrdup(directory);
	} else if (!is_forced) {
		rc = refuse(directory, &survey, err);
	} else if (survey.outside || survey.beside) {
		*place = wp_xstrdup(survey.outside ? survey.outside : survey.beside);
	} else {
		rc = wp_fail(err, WP_E_UNSUPPORTED, 0,
			"directory \"%s\" is a pg_wal, and what is beside it is another file "
			"system",
			directory);
		wp_err_hint(err, "Nothing is ever written into a pg_wal; make a directory for it "
				 "one level below the mount point, or measure another file system "
				 "of the same kind.");
	}
	free(survey.outside);
	free(survey.beside);
	return rc;
}
