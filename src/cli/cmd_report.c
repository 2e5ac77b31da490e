/* SPDX-License-Identifier: PostgreSQL */
#include "cli/commands.h"
#include "walprobe/document.h"
#include "walprobe/run.h"

struct report_params {
	struct wp_common common;
};

/*
 * The document that was read takes the place of the run's own result, so that it takes the same
 * way out as when it was measured, and the same bytes come of it.
 */
static int execute(struct wp_run *run, const void *params, const char *const *operands,
	size_t operand_count, struct wp_err *err)
{
	struct wp_result *result;
	int rc;

	(void)params;
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

static const struct wp_opt *const tables[] = { wp_output_opts, NULL };

static const char *const formats[] = { "text", "json", "csv", "pgbench", "bonnie-csv",
	"bonnie-csv-1.03", "iozone", NULL };

const struct wp_command wp_cmd_report = {
	.name = "report",
	.operands = "FILE",
	.summary = "print a saved result document again, in any format",
	.epilogue = "Examples:\n"
		    "  walprobe report monday.json\n"
		    "  walprobe report --format csv -o monday.csv monday.json\n"
		    "  ssh db1 walprobe compare --format json /a /b | walprobe report -\n",
	.tables = tables,
	.formats = formats,
	.params_size = sizeof(struct report_params),
	.operands_minimum = 1,
	/* More are refused by the command itself, which says what it takes. */
	.operands_maximum = SIZE_MAX,
	.execute = execute,
	.is_reprint = true,
};
