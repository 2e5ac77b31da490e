/* SPDX-License-Identifier: PostgreSQL */
/*
 * vars.h - the variables of pgbench scripts: values, names, and one store per client.
 *
 * Floor: pg (may include base, os, stats). No I/O.
 * Method: every name that a script mentions gets a slot when the script is parsed, so a client
 * reads and writes variables by index. A name that no script mentions has no slot and needs none:
 * nothing could read it. Slots are given out before the first store is made; a store allocates only
 * when a text longer than any before is stored.
 * Meaning of the values is pgbench's (src/bin/pgbench/pgbench.c, makeVariableValue, getVariable).
 */
#ifndef WALPROBE_VARS_H
#define WALPROBE_VARS_H

#include "walprobe/err.h"

enum wp_value_type {
	WP_VALUE_NULL,
	WP_VALUE_BOOLEAN,
	WP_VALUE_INT,
	WP_VALUE_DOUBLE,
};

struct wp_value {
	enum wp_value_type type;
	union {
		bool boolean;
		int64_t integer;
		double real;
	};
};

/* longest text of a value that is not a text itself, with its terminator */
#define WP_VALUE_TEXT_SIZE 32

/* names and their slots, shared by all scripts and clients of a run */
struct wp_symbols {
	char **names;
	bool *assigned; /* by \set, -D, or as an automatic variable */
	size_t count;
	size_t capacity;
	int32_t *buckets; /* open addressing: slot + 1, 0 where empty */
	size_t bucket_count;
};

struct wp_var {
	struct wp_value value; /* when has_value */
	char *text;            /* when has_text: short_text or long_text */
	char *long_text;
	size_t long_size;
	bool has_value;
	bool has_text; /* neither: never set */
	char short_text[WP_VALUE_TEXT_SIZE];
};

/* one client's variables; slots as in symbols */
struct wp_vars {
	const struct wp_symbols *symbols;
	struct wp_var *slots;
	size_t count;
};

/* ---- values ---------------------------------------------------------------------------------- */

/* wp_value_type_name - "null", "boolean", "int" or "double"; static storage. Threads: yes. */
const char *wp_value_type_name(enum wp_value_type type);

/*
 * wp_value_format - text of a value as pgbench puts it into statements: NULL, true, false, a
 * decimal number, or 15 significant digits.
 *
 * out      WP_VALUE_TEXT_SIZE bytes
 * Returns: length without the terminator. Threads: yes.
 */
size_t wp_value_format(const struct wp_value *value, char out[WP_VALUE_TEXT_SIZE]);

/* ---- names ----------------------------------------------------------------------------------- */

/* wp_symbols_release - free all names; accepts a zeroed struct. Threads: no. */
void wp_symbols_release(struct wp_symbols *symbols);

/*
 * wp_symbols_add - slot of a name of length bytes, given out when it is new.
 *
 * Only before the first wp_vars_init on these symbols. Threads: no.
 */
int32_t wp_symbols_add(struct wp_symbols *symbols, const char *name, size_t length);

/*
 * wp_symbols_define - as wp_symbols_add for a name that somebody assigns.
 *
 * For -D and the automatic variables (client_id, scale, random_seed, default_seed) call this
 * before scripts are parsed, so that the parser knows the name as one that has a value.
 */
int32_t wp_symbols_define(struct wp_symbols *symbols, const char *name, size_t length);

/*
 * wp_symbols_find - slot of prefix followed by name, or -1.
 *
 * prefix   NULL for none. Threads: yes, once slots are no longer given out.
 */
int32_t wp_symbols_find(const struct wp_symbols *symbols, const char *prefix, const char *name);

/*
 * wp_name_length - length of the variable name at the start of text, 0 when there is none.
 *
 * A name starts with a letter, an underscore or a byte above 127; digits may follow.
 */
size_t wp_name_length(const char *text, size_t length);

/* ---- one client's variables ------------------------------------------------------------------ */

/* wp_vars_init - a store without values for all slots of symbols, which must outlive it. */
void wp_vars_init(struct wp_vars *vars, const struct wp_symbols *symbols);

/* wp_vars_release - free a store; accepts a zeroed struct. */
void wp_vars_release(struct wp_vars *vars);

/* wp_vars_set - assign a value to a slot. Threads: one store per thread. Never allocates. */
void wp_vars_set(struct wp_vars *vars, int32_t slot, struct wp_value value);

/*
 * wp_vars_set_text - assign a text to prefix followed by name, as \gset and -D do; the type is
 * found out when an expression reads it.
 *
 * context  "gset", "aset" or the option, for the message
 * prefix   NULL for none
 * Returns: 0, also when no script mentions the name; -WP_E_DATA when it is not a variable name.
 */
int wp_vars_set_text(struct wp_vars *vars, const char *context, const char *prefix,
	const char *name, const char *text, struct wp_err *err);

/*
 * wp_vars_define - take "name=value" as -D gives it.
 *
 * Returns: 0, or -WP_E_USAGE without "=" or with a bad name.
 */
int wp_vars_define(struct wp_vars *vars, const char *definition, struct wp_err *err);

/* wp_vars_set_default - assign an int to a name that has no value yet: the automatic variables. */
void wp_vars_set_default(struct wp_vars *vars, const char *name, int64_t integer);

/*
 * wp_vars_text - text of a slot, NULL when it was never set.
 *
 * length   may be NULL
 * Returns: storage of the variable, valid until it is assigned again. Never allocates.
 */
const char *wp_vars_text(struct wp_vars *vars, int32_t slot, size_t *length);

/*
 * wp_vars_value - typed value of a slot.
 *
 * A text becomes null ("null"), a boolean (true, yes, false, no and their beginnings, on, off,
 * of), an int or a double; the result is kept.
 * Returns: 0, or -WP_E_DATA when the variable was never set or its text is none of these.
 */
int wp_vars_value(struct wp_vars *vars, int32_t slot, struct wp_value *out, struct wp_err *err);

#endif
