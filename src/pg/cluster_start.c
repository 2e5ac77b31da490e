/* SPDX-License-Identifier: PostgreSQL */
#include "pg/cluster_internal.h"

#include "walprobe/mem.h"
#include "walprobe/server_process.h"
#include "walprobe/stop.h"
#include "walprobe/units.h"

#include <libpq-fe.h>
#include "sql_cluster_settings.h"

#define START_LIMIT_NS (60 * WP_NS_PER_S)
#define POLL_NS (10 * WP_NS_PER_MS)
#define END_LIMIT_NS (5 * WP_NS_PER_S)
#define DYING_NS (200 * WP_NS_PER_MS)
#define SEGMENT_BYTES (INT64_C(16) << 20)
#define LOG_MOST (4 << 20)

void wp_cluster_log_end(const char *text, char *out, size_t size)
{
	const char *end = text + strlen(text);
	const char *from;

	while (end > text && end[-1] == '\n')
		end--;
	/* As many whole lines as there is room for. */
	from = (size_t)(end - text) < size ? text : end - size + 1;
	if (from > text && from[-1] != '\n') {
		const char *line = memchr(from, '\n', (size_t)(end - from));

		from = line ? line + 1 : from;
	}
	(void)snprintf(out, size, "%.*s", (int)(end - from), from);
	for (char *at = out; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = *at == '\n' ? '|' : ' ';
}

/* The end of the log is all that is left to tell once the directories are gone. */
static void add_log(const struct wp_cluster *cluster, struct wp_err *err)
{
	char end[400] = "";
	int sys_errno;
	char *text = wp_os_read_text(
		wp_registry_os(cluster->registry), cluster->log, LOG_MOST, &sys_errno);

	if (text)
		wp_cluster_log_end(text, end, sizeof(end));
	free(text);
	if (end[0])
		wp_err_detail(err, "Its log ends with: %s", end);
}

int wp_cluster_check(struct wp_cluster *cluster, struct wp_err *err)
{
	char how[64] = "not started";
	int rc;

	if (cluster->pid && !wp_server_has_ended(cluster->pid, how, sizeof(how)))
		return 0;
	cluster->pid = 0;
	rc = wp_fail(err, WP_E_SERVER, 0, "the server in \"%s\" has ended: %s",
		cluster->data_directory, how);
	add_log(cluster, err);
	return rc;
}

/* Most that keeps a server from starting was asked for. */
static void add_hint(const struct wp_cluster *cluster, struct wp_err *err)
{
	for (size_t i = 0; i < cluster->setting_count; i++)
		if (cluster->settings[i].origin == WP_CLUSTER_ASKED) {
			wp_err_hint(err,
				"Look whether the setting \"%s\" and others of --set fit "
				"this server.",
				cluster->settings[i].name);
			return;
		}
}

static bool has_socket(const struct wp_cluster *cluster)
{
	char *path = wp_xasprintf("%s/.s.PGSQL.%d", cluster->socket_directory, cluster->port);
	struct stat info;
	bool is_there = wp_os_lstat(wp_registry_os(cluster->registry), path, &info) == 0;

	free(path);
	return is_there;
}

static bool accepts(const struct wp_cluster *cluster)
{
	/* Without a limit it would wait for ever on a server that somebody has stopped. */
	const char *const keywords[] = { "dbname", "connect_timeout", NULL };
	const char *const values[] = { cluster->conninfo, "2", NULL };

	return has_socket(cluster) && PQpingParams(keywords, values, 1) == PQPING_OK;
}

static int wait_until_ready(struct wp_cluster *cluster, struct wp_err *err)
{
	const struct wp_os *os = wp_registry_os(cluster->registry);
	int64_t begin_ns = wp_os_now_ns(os);

	while (!accepts(cluster)) {
		int rc = wp_cluster_check(cluster, err);

		if (rc)
			add_hint(cluster, err);
		else
			rc = wp_stop_fail(err);
		if (rc)
			return rc;
		if (wp_os_now_ns(os) - begin_ns >= START_LIMIT_NS) {
			rc = wp_fail(err, WP_E_SERVER, 0,
				"the server in \"%s\" did not accept connections within 60 s",
				cluster->data_directory);
			add_log(cluster, err);
			return rc;
		}
		(void)wp_os_sleep_ns(os, POLL_NS); /* cut short by a signal: looked at above */
	}
	return 0;
}

/* ---- when it ends by itself ------------------------------------------------------------------ */

static bool has_run_out_of_space(const struct wp_cluster *cluster)
{
	int sys_errno;
	char *text = wp_os_read_text(
		wp_registry_os(cluster->registry), cluster->log, LOG_MOST, &sys_errno);
	bool is_so = text && strstr(text, wp_errno_text(ENOSPC));

	free(text);
	return is_so;
}

/* A server that cannot write its log panics: what it lacked is a place for the next segment. */
static int tell_full(const struct wp_cluster *cluster, struct wp_err *err)
{
	struct statvfs info = { .f_frsize = 0 };
	char text[32];
	int64_t free_bytes;
	int rc = wp_os_statvfs(wp_registry_os(cluster->registry), cluster->wal_directory, &info);

	if (rc)
		return 0;
	free_bytes = (int64_t)(info.f_bavail * info.f_frsize);
	if (free_bytes >= SEGMENT_BYTES)
		return 0;
	rc = wp_fail(err, WP_E_NOSPACE, ENOSPC, "the server has ended: pg_wal in \"%s\" is full",
		cluster->wal_directory);
	wp_err_detail(err,
		"%" PRId64 " bytes (16 MB) are needed for the next segment, %" PRId64
		" bytes (%s) are free.",
		SEGMENT_BYTES, free_bytes, wp_format_size(free_bytes, text, sizeof(text)));
	wp_err_hint(err, "Free some space, make an image larger with size=, or set a smaller "
			 "max_wal_size with --set.");
	return rc;
}

/* One whose backend has just panicked may accept for a moment. */
static bool goes_on(const struct wp_cluster *cluster)
{
	if (!accepts(cluster))
		return false;
	(void)wp_os_sleep_ns(wp_registry_os(cluster->registry), DYING_NS);
	return accepts(cluster);
}

int wp_cluster_explain(struct wp_cluster *cluster, int rc, struct wp_err *err)
{
	const struct wp_os *os = wp_registry_os(cluster->registry);
	int64_t begin_ns = wp_os_now_ns(os);
	struct wp_err own = { 0 };
	int ended = 0;
	int full;

	if (rc != -WP_E_SERVER || !cluster->pid || goes_on(cluster))
		return rc;
	while (!ended && !wp_stop_requested() && wp_os_now_ns(os) - begin_ns < END_LIMIT_NS) {
		(void)wp_os_sleep_ns(os, POLL_NS); /* cut short by a signal: looked at above */
		ended = wp_cluster_check(cluster, &own);
	}
	if (!ended)
		return rc;
	full = has_run_out_of_space(cluster) ? tell_full(cluster, &own) : 0;
	if (err)
		*err = own;
	return full ? full : ended;
}

/* ---- settings -------------------------------------------------------------------------------- */

/* "{a,b}": names have been checked, nothing in them needs a quote. */
static char *names_array(const struct wp_cluster *cluster)
{
	char *text = wp_xstrdup("{");

	for (size_t i = 0; i < cluster->setting_count; i++) {
		char *more = wp_xasprintf("%s%s%s", text, i ? "," : "", cluster->settings[i].name);

		free(text);
		text = more;
	}
	return text;
}

static int read_rows(struct wp_cluster *cluster, PGconn *connection, struct wp_err *err)
{
	char *names = names_array(cluster);
	char *array = wp_xasprintf("%s}", names);
	const char *const values[] = { array };
	PGresult *rows =
		PQexecParams(connection, wp_sql_cluster_settings, 1, NULL, values, NULL, NULL, 0);
	int rc = 0;

	if (PQresultStatus(rows) != PGRES_TUPLES_OK ||
		PQntuples(rows) != (int)cluster->setting_count)
		rc = wp_fail(err, WP_E_SERVER, 0, "could not read the settings back: %s",
			PQerrorMessage(connection));
	for (size_t i = 0; !rc && i < cluster->setting_count; i++) {
		free(cluster->settings[i].shown);
		cluster->settings[i].shown = PQgetisnull(rows, (int)i, 1)
						     ? NULL
						     : wp_xstrdup(PQgetvalue(rows, (int)i, 1));
	}
	PQclear(rows);
	free(array);
	free(names);
	return rc;
}

int wp_cluster_read_settings(struct wp_cluster *cluster, struct wp_err *err)
{
	const char *const keywords[] = { "dbname", "application_name", "connect_timeout", NULL };
	const char *const values[] = { cluster->conninfo, "walprobe", "10", NULL };
	PGconn *connection = PQconnectdbParams(keywords, values, 1);
	int rc;

	if (PQstatus(connection) == CONNECTION_OK)
		rc = read_rows(cluster, connection, err);
	else
		rc = wp_fail(err, WP_E_SERVER, 0, "could not connect to the server: %s",
			PQerrorMessage(connection));
	PQfinish(connection);
	return rc;
}

int wp_cluster_start(struct wp_cluster *cluster, struct wp_err *err)
{
	const char *const argv[] = { cluster->binaries->postgres, "-D", cluster->data_directory,
		NULL };
	const struct wp_server_start start = { .program = cluster->binaries->postgres,
		.argv = argv,
		.user = cluster->user,
		.data_directory = cluster->data_directory,
		.log = cluster->log,
		.outlives_us = cluster->is_kept };
	int rc = wp_cluster_stop(cluster, err);

	if (!rc)
		rc = wp_server_start(wp_registry_os(cluster->registry), &start, &cluster->pid, err);
	if (rc)
		return rc;
	cluster->ticket = wp_registry_push(
		cluster->registry, "server", cluster->data_directory, wp_server_undo, NULL);
	rc = wait_until_ready(cluster, err);
	if (!rc)
		rc = wp_cluster_read_settings(cluster, err);
	if (rc)
		(void)wp_cluster_stop(cluster, NULL); /* the first failure is the one to tell */
	return rc;
}

int wp_cluster_stop(struct wp_cluster *cluster, struct wp_err *err)
{
	uint64_t ticket = cluster->ticket;

	cluster->ticket = 0;
	cluster->pid = 0;
	return ticket ? wp_registry_undo(cluster->registry, ticket, err) : 0;
}
