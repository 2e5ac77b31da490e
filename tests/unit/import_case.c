/* SPDX-License-Identifier: PostgreSQL */
#include "import_case.h"
#include "harness.h"
#include "walprobe/mem.h"

static size_t untaken;

char *import_read(const char *name)
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

static void split(struct wp_import *in, const char *text)
{
	while (*text) {
		size_t length = strcspn(text, "\n");
		const char *next = text + length + (text[length] ? 1 : 0);

		while (length > 1 && text[0] == '>' && text[1] == ' ') {
			text += 2;
			length -= 2;
		}
		if (length == 1 && *text == '>')
			length = 0;
		while (length && strchr(" \t\r|", text[length - 1]))
			length--;
		in->lines = wp_xreallocarray(in->lines, in->line_count + 1, sizeof(*in->lines));
		in->lines[in->line_count] =
			(struct wp_import_line){ .text = wp_xstrndup(text, length),
				.number = in->line_count + 1 };
		in->line_count++;
		text = next;
	}
}

static size_t take(struct wp_import *in, size_t at)
{
	static const struct wp_importer *const importers[] = { &wp_import_pgbench,
		&wp_import_pg_test_fsync, &wp_import_fio_json, &wp_import_fio_text };

	for (size_t i = 0; i < WP_COUNT(importers); i++) {
		size_t lines = importers[i]->take(in, at);

		assert_true(lines <= in->line_count - at);
		if (lines)
			return lines;
	}
	return 1;
}

struct wp_result *import_text(const char *name, const char *text)
{
	static const struct wp_import_words no_words;
	struct wp_import in = {
		.name = name, .words = &no_words, .result = wp_result_new("import")
	};

	split(&in, text);
	for (size_t at = 0; at < in.line_count;)
		at += take(&in, at);
	untaken = 0;
	for (size_t i = 0; i < in.line_count; i++) {
		untaken += !in.lines[i].is_taken && *in.lines[i].text ? 1 : 0;
		free(in.lines[i].text);
	}
	free(in.lines);
	return in.result;
}

struct wp_result *import_file(const char *name)
{
	char *text = import_read(name);
	struct wp_result *result = import_text(name, text);

	free(text);
	return result;
}

size_t import_untaken(void)
{
	return untaken;
}

const struct wp_row *import_row(
	const struct wp_result *result, const char *table, const char *key, const char *value)
{
	const struct wp_table *found = wp_result_find_table(result, table);

	for (size_t i = 0; found && i < found->row_count; i++)
		if (strcmp(wp_row_get_text(found->rows[i], key), value) == 0)
			return found->rows[i];
	fail_msg("table \"%s\" has no row with %s \"%s\"", table, key, value);
	return NULL;
}

const struct wp_row *import_nth(const struct wp_result *result, const char *table, size_t index)
{
	const struct wp_table *found = wp_result_find_table(result, table);

	if (!found || index >= found->row_count)
		fail_msg("table \"%s\" has no row %zu", table, index);
	return found->rows[index];
}

size_t import_rows(const struct wp_result *result, const char *table)
{
	const struct wp_table *found = wp_result_find_table(result, table);

	return found ? found->row_count : 0;
}

void import_expect(const struct wp_row *row, const char *key, double value)
{
	double found = wp_row_get_number(row, key);

	if (!(found >= value && found <= value))
		fail_msg("%s is %.17g and not %.17g", key, found, value);
}

void import_expect_absent(const struct wp_row *row, const char *key)
{
	const struct wp_cell *cell = wp_row_cell(row, key);

	if (cell->state != WP_CELL_ABSENT)
		fail_msg("%s is not absent", key);
	if (!cell->text)
		fail_msg("%s is absent without a reason", key);
}

const struct wp_check *import_check(const struct wp_result *result, const char *id)
{
	for (size_t i = 0; i < result->check_count; i++)
		if (strcmp(result->checks[i].id, id) == 0)
			return &result->checks[i];
	return NULL;
}
