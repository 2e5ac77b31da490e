/* SPDX-License-Identifier: PostgreSQL */
#include "cli/commands.h"
#include "walprobe/inspect.h"
#include "walprobe/mem.h"
#include "walprobe/opts.h"
#include "walprobe/server_advice.h"

#define SERVER_LABEL "server"
#define SAVED_LABEL "controller output"
#define OUTPUT_BYTES ((size_t)16 << 20)

struct inspect_params {
	struct wp_common common;
	int64_t control_ns;
	int64_t operations;
	bool is_strict;
	bool is_no_write;
	const char *server;
	struct wp_texts outputs;
};

/* everything of one inspection */
struct inspection {
	struct wp_run *run;
	const struct inspect_params *params;
	struct wp_server_facts server;
	bool has_server;
	char *server_word; /* target word of the server's pg_wal */
	struct wp_cache_facts saved;
	bool has_saved;
	struct wp_err first_absent;
	bool is_inspected;
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
	{ "controller-output", 0, WP_OPT_TEXTS, "FILE", F(outputs), NULL, 0, 0, NULL,
		"judge this saved output of storcli, ssacli, hdparm and the like, and run none of "
		"them; repeatable" },
	{ "server", 0, WP_OPT_TEXT, "CONNINFO", F(server), NULL, 0, 0, NULL,
		"take pg_wal's place and the settings from this running server, look only unless "
		"--force" },
	{ "force", 0, WP_OPT_FLAG, NULL, F(common.is_forced), NULL, 0, 0, NULL,
		"measure beside a live pg_wal" },
	{ "keep", 0, WP_OPT_FLAG, NULL, F(common.is_kept), NULL, 0, 0, NULL,
		"leave what was made and say where" },
	{ NULL, 0, WP_OPT_FLAG, NULL, 0, NULL, 0, 0, NULL, NULL },
};

static const struct wp_opt *const inspect_tables[] = { inspect_opts, wp_output_opts, NULL };

static bool is_server(const struct inspection *inspection, const struct wp_target_spec *spec)
{
	return inspection->server_word && strcmp(spec->text, inspection->server_word) == 0;
}

static int inspect_one(
	struct inspection *inspection, const struct wp_target_spec *spec, struct wp_err *err)
{
	const struct inspect_params *params = inspection->params;
	struct wp_run *run = inspection->run;
	const struct wp_target_options target_options = {
		.is_forced = params->common.is_forced,
		.is_kept = params->common.is_kept,
		.for_inspection = true,
	};
	const struct wp_inspect_options options = {
		.control_ns = params->control_ns,
		.operations = params->operations,
		.is_no_write = params->is_no_write ||
			       (is_server(inspection, spec) && !params->common.is_forced),
		.saved = inspection->has_saved ? &inspection->saved : NULL,
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
		if (target.absent && !inspection->first_absent.code)
			(void)wp_fail(&inspection->first_absent, WP_E_UNSUPPORTED, 0,
				"target \"%s\": %s", spec->label, target.absent);
		inspection->is_inspected = inspection->is_inspected || target.is_open;
		rc = wp_inspect_target_with(run, &target, &options, err);
	}
	if (is_server(inspection, spec))
		wp_server_advice_checks(run, &inspection->server, spec->label);
	wp_target_release(&target);
	return rc;
}

static void read_output(struct inspection *inspection, const char *path)
{
	struct wp_err err = { 0 };
	int sys_errno;
	char *text = wp_os_read_text(inspection->run->os, path, OUTPUT_BYTES, &sys_errno);

	if (!text) {
		(void)wp_fail(&err, WP_E_SYS, sys_errno, "could not read \"%s\"", path);
	} else if (wp_cache_read(&inspection->saved, text, strlen(text), NULL,
			   strlen(text) >= OUTPUT_BYTES) == 0) {
		(void)wp_fail(
			&err, WP_E_DATA, 0, "\"%s\" holds no output of a tool that is known", path);
		wp_err_hint(&err,
			"Known are MegaCli, storcli, perccli, ssacli, hpssacli, hpacucli, arcconf, "
			"cli64, hdparm -W, sdparm, smartctl, nvme and the kernel's log.");
	}
	if (err.code)
		wp_run_problem(inspection->run, &err);
	free(text);
}

static int prepare(struct inspection *inspection, struct wp_err *err)
{
	const struct inspect_params *params = inspection->params;
	int rc = 0;

	inspection->has_saved = params->outputs.count > 0;
	inspection->saved.is_saved = true;
	for (size_t i = 0; i < params->outputs.count; i++)
		read_output(inspection, params->outputs.values[i]);
	if (params->server) {
		rc = wp_server_facts_read(
			inspection->run->os, params->server, &inspection->server, err);
		inspection->has_server = !rc;
	}
	if (inspection->has_server)
		inspection->server_word =
			wp_xasprintf("%s=%s", SERVER_LABEL, inspection->server.wal_directory);
	return rc;
}

/* The server's pg_wal is one more target, the first one. */
static int parse_targets(const struct inspection *inspection, const char *const *operands,
	size_t operand_count, struct wp_target_specs *specs, struct wp_err *err)
{
	const char **words = wp_xcalloc(operand_count + 1, sizeof(*words));
	size_t count = 0;
	int rc = 0;

	if (inspection->server_word)
		words[count++] = inspection->server_word;
	for (size_t i = 0; i < operand_count; i++)
		words[count++] = operands[i];
	if (count > 0)
		rc = wp_targets_parse(words, count, specs, err);
	else if (!inspection->has_saved) {
		rc = wp_fail(err, WP_E_USAGE, 0, "nothing to inspect was named");
		wp_err_hint(err, "Name a directory, --server or --controller-output.");
	}
	free(words);
	return rc;
}

/* A file's own name, or what several have in common. */
static const char *saved_label(const struct wp_texts *outputs)
{
	const char *slash = strrchr(outputs->values[0], '/');

	if (outputs->count > 1)
		return SAVED_LABEL;
	return slash && slash[1] ? slash + 1 : outputs->values[0];
}

static int inspect_all(
	struct inspection *inspection, const struct wp_target_specs *specs, struct wp_err *err)
{
	const struct wp_texts *outputs = &inspection->params->outputs;
	struct wp_run *run = inspection->run;
	int rc = 0;

	for (size_t i = 0; !rc && i < specs->count; i++)
		rc = inspect_one(inspection, &specs->items[i], err);
	if (rc == -WP_E_STOPPED)
		run->result->is_complete = false;
	if (!rc && specs->count == 0)
		wp_inspect_saved(run, saved_label(outputs), &inspection->saved);
	/* What one target lacks is no error while another one is there. */
	if (!rc && !inspection->is_inspected && inspection->first_absent.code &&
		run->problem_count == 0)
		wp_run_problem(run, &inspection->first_absent);
	return rc;
}

static int execute_inspect(struct wp_run *run, const void *params, const char *const *operands,
	size_t operand_count, struct wp_err *err)
{
	struct inspection inspection = { .run = run, .params = params };
	struct wp_target_specs specs = { NULL, 0 };
	int rc = prepare(&inspection, err);

	run->is_strict = inspection.params->is_strict;
	if (!rc)
		rc = parse_targets(&inspection, operands, operand_count, &specs, err);
	if (!rc)
		rc = inspect_all(&inspection, &specs, err);
	wp_targets_release(&specs);
	wp_server_facts_release(&inspection.server);
	wp_cache_facts_release(&inspection.saved);
	free(inspection.server_word);
	return rc;
}

const struct wp_command wp_cmd_inspect = {
	.name = "inspect",
	.operands = "[TARGET...]",
	.summary = "show what lies under a directory and whether its syncs reach the device",
	.epilogue = "Examples:\n"
		    "  walprobe inspect /var/lib/postgresql\n"
		    "  walprobe inspect --no-write /srv/pg/15/main/pg_wal\n"
		    "  walprobe inspect --server 'host=/run/postgresql user=postgres'\n"
		    "  walprobe inspect --controller-output storcli.json /srv/pg\n"
		    "  walprobe inspect --format json . /mnt/fast\n",
	.tables = inspect_tables,
	.params_size = sizeof(struct inspect_params),
	.operands_maximum = 1000,
	.execute = execute_inspect,
};
