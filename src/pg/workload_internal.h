/* SPDX-License-Identifier: PostgreSQL */
/*
 * workload_internal.h - what a workload consists of; private to pg.
 *
 * Floor: pg. Read-only while clients run.
 */
#ifndef WALPROBE_PG_WORKLOAD_INTERNAL_H
#define WALPROBE_PG_WORKLOAD_INTERNAL_H

#include "walprobe/script.h"
#include "walprobe/workload.h"

struct wp_workload_script {
	struct wp_script script;
	const struct wp_builtin *builtin; /* NULL: a file */
	int64_t weight;
	int64_t weight_until; /* sum of the weights up to this one */
	char **names;         /* of prepared statements, one a statement */
	size_t first_flag;    /* its statements' place among all statements */
	size_t first_command; /* its commands' place among all commands */
};

struct wp_workload {
	enum wp_protocol protocol;
	bool is_pipelined;
	struct wp_symbols symbols;
	struct wp_workload_script *scripts;
	size_t count;
	int64_t weight_total;
	size_t statement_total;
	size_t command_total;
	int64_t scale;
	char **defines;
	size_t define_count;
};

/* wp_workload_vars - a client's own store, with -D and the automatic variables in it. */
int wp_workload_vars(const struct wp_workload *workload, struct wp_vars *vars, int64_t client,
	uint64_t seed, struct wp_err *err);

#endif
