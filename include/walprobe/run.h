/* SPDX-License-Identifier: PostgreSQL */
/*
 * run.h - what one invocation hands down to its probes.
 *
 * Floor: probe. A probe never prints: it fills run->result and tells what happens through the
 * callbacks, which cli turns into lines on stderr.
 * Threads: main thread only; worker threads report through structs.
 */
#ifndef WALPROBE_RUN_H
#define WALPROBE_RUN_H

#include "walprobe/os.h"
#include "walprobe/registry.h"
#include "walprobe/result.h"

struct wp_run {
	const struct wp_os *os;
	struct wp_registry *registry;
	struct wp_result *result;

	uint64_t seed;
	int64_t rounds;
	int64_t time_ns;   /* least time of one measurement in one round */
	int64_t warmup_ns; /* of each measurement; 0: none */
	bool is_kept;      /* --keep */
	bool is_forced;    /* --force */
	bool is_strict;    /* set by a command: a check that cannot tell gives exit status 4 */
	bool is_worse;     /* set by a command: exit status 1, whatever the checks say */

	/* A notice for the user; kind is "warning", "note", "detail" (-v only), and from
	 * wp_run_problem() "error" and "hint". NULL: nobody listens. */
	void (*tell)(void *ctx, const char *kind, const char *text);
	/* done of total_ns expected; label is what is being measured now. NULL: nobody looks. */
	void (*progress)(void *ctx, const char *label, int64_t done_ns, int64_t total_ns);
	void *ctx;

	/* Work on one target failed while others go on: exit status 3 at the end. */
	int problem_count;
};

/*
 * wp_run_problem - one target could not be (wholly) measured: tells it as an error and counts it.
 * The others are still measured; main exits with status 3. A detail stands in parentheses after the
 * message.
 */
void wp_run_problem(struct wp_run *run, const struct wp_err *err);

/* wp_run_tell - formatted run->tell. */
void wp_run_tell(struct wp_run *run, const char *kind, const char *format, ...) WP_PRINTF(3, 4);

#endif
