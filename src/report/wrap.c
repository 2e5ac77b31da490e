/* SPDX-License-Identifier: PostgreSQL */
#include "wrap.h"
#include "utf8.h"
#include "walprobe/mem.h"

static bool is_soft(char ch)
{
	return ch == ',' || ch == '/' || ch == ':' || ch == '=';
}

/* Bytes of text that make the next line. */
static size_t line_length(const char *text, size_t width)
{
	size_t after_blank = 0;
	size_t after_soft = 0;
	size_t used = 0;
	size_t at = 0;
	uint32_t code;

	while (text[at]) {
		size_t step = wp_utf8_next(text + at, &code);

		used += wp_utf8_code_width(code);
		/* A blank may hang over the edge, because it is cut. */
		if (used > width && text[at] != ' ')
			break;
		at += step;
		if (text[at - 1] == ' ')
			after_blank = at;
		else if (is_soft(text[at - 1]))
			after_soft = at;
		if (used > width)
			break;
	}
	if (!text[at] || (at && after_blank == at))
		return at;
	if (after_blank)
		return after_blank;
	if (after_soft)
		return after_soft;
	/* One character at least, also where it is wider than the line. */
	return at ? at : wp_utf8_next(text, &code);
}

static void add_line(struct wp_lines *lines, const char *text, size_t length)
{
	while (length && text[length - 1] == ' ')
		length--;
	lines->lines = wp_xreallocarray(lines->lines, lines->count + 1, sizeof(*lines->lines));
	lines->lines[lines->count++] = wp_xstrndup(text, length);
}

void wp_wrap(const char *text, size_t width, struct wp_lines *lines)
{
	lines->lines = NULL;
	lines->count = 0;
	do {
		size_t length = line_length(text, width);

		add_line(lines, text, length);
		text += length;
		text += strspn(text, " ");
	} while (*text);
}

void wp_lines_release(struct wp_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->lines[i]);
	free(lines->lines);
	lines->lines = NULL;
	lines->count = 0;
}

size_t wp_wrap_longest_part(const char *text)
{
	size_t longest = 0;
	size_t width = 0;
	uint32_t code;

	while (*text) {
		char ch = *text;

		text += wp_utf8_next(text, &code);
		width = ch == ' ' ? 0 : width + wp_utf8_code_width(code);
		if (width > longest)
			longest = width;
		if (is_soft(ch))
			width = 0;
	}
	return longest;
}

void wp_wrap_print(FILE *stream, size_t limit, size_t indent, const char *lead, const char *text)
{
	char *clean = wp_utf8_clean(text);
	char *joined = wp_xasprintf("%s%s", lead, clean);
	struct wp_lines lines;

	wp_wrap(joined, limit - indent, &lines);
	for (size_t i = 0; i < lines.count; i++)
		fprintf(stream, "%*s%s\n", lines.lines[i][0] ? (int)indent : 0, "", lines.lines[i]);
	wp_lines_release(&lines);
	free(joined);
	free(clean);
}

void wp_join(char **text, const char *separator, const char *part)
{
	char *longer;

	if (!*part)
		return;
	longer = wp_xasprintf("%s%s%s", *text, **text ? separator : "", part);
	free(*text);
	*text = longer;
}
