/* SPDX-License-Identifier: PostgreSQL */
/*
 * pgbench_run.h - one run of pgbench as its output tells it; private to import.
 *
 * Source: PostgreSQL 7.1 to 18, pgbench.c, printResults() and printProgressReport().
 */
#ifndef WALPROBE_IMPORT_PGBENCH_RUN_H
#define WALPROBE_IMPORT_PGBENCH_RUN_H

#include "import/scan.h"

enum pgbench_field {
	PGBENCH_SCALE,
	PGBENCH_CLIENTS,
	PGBENCH_THREADS,
	PGBENCH_TRIES,
	PGBENCH_PER_CLIENT,
	PGBENCH_DURATION_S,
	PGBENCH_DONE,
	PGBENCH_PLANNED,
	PGBENCH_FAILED,
	PGBENCH_SERIALIZATION,
	PGBENCH_DEADLOCK,
	PGBENCH_RETRIED,
	PGBENCH_RETRIES,
	PGBENCH_SKIPPED,
	PGBENCH_LATE,
	PGBENCH_LATENCY_MS,
	PGBENCH_STDDEV_MS,
	PGBENCH_LAG_MS,
	PGBENCH_LAG_MAX_MS,
	PGBENCH_CONNECT_MS,
	PGBENCH_TPS_INCLUDING,
	PGBENCH_TPS_EXCLUDING,
	PGBENCH_FIELDS,
};

struct pgbench_value {
	enum scan_state state;
	double value;
};

struct pgbench_script {
	char *name;
	struct pgbench_value weight, done, tps, failed, latency_ms, stddev_ms;
};

struct pgbench_statement {
	size_t script; /* index, or SIZE_MAX: the only one */
	char *command;
	double mean_ms;
	int64_t failures; /* -1: not printed */
	int64_t retries;  /* -1: not printed */
};

struct pgbench_progress {
	double at_s, tps;
	struct pgbench_value latency_ms, stddev_ms, lag_ms, skipped, failed, retried, retries;
};

struct pgbench_run {
	char *version; /* what stands in brackets behind "pgbench" */
	char *type;
	char *mode;
	char *command; /* the command line, where one stands before the output */
	struct pgbench_value fields[PGBENCH_FIELDS];
	bool is_aborted;
	bool is_reconnecting; /* -C */
	bool has_gap;         /* foreign lines within the summary */
	bool has_summary;     /* anything of printResults() */
	struct pgbench_script *scripts;
	size_t script_count;
	struct pgbench_statement *statements;
	size_t statement_count;
	struct pgbench_progress *progress;
	size_t progress_count;
	const char *first; /* begin of its first word and end of its last one in the text */
	const char *last;
};

/* pgbench_parse - the run that begins at or behind at, up to where it ends or another begins.
 * Marks nothing. Returns where to go on; run->first is NULL when nothing was found before it. */
const char *pgbench_parse(const struct scan_text *text, const char *at, struct pgbench_run *run);

/* pgbench_is_run - there is something to report in it: more than a command line. */
bool pgbench_is_run(const struct pgbench_run *run);

/* pgbench_run_release - free all. */
void pgbench_run_release(struct pgbench_run *run);

/* pgbench_starts - a line in which a run may begin. */
bool pgbench_starts(const char *line);

/* where a run was found, for its rows */
struct pgbench_place {
	const char *target;  /* label */
	const char *section; /* heading above it, or NULL */
	bool is_first_after_load;
};

/* pgbench_add_rows - rows of ramp, scripts, statements and progress. */
void pgbench_add_rows(
	struct wp_import *in, const struct pgbench_run *run, const struct pgbench_place *place);

#endif
