/* SPDX-License-Identifier: PostgreSQL */
/*
 * Where the target's file system knows owners, initdb itself puts pg_wal there. It fails where
 * chmod() and chown() are refused (FAT); so there it makes pg_wal beside the data, which is then
 * moved and linked to.
 */
#include "pg/cluster_internal.h"

#include "walprobe/mem.h"
#include "walprobe/proc.h"
#include "walprobe/server_process.h"
#include "walprobe/stop.h"
#include "walprobe/units.h"

#define PROGRAM_LIMIT_NS (180 * WP_NS_PER_S)
#define DATA_BYTES (INT64_C(128) << 20)

static int check_data_room(const struct wp_os *os, const char *directory, struct wp_err *err)
{
	char free_text[32];
	struct statvfs info;
	int64_t free_bytes;
	int rc = wp_os_statvfs(os, directory, &info);

	if (rc)
		return wp_fail(
			err, WP_E_SYS, -rc, "could not read the free space of \"%s\"", directory);
	free_bytes = (int64_t)(info.f_bavail * info.f_frsize);
	if (info.f_blocks == 0 || free_bytes >= DATA_BYTES)
		return 0;
	rc = wp_fail(err, WP_E_NOSPACE, ENOSPC, "could not make room for a cluster in \"%s\"",
		directory);
	wp_err_detail(err,
		"%" PRId64 " bytes (128 MB) are needed, %" PRId64 " bytes (%s) are free.",
		DATA_BYTES, free_bytes, wp_format_size(free_bytes, free_text, sizeof(free_text)));
	wp_err_hint(err, "Free some space, or name another directory with --base.");
	return rc;
}

/* Run a program as the server's user, in its data directory. */
static int run_program(const struct wp_cluster *cluster, const char *const *argv,
	const char *package, bool ignores_stop, struct wp_err *err)
{
	const struct wp_proc_options options = { .ignores_stop = ignores_stop,
		.limit_ns = PROGRAM_LIMIT_NS,
		.package = package,
		.user = cluster->user,
		.directory = cluster->data_directory,
		.is_clean = true };
	struct wp_proc_output output = { 0 };
	int rc = wp_proc_run(wp_registry_os(cluster->registry), argv, &options, &output, err);

	if (rc)
		return rc;
	rc = wp_proc_check(argv[0], &output, err);
	if (rc && strstr(output.errors, wp_errno_text(ENOSPC))) {
		if (err)
			err->code = WP_E_NOSPACE;
		rc = -WP_E_NOSPACE;
	}
	wp_proc_output_release(&output);
	return rc;
}

static int run_initdb(const struct wp_cluster *cluster, bool has_wal_apart, struct wp_err *err)
{
	const char *argv[] = { cluster->binaries->initdb, "-D", cluster->data_directory, "-U",
		WP_CLUSTER_SUPERUSER, "-A", "trust", "-E", "UTF8", "--locale=C", NULL, NULL, NULL };
	int rc;

	if (has_wal_apart) {
		argv[10] = "-X";
		argv[11] = cluster->wal_directory;
	}
	/* Ended half-way it would leave shared memory that nobody could find: it has a second. */
	rc = run_program(cluster, argv, NULL, true, err);
	if (!rc)
		rc = wp_stop_fail(err);
	if (rc && rc != -WP_E_STOPPED)
		wp_err_prefix(err, "could not initialise a cluster: ");
	return rc;
}

/* As the server's user: the files must be its own, and root may have less rights on a network. */
static int move_wal(const struct wp_cluster *cluster, struct wp_err *err)
{
	char *from = wp_xasprintf("%s/pg_wal", cluster->data_directory);
	char *all = wp_xasprintf("%s/.", from);
	const char *const copy[] = { "cp", "-R", all, cluster->wal_directory, NULL };
	const char *const remove[] = { "rm", "-r", "-f", from, NULL };
	const char *const link[] = { "ln", "-s", cluster->wal_directory, from, NULL };
	int rc = run_program(cluster, copy, "coreutils", false, err);

	if (!rc)
		rc = run_program(cluster, remove, "coreutils", false, err);
	if (!rc)
		rc = run_program(cluster, link, "coreutils", false, err);
	if (rc && rc != -WP_E_STOPPED)
		wp_err_prefix(err, "could not move pg_wal to \"%s\": ", cluster->wal_directory);
	free(all);
	free(from);
	return rc;
}

/* The private directory on the base, and the way through ours on the target. */
static int make_places(
	struct wp_cluster *cluster, const struct wp_cluster_options *options, struct wp_err *err)
{
	const struct wp_os *os = wp_registry_os(cluster->registry);
	const struct wp_user *user = cluster->user;
	int rc =
		wp_workdir_create(cluster->registry, options->base, &cluster->directory, NULL, err);

	if (!rc && user->is_other)
		rc = wp_workdir_share(os, cluster->directory, user->gid, err);
	if (!rc && user->is_other)
		rc = wp_workdir_share(os, options->wal, user->gid, err);
	if (!rc)
		rc = wp_cluster_make_sockets(cluster, options->seed, err);
	if (!rc)
		cluster->log = wp_xasprintf("%s/log", cluster->directory);
	return rc;
}

static int make_data(
	struct wp_cluster *cluster, const struct wp_cluster_options *options, struct wp_err *err)
{
	const struct wp_os *os = wp_registry_os(cluster->registry);
	const char *parent = options->is_whole ? options->wal : cluster->directory;
	int rc = check_data_room(os, parent, err);

	if (!rc)
		rc = wp_cluster_make_directory(os, cluster->user, parent, WP_SERVER_DATA_NAME,
			&cluster->data_directory, NULL, err);
	if (rc)
		return rc;
	if (options->is_whole) {
		cluster->wal_directory = wp_xasprintf("%s/pg_wal", cluster->data_directory);
		return run_initdb(cluster, false, err);
	}
	rc = wp_cluster_make_directory(os, cluster->user, options->wal, "pg_wal",
		&cluster->wal_directory, &cluster->knows_owners, err);
	if (!rc)
		rc = run_initdb(cluster, cluster->knows_owners, err);
	if (!rc && !cluster->knows_owners)
		rc = move_wal(cluster, err);
	return rc;
}

static bool is_plain_word(const char *text)
{
	return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				 "/._-+,:@")] == '\0';
}

/* For a shell; a quote inside is left, escaped and entered again. */
static char *shell_word(const char *text)
{
	char *word;
	char *to;

	if (is_plain_word(text))
		return wp_xstrdup(text);
	word = wp_xcalloc(strlen(text) * 4 + 3, 1);
	to = word;
	*to++ = '\'';
	for (; *text; text++) {
		if (*text == '\'') {
			memcpy(to, "'\\'", 3);
			to += 3;
		}
		*to++ = *text;
	}
	*to = '\'';
	return word;
}

/* Values of conninfo escape with a backslash, for which doubling a quote is no way. */
static char *conninfo_word(const char *text)
{
	char *word = wp_xcalloc(strlen(text) * 2 + 3, 1);
	char *to = word;

	*to++ = '\'';
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			*to++ = '\\';
		*to++ = *text;
	}
	*to = '\'';
	return word;
}

static void make_address(struct wp_cluster *cluster)
{
	char *host = conninfo_word(cluster->socket_directory);
	char *word = shell_word(cluster->socket_directory);

	cluster->conninfo = wp_xasprintf(
		"host=%s port=%d user=" WP_CLUSTER_SUPERUSER " dbname=" WP_CLUSTER_DATABASE
		" options='' requirepeer='' sslmode=disable gssencmode=disable "
		"target_session_attrs=any client_encoding=UTF8",
		host, cluster->port);
	cluster->psql =
		wp_xasprintf("psql -h %s -p %d -U " WP_CLUSTER_SUPERUSER " " WP_CLUSTER_DATABASE,
			word, cluster->port);
	free(word);
	free(host);
}

static int create(
	struct wp_cluster *cluster, const struct wp_cluster_options *options, struct wp_err *err)
{
	const struct wp_os *os = wp_registry_os(cluster->registry);
	int64_t wal_bytes = options->wal_bytes;
	int64_t buffer_bytes = options->shared_buffers_bytes;
	int rc = wp_cluster_check_settings(options->settings, options->setting_count, err);

	if (!rc && !wal_bytes) {
		wal_bytes = wp_cluster_wal_bytes(os, options->wal, err);
		rc = wal_bytes < 0 ? (int)wal_bytes : 0;
	}
	if (!rc)
		rc = make_places(cluster, options, err);
	if (!rc)
		rc = make_data(cluster, options, err);
	if (rc)
		return rc;
	wp_cluster_settle(cluster, options, wal_bytes,
		buffer_bytes ? buffer_bytes : wp_cluster_buffer_bytes(os));
	make_address(cluster);
	return wp_cluster_write_conf(cluster, err);
}

int wp_cluster_create(struct wp_registry *registry, const struct wp_cluster_options *options,
	struct wp_cluster **out, struct wp_err *err)
{
	struct wp_cluster *cluster = wp_xcalloc(1, sizeof(*cluster));
	uint64_t mark = wp_registry_mark(registry);
	int rc;

	cluster->registry = registry;
	cluster->binaries = options->binaries;
	cluster->user = options->user;
	cluster->is_kept = options->is_kept;
	cluster->knows_owners = true;
	rc = create(cluster, options, err);
	if (rc) {
		/* The first failure is the one to tell; what cannot be removed stays findable. */
		(void)wp_registry_undo_since(registry, mark, NULL);
		wp_cluster_release(cluster);
		return rc;
	}
	*out = cluster;
	return 0;
}

void wp_cluster_release(struct wp_cluster *cluster)
{
	if (!cluster)
		return;
	for (size_t i = 0; i < cluster->setting_count; i++) {
		free(cluster->settings[i].name);
		free(cluster->settings[i].value);
		free(cluster->settings[i].shown);
	}
	free(cluster->settings);
	free(cluster->directory);
	free(cluster->data_directory);
	free(cluster->wal_directory);
	free(cluster->socket_directory);
	free(cluster->log);
	free(cluster->conninfo);
	free(cluster->psql);
	free(cluster);
}
