/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/server_facts.h"
#include "walprobe/mem.h"

#include "sql_server_settings.h"

#include <libpq-fe.h>

/* libpq's messages end in a newline and may have several lines; ours is one. */
static void one_line(char *text)
{
	size_t length = strlen(text);

	while (length && text[length - 1] == '\n')
		text[--length] = '\0';
	for (; *text; text++)
		if (*text == '\n')
			*text = ' ';
}

static int server_fail(PGconn *connection, const char *doing, const char *hint, struct wp_err *err)
{
	char *message = wp_xstrdup(PQerrorMessage(connection));

	one_line(message);
	(void)wp_fail(err, WP_E_SERVER, 0, "%s: %s", doing, message);
	wp_err_hint(err, "%s", hint);
	free(message);
	return -WP_E_SERVER;
}

static bool is_this_host(PGconn *connection)
{
	const char *host = PQhost(connection);

	return !host || !*host || *host == '/' || *host == '@' || strcmp(host, "localhost") == 0 ||
	       strcmp(host, "127.0.0.1") == 0 || strcmp(host, "::1") == 0;
}

static void add_setting(
	struct wp_server_facts *facts, const char *name, const char *value, const char *source)
{
	struct wp_server_setting *setting;

	facts->settings = wp_xreallocarray(
		facts->settings, facts->setting_count + 1, sizeof(*facts->settings));
	setting = &facts->settings[facts->setting_count++];
	setting->name = wp_xstrdup(name);
	setting->value = wp_xstrdup(value);
	setting->source = wp_xstrdup(source);
}

static int read_settings(PGconn *connection, struct wp_server_facts *facts, struct wp_err *err)
{
	PGresult *rows = PQexec(connection, wp_sql_server_settings);
	int rc = 0;

	if (PQresultStatus(rows) != PGRES_TUPLES_OK)
		rc = server_fail(connection, "could not read the server's settings",
			"Any user may read pg_settings; look at the server's log.", err);
	for (int i = 0; !rc && i < PQntuples(rows); i++)
		add_setting(facts, PQgetvalue(rows, i, 0), PQgetvalue(rows, i, 1),
			PQgetvalue(rows, i, 2));
	PQclear(rows);
	return rc;
}

static int settle_directories(struct wp_server_facts *facts, struct wp_err *err)
{
	const char *data = wp_server_setting(facts, "data_directory");

	if (!data) {
		(void)wp_fail(err, WP_E_SERVER, 0, "the server does not show its data_directory");
		wp_err_hint(err, "Connect as a superuser or as a member of pg_read_all_settings.");
		return -WP_E_SERVER;
	}
	facts->data_directory = wp_xstrdup(data);
	facts->wal_directory =
		wp_xasprintf("%s/%s", data, facts->version_number >= 100000 ? "pg_wal" : "pg_xlog");
	return 0;
}

static int read_all(PGconn *connection, struct wp_server_facts *facts, struct wp_err *err)
{
	int rc;

	if (PQstatus(connection) != CONNECTION_OK)
		return server_fail(connection, "could not connect to the server",
			"Check host, port, user and database of --server, and that it runs.", err);
	if (!is_this_host(connection)) {
		(void)wp_fail(err, WP_E_SERVER, 0, "the server runs on \"%s\", not on this host",
			PQhost(connection));
		wp_err_hint(err, "Run walprobe on the server's own host.");
		return -WP_E_SERVER;
	}
	facts->version = wp_xstrdup(PQparameterStatus(connection, "server_version"));
	facts->version_number = PQserverVersion(connection);
	rc = read_settings(connection, facts, err);
	return rc ? rc : settle_directories(facts, err);
}

int wp_server_facts_read(const char *conninfo, struct wp_server_facts *out, struct wp_err *err)
{
	struct wp_server_facts facts = { 0 };
	const char *const keywords[] = { "dbname", "fallback_application_name", "connect_timeout",
		NULL };
	const char *const values[] = { conninfo, "walprobe", "10", NULL };
	PGconn *connection = PQconnectdbParams(keywords, values, 1);
	int rc = read_all(connection, &facts, err);

	PQfinish(connection);
	if (rc)
		wp_server_facts_release(&facts);
	else
		*out = facts;
	return rc;
}

const char *wp_server_setting(const struct wp_server_facts *facts, const char *name)
{
	for (size_t i = 0; i < facts->setting_count; i++)
		if (strcmp(facts->settings[i].name, name) == 0)
			return facts->settings[i].value;
	return NULL;
}

void wp_server_facts_release(struct wp_server_facts *facts)
{
	for (size_t i = 0; i < facts->setting_count; i++) {
		free(facts->settings[i].name);
		free(facts->settings[i].value);
		free(facts->settings[i].source);
	}
	free(facts->settings);
	free(facts->version);
	free(facts->data_directory);
	free(facts->wal_directory);
	memset(facts, 0, sizeof(*facts));
}
