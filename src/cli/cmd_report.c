/* SPDX-License-Identifier: PostgreSQL */
#include "cli/commands.h"
#include "cli/store_query.h"
#include "walprobe/document.h"
#include "walprobe/run.h"

struct report_params {
	struct wp_common common;
	const char *db;
	const char *query;
	const char *sql;
};

#define F(field) offsetof(struct report_params, field)

static const struct wp_opt db_opts[] = {
	{ "db", 0, WP_OPT_TEXT, "CONNINFO", F(db), NULL, 0, 0, NULL,
		"ask the results database that \"walprobe store\" fills, in place of files" },
	{ "query", 0, WP_OPT_TEXT, "NAME", F(query), NULL, 0, 0, NULL,
		"what to ask: lying-caches, batteries, fastest-file-system, kernel-change, "
		"power-cuts, silent-hosts" },
	{ "sql", 0, WP_OPT_TEXT, "FILE", F(sql), NULL, 0, 0, NULL,
		"ask with the SELECT in this file, in a read-only transaction" },
	{ NULL, 0, WP_OPT_FLAG, NULL, 0, NULL, 0, 0, NULL, NULL },
};

/* What does not fit together, before anything is read. */
static int check(const struct report_params *params, size_t operand_count, struct wp_err *err)
{
	bool asks = params->query || params->sql;
	int rc = 0;

	if (!params->db && asks)
		rc = wp_fail(
			err, WP_E_USAGE, 0, "--%s needs --db", params->query ? "query" : "sql");
	else if (params->db && params->query && params->sql)
		rc = wp_fail(err, WP_E_USAGE, 0, "--query and --sql exclude each other");
	else if (params->db && !asks)
		rc = wp_fail(err, WP_E_USAGE, 0, "--db needs --query or --sql");
	else if (params->db && operand_count)
		rc = wp_fail(err, WP_E_USAGE, 0, "--db takes no file");
	if (rc)
		wp_err_hint(err, "walprobe report --db CONNINFO --query lying-caches");
	return rc;
}

/*
 * The document that was read takes the place of the run's own result, so that it takes the same
 * way out as when it was measured, and the same bytes come of it.
 */
static int execute(struct wp_run *run, const void *untyped, const char *const *operands,
	size_t operand_count, struct wp_err *err)
{
	const struct report_params *params = untyped;
	struct wp_result *result;
	int rc = check(params, operand_count, err);

	if (rc)
		return rc;
	if (params->db)
		return wp_store_query(run, params->db, params->query, params->sql, err);
	if (operand_count != 1) {
		rc = wp_fail(
			err, WP_E_USAGE, 0, "report takes one document, not %zu", operand_count);
		wp_err_hint(err, "Give one file that --save or --format json wrote, or - for the "
				 "standard input.");
		return rc;
	}
	rc = wp_document_read(run->os, operands[0], &result, err);
	if (rc)
		return rc;
	wp_result_free(run->result);
	run->result = result;
	return 0;
}

static const struct wp_opt *const tables[] = { db_opts, wp_output_opts, NULL };

static const char *const formats[] = { "text", "json", "csv", "pgbench", "bonnie-csv",
	"bonnie-csv-1.03", "iozone", NULL };

const struct wp_command wp_cmd_report = {
	.name = "report",
	.operands = "FILE",
	.summary = "print a saved result document again, in any format",
	.epilogue = "Examples:\n"
		    "  walprobe report monday.json\n"
		    "  walprobe report --format csv -o monday.csv monday.json\n"
		    "  ssh db1 walprobe compare --format json /a /b | walprobe report -\n"
		    "  walprobe report --db fleet --query lying-caches\n",
	.tables = tables,
	.formats = formats,
	.params_size = sizeof(struct report_params),
	.operands_minimum = 0,
	/* More are refused by the command itself, which says what it takes. */
	.operands_maximum = SIZE_MAX,
	.execute = execute,
	.is_reprint = true,
};
