/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/mem.h"
#include "walprobe/pg_binaries.h"
#include "walprobe/proc.h"

#define PACKAGE "postgresql"
#define VERSION_LIMIT_NS (20 * WP_NS_PER_S)
#define READ_AND_RUN 5 /* R_OK | X_OK of access() */
#define RUN 1          /* X_OK */

/* one search: the first obstacle met is what is told in the end */
struct search {
	const struct wp_os *os;
	const struct wp_user *user;
	struct wp_pg_binaries *out;
	struct wp_err first;
	bool is_found;
	bool is_stopped;
};

bool wp_pg_version_parse(const char *line, int *major, const char **version)
{
	static const char start[] = "postgres (PostgreSQL) ";
	long number;
	char *end;

	if (strncmp(line, start, strlen(start)) != 0)
		return false;
	line += strlen(start);
	if (*line < '1' || *line > '9')
		return false;
	number = strtol(line, &end, 10);
	if (number > 999 || (*end >= '0' && *end <= '9'))
		return false;
	*major = (int)number;
	*version = line;
	return true;
}

void wp_pg_binaries_release(struct wp_pg_binaries *binaries)
{
	free(binaries->directory);
	free(binaries->initdb);
	free(binaries->postgres);
	free(binaries->version);
	memset(binaries, 0, sizeof(*binaries));
}

static int run_for_version(
	const struct search *search, struct wp_pg_binaries *found, struct wp_err *err)
{
	const char *const argv[] = { found->postgres, "--version", NULL };
	const struct wp_proc_options options = { .limit_ns = VERSION_LIMIT_NS,
		.user = search->user,
		.directory = "/",
		.is_clean = true };
	struct wp_proc_output output = { 0 };
	const char *version = NULL;
	int rc = wp_proc_run(search->os, argv, &options, &output, err);

	if (rc)
		return rc;
	rc = wp_proc_check(found->postgres, &output, err);
	if (!rc && !wp_pg_version_parse(output.out, &found->major, &version))
		rc = wp_fail(err, WP_E_UNSUPPORTED, 0,
			"program \"%s\" does not say which version of PostgreSQL it is",
			found->postgres);
	if (!rc)
		found->version = wp_xstrndup(version, strcspn(version, "\n"));
	wp_proc_output_release(&output);
	return rc;
}

static int check_candidate(
	const struct search *search, struct wp_pg_binaries *found, struct wp_err *err)
{
	int rc = wp_user_reach(search->user, found->postgres, READ_AND_RUN, err);

	if (!rc)
		rc = wp_user_reach(search->user, found->initdb, RUN, err);
	if (!rc)
		rc = run_for_version(search, found, err);
	if (!rc && found->major < WP_PG_OLDEST) {
		rc = wp_fail(err, WP_E_UNSUPPORTED, 0,
			"\"%s\" is PostgreSQL %s, and %d is the oldest that can be used",
			found->postgres, found->version, WP_PG_OLDEST);
		wp_err_hint(err, "Install the Debian package " PACKAGE
				 ", or name a newer version's folder with --bindir.");
	}
	return rc;
}

/* A directory without both programs is no candidate, and no obstacle. */
static bool lacks_one(const struct search *search, const struct wp_pg_binaries *found)
{
	struct stat info;

	return wp_os_stat(search->os, found->initdb, &info) == -ENOENT ||
	       wp_os_stat(search->os, found->postgres, &info) == -ENOENT;
}

static void try_directory(struct search *search, const char *directory)
{
	struct wp_pg_binaries found = { .directory = NULL };
	struct wp_err err = { 0 };
	int rc;

	if (search->is_found || search->is_stopped ||
		wp_os_realpath(search->os, directory, &found.directory) < 0)
		return;
	found.initdb = wp_xasprintf("%s/initdb", found.directory);
	found.postgres = wp_xasprintf("%s/postgres", found.directory);
	if (lacks_one(search, &found)) {
		wp_pg_binaries_release(&found);
		return;
	}
	rc = check_candidate(search, &found, &err);
	if (!rc) {
		*search->out = found;
		search->is_found = true;
		return;
	}
	if (rc == -WP_E_STOPPED || !search->first.message[0])
		search->first = err;
	search->is_stopped = rc == -WP_E_STOPPED;
	wp_pg_binaries_release(&found);
}

/* Where the program really lies: links to it may stand in a folder of their own. */
static void try_path(struct search *search)
{
	char *link = NULL;
	char *program = NULL;

	if (wp_proc_find(search->os, "postgres", NULL, &link, NULL) == 0 &&
		wp_os_realpath(search->os, link, &program) == 0) {
		*strrchr(program, '/') = '\0';
		try_directory(search, *program ? program : "/");
	}
	free(program);
	free(link);
}

static void try_pg_config(struct search *search)
{
	const char *const argv[] = { "pg_config", "--bindir", NULL };
	const struct wp_proc_options options = {
		.limit_ns = VERSION_LIMIT_NS, .directory = "/", .is_clean = true
	};
	struct wp_proc_output output = { 0 };

	if (search->is_found || wp_proc_run(search->os, argv, &options, &output, NULL) < 0)
		return;
	output.out[strcspn(output.out, "\n")] = '\0';
	if (output.exit_status == 0 && output.out[0] == '/')
		try_directory(search, output.out);
	wp_proc_output_release(&output);
}

/* Version in a name after prefix: 9.6 is 906, 15 is 1500; -1 when it is none. */
static int version_of(const char *name, const char *prefix)
{
	long major;
	long minor = 0;
	char *end;

	if (strncmp(name, prefix, strlen(prefix)) != 0)
		return -1;
	name += strlen(prefix);
	if (*name < '0' || *name > '9')
		return -1;
	major = strtol(name, &end, 10);
	if (*end == '.')
		minor = strtol(end + 1, &end, 10);
	return *end || major > 999 || minor > 99 ? -1 : (int)(major * 100 + minor);
}

/* parent/prefixVERSION/bin, newest first */
static void try_versions(struct search *search, const char *parent, const char *prefix)
{
	struct wp_names names = { NULL, 0 };
	int before = INT32_MAX;

	if (wp_os_list(search->os, parent, &names) < 0)
		return;
	for (;;) {
		int newest = -1;
		size_t at = 0;
		char *directory;

		for (size_t i = 0; i < names.count; i++) {
			int version = version_of(names.names[i], prefix);

			if (version > newest && version < before) {
				newest = version;
				at = i;
			}
		}
		if (newest < 0)
			break;
		directory = wp_xasprintf("%s/%s/bin", parent, names.names[at]);
		try_directory(search, directory);
		free(directory);
		before = newest;
	}
	wp_names_release(&names);
}

static int refuse(const struct search *search, const char *bindir, struct wp_err *err)
{
	if (search->first.message[0]) {
		if (err)
			*err = search->first;
		return -(int)search->first.code;
	}
	if (bindir) {
		(void)wp_fail(err, WP_E_UNSUPPORTED, 0,
			"no PostgreSQL server programs (initdb, postgres) in \"%s\"", bindir);
		wp_err_hint(err, "On Debian they lie in /usr/lib/postgresql/VERSION/bin.");
		return -WP_E_UNSUPPORTED;
	}
	(void)wp_fail(
		err, WP_E_UNSUPPORTED, 0, "no PostgreSQL server programs (initdb, postgres) found");
	wp_err_detail(err, "Looked in PATH, where pg_config says, in /usr/lib/postgresql/*/bin and "
			   "in /usr/pgsql-*/bin.");
	wp_err_hint(err, "Install the Debian package " PACKAGE
			 ", or name the folder that holds them with --bindir.");
	return -WP_E_UNSUPPORTED;
}

int wp_pg_binaries_find(const struct wp_os *os, const char *bindir, const struct wp_user *user,
	struct wp_pg_binaries *out, struct wp_err *err)
{
	struct search search = { .os = os, .user = user, .out = out };

	if (bindir) {
		try_directory(&search, bindir);
	} else {
		try_path(&search);
		try_pg_config(&search);
		try_versions(&search, "/usr/lib/postgresql", "");
		try_versions(&search, "/usr", "pgsql-");
	}
	return search.is_found ? 0 : refuse(&search, bindir, err);
}
