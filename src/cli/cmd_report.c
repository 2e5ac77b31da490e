/* SPDX-License-Identifier: PostgreSQL */
#include "cli/commands.h"
#include "cli/report_documents.h"
#include "cli/store_query.h"

struct report_params {
	struct wp_common common;
	const char *baseline;
	int64_t margin_percent;
	const char *db;
	const char *query;
	const char *sql;
};

#define F(field) offsetof(struct report_params, field)

static const struct wp_opt report_opts[] = {
	{ "baseline", 0, WP_OPT_TEXT, "FILE", F(baseline), NULL, 0, 0, NULL,
		"say what changed since this document was made; exit status 1 when something is "
		"slower beyond its interval, or a check fails that did not" },
	{ "margin", 0, WP_OPT_INT, "PERCENT", F(margin_percent), "5", 1, 100, NULL,
		"differences within this margin do not matter in practice" },
	{ "db", 0, WP_OPT_TEXT, "CONNINFO", F(db), NULL, 0, 0, NULL,
		"ask the results database that \"walprobe store\" fills, in place of files" },
	{ "query", 0, WP_OPT_TEXT, "NAME", F(query), NULL, 0, 0, NULL,
		"what to ask: lying-caches, batteries, fastest-file-system, kernel-change, "
		"power-cuts, silent-hosts" },
	{ "sql", 0, WP_OPT_TEXT, "FILE", F(sql), NULL, 0, 0, NULL,
		"ask with the SELECT in this file, in a read-only transaction" },
	{ .name = NULL },
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
	else if (params->db && (operand_count || params->baseline))
		rc = wp_fail(err, WP_E_USAGE, 0, "--db takes no file");
	if (rc)
		wp_err_hint(err, "walprobe report --db CONNINFO --query lying-caches");
	return rc;
}

static int execute(struct wp_run *run, const void *untyped, const char *const *operands,
	size_t operand_count, struct wp_err *err)
{
	const struct report_params *params = untyped;
	int rc = check(params, operand_count, err);

	if (rc)
		return rc;
	if (params->db)
		return wp_store_query(run, params->db, params->query, params->sql, err);
	return wp_report_documents(run, operands, operand_count, params->baseline,
		1 + (double)params->margin_percent / 100, err);
}

static const struct wp_opt *const tables[] = { report_opts, wp_output_opts, NULL };

static const char *const formats[] = { "text", "json", "csv", "html", "prometheus", "pgbench",
	"bonnie-csv", "bonnie-csv-1.03", "iozone", NULL };

const struct wp_command wp_cmd_report = {
	.name = "report",
	.operands = "FILE...",
	.summary = "print saved result documents in any format; several become one comparison",
	.epilogue = "Examples:\n"
		    "  walprobe report monday.json\n"
		    "  walprobe report --format csv -o monday.csv monday.json\n"
		    "  walprobe report db1.json db2.json db3.json\n"
		    "  walprobe report --baseline before.json after.json\n"
		    "  walprobe report --format html -o monday.html monday.json\n"
		    "  walprobe report --format prometheus monday.json\n"
		    "  ssh db1 walprobe compare --format json /a /b | walprobe report -\n"
		    "  walprobe report --db fleet --query lying-caches\n",
	.tables = tables,
	.formats = formats,
	.params_size = sizeof(struct report_params),
	.operands_minimum = 0,
	.operands_maximum = SIZE_MAX,
	.execute = execute,
	.is_reprint = true,
};
