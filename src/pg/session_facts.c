/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/mem.h"
#include "walprobe/server_counters.h"

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
		out->wal_directory = wp_xasprintf("%s/pg_wal", data);
	}
	return 0;
}
