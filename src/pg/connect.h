/* SPDX-License-Identifier: PostgreSQL */
/*
 * connect.h - libpq with an end to every wait; private to pg.
 *
 * Floor: pg. Threads: yes, each with connections of its own.
 */
#ifndef WALPROBE_PG_CONNECT_H
#define WALPROBE_PG_CONNECT_H

#include "walprobe/session.h"

#include <libpq-fe.h>

/*
 * wp_pg_connect - a non-blocking connection, or the reason why there is none.
 *
 * until_ns  monotonic time at which the attempt ends.
 * Returns: 0, -WP_E_SERVER with libpq's message, -WP_E_STOPPED.
 */
int wp_pg_connect(const struct wp_os *os, const struct wp_conn *conn, int64_t until_ns,
	PGconn **out, struct wp_err *err);

/*
 * wp_pg_finish_command - send what is pending and read until the command is over.
 *
 * result    receives the last result, or the first that is an error; the caller clears it. NULL
 *           when there was none.
 * Returns: 0, also for an error that the server sent; -WP_E_SERVER when the connection was lost
 * or the time ran out; -WP_E_STOPPED.
 */
int wp_pg_finish_command(const struct wp_os *os, PGconn *connection, int64_t until_ns,
	PGresult **result, struct wp_err *err);

/* wp_pg_flush - send all that is pending before until_ns; returns as wp_pg_finish_command(). */
int wp_pg_flush(const struct wp_os *os, PGconn *connection, int64_t until_ns, struct wp_err *err);

/* wp_pg_one_line - libpq's message without its newlines, in place; returns text. */
char *wp_pg_one_line(char *text);

/* wp_pg_message - message of a connection in one line, at most size bytes; returns out. */
const char *wp_pg_message(const PGconn *connection, char *out, size_t size);

#endif
