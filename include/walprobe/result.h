/* SPDX-License-Identifier: PostgreSQL */
/*
 * result.h - the one structure that every probe fills and every renderer reads.
 *
 * Floor: result (may include base). A quantity is declared once as a column; a value that was not
 * measured is an absent cell with a reason, never 0. Times are integer nanoseconds (_ns), sizes
 * bytes (_bytes), rates per second (_per_s). Keys never change meaning; WP_RESULT_SCHEMA is raised
 * instead. The result owns every string in it: setters copy.
 * Threads: no.
 */
#ifndef WALPROBE_RESULT_H
#define WALPROBE_RESULT_H

#include "walprobe/err.h"

#define WP_RESULT_SCHEMA 1

enum wp_kind {
	WP_KIND_INT,
	WP_KIND_REAL,
	WP_KIND_TEXT,
};

struct wp_column {
	const char *key;   /* JSON key and CSV heading */
	const char *label; /* heading in text and HTML */
	const char *unit;  /* "1/s", "ns", "bytes", "" */
	enum wp_kind kind;
	const char *meaning; /* one sentence */
};

enum wp_cell_state {
	WP_CELL_ABSENT,
	WP_CELL_INT,
	WP_CELL_REAL,
	WP_CELL_TEXT,
};

struct wp_cell {
	enum wp_cell_state state;
	int64_t integer;
	double real;
	char *text; /* the text, or the reason of an absent cell (NULL: does not apply here) */
};

struct wp_row {
	struct wp_table *table;
	struct wp_cell *cells; /* one per column */
};

struct wp_table {
	char *name;
	char *title;
	struct wp_column *columns;
	size_t column_count;
	struct wp_row **rows;
	size_t row_count;
};

struct wp_fact {
	char *key;
	char *value;
	char *source;      /* where it was read; for parameters "option" or "default" */
	enum wp_kind kind; /* how JSON writes value */
};

struct wp_device {
	char *name;
	char *write_cache; /* "write back", "write through", NULL: cannot be seen */
	int is_fua;        /* 1, 0, -1: cannot be seen */
	int is_rotational; /* 1, 0, -1: cannot be seen */
};

struct wp_target_info {
	char *label;
	char *path;                /* NULL: never came to be */
	char *fstype;              /* NULL: unknown */
	char *mount_options;       /* NULL: unknown */
	struct wp_device *devices; /* top layer first */
	size_t device_count;
};

enum wp_check_status {
	WP_CHECK_PASS,
	WP_CHECK_FAIL,
	WP_CHECK_UNKNOWN,
	WP_CHECK_INFO,
};

struct wp_check {
	char *id;
	char *target;
	enum wp_check_status status;
	char *expected;
	char *observed;
	char *text; /* one sentence that a DBA can act on */
};

struct wp_result {
	char *version;
	char *command;
	char **argv;
	size_t argc;
	char *started; /* UTC, ISO 8601 */
	bool is_complete;
	struct wp_fact *environment;
	size_t environment_count;
	struct wp_fact *parameters;
	size_t parameter_count;
	struct wp_target_info **targets;
	size_t target_count;
	struct wp_table **tables;
	size_t table_count;
	struct wp_check *checks;
	size_t check_count;
};

/* wp_result_new - an empty, complete result of command; free with wp_result_free(). */
struct wp_result *wp_result_new(const char *command);

/* wp_result_free - free all; accepts NULL. */
void wp_result_free(struct wp_result *result);

/* wp_result_add_argument - append one word of the command line. */
void wp_result_add_argument(struct wp_result *result, const char *word);

/* wp_result_add_environment - one fact about the machine, with where it was read. */
void wp_result_add_environment(
	struct wp_result *result, const char *key, const char *value, const char *source);

/* wp_result_add_parameter - one option as it was in force; kind says how JSON writes value. */
void wp_result_add_parameter(struct wp_result *result, const char *key, const char *value,
	enum wp_kind kind, const char *source);

/* wp_result_set_parameter - a parameter turned out otherwise than it was given: its value in force
 * and where that comes from. Added when it is not there. */
void wp_result_set_parameter(struct wp_result *result, const char *key, const char *value,
	enum wp_kind kind, const char *source);

/* wp_result_parameter - value of a parameter as text, or NULL. */
const char *wp_result_parameter(const struct wp_result *result, const char *key);

/* wp_result_add_target - a new target entry with copies; the result owns what is returned. */
struct wp_target_info *wp_result_add_target(struct wp_result *result, const char *label);

/* wp_target_info_set - replace path, fstype and mount options by copies; NULL leaves NULL. */
void wp_target_info_set(struct wp_target_info *target, const char *path, const char *fstype,
	const char *mount_options);

/* wp_target_info_add_device - append one layer; write_cache may be NULL. */
void wp_target_info_add_device(struct wp_target_info *target, const char *name,
	const char *write_cache, int is_fua, int is_rotational);

/*
 * wp_result_table - the table with this name, made with copies of the columns when new.
 *
 * columns  ignored when the table exists already.
 * Returns: the table, which the result owns; its address never changes.
 */
struct wp_table *wp_result_table(struct wp_result *result, const char *name, const char *title,
	const struct wp_column *columns, size_t column_count);

/* wp_result_find_table - the table with this name, or NULL. */
const struct wp_table *wp_result_find_table(const struct wp_result *result, const char *name);

/* wp_table_add_row - a new row, all cells absent without a reason. Address never changes. */
struct wp_row *wp_table_add_row(struct wp_table *table);

/* wp_table_column - index of the column with this key, or -1. */
int wp_table_column(const struct wp_table *table, const char *key);

/* wp_row_int, wp_row_real, wp_row_text - set the cell of key, which the table must have. A real
 * that is not finite and a NULL text become absent without a reason. */
void wp_row_int(struct wp_row *row, const char *key, int64_t value);
void wp_row_real(struct wp_row *row, const char *key, double value);
void wp_row_text(struct wp_row *row, const char *key, const char *value);

/* wp_row_absent - the cell of key was not measured; reason may be NULL (does not apply here). */
void wp_row_absent(struct wp_row *row, const char *key, const char *reason);

/* wp_row_cell - the cell of key; a static absent cell when the table has no such column. */
const struct wp_cell *wp_row_cell(const struct wp_row *row, const char *key);

/* wp_row_get_text - text of the cell of key, or "" when it holds none. */
const char *wp_row_get_text(const struct wp_row *row, const char *key);

/* wp_row_get_number - integer or real of the cell of key as a double; NaN when absent. */
double wp_row_get_number(const struct wp_row *row, const char *key);

/* wp_result_add_check - append a check with copies; expected and observed may be NULL. */
void wp_result_add_check(struct wp_result *result, const char *id, const char *target,
	enum wp_check_status status, const char *expected, const char *observed, const char *text);

/* wp_result_has_failed_check - true when any check has status fail: exit status 1. */
bool wp_result_has_failed_check(const struct wp_result *result);

/* wp_check_status_name - "pass", "fail", "unknown", "info"; and back, -1 when it is none. */
const char *wp_check_status_name(enum wp_check_status status);
int wp_check_status_parse(const char *name);

/* wp_kind_name - "int", "real", "text"; and back, -1 when it is none. */
const char *wp_kind_name(enum wp_kind kind);
int wp_kind_parse(const char *name);

#endif
