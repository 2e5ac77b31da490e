/* SPDX-License-Identifier: PostgreSQL */
#include "cli/ramp_init.h"
#include "walprobe/mem.h"
#include "walprobe/units.h"

static const struct wp_column init_columns[] = {
	{ "step", "step", "", WP_KIND_TEXT, "What was done." },
	{ "time_ns", "time", "ns", WP_KIND_INT, "How long it took." },
};

static void show_rows(void *ctx, int64_t done, int64_t total)
{
	struct wp_run *run = ctx;
	char label[96];

	(void)snprintf(label, sizeof(label), "%" PRId64 " of %" PRId64 " rows", done, total);
	if (run->progress)
		run->progress(run->ctx, label, done, total);
}

char *wp_ramp_init_steps(const struct ramp_params *params)
{
	if (params->init_steps)
		return wp_xstrdup(params->init_steps);
	return wp_xasprintf("%st%svp%s", params->is_replacing ? "d" : "",
		params->is_server_side ? "G" : "g", params->has_foreign_keys ? "f" : "");
}

static int read_scale(const struct ramp_params *params, int64_t *scale, struct wp_err *err)
{
	int rc = 0;

	*scale = 1;
	if (params->scale)
		rc = wp_parse_int(params->scale, scale, err);
	if (!rc && (*scale < 1 || *scale > INT32_MAX))
		rc = wp_fail(err, WP_E_USAGE, 0,
			"\"%s\" is out of range: 1 to 2147483647 are allowed", params->scale);
	if (rc)
		wp_err_prefix(err, "option --scale: ");
	return rc;
}

static void fill(struct wp_run *run, const struct wp_init_times *times)
{
	const struct {
		const char *name;
		int64_t time_ns;
	} rows[] = {
		{ "drop tables", times->drop_ns },
		{ "create tables", times->create_ns },
		{ "generate rows", times->generate_ns },
		{ "vacuum", times->vacuum_ns },
		{ "primary keys", times->primary_keys_ns },
		{ "foreign keys", times->foreign_keys_ns },
	};
	struct wp_table *table = wp_result_table(run->result, "initialization", "Tables were made",
		init_columns, WP_COUNT(init_columns));

	for (size_t i = 0; i < WP_COUNT(rows); i++) {
		struct wp_row *row;

		if (!rows[i].time_ns)
			continue;
		row = wp_table_add_row(table);
		wp_row_text(row, "step", rows[i].name);
		wp_row_int(row, "time_ns", rows[i].time_ns);
	}
}

/* Options that only a run has are a mistake beside -i. */
static int refuse_run_options(const struct ramp_params *params, struct wp_err *err)
{
	if (params->clients || params->transactions || params->duration_ns || params->rate ||
		params->builtins.count || params->files.count || params->is_select_only ||
		params->is_simple_update || params->is_like_2001 || params->is_logging ||
		params->is_detailed || params->is_reconnecting || params->progress_ns)
		return wp_fail(err, WP_E_USAGE, 0,
			"some of the specified options cannot be used in initialization (-i) mode");
	if (params->partitions == 0 && strcmp(params->partition_method, "range") != 0)
		return wp_fail(err, WP_E_USAGE, 0,
			"--partition-method requires greater than zero --partitions");
	return 0;
}

struct wp_init_options wp_ramp_init_options(
	struct wp_run *run, const struct ramp_params *params, const char *steps, int64_t scale)
{
	return (struct wp_init_options){
		.steps = steps,
		.scale = scale,
		.fillfactor = params->fillfactor,
		.partitions = params->partitions,
		.is_hash = strcmp(params->partition_method, "hash") == 0,
		.is_unlogged = params->is_unlogged,
		.is_replacing = params->is_replacing,
		.progress = show_rows,
		.ctx = run,
	};
}

int wp_ramp_init(struct wp_run *run, const struct ramp_params *params, struct wp_err *err)
{
	struct wp_conn conn = wp_ramp_conn(params);
	char *steps = wp_ramp_init_steps(params);
	struct wp_init_options options = wp_ramp_init_options(run, params, steps, 1);
	struct wp_session *session = NULL;
	struct wp_init_times times;
	int rc = refuse_run_options(params, err);

	if (!rc)
		rc = read_scale(params, &options.scale, err);
	if (!rc)
		rc = wp_init_check(steps, err);
	if (!rc)
		rc = wp_session_open(run->os, &conn, &session, err);
	if (!rc)
		rc = wp_init_run(run->os, session, &options, &times, err);
	if (!rc)
		fill(run, &times);
	wp_session_close(session);
	free(steps);
	return rc;
}
