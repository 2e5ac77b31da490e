/* SPDX-License-Identifier: PostgreSQL */
#include "cli/commands.h"
#include "walprobe/document.h"
#include "walprobe/mem.h"
#include "walprobe/render.h"
#include "walprobe/run.h"
#include "walprobe/store.h"

struct store_params {
	struct wp_common common;
	const char *db;
	const char *host;
};

#define F(field) offsetof(struct store_params, field)

static const struct wp_opt store_opts[] = {
	{ "db", 0, WP_OPT_TEXT, "CONNINFO", F(db), NULL, 0, 0, NULL,
		"results database: name, connection string or URI; PG* variables and ~/.pgpass "
		"hold" },
	{ "host", 0, WP_OPT_TEXT, "NAME", F(host), NULL, 0, 0, NULL,
		"whose documents these are, in place of the host that they name" },
	{ NULL, 0, WP_OPT_FLAG, NULL, 0, NULL, 0, 0, NULL, NULL },
};

static const struct wp_opt *const tables[] = { store_opts, wp_output_opts, NULL };

static const struct wp_column columns[] = {
	{ "file", "file", "", WP_KIND_TEXT, "The file that was read." },
	{ "command", "command", "", WP_KIND_TEXT, "What made the document." },
	{ "started", "started", "", WP_KIND_TEXT, "When it was measured." },
	{ "state", "state", "", WP_KIND_TEXT,
		"stored: it is in the database now; already there: nothing changed." },
};

/* A document as the database keeps it: white space of the file does not tell two apart. */
static char *text_of(const struct wp_result *result)
{
	const struct wp_render_options options = { 0 };
	char *text = NULL;
	size_t length;
	FILE *stream = open_memstream(&text, &length);
	bool is_bad;

	if (!stream)
		return NULL;
	wp_render_json(result, &options, stream);
	is_bad = ferror(stream) != 0;
	is_bad = fclose(stream) != 0 || is_bad;
	if (!is_bad)
		return text;
	free(text);
	return NULL;
}

static int put(struct wp_run *run, struct wp_session *session, const struct store_params *params,
	const char *path, struct wp_err *err)
{
	struct wp_result *result = NULL;
	struct wp_row *row;
	char *text = NULL;
	bool is_new = false;
	int rc = wp_document_read(run->os, path, &result, err);

	if (rc)
		return rc;
	text = text_of(result);
	if (!text)
		rc = wp_fail(err, WP_E_SYS, ENOMEM, "could not copy the document \"%s\"", path);
	if (!rc)
		rc = wp_store_put(session, text, params->host, &is_new, err);
	if (!rc) {
		row = wp_table_add_row(wp_result_table(run->result, "stored",
			"Documents and the results database", columns, WP_COUNT(columns)));
		wp_row_text(row, "file", path);
		wp_row_text(row, "command", result->command);
		wp_row_text(row, "started", result->started);
		wp_row_text(row, "state", is_new ? "stored" : "already there");
	} else if (rc == -WP_E_SERVER) {
		wp_err_prefix(err, "\"%s\": ", path);
	}
	free(text);
	wp_result_free(result);
	return rc;
}

/* A file that is no document, or that the server refuses, does not keep the others out. */
static int put_all(struct wp_run *run, struct wp_session *session,
	const struct store_params *params, const char *const *paths, size_t count,
	struct wp_err *err)
{
	size_t done = 0;

	for (size_t i = 0; i < count; i++) {
		struct wp_err own = { 0 };
		int rc = put(run, session, params, paths[i], &own);

		if (rc == -WP_E_STOPPED || (rc && !wp_session_is_usable(session)) ||
			(rc && i + 1 == count && done == 0 && run->problem_count == 0)) {
			*err = own;
			return rc;
		}
		if (rc)
			wp_run_problem(run, &own);
		else
			done++;
	}
	return 0;
}

static int execute(struct wp_run *run, const void *untyped, const char *const *operands,
	size_t operand_count, struct wp_err *err)
{
	const struct store_params *params = untyped;
	const struct wp_conn conn = { .dbname = params->db };
	struct wp_session *session = NULL;
	int64_t version;
	int rc = wp_session_open(run->os, &conn, &session, err);

	if (!rc)
		rc = wp_store_open(session, &version, err);
	if (!rc)
		rc = put_all(run, session, params, operands, operand_count, err);
	wp_session_close(session);
	return rc;
}

static const char *const formats[] = { "text", "json", "csv", "html", NULL };

const struct wp_command wp_cmd_store = {
	.name = "store",
	.operands = "FILE...",
	.summary = "put saved result documents into a PostgreSQL database, for a fleet",
	.epilogue =
		"The schema \"walprobe\" is made on first use. Storing a document twice changes "
		"nothing.\n\n"
		"Examples:\n"
		"  walprobe store --db \"host=metrics dbname=fleet\" *.json\n"
		"  ssh db1 walprobe inspect --format json /var/lib/postgresql | walprobe store "
		"--db fleet -\n"
		"  walprobe report --db fleet --query lying-caches\n",
	.tables = tables,
	.formats = formats,
	.params_size = sizeof(struct store_params),
	.operands_minimum = 1,
	.operands_maximum = SIZE_MAX,
	.execute = execute,
};
