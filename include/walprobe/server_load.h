/* SPDX-License-Identifier: PostgreSQL */
/*
 * server_load.h - the model of pg_wal under the load of a server: clients, backends and what they
 * do between two flushes.
 *
 * Floor: wal (may include base, os, stats). One thread serves all clients, as walprobe ramp does;
 * each client has a backend and a socket between them. A backend is a process that leads a session
 * of its own, as a server's is, where the pg_wal can be shared between processes (is_shared), else
 * a thread. A transaction is
 * its statements: the client does its work and sends, the backend wakes up, does its work, takes
 * the row locks that the statement takes, and answers; the last statement inserts the records,
 * flushes, and ends the transaction, which frees its rows. Work burns processor time in units
 * (work.h), so who runs when is for the machine to decide, as with a server. Nothing is allocated
 * while the clock runs.
 * Source: PostgreSQL postgres.c, PostgresMain(); be-secure.c, secure_read(); xact.c,
 * CommitTransaction(): the flush comes before the locks are released and the client is answered.
 * Threads: main thread only; one run at a time per pg_wal.
 */
#ifndef WALPROBE_SERVER_LOAD_H
#define WALPROBE_SERVER_LOAD_H

#include "walprobe/wal_load.h"

#define WP_TX_STATEMENTS_MAXIMUM 8
/* memory that work reads: all backends the same (a server's code and common data), each its own, and
 * the client thread; about what they touch of the caches */
#define WP_TX_COMMON_BYTES ((size_t)256 << 10)
#define WP_TX_BACKEND_BYTES ((size_t)64 << 10)
#define WP_TX_CLIENT_BYTES ((size_t)64 << 10)
#define WP_TX_COMMON_SHARE 0.8 /* of a backend's work */

/* one kind of transaction */
struct wp_tx_shape {
	const char *name; /* of the built-in script */
	int statements;
	double shares[WP_TX_STATEMENTS_MAXIMUM]; /* of the server's work; sum 1 */
	int xid_statement;                       /* the first that writes */
	int teller_statement;                    /* -1: none */
	int branch_statement;                    /* -1: none */
	int64_t record_bytes; /* WAL without page images, as measured with PostgreSQL 15 */
	double commit_share;  /* of the last statement's work, before the records are inserted */
};

/* wp_tx_shape_find - the shape of a built-in script of walprobe ramp; NULL: none is known. */
const struct wp_tx_shape *wp_tx_shape_find(const char *name);

/* full page images after a checkpoint: transaction k has first x exp(-k / pages) on average */
struct wp_tx_images {
	double first;
	double pages;   /* 0: none */
	double stretch; /* transactions that each one here stands for; 1: itself */
	int64_t bytes;  /* WAL of one image */
};

struct wp_server_load {
	const struct wp_tx_shape *shape;
	enum wp_method method;
	int64_t clients;
	int64_t scale;        /* branches; ten times as many tellers */
	double server_units;  /* work of one transaction in its backend */
	double client_units;  /* and in the client thread */
	int64_t record_bytes; /* WAL of one transaction without images */
	struct wp_tx_images images;
	int64_t commit_delay_ns;
	int64_t commit_siblings;
	uint64_t seed;
};

/* what one run gave */
struct wp_server_figures {
	struct wp_wal_figures wal; /* commits: transactions done */
	int64_t server_cpu_ns;     /* of all backends */
	int64_t client_cpu_ns;
	int64_t row_waits; /* row locks that were not free at once */
};

/*
 * wp_server_run - run a load for at least least_ns.
 *
 * hist  latencies of transactions are added; initialised.
 * Segments are taken as they are: nothing is recycled meanwhile, as between two checkpoints.
 * Returns: 0; -WP_E_STOPPED when a signal came (figures are set all the same); or -code of the
 * first error, after which this pg_wal acknowledges nothing any more.
 */
int wp_server_run(struct wp_wal *wal, const struct wp_server_load *load, int64_t least_ns,
	struct wp_hist *hist, struct wp_server_figures *figures, struct wp_err *err);

/* wp_server_figures_add - add the figures of one more run to a sum. */
void wp_server_figures_add(struct wp_server_figures *sum, const struct wp_server_figures *more);

#endif
