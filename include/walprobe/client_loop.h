/* SPDX-License-Identifier: PostgreSQL */
/*
 * client_loop.h - many clients over non-blocking libpq in one or few threads.
 *
 * Floor: pg (may include base, os, stats).
 * Every thread waits for its clients' sockets with one epoll and walks each client through its
 * scripts: one system call to send a statement and one to read the answer, and one wait for all
 * that are ready. The clock is read once where one transaction ends and the next begins. Nothing
 * of ours is allocated in a transaction.
 *
 * What happens to a transaction, after pgbench (src/bin/pgbench/pgbench.c, advanceConnectionState):
 *
 *   transactions + failed + skipped = all that were begun or scheduled in the measured part
 *   failed = serialization + deadlock failures that were not (or no longer) tried again
 *   skipped: too late already under a latency limit when its scheduled time came
 *   cut: under way when the time was over and the server did not answer any more
 *
 * Any other error ends its client; then the step is over for all unless is_keep_going.
 * Threads: wp_loop_run() starts its own and is called by one thread at a time.
 */
#ifndef WALPROBE_CLIENT_LOOP_H
#define WALPROBE_CLIENT_LOOP_H

#include "walprobe/hist.h"
#include "walprobe/session.h"
#include "walprobe/workload.h"

#define WP_LOOP_CLIENTS_MAX 1000

/* counters that only grow */
struct wp_loop_counts {
	int64_t transactions; /* done without error */
	int64_t skipped;
	int64_t late; /* done, above the latency limit */
	int64_t serialization_failures;
	int64_t deadlock_failures;
	int64_t retried; /* transactions that were tried more than once */
	int64_t retries; /* tries beyond the first */
	int64_t latency_sum_ns;
	int64_t lag_sum_ns; /* behind the schedule */
	double latency_square_sum;
};

/* one line of -P */
struct wp_loop_progress {
	int64_t since_start_ns;
	int64_t interval_ns;
	struct wp_loop_counts interval; /* of the last interval only */
	int64_t silent_ns; /* since the last transaction that was done, when none was in the
			      interval; else 0 */
};

/* what the transactions' log needs; all zero: no log */
struct wp_loop_log {
	const char *prefix;   /* NULL: no log */
	double sampling_rate; /* 0: all */
	int64_t aggregate_ns; /* 0: one line a transaction */
	bool is_detailed;     /* failures by kind */
};

struct wp_loop_options {
	const struct wp_conn *conn;
	const struct wp_workload *workload;
	int64_t clients;
	int64_t threads;      /* at most clients */
	int64_t transactions; /* of each client; 0: by time */
	int64_t duration_ns;  /* of the measured part, when transactions is 0 */
	int64_t warmup_ns;    /* real, committed transactions before the clock; 0: none */
	bool has_untimed;     /* each script once on every connection, rolled back, not counted */
	bool is_reconnecting; /* a connection for every transaction */
	bool has_wal_timing;  /* set track_wal_io_timing, where the role may */
	bool is_keep_going;   /* a lost client does not end the step, while there is another */
	bool is_detailed;     /* per statement */
	double rate_per_s;    /* 0: as fast as it goes */
	int64_t latency_limit_ns;
	int64_t max_tries;      /* 0: no limit */
	int64_t stall_limit_ns; /* the step is over when no server answered that long */
	uint64_t seed;
	struct wp_loop_log log;
	/* all in the calling thread; NULL: nobody listens */
	void (*begin)(void *ctx); /* all clients are ready, the clock starts afterwards */
	void (*end)(void *ctx);   /* the clock has stopped, all are still connected */
	int64_t progress_ns;      /* 0: none */
	void (*progress)(void *ctx, const struct wp_loop_progress *progress);
	void *ctx;
};

/* of one command of a script, over all clients */
struct wp_loop_command {
	int64_t count;
	int64_t sum_ns;
	int64_t failures;
	int64_t retries; /* failures after which the transaction was tried again */
};

/* of one script, over all clients */
struct wp_loop_script {
	int64_t transactions;
	int64_t serialization_failures;
	int64_t deadlock_failures;
	int64_t latency_sum_ns;
	double latency_square_sum;
};

struct wp_loop_result {
	struct wp_loop_counts counts;
	int64_t cut;
	int64_t warmup_transactions;
	int64_t connections;
	int64_t connect_ns;   /* one after the other within a thread; the slowest thread's */
	int64_t reconnect_ns; /* sum over the transactions, with is_reconnecting */
	int64_t elapsed_ns;
	int64_t overrun_ns; /* beyond duration_ns; 0: none */
	int64_t cpu_ns;     /* of all client threads in the measured part */
	int64_t lag_max_ns;
	int64_t stall_ns; /* longest time in which no transaction was done */
	int64_t lost_clients;
	int64_t idle_clients; /* that did not finish a single transaction */
	int64_t own_commits;  /* that connecting, preparing and warming up added to the server's */
	bool is_wal_timed;    /* the clients' backends timed their writes and syncs of the log */
	struct wp_err loss;   /* of the first client that was lost */
	struct wp_loop_command *commands; /* of all scripts in order; NULL without is_detailed */
	size_t command_count;
	struct wp_loop_script *scripts;
	size_t script_count;
};

/*
 * wp_loop_run - connect, run, disconnect.
 *
 * latency  initialised by the caller; receives every transaction that was done: from its scheduled
 *          time under a rate, else from its beginning.
 * result   filled also when an error is returned; release with wp_loop_result_release().
 * Returns: 0, also when clients were lost with is_keep_going; -WP_E_SERVER when a client could not
 * connect or was lost (result->loss is the same error) or the server stalled; -WP_E_SYS;
 * -WP_E_STOPPED.
 */
int wp_loop_run(const struct wp_os *os, const struct wp_loop_options *options,
	struct wp_hist *latency, struct wp_loop_result *result, struct wp_err *err);

/* wp_loop_result_release - accepts a zeroed struct. */
void wp_loop_result_release(struct wp_loop_result *result);

/* wp_loop_counts_add, wp_loop_counts_subtract - into += or -= other. */
void wp_loop_counts_add(struct wp_loop_counts *into, const struct wp_loop_counts *other);
void wp_loop_counts_subtract(struct wp_loop_counts *into, const struct wp_loop_counts *other);

#endif
