/* SPDX-License-Identifier: PostgreSQL */
#include "cli/store_query.h"
#include "walprobe/mem.h"
#include "walprobe/store.h"

#define SQL_BYTES ((size_t)1 << 20)

static const struct wp_store_query *find(const char *name)
{
	for (const struct wp_store_query *query = wp_store_queries; query->name; query++)
		if (strcmp(query->name, name) == 0)
			return query;
	return NULL;
}

static int unknown(const char *name, struct wp_err *err)
{
	char names[256] = "";
	size_t used = 0;
	int rc = wp_fail(err, WP_E_USAGE, 0, "there is no query \"%s\"", name);

	for (const struct wp_store_query *query = wp_store_queries; query->name; query++) {
		(void)snprintf(
			names + used, sizeof(names) - used, "%s%s", used ? ", " : "", query->name);
		used = strlen(names);
	}
	wp_err_hint(err, "Queries are %s; --sql takes a file with one of your own.", names);
	return rc;
}

static void fill_cell(struct wp_row *out, const char *key, enum wp_rows_kind kind,
	const struct wp_rows *rows, int row, int column)
{
	const char *text = wp_rows_text(rows, row, column);
	int64_t integer;
	double real;

	if (!text)
		wp_row_absent(out, key, NULL);
	else if (kind == WP_ROWS_INT && wp_rows_int(rows, row, column, &integer))
		wp_row_int(out, key, integer);
	else if (kind == WP_ROWS_REAL && wp_rows_real(rows, row, column, &real))
		wp_row_real(out, key, real);
	else if (kind == WP_ROWS_TEXT)
		wp_row_text(out, key, text);
	else
		wp_row_absent(out, key, "not a finite number");
}

static enum wp_kind kind_of(enum wp_rows_kind kind)
{
	return kind == WP_ROWS_INT    ? WP_KIND_INT
	       : kind == WP_ROWS_REAL ? WP_KIND_REAL
				      : WP_KIND_TEXT;
}

/* Two columns of one name would be one key: the second is told apart by its place. */
static void name_columns(struct wp_column *columns, const struct wp_rows *rows)
{
	for (int i = 0; i < rows->columns; i++) {
		char *key = wp_xstrdup(wp_rows_name(rows, i));

		for (int j = 0; j < i; j++) {
			if (strcmp(columns[j].key, key) != 0)
				continue;
			free(key);
			key = wp_xasprintf("%s_%d", wp_rows_name(rows, i), i + 1);
			j = -1;
		}
		columns[i] = (struct wp_column){ .key = key,
			.label = key,
			.unit = "",
			.kind = kind_of(wp_rows_kind(rows, i)),
			.meaning = "" };
	}
}

static void fill_table(
	struct wp_run *run, const char *name, const char *title, const struct wp_rows *rows)
{
	struct wp_column *columns = wp_xcalloc((size_t)rows->columns + 1, sizeof(*columns));
	struct wp_table *table;

	name_columns(columns, rows);
	table = wp_result_table(run->result, name, title, columns, (size_t)rows->columns);
	for (int i = 0; i < rows->count; i++) {
		struct wp_row *row = wp_table_add_row(table);

		for (int j = 0; j < rows->columns; j++)
			fill_cell(row, columns[j].key, wp_rows_kind(rows, j), rows, i, j);
	}
	for (int i = 0; i < rows->columns; i++)
		free((char *)(uintptr_t)columns[i].key);
	free(columns);
}

static int read_sql(const struct wp_os *os, const char *path, char **sql, struct wp_err *err)
{
	int sys_errno;

	*sql = wp_os_read_text(os, path, SQL_BYTES, &sys_errno);
	if (!*sql)
		return wp_fail(err, WP_E_SYS, sys_errno, "could not read \"%s\"", path);
	return 0;
}

int wp_store_query(
	struct wp_run *run, const char *db, const char *name, const char *path, struct wp_err *err)
{
	const struct wp_conn conn = { .dbname = db };
	const struct wp_store_query *query = name ? find(name) : NULL;
	struct wp_session *session = NULL;
	struct wp_rows rows;
	char *sql = NULL;
	int rc = 0;

	if (name && !query)
		return unknown(name, err);
	if (path)
		rc = read_sql(run->os, path, &sql, err);
	if (!rc)
		rc = wp_session_open(run->os, &conn, &session, err);
	if (!rc)
		rc = wp_store_check(session, err);
	if (!rc)
		rc = wp_store_read(session, query ? query->sql : sql, &rows, err);
	if (!rc && rows.columns == 0) {
		rc = wp_fail(err, WP_E_USAGE, 0, "\"%s\" returns no rows", path ? path : name);
		wp_err_hint(err, "Give one SELECT.");
	}
	if (!rc)
		fill_table(run, query ? query->name : "query",
			query ? query->meaning : "rows of the statement", &rows);
	wp_session_close(session);
	free(sql);
	return rc;
}
