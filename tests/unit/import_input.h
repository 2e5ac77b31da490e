/* SPDX-License-Identifier: PostgreSQL */
/* import_input.h - files of tests/data/import through the importers. */
#ifndef WALPROBE_TEST_IMPORT_INPUT_H
#define WALPROBE_TEST_IMPORT_INPUT_H

#include "harness.h"
#include "walprobe/import.h"

/* import_read - a file of tests/data/import; the test fails when there is none. The caller frees. */
char *import_read(const char *name);

/* import_text - text as an input called "input", in pieces of an odd size; NULL: nothing in it was
 * understood. The caller frees. */
struct wp_result *import_text(const char *text);

/* import_text_as - likewise with what a command line says. */
struct wp_result *import_text_as(const char *text, const struct wp_import_words *words);

/* import_case - a file of tests/data/import in which something is understood. The caller frees. */
struct wp_result *import_case(const char *name);

/* import_row - the only row of table whose target and test (NULL: any) are these, and whose column
 * key (NULL: any) is number; the test fails when there is none, or more. */
const struct wp_row *import_row(const struct wp_result *result, const char *table,
	const char *target, const char *test, const char *key, double number);

/* import_check - the first check with this id of target (NULL: any), or NULL. */
const struct wp_check *import_check(
	const struct wp_result *result, const char *id, const char *target);

/* import_run_field - a cell of table "runs", as text, of run number index. */
const char *import_run_field(const struct wp_result *result, size_t index, const char *key);

#endif
