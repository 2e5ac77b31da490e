/* SPDX-License-Identifier: PostgreSQL */
#include "cli/commands.h"
#include "cli/ramp_init.h"
#include "cli/ramp_targets.h"
#include "walprobe/mem.h"
#include "walprobe/units.h"

/* a server that runs already, as a target of the rounds */
struct running {
	struct wp_target_spec spec;
	struct wp_target target;
	struct wp_ramp_server server;
};

/* A connection string may hold a password, so only a plain name becomes the label. */
static const char *label_of(const char *dbname)
{
	return dbname && *dbname && !strchr(dbname, '=') && !strstr(dbname, "://") ? dbname
										   : "server";
}

static void init_running(struct running *running, const struct ramp_params *params)
{
	memset(running, 0, sizeof(*running));
	running->spec.label = wp_xstrdup(label_of(params->dbname));
	running->target.spec = &running->spec;
	running->target.label = running->spec.label;
	running->target.is_open = true;
	running->server.target = &running->target;
	running->server.conn = wp_ramp_conn(params);
}

static void release_running(struct running *running)
{
	wp_ramp_server_release(&running->server);
	wp_stack_release(&running->target.stack);
	free(running->spec.label);
}

/* Where its pg_wal can be seen from here, flushes are counted beside its syncs. */
static void find_stack(struct wp_run *run, struct running *running)
{
	const struct wp_server_facts *facts = &running->server.facts;
	struct wp_target_info *info = wp_result_add_target(run->result, running->target.label);
	struct wp_stack stack = { 0 };

	if (!running->server.postmaster || !facts->wal_directory ||
		wp_stack_find(run->os, NULL, facts->wal_directory, &stack, NULL))
		return;
	running->target.stack = stack;
	wp_stack_describe(&running->target.stack, facts->wal_directory, info);
}

static void print_progress(void *ctx, const struct wp_loop_progress *progress)
{
	const struct wp_ramp_options *options = ctx;
	const struct wp_loop_counts *counts = &progress->interval;
	double seconds = (double)progress->interval_ns / (double)WP_NS_PER_S;
	double count = (double)counts->transactions;
	double mean_ms = count > 0 ? (double)counts->latency_sum_ns / count / 1e6 : 0;
	double variance =
		count > 0 ? counts->latency_square_sum / count / 1e12 - mean_ms * mean_ms : 0;

	fprintf(stderr, "progress: %.1f s, %.1f tps, ",
		(double)progress->since_start_ns / (double)WP_NS_PER_S, count / seconds);
	if (count > 0)
		fprintf(stderr, "lat %.3f ms stddev %.3f", mean_ms,
			variance > 0 ? __builtin_sqrt(variance) : 0.0);
	else
		fprintf(stderr, "stalled %.1f s",
			(double)progress->silent_ns / (double)WP_NS_PER_S);
	fprintf(stderr, ", %" PRId64 " failed",
		counts->serialization_failures + counts->deadlock_failures);
	if (options->loop.rate_per_s > 0) {
		fprintf(stderr, ", lag %.3f ms",
			count > 0 ? (double)counts->lag_sum_ns / count / 1e6 : 0.0);
		if (options->loop.latency_limit_ns)
			fprintf(stderr, ", %" PRId64 " skipped", counts->skipped);
	}
	if (options->loop.max_tries != 1)
		fprintf(stderr, ", %" PRId64 " retried, %" PRId64 " retries", counts->retried,
			counts->retries);
	fputc('\n', stderr);
}

static int run_running(struct wp_run *run, const struct ramp_params *params,
	const struct wp_ramp_options *options, struct wp_err *err)
{
	struct wp_measures measures = { .count = 0 };
	struct running running;
	int rc;

	init_running(&running, params);
	rc = wp_ramp_plan(run, &running.server, options, &measures, err);
	if (!rc) {
		find_stack(run, &running);
		rc = wp_ramp_measure(run, options, 1, &measures, err);
	}
	wp_measures_release(&measures);
	release_running(&running);
	return rc;
}

static int execute(struct wp_run *run, const void *raw_params, const char *const *operands,
	size_t operand_count, struct wp_err *err)
{
	const struct ramp_params *params = raw_params;
	struct wp_ramp_options options = { .workload = NULL };
	int rc = wp_ramp_check_place(params, operand_count, err);

	if (!rc && params->is_initialize)
		return wp_ramp_init(run, params, err);
	if (!rc)
		rc = wp_ramp_options_settle(run, params, &options, err);
	if (!rc) {
		options.progress = params->progress_ns ? print_progress : NULL;
		options.progress_ctx = &options;
		rc = operand_count
			     ? wp_ramp_targets(run, params, operands, operand_count, &options, err)
			     : run_running(run, params, &options, err);
	}
	wp_ramp_options_release(&options);
	return rc;
}

static const char *const formats[] = { "text", "json", "csv", "html", "pgbench", NULL };

const struct wp_command wp_cmd_ramp = {
	.name = "ramp",
	.operands = "[TARGET...]",
	.summary =
		"ramp up clients that run transactions, on a server or a throwaway one per target",
	.epilogue = "Each TARGET gets a throwaway PostgreSQL server with pg_wal on it, which goes "
		    "away at\n"
		    "the end. Without one the ramp runs on a server that runs already.\n"
		    "\n"
		    "Examples:\n"
		    "  walprobe ramp -c 1-8 -t 32 image:ext2 image:ext4 /mnt/candidate\n"
		    "  walprobe ramp -i -s 100 -d mydb\n"
		    "  walprobe ramp -c 1-8 -T 30 -d mydb\n"
		    "  walprobe ramp -c 1,8,64 -S -M simple -h /run/postgresql -d mydb\n",
	.tables = wp_ramp_tables,
	.formats = formats,
	.params_size = sizeof(struct ramp_params),
	.operands_minimum = 0,
	.operands_maximum = 1000,
	.execute = execute,
};
