/* SPDX-License-Identifier: PostgreSQL */
/*
 * store.h - result documents in a PostgreSQL database, and what is asked of a fleet's.
 *
 * Floor: pg (may include base, os, stats). The schema "walprobe" is made or upgraded by the first
 * session that needs it, under an advisory lock; sql/store_schema_N.sql brings version N - 1 to N.
 * A document is taken apart by the server (function walprobe.put), in one transaction.
 * Threads: one session per thread.
 */
#ifndef WALPROBE_STORE_H
#define WALPROBE_STORE_H

#include "walprobe/session.h"

/* a question that has a view */
struct wp_store_query {
	const char *name;    /* as typed after --query */
	const char *meaning; /* one lower-case clause */
	const char *sql;
};

extern const struct wp_store_query wp_store_queries[]; /* ends with a NULL name */

/*
 * wp_store_open - make the schema ready: created where it is missing, upgraded where it is older.
 *
 * Returns: 0 with *version of the schema; -WP_E_SERVER (also when it is newer than this program
 * knows, or somebody else's schema of that name), -WP_E_STOPPED. Nothing is half done.
 */
int wp_store_open(struct wp_session *session, int64_t *version, struct wp_err *err);

/*
 * wp_store_check - as wp_store_open(), but nothing is made: for readers.
 *
 * Returns: 0; -WP_E_SERVER when the schema is missing, older or newer.
 */
int wp_store_check(struct wp_session *session, struct wp_err *err);

/*
 * wp_store_put - one document, in a transaction of its own.
 *
 * json     the document as text.
 * host     whose it is; NULL: as the document says.
 * *is_new  false when it was there already, and nothing changed.
 * Returns: 0, -WP_E_SERVER, -WP_E_STOPPED.
 */
int wp_store_put(struct wp_session *session, const char *json, const char *host, bool *is_new,
	struct wp_err *err);

/* wp_store_read - run a question in a read-only transaction; rows as in wp_session_query(). */
int wp_store_read(
	struct wp_session *session, const char *sql, struct wp_rows *rows, struct wp_err *err);

#endif
