/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/session.h"
#include "pg/connect.h"
#include "walprobe/mem.h"

#include <stdlib.h>

#define CONNECT_LIMIT_NS (10 * WP_NS_PER_S)
#define INSUFFICIENT_PRIVILEGE "42501"
#define QUERY_LIMIT_NS (60 * WP_NS_PER_S)
#define TEXT_FORMAT 0

/* pg_type.dat: these never change */
enum {
	OID_INT8 = 20,
	OID_INT2 = 21,
	OID_INT4 = 23,
	OID_FLOAT4 = 700,
	OID_FLOAT8 = 701,
	OID_NUMERIC = 1700,
};

struct wp_session {
	const struct wp_os *os;
	PGconn *connection;
	PGresult *result;
	char sqlstate[6];
};

int wp_session_open(const struct wp_os *os, const struct wp_conn *conn, struct wp_session **out,
	struct wp_err *err)
{
	int64_t limit_ns = conn->limit_ns ? conn->limit_ns : CONNECT_LIMIT_NS;
	PGconn *connection = NULL;
	int rc = wp_pg_connect(os, conn, wp_os_now_ns(os) + limit_ns, &connection, err);

	if (rc)
		return rc;
	*out = wp_xcalloc(1, sizeof(**out));
	(*out)->os = os;
	(*out)->connection = connection;
	return 0;
}

void wp_session_close(struct wp_session *session)
{
	if (!session)
		return;
	PQclear(session->result);
	PQfinish(session->connection);
	free(session);
}

int wp_session_version(const struct wp_session *session)
{
	return PQserverVersion(session->connection);
}

const char *wp_session_version_text(const struct wp_session *session)
{
	const char *text = PQparameterStatus(session->connection, "server_version");

	return text ? text : "";
}

static bool is_socket(const PGconn *connection)
{
	const char *host = PQhost(connection);

	return !host || !*host || *host == '/' || *host == '@';
}

const char *wp_session_transport(const struct wp_session *session)
{
	if (is_socket(session->connection))
		return "Unix socket";
	return PQsslInUse(session->connection) ? "TCP with TLS" : "TCP";
}

bool wp_session_is_this_host(const struct wp_session *session)
{
	const char *host = PQhost(session->connection);

	return is_socket(session->connection) || strcmp(host, "localhost") == 0 ||
	       strcmp(host, "127.0.0.1") == 0 || strcmp(host, "::1") == 0;
}

bool wp_session_is_usable(const struct wp_session *session)
{
	return PQstatus(session->connection) == CONNECTION_OK &&
	       PQtransactionStatus(session->connection) != PQTRANS_ACTIVE;
}

const char *wp_session_place(const struct wp_session *session, char *out, size_t size)
{
	const PGconn *connection = session->connection;

	(void)snprintf(out, size, "database \"%s\" on %s \"%s\" port %s", PQdb(connection),
		is_socket(connection) ? "socket" : "host", PQhost(connection), PQport(connection));
	return out;
}

static int refuse(struct wp_session *session, const char *doing, struct wp_err *err)
{
	const char *sqlstate = PQresultErrorField(session->result, PG_DIAG_SQLSTATE);
	const char *primary = PQresultErrorField(session->result, PG_DIAG_MESSAGE_PRIMARY);
	const char *hint = PQresultErrorField(session->result, PG_DIAG_MESSAGE_HINT);
	char message[512];

	if (sqlstate)
		(void)snprintf(session->sqlstate, sizeof(session->sqlstate), "%s", sqlstate);
	(void)snprintf(message, sizeof(message), "%s",
		primary ? primary : PQresultErrorMessage(session->result));
	(void)wp_fail(err, WP_E_SERVER, 0, "%s: %s", doing, wp_pg_one_line(message));
	if (hint)
		wp_err_hint(err, "%s", hint);
	else if (strcmp(session->sqlstate, INSUFFICIENT_PRIVILEGE) == 0)
		wp_err_hint(err, "Grant it to this role, or connect as another one (-U).");
	return -WP_E_SERVER;
}

static bool is_good(const PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);

	return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_COPY_IN ||
	       status == PGRES_EMPTY_QUERY;
}

/* What the command that was sent gave. */
static int finish(struct wp_session *session, int64_t limit_ns, const char *doing,
	struct wp_rows *rows, struct wp_err *err)
{
	int64_t until_ns = wp_os_now_ns(session->os) + (limit_ns ? limit_ns : QUERY_LIMIT_NS);
	PGresult *result = NULL;
	int rc = wp_pg_finish_command(session->os, session->connection, until_ns, &result, err);

	if (rc) {
		wp_err_prefix(err, "%s: ", doing);
		return rc;
	}
	PQclear(session->result);
	session->result = result;
	session->sqlstate[0] = '\0';
	if (!result || !is_good(result))
		return refuse(session, doing, err);
	if (rows)
		*rows = (struct wp_rows){
			.count = PQntuples(result), .columns = PQnfields(result), .result = result
		};
	return 0;
}

int wp_session_query(struct wp_session *session, const char *sql, int64_t limit_ns,
	const char *doing, struct wp_rows *rows, struct wp_err *err)
{
	char message[512];

	if (!PQsendQuery(session->connection, sql))
		return wp_fail(err, WP_E_SERVER, 0, "%s: %s", doing,
			wp_pg_message(session->connection, message, sizeof(message)));
	return finish(session, limit_ns, doing, rows, err);
}

int wp_session_query_with(struct wp_session *session, const char *sql, const char *const *values,
	int value_count, int64_t limit_ns, const char *doing, struct wp_rows *rows,
	struct wp_err *err)
{
	char message[512];

	if (!PQsendQueryParams(
		    session->connection, sql, value_count, NULL, values, NULL, NULL, TEXT_FORMAT))
		return wp_fail(err, WP_E_SERVER, 0, "%s: %s", doing,
			wp_pg_message(session->connection, message, sizeof(message)));
	return finish(session, limit_ns, doing, rows, err);
}

const char *wp_session_sqlstate(const struct wp_session *session)
{
	return session->sqlstate;
}

const char *wp_rows_name(const struct wp_rows *rows, int column)
{
	return PQfname(rows->result, column);
}

enum wp_rows_kind wp_rows_kind(const struct wp_rows *rows, int column)
{
	switch (PQftype(rows->result, column)) {
	case OID_INT2:
	case OID_INT4:
	case OID_INT8:
		return WP_ROWS_INT;
	case OID_FLOAT4:
	case OID_FLOAT8:
	case OID_NUMERIC:
		return WP_ROWS_REAL;
	default:
		return WP_ROWS_TEXT;
	}
}

const char *wp_rows_text(const struct wp_rows *rows, int row, int column)
{
	const PGresult *result = rows->result;

	if (row >= rows->count || column >= rows->columns || PQgetisnull(result, row, column))
		return NULL;
	return PQgetvalue(result, row, column);
}

bool wp_rows_int(const struct wp_rows *rows, int row, int column, int64_t *out)
{
	const char *text = wp_rows_text(rows, row, column);
	char *end;
	long long value;

	if (!text || !*text)
		return false;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || *end)
		return false;
	*out = value;
	return true;
}

bool wp_rows_real(const struct wp_rows *rows, int row, int column, double *out)
{
	const char *text = wp_rows_text(rows, row, column);
	char *end;
	double value;

	if (!text || !*text)
		return false;
	value = strtod(text, &end);
	if (*end)
		return false;
	*out = value;
	return true;
}

int wp_session_copy(
	struct wp_session *session, const char *bytes, size_t length, struct wp_err *err)
{
	static const char doing[] = "could not copy rows to the server";
	int64_t until_ns = wp_os_now_ns(session->os) + QUERY_LIMIT_NS;
	char message[512];
	int rc;

	if (length) {
		while ((rc = PQputCopyData(session->connection, bytes, (int)length)) == 0) {
			rc = wp_pg_flush(session->os, session->connection, until_ns, err);
			if (rc)
				break;
		}
	} else {
		rc = PQputCopyEnd(session->connection, NULL);
	}
	if (rc < 0 && rc != -1) {
		wp_err_prefix(err, "%s: ", doing);
		return rc;
	}
	if (rc < 0)
		return wp_fail(err, WP_E_SERVER, 0, "%s: %s", doing,
			wp_pg_message(session->connection, message, sizeof(message)));
	if (length)
		return wp_pg_flush(session->os, session->connection, until_ns, err);
	return finish(session, 0, doing, NULL, err);
}
