/* SPDX-License-Identifier: PostgreSQL */
/*
 * RFC 4180 with line feeds, as PostgreSQL's COPY ... CSV reads it: an absent value is an empty
 * field, an empty text is "".
 */
#include "number.h"
#include "utf8.h"
#include "walprobe/mem.h"
#include "walprobe/render.h"

/* is_first: a field that could be taken for a comment line is quoted. */
static void put_text(FILE *stream, const char *text, bool is_first)
{
	bool is_quoted = !*text || strpbrk(text, "\",\r\n") || text[0] == ' ' ||
			 text[strlen(text) - 1] == ' ' || (is_first && text[0] == '#');
	char bytes[4];
	uint32_t code;

	if (is_quoted)
		putc('"', stream);
	while (*text) {
		text += wp_utf8_next(text, &code);
		if (code == '"')
			putc('"', stream);
		(void)fwrite(bytes, 1, wp_utf8_put(code, bytes), stream);
	}
	if (is_quoted)
		putc('"', stream);
}

static void put_cell(FILE *stream, const struct wp_cell *cell, bool is_first)
{
	char number[WP_NUMBER_SIZE];

	switch (cell->state) {
	case WP_CELL_ABSENT:
		break;
	case WP_CELL_INT:
		fprintf(stream, "%" PRId64, cell->integer);
		break;
	case WP_CELL_REAL:
		fputs(wp_number_real(cell->real, number), stream);
		break;
	case WP_CELL_TEXT:
		put_text(stream, cell->text, is_first);
		break;
	}
}

static void put_comment(FILE *stream, const char *name, const char *title)
{
	char *clean_name = wp_utf8_clean(name);
	char *clean_title = wp_utf8_clean(title);

	fprintf(stream, "# table %s: %s\n", clean_name, clean_title);
	free(clean_title);
	free(clean_name);
}

static void put_table(FILE *stream, const struct wp_table *table)
{
	put_comment(stream, table->name, table->title);
	for (size_t j = 0; j < table->column_count; j++) {
		fputs(j ? "," : "", stream);
		put_text(stream, table->columns[j].key, j == 0);
	}
	putc('\n', stream);
	for (size_t i = 0; i < table->row_count; i++) {
		for (size_t j = 0; j < table->column_count; j++) {
			fputs(j ? "," : "", stream);
			put_cell(stream, &table->rows[i]->cells[j], j == 0);
		}
		putc('\n', stream);
	}
}

static void put_check(FILE *stream, const struct wp_check *check)
{
	const char *const fields[] = { check->id, check->target,
		wp_check_status_name(check->status), check->expected, check->observed,
		check->text };

	for (size_t i = 0; i < WP_COUNT(fields); i++) {
		fputs(i ? "," : "", stream);
		if (fields[i])
			put_text(stream, fields[i], i == 0);
	}
	putc('\n', stream);
}

void wp_render_csv(
	const struct wp_result *result, const struct wp_render_options *options, FILE *stream)
{
	(void)options;
	for (size_t i = 0; i < result->table_count; i++)
		put_table(stream, result->tables[i]);
	put_comment(stream, "checks", "what was checked, and what it means");
	fputs("id,target,status,expected,observed,text\n", stream);
	for (size_t i = 0; i < result->check_count; i++)
		put_check(stream, &result->checks[i]);
}
