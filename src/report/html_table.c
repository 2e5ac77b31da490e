/* SPDX-License-Identifier: PostgreSQL */
#include "html.h"
#include "utf8.h"
#include "views.h"
#include "walprobe/mem.h"
#include "wrap.h"

#define LONG_TABLE 24 /* rows; a longer one is folded */
#define ROWS_MAXIMUM 1000
#define TEXT_CHARACTERS 20 /* to which a text is broken before its table becomes cards */
#define CHARACTER_PX 8
#define PADDING_PX 9

void wp_html_text(FILE *stream, const char *text)
{
	char *clean = wp_utf8_clean(text);

	for (const char *c = clean; *c; c++)
		switch (*c) {
		case '&':
			fputs("&amp;", stream);
			break;
		case '<':
			fputs("&lt;", stream);
			break;
		case '>':
			fputs("&gt;", stream);
			break;
		case '"':
			fputs("&quot;", stream);
			break;
		default:
			putc(*c, stream);
		}
	free(clean);
}

void wp_html_element(FILE *stream, const char *tag, const char *class, const char *text)
{
	fprintf(stream, "<%s", tag);
	if (class)
		fprintf(stream, " class=\"%s\"", class);
	putc('>', stream);
	wp_html_text(stream, text);
	fprintf(stream, "</%s>\n", tag);
}

static const char *cell_text(const struct wp_grid *grid, size_t row, size_t column)
{
	const char *text = grid->cells[row * grid->column_count + column];

	return text ? text : "";
}

/* "-" or "-[1]": there is no figure. */
static bool is_absent(const char *text)
{
	return text[0] == '-' && (!text[1] || text[1] == '[');
}

/* Columns in which no row has anything are named below the table, with the reason; the caller frees. */
static bool *find_hidden(const struct wp_grid *grid)
{
	bool *is_hidden = wp_xcalloc(grid->column_count, sizeof(*is_hidden));

	for (size_t i = 1; i < grid->column_count; i++) {
		size_t row = 0;

		while (row < grid->row_count && is_absent(cell_text(grid, row, i)))
			row++;
		is_hidden[i] = row == grid->row_count;
	}
	return is_hidden;
}

static void put_hidden(FILE *stream, const struct wp_grid *grid, const bool *is_hidden)
{
	char *names = wp_xstrdup("");

	for (size_t i = 0; i < grid->column_count; i++) {
		char *name;

		if (!is_hidden[i])
			continue;
		/* "-[1]" of its first row */
		name = wp_xasprintf("%s %s", grid->columns[i].heading, cell_text(grid, 0, i) + 1);
		wp_join(&names, ", ", name);
		free(name);
	}
	if (*names) {
		fputs("<p class=\"note\">no row has: ", stream);
		wp_html_text(stream, names);
		fputs("</p>\n", stream);
	}
	free(names);
}

static size_t longest_word(const char *text)
{
	size_t longest = 0;

	while (*text) {
		size_t length = strcspn(text, " ");

		longest = length > longest ? length : longest;
		text += length;
		text += strspn(text, " ");
	}
	return longest;
}

/* Pixels that the table takes at least: headings break at blanks, texts almost anywhere. */
static size_t least_width(const struct wp_grid *grid, const bool *is_hidden)
{
	size_t characters = 0;

	for (size_t i = 0; i < grid->column_count; i++) {
		size_t widest = is_hidden[i] ? 0 : longest_word(grid->columns[i].heading);

		for (size_t row = 0; row < grid->row_count && widest; row++) {
			size_t width = wp_utf8_width(cell_text(grid, row, i));

			if (grid->columns[i].align == WP_ALIGN_LEFT && width > TEXT_CHARACTERS)
				width = TEXT_CHARACTERS;
			widest = width > widest ? width : widest;
		}
		characters += widest;
	}
	return characters * CHARACTER_PX + grid->column_count * PADDING_PX;
}

/* The class by which the style sheet knows how wide a window the table needs. */
static const char *width_class(const struct wp_grid *grid, const bool *is_hidden)
{
	static const struct {
		size_t px;
		const char *class;
	} classes[] = { { 340, "n0" }, { 480, "n1" }, { 700, "n2" }, { 940, "n3" },
		{ 1240, "n4" } };
	size_t width = least_width(grid, is_hidden);

	for (size_t i = 0; i < WP_COUNT(classes); i++)
		if (width <= classes[i].px)
			return classes[i].class;
	return "n5";
}

/* What a cell that is left empty because the one above says it repeats: cards stand alone. */
static const char *repeated_text(const struct wp_grid *grid, size_t row, size_t column)
{
	while (row && !*cell_text(grid, row, column))
		row--;
	return cell_text(grid, row, column);
}

/* Headings are written so that lines of a terminal may break in them: "re- cycled", "commits /s". */
static void put_heading(FILE *stream, const char *heading)
{
	char *text = wp_xstrdup(heading);
	size_t used = 0;

	for (size_t i = 0; text[i]; i++) {
		bool is_hyphen = text[i] == '-' && text[i + 1] == ' ';

		if (is_hyphen)
			i++;
		else if (!(text[i] == ' ' && text[i + 1] == '/'))
			text[used++] = text[i];
	}
	text[used] = '\0';
	wp_html_text(stream, text);
	free(text);
}

static void put_cell(FILE *stream, const struct wp_grid *grid, size_t row, size_t column)
{
	bool is_key = column < grid->key_count;
	bool is_number = grid->columns[column].align != WP_ALIGN_LEFT;
	const char *text = cell_text(grid, row, column);
	const char *class = is_number ? "r" : NULL;

	if (!*text && column == 0) {
		text = repeated_text(grid, row, column);
		class = "same l";
	} else if (!is_number && wp_utf8_width(text) > TEXT_CHARACTERS) {
		class = "l";
	} else if (!*text || strcmp(text, "-") == 0) {
		class = is_number ? "r none" : "none";
	}
	fprintf(stream, is_key ? "<th scope=\"row\"" : "<td");
	if (class)
		fprintf(stream, " class=\"%s\"", class);
	fputs(" data-label=\"", stream);
	put_heading(stream, grid->columns[column].heading);
	fputs("\">", stream);
	wp_html_text(stream, text);
	fputs(is_key ? "</th>" : "</td>", stream);
}

static void put_grid(FILE *stream, const struct wp_grid *grid)
{
	bool *is_hidden = find_hidden(grid);

	fprintf(stream, "<div class=\"wide\"><table class=\"%s\">\n<thead><tr>",
		width_class(grid, is_hidden));
	for (size_t i = 0; i < grid->column_count; i++) {
		if (is_hidden[i])
			continue;
		fprintf(stream, "<th scope=\"col\"%s>",
			grid->columns[i].align == WP_ALIGN_LEFT ? "" : " class=\"r\"");
		put_heading(stream, grid->columns[i].heading);
		fputs("</th>", stream);
	}
	fputs("</tr></thead>\n<tbody>\n", stream);
	for (size_t row = 0; row < grid->row_count && row < ROWS_MAXIMUM; row++) {
		fputs("<tr>", stream);
		for (size_t i = 0; i < grid->column_count; i++)
			if (!is_hidden[i])
				put_cell(stream, grid, row, i);
		fputs("</tr>\n", stream);
	}
	fputs("</tbody>\n</table></div>\n", stream);
	if (grid->row_count > ROWS_MAXIMUM)
		fprintf(stream, "<p class=\"note\">%zu more rows are in the document</p>\n",
			grid->row_count - ROWS_MAXIMUM);
	put_hidden(stream, grid, is_hidden);
	free(is_hidden);
}

static void put_shown(FILE *stream, const struct wp_shown *shown)
{
	if (*shown->folded)
		wp_html_element(stream, "p", "note", shown->folded);
	if (shown->grid.row_count)
		put_grid(stream, &shown->grid);
	for (size_t i = 0; i < shown->notes.count; i++) {
		char *note = wp_xasprintf("[%zu] %s", i + 1, shown->notes.reasons[i]);

		wp_html_element(stream, "p", "note", note);
		free(note);
	}
	for (size_t i = 0; i < shown->line_count; i++) {
		char *line = wp_xasprintf("%s%s", shown->lines[i].lead, shown->lines[i].text);

		wp_html_element(stream, "p", "note", line);
		free(line);
	}
}

/* "1. item: value", and why under it. */
static void put_advice(const struct wp_table *table, FILE *stream)
{
	fputs("<ol class=\"advice\">\n", stream);
	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];
		const char *target = wp_row_get_text(row, "target");
		const char *value = wp_row_get_text(row, "value");

		fputs("<li><b>", stream);
		wp_html_text(stream, wp_row_get_text(row, "item"));
		fputs("</b>: ", stream);
		wp_html_text(stream, value);
		if (*target && !strstr(value, target)) {
			fputs(" (on ", stream);
			wp_html_text(stream, target);
			putc(')', stream);
		}
		if (*wp_row_get_text(row, "why"))
			wp_html_element(stream, "small", NULL, wp_row_get_text(row, "why"));
		fputs("</li>\n", stream);
	}
	fputs("</ol>\n", stream);
}

void wp_html_table(const struct wp_result *result, const struct wp_table *table, FILE *stream)
{
	const char *title = table->title && *table->title ? table->title : table->name;
	struct wp_shown shown;

	if (!table->row_count)
		return;
	if (strcmp(table->name, "recommendation") == 0) {
		wp_html_element(stream, "h2", NULL, title);
		put_advice(table, stream);
		return;
	}
	wp_view_fill(result, table, true, &shown);
	if (shown.grid.row_count > LONG_TABLE) {
		fputs("<details><summary>", stream);
		fputs("<h2>", stream);
		wp_html_text(stream, title);
		fprintf(stream, "</h2> <span class=\"soft\">%zu rows</span></summary>\n",
			shown.grid.row_count);
		put_shown(stream, &shown);
		fputs("</details>\n", stream);
	} else {
		wp_html_element(stream, "h2", NULL, title);
		put_shown(stream, &shown);
	}
	wp_shown_release(&shown);
}
