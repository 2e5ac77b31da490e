/* SPDX-License-Identifier: PostgreSQL */
/*
 * predict_server.c - the real thing: a throwaway server that runs what the model runs.
 *
 * Its steps are those of "walprobe ramp" (ramp.h), taken one block at a time.
 */
#include "predict_internal.h"
#include "ramp_internal.h"

#include "walprobe/mem.h"
#include "walprobe/pgbench_init.h"

#include <math.h>

#define USED_SEGMENTS 12
#define RELOAD_LIMIT_NS (5 * WP_NS_PER_S)
#define RELOAD_LOOK_NS (20 * WP_NS_PER_MS)

struct wp_predict_server {
	struct wp_run *run;
	struct wp_run own; /* whose result takes what the ramp has to say */
	struct wp_cluster *cluster;
	struct wp_ramp_server server;
	struct wp_ramp_options options;
	struct wp_measures steps; /* run by us, never by wp_rounds_run() */
	char *applied;            /* settings in force */
};

/* ---- start ----------------------------------------------------------------------------------- */

static int make_tables(struct wp_predict_server *server, struct wp_session *session, int64_t scale,
	struct wp_err *err)
{
	const struct wp_init_options options = {
		.steps = "dtgvp", .scale = scale, .fillfactor = 100, .is_replacing = true
	};
	struct wp_init_times times;

	return wp_init_run(server->run->os, session, &options, &times, err);
}

/* Segments that were written once and are recycled by the checkpoint. */
static int use_segments(struct wp_session *session, struct wp_err *err)
{
	static const char statement[] =
		"SELECT pg_catalog.pg_logical_emit_message(false, 'walprobe', 'x'), "
		"pg_catalog.pg_switch_wal()";
	int rc = 0;

	for (int i = 0; !rc && i < USED_SEGMENTS; i++)
		rc = wp_session_query(
			session, statement, 0, "could not use up a segment", NULL, err);
	if (!rc)
		rc = wp_session_query(session, "CHECKPOINT", 0, "could not CHECKPOINT", NULL, err);
	return rc;
}

static int prepare_data(struct wp_predict_server *server, int64_t scale, struct wp_err *err)
{
	struct wp_session *session = NULL;
	int rc = wp_session_open(server->run->os, &server->server.conn, &session, err);

	if (!rc)
		rc = make_tables(server, session, scale, err);
	if (!rc)
		rc = use_segments(session, err);
	wp_session_close(session);
	return rc;
}

static int make_options(struct wp_predict_server *server,
	const struct wp_predict_server_options *options, struct wp_err *err)
{
	const struct wp_workload_part part = { .text = options->shape->name };
	const struct wp_workload_options workload = {
		.protocol = "prepared", .parts = &part, .part_count = 1
	};
	struct wp_ramp_options *out = &server->options;

	memcpy(out->clients, options->clients, options->client_count * sizeof(out->clients[0]));
	out->client_count = options->client_count;
	out->has_checkpoint = true;
	out->vacuum = WP_RAMP_VACUUM_SMALL;
	out->scale = options->scale;
	out->loop = (struct wp_loop_options){ .threads = 1,
		.duration_ns = options->time_ns,
		.has_untimed = true,
		.has_wal_timing = true,
		.max_tries = 1,
		.stall_limit_ns = 60 * WP_NS_PER_S,
		.seed = server->run->seed };
	return wp_workload_new(server->run->os, &workload, &out->workload, err);
}

static int bring_up(struct wp_predict_server *server, const struct wp_cluster_plan *plan,
	struct wp_target *target, const struct wp_predict_server_options *options,
	struct wp_err *err)
{
	int rc = make_options(server, options, err);

	if (!rc)
		rc = wp_target_cluster(server->run, plan, target, &server->cluster, err);
	if (!rc)
		rc = wp_cluster_start(server->cluster, err);
	if (rc)
		return rc;
	server->server.target = target;
	server->server.cluster = server->cluster;
	server->server.conn.dbname = server->cluster->conninfo;
	rc = prepare_data(server, options->scale, err);
	if (!rc)
		rc = wp_ramp_plan(
			&server->own, &server->server, &server->options, &server->steps, err);
	if (rc)
		rc = wp_cluster_explain(server->cluster, rc, err);
	return rc;
}

int wp_predict_server_start(struct wp_run *run, const struct wp_cluster_plan *plan,
	struct wp_target *target, const struct wp_predict_server_options *options,
	struct wp_predict_server **out, struct wp_err *err)
{
	struct wp_predict_server *server = wp_xcalloc(1, sizeof(*server));
	int rc;

	server->run = run;
	server->own = *run;
	server->own.result = wp_result_new("ramp");
	server->own.problem_count = 0;
	rc = bring_up(server, plan, target, options, err);
	if (rc) {
		if (rc != -WP_E_STOPPED && rc != -WP_E_USAGE)
			wp_err_prefix(err, "server on \"%s\": ", target->label);
		wp_predict_server_free(server);
		return rc;
	}
	*out = server;
	return 0;
}

void wp_predict_server_free(struct wp_predict_server *server)
{
	if (!server)
		return;
	server->run->problem_count += server->own.problem_count;
	wp_measures_release(&server->steps);
	wp_ramp_server_release(&server->server);
	wp_workload_free(server->options.workload);
	wp_cluster_release(server->cluster);
	wp_result_free(server->own.result);
	free(server->applied);
	free(server);
}

int wp_predict_server_stop(struct wp_predict_server *server, struct wp_err *err)
{
	return wp_cluster_stop(server->cluster, err);
}

const struct wp_server_facts *wp_predict_server_facts(const struct wp_predict_server *server)
{
	return &server->server.facts;
}

/* ---- settings -------------------------------------------------------------------------------- */

static int set(struct wp_session *session, const char *name, const char *value, struct wp_err *err)
{
	char *statement = wp_xasprintf("ALTER SYSTEM SET %s = '%s'", name, value);
	int rc = wp_session_query(session, statement, 0, "could not change a setting", NULL, err);

	free(statement);
	return rc;
}

/* A session sees a reload with its next command, once the postmaster has read the files. */
static int wait_for_reload(
	const struct wp_os *os, struct wp_session *session, const char *wanted, struct wp_err *err)
{
	static const char statement[] =
		"SELECT pg_catalog.concat_ws(' ', "
		"pg_catalog.current_setting('wal_sync_method'), "
		"(SELECT setting FROM pg_catalog.pg_settings WHERE name = 'commit_delay'), "
		"pg_catalog.current_setting('commit_siblings'))";
	int64_t until_ns = wp_os_now_ns(os) + RELOAD_LIMIT_NS;

	for (;;) {
		struct wp_rows rows;
		int rc = wp_session_query(
			session, statement, 0, "could not read settings", &rows, err);
		const char *found;

		if (rc)
			return rc;
		found = wp_rows_text(&rows, 0, 0);
		if (found && strcmp(found, wanted) == 0)
			return 0;
		if (wp_os_now_ns(os) > until_ns)
			return wp_fail(err, WP_E_SERVER, 0,
				"the server does not take over its settings: \"%s\" instead of "
				"\"%s\"",
				found ? found : "", wanted);
		(void)wp_os_sleep_ns(os, RELOAD_LOOK_NS); /* a signal ends the next query */
	}
}

static int apply(struct wp_predict_server *server, const struct check_series *series,
	const char *wanted, struct wp_err *err)
{
	struct wp_session *session = NULL;
	int rc = wp_session_open(server->run->os, &server->server.conn, &session, err);
	char delay[32];
	char siblings[32];

	(void)snprintf(delay, sizeof(delay), "%" PRId64, series->commit_delay_ns / WP_NS_PER_US);
	(void)snprintf(siblings, sizeof(siblings), "%" PRId64, series->commit_siblings);
	if (!rc)
		rc = set(session, "wal_sync_method", wp_method_name(series->method), err);
	if (!rc)
		rc = set(session, "commit_delay", delay, err);
	if (!rc)
		rc = set(session, "commit_siblings", siblings, err);
	if (!rc)
		rc = wp_session_query(session, "SELECT pg_catalog.pg_reload_conf()", 0,
			"could not reload the settings", NULL, err);
	if (!rc)
		rc = wait_for_reload(server->run->os, session, wanted, err);
	wp_session_close(session);
	return rc;
}

static int settle_settings(
	struct wp_predict_server *server, const struct check_series *series, struct wp_err *err)
{
	char *wanted = wp_xasprintf("%s %" PRId64 " %" PRId64, wp_method_name(series->method),
		series->commit_delay_ns / WP_NS_PER_US, series->commit_siblings);
	int rc = 0;

	if (!server->applied || strcmp(server->applied, wanted) != 0)
		rc = apply(server, series, wanted, err);
	if (rc) {
		free(wanted);
		return rc;
	}
	free(server->applied);
	server->applied = wanted;
	return 0;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static struct wp_measure *find_step(const struct wp_predict_server *server, int64_t clients)
{
	for (size_t i = 0; i < server->steps.count; i++)
		if (server->steps.items[i]->clients == clients)
			return server->steps.items[i];
	return NULL;
}

static void subtract(double *out, const double *after, const double *before)
{
	for (int i = 0; i < WP_COUNTER_COUNT; i++)
		out[i] = after[i] - before[i];
}

static void fill_step(struct wp_calibration_step *step, const double *sums, double wal_bytes,
	double server_cpu_ns, double client_cpu_ns, double commits)
{
	step->server_cpu_ns = server_cpu_ns / commits;
	step->client_cpu_ns = client_cpu_ns / commits;
	step->wal_bytes = wal_bytes / commits;
	step->images = sums[WP_COUNTER_WAL_FPI] / commits;
	step->commits_per_sync = commits / sums[WP_COUNTER_WAL_SYNCS];
}

int wp_predict_server_step(
	struct wp_predict_server *server, struct wp_calibration_step *step, struct wp_err *err)
{
	struct wp_measure *measure = find_step(server, step->clients);
	struct wp_ramp_self *self = measure->self;
	struct wp_ramp_self before = *self;
	struct wp_block block = { .value = 0 };
	struct wp_hist hist = { 0 };
	double sums[WP_COUNTER_COUNT];
	double commits;
	int rc;

	wp_hist_init(&hist);
	rc = measure->run(measure, 0, &hist, &block, err);
	wp_hist_release(&hist);
	if (rc)
		return rc;
	commits = (double)(self->counts.transactions - before.counts.transactions);
	if (commits < 1)
		return wp_fail(err, WP_E_SERVER, 0, "the server did no transaction");
	subtract(sums, self->sums, before.sums);
	step->tps = block.value;
	step->transactions = commits;
	fill_step(step, sums, self->wal_bytes - before.wal_bytes,
		self->server_cpu_ns < 0 ? (double)NAN
					: (double)(self->server_cpu_ns - before.server_cpu_ns),
		(double)(self->cpu_ns - before.cpu_ns), commits);
	return 0;
}

void wp_predict_server_mean(
	const struct wp_predict_server *server, struct wp_calibration_step *step)
{
	const struct wp_ramp_self *self = find_step(server, step->clients)->self;
	double commits = (double)self->counts.transactions;

	if (commits < 1 || self->rounds < 1)
		return;
	step->tps = commits * 1e9 / (double)self->elapsed_ns;
	step->transactions = commits / (double)self->rounds;
	fill_step(step, self->sums, self->wal_bytes,
		self->server_cpu_ns < 0 ? (double)NAN : (double)self->server_cpu_ns,
		(double)self->cpu_ns, commits);
}

static int run_check(struct wp_measure *measure, int64_t least_ns, struct wp_hist *hist,
	struct wp_block *block, struct wp_err *err)
{
	struct check_series *series = measure->self;
	struct wp_ramp_self *self = series->step->self;
	struct wp_ramp_self before = *self;
	bool is_open = wp_method_open_flags(series->method) != 0;
	double sums[WP_COUNTER_COUNT];
	int rc = settle_settings(series->server, series, err);

	if (!rc)
		rc = series->step->run(series->step, least_ns, hist, block, err);
	if (rc || measure->round_count == 0)
		return rc;
	subtract(sums, self->sums, before.sums);
	series->commits += (double)(self->counts.transactions - before.counts.transactions);
	series->syncs += sums[is_open ? WP_COUNTER_WAL_WRITES : WP_COUNTER_WAL_SYNCS];
	series->cpu_ns += self->server_cpu_ns < 0
				  ? (double)NAN
				  : (double)(self->server_cpu_ns - before.server_cpu_ns +
					     self->cpu_ns - before.cpu_ns);
	series->flush_ms += sums[WP_COUNTER_WAL_WRITE_MS] + sums[WP_COUNTER_WAL_SYNC_MS];
	return 0;
}

static void release_check(struct wp_measure *measure)
{
	free(measure->self);
}

static void add_check(struct wp_predict_server *server, const struct wp_predict_options *options,
	enum wp_method method, int64_t clients, struct wp_measures *measures)
{
	struct wp_measure *measure = wp_measures_add(measures);
	struct check_series *series = wp_xcalloc(1, sizeof(*series));
	const char *reason;

	series->server = server;
	series->step = find_step(server, clients);
	series->commit_delay_ns = options->commit_delay_ns;
	series->commit_siblings = options->commit_siblings;
	series->method = method;
	measure->table = PREDICT_TABLE;
	measure->metric = CHECK_METRIC;
	measure->method = wp_method_name(method);
	measure->variant = predict_describe_delay(
		options->commit_delay_ns, series->delay, sizeof(series->delay));
	measure->clients = clients;
	measure->target = server->server.target;
	measure->run = run_check;
	measure->release = release_check;
	measure->self = series;
	measure->os = server->run->os;
	if (!wp_method_is_supported(method, &reason))
		wp_measure_set_absent(measure, "%s", reason);
}

void wp_predict_check_plan(struct wp_predict_server *server,
	const struct wp_predict_options *options, struct wp_measures *measures)
{
	for (size_t i = 0; i < options->methods.count; i++)
		for (size_t j = 0; j < options->client_count; j++)
			add_check(server, options, options->methods.items[i], options->clients[j],
				measures);
}
