/* SPDX-License-Identifier: PostgreSQL */
#include "cli/calibrate.h"
#include "cli/commands.h"
#include "cli/measure_targets.h"
#include "walprobe/leftovers.h"
#include "walprobe/mem.h"
#include "walprobe/probe_sync.h"
#include "walprobe/units.h"

#define SPARE_CLIENTS 4

struct predict_params {
	struct wp_common common;
	const char *like;
	bool has_check;
	const char *builtin;
	const char *clients;
	int64_t scale;
	int64_t commit_delay_ns;
	int64_t commit_siblings;
	int64_t major;
	const char *memory;
	const char *base;
	const char *run_as;
	const char *bindir;
};

#define F(field) offsetof(struct predict_params, field)

static const char *const builtins[] = { "tpcb-like", "simple-update", "commit-only", NULL };

static const struct wp_opt predict_opts[] = {
	{ "like", 0, WP_OPT_TEXT, "FILE", F(like), NULL, 0, 0, NULL,
		"calibrate from this document of ramp or predict (default: with a throwaway server "
		"whose pg_wal is in memory)" },
	{ "check", 0, WP_OPT_FLAG, NULL, F(has_check), NULL, 0, 0, NULL,
		"run a real server on the same targets too, and tell how near the prediction "
		"comes" },
	{ "builtin", 'b', WP_OPT_CHOICE, "NAME", F(builtin), "tpcb-like", 0, 0, builtins,
		"built-in script to calibrate with; a document has its own" },
	{ "clients", 'c', WP_OPT_TEXT, "LIST", F(clients), "1,2,4,8", 0, 0, NULL,
		"numbers of clients, as in 1-8 or 1,2,4,8; up to 1000" },
	{ "scale", 's', WP_OPT_INT, "NUM", F(scale), "0", 0, INT32_MAX, NULL,
		"scale of pgbench's tables; 0 for the document's, or 10" },
	{ "commit-delay", 0, WP_OPT_DURATION_US, "DURATION", F(commit_delay_ns), "0", 0,
		100 * WP_NS_PER_MS, NULL, "commit_delay; a bare number counts microseconds" },
	{ "commit-siblings", 0, WP_OPT_INT, "NUM", F(commit_siblings), "5", 0, 1000, NULL,
		"commit_siblings" },
	{ "pg-version", 0, WP_OPT_INT, "NUM", F(major), "0", 0, 99, NULL,
		"major version to predict for; another one than the calibration's is refused" },
	{ "memory", 0, WP_OPT_TEXT, "DIR", F(memory), "/dev/shm", 0, 0, NULL,
		"directory in memory for calibrating" },
	{ "base", 0, WP_OPT_TEXT, "DIR", F(base), NULL, 0, 0, NULL,
		"directory for the data and sockets of throwaway servers (default $TMPDIR, /tmp "
		"or /var/tmp)" },
	{ "run-as", 0, WP_OPT_TEXT, "USER", F(run_as), NULL, 0, 0, NULL,
		"user to run throwaway servers as, for root (default postgres)" },
	{ "bindir", 0, WP_OPT_TEXT, "DIR", F(bindir), NULL, 0, 0, NULL,
		"directory of initdb and postgres (default: PATH, pg_config, the distribution's, "
		"newest first)" },
	{ .name = NULL },
};

/* everything of one prediction */
struct prediction {
	struct wp_run *run;
	const struct predict_params *params;
	struct wp_predict_options options;
	struct wp_sync_options sync;
	struct wp_calibration calibration;
	struct wp_cluster_plan plan;
	bool has_plan; /* a server will be needed */
	struct wp_measure_targets targets;
	struct wp_predict_server **servers; /* one for each target; NULL where there is none */
	struct wp_measures measures;
};

static int read_options(struct prediction *p, struct wp_err *err)
{
	const struct predict_params *params = p->params;
	int rc = wp_method_parse_list(params->common.method, &p->options.methods, err);

	if (rc)
		return rc;
	rc = wp_parse_int_list(params->clients, 1, WP_WAL_CLIENTS_MAXIMUM, p->options.clients,
		WP_PREDICT_CLIENTS_CAPACITY, &p->options.client_count, err);
	if (rc) {
		wp_err_prefix(err, "option --clients: ");
		return rc;
	}
	p->options.commit_delay_ns = params->commit_delay_ns;
	p->options.commit_siblings = params->commit_siblings;
	p->options.scale = params->scale;
	p->sync = (struct wp_sync_options){ .methods = p->options.methods,
		.variants = 1u << WP_SYNC_OVERWRITE,
		.direct = WP_SYNC_DIRECT_OFF,
		.file_bytes = INT64_C(16) << 20 };
	return 0;
}

static int prepare_servers(struct prediction *p, struct wp_err *err)
{
	p->has_plan = p->params->has_check || !p->params->like;
	if (!p->has_plan)
		return 0;
	p->plan = (struct wp_cluster_plan){ .bindir = p->params->bindir,
		.run_as = p->params->run_as,
		.base = p->params->base,
		.clients_most = wp_int_list_most(p->options.clients, p->options.client_count) +
				SPARE_CLIENTS };
	return wp_cluster_plan_prepare(p->run, &p->plan, err);
}

static int open_targets(
	struct prediction *p, const char *const *words, size_t count, struct wp_err *err)
{
	int64_t needed_bytes = wp_predict_needed_bytes() + wp_sync_needed_bytes(&p->sync);

	if (p->has_plan)
		wp_leftovers_tell_in(p->run, p->plan.place);
	return wp_measure_targets_open_on(p->run, words, count, needed_bytes,
		p->has_plan ? p->plan.place : NULL, &p->targets, err);
}

static int calibrate(struct prediction *p, struct wp_err *err)
{
	const struct wp_calibrate_options options = { .like = p->params->like,
		.memory = p->params->memory,
		.builtin = p->params->builtin,
		.scale = p->params->scale,
		.major = p->params->major ? p->params->major
			 : p->has_plan    ? p->plan.binaries.major
					  : 0,
		.clients = p->options.clients,
		.client_count = p->options.client_count,
		.plan = &p->plan };
	int rc = wp_calibrate(p->run, &options, &p->calibration, err);

	p->options.calibration = &p->calibration;
	/* Where a server runs beside the model, both start at a checkpoint. */
	if (!p->params->has_check && p->params->like)
		p->options.time_ns = p->calibration.time_ns;
	return rc;
}

static int plan_target(struct prediction *p, size_t index, struct wp_err *err)
{
	struct wp_target *target = &p->targets.items[index];
	const struct wp_predict_server_options options = { .shape = p->calibration.shape,
		.scale = p->options.scale ? p->options.scale : p->calibration.scale,
		.clients = p->options.clients,
		.client_count = p->options.client_count,
		.time_ns = p->run->time_ns };
	int rc = wp_sync_plan(p->run, target, &p->sync, &p->measures, err);

	if (!rc && p->params->has_check && target->is_open)
		rc = wp_predict_server_start(
			p->run, &p->plan, target, &options, &p->servers[index], err);
	if (rc)
		return rc;
	wp_predict_plan(p->run, target, &p->options, &p->measures);
	if (p->servers[index])
		wp_predict_check_plan(p->servers[index], &p->options, &p->measures);
	return 0;
}

static int plan(struct prediction *p, struct wp_err *err)
{
	p->servers = wp_xcalloc(p->targets.count, sizeof(struct wp_predict_server *));
	wp_cluster_plan_fit(p->run, &p->plan, p->targets.items, p->targets.count);
	for (size_t i = 0; i < p->targets.count; i++) {
		struct wp_err failure = { 0 };
		int rc = plan_target(p, i, &failure);

		if (rc == -WP_E_STOPPED) {
			*err = failure;
			return rc;
		}
		if (rc)
			wp_measure_targets_fail(p->run, &p->targets, i, &failure);
	}
	return wp_measure_targets_none(p->run, &p->targets, err);
}

static int measure(struct prediction *p, struct wp_err *err)
{
	int rc;

	wp_measure_targets_tell_duration(p->run, &p->measures);
	rc = wp_rounds_run(p->run, &p->measures, err);
	wp_predict_fill(p->run, &p->options, &p->measures);
	wp_sync_fill(p->run, &p->measures);
	wp_rounds_fill(p->run, &p->measures);
	return rc;
}

static void release(struct prediction *p)
{
	wp_measures_release(&p->measures);
	for (size_t i = 0; p->servers && i < p->targets.count; i++)
		wp_predict_server_free(p->servers[i]);
	free(p->servers);
	wp_measure_targets_release(&p->targets);
	wp_calibration_release(&p->calibration);
	wp_cluster_plan_release(&p->plan);
}

static int execute(struct wp_run *run, const void *params, const char *const *operands,
	size_t operand_count, struct wp_err *err)
{
	struct prediction p = { .run = run, .params = params };
	int rc = read_options(&p, err);

	if (!rc)
		rc = prepare_servers(&p, err);
	if (!rc)
		rc = open_targets(&p, operands, operand_count, err);
	if (!rc)
		rc = wp_measure_targets_none(run, &p.targets, err);
	if (!rc)
		rc = calibrate(&p, err);
	if (!rc)
		rc = plan(&p, err);
	if (!rc)
		rc = measure(&p, err);
	if (rc == -WP_E_STOPPED)
		run->result->is_complete = false;
	release(&p);
	return rc;
}

static const struct wp_opt *const tables[] = { predict_opts, wp_method_opts, wp_common_opts,
	wp_output_opts, NULL };

static const struct wp_default defaults[] = { { "method", "fdatasync" }, { "time", "1s" },
	{ NULL, NULL } };

const struct wp_command wp_cmd_predict = {
	.name = "predict",
	.operands = "TARGET...",
	.summary = "transactions a second that PostgreSQL would do there, without PostgreSQL on it",
	.epilogue = "The model of pg_wal runs with the load of a real server, which is measured\n"
		    "once on this machine with pg_wal in memory. --check shows how near it comes.\n"
		    "\n"
		    "Examples:\n"
		    "  walprobe ramp -c 1,2,4,8 -s 10 --save ramp.json /dev/shm\n"
		    "  walprobe predict --like ramp.json /mnt/a /mnt/b\n"
		    "  walprobe predict --method all --clients 8 --commit-delay 500 /mnt/a\n"
		    "  walprobe predict --check image:ext4 image:xfs\n",
	.tables = tables,
	.defaults = defaults,
	.params_size = sizeof(struct predict_params),
	.operands_minimum = 1,
	.operands_maximum = 1000,
	.execute = execute,
};
