/* SPDX-License-Identifier: PostgreSQL */
/*
 * ramp_options.h - the options of "walprobe ramp", and what they mean together.
 *
 * Floor: cli.
 */
#ifndef WALPROBE_CLI_RAMP_OPTIONS_H
#define WALPROBE_CLI_RAMP_OPTIONS_H

#include "walprobe/opts.h"
#include "walprobe/ramp.h"
#include "walprobe/run.h"

struct ramp_params {
	struct wp_common common;
	/* where */
	const char *dbname;
	const char *host;
	const char *port;
	const char *user;
	/* what */
	struct wp_texts builtins;
	struct wp_texts files;
	struct wp_texts defines;
	bool is_select_only;
	bool is_simple_update;
	const char *scale;
	const char *protocol;
	bool is_pipelined;
	/* how */
	const char *clients;
	int64_t threads;
	int64_t transactions;
	int64_t duration_ns;
	const char *rate;
	int64_t latency_limit_ns;
	int64_t max_tries;
	bool is_reconnecting;
	bool is_keep_going;
	bool is_no_untimed;
	bool is_no_checkpoint;
	bool is_no_vacuum;
	bool is_vacuum_all;
	int64_t stall_limit_ns;
	bool is_like_2001;
	/* what is told */
	bool is_detailed;
	bool is_failures_detailed;
	int64_t progress_ns;
	bool is_logging;
	const char *log_prefix;
	const char *sampling_rate;
	int64_t aggregate_ns;
	int64_t random_seed;
	/* making tables */
	bool is_initialize;
	bool is_replacing;
	const char *init_steps;
	int64_t fillfactor;
	bool has_foreign_keys;
	int64_t partitions;
	const char *partition_method;
	bool is_server_side;
	bool is_unlogged;
	/* throwaway servers on targets */
	const char *base;
	bool is_whole;
	const char *run_as;
	const char *bindir;
	struct wp_texts settings;
};

extern const struct wp_opt *const wp_ramp_tables[];

/*
 * wp_ramp_options_settle - what the options mean together, into out, and into the parameters of
 * run's result where a default depends on other options; run->rounds is set.
 *
 * The workload is made: release with wp_ramp_options_release().
 * Returns: 0, or -WP_E_USAGE.
 */
int wp_ramp_options_settle(struct wp_run *run, const struct ramp_params *params,
	struct wp_ramp_options *out, struct wp_err *err);

void wp_ramp_options_release(struct wp_ramp_options *options);

/* wp_ramp_conn - where to connect, from -h -p -U -d. */
struct wp_conn wp_ramp_conn(const struct ramp_params *params);

#endif
