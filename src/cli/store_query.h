/* SPDX-License-Identifier: PostgreSQL */
/*
 * store_query.h - a question to the results database becomes a table.
 *
 * Floor: cli.
 */
#ifndef WALPROBE_CLI_STORE_QUERY_H
#define WALPROBE_CLI_STORE_QUERY_H

#include "walprobe/run.h"

/*
 * wp_store_query - add the rows of a question to run->result, as a table with the question's name.
 *
 * db    database name, connection string or URI.
 * name  of a question in wp_store_queries, or NULL.
 * path  of a file with one SQL statement of the user's, or NULL; exactly one of the two is given.
 * Returns: 0; -WP_E_USAGE for an unknown name, -WP_E_SERVER, -WP_E_SYS, -WP_E_STOPPED.
 */
int wp_store_query(
	struct wp_run *run, const char *db, const char *name, const char *path, struct wp_err *err);

#endif
