/* SPDX-License-Identifier: PostgreSQL */
/*
 * workload.h - the scripts that clients run, with their weights and variables.
 *
 * Floor: pg (may include base, os, stats). Read-only once it is settled; shared by all threads.
 * Threads: main thread until it is settled, then any.
 */
#ifndef WALPROBE_WORKLOAD_H
#define WALPROBE_WORKLOAD_H

#include "walprobe/os.h"

#define WP_WORKLOAD_SCRIPTS_MAX 128

/* one script of the command line, in the order given */
struct wp_workload_part {
	bool is_file;
	const char *text; /* NAME[@WEIGHT] or FILE[@WEIGHT]; borrowed */
};

struct wp_workload_options {
	const char *protocol; /* simple, extended, prepared */
	bool is_pipelined;    /* every transaction in one round trip */
	const struct wp_workload_part *parts;
	size_t part_count;
	const char *const *defines; /* name=value, as of -D */
	size_t define_count;
};

struct wp_workload;

/*
 * wp_workload_new - read and parse all scripts.
 *
 * Returns: 0 with *out (free with wp_workload_free()), or -WP_E_USAGE: a script that cannot be
 * read or parsed, weights that are all 0, a pipelined one that needs an answer in between.
 */
int wp_workload_new(const struct wp_os *os, const struct wp_workload_options *options,
	struct wp_workload **out, struct wp_err *err);

/* wp_workload_free - accepts NULL. */
void wp_workload_free(struct wp_workload *workload);

/* wp_workload_set_scale - value of :scale where -D gives none; 1 until then. */
void wp_workload_set_scale(struct wp_workload *workload, int64_t scale);

/* wp_workload_scale - what was set; a "scale" of -D is not looked at. */
int64_t wp_workload_scale(const struct wp_workload *workload);

/* wp_workload_count, wp_workload_title, wp_workload_weight - the scripts; title is what pgbench
 * prints as transaction type. */
size_t wp_workload_count(const struct wp_workload *workload);
const char *wp_workload_title(const struct wp_workload *workload, size_t script);
int64_t wp_workload_weight(const struct wp_workload *workload, size_t script);

/* wp_workload_has_builtin - a built-in script is among them: pgbench's tables are needed. */
bool wp_workload_has_builtin(const struct wp_workload *workload);

/* wp_workload_is_builtin_only - nothing but built-in scripts. */
bool wp_workload_is_builtin_only(const struct wp_workload *workload);

/* wp_workload_writes - a built-in script that writes, or a file, is among them. */
bool wp_workload_writes(const struct wp_workload *workload);

/* wp_workload_has_hot_rows - clients of the same branch wait for each other (tpcb-like). */
bool wp_workload_has_hot_rows(const struct wp_workload *workload);

/* wp_workload_is_pipelined - every transaction in one round trip. */
bool wp_workload_is_pipelined(const struct wp_workload *workload);

/* wp_workload_protocol - "simple", "extended", "prepared". */
const char *wp_workload_protocol(const struct wp_workload *workload);

/* wp_workload_command_count, wp_workload_command_title - lines of a script, as pgbench -r lists
 * them. */
size_t wp_workload_command_count(const struct wp_workload *workload, size_t script);
const char *wp_workload_command_title(
	const struct wp_workload *workload, size_t script, size_t command);

#endif
