/* SPDX-License-Identifier: PostgreSQL */
/* import_case.h - texts of other tools through the importers, for tests. */
#ifndef WALPROBE_IMPORT_CASE_H
#define WALPROBE_IMPORT_CASE_H

#include "walprobe/import.h"

#define IMPORT_DATA "tests/data/import/"

/* case_read - the bytes of a file below tests/data/import; the caller frees. Fails the test when
 * it cannot be read. */
char *case_read(const char *name);

/* case_text - text, as the file NAME, through the importers; free with wp_result_free(). */
struct wp_result *case_text(const char *name, const char *text);

/* case_file - case_text() of a file below tests/data/import. */
struct wp_result *case_file(const char *name);

/* case_pieces - case_text() with the text given in pieces of this many bytes. */
struct wp_result *case_pieces(const char *name, const char *text, size_t piece);

/* case_row - row of table where the text of key is value; fails the test for none. */
const struct wp_row *case_row(
	const struct wp_result *result, const char *table, const char *key, const char *value);

/* case_nth - row of table by its index; fails the test for none. */
const struct wp_row *case_nth(const struct wp_result *result, const char *table, size_t index);

/* case_rows - number of rows of table; 0 for no table. */
size_t case_rows(const struct wp_result *result, const char *table);

/* case_expect - the cell of key is this number exactly; case_expect_absent - it is absent. */
void case_expect(const struct wp_row *row, const char *key, double value);
void case_expect_absent(const struct wp_row *row, const char *key);

/* case_check - the check with this id, NULL for none. */
const struct wp_check *case_check(const struct wp_result *result, const char *id);

#endif
