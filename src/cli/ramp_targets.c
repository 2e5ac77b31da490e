/* SPDX-License-Identifier: PostgreSQL */
/*
 * All servers run at the same time, idle but for the one whose turn it is: so rounds interleave
 * without a start, and a cold cache, in each of them.
 */
#include "cli/ramp_targets.h"

#include "cli/measure_targets.h"
#include "cli/ramp_init.h"
#include "walprobe/compare_stats.h"
#include "walprobe/leftovers.h"
#include "walprobe/mem.h"
#include "walprobe/target_cluster.h"
#include "walprobe/units.h"

#define LONG_RUN_NS (10 * WP_NS_PER_S)
#define SCALE_MOST 100                  /* where clients wait for each other's rows */
#define SCALE_COLD 10                   /* elsewhere */
#define SCALE_BYTES (INT64_C(16) << 20) /* of tables and indexes, for each unit of scale */
#define DATA_BYTES (INT64_C(128) << 20) /* of a server beside them */

struct ramp_targets {
	struct wp_run *run;
	const struct ramp_params *params;
	struct wp_ramp_options *options;
	struct wp_cluster_plan plan;
	struct wp_measure_targets targets;
	struct wp_cluster **clusters; /* one for each target; NULL where it failed */
	struct wp_ramp_server *servers;
	struct wp_measures measures;
	const char *label; /* of the target whose tables are being made */
};

/* ---- the command line ------------------------------------------------------------------------ */

static int refuse(struct wp_err *err, const char *option, const char *why)
{
	return wp_fail(err, WP_E_USAGE, 0, "option %s %s", option, why);
}

static int check_without_targets(const struct ramp_params *params, struct wp_err *err)
{
	const char *lonely = params->base               ? "--base"
			     : params->is_whole         ? "--whole"
			     : params->run_as           ? "--run-as"
			     : params->bindir           ? "--bindir"
			     : params->settings.count   ? "--set"
			     : params->common.is_kept   ? "--keep"
			     : params->common.is_forced ? "--force"
							: NULL;

	if (lonely)
		return refuse(err, lonely, "is for throwaway servers, which need a target");
	if (params->is_initialize)
		return 0;
	if (params->init_steps || params->is_replacing || params->has_foreign_keys ||
		params->partitions || params->is_server_side || params->is_unlogged ||
		params->fillfactor != 100)
		return wp_fail(err, WP_E_USAGE, 0,
			"some of the specified options can only be used in initialization (-i) "
			"mode");
	return 0;
}

int wp_ramp_check_place(const struct ramp_params *params, size_t target_count, struct wp_err *err)
{
	const char *running = params->dbname ? "-d"
			      : params->host ? "-h"
			      : params->port ? "-p"
			      : params->user ? "-U"
					     : NULL;

	if (!target_count)
		return check_without_targets(params, err);
	if (running)
		return refuse(err, running,
			"is for a server that runs already, targets get one of their own");
	if (params->is_initialize || params->init_steps || params->is_replacing)
		return refuse(err,
			params->is_initialize ? "-i"
			: params->init_steps  ? "-I"
					      : "--replace-tables",
			"is for a server that runs already, on targets tables are made anyway");
	if (params->partitions == 0 && strcmp(params->partition_method, "range") != 0)
		return wp_fail(err, WP_E_USAGE, 0,
			"--partition-method requires greater than zero --partitions");
	return 0;
}

/* ---- measuring ------------------------------------------------------------------------------- */

static void tell_duration(struct wp_run *run, const struct wp_ramp_options *options, size_t servers)
{
	int64_t each_ns = run->time_ns + options->loop.warmup_ns + 300 * WP_NS_PER_MS;
	int64_t expected_ns =
		each_ns * run->rounds * (int64_t)options->client_count * (int64_t)servers;
	char text[32];

	if (!options->loop.transactions && expected_ns > LONG_RUN_NS)
		wp_run_tell(run, "note", "this will take about %s",
			wp_format_duration(expected_ns, text, sizeof(text)));
}

int wp_ramp_measure(struct wp_run *run, const struct wp_ramp_options *options, size_t servers,
	struct wp_measures *measures, struct wp_err *err)
{
	int rc;

	tell_duration(run, options, servers);
	rc = wp_rounds_run(run, measures, err);
	wp_ramp_fill(run, measures);
	wp_rounds_fill(run, measures);
	return rc;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Clients of one branch wait for each other's row and not for the log; so as many branches. */
static void settle_scale(struct ramp_targets *r)
{
	struct wp_ramp_options *options = r->options;
	int64_t most = wp_workload_has_hot_rows(options->workload) ? SCALE_MOST : SCALE_COLD;
	char text[32];

	if (options->is_scale_given)
		return;
	options->is_scale_given = true;
	options->scale = r->plan.clients_most < most ? r->plan.clients_most : most;
	(void)snprintf(text, sizeof(text), "%" PRId64, options->scale);
	wp_result_set_parameter(r->run->result, "scale", text, WP_KIND_TEXT, "default");
}

static int check_room(struct ramp_targets *r, const char *directory, size_t servers,
	const char *hint, struct wp_err *err)
{
	int64_t needed = (r->options->scale * SCALE_BYTES + DATA_BYTES) * (int64_t)servers;
	struct statvfs info;
	int64_t free_bytes;
	char text[32];
	char free_text[32];
	int rc = wp_os_statvfs(r->run->os, directory, &info);

	if (rc)
		return wp_fail(
			err, WP_E_SYS, -rc, "could not read the free space of \"%s\"", directory);
	free_bytes = (int64_t)(info.f_bavail * info.f_frsize);
	if (info.f_blocks == 0 || free_bytes >= needed)
		return 0;
	rc = wp_fail(err, WP_E_NOSPACE, ENOSPC,
		"could not make room for the data of %zu server%s in \"%s\"", servers,
		servers == 1 ? "" : "s", directory);
	wp_err_detail(err,
		"%" PRId64 " bytes (%s) are needed at scale %" PRId64 ", %" PRId64
		" bytes (%s) are free.",
		needed, wp_format_size(needed, text, sizeof(text)), r->options->scale, free_bytes,
		wp_format_size(free_bytes, free_text, sizeof(free_text)));
	wp_err_hint(err, "%s", hint);
	return rc;
}

/* Told once for all, before the first of them fails half-way. */
static int check_base_room(struct ramp_targets *r, struct wp_err *err)
{
	if (r->plan.is_whole)
		return 0;
	return check_room(r, r->plan.place, r->targets.open_count,
		"Name another directory with --base, or a smaller scale with -s.", err);
}

static void show_rows(void *ctx, int64_t done, int64_t total)
{
	struct ramp_targets *r = ctx;
	char label[160];

	(void)snprintf(label, sizeof(label), "making tables on %s", r->label);
	if (r->run->progress)
		r->run->progress(r->run->ctx, label, done, total);
}

static int make_tables(struct ramp_targets *r, const struct wp_conn *conn, struct wp_err *err)
{
	char *steps = wp_ramp_init_steps(r->params);
	struct wp_init_options options =
		wp_ramp_init_options(r->run, r->params, steps, r->options->scale);
	struct wp_session *session = NULL;
	struct wp_init_times times;
	int rc = wp_session_open(r->run->os, conn, &session, err);

	options.progress = show_rows;
	options.ctx = r;
	if (!rc)
		rc = wp_init_run(r->run->os, session, &options, &times, err);
	wp_session_close(session);
	free(steps);
	return rc;
}

/* ---- servers --------------------------------------------------------------------------------- */

/* A started server with its tables, and the steps on it. */
static int fill_server(struct ramp_targets *r, size_t index, struct wp_err *err)
{
	struct wp_cluster *cluster = r->clusters[index];
	struct wp_ramp_server *server = &r->servers[index];
	struct wp_target *target = &r->targets.items[index];
	int rc;

	server->target = target;
	server->cluster = cluster;
	server->conn.dbname = cluster->conninfo;
	if (!wp_target_cluster_record(r->run, target, cluster))
		server->wal_note = "fsync does not reach the file";
	r->label = target->label;
	rc = make_tables(r, &server->conn, err);
	if (!rc)
		rc = wp_ramp_plan(r->run, server, r->options, &r->measures, err);
	return rc;
}

static int bring_up(struct ramp_targets *r, size_t index, struct wp_err *err)
{
	struct wp_target *target = &r->targets.items[index];
	int rc = 0;

	if (r->plan.is_whole)
		rc = check_room(r, target->dir, 1,
			"Free some space, make an image larger with size=, or name a smaller scale "
			"with -s.",
			err);
	if (rc)
		wp_err_prefix(err, "target \"%s\": ", target->label);
	else
		rc = wp_target_cluster(r->run, &r->plan, target, &r->clusters[index], err);
	if (rc)
		return rc;
	rc = wp_cluster_start(r->clusters[index], err);
	if (!rc)
		rc = fill_server(r, index, err);
	if (rc && rc != -WP_E_STOPPED) {
		rc = wp_cluster_explain(r->clusters[index], rc, err);
		wp_err_prefix(err, "target \"%s\": ", target->label);
		(void)wp_cluster_stop(r->clusters[index], NULL); /* the failure is told */
	}
	return rc;
}

/* Only a signal is an error here: a failure is told and leaves the others alone. */
static int try_one(struct ramp_targets *r, size_t index, struct wp_err *err)
{
	struct wp_target *target = &r->targets.items[index];
	struct wp_err failure = { 0 };
	int rc = target->is_open ? bring_up(r, index, &failure) : 0;

	if (rc == -WP_E_STOPPED) {
		*err = failure;
		return rc;
	}
	if (rc)
		wp_measure_targets_fail(r->run, &r->targets, index, &failure);
	if (target->is_open)
		return 0;
	r->servers[index].target = target;
	wp_ramp_plan_absent(r->run, &r->servers[index], r->options,
		target->absent ? target->absent : "not measured", &r->measures);
	return 0;
}

static int bring_all_up(struct ramp_targets *r, struct wp_err *err)
{
	int rc = 0;

	r->clusters = wp_xcalloc(r->targets.count, sizeof(struct wp_cluster *));
	r->servers = wp_xcalloc(r->targets.count, sizeof(*r->servers));
	for (size_t i = 0; i < r->targets.count && !rc; i++)
		rc = try_one(r, i, err);
	return rc ? rc : wp_measure_targets_none(r->run, &r->targets, err);
}

static void tell_servers(struct ramp_targets *r)
{
	wp_run_tell(r->run, "note", "PostgreSQL %s as user \"%s\", %s, tables of scale %" PRId64,
		r->plan.binaries.version, r->plan.user.name,
		r->plan.is_whole ? "all on the target" : "pg_wal on the target, data elsewhere",
		r->options->scale);
}

/* Before the time is spent: too few rounds for so many pairs can show nothing at all. */
static void tell_rounds(struct ramp_targets *r)
{
	size_t ranked = 0;
	size_t pairs;
	size_t needed;

	for (size_t i = 0; i < r->targets.count; i++)
		ranked += r->targets.items[i].is_open && !r->servers[i].unranked;
	if (ranked < 2)
		return;
	pairs = ranked * (ranked - 1) / 2;
	/* A fifth of the rounds may be dropped, but for six of them. */
	needed = wp_pairs_rounds_needed(pairs);
	for (size_t least = needed; needed - needed / 5 < least && least > WP_ROUNDS_MINIMUM;)
		needed++;
	if (r->run->rounds < (int64_t)needed && r->run->rounds >= WP_ROUNDS_MINIMUM)
		wp_run_tell(r->run, "note",
			"%zu targets make %zu pairs, of which fewer than %zu rounds may show no "
			"difference, however large: --rounds=%zu",
			ranked, pairs, needed, needed);
}

static int run_all(
	struct ramp_targets *r, const char *const *words, size_t count, struct wp_err *err)
{
	int rc = wp_cluster_plan_prepare(r->run, &r->plan, err);

	if (rc)
		return rc;
	wp_leftovers_tell_in(r->run, r->plan.place);
	rc = wp_measure_targets_open_on(r->run, words, count, 0, r->plan.place, &r->targets, err);
	if (rc)
		return rc;
	settle_scale(r);
	rc = check_base_room(r, err);
	if (!rc) {
		tell_servers(r);
		wp_cluster_plan_fit(r->run, &r->plan, r->targets.items, r->targets.count);
		rc = bring_all_up(r, err);
	}
	if (rc)
		return rc;
	tell_rounds(r);
	return wp_ramp_measure(r->run, r->options, r->targets.open_count, &r->measures, err);
}

static void release(struct ramp_targets *r)
{
	wp_measures_release(&r->measures);
	for (size_t i = 0; r->servers && i < r->targets.count; i++) {
		wp_ramp_server_release(&r->servers[i]);
		wp_cluster_release(r->clusters[i]);
	}
	free(r->servers);
	free(r->clusters);
	wp_measure_targets_release(&r->targets);
	wp_cluster_plan_release(&r->plan);
}

int wp_ramp_targets(struct wp_run *run, const struct ramp_params *params, const char *const *words,
	size_t count, struct wp_ramp_options *options, struct wp_err *err)
{
	struct ramp_targets r = { .run = run, .params = params, .options = options };
	int rc;

	r.plan = (struct wp_cluster_plan){ .bindir = params->bindir,
		.run_as = params->run_as,
		.base = params->base,
		.is_whole = params->is_whole,
		.settings = params->settings.values,
		.setting_count = params->settings.count,
		.clients_most = wp_int_list_most(options->clients, options->client_count) };
	rc = run_all(&r, words, count, err);
	if (rc == -WP_E_STOPPED)
		run->result->is_complete = false;
	release(&r);
	return rc;
}
