/* SPDX-License-Identifier: PostgreSQL */
/*
 * rows.h - the tables that importers of transaction, sync and fio results fill; private to import.
 *
 * The keys are those of walprobe's own commands; "source" and "line" say where a row was read.
 */
#ifndef WALPROBE_IMPORT_ROWS_H
#define WALPROBE_IMPORT_ROWS_H

#include "scan.h"

/* rows_add - a new row of table "ramp", "scripts", "statements", "progress", "sync" or "io". */
struct wp_row *rows_add(struct wp_import *in, const char *table);

/* rows_text, rows_int, rows_real, rows_absent - as wp_row_text() and so on, but leave a table alone
 * that another importer has made without this key. */
void rows_text(struct wp_row *row, const char *key, const char *value);
void rows_int(struct wp_row *row, const char *key, int64_t value);
void rows_real(struct wp_row *row, const char *key, double value);
void rows_absent(struct wp_row *row, const char *key, const char *reason);

/* rows_place - target, source and line (from 1) of a row. */
void rows_place(struct wp_import *in, struct wp_row *row, const char *target, size_t line);

/* rows_absent_rest - every cell that is absent without a reason gets this one. */
void rows_absent_rest(struct wp_row *row, const char *reason);

/* rows_file_system - the file system that a text names as a word of its own, or NULL; static. */
const char *rows_file_system(const char *text);

/* rows_base_name - the input's name without directories, or "standard input". */
const char *rows_base_name(const struct wp_import *in);

#endif
