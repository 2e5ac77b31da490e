/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/server_advice.h"
#include "probe/recommendation.h"
#include "walprobe/mem.h"

#define CHECK_ID "server-settings"

static const struct wp_column server_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Target that is the server's pg_wal." },
	{ "setting", "setting", "", WP_KIND_TEXT, "Name of the configuration setting." },
	{ "value", "value", "", WP_KIND_TEXT, "Value in force." },
	{ "source", "source", "", WP_KIND_TEXT, "Where the server took it from." },
};

/* a setting whose value endangers data or hides the disk */
struct rule {
	const char *setting;
	const char *bad;
	enum wp_check_status status;
	const char *text;
};

static const struct rule rules[] = {
	{ "fsync", "off", WP_CHECK_FAIL,
		"fsync is off: the server does not wait for the disk at all, and a crash of the "
		"host can corrupt the database; set it on" },
	{ "synchronous_commit", "off", WP_CHECK_INFO,
		"synchronous_commit is off: commits of the last three wal_writer_delay are lost in "
		"a crash, and the speed of pg_wal hardly shows in commits" },
};

static bool is_copy_on_write(const struct wp_result *result, const char *target)
{
	for (size_t i = 0; i < result->check_count; i++) {
		const struct wp_check *check = &result->checks[i];

		if (strcmp(check->id, "recycle-cow") == 0 && strcmp(check->target, target) == 0)
			return check->status == WP_CHECK_INFO;
	}
	return false;
}

static bool has_value(const struct wp_server_facts *facts, const char *name, const char *value)
{
	const char *now = wp_server_setting(facts, name);

	return now && strcmp(now, value) == 0;
}

static void add_check(struct wp_run *run, const char *target, enum wp_check_status status,
	const char *setting, const char *observed, const char *text)
{
	char *seen = wp_xasprintf("%s = %s", setting, observed);

	wp_result_add_check(run->result, CHECK_ID, target, status, NULL, seen, text);
	free(seen);
}

static void check_full_page_writes(
	struct wp_run *run, const struct wp_server_facts *facts, const char *target)
{
	if (!has_value(facts, "full_page_writes", "off"))
		return;
	if (is_copy_on_write(run->result, target))
		add_check(run, target, WP_CHECK_INFO, "full_page_writes", "off",
			"full_page_writes is off: defensible only where the data directory's file "
			"system writes 8 kB atomically, which is for the data, not for pg_wal");
	else
		add_check(run, target, WP_CHECK_FAIL, "full_page_writes", "off",
			"full_page_writes is off: a page torn by a crash cannot be repaired; set "
			"it "
			"on");
}

static void fill_settings(
	struct wp_run *run, const struct wp_server_facts *facts, const char *target)
{
	struct wp_table *table = wp_result_table(run->result, "server",
		"Settings of the running server", server_columns, WP_COUNT(server_columns));

	for (size_t i = 0; i < facts->setting_count; i++) {
		struct wp_row *row = wp_table_add_row(table);

		wp_row_text(row, "target", target);
		wp_row_text(row, "setting", facts->settings[i].name);
		wp_row_text(row, "value", facts->settings[i].value);
		wp_row_text(row, "source", facts->settings[i].source);
	}
}

void wp_server_advice_checks(
	struct wp_run *run, const struct wp_server_facts *facts, const char *target)
{
	size_t before = run->result->check_count;

	wp_result_add_environment(run->result, "server_version", facts->version, "server_version");
	fill_settings(run, facts, target);
	for (size_t i = 0; i < WP_COUNT(rules); i++)
		if (has_value(facts, rules[i].setting, rules[i].bad))
			add_check(run, target, rules[i].status, rules[i].setting, rules[i].bad,
				rules[i].text);
	check_full_page_writes(run, facts, target);
	if (run->result->check_count == before)
		wp_result_add_check(run->result, CHECK_ID, target, WP_CHECK_PASS, NULL,
			"fsync, full_page_writes and synchronous_commit are on",
			"the server waits for pg_wal as it should");
}

static const char *recommended(const struct wp_result *result, const char *item)
{
	const struct wp_table *table = wp_result_find_table(result, "recommendation");

	for (size_t i = 0; table && i < table->row_count; i++)
		if (strcmp(wp_row_get_text(table->rows[i], "item"), item) == 0)
			return wp_row_get_text(table->rows[i], "value");
	return NULL;
}

static void change_setting(struct wp_run *run, const struct wp_server_facts *facts,
	const char *target, const char *name, const char *value)
{
	const char *now = wp_server_setting(facts, name);
	char *statement;
	char *why;

	if (!now || !value || strcmp(now, value) == 0)
		return;
	statement =
		wp_xasprintf("ALTER SYSTEM SET %s = '%s'; SELECT pg_reload_conf()", name, value);
	why = wp_xasprintf("the server has %s = %s", name, now);
	wp_recommendation_add(run, target, "change on the server", statement, why);
	free(statement);
	free(why);
}

void wp_server_advice_changes(
	struct wp_run *run, const struct wp_server_facts *facts, const char *target)
{
	bool is_cow = is_copy_on_write(run->result, target);
	const char *place = recommended(run->result, "pg_wal on");

	if (place && !strstr(place, target) && strcmp(place, "none of these") != 0)
		wp_recommendation_add(run, target, "change on the server",
			"move pg_wal there: stop the server, move the directory, put a symbolic "
			"link "
			"in its place",
			"another place was shown to be better than the one that it uses");
	change_setting(
		run, facts, target, "wal_sync_method", recommended(run->result, "wal_sync_method"));
	change_setting(run, facts, target, "wal_recycle", is_cow ? "off" : "on");
	change_setting(run, facts, target, "wal_init_zero", is_cow ? "off" : "on");
}
