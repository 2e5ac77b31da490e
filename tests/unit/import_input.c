/* SPDX-License-Identifier: PostgreSQL */
#include "import_input.h"
#include "walprobe/mem.h"

#define PIECE 997
#define FILE_LIMIT ((size_t)4 << 20)

char *import_read(const char *name)
{
	char *path = wp_xasprintf("tests/data/import/%s", name);
	FILE *stream = fopen(path, "rb");
	char *text = wp_xcalloc(FILE_LIMIT, 1);

	if (!stream)
		fail_msg("could not open %s", path);
	(void)fread(text, 1, FILE_LIMIT - 1, stream);
	(void)fclose(stream); /* read only */
	free(path);
	return text;
}

struct wp_result *import_text_as(const char *text, const struct wp_import_words *words)
{
	struct wp_result *result = wp_result_new("import");
	struct wp_import_reader *reader = wp_import_open(result, "input", words);
	size_t length = strlen(text);
	struct wp_err err = { 0 };

	while (length) {
		size_t piece = length < PIECE ? length : PIECE;

		assert_int_equal(wp_import_feed(reader, text, piece, &err), 0);
		text += piece;
		length -= piece;
	}
	if (wp_import_close(reader, true, &err) == 0)
		return result;
	assert_true(err.message[0] && err.hint[0]);
	wp_result_free(result);
	return NULL;
}

struct wp_result *import_text(const char *text)
{
	static const struct wp_import_words none;

	return import_text_as(text, &none);
}

struct wp_result *import_case(const char *name)
{
	char *text = import_read(name);
	struct wp_result *result = import_text(text);

	if (!result)
		fail_msg("nothing in %s was understood", name);
	free(text);
	return result;
}

static bool is_row(const struct wp_row *row, const char *target, const char *test, const char *key,
	double number)
{
	double own = key ? wp_row_get_number(row, key) : 0;

	return (!target || strcmp(wp_row_get_text(row, "target"), target) == 0) &&
	       (!test || strcmp(wp_row_get_text(row, "test"), test) == 0) &&
	       (!key || !(own < number || own > number));
}

const struct wp_row *import_row(const struct wp_result *result, const char *table_name,
	const char *target, const char *test, const char *key, double number)
{
	const struct wp_table *table = wp_result_find_table(result, table_name);
	const struct wp_row *found = NULL;

	if (!table)
		fail_msg("there is no table %s", table_name);
	for (size_t i = 0; i < table->row_count; i++) {
		if (!is_row(table->rows[i], target, test, key, number))
			continue;
		if (found)
			fail_msg("%s, %s: more than one row", target ? target : "-",
				test ? test : "-");
		found = table->rows[i];
	}
	if (!found)
		fail_msg("%s, %s: no row", target ? target : "-", test ? test : "-");
	return found;
}

const struct wp_check *import_check(
	const struct wp_result *result, const char *id, const char *target)
{
	for (size_t i = 0; i < result->check_count; i++) {
		const struct wp_check *check = &result->checks[i];

		if (strcmp(check->id, id) == 0 &&
			(!target || (check->target && strcmp(check->target, target) == 0)))
			return check;
	}
	return NULL;
}

const char *import_run_field(const struct wp_result *result, size_t index, const char *key)
{
	const struct wp_table *table = wp_result_find_table(result, "runs");

	assert_non_null(table);
	assert_true(index < table->row_count);
	return wp_row_get_text(table->rows[index], key);
}
