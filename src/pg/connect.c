/* SPDX-License-Identifier: PostgreSQL */
#include "pg/connect.h"
#include "walprobe/poller.h"
#include "walprobe/stop.h"

#define SLICE_NS (100 * WP_NS_PER_MS) /* how late a stop request may be seen */

char *wp_pg_one_line(char *text)
{
	size_t length = strlen(text);

	while (length && (text[length - 1] == '\n' || text[length - 1] == ' '))
		text[--length] = '\0';
	for (char *c = text; *c; c++)
		if (*c == '\n' || *c == '\t')
			*c = ' ';
	return text;
}

const char *wp_pg_message(const PGconn *connection, char *out, size_t size)
{
	(void)snprintf(out, size, "%s", PQerrorMessage(connection));
	return wp_pg_one_line(out);
}

/* A server's warnings are no part of what is measured, and the library never prints. */
static void ignore_notice(void *argument, const PGresult *notice)
{
	(void)argument;
	(void)notice;
}

static int wait_slice(
	const struct wp_os *os, int socket, unsigned interest, int64_t until_ns, struct wp_err *err)
{
	int64_t left_ns = until_ns - wp_os_now_ns(os);
	int rc = wp_stop_fail(err);

	if (rc)
		return rc;
	if (left_ns <= 0)
		return wp_fail(err, WP_E_SERVER, 0, "the server did not answer in time");
	rc = wp_poll_one(socket, interest, left_ns < SLICE_NS ? left_ns : SLICE_NS);
	if (rc < 0)
		return wp_fail(err, WP_E_SYS, -rc, "could not wait for the server's socket");
	return rc;
}

static int connect_poll(
	const struct wp_os *os, PGconn *connection, int64_t until_ns, struct wp_err *err)
{
	PostgresPollingStatusType wanted = PGRES_POLLING_WRITING;
	char message[512];

	while (wanted != PGRES_POLLING_OK) {
		int ready;

		if (wanted == PGRES_POLLING_FAILED || PQstatus(connection) == CONNECTION_BAD)
			return wp_fail(err, WP_E_SERVER, 0, "could not connect to the server: %s",
				wp_pg_message(connection, message, sizeof(message)));
		ready = wait_slice(os, PQsocket(connection),
			wanted == PGRES_POLLING_READING ? WP_POLL_READ : WP_POLL_WRITE, until_ns,
			err);
		if (ready < 0) {
			wp_err_prefix(err, "could not connect to the server: ");
			return ready;
		}
		if (ready)
			wanted = PQconnectPoll(connection);
	}
	return 0;
}

static void connect_hint(struct wp_err *err)
{
	if (err && err->code == WP_E_SERVER && !err->hint[0])
		wp_err_hint(err, "Check host, port, user, password and database (-h -p -U -d, PG* "
				 "variables, ~/.pgpass), and that the server runs.");
}

int wp_pg_connect(const struct wp_os *os, const struct wp_conn *conn, int64_t until_ns,
	PGconn **out, struct wp_err *err)
{
	const char *keywords[8];
	const char *values[8];
	size_t count = 0;
	PGconn *connection;
	int rc = 0;

#define WORD(keyword, value)                                                                       \
	do {                                                                                       \
		if (value) {                                                                       \
			keywords[count] = (keyword);                                               \
			values[count++] = (value);                                                 \
		}                                                                                  \
	} while (0)
	WORD("host", conn->host);
	WORD("port", conn->port);
	WORD("user", conn->user);
	WORD("dbname", conn->dbname);
	/* Told from other sessions by its name, whatever PGAPPNAME says. */
	WORD("application_name", conn->application ? conn->application : "walprobe");
#undef WORD
	keywords[count] = values[count] = NULL;
	connection = PQconnectStartParams(keywords, values, 1);
	if (!connection)
		return wp_fail(err, WP_E_SYS, ENOMEM, "could not connect to the server");
	(void)PQsetNoticeReceiver(connection, ignore_notice, NULL);
	rc = connect_poll(os, connection, until_ns, err);
	if (!rc && PQsetnonblocking(connection, 1) < 0)
		rc = wp_fail(err, WP_E_SERVER, 0, "could not make the connection non-blocking");
	if (rc) {
		PQfinish(connection);
		connect_hint(err);
		return rc;
	}
	*out = connection;
	return 0;
}

static int lost(const PGconn *connection, struct wp_err *err)
{
	char message[512];

	return wp_fail(
		err, WP_E_SERVER, 0, "%s", wp_pg_message(connection, message, sizeof(message)));
}

int wp_pg_flush(const struct wp_os *os, PGconn *connection, int64_t until_ns, struct wp_err *err)
{
	int pending;

	while ((pending = PQflush(connection)) > 0) {
		int ready = wait_slice(
			os, PQsocket(connection), WP_POLL_READ | WP_POLL_WRITE, until_ns, err);

		if (ready < 0)
			return ready;
		/* A server that waits to be read from will not read. */
		if ((ready & WP_POLL_READ) && !PQconsumeInput(connection))
			return lost(connection, err);
	}
	return pending < 0 ? lost(connection, err) : 0;
}

static bool is_bad(const PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);

	return status == PGRES_FATAL_ERROR || status == PGRES_BAD_RESPONSE ||
	       status == PGRES_NONFATAL_ERROR;
}

static bool is_copy(const PGresult *result)
{
	return PQresultStatus(result) == PGRES_COPY_IN;
}

/* The next result; *over when there is none. Waits for input only when there is not enough. */
static int next_result(const struct wp_os *os, PGconn *connection, int64_t until_ns,
	PGresult **next, struct wp_err *err)
{
	while (PQisBusy(connection)) {
		int ready = wait_slice(os, PQsocket(connection), WP_POLL_READ, until_ns, err);

		if (ready < 0)
			return ready;
		if (ready && !PQconsumeInput(connection))
			return lost(connection, err);
	}
	*next = PQgetResult(connection);
	return 0;
}

int wp_pg_finish_command(const struct wp_os *os, PGconn *connection, int64_t until_ns,
	PGresult **result, struct wp_err *err)
{
	PGresult *last = NULL;
	int rc = wp_pg_flush(os, connection, until_ns, err);

	while (!rc) {
		PGresult *next = NULL;

		rc = next_result(os, connection, until_ns, &next, err);
		if (rc || !next)
			break;
		if (last && is_bad(last)) {
			PQclear(next);
			continue;
		}
		PQclear(last);
		last = next;
		if (is_copy(last))
			break;
	}
	if (!rc && last && is_bad(last) && PQstatus(connection) != CONNECTION_OK)
		rc = lost(connection, err);
	if (rc) {
		PQclear(last);
		return rc;
	}
	*result = last;
	return 0;
}
