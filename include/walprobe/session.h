/* SPDX-License-Identifier: PostgreSQL */
/*
 * session.h - one connection to a server for what is not measured: every wait has an end.
 *
 * Floor: pg (may include base, os, stats). Connecting, statements and rows over non-blocking
 * libpq; a stop request (stop.h) ends every wait with -WP_E_STOPPED.
 * Threads: one session per thread.
 */
#ifndef WALPROBE_SESSION_H
#define WALPROBE_SESSION_H

#include "walprobe/os.h"

/* Where to connect. Texts may be NULL: then libpq's defaults, PG* variables and ~/.pgpass hold. */
struct wp_conn {
	const char *dbname; /* name, connection string or URI */
	const char *host;
	const char *port;
	const char *user;
	const char *application; /* application_name; NULL: walprobe */
	int64_t limit_ns;        /* for connecting; 0: 10 s */
};

struct wp_session;

/*
 * wp_session_open - connect.
 *
 * Returns: 0 with *out (close with wp_session_close()), or -WP_E_SERVER with libpq's message and a
 * hint; -WP_E_STOPPED.
 */
int wp_session_open(const struct wp_os *os, const struct wp_conn *conn, struct wp_session **out,
	struct wp_err *err);

/* wp_session_close - accepts NULL. */
void wp_session_close(struct wp_session *session);

/* wp_session_version - 150018; wp_session_version_text - "15.18 (Debian ...)", borrowed. */
int wp_session_version(const struct wp_session *session);
const char *wp_session_version_text(const struct wp_session *session);

/* wp_session_transport - "Unix socket", "TCP" or "TCP with TLS"; static storage. */
const char *wp_session_transport(const struct wp_session *session);

/* wp_session_is_this_host - true for a socket and for the loopback addresses. */
bool wp_session_is_this_host(const struct wp_session *session);

/* wp_session_is_usable - false when the connection was lost or a command did not end in time. */
bool wp_session_is_usable(const struct wp_session *session);

/* wp_session_place - "database "x" on socket "/run" port 5432", for messages; into out. */
const char *wp_session_place(const struct wp_session *session, char *out, size_t size);

/* rows of one statement; texts are borrowed until the next statement of the session */
struct wp_rows {
	int count;
	int columns;
	const void *result; /* private */
};

/*
 * wp_session_query - run one statement (or several; the rows are the last one's), at most
 * limit_ns, 0 for 60 s.
 *
 * doing    for the message: "could not read X"
 * rows     may be NULL
 * Returns: 0; -WP_E_SERVER with the server's message, and sqlstate of it (wp_session_sqlstate());
 * -WP_E_STOPPED. When the time ran out the session is of no more use.
 */
int wp_session_query(struct wp_session *session, const char *sql, int64_t limit_ns,
	const char *doing, struct wp_rows *rows, struct wp_err *err);

/*
 * wp_session_query_with - as wp_session_query() for one statement with parameters $1, $2 ...; a
 * value is a text or NULL.
 */
int wp_session_query_with(struct wp_session *session, const char *sql, const char *const *values,
	int value_count, int64_t limit_ns, const char *doing, struct wp_rows *rows,
	struct wp_err *err);

/* wp_session_sqlstate - of the last statement that failed, "" when it had none. */
const char *wp_session_sqlstate(const struct wp_session *session);

/* What a column's values are. */
enum wp_rows_kind {
	WP_ROWS_INT,
	WP_ROWS_REAL,
	WP_ROWS_TEXT,
};

/* wp_rows_name - name of a column, borrowed; wp_rows_kind - what its values are. */
const char *wp_rows_name(const struct wp_rows *rows, int column);
enum wp_rows_kind wp_rows_kind(const struct wp_rows *rows, int column);

/* wp_rows_text - a value, NULL where it is null. */
const char *wp_rows_text(const struct wp_rows *rows, int row, int column);

/* wp_rows_int - a value as a number; false where it is null or none. */
bool wp_rows_int(const struct wp_rows *rows, int row, int column, int64_t *out);

/* wp_rows_real - as wp_rows_int for numbers with a fraction. */
bool wp_rows_real(const struct wp_rows *rows, int row, int column, double *out);

/*
 * wp_session_copy_line - send bytes of a COPY FROM STDIN that wp_session_query() began; length 0
 * ends it.
 *
 * Returns: 0, -WP_E_SERVER, -WP_E_STOPPED.
 */
int wp_session_copy(
	struct wp_session *session, const char *bytes, size_t length, struct wp_err *err);

#endif
