/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/server_facts.h"
#include "walprobe/mem.h"

#include "sql_server_settings.h"

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

int wp_session_facts(struct wp_session *session, struct wp_server_facts *out, struct wp_err *err)
{
	struct wp_rows rows;
	const char *data;
	int rc = wp_session_query(session, wp_sql_server_settings, 0,
		"could not read the server's settings", &rows, err);

	if (rc)
		return rc;
	memset(out, 0, sizeof(*out));
	out->version = wp_xstrdup(wp_session_version_text(session));
	out->version_number = wp_session_version(session);
	for (int i = 0; i < rows.count; i++)
		add_setting(out, wp_rows_text(&rows, i, 0), wp_rows_text(&rows, i, 1),
			wp_rows_text(&rows, i, 2));
	data = wp_server_setting(out, "data_directory");
	if (data) {
		out->data_directory = wp_xstrdup(data);
		out->wal_directory = wp_xasprintf(
			"%s/%s", data, out->version_number >= 100000 ? "pg_wal" : "pg_xlog");
	}
	return 0;
}

static int check_place(
	const struct wp_session *session, const struct wp_server_facts *facts, struct wp_err *err)
{
	char place[256];

	if (!wp_session_is_this_host(session)) {
		(void)wp_fail(err, WP_E_SERVER, 0, "%s is not on this host",
			wp_session_place(session, place, sizeof(place)));
		wp_err_hint(err, "Run walprobe on the server's own host.");
		return -WP_E_SERVER;
	}
	if (!facts->wal_directory) {
		(void)wp_fail(err, WP_E_SERVER, 0, "the server does not show its data_directory");
		wp_err_hint(err, "Connect as a superuser or as a member of pg_read_all_settings.");
		return -WP_E_SERVER;
	}
	return 0;
}

int wp_server_facts_read(const struct wp_os *os, const char *conninfo, struct wp_server_facts *out,
	struct wp_err *err)
{
	const struct wp_conn conn = { .dbname = conninfo };
	struct wp_server_facts facts = { 0 };
	struct wp_session *session = NULL;
	int rc = wp_session_open(os, &conn, &session, err);

	if (!rc)
		rc = wp_session_facts(session, &facts, err);
	if (!rc)
		rc = check_place(session, &facts, err);
	wp_session_close(session);
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
