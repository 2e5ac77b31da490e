/* SPDX-License-Identifier: PostgreSQL */
#include "cli/append_options.h"
#include "cli/calibrate.h"
#include "cli/commands.h"
#include "cli/io_options.h"
#include "cli/measure_targets.h"
#include "walprobe/comparison.h"
#include "walprobe/mem.h"
#include "walprobe/probe_sync.h"
#include "walprobe/server_advice.h"

#define SERVER_LABEL "server"
#define IO_SIZE_BYTES (INT64_C(256) << 20)

struct compare_params {
	struct wp_common common;
	const char *append_method;
	struct wp_append_words append;
	const char *variant;
	const char *direct;
	const char *server;
	const char *like;
	const char *memory;
	int64_t margin_percent;
	bool is_full;
	bool has_io;
	bool has_no_twin;
};

#define F(field) offsetof(struct compare_params, field)

static const char *const direct_choices[] = { "auto", "on", "off", NULL };

static const struct wp_opt compare_opts[] = {
	{ "append-method", 0, WP_OPT_TEXT, "LIST", F(append_method), "fdatasync", 0, 0, NULL,
		"wal_sync_method names for the model of pg_wal, or all" },
	{ "clients", 'c', WP_OPT_TEXT, "LIST", F(append.clients), "1,8", 0, 0, NULL,
		"numbers of committers for the model of pg_wal, as in 1-8 or 1,2,4,8" },
	{ "variant", 0, WP_OPT_TEXT, "LIST", F(variant), "overwrite", 0, 0, NULL,
		"sync variants to compare, or all" },
	{ "direct", 0, WP_OPT_CHOICE, "WHEN", F(direct), "auto", 0, 0, direct_choices,
		"O_DIRECT in the sync variants, as for walprobe sync" },
	{ "record-size", 0, WP_OPT_SIZE, "SIZE", F(append.record_bytes), "412B", 64,
		INT64_C(1) << 20, NULL, "WAL bytes of one commit" },
	{ "segment-size", 0, WP_OPT_SIZE, "SIZE", F(append.segment_bytes), "16MB", INT64_C(1) << 20,
		INT64_C(1) << 30, NULL, "size of a WAL segment" },
	{ "segments", 0, WP_OPT_INT, "NUM", F(append.segments), "4", 2, 1000, NULL,
		"segments that are recycled in a ring" },
	{ "recycle", 0, WP_OPT_CHOICE, "HOW", F(append.recycle), "rename", 0, 0, wp_append_recycles,
		"how a segment is recycled" },
	{ "think", 0, WP_OPT_DURATION, "DURATION", F(append.think_ns), "0s", 0, 60 * WP_NS_PER_S,
		NULL, "time outside the flush per transaction" },
	{ "full", 0, WP_OPT_FLAG, NULL, F(is_full), NULL, 0, 0, NULL,
		"all sync variants, and the model with every method at 1, 2, 4 and 8 clients" },
	{ "io", 0, WP_OPT_FLAG, NULL, F(has_io), NULL, 0, 0, NULL,
		"also big files: write, overwrite, read, random and recovery's reads, as in "
		"walprobe io" },
	{ "like", 0, WP_OPT_TEXT, "FILE", F(like), NULL, 0, 0, NULL,
		"also predict PostgreSQL's transactions a second, as the server of this document "
		"of ramp or predict" },
	{ "memory", 0, WP_OPT_TEXT, "DIR", F(memory), "/dev/shm", 0, 0, NULL,
		"directory in memory for fitting the model to it" },
	{ "margin", 0, WP_OPT_INT, "PERCENT", F(margin_percent), "5", 1, 100, NULL,
		"differences within this margin do not matter in practice" },
	{ "no-twin", 0, WP_OPT_FLAG, NULL, F(has_no_twin), NULL, 0, 0, NULL,
		"leave out the hidden second copy of the first target that shows how quiet the "
		"machine "
		"is; then no difference is claimed" },
	{ "server", 0, WP_OPT_TEXT, "CONNINFO", F(server), NULL, 0, 0, NULL,
		"take pg_wal's place and the settings from this running server, compare with it, "
		"and "
		"say what to change there; measuring beside its pg_wal needs --force" },
	{ .name = NULL },
};

/* everything of one comparison */
struct comparison {
	struct wp_run *run;
	const struct compare_params *params;
	struct wp_sync_options sync;
	struct wp_append_options append;
	struct wp_io_options io;
	struct wp_io_study *study;         /* NULL without --io */
	struct wp_calibration calibration; /* with --like */
	struct wp_predict_options predict;
	struct wp_measure_targets targets;
	struct wp_measures measures;
	struct wp_server_facts server;
	bool has_server;
	char *server_word; /* target word of the server's pg_wal */
};

static int read_io_options(struct comparison *comparison, struct wp_err *err)
{
	static const struct wp_io_words words = {
		.tests = "write,overwrite,read,random-read,random-write,recovery",
		.record_sizes = "8kB",
		.sizes = "auto",
		.files = "1",
		.sync = "fsync",
		.timed = "fsync,close",
		.jobs = 1,
		.seekers = 1,
	};

	return comparison->params->has_io ? wp_io_options_read(&words, &comparison->io, err) : 0;
}

static int read_options(struct comparison *comparison, struct wp_err *err)
{
	const struct compare_params *params = comparison->params;
	struct wp_append_words words = params->append;
	int rc;

	if (params->is_full)
		words.clients = "1,2,4,8";
	words.commit_siblings = 5;
	rc = wp_append_options_read(
		&words, params->is_full ? "all" : params->append_method, &comparison->append, err);
	comparison->sync = (struct wp_sync_options){ .direct = wp_sync_parse_direct(params->direct),
		.file_bytes = INT64_C(16) << 20 };
	if (!rc)
		rc = wp_method_parse_list(params->common.method, &comparison->sync.methods, err);
	if (!rc)
		rc = wp_sync_parse_variants(
			params->is_full ? "all" : params->variant, &comparison->sync.variants, err);
	return rc ? rc : read_io_options(comparison, err);
}

static int read_server(struct comparison *comparison, struct wp_err *err)
{
	int rc;

	if (!comparison->params->server)
		return 0;
	rc = wp_server_facts_read(
		comparison->run->os, comparison->params->server, &comparison->server, err);
	if (rc)
		return rc;
	comparison->has_server = true;
	if (comparison->run->is_forced)
		comparison->server_word =
			wp_xasprintf("%s=%s", SERVER_LABEL, comparison->server.wal_directory);
	else
		wp_run_tell(comparison->run, "note",
			"the server's pg_wal is not measured; --force measures beside it");
	return 0;
}

/* The server's pg_wal is one more target, the first one. */
static int open_targets(struct comparison *comparison, const char *const *operands, size_t count,
	struct wp_err *err)
{
	const char **words = wp_xcalloc(count + 1, sizeof(*words));
	int64_t needed_bytes = wp_sync_needed_bytes(&comparison->sync) +
			       2 * comparison->sync.file_bytes +
			       wp_append_needed_bytes(&comparison->append) +
			       (comparison->params->like ? wp_predict_needed_bytes() : 0);
	size_t total = 0;
	int rc;

	if (comparison->server_word)
		words[total++] = comparison->server_word;
	for (size_t i = 0; i < count; i++)
		words[total++] = operands[i];
	if (total)
		rc = wp_measure_targets_open(
			comparison->run, words, total, needed_bytes, &comparison->targets, err);
	else
		rc = wp_fail(err, WP_E_USAGE, 0,
			"walprobe compare needs a target, or --server and --force");
	free(words);
	return rc;
}

static int plan_target(struct comparison *comparison, struct wp_target *target, struct wp_err *err)
{
	int rc = wp_sync_plan(
		comparison->run, target, &comparison->sync, &comparison->measures, err);

	if (!rc)
		rc = wp_append_plan(
			comparison->run, target, &comparison->append, &comparison->measures, err);
	if (!rc && comparison->params->like)
		wp_predict_what_if_plan(
			comparison->run, target, &comparison->predict, &comparison->measures);
	return rc;
}

static int calibrate(struct comparison *comparison, struct wp_err *err)
{
	const struct wp_calibrate_options options = { .like = comparison->params->like,
		.memory = comparison->params->memory };
	int rc;

	if (!options.like)
		return 0;
	rc = wp_calibrate(comparison->run, &options, &comparison->calibration, err);
	comparison->predict = (struct wp_predict_options){ .calibration = &comparison->calibration,
		.methods = comparison->append.methods,
		.commit_siblings = comparison->append.commit_siblings,
		.time_ns = comparison->calibration.time_ns };
	return rc;
}

/* A second copy of each measure of the first target: what it differs from itself is noise. */
static int plan_twins(struct comparison *comparison, struct wp_err *err)
{
	struct wp_measures *measures = &comparison->measures;
	const struct wp_target *first = NULL;
	size_t count = measures->count;

	for (size_t i = 0; i < count; i++) {
		const struct wp_measure *measure = measures->items[i];

		if (measure->absent || wp_predict_is_measure(measure) ||
			(first && measure->target != first))
			continue;
		first = measure->target;
		if (wp_io_is_measure(measure))
			wp_io_plan_twin(comparison->study, measure, measures);
		else if (strcmp(measure->table, "append") == 0)
			(void)wp_append_plan_twin(measure, measures);
		else if (!wp_sync_plan_twin(comparison->run, measure, measures, err))
			return -(int)err->code;
	}
	return 0;
}

/* The files come last: their size is chosen by the space that is left. */
static int plan_io(struct comparison *comparison, struct wp_err *err)
{
	int rc;

	if (!comparison->params->has_io)
		return 0;
	rc = wp_io_choose_size(comparison->run, comparison->targets.items,
		comparison->targets.count, IO_SIZE_BYTES, &comparison->io, err);
	if (rc)
		return rc;
	comparison->study = wp_io_study_new(comparison->run, &comparison->io);
	for (size_t i = 0; i < comparison->targets.count; i++)
		wp_io_plan(comparison->study, &comparison->targets.items[i], &comparison->measures);
	return wp_io_make_all(comparison->run, comparison->study, &comparison->io,
		&comparison->targets, &comparison->measures, err);
}

static int plan(struct comparison *comparison, struct wp_err *err)
{
	struct wp_err failure = { 0 };
	int rc;

	for (size_t i = 0; i < comparison->targets.count; i++) {
		rc = plan_target(comparison, &comparison->targets.items[i], &failure);
		if (rc == -WP_E_STOPPED) {
			*err = failure;
			return rc;
		}
		if (rc)
			wp_measure_targets_fail(comparison->run, &comparison->targets, i, &failure);
	}
	rc = plan_io(comparison, err);
	if (!rc)
		rc = wp_measure_targets_none(comparison->run, &comparison->targets, err);
	if (rc || comparison->params->has_no_twin)
		return rc;
	return plan_twins(comparison, err);
}

static void fill(struct comparison *comparison)
{
	struct wp_run *run = comparison->run;
	double margin = 1 + (double)comparison->params->margin_percent / 100;

	if (!comparison->measures.count)
		return;
	wp_append_fill(run, &comparison->measures);
	wp_sync_fill(run, &comparison->measures);
	if (comparison->params->has_io)
		wp_io_fill(run, &comparison->measures);
	if (comparison->params->like) {
		wp_predict_fill(run, &comparison->predict, &comparison->measures);
		wp_predict_what_if_fill(run);
	}
	wp_comparison_fill(run, &comparison->measures, margin);
	wp_rounds_fill(run, &comparison->measures);
	if (comparison->has_server)
		wp_server_advice_checks(run, &comparison->server, SERVER_LABEL);
	wp_recommend_fill(run);
	if (comparison->has_server)
		wp_server_advice_changes(run, &comparison->server, SERVER_LABEL);
}

static int execute(struct wp_run *run, const void *params, const char *const *operands,
	size_t operand_count, struct wp_err *err)
{
	struct comparison comparison = { .run = run, .params = params };
	int rc = read_options(&comparison, err);

	if (!rc)
		rc = read_server(&comparison, err);
	if (!rc)
		rc = open_targets(&comparison, operands, operand_count, err);
	if (!rc)
		rc = calibrate(&comparison, err);
	if (!rc)
		rc = plan(&comparison, err);
	if (!rc) {
		wp_measure_targets_tell_duration(run, &comparison.measures);
		rc = wp_rounds_run(run, &comparison.measures, err);
	}
	fill(&comparison);
	wp_measures_release(&comparison.measures);
	wp_calibration_release(&comparison.calibration);
	wp_io_study_free(comparison.study);
	wp_measure_targets_release(&comparison.targets);
	wp_server_facts_release(&comparison.server);
	free(comparison.server_word);
	return rc;
}

static const struct wp_opt *const tables[] = { compare_opts, wp_method_opts, wp_common_opts,
	wp_output_opts, NULL };

static const struct wp_default defaults[] = {
	{ "method", "open_datasync,fdatasync,fsync,open_sync" },
	{ "time", "250ms" },
	{ NULL, NULL },
};

const struct wp_command wp_cmd_compare = {
	.name = "compare",
	.operands = "TARGET...",
	.summary = "which of these places is best for pg_wal, how sure that is, and what is unsafe "
		   "there",
	.epilogue = "Three file systems take about a minute after they are made.\n"
		    "\n"
		    "Examples:\n"
		    "  walprobe compare image:ext4 image:xfs image:btrfs\n"
		    "  walprobe compare ssd=/mnt/ssd raid=/mnt/raid --save monday.json\n"
		    "  walprobe compare --server 'dbname=postgres' --force /mnt/candidate\n",
	.tables = tables,
	.defaults = defaults,
	.params_size = sizeof(struct compare_params),
	.operands_minimum = 0,
	.operands_maximum = 1000,
	.execute = execute,
};
