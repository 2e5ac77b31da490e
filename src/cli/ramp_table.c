/* SPDX-License-Identifier: PostgreSQL */
#include "cli/ramp_options.h"

#define F(field) offsetof(struct ramp_params, field)
#define DAY_NS (86400 * WP_NS_PER_S)
#define FLAG(name, letter, field, help)                                                            \
	{                                                                                          \
		name, letter, WP_OPT_FLAG, NULL, F(field), NULL, 0, 0, NULL, help                  \
	}
#define TEXT(name, letter, argument, field, help)                                                  \
	{                                                                                          \
		name, letter, WP_OPT_TEXT, argument, F(field), NULL, 0, 0, NULL, help              \
	}
#define TEXTS(name, letter, argument, field, help)                                                 \
	{                                                                                          \
		name, letter, WP_OPT_TEXTS, argument, F(field), NULL, 0, 0, NULL, help             \
	}

static const char *const protocols[] = { "simple", "extended", "prepared", NULL };
static const char *const partition_methods[] = { "range", "hash", NULL };

static const struct wp_opt server_opts[] = {
	TEXT("dbname", 'd', "DBNAME", dbname,
		"database, connection string or URI of a server that runs already"),
	TEXT("host", 'h', "HOST", host, "its host or directory of its socket"),
	TEXT("port", 'p', "PORT", port, "its port"),
	TEXT("username", 'U', "NAME", user, "user to connect as"),
	{ .name = NULL },
};

static const struct wp_opt load_opts[] = {
	TEXTS("builtin", 'b', "NAME[@WEIGHT]", builtins,
		"built-in script: tpcb-like (default), simple-update, select-only, commit-only"),
	TEXTS("file", 'f', "FILE[@WEIGHT]", files, "script in pgbench's language"),
	FLAG("select-only", 'S', is_select_only, "as -b select-only"),
	FLAG("skip-some-updates", 'N', is_simple_update, "as -b simple-update"),
	TEXTS("define", 'D', "NAME=VALUE", defines, "variable for the scripts"),
	TEXT("scale", 's', "NUM", scale,
		"scale of the tables to make (default 1 with -i; on targets the largest step, at "
		"most 100, or 10 where clients do not wait for each other's rows); for scripts of "
		"files also the value of :scale"),
	{ "protocol", 'M', WP_OPT_CHOICE, "PROTOCOL", F(protocol), "prepared", 0, 0, protocols,
		"query protocol; prepared, as parsing is not what is measured" },
	FLAG("pipeline", 0, is_pipelined,
		"send each transaction in one round trip: another workload, never compared"),
	{ .name = NULL },
};

static const struct wp_opt step_opts[] = {
	TEXT("client", 'c', "LIST", clients,
		"steps of the ramp, as 1-8 or 1,2,4,8 (default 1; 1-8 with --like-2001)"),
	{ "jobs", 'j', WP_OPT_INT, "NUM", F(threads), "1", 1, 256, NULL,
		"threads that serve the clients" },
	{ "transactions", 't', WP_OPT_INT, "NUM", F(transactions), NULL, 1, INT32_MAX, NULL,
		"transactions of each client in a round" },
	{ "time", 'T', WP_OPT_DURATION_S, "DURATION", F(duration_ns), NULL, WP_NS_PER_MS, DAY_NS,
		NULL, "length of a round (default 5s without -t)" },
	{ "rounds", 0, WP_OPT_INT, "NUM", F(common.rounds), NULL, 1, 10000, NULL,
		"rounds of every step, interleaved (default 10 with -t, 1 with --format=pgbench, "
		"else 3)" },
	{ "warmup", 0, WP_OPT_DURATION, "DURATION", F(common.warmup_ns), "0s", 0, DAY_NS, NULL,
		"unmeasured transactions before each round" },
	FLAG("no-untimed", 0, is_no_untimed,
		"do not run the scripts once, rolled back, on every new connection"),
	FLAG("connect", 'C', is_reconnecting, "a new connection for each transaction"),
	TEXT("rate", 'R', "NUM", rate, "transactions a second to schedule"),
	{ "latency-limit", 'L', WP_OPT_DURATION_MS, "DURATION", F(latency_limit_ns), NULL,
		WP_NS_PER_US, DAY_NS, NULL,
		"count longer transactions as late; with -R skip those that would be" },
	{ "max-tries", 0, WP_OPT_INT, "NUM", F(max_tries), "1", 0, INT32_MAX, NULL,
		"tries of a transaction after serialization failures and deadlocks; 0 for no "
		"limit" },
	FLAG("keep-going", 0, is_keep_going,
		"go on with the other clients when one is lost, and print what they did"),
	{ "stall-limit", 0, WP_OPT_DURATION, "DURATION", F(stall_limit_ns), "60s", 0, DAY_NS, NULL,
		"give a step up when the server answers nobody that long; 0s for never" },
	FLAG("no-checkpoint", 0, is_no_checkpoint, "no CHECKPOINT before the rounds"),
	FLAG("no-vacuum", 'n', is_no_vacuum, "no VACUUM of branches and tellers before them"),
	FLAG("vacuum-all", 0, is_vacuum_all, "VACUUM ANALYZE of all four tables before them"),
	FLAG("like-2001", 0, is_like_2001,
		"as people did in 2001: -t 32, -M simple, and pgbench 7.1's two tps lines"),
	{ "seed", 0, WP_OPT_INT, "NUM", F(common.seed), "1", 0, INT64_MAX, NULL,
		"seed of the shuffled order" },
	{ "random-seed", 0, WP_OPT_INT, "NUM", F(random_seed), "1", 0, INT64_MAX, NULL,
		"seed of the scripts' random numbers" },
	{ .name = NULL },
};

static const struct wp_opt report_opts[] = {
	FLAG("report-per-command", 'r', is_detailed, "time of each command of the scripts"),
	FLAG("failures-detailed", 0, is_failures_detailed, "failures by kind, also in the log"),
	{ "progress-every", 'P', WP_OPT_DURATION_S, "DURATION", F(progress_ns), NULL, WP_NS_PER_MS,
		DAY_NS, NULL, "progress line in pgbench's form that often" },
	FLAG("log", 'l', is_logging, "write a line for each transaction to a file"),
	TEXT("log-prefix", 0, "PREFIX", log_prefix, "its name (default walprobe_log), before .PID"),
	TEXT("sampling-rate", 0, "NUM", sampling_rate, "share of the transactions to log"),
	{ "aggregate-interval", 0, WP_OPT_DURATION_S, "DURATION", F(aggregate_ns), NULL,
		WP_NS_PER_S, DAY_NS, NULL, "log sums over that time instead" },
	{ .name = NULL },
};

static const struct wp_opt init_opts[] = {
	FLAG("initialize", 'i', is_initialize, "make the tables, and do nothing else"),
	FLAG("replace-tables", 0, is_replacing, "replace tables that are there, with their data"),
	TEXT("init-steps", 'I', "STEPS", init_steps,
		"which steps: d drop, t tables, g or G rows, v vacuum, p primary keys, f foreign "
		"keys (default tgvp)"),
	{ "fillfactor", 'F', WP_OPT_INT, "NUM", F(fillfactor), "100", 10, 100, NULL,
		"fill factor of the tables" },
	FLAG("foreign-keys", 0, has_foreign_keys, "foreign keys between the tables"),
	{ "partitions", 0, WP_OPT_INT, "NUM", F(partitions), "0", 0, 100000, NULL,
		"partitions of pgbench_accounts" },
	{ "partition-method", 0, WP_OPT_CHOICE, "METHOD", F(partition_method), "range", 0, 0,
		partition_methods, "how it is partitioned" },
	FLAG("server-side", 0, is_server_side, "let the server generate the rows (as -I tGvp)"),
	FLAG("unlogged-tables", 0, is_unlogged, "tables that are not logged: of no use for pg_wal"),
	{ .name = NULL },
};

static const struct wp_opt cluster_opts[] = {
	TEXT("base", 0, "DIR", base,
		"directory for the data and sockets of throwaway servers (default $TMPDIR, /tmp "
		"or /var/tmp)"),
	FLAG("whole", 0, is_whole, "everything on the target, not pg_wal alone"),
	TEXT("run-as", 0, "USER", run_as,
		"user to run throwaway servers as, for root (default postgres)"),
	TEXT("bindir", 0, "DIR", bindir,
		"directory of initdb and postgres (default: PATH, pg_config, the distribution's, "
		"newest first)"),
	TEXTS("set", 0, "NAME=VALUE", settings, "setting of throwaway servers"),
	FLAG("keep", 0, common.is_kept,
		"leave throwaway servers running, and say how to reach and remove them"),
	FLAG("force", 0, common.is_forced, "measure beside a live pg_wal"),
	{ .name = NULL },
};

const struct wp_opt *const wp_ramp_tables[] = { server_opts, load_opts, step_opts, report_opts,
	init_opts, cluster_opts, wp_output_opts, NULL };
