/* SPDX-License-Identifier: PostgreSQL */
/*
 * tx_log.h - the log of transactions in pgbench's form; private to pg.
 *
 * Floor: pg. One file a thread: PREFIX.PID, PREFIX.PID.1 and so on. Lines gather in a buffer that
 * is written when it is full: writing is the only system call, and rare.
 * Source: PostgreSQL 18, pgbench.c, doLog().
 */
#ifndef WALPROBE_PG_TX_LOG_H
#define WALPROBE_PG_TX_LOG_H

#include "walprobe/client_loop.h"
#include "walprobe/random.h"

struct wp_tx_log;

struct wp_tx_entry {
	int64_t client;
	int64_t number;
	int64_t script;
	int64_t latency_ns;
	int64_t lag_ns;
	int64_t retries;
	int64_t now_ns; /* monotonic */
	bool is_skipped;
	bool is_serialization;
	bool is_deadlock;
};

/* what lines a run needs beside the log's own options */
struct wp_tx_log_form {
	bool has_lag;     /* a rate is set */
	bool has_skipped; /* and a latency limit */
	bool has_retries; /* more than one try */
};

/*
 * wp_tx_log_open - make the file; replaces one of the same name.
 *
 * Returns: NULL with err filled when it cannot be made.
 */
struct wp_tx_log *wp_tx_log_open(const struct wp_os *os, const struct wp_loop_log *options,
	const struct wp_tx_log_form *form, int64_t thread, struct wp_err *err);

/* wp_tx_log_add - one transaction; random draws for the sampling rate. */
void wp_tx_log_add(
	struct wp_tx_log *log, const struct wp_tx_entry *entry, struct wp_random *random);

/* wp_tx_log_close - write the rest; -WP_E_SYS or -WP_E_NOSPACE when any write failed. */
int wp_tx_log_close(struct wp_tx_log *log, struct wp_err *err);

/* ---- pure parts, for tests ---- */

/* wp_tx_log_line - one line, with its newline, into out; wall_ns since the epoch. Returns length. */
size_t wp_tx_log_line(const struct wp_loop_log *options, const struct wp_tx_log_form *form,
	const struct wp_tx_entry *entry, int64_t wall_ns, char *out, size_t size);

/* sums of one interval */
struct wp_tx_sums {
	int64_t start_s;
	int64_t count;
	double latency_us, latency_square, latency_min_us, latency_max_us;
	double lag_us, lag_square, lag_min_us, lag_max_us;
	int64_t skipped, retried, retries, serialization_failures, deadlock_failures;
};

void wp_tx_sums_add(struct wp_tx_sums *sums, const struct wp_tx_log_form *form,
	const struct wp_tx_entry *entry);
size_t wp_tx_sums_line(const struct wp_tx_sums *sums, char *out, size_t size);

#endif
