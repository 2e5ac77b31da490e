/* SPDX-License-Identifier: PostgreSQL */
/*
 * loop_internal.h - clients and threads of a client loop; private to pg.
 *
 * Floor: pg. A client belongs to one thread. What threads share is in struct wp_loop: flags that
 * they only read in the loop, and semaphores at its ends.
 *
 *   connect, prepare, untimed | ready, go | warm up | ready, go | measured | ready, go | disconnect
 */
#ifndef WALPROBE_PG_LOOP_INTERNAL_H
#define WALPROBE_PG_LOOP_INTERNAL_H

#include "pg/connect.h"
#include "pg/timer_heap.h"
#include "pg/workload_internal.h"
#include "walprobe/client_loop.h"
#include "walprobe/poller.h"
#include "walprobe/thread.h"

#include <stdatomic.h>

struct wp_tx_log;

enum wp_client_state {
	WP_CLIENT_IDLE,      /* between transactions, to be begun */
	WP_CLIENT_SCHEDULED, /* waits for its turn in the schedule */
	WP_CLIENT_SLEEPING,  /* \sleep */
	WP_CLIENT_WAITING,   /* for the answer to a statement or pipeline */
	WP_CLIENT_ROLLBACK,  /* for the answer to ROLLBACK after a failure */
	WP_CLIENT_FINISHED,
	WP_CLIENT_LOST,
};

enum wp_failure {
	WP_FAILURE_NONE,
	WP_FAILURE_SERIALIZATION,
	WP_FAILURE_DEADLOCK,
	WP_FAILURE_CANCELLED, /* by us, at the end of the time */
};

struct wp_client {
	struct wp_loop_thread *thread;
	int64_t id;
	PGconn *connection;
	enum wp_client_state state;
	enum wp_failure failure;
	bool is_watched;
	bool is_writing;  /* the socket is watched for writing too */
	bool is_pipeline; /* libpq is in pipeline mode */
	int pending_syncs;
	int loss_rank;        /* of the error that ends the client */
	char last_words[400]; /* FATAL message that came outside of an answer; empty: none */
	const struct wp_workload_script *script;
	size_t at;      /* the command under way or next */
	PGresult *held; /* of \gset, until its last result is known */
	struct wp_vars vars;
	struct wp_random random;       /* of the scripts' functions */
	struct wp_random random_begin; /* as it was when the transaction began, for another try */
	struct wp_text text;
	bool *prepared; /* by statement of all scripts */
	int64_t tries;
	int64_t begin_ns;     /* of the transaction */
	int64_t scheduled_ns; /* the same without a rate */
	int64_t command_ns;   /* of the statement, with is_detailed */
	int64_t wake_ns;      /* while scheduled or sleeping */
	int64_t done;         /* transactions done, failed and skipped */
	int64_t completed;
};

/* written by its thread alone, read by the main thread for -P */
struct wp_loop_live {
	atomic_llong transactions, skipped, late, serialization_failures, deadlock_failures;
	atomic_llong retried, retries, latency_sum_ns, lag_sum_ns, latency_square_sum_us2;
	atomic_llong last_done_ns;
};

#define WP_LOOP_TICK_NS (100 * WP_NS_PER_MS)
#define WP_LOOP_GAPS 64

/* a time without a transaction done */
struct wp_loop_gap {
	int64_t from_ns;
	int64_t to_ns;
};

struct wp_loop_thread {
	struct wp_loop *loop;
	struct wp_thread thread;
	int64_t id;
	struct wp_client *clients;
	int64_t client_count;
	int64_t active; /* clients that are not finished or lost */
	struct wp_poller poller;
	struct wp_timer_heap timers;
	struct wp_random random; /* choice of scripts and schedule */
	struct wp_hist hist;
	struct wp_loop_counts counts;
	int64_t cut;
	int64_t lag_max_ns;
	struct wp_loop_command *commands;
	struct wp_loop_script *scripts;
	int64_t now_ns;      /* last reading of the clock */
	int64_t check_ns;    /* when to look at limits and flags again */
	int64_t deadline_ns; /* no transaction begins after it; INT64_MAX: none */
	int64_t throttle_ns; /* the schedule's last turn */
	int64_t last_answer_ns;
	int64_t last_done_ns;
	struct wp_loop_gap gaps[WP_LOOP_GAPS]; /* the longest */
	size_t gap_count;
	size_t gap_shortest;
	bool is_measured;  /* false while warming up */
	bool is_cancelled; /* the end of the time is enforced */
	int64_t connect_ns, reconnect_ns, connections, own_commits;
	int64_t start_ns, end_ns, cpu_ns;
	int64_t warmup_transactions;
	int64_t timed_clients; /* whose backends time their writes of the log */
	int64_t lost_clients;
	int loss_rank; /* of err, of a client's loss: how much it tells of the cause */
	struct wp_tx_log *log;
	struct wp_loop_live live;
	const char *values[WP_SCRIPT_PARAMS_MAX];
	struct wp_err err; /* of the first client lost, or of the thread */
	int rc;
	struct wp_sem ready;
	struct wp_sem go;
};

struct wp_loop {
	const struct wp_os *os;
	const struct wp_loop_options *options;
	const struct wp_workload *workload;
	struct wp_loop_thread *threads;
	int64_t thread_count;
	int64_t start_ns; /* of the part that runs */
	atomic_int abort; /* a client was lost: the others end as well */
};

/* ---- client_connect.c ---- */

/* wp_client_init - variables and random state; wp_client_release - free, close. */
int wp_client_init(
	struct wp_client *client, struct wp_loop_thread *thread, int64_t id, struct wp_err *err);
void wp_client_release(struct wp_client *client);

/* wp_client_connect - connect and watch the socket; 0, -WP_E_SERVER, -WP_E_STOPPED. */
int wp_client_connect(struct wp_client *client, struct wp_err *err);

/* wp_client_disconnect - close the connection, which may be in any state. */
void wp_client_disconnect(struct wp_client *client);

/* wp_client_prepare_all - prepare every statement that can be; -WP_E_SERVER when the connection
 * was lost. A statement that is refused is left for its first use. */
int wp_client_prepare_all(struct wp_client *client, struct wp_err *err);

/* wp_client_prepare - one statement at its first use. */
int wp_client_prepare(
	struct wp_client *client, const struct wp_command *command, struct wp_err *err);

/* wp_client_untimed - every script's statements once, within a transaction that is rolled back. */
int wp_client_untimed(struct wp_client *client, struct wp_err *err);

/* wp_client_time_wal - track_wal_io_timing on, where the role may set it. */
int wp_client_time_wal(struct wp_client *client, struct wp_err *err);

/* wp_client_publish - have the backend publish what it counted until now, where a version can. */
int wp_client_publish(struct wp_client *client, struct wp_err *err);

/* ---- client_run.c ---- */

/* wp_client_advance - go on with a client that waits for nothing, until it waits or is done. */
void wp_client_advance(struct wp_client *client);

/* wp_client_readable, wp_client_writable - its socket is ready. */
void wp_client_readable(struct wp_client *client);
void wp_client_writable(struct wp_client *client);

/* wp_client_lose - the client is no more, for this reason; err may be the thread's own. */
void wp_client_lose(struct wp_client *client, const struct wp_err *err);

/* wp_client_finish - nothing more to do. */
void wp_client_finish(struct wp_client *client);

/* wp_client_wait_until - back in advance at that time. */
void wp_client_wait_until(struct wp_client *client, enum wp_client_state state, int64_t wake_ns);

/* ---- client_send.c ---- */

/* wp_client_send - the statement at client->at; 0, or -code when the client cannot go on. */
int wp_client_send(struct wp_client *client, const struct wp_command *command, struct wp_err *err);

/* wp_client_send_text - a statement of ours under the simple protocol. */
int wp_client_send_text(struct wp_client *client, const char *text, struct wp_err *err);

/* wp_client_sync - the end of a pipeline. */
int wp_client_sync(struct wp_client *client, struct wp_err *err);

/* wp_client_flush - send what is pending, or watch for the time when it can be. */
int wp_client_flush(struct wp_client *client, struct wp_err *err);

/* ---- client_result.c ---- */

enum wp_answer {
	WP_ANSWER_PENDING,
	WP_ANSWER_DONE, /* look at client->failure */
	WP_ANSWER_LOST,
};

/* wp_client_answer - take what libpq has read of the answer that is waited for. */
enum wp_answer wp_client_answer(struct wp_client *client, struct wp_err *err);

/* wp_client_refused - the error of a statement that ends the client; -WP_E_SERVER. */
int wp_client_refused(struct wp_client *client, const PGresult *result, struct wp_err *err);

/* wp_client_fail_connection - the connection is lost: the server's reason where it gave one. */
int wp_client_fail_connection(struct wp_client *client, struct wp_err *err);

/* wp_client_notice - notice receiver of libpq, of a client: keeps the reason of an end. */
void wp_client_notice(void *client_argument, const PGresult *notice);

/* ---- client_account.c ---- */

/* wp_client_account - the transaction is over, done (failure NONE) or failed; clock as read. */
void wp_client_account(struct wp_client *client, int64_t now_ns);

/* wp_client_skip - its turn came too late. */
void wp_client_skip(struct wp_client *client, int64_t now_ns);

/* wp_thread_note_gap - from the last transaction done until to_ns none was. */
void wp_thread_note_gap(struct wp_loop_thread *thread, int64_t to_ns);

/* wp_thread_publish - let the main thread see the counters. */
void wp_thread_publish(struct wp_loop_thread *thread);

/* wp_loop_longest_gap - longest time in which no thread had a transaction done. */
int64_t wp_loop_longest_gap(const struct wp_loop *loop);

/* ---- loop_thread.c ---- */

/* wp_loop_thread_main - what a thread does from connecting to disconnecting. */
void wp_loop_thread_main(void *argument);

/* wp_thread_clock - read the clock. */
static inline int64_t wp_thread_clock(struct wp_loop_thread *thread)
{
	thread->now_ns = wp_os_now_ns(thread->loop->os);
	return thread->now_ns;
}

/* ---- loop_cancel.c ---- */

/* wp_thread_cancel_all - ask the server to cancel what this thread's clients wait for; at most
 * limit_ns. */
void wp_thread_cancel_all(struct wp_loop_thread *thread, int64_t limit_ns);

#endif
