/* SPDX-License-Identifier: PostgreSQL */
/*
 * ramp_internal.h - a step of a ramp while it is measured; private to probe.
 *
 * Floor: probe.
 */
#ifndef WALPROBE_PROBE_RAMP_INTERNAL_H
#define WALPROBE_PROBE_RAMP_INTERNAL_H

#include "walprobe/ramp.h"

#define WP_RAMP_APPLICATION "walprobe client"

/* the self of a measure: sums over all its rounds, dropped ones included */
struct wp_ramp_self {
	struct wp_run *run;
	struct wp_ramp_server *server;
	const struct wp_ramp_options *options;
	int64_t clients;
	int64_t rounds;
	struct wp_loop_counts counts;
	int64_t cut;
	int64_t warmup_transactions;
	int64_t connect_ns;
	int64_t reconnect_ns;
	int64_t elapsed_ns;
	int64_t cpu_ns;
	int64_t overrun_ns; /* the worst */
	int64_t stall_ns;   /* the worst */
	int64_t lag_max_ns;
	int64_t idle_clients; /* the worst */
	int64_t lost_clients;
	/* the server's, summed; NaN once a round had none */
	double sums[WP_COUNTER_COUNT];
	int64_t counted_transactions; /* of the rounds in sums */
	int64_t counted_warmup;
	double wal_bytes;            /* between the ends of the clock, by LSN */
	int64_t flushes;             /* at the counting device, while the clocks ran */
	const char *flushes_unknown; /* why not; NULL: they were counted in all rounds */
	int64_t server_cpu_ns;       /* -1: cannot be seen */
	int64_t surplus_commits;     /* of the server beyond what is known of */
	struct wp_loop_command *commands;
	size_t command_count;
	struct wp_loop_script *scripts;
	bool is_wal_timed; /* in all rounds */
	/* of the round under way */
	struct wp_counter_watch *watch;
	struct wp_counters connected; /* when the clock started */
	struct wp_counters stopped;   /* when it stopped */
	struct wp_flush_counts flushes_before;
	struct wp_flush_counts flushes_after;
	int64_t clock_ns;
	struct wp_err watch_err;
	int watch_rc;
};

/* wp_ramp_run_block - one round of a step: the run function of its measure. */
int wp_ramp_run_block(struct wp_measure *measure, int64_t least_ns, struct wp_hist *hist,
	struct wp_block *block, struct wp_err *err);

#endif
