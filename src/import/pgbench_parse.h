/* SPDX-License-Identifier: PostgreSQL */
/*
 * pgbench_parse.h - the reading of one run, word by word; private to import.
 *
 * Each taker is asked whether its words stand at this place: it returns where they end, or NULL.
 */
#ifndef WALPROBE_IMPORT_PGBENCH_PARSE_H
#define WALPROBE_IMPORT_PGBENCH_PARSE_H

#include "import/pgbench_run.h"

enum pgbench_rank {
	PGBENCH_RANK_COMMAND,
	PGBENCH_RANK_HEAD,
	PGBENCH_RANK_PROGRESS,
	PGBENCH_RANK_TYPE,
	PGBENCH_RANK_SCALE,
	PGBENCH_RANK_MODE,
	PGBENCH_RANK_CLIENTS,
	PGBENCH_RANK_THREADS,
	PGBENCH_RANK_TRIES,
	PGBENCH_RANK_LENGTH,
	PGBENCH_RANK_DONE,
	PGBENCH_RANK_COUNTS,
	PGBENCH_RANK_LATENCY,
	PGBENCH_RANK_CONNECT,
	PGBENCH_RANK_TPS,
	PGBENCH_RANK_ABORTED,
	PGBENCH_RANK_SCRIPTS,
};

struct pgbench_state {
	const struct scan_text *text;
	struct pgbench_run *run;
	enum pgbench_rank rank;
	size_t seen; /* bits of what came in the head */
	bool is_over;
};

/* pgbench_enter - a thing of this rank was found. False when it belongs to the next run. */
bool pgbench_enter(struct pgbench_state *state, enum pgbench_rank rank, bool is_again);

/* pgbench_put - the number becomes the value. */
void pgbench_put(struct pgbench_value *value, const struct scan_number *number);

/* pgbench_script_now - the script that was named last, or NULL. */
struct pgbench_script *pgbench_script_now(struct pgbench_state *state);

/* pgbench_take_progress - "progress: 5.0 s, 1234.5 tps, lat ..." */
const char *pgbench_take_progress(struct pgbench_state *state, const char *begin);

/* pgbench_take_script - "SQL script 1: ..." */
const char *pgbench_take_script(struct pgbench_state *state, const char *begin);

/* pgbench_take_script_line - its weight, its transactions. */
const char *pgbench_take_script_line(struct pgbench_state *state, const char *begin);

/* pgbench_take_statements - "statement latencies in milliseconds:" and what follows. */
const char *pgbench_take_statements(struct pgbench_state *state, const char *begin);

#endif
