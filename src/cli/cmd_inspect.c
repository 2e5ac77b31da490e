/* SPDX-License-Identifier: PostgreSQL */
#include "cli/commands.h"
#include "walprobe/inspect.h"
#include "walprobe/opts.h"

struct inspect_params {
	struct wp_common common;
	int64_t control_ns;
	int64_t operations;
	bool is_strict;
	bool is_no_write;
};

#define F(field) offsetof(struct inspect_params, field)

static const struct wp_opt inspect_opts[] = {
	{ "strict", 0, WP_OPT_FLAG, NULL, F(is_strict), NULL, 0, 0, NULL,
		"exit with status 4 when a check cannot tell" },
	{ "no-write", 0, WP_OPT_FLAG, NULL, F(is_no_write), NULL, 0, 0, NULL,
		"look only, write nothing and count no flushes" },
	{ "control-time", 0, WP_OPT_DURATION, "DURATION", F(control_ns), "1s", 50 * WP_NS_PER_MS,
		600 * WP_NS_PER_S, NULL,
		"watch for flushes of other programs this long before and after" },
	{ "operations", 0, WP_OPT_INT, "NUM", F(operations), "100", 10, 100000, NULL,
		"number of synchronous writes of each kind" },
	{ "force", 0, WP_OPT_FLAG, NULL, F(common.is_forced), NULL, 0, 0, NULL,
		"measure beside a live pg_wal" },
	{ "keep", 0, WP_OPT_FLAG, NULL, F(common.is_kept), NULL, 0, 0, NULL,
		"leave what was made and say where" },
	{ NULL, 0, WP_OPT_FLAG, NULL, 0, NULL, 0, 0, NULL, NULL },
};

static const struct wp_opt *const inspect_tables[] = { inspect_opts, wp_output_opts, NULL };

static int inspect_one(struct wp_run *run, const struct wp_target_spec *spec,
	const struct inspect_params *params, struct wp_err *first_absent, bool *is_inspected,
	struct wp_err *err)
{
	const struct wp_target_options target_options = {
		.is_forced = params->common.is_forced,
		.is_kept = params->common.is_kept,
		.for_inspection = true,
	};
	const struct wp_inspect_options options = {
		.control_ns = params->control_ns,
		.operations = params->operations,
		.is_no_write = params->is_no_write,
	};
	struct wp_target target = { 0 };
	struct wp_err own = { 0 };
	int rc = wp_target_open(run->os, run->registry, spec, &target_options, &target, &own);

	if (rc == -WP_E_STOPPED && err)
		*err = own;
	if (rc && rc != -WP_E_STOPPED) {
		wp_run_problem(run, &own);
		wp_inspect_absent(run, spec->label, own.message);
		rc = 0;
	} else if (!rc) {
		/* The row of the target says it too. */
		if (target.absent && !first_absent->code)
			(void)wp_fail(first_absent, WP_E_UNSUPPORTED, 0, "target \"%s\": %s",
				spec->label, target.absent);
		*is_inspected = *is_inspected || target.is_open;
		rc = wp_inspect_target_with(run, &target, &options, err);
	}
	wp_target_release(&target);
	return rc;
}

static int execute_inspect(struct wp_run *run, const void *params, const char *const *operands,
	size_t operand_count, struct wp_err *err)
{
	const struct inspect_params *inspect = params;
	struct wp_target_specs specs = { NULL, 0 };
	struct wp_err first_absent = { 0 };
	bool is_inspected = false;
	int rc = wp_targets_parse(operands, operand_count, &specs, err);

	run->is_strict = inspect->is_strict;
	for (size_t i = 0; !rc && i < specs.count; i++)
		rc = inspect_one(run, &specs.items[i], inspect, &first_absent, &is_inspected, err);
	if (rc == -WP_E_STOPPED)
		run->result->is_complete = false;
	/* What one target lacks is no error while another one is there. */
	if (!rc && !is_inspected && first_absent.code && run->problem_count == 0)
		wp_run_problem(run, &first_absent);
	wp_targets_release(&specs);
	return rc;
}

const struct wp_command wp_cmd_inspect = {
	.name = "inspect",
	.operands = "TARGET...",
	.summary = "show what lies under a directory and whether its syncs reach the device",
	.epilogue = "Examples:\n"
		    "  walprobe inspect /var/lib/postgresql\n"
		    "  walprobe inspect --no-write /srv/pg/15/main/pg_wal\n"
		    "  walprobe inspect --format json . /mnt/fast\n",
	.tables = inspect_tables,
	.params_size = sizeof(struct inspect_params),
	.operands_minimum = 1,
	.operands_maximum = 1000,
	.execute = execute_inspect,
};
