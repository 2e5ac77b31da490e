/* SPDX-License-Identifier: PostgreSQL */
/*
 * pgbench_init.h - make and fill the four tables that pgbench's built-in scripts use.
 *
 * Floor: pg (may include base, os, stats). The tables are pgbench's, name by name and column by
 * column, so that either program can use what the other has made.
 * Source: PostgreSQL 18, src/bin/pgbench/pgbench.c (initCreateTables and what follows).
 * Threads: one session per thread.
 */
#ifndef WALPROBE_PGBENCH_INIT_H
#define WALPROBE_PGBENCH_INIT_H

#include "walprobe/session.h"

#define WP_INIT_ACCOUNTS 100000 /* per unit of scale */
#define WP_INIT_TELLERS 10

struct wp_init_options {
	const char *steps; /* letters d t g G v p f in order; blanks are allowed */
	int64_t scale;
	int64_t fillfactor;
	int64_t partitions; /* of pgbench_accounts; 0: none */
	bool is_hash;       /* partitioned by hash, else by range */
	bool is_unlogged;
	bool is_replacing; /* tables that are there may be dropped or emptied */
	/* done of total rows of the accounts; NULL: nobody looks */
	void (*progress)(void *ctx, int64_t done, int64_t total);
	void *ctx;
};

/* time of each kind of step */
struct wp_init_times {
	int64_t drop_ns, create_ns, generate_ns, vacuum_ns, primary_keys_ns, foreign_keys_ns;
};

/* wp_init_check - 0, or -WP_E_USAGE for letters that are no step. */
int wp_init_check(const char *steps, struct wp_err *err);

/*
 * wp_init_run - do the steps.
 *
 * Everything up to a VACUUM is one transaction: when it fails or is stopped nothing has changed.
 * Returns: 0; -WP_E_DATA when tables are there that the steps would drop, make or empty, without
 * is_replacing; -WP_E_SERVER; -WP_E_STOPPED.
 */
int wp_init_run(const struct wp_os *os, struct wp_session *session,
	const struct wp_init_options *options, struct wp_init_times *times, struct wp_err *err);

#endif
