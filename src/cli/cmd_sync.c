/* SPDX-License-Identifier: PostgreSQL */
#include "cli/commands.h"
#include "cli/measure_targets.h"
#include "walprobe/opts.h"
#include "walprobe/probe_sync.h"

#define UNIT_BYTES 16384 /* most that one operation writes */

struct sync_params {
	struct wp_common common;
	const char *direct;
	const char *offset;
	const char *variant;
	int64_t file_bytes;
};

#define F(field) offsetof(struct sync_params, field)

static const char *const direct_choices[] = { "auto", "on", "off", NULL };
static const char *const offset_choices[] = { "fixed", "roll", NULL };

static const struct wp_opt sync_opts[] = {
	{ "variant", 0, WP_OPT_TEXT, "LIST", F(variant), "all", 0, 0, NULL,
		"what to write: names of the variant column, or all" },
	{ "direct", 0, WP_OPT_CHOICE, "WHEN", F(direct), "auto", 0, 0, direct_choices,
		"O_DIRECT as a variant of its own (auto), everywhere (on) or nowhere (off)" },
	{ "offset", 0, WP_OPT_CHOICE, "WHERE", F(offset), "fixed", 0, 0, offset_choices,
		"overwrite the start of the file as pg_test_fsync does, or roll through it" },
	{ "file-size", 0, WP_OPT_SIZE, "SIZE", F(file_bytes), "16MB", INT64_C(1) << 20,
		INT64_C(1) << 30, NULL, "size of each file, that of a WAL segment" },
	{ .name = NULL },
};

static int read_options(
	const struct sync_params *params, struct wp_sync_options *options, struct wp_err *err)
{
	int rc;

	*options = (struct wp_sync_options){ .direct = wp_sync_parse_direct(params->direct),
		.is_rolling = strcmp(params->offset, "roll") == 0,
		.file_bytes = params->file_bytes };
	rc = wp_method_parse_list(params->common.method, &options->methods, err);
	if (!rc)
		rc = wp_sync_parse_variants(params->variant, &options->variants, err);
	if (rc)
		return rc;
	if (params->file_bytes % UNIT_BYTES)
		return wp_fail(err, WP_E_USAGE, 0, "--file-size must be a multiple of 16kB");
	if (wp_sync_count(options) == 0) {
		(void)wp_fail(err, WP_E_USAGE, 0,
			"no variant of \"%s\" exists for the methods \"%s\"", params->variant,
			params->common.method);
		wp_err_hint(err, "other-fd belongs to fsync and fdatasync, 1x16kB to 16x1kB to "
				 "open_sync; direct needs --direct=auto.");
		return -WP_E_USAGE;
	}
	return 0;
}

/* A target that fails here is told, and its rows say why; the others go on. */
static int plan(struct wp_run *run, struct wp_measure_targets *targets,
	const struct wp_sync_options *options, struct wp_measures *measures, struct wp_err *err)
{
	for (size_t i = 0; i < targets->count; i++) {
		struct wp_err failure = { 0 };
		int rc = wp_sync_plan(run, &targets->items[i], options, measures, &failure);

		if (rc == -WP_E_STOPPED) {
			*err = failure;
			return rc;
		}
		if (rc)
			wp_measure_targets_fail(run, targets, i, &failure);
	}
	return 0;
}

static int execute(struct wp_run *run, const void *raw_params, const char *const *operands,
	size_t operand_count, struct wp_err *err)
{
	struct wp_measure_targets targets = { .count = 0 };
	struct wp_measures measures = { .count = 0 };
	struct wp_sync_options options;
	int rc = read_options(raw_params, &options, err);

	if (rc)
		return rc;
	rc = wp_measure_targets_open(
		run, operands, operand_count, wp_sync_needed_bytes(&options), &targets, err);
	if (!rc)
		rc = plan(run, &targets, &options, &measures, err);
	if (!rc)
		rc = wp_measure_targets_none(run, &targets, err);
	if (!rc) {
		wp_measure_targets_tell_duration(run, &measures);
		rc = wp_rounds_run(run, &measures, err);
	}
	if (rc == -WP_E_STOPPED)
		run->result->is_complete = false;
	if (measures.count > 0) {
		wp_sync_fill(run, &measures);
		wp_rounds_fill(run, &measures);
	}
	wp_measures_release(&measures);
	wp_measure_targets_release(&targets);
	return rc;
}

static const struct wp_opt *const tables[] = { wp_method_opts, sync_opts, wp_common_opts,
	wp_output_opts, NULL };

const struct wp_command wp_cmd_sync = {
	.name = "sync",
	.operands = "TARGET...",
	.summary = "measure every wal_sync_method and way to write a page",
	.epilogue = "All that pg_test_fsync tests and more, with latencies. pg_test_fsync uses "
		    "O_DIRECT\n"
		    "for open_datasync and open_sync: compare those lines with --direct=on.\n"
		    "\n"
		    "Examples:\n"
		    "  walprobe sync /var/lib/postgresql\n"
		    "  walprobe sync --method=fdatasync,open_datasync --variant=overwrite,direct "
		    "/mnt/a "
		    "/mnt/b\n",
	.tables = tables,
	.params_size = sizeof(struct sync_params),
	.operands_minimum = 1,
	.operands_maximum = 1000,
	.execute = execute,
};
