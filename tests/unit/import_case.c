/* SPDX-License-Identifier: PostgreSQL */
#include "import_case.h"
#include "harness.h"
#include "walprobe/mem.h"

char *case_read(const char *name)
{
	char *path = wp_xasprintf(IMPORT_DATA "%s", name);
	FILE *stream = fopen(path, "rb");
	char *text = wp_xcalloc(1 << 20, 1);

	if (!stream)
		fail_msg("could not open \"%s\"", path);
	text[fread(text, 1, (1 << 20) - 1, stream)] = '\0';
	(void)fclose(stream);
	free(path);
	return text;
}

struct wp_result *case_pieces(const char *name, const char *text, size_t piece)
{
	static const struct wp_import_words no_words;
	struct wp_result *result = wp_result_new("import");
	struct wp_import_reader *reader = wp_import_open(result, name, &no_words);
	size_t length = strlen(text);

	for (size_t i = 0; i < length; i += piece) {
		size_t part = length - i < piece ? length - i : piece;

		assert_int_equal(wp_import_feed(reader, text + i, part, NULL), 0);
	}
	(void)wp_import_close(reader, true, NULL);
	return result;
}

struct wp_result *case_text(const char *name, const char *text)
{
	return case_pieces(name, text, 4096);
}

struct wp_result *case_file(const char *name)
{
	char *text = case_read(name);
	struct wp_result *result = case_text(name, text);

	free(text);
	return result;
}

const struct wp_row *case_row(
	const struct wp_result *result, const char *table, const char *key, const char *value)
{
	const struct wp_table *found = wp_result_find_table(result, table);

	for (size_t i = 0; found && i < found->row_count; i++)
		if (strcmp(wp_row_get_text(found->rows[i], key), value) == 0)
			return found->rows[i];
	fail_msg("table \"%s\" has no row with %s \"%s\"", table, key, value);
	return NULL;
}

const struct wp_row *case_nth(const struct wp_result *result, const char *table, size_t index)
{
	const struct wp_table *found = wp_result_find_table(result, table);

	if (!found || index >= found->row_count)
		fail_msg("table \"%s\" has no row %zu", table, index);
	return found->rows[index];
}

size_t case_rows(const struct wp_result *result, const char *table)
{
	const struct wp_table *found = wp_result_find_table(result, table);

	return found ? found->row_count : 0;
}

void case_expect(const struct wp_row *row, const char *key, double value)
{
	double found = wp_row_get_number(row, key);

	if (!(found >= value && found <= value))
		fail_msg("%s is %.17g and not %.17g", key, found, value);
}

void case_expect_absent(const struct wp_row *row, const char *key)
{
	const struct wp_cell *cell = wp_row_cell(row, key);

	if (cell->state != WP_CELL_ABSENT)
		fail_msg("%s is not absent", key);
	if (!cell->text)
		fail_msg("%s is absent without a reason", key);
}

const struct wp_check *case_check(const struct wp_result *result, const char *id)
{
	for (size_t i = 0; i < result->check_count; i++)
		if (strcmp(result->checks[i].id, id) == 0)
			return &result->checks[i];
	return NULL;
}
