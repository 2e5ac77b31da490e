/* SPDX-License-Identifier: PostgreSQL */
#include "cli/ramp_options.h"
#include "walprobe/mem.h"
#include "walprobe/units.h"

#include <math.h>
#include <stdlib.h>

#define STANDARD_DURATION_NS (5 * WP_NS_PER_S)
#define ROUNDS_BY_COUNT 10
#define ROUNDS_BY_TIME 3
#define TRANSACTIONS_2001 32

struct wp_conn wp_ramp_conn(const struct ramp_params *params)
{
	return (struct wp_conn){
		.dbname = params->dbname,
		.host = params->host,
		.port = params->port,
		.user = params->user,
	};
}

static int parse_real(const char *name, const char *text, double above, double most, double *out,
	struct wp_err *err)
{
	char *end;
	double value = strtod(text, &end);

	if (!*text || *end || !isfinite(value))
		return wp_fail(
			err, WP_E_USAGE, 0, "option --%s: \"%s\" is not a number", name, text);
	if (value <= above || value > most)
		return wp_fail(err, WP_E_USAGE, 0,
			"option --%s: \"%s\" is out of range: above %g to %g is allowed", name,
			text, above, most);
	*out = value;
	return 0;
}

/* ---- scripts --------------------------------------------------------------------------------- */

static int make_workload(const struct wp_os *os, const struct ramp_params *params,
	struct wp_ramp_options *out, struct wp_err *err)
{
	size_t most = params->builtins.count + params->files.count + 3;
	struct wp_workload_part *parts = wp_xcalloc(most, sizeof(*parts));
	struct wp_workload_options options = {
		.protocol = params->is_like_2001 ? "simple" : params->protocol,
		.is_pipelined = params->is_pipelined,
		.parts = parts,
		.defines = params->defines.values,
		.define_count = params->defines.count,
	};
	int rc;

	for (size_t i = 0; i < params->builtins.count; i++)
		parts[options.part_count++].text = params->builtins.values[i];
	for (size_t i = 0; i < params->files.count; i++)
		parts[options.part_count++] = (struct wp_workload_part){ .is_file = true,
			.text = params->files.values[i] };
	if (params->is_select_only)
		parts[options.part_count++].text = "select-only";
	if (params->is_simple_update)
		parts[options.part_count++].text = "simple-update";
	if (options.part_count == 0)
		parts[options.part_count++].text = "tpcb-like";
	rc = wp_workload_new(os, &options, &out->workload, err);
	free(parts);
	return rc;
}

static int settle_scale(
	const struct ramp_params *params, struct wp_ramp_options *out, struct wp_err *err)
{
	out->scale = 1;
	if (!params->scale)
		return 0;
	if (wp_parse_int(params->scale, &out->scale, err)) {
		wp_err_prefix(err, "option --scale: ");
		return -WP_E_USAGE;
	}
	if (out->scale < 1 || out->scale > INT32_MAX)
		return wp_fail(err, WP_E_USAGE, 0,
			"option --scale: \"%s\" is out of range: 1 to 2147483647 are allowed",
			params->scale);
	out->is_scale_given = true;
	return 0;
}

/* ---- steps ----------------------------------------------------------------------------------- */

static int settle_clients(
	const struct ramp_params *params, struct wp_ramp_options *out, struct wp_err *err)
{
	const char *text = params->clients ? params->clients : params->is_like_2001 ? "1-8" : "1";
	int rc = wp_parse_int_list(text, 1, WP_LOOP_CLIENTS_MAX, out->clients, WP_RAMP_STEPS_MAX,
		&out->client_count, err);

	if (rc)
		wp_err_prefix(err, "option -c/--client: ");
	return rc;
}

static int settle_length(
	const struct ramp_params *params, struct wp_loop_options *loop, struct wp_err *err)
{
	if (params->transactions && params->duration_ns)
		return wp_fail(err, WP_E_USAGE, 0,
			"specify either a number of transactions (-t) or a duration (-T), not "
			"both");
	loop->transactions = params->transactions;
	loop->duration_ns = params->duration_ns;
	if (params->is_like_2001 && !loop->duration_ns && !loop->transactions)
		loop->transactions = TRANSACTIONS_2001;
	if (!loop->transactions && !loop->duration_ns)
		loop->duration_ns = STANDARD_DURATION_NS;
	return 0;
}

static int settle_tries(
	const struct ramp_params *params, struct wp_loop_options *loop, struct wp_err *err)
{
	loop->max_tries = params->max_tries;
	loop->latency_limit_ns = params->latency_limit_ns;
	if (!params->max_tries && !params->latency_limit_ns && loop->transactions)
		return wp_fail(err, WP_E_USAGE, 0,
			"an unlimited number of transaction tries can only be used with "
			"--latency-limit or a duration (-T)");
	if (params->rate)
		return parse_real("rate", params->rate, 0, 1e9, &loop->rate_per_s, err);
	return 0;
}

static int settle_log(
	const struct ramp_params *params, struct wp_loop_options *loop, struct wp_err *err)
{
	const char *lonely = params->log_prefix      ? "log-prefix"
			     : params->sampling_rate ? "sampling-rate"
			     : params->aggregate_ns  ? "aggregate-interval"
						     : NULL;

	if (!params->is_logging && lonely)
		return wp_fail(err, WP_E_USAGE, 0,
			"--%s is allowed only when logging transactions (-l)", lonely);
	if (!params->is_logging)
		return 0;
	if (params->sampling_rate && params->aggregate_ns)
		return wp_fail(err, WP_E_USAGE, 0,
			"log sampling (--sampling-rate) and aggregation (--aggregate-interval) "
			"cannot be used at the same time");
	if (params->aggregate_ns % WP_NS_PER_S)
		return wp_fail(err, WP_E_USAGE, 0, "--aggregate-interval must be whole seconds");
	if (params->aggregate_ns && loop->duration_ns && params->aggregate_ns > loop->duration_ns)
		return wp_fail(err, WP_E_USAGE, 0,
			"number of seconds for aggregation must not be higher than the duration");
	if (params->aggregate_ns && loop->duration_ns % params->aggregate_ns)
		return wp_fail(err, WP_E_USAGE, 0,
			"duration must be a multiple of the aggregation interval");
	loop->log.prefix = params->log_prefix ? params->log_prefix : "walprobe_log";
	loop->log.aggregate_ns = params->aggregate_ns;
	loop->log.is_detailed = params->is_failures_detailed;
	if (params->sampling_rate)
		return parse_real("sampling-rate", params->sampling_rate, 0, 1,
			&loop->log.sampling_rate, err);
	return 0;
}

static void settle_maintenance(const struct ramp_params *params, struct wp_ramp_options *out)
{
	bool has_small =
		wp_workload_has_builtin(out->workload) && wp_workload_writes(out->workload);

	out->has_checkpoint = !params->is_no_checkpoint;
	out->vacuum = params->is_vacuum_all                ? WP_RAMP_VACUUM_ALL
		      : has_small && !params->is_no_vacuum ? WP_RAMP_VACUUM_SMALL
							   : WP_RAMP_VACUUM_NONE;
}

/* What the document says is what was in force. */
static void record(
	struct wp_run *run, const struct ramp_params *params, const struct wp_ramp_options *options)
{
	const char *source = params->is_like_2001 ? "--like-2001" : "default";
	char text[64];

	if (!params->clients)
		wp_result_set_parameter(run->result, "client", params->is_like_2001 ? "1-8" : "1",
			WP_KIND_TEXT, source);
	if (!params->transactions && options->loop.transactions) {
		(void)snprintf(text, sizeof(text), "%" PRId64, options->loop.transactions);
		wp_result_set_parameter(run->result, "transactions", text, WP_KIND_INT, source);
	}
	if (!params->duration_ns && options->loop.duration_ns)
		wp_result_set_parameter(run->result, "time", "5s", WP_KIND_TEXT, "default");
	if (params->is_like_2001)
		wp_result_set_parameter(run->result, "protocol", "simple", WP_KIND_TEXT, source);
	(void)snprintf(text, sizeof(text), "%" PRId64, run->rounds);
	wp_result_set_parameter(run->result, "rounds", text, WP_KIND_INT,
		params->common.rounds ? "option" : "default");
}

/* Who reads pgbench's output counts on one run of a step. */
static int64_t rounds_of(const struct ramp_params *params, const struct wp_loop_options *loop)
{
	if (params->common.rounds)
		return params->common.rounds;
	if (strcmp(params->common.format, "pgbench") == 0)
		return 1;
	return loop->transactions ? ROUNDS_BY_COUNT : ROUNDS_BY_TIME;
}

int wp_ramp_options_settle(struct wp_run *run, const struct ramp_params *params,
	struct wp_ramp_options *out, struct wp_err *err)
{
	struct wp_loop_options *loop = &out->loop;
	int rc = settle_clients(params, out, err);

	if (!rc)
		rc = settle_length(params, loop, err);
	if (!rc)
		rc = settle_tries(params, loop, err);
	if (!rc)
		rc = settle_log(params, loop, err);
	if (!rc)
		rc = settle_scale(params, out, err);
	if (!rc)
		rc = make_workload(run->os, params, out, err);
	if (rc)
		return rc;
	loop->threads = params->threads;
	loop->warmup_ns = params->common.warmup_ns;
	loop->has_untimed = !params->is_no_untimed && !params->is_like_2001;
	loop->is_reconnecting = params->is_reconnecting;
	loop->is_keep_going = params->is_keep_going;
	loop->has_wal_timing = true;
	loop->is_detailed = params->is_detailed;
	loop->stall_limit_ns = params->stall_limit_ns;
	loop->seed = (uint64_t)params->random_seed;
	loop->progress_ns = params->progress_ns;
	settle_maintenance(params, out);
	run->rounds = rounds_of(params, loop);
	run->time_ns = loop->transactions ? WP_NS_PER_S : loop->duration_ns;
	run->warmup_ns = 0; /* every round warms up by itself */
	record(run, params, out);
	return 0;
}

void wp_ramp_options_release(struct wp_ramp_options *options)
{
	wp_workload_free(options->workload);
	options->workload = NULL;
}
