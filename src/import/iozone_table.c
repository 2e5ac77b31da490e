/* SPDX-License-Identifier: PostgreSQL */
/*
 * iozone's table. Figures are told by their number where all columns are there, else by the column
 * that they end in, else by the -i options of the command line. Source: iozone.c of 3.489 (the
 * headings have not changed since 3.16, their widths have).
 */
#include "import/iozone.h"
#include "walprobe/mem.h"

#include <ctype.h>

#define SIZES 2 /* columns before the figures: file and record size */
#define CELLS (SIZES + WP_IOZONE_COLUMNS)
#define HEAD_LINES 4
#define ROW_LINES 4

static const struct {
	const char *word; /* in the heading */
	const char *test;
	int option; /* of -i */
} columns[WP_IOZONE_COLUMNS] = {
	{ "write", "write", 0 },
	{ "rewrite", "overwrite", 0 },
	{ "read", "read", 1 },
	{ "reread", "reread", 1 },
	{ "read", "random-read", 2 },
	{ "write", "random-write", 2 },
	{ "read", "backward-read", 3 },
	{ "rewrite", "record-rewrite", 4 },
	{ "read", "stride-read", 5 },
	{ "fwrite", "fwrite", 6 },
	{ "frewrite", "frewrite", 6 },
	{ "fread", "fread", 7 },
	{ "freread", "freread", 7 },
	{ "pwrite", "pwrite", 9 },
	{ "repwrite", "repwrite", 9 },
	{ "pread", "pread", 10 },
	{ "repread", "repread", 10 },
};

struct head {
	size_t lines;
	size_t columns;
	bool has_edges;
	size_t edges[CELLS];
	unsigned options; /* bits of -i; 0: not told */
};

struct row_text {
	char cells[CELLS][16];
};

const char *wp_iozone_test(size_t index)
{
	return columns[index].test;
}

/* ---- heading ----------------------------------------------------------------------------------- */

/* The upper line: "random  random    bkwd   record   stride", and what mail left of it. */
static bool is_upper(const char *text)
{
	static const char *const words[] = { "random", "bkwd", "record", "stride" };
	bool is_any = false;

	for (;;) {
		size_t length;
		bool is_known = false;

		text += strspn(text, " ");
		if (!*text)
			return is_any;
		length = strcspn(text, " ");
		for (size_t i = 0; i < WP_COUNT(words); i++)
			is_known |=
				strlen(words[i]) == length && strncmp(words[i], text, length) == 0;
		if (!is_known)
			return false;
		is_any = true;
		text += length;
	}
}

static const char *behind_reclen(const char *text)
{
	const char *at = strstr(text, "reclen");
	const char *kb = text + strspn(text, " ");

	if (!at || (strncmp(kb, "KB ", 3) != 0 && strncmp(kb, "kB ", 3) != 0))
		return NULL;
	return at + 6;
}

/* Line with "reclen" at or below at, past upper lines; in->line_count when there is none. */
static size_t find_lower(const struct wp_import *in, size_t at)
{
	for (size_t i = at; i < in->line_count && i < at + HEAD_LINES; i++) {
		if (behind_reclen(in->lines[i].text))
			return i;
		if (!is_upper(in->lines[i].text))
			break;
	}
	return in->line_count;
}

bool wp_iozone_starts_table(const struct wp_import *in, size_t at)
{
	return find_lower(in, at) < in->line_count;
}

/* Number of columns whose headings, without blanks, are exactly compact; 0: none. */
static size_t match_columns(const char *compact)
{
	for (size_t i = 0; i < WP_IOZONE_COLUMNS; i++) {
		size_t length = strlen(columns[i].word);

		if (strncmp(compact, columns[i].word, length) != 0)
			return 0;
		compact += length;
		if (!*compact)
			return i + 1;
	}
	return 0;
}

static void add_compact(char *compact, size_t size, const char *text)
{
	size_t used = strlen(compact);

	for (; *text && used + 1 < size; text++)
		if (*text != ' ')
			compact[used++] = *text;
	compact[used] = '\0';
}

static void find_edges(const char *text, struct head *head)
{
	size_t count = 0;
	size_t at = 0;

	while (text[at] && count < CELLS) {
		at += strspn(text + at, " ");
		at += strcspn(text + at, " ");
		head->edges[count++] = at;
	}
	head->has_edges = count == SIZES + head->columns && !text[at];
}

static bool is_words(const char *text)
{
	return *text && strspn(text, "abcdefghijklmnopqrstuvwxyz ") == strlen(text);
}

static bool read_head(const struct wp_import *in, size_t at, struct head *head)
{
	size_t lower = find_lower(in, at);
	char compact[256] = "";
	size_t next = lower + 1;

	memset(head, 0, sizeof(*head));
	if (lower == in->line_count)
		return false;
	add_compact(compact, sizeof(compact), behind_reclen(in->lines[lower].text));
	for (; next < in->line_count && next < lower + HEAD_LINES; next++) {
		if (!is_words(in->lines[next].text))
			break;
		add_compact(compact, sizeof(compact), in->lines[next].text);
	}
	head->columns = match_columns(compact);
	head->lines = next - at;
	if (next == lower + 1)
		find_edges(in->lines[lower].text, head);
	return head->columns > 0;
}

/* Bits of "-i 0 -i 2" and "-i0" in a command line. */
static unsigned read_options(const char *command)
{
	unsigned bits = 0;

	for (const char *at = command ? strstr(command, " -i") : NULL; at;
		at = strstr(at + 1, " -i")) {
		const char *number = at + 3 + strspn(at + 3, " ");

		if (isdigit((unsigned char)*number) && strtoul(number, NULL, 10) < 16)
			bits |= 1u << strtoul(number, NULL, 10);
	}
	return bits;
}

/* ---- rows -------------------------------------------------------------------------------------- */

struct token {
	const char *text;
	size_t length;
	size_t end;
};

/* 0 when there are too many, or one is no whole number. */
static size_t split(const char *text, struct token *tokens)
{
	size_t count = 0;
	size_t at = 0;

	for (;;) {
		at += strspn(text + at, " ");
		if (!text[at])
			return count;
		if (count == CELLS)
			return 0;
		tokens[count].text = text + at;
		tokens[count].length = strcspn(text + at, " ");
		if (tokens[count].length > 14 ||
			strspn(text + at, "0123456789") < tokens[count].length)
			return 0;
		at += tokens[count].length;
		tokens[count++].end = at;
	}
}

static void put(struct row_text *row, size_t cell, const struct token *token)
{
	(void)snprintf(row->cells[cell], sizeof(row->cells[cell]), "%.*s", (int)token->length,
		token->text);
}

static bool put_by_edge(
	const struct head *head, const struct token *tokens, size_t count, struct row_text *row)
{
	size_t cell = 0;

	for (size_t i = 0; i < count; i++, cell++) {
		while (cell < SIZES + head->columns && head->edges[cell] + 1 < tokens[i].end)
			cell++;
		if (cell == SIZES + head->columns || head->edges[cell] > tokens[i].end + 1 ||
			(i < SIZES && cell != i))
			return false;
		put(row, cell, &tokens[i]);
	}
	return true;
}

static bool put_by_option(
	const struct head *head, const struct token *tokens, size_t count, struct row_text *row)
{
	size_t used = SIZES;

	put(row, 0, &tokens[0]);
	put(row, 1, &tokens[1]);
	for (size_t i = 0; i < head->columns; i++) {
		if (!(head->options & (1u << columns[i].option)))
			continue;
		if (used == count)
			return false;
		put(row, SIZES + i, &tokens[used++]);
	}
	return used == count;
}

/* A record is not larger than its file. */
static bool is_plausible(const struct row_text *row)
{
	long long file = strtoll(row->cells[0], NULL, 10);
	long long record = strtoll(row->cells[1], NULL, 10);

	return record > 0 && record <= file;
}

static bool parse_row(const char *text, const void *ctx, void *out)
{
	const struct head *head = ctx;
	struct row_text *row = out;
	struct token tokens[CELLS];
	size_t count = split(text, tokens);

	if (count < SIZES + 1 || count > SIZES + head->columns)
		return false;
	if (count == SIZES + head->columns) {
		for (size_t i = 0; i < count; i++)
			put(row, i, &tokens[i]);
		return is_plausible(row);
	}
	if (head->has_edges && put_by_edge(head, tokens, count, row))
		return is_plausible(row);
	memset(row, 0, sizeof(*row));
	return head->options && put_by_option(head, tokens, count, row) && is_plausible(row);
}

/* A record size without figures, as where none was measured. */
static bool is_empty_row(const char *text)
{
	struct token tokens[CELLS];

	return split(text, tokens) == SIZES;
}

/* ---- the table --------------------------------------------------------------------------------- */

static void add_row(struct wp_iozone *run, const struct row_text *row)
{
	for (size_t i = 0; i < WP_IOZONE_COLUMNS; i++)
		if (row->cells[SIZES + i][0])
			(void)wp_iozone_add(run, columns[i].test, strtoll(row->cells[0], NULL, 10),
				strtoll(row->cells[1], NULL, 10),
				strtod(row->cells[SIZES + i], NULL));
}

/* The first two numbers of a row of which the columns are lost. */
static bool add_lost_row(struct wp_iozone *run, const struct head *head, const char *text)
{
	struct token tokens[CELLS];
	struct row_text row;
	size_t count = split(text, tokens);

	memset(&row, 0, sizeof(row));
	if (count < SIZES + 1 || text[0] == '\0')
		return false;
	put(&row, 0, &tokens[0]);
	put(&row, 1, &tokens[1]);
	if (!is_plausible(&row))
		return false;
	for (size_t i = 0; i < head->columns; i++)
		wp_iozone_add(run, columns[i].test, strtoll(row.cells[0], NULL, 10),
			strtoll(row.cells[1], NULL, 10), 0)
			->reason = "tests were left out, or the row is cut, and which figure is "
				   "which is lost";
	return true;
}

static size_t read_row(const struct wp_import *in, size_t at, const struct head *head,
	struct wp_iozone *run, bool *is_lost)
{
	struct row_text row;
	struct row_text next;
	size_t count;
	bool is_followed;

	memset(&next, 0, sizeof(next));
	is_followed = at + 1 < in->line_count && parse_row(in->lines[at + 1].text, head, &next);
	count = wp_import_unwrap(
		in, at, is_followed ? 1 : ROW_LINES, parse_row, head, &row, sizeof(row), NULL);
	if (count) {
		add_row(run, &row);
		return count;
	}
	if (is_empty_row(in->lines[at].text))
		return 1;
	*is_lost = add_lost_row(run, head, in->lines[at].text);
	return *is_lost ? 1 : 0;
}

size_t wp_iozone_read_table(const struct wp_import *in, size_t at, struct wp_iozone *run)
{
	struct head head;
	bool is_lost = false;
	size_t next;

	if (!read_head(in, at, &head))
		return 0;
	head.options = read_options(run->command);
	for (next = at + head.lines; next < in->line_count && !wp_import_is_blank(in, next);) {
		size_t count = read_row(in, next, &head, run, &is_lost);

		next += count;
		/* Behind a row that cannot be read may stand its rest, which is no row. */
		if (!count || is_lost)
			break;
	}
	run->has_table = true;
	return next - at;
}
