/* SPDX-License-Identifier: PostgreSQL */
/*
 * expr.h - pgbench's expressions: parsed once, evaluated by every client.
 *
 * Floor: pg (may include base, os, stats). No I/O.
 * Method: a precedence parser with a bounded depth writes code for a stack machine, so that neither
 * a long chain of operators nor a deep nesting can exhaust the C stack, and an evaluation allocates
 * nothing. AND, OR and CASE are jumps, as only what is needed is evaluated.
 * Grammar and meaning: PostgreSQL, src/bin/pgbench/exprparse.y, exprscan.l and evaluateExpr in
 * pgbench.c; operators and functions as its manual of version 18 lists them.
 */
#ifndef WALPROBE_EXPR_H
#define WALPROBE_EXPR_H

#include "walprobe/random.h"
#include "walprobe/vars.h"

/* levels of parentheses, prefix operators, CASE and arguments inside each other */
#define WP_EXPR_DEPTH_MAX 1000
/* values that may wait for an operator at one time */
#define WP_EXPR_STACK_MAX 1024
/* arguments of least and greatest, as in pgbench */
#define WP_EXPR_ARGS_MAX 16

struct wp_expr_step;

/* the code of one expression; read-only once compiled, shared by all threads */
struct wp_expr {
	struct wp_expr_step *steps;
	size_t count;
	size_t capacity;
};

/* why an expression was refused, and where */
struct wp_expr_fault {
	const char *message; /* pgbench's words; static storage */
	char more[96];       /* the word it is about, or empty */
	size_t at;           /* offset of the last byte of the token at fault */
};

/* what an evaluation works on: one per client */
struct wp_expr_env {
	struct wp_vars *vars;
	struct wp_random *random;
	/* called by debug() with the value; NULL for nowhere */
	void (*debug)(void *debug_arg, const struct wp_value *value);
	void *debug_arg;
};

/*
 * wp_expr_compile - parse the expression at the start of text, up to a newline that no backslash
 * precedes or to the end.
 *
 * symbols  receives the variables that the expression reads
 * expr     zeroed by the caller; left empty on failure
 * used     bytes read, the newline included; may be NULL
 * fault    filled on failure; may be NULL
 * Returns: 0, or -WP_E_USAGE.
 */
int wp_expr_compile(const char *text, size_t length, struct wp_symbols *symbols,
	struct wp_expr *expr, size_t *used, struct wp_expr_fault *fault);

/* wp_expr_release - free the code; accepts a zeroed struct. */
void wp_expr_release(struct wp_expr *expr);

/*
 * wp_expr_eval - value of an expression.
 *
 * Returns: 0, or -WP_E_DATA with pgbench's message (division by zero, a type that cannot be
 * coerced, an undefined variable ...).
 * Threads: yes with an env of its own. Never allocates.
 */
int wp_expr_eval(const struct wp_expr *expr, const struct wp_expr_env *env, struct wp_value *out,
	struct wp_err *err);

/* wp_value_is_true - as a condition: numbers but zero and true are, null is not. Threads: yes. */
bool wp_value_is_true(const struct wp_value *value);

#endif
