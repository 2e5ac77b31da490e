/* SPDX-License-Identifier: PostgreSQL */
#include "probe/ramp_internal.h"
#include "walprobe/mem.h"
#include "walprobe/server_advice.h"
#include "walprobe/units.h"

#include "sql_ramp_tables.h"

#include <stdlib.h>

#define INIT_HINT "Make pgbench's tables with \"walprobe ramp -i -s SCALE\" in the same database."

static void set_unranked(struct wp_ramp_server *server, const char *reason)
{
	if (!server->unranked)
		server->unranked = wp_xstrdup(reason);
}

static void judge_setting(struct wp_ramp_server *server, const char *name, const char *bad)
{
	const char *value = wp_server_setting(&server->facts, name);
	char reason[96];

	if (!value || strcmp(value, bad) != 0)
		return;
	(void)snprintf(reason, sizeof(reason), "%s is %s", name, bad);
	set_unranked(server, reason);
}

static void judge_settings(struct wp_run *run, struct wp_ramp_server *server)
{
	const char *label = server->target->label;

	wp_server_advice_checks(run, &server->facts, label);
	judge_setting(server, "fsync", "off");
	judge_setting(server, "full_page_writes", "off");
	judge_setting(server, "synchronous_commit", "off");
	if (server->wal_note)
		set_unranked(server, server->wal_note);
	if (wp_server_has_library(run->os, server->postmaster, "libeatmydata")) {
		set_unranked(server, "libeatmydata is loaded into the server");
		wp_result_add_check(run->result, "server-settings", label, WP_CHECK_FAIL,
			"no library between the server and fsync", "libeatmydata in its maps",
			"libeatmydata makes every fsync do nothing: the server's figures say "
			"nothing about the disk; start it without LD_PRELOAD");
	}
}

/* ---- tables and scale ------------------------------------------------------------------------ */

static int no_tables(const struct wp_session *session, struct wp_err *err)
{
	char place[256];

	(void)wp_fail(err, WP_E_SERVER, 0, "pgbench's tables are missing in %s",
		wp_session_place(session, place, sizeof(place)));
	wp_err_hint(err, "%s", INIT_HINT);
	return -WP_E_SERVER;
}

static void note_unlogged(
	struct wp_run *run, struct wp_ramp_server *server, const struct wp_rows *rows)
{
	for (int i = 0; i < rows->count; i++) {
		const char *persistence = wp_rows_text(rows, i, 1);
		char text[200];

		if (!persistence || strcmp(persistence, "u") != 0)
			continue;
		(void)snprintf(
			text, sizeof(text), "table %s is unlogged", wp_rows_text(rows, i, 0));
		set_unranked(server, text);
		wp_result_add_check(run->result, "unlogged", server->target->label, WP_CHECK_INFO,
			"tables that are logged", text,
			"an unlogged table writes nothing to pg_wal, so the figures say little "
			"about it; make the tables again without UNLOGGED");
		return;
	}
}

static int read_tables(struct wp_run *run, struct wp_ramp_server *server,
	struct wp_session *session, bool is_needed, struct wp_err *err)
{
	struct wp_rows rows;
	int rc = wp_session_query(
		session, wp_sql_ramp_tables, 0, "could not look for pgbench's tables", &rows, err);
	int found = 0;

	for (int i = 0; !rc && i < rows.count; i++) {
		const char *name = wp_rows_text(&rows, i, 0);

		found += strcmp(name, "pgbench_accounts") == 0 ||
			 strcmp(name, "pgbench_branches") == 0 ||
			 strcmp(name, "pgbench_history") == 0 ||
			 strcmp(name, "pgbench_tellers") == 0;
	}
	if (!rc)
		note_unlogged(run, server, &rows);
	if (!rc && is_needed && found < 4)
		rc = no_tables(session, err);
	return rc;
}

static int read_scale(struct wp_ramp_server *server, struct wp_session *session, struct wp_err *err)
{
	struct wp_rows rows;
	int rc = wp_session_query(session, "SELECT pg_catalog.count(*) FROM pgbench_branches", 0,
		"could not read the scale", &rows, err);

	if (rc)
		return rc;
	if (!wp_rows_int(&rows, 0, 0, &server->scale) || server->scale < 1) {
		(void)wp_fail(err, WP_E_SERVER, 0, "pgbench_branches has no row");
		wp_err_hint(err, "%s", INIT_HINT);
		return -WP_E_SERVER;
	}
	return 0;
}

static int settle_scale(struct wp_run *run, struct wp_ramp_server *server,
	const struct wp_ramp_options *options, struct wp_session *session, struct wp_err *err)
{
	bool has_builtin = wp_workload_has_builtin(options->workload);
	int rc = read_tables(run, server, session, has_builtin, err);

	server->scale = options->scale;
	if (!rc && has_builtin)
		rc = read_scale(server, session, err);
	if (!rc && has_builtin && options->is_scale_given && server->scale != options->scale)
		wp_run_tell(run, "warning",
			"target \"%s\": scale option ignored, using count from pgbench_branches "
			"(%" PRId64 ")",
			server->target->label, server->scale);
	return rc;
}

/* ---- connections ----------------------------------------------------------------------------- */

/* Before the first step, not in the middle of the last. */
static int check_connections(
	const struct wp_ramp_options *options, struct wp_session *session, struct wp_err *err)
{
	static const char statement[] =
		"SELECT pg_catalog.current_setting('max_connections')::integer - CASE WHEN "
		"(SELECT rolsuper FROM pg_catalog.pg_roles WHERE rolname = current_user) THEN 0 "
		"ELSE pg_catalog.current_setting('superuser_reserved_connections')::integer END - "
		"(SELECT pg_catalog.count(*) FROM pg_catalog.pg_stat_activity WHERE backend_type "
		"= 'client backend' AND application_name NOT LIKE 'walprobe%')";
	int64_t needed = wp_int_list_most(options->clients, options->client_count) +
			 2; /* ours that watch and cancel */
	struct wp_rows rows;
	int64_t free_count;
	int rc = wp_session_query(
		session, statement, 0, "could not read how many connections are free", &rows, err);

	if (rc || !wp_rows_int(&rows, 0, 0, &free_count) || free_count >= needed)
		return rc;
	(void)wp_fail(err, WP_E_SERVER, 0,
		"too many clients: %" PRId64 " connections are needed, the server has %" PRId64
		" free",
		needed, free_count);
	wp_err_hint(err, "Raise max_connections, or ask for fewer clients with -c.");
	return -WP_E_SERVER;
}

/* ---- measures -------------------------------------------------------------------------------- */

static void release_self(struct wp_measure *measure)
{
	struct wp_ramp_self *self = measure->self;

	free(self->commands);
	free(self->scripts);
	free(self);
}

static size_t command_total(const struct wp_workload *workload)
{
	size_t total = 0;

	for (size_t i = 0; i < wp_workload_count(workload); i++)
		total += wp_workload_command_count(workload, i);
	return total;
}

static void add_step(struct wp_run *run, struct wp_ramp_server *server,
	const struct wp_ramp_options *options, int64_t clients, struct wp_measures *measures)
{
	struct wp_measure *measure = wp_measures_add(measures);
	struct wp_ramp_self *self = wp_xcalloc(1, sizeof(*self));

	self->run = run;
	self->server = server;
	self->options = options;
	self->clients = clients;
	if (options->loop.is_detailed) {
		self->command_count = command_total(options->workload);
		self->commands = wp_xcalloc(self->command_count, sizeof(*self->commands));
	}
	self->scripts = wp_xcalloc(wp_workload_count(options->workload), sizeof(*self->scripts));
	measure->table = "ramp";
	measure->metric = "tps_excluding";
	measure->clients = clients;
	measure->keeps_rounds = true;
	measure->target = server->target;
	measure->run = wp_ramp_run_block;
	measure->release = release_self;
	measure->self = self;
	measure->os = run->os;
}

static void describe(
	struct wp_run *run, const struct wp_ramp_server *server, const struct wp_session *session)
{
	char place[256];

	wp_result_add_environment(run->result, "server",
		wp_session_place(session, place, sizeof(place)), server->target->label);
	wp_result_add_environment(
		run->result, "transport", wp_session_transport(session), server->target->label);
	(void)snprintf(place, sizeof(place), "%" PRId64, server->scale);
	wp_result_add_environment(run->result, "scale", place, server->target->label);
}

int wp_ramp_plan(struct wp_run *run, struct wp_ramp_server *server,
	const struct wp_ramp_options *options, struct wp_measures *measures, struct wp_err *err)
{
	struct wp_session *session = NULL;
	int rc = wp_session_open(run->os, &server->conn, &session, err);

	if (!rc)
		rc = wp_session_facts(session, &server->facts, err);
	if (!rc) {
		server->postmaster = wp_server_postmaster(run->os, session);
		judge_settings(run, server);
		rc = settle_scale(run, server, options, session, err);
	}
	if (!rc)
		rc = check_connections(options, session, err);
	if (!rc) {
		wp_workload_set_scale(options->workload, server->scale);
		describe(run, server, session);
		for (size_t i = 0; i < options->client_count; i++)
			add_step(run, server, options, options->clients[i], measures);
	}
	wp_session_close(session);
	return rc;
}

void wp_ramp_plan_absent(struct wp_run *run, struct wp_ramp_server *server,
	const struct wp_ramp_options *options, const char *reason, struct wp_measures *measures)
{
	for (size_t i = 0; i < options->client_count; i++) {
		add_step(run, server, options, options->clients[i], measures);
		wp_measure_set_absent(measures->items[measures->count - 1], "%s", reason);
	}
}

void wp_ramp_server_release(struct wp_ramp_server *server)
{
	wp_server_facts_release(&server->facts);
	free(server->unranked);
	server->unranked = NULL;
}
