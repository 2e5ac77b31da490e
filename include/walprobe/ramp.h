/* SPDX-License-Identifier: PostgreSQL */
/*
 * ramp.h - client ramps: a step for each number of clients, on one server or several.
 *
 * Floor: probe. Each step of each server is one measure of the rounds (measure.h): CHECKPOINT and
 * VACUUM, connections, an untimed first transaction, warm-up, then the measured part. What the
 * server counted is read before and after, when the clients' backends have ended.
 * Threads: main thread only; the clients have threads of their own.
 */
#ifndef WALPROBE_RAMP_H
#define WALPROBE_RAMP_H

#include "walprobe/client_loop.h"
#include "walprobe/cluster.h"
#include "walprobe/measure.h"
#include "walprobe/server_counters.h"

#define WP_RAMP_STEPS_MAX 64

enum wp_ramp_vacuum {
	WP_RAMP_VACUUM_NONE,
	WP_RAMP_VACUUM_SMALL, /* branches and tellers, as pgbench does; history is left alone */
	WP_RAMP_VACUUM_ALL,   /* and accounts, with ANALYZE */
};

struct wp_ramp_options {
	struct wp_workload *workload; /* the scale of each server is set by the plan */
	int64_t clients[WP_RAMP_STEPS_MAX];
	size_t client_count;
	struct wp_loop_options loop; /* conn, clients, begin, end are filled by each step */
	bool has_checkpoint;
	enum wp_ramp_vacuum vacuum;
	bool is_scale_given; /* by -s or -D: used for scripts of files */
	int64_t scale;
	/* live progress within a step (-P); NULL: nobody looks */
	void (*progress)(void *ctx, const struct wp_loop_progress *progress);
	void *progress_ctx;
};

/* one server */
struct wp_ramp_server {
	struct wp_target *target; /* label; dir and stack where its pg_wal can be seen */
	struct wp_conn conn;
	struct wp_cluster *cluster; /* a throwaway server; NULL: one that runs already */
	const char *wal_note; /* why its figures are not ranked, beyond its settings; or NULL */
	/* filled by wp_ramp_plan() */
	struct wp_server_facts facts;
	int64_t scale;
	int64_t postmaster;
	char *unranked; /* why it is left out of the ranking; NULL: it is ranked */
	bool is_checkpoint_refused;
};

/*
 * wp_ramp_plan - connect once, read version, settings, tables and scale, judge them, and plan a
 * measure for every step.
 *
 * servers, options  must outlive the measures.
 * Returns: 0; -WP_E_SERVER: no connection, tables missing, too few connections allowed;
 * -WP_E_STOPPED.
 */
int wp_ramp_plan(struct wp_run *run, struct wp_ramp_server *server,
	const struct wp_ramp_options *options, struct wp_measures *measures, struct wp_err *err);

/* wp_ramp_plan_absent - the steps of a server that there is not, for their rows. */
void wp_ramp_plan_absent(struct wp_run *run, struct wp_ramp_server *server,
	const struct wp_ramp_options *options, const char *reason, struct wp_measures *measures);

/* wp_ramp_server_release - free what the plan filled; accepts a zeroed struct. */
void wp_ramp_server_release(struct wp_ramp_server *server);

/*
 * wp_ramp_fill - table "ramp" and "statements", the findings as checks; table "comparison" of
 * the servers that are ranked.
 */
void wp_ramp_fill(struct wp_run *run, const struct wp_measures *measures);

/* ---- pure parts ---- */

/* what is known of one step, for the findings */
struct wp_ramp_step {
	int64_t clients;
	double tps;
	double tps_low, tps_high; /* NaN: no interval */
	double spread;            /* of the rounds: (max - min) / median; NaN: fewer than 2 */
	int64_t elapsed_ns;       /* of one round */
	int64_t connect_ns;       /* of one round */
	double client_cpu;        /* of one core per thread, 0..1 */
	double checkpoints;       /* in all rounds; NaN: not known */
	int64_t idle_clients;     /* worst round */
	int64_t rounds;
};

/*
 * wp_ramp_knee - the number of clients beyond which more bring nothing: the first step that no
 * later one exceeds by more than 5 %.
 *
 * Returns: its index, or -1 when that is the last step or there are fewer than 2.
 */
int64_t wp_ramp_knee(const struct wp_ramp_step *steps, size_t count);

/* wp_ramp_judge - the findings about the steps of one server as checks of result. */
void wp_ramp_judge(struct wp_result *result, const char *target, int64_t scale, bool needs_scale,
	const struct wp_ramp_step *steps, size_t count);

#endif
