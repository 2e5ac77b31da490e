/* SPDX-License-Identifier: PostgreSQL */
/*
 * script.h - pgbench's script language: files to commands, commands to what a client sends.
 *
 * Floor: pg (may include base, os, stats).
 * A script is parsed once and then read-only; every client walks it with its own variables:
 *
 *	while (i < script.count)
 *		if (script.commands[i].kind == WP_COMMAND_SQL)
 *			send wp_command_text() or wp_command_params(), then i++;
 *		else
 *			wp_script_run_meta(&script, i, &env, &step, &err), sleep, i = step.next;
 *
 * Statements end at semicolons as psql ends them (quotes, dollar quotes, nested comments,
 * parentheses, SQL function bodies); backslash commands end at the end of their line, which a
 * backslash continues. \setshell and \shell are refused. Nesting of \if, pipelines that cannot be
 * entered or left, and \gset inside them are found when the script is read.
 * Source: PostgreSQL 18, src/bin/pgbench/pgbench.c (ParseScript, process_backslash_command,
 * parseQuery, assignVariables) and src/fe_utils/psqlscan.l. One difference: under the extended
 * protocols pgbench makes parameters also of what looks like a variable within quotes and comments,
 * which the server then refuses; here quotes and comments stay as they are, and a variable that the
 * script itself sets is refused there. Under the simple protocol they are replaced, as in pgbench.
 */
#ifndef WALPROBE_SCRIPT_H
#define WALPROBE_SCRIPT_H

#include "walprobe/expr.h"
#include "walprobe/os.h"

#define WP_SCRIPT_BYTES_MAX (16 * 1024 * 1024)
#define WP_SCRIPT_COMMANDS_MAX 100000
/* parameters of one statement, as in pgbench */
#define WP_SCRIPT_PARAMS_MAX 255
#define WP_SCRIPT_WEIGHT_MAX INT32_MAX

enum wp_protocol {
	WP_PROTOCOL_SIMPLE,
	WP_PROTOCOL_EXTENDED,
	WP_PROTOCOL_PREPARED,
};

enum wp_command_kind {
	WP_COMMAND_SQL,
	WP_COMMAND_SET,
	WP_COMMAND_SLEEP,
	WP_COMMAND_IF,
	WP_COMMAND_ELIF,
	WP_COMMAND_ELSE,
	WP_COMMAND_ENDIF,
	WP_COMMAND_STARTPIPELINE,
	WP_COMMAND_SYNCPIPELINE,
	WP_COMMAND_ENDPIPELINE,
};

/* where the rows of a statement go */
enum wp_command_store {
	WP_STORE_NONE,
	WP_STORE_GSET, /* exactly one row into variables */
	WP_STORE_ASET, /* the last row of each result, if any */
};

/* a stretch of a statement's text: as it stands (slot -1), or a variable written :name */
struct wp_piece {
	size_t offset;
	size_t length;
	int32_t slot;
};

struct wp_command {
	enum wp_command_kind kind;
	int32_t line; /* in its file, from 1 */
	char *title;  /* first line as written, at most 127 bytes of a statement */
	/* statements */
	int32_t statement; /* number among the script's statements, from 0; for names */
	char *text;        /* simple: with :name; extended, prepared: with $1 ... */
	size_t length;
	struct wp_piece *pieces; /* simple with variables; otherwise none */
	size_t piece_count;
	int32_t *params; /* extended, prepared: the slot of $1, $2 ... */
	size_t param_count;
	enum wp_command_store store;
	char *prefix; /* of \gset and \aset, may be empty */
	/* \set, \if, \elif */
	struct wp_expr expr;
	int32_t slot; /* of \set, or of \sleep with a variable, else -1 */
	/* \sleep */
	int64_t sleep_count;
	int64_t sleep_unit_ns;
	/* \if, \elif, \else: the next branch (or \endif) and the \endif */
	size_t branch;
	size_t endif;
};

struct wp_script {
	char *name; /* file name, or what pgbench calls a built-in script */
	enum wp_protocol protocol;
	struct wp_command *commands;
	size_t count;
	size_t capacity;
	int32_t statement_count;
};

/* a growing buffer that a client keeps */
struct wp_text {
	char *bytes;
	size_t capacity;
};

/* what a backslash command asks for */
struct wp_step {
	size_t next;      /* command to go on with; script->count at the end */
	int64_t sleep_ns; /* 0 or more */
};

struct wp_builtin {
	const char *name;  /* tpcb-like ... */
	const char *title; /* what pgbench prints as transaction type */
	const char *text;
};

/* ---- reading --------------------------------------------------------------------------------- */

/*
 * wp_script_parse - parse length bytes of text.
 *
 * name     for messages, copied
 * symbols  receives the variables; define those that -D and the run itself give before
 * script   zeroed by the caller; left empty on failure
 * Returns: 0, or -WP_E_USAGE with pgbench's message, which begins with name and line; the detail
 * shows the line and marks the position.
 */
int wp_script_parse(const char *name, const char *text, size_t length, enum wp_protocol protocol,
	struct wp_symbols *symbols, struct wp_script *script, struct wp_err *err);

/*
 * wp_script_load - parse a file, or standard input for "-".
 *
 * Returns: as wp_script_parse, or -WP_E_USAGE when the file cannot be opened, -WP_E_SYS when it
 * cannot be read.
 */
int wp_script_load(const struct wp_os *os, const char *path, enum wp_protocol protocol,
	struct wp_symbols *symbols, struct wp_script *script, struct wp_err *err);

/* wp_script_release - free a script; accepts a zeroed struct. */
void wp_script_release(struct wp_script *script);

/*
 * wp_script_split_weight - split "NAME@WEIGHT" at its last @.
 *
 * name_length  of the part before it; all of option when there is no @
 * weight       0 .. WP_SCRIPT_WEIGHT_MAX; 1 when there is no @
 * Returns: 0, or -WP_E_USAGE.
 */
int wp_script_split_weight(
	const char *option, size_t *name_length, int32_t *weight, struct wp_err *err);

/* wp_builtins - the built-in scripts; *count of them, static storage. */
const struct wp_builtin *wp_builtins(size_t *count);

/*
 * wp_builtin_find - built-in script whose name begins with length bytes of name.
 *
 * Returns: 0, or -WP_E_USAGE when none or more than one does.
 */
int wp_builtin_find(
	const char *name, size_t length, const struct wp_builtin **out, struct wp_err *err);

/* ---- running --------------------------------------------------------------------------------- */

/* wp_text_release - free the buffer; accepts a zeroed struct. */
void wp_text_release(struct wp_text *text);

/*
 * wp_command_text - a statement under the simple protocol, its variables replaced by their texts;
 * those without a value stay as they are written.
 *
 * buffer   grows only for a text longer than any before
 * length   may be NULL
 * Returns: terminated text in buffer or in command, valid until either is used again.
 */
const char *wp_command_text(const struct wp_command *command, struct wp_vars *vars,
	struct wp_text *buffer, size_t *length);

/*
 * wp_command_params - values of $1 ... $n under the extended protocols, as PQsendQueryParams wants
 * them: texts, and NULL for a variable without a value.
 *
 * A variable that is null gives the text NULL, as in pgbench.
 * values   command->param_count pointers, valid until the variables are assigned again.
 * Never allocates.
 */
void wp_command_params(const struct wp_command *command, struct wp_vars *vars, const char **values);

/*
 * wp_script_run_meta - do what a backslash command says and find the command behind it.
 *
 * The pipeline commands do nothing here: that is the caller's part.
 * Returns: 0, or -WP_E_DATA with pgbench's message; step is not touched then.
 * Threads: yes with an env of its own. Never allocates.
 */
int wp_script_run_meta(const struct wp_script *script, size_t index, const struct wp_expr_env *env,
	struct wp_step *step, struct wp_err *err);

#endif
