/* SPDX-License-Identifier: PostgreSQL */
/*
 * server_counters.h - what a server counts about its log, read before and after something.
 *
 * Floor: pg (may include base, os, stats). PostgreSQL 12 to 18: pg_stat_wal from 14 on, pg_stat_io
 * in its place from 18 on, pg_stat_checkpointer from 17 on. Counters are published lazily by
 * backends; those of backends that have ended are complete.
 * Threads: one watch per thread.
 */
#ifndef WALPROBE_SERVER_COUNTERS_H
#define WALPROBE_SERVER_COUNTERS_H

#include "walprobe/server_facts.h"
#include "walprobe/session.h"

enum wp_counter {
	WP_COUNTER_COMMITS,
	WP_COUNTER_ROLLBACKS,
	WP_COUNTER_LSN_BYTES,
	WP_COUNTER_WAL_RECORDS,
	WP_COUNTER_WAL_FPI,
	WP_COUNTER_WAL_BYTES,
	WP_COUNTER_WAL_WRITES,
	WP_COUNTER_WAL_SYNCS,
	WP_COUNTER_WAL_WRITE_MS,
	WP_COUNTER_WAL_SYNC_MS,
	WP_COUNTER_CHECKPOINTS,
	WP_COUNTER_COUNT,
};

struct wp_counters {
	double values[WP_COUNTER_COUNT]; /* NaN: not known */
	int64_t cpu_ns;                  /* of the server's processes; -1: cannot be seen */
};

/* a session that reads counters, within one transaction so that it adds no commit of its own */
struct wp_counter_watch;

/*
 * wp_counter_watch_open - connect and begin.
 *
 * Returns: 0 with *out (wp_counter_watch_close()), -WP_E_SERVER, -WP_E_STOPPED.
 */
int wp_counter_watch_open(const struct wp_os *os, const struct wp_conn *conn,
	struct wp_counter_watch **out, struct wp_err *err);
void wp_counter_watch_close(struct wp_counter_watch *watch);

/* wp_counter_watch_read - the counters now; values that this version lacks are NaN. */
int wp_counter_watch_read(
	struct wp_counter_watch *watch, struct wp_counters *out, struct wp_err *err);

/* wp_counter_watch_limit - how long each later question may take; 10 s without. */
void wp_counter_watch_limit(struct wp_counter_watch *watch, int64_t limit_ns);

/* wp_counter_watch_settle - wait (at most 3 s) until the backends of this application_name have
 * ended and what they counted is published. */
int wp_counter_watch_settle(
	struct wp_counter_watch *watch, const char *application, struct wp_err *err);

/* wp_counter_absent - why a version does not have a counter; NULL when it has it. */
const char *wp_counter_absent(int version_number, enum wp_counter counter);

/*
 * wp_server_postmaster - process id of the postmaster of a session through a Unix socket, when it
 * can be seen in /proc; 0 otherwise.
 */
int64_t wp_server_postmaster(const struct wp_os *os, struct wp_session *session);

/* wp_server_cpu_ns - processor time of the postmaster and its children, those that ended
 * included; -1 when it cannot be seen. */
int64_t wp_server_cpu_ns(const struct wp_os *os, int64_t postmaster);

/* wp_server_has_library - true when the process has a library whose name holds word in its maps. */
bool wp_server_has_library(const struct wp_os *os, int64_t pid, const char *word);

#endif
