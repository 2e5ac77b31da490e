/* SPDX-License-Identifier: PostgreSQL */
#include "cli/commands.h"
#include "cli/measure_targets.h"
#include "cli/append_options.h"
#include "walprobe/mem.h"
#include "walprobe/opts.h"

struct append_params {
	struct wp_common common;
	struct wp_append_words words;
	bool is_natural;
	const char *beside;
	int64_t soak_ns;
};

#define F(field) offsetof(struct append_params, field)

static const struct wp_opt append_opts[] = {
	{ "clients", 'c', WP_OPT_TEXT, "LIST", F(words.clients), "1,2,4,8", 0, 0, NULL,
		"numbers of committers, as in 1-8 or 1,2,4,8; up to 1000" },
	{ "record-size", 0, WP_OPT_SIZE, "SIZE", F(words.record_bytes), "412B", 64,
		INT64_C(1) << 20, NULL,
		"WAL bytes of one commit; 412B is a tpcb-like transaction" },
	{ "fpi", 0, WP_OPT_INT, "PAGES", F(words.image_pages), "0", 0, INT64_C(1) << 40, NULL,
		"mix in the full page images after a checkpoint, for a workload that touches this "
		"many pages; 0 for none" },
	{ "think", 0, WP_OPT_DURATION, "DURATION", F(words.think_ns), "0s", 0, 60 * WP_NS_PER_S,
		NULL, "time outside the flush per transaction, half burnt and half slept" },
	{ "commit-delay", 0, WP_OPT_DURATION_US, "DURATION", F(words.commit_delay_ns), "0", 0,
		100 * WP_NS_PER_MS, NULL, "commit_delay; a bare number counts microseconds" },
	{ "commit-siblings", 0, WP_OPT_INT, "NUM", F(words.commit_siblings), "5", 0, 1000, NULL,
		"commit_siblings" },
	{ "synchronous-commit", 0, WP_OPT_CHOICE, "WHEN", F(words.synchronous_commit), "on", 0, 0,
		wp_append_on_off, "off leaves writing and syncing to a walwriter" },
	{ "pg-version", 0, WP_OPT_CHOICE, "VERSION", F(words.pg_version), "15", 0, 0,
		wp_append_versions, "the era whose calls create and recycle segments" },
	{ "segment-size", 0, WP_OPT_SIZE, "SIZE", F(words.segment_bytes), "16MB", INT64_C(1) << 20,
		INT64_C(1) << 30, NULL, "wal_segment_size, a power of two" },
	{ "segments", 0, WP_OPT_INT, "NUM", F(words.segments), "4", 2, 1000, NULL,
		"segments that are recycled in a ring" },
	{ "recycle", 0, WP_OPT_CHOICE, "HOW", F(words.recycle), NULL, 0, 0, wp_append_recycles,
		"how an old segment becomes a new one; as the version did where not given" },
	{ "init", 0, WP_OPT_CHOICE, "HOW", F(words.init), "zero", 0, 0, wp_append_inits,
		"new segments are filled with zeros, or sparse (wal_init_zero = off)" },
	{ "direct", 0, WP_OPT_CHOICE, "WHEN", F(words.direct), "off", 0, 0, wp_append_on_off,
		"open segments with O_DIRECT" },
	{ "natural-switches", 0, WP_OPT_FLAG, NULL, F(is_natural), NULL, 0, 0, NULL,
		"let segments fill at their own pace instead of ending one in each measurement" },
	{ "beside", 0, WP_OPT_TEXT, "DIR", F(beside), NULL, 0, 0, NULL,
		"write and sync data files in this directory meanwhile, as a checkpoint does" },
	{ "soak", 0, WP_OPT_DURATION, "DURATION", F(soak_ns), "0s", 0, 7 * 86400 * WP_NS_PER_S,
		NULL,
		"one long run instead of rounds, as a time series; names where the rate falls" },
	{ .name = NULL },
};

/* everything of one run */
struct append {
	struct wp_run *run;
	const struct append_params *params;
	struct wp_append_options options;
	struct wp_measure_targets targets;
	struct wp_measures measures;
};

static int open_beside(struct append *append, struct wp_err *err)
{
	char *dir = NULL;
	int rc;

	if (!append->params->beside)
		return 0;
	rc = wp_workdir_create(append->run->registry, append->params->beside, &dir, NULL, err);
	if (!rc)
		rc = wp_beside_new(
			append->run->os, dir, append->run->seed, &append->options.beside, err);
	if (rc)
		wp_err_prefix(err, "option --beside: ");
	free(dir);
	return rc;
}

static int plan(struct append *append, struct wp_err *err)
{
	for (size_t i = 0; i < append->targets.count; i++) {
		struct wp_err failure = { 0 };
		int rc = wp_append_plan(append->run, &append->targets.items[i], &append->options,
			&append->measures, &failure);

		if (rc == -WP_E_STOPPED) {
			*err = failure;
			return rc;
		}
		if (rc)
			wp_measure_targets_fail(append->run, &append->targets, i, &failure);
	}
	return wp_measure_targets_none(append->run, &append->targets, err);
}

static int measure(struct append *append, struct wp_err *err)
{
	int rc = plan(append, err);

	if (rc)
		return rc;
	wp_measure_targets_tell_duration(append->run, &append->measures);
	rc = wp_rounds_run(append->run, &append->measures, err);
	wp_append_fill(append->run, &append->measures);
	wp_rounds_fill(append->run, &append->measures);
	return rc;
}

/* One place after the other: two long runs at once would measure each other. */
static int soak(struct append *append, struct wp_err *err)
{
	for (size_t i = 0; i < append->targets.count; i++) {
		struct wp_err failure = { 0 };
		int rc = wp_append_soak(append->run, &append->targets.items[i], &append->options,
			append->params->soak_ns, &failure);

		if (rc == -WP_E_STOPPED) {
			*err = failure;
			return rc;
		}
		if (rc)
			wp_measure_targets_fail(append->run, &append->targets, i, &failure);
	}
	return wp_measure_targets_none(append->run, &append->targets, err);
}

static int execute(struct wp_run *run, const void *params, const char *const *operands,
	size_t operand_count, struct wp_err *err)
{
	struct append append = { .run = run, .params = params };
	int rc = wp_append_options_read(
		&append.params->words, append.params->common.method, &append.options, err);

	if (rc)
		return rc;
	append.options.is_natural = append.params->is_natural;
	rc = wp_measure_targets_open(run, operands, operand_count,
		wp_append_needed_bytes(&append.options), &append.targets, err);
	if (!rc)
		rc = open_beside(&append, err);
	if (!rc)
		rc = append.params->soak_ns ? soak(&append, err) : measure(&append, err);
	if (rc == -WP_E_STOPPED)
		run->result->is_complete = false;
	wp_measures_release(&append.measures);
	wp_beside_free(append.options.beside);
	wp_measure_targets_release(&append.targets);
	return rc;
}

static const struct wp_opt *const tables[] = { append_opts, wp_method_opts, wp_common_opts,
	wp_output_opts, NULL };

static const struct wp_default defaults[] = { { "method", "fdatasync" }, { NULL, NULL } };

const struct wp_command wp_cmd_append = {
	.name = "append",
	.operands = "TARGET...",
	.summary = "the model of pg_wal: committers, group commit, segments and recycling",
	.epilogue =
		"Segments carry PostgreSQL's names and are created, written and recycled with its\n"
		"calls in its order. Rates are those of recycled segments; the first lap, in "
		"which\n"
		"segments are created, has a table of its own.\n"
		"\n"
		"Examples:\n"
		"  walprobe append --clients=1,8 /mnt/a /mnt/b\n"
		"  walprobe append --clients=8 --commit-delay=500 --think=400us /mnt/a\n"
		"  walprobe append --soak=10min --clients=8 /mnt/a\n",
	.tables = tables,
	.defaults = defaults,
	.params_size = sizeof(struct append_params),
	.operands_minimum = 1,
	.operands_maximum = 1000,
	.execute = execute,
};
