/* SPDX-License-Identifier: PostgreSQL */
#include "import/bonnie_cells.h"
#include "walprobe/mem.h"

#include <ctype.h>

#define HEAD_LINES 12 /* of a heading that mail broke */
#define RATE_WIDTH 5  /* of +++++ */
#define CPU_WIDTH 3   /* of +++ */

/* ---- heading ----------------------------------------------------------------------------------- */

static size_t count_of(const char *text, const char *word)
{
	size_t count = 0;

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		count++;
	return count;
}

static void find_edges(const char *line, struct wp_bonnie_head *head)
{
	size_t count = 0;
	size_t at = 0;

	if (head->has_edges || count_of(line, "%CP") != WP_BONNIE_CELLS / 2)
		return;
	while (line[at] && count < WP_BONNIE_CELLS) {
		size_t start = at + strspn(line + at, " ");
		size_t length = strcspn(line + start, " ");

		at = start + length;
		if (length >= 3 && (strncmp(line + start, "K/sec", 5) == 0 ||
					   strncmp(line + start, "/sec", 4) == 0 ||
					   strncmp(line + start, "%CP", 3) == 0))
			head->edges[count++] = at;
	}
	head->has_edges = count == WP_BONNIE_CELLS;
}

/* Where mail broke the line with the units, rows are broken in the same way. */
static void find_broken_edges(const struct wp_import *in, size_t last, struct wp_bonnie_head *head)
{
	static const char *const joints[] = { " ", "" };

	for (size_t i = 0; i < WP_COUNT(joints) && !head->has_edges && last > 0; i++) {
		char *whole = wp_xasprintf(
			"%s%s%s", in->lines[last - 1].text, joints[i], in->lines[last].text);

		find_edges(whole, head);
		free(whole);
	}
}

/* Adds line without its blanks; the caller frees *compact. */
static void compact_add(char **compact, const char *line)
{
	size_t used = *compact ? strlen(*compact) : 0;

	*compact = wp_xreallocarray(*compact, used + strlen(line) + 1, 1);
	for (; *line; line++)
		if (*line != ' ')
			(*compact)[used++] = *line;
	(*compact)[used] = '\0';
}

static void find_version(const char *compact, struct wp_bonnie_head *head)
{
	const char *at = strstr(compact, "Version");
	size_t length = at ? strspn(at + 7, "0123456789.abcde") : 0;

	if (length && length < sizeof(head->version))
		(void)snprintf(head->version, sizeof(head->version), "%.*s", (int)length, at + 7);
}

static bool starts_head(const char *line, bool is_tree)
{
	if (is_tree)
		return strstr(line, "Sequential Create") != NULL;
	/* The second line has to be whole: what stands before its groups tells the version. */
	return strstr(line, "Sequential Output") ||
	       strstr(line, "-Per Char- --Block--- -Rewrite") ||
	       strstr(line, "-Per Chr- --Block-- -Rewrite");
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

bool wp_bonnie_read_head(
	const struct wp_import *in, size_t at, bool is_tree, struct wp_bonnie_head *head)
{
	char *compact = NULL;
	bool is_whole = false;

	memset(head, 0, sizeof(*head));
	head->is_tree = is_tree;
	if (wp_import_is_blank(in, at) || !starts_head(in->lines[at].text, is_tree))
		return false;
	while (!is_whole && head->lines < HEAD_LINES && at + head->lines < in->line_count) {
		const char *line = in->lines[at + head->lines].text;

		compact_add(&compact, line);
		find_edges(line, head);
		head->lines++;
		is_whole = count_of(compact, "%CP") == WP_BONNIE_CELLS / 2 &&
			   (ends_with(compact, "%CP") || ends_with(compact, "%CPU"));
	}
	find_broken_edges(in, at + head->lines - 1, head);
	/* "%CP" may be all that a line break left of "%CPU". */
	find_version(compact, head);
	head->is_classic = strstr(compact, "%CPU") != NULL;
	head->is_concurrent = strstr(compact, "Concurrency") != NULL;
	head->has_units = strstr(compact, "Name:Size") != NULL;
	free(compact);
	return is_whole;
}

/* ---- tokens ------------------------------------------------------------------------------------ */

size_t wp_bonnie_split(const char *text, struct wp_bonnie_token *tokens)
{
	size_t count = 0;
	size_t at = 0;

	for (;;) {
		at += strspn(text + at, " ");
		if (!text[at])
			return count;
		if (count == WP_BONNIE_TOKENS)
			return 0;
		tokens[count].text = text + at;
		tokens[count].length = strcspn(text + at, " ");
		at += tokens[count].length;
		tokens[count++].end = at;
	}
}

void wp_bonnie_copy(char *out, size_t size, const char *text, size_t length)
{
	(void)snprintf(out, size, "%.*s", (int)(length < size ? length : size - 1), text);
}

static bool is_all(const struct wp_bonnie_token *token, const char *characters)
{
	return strspn(token->text, characters) >= token->length;
}

static bool is_rate(
	const struct wp_bonnie_token *token, const struct wp_bonnie_head *head, size_t test)
{
	size_t digits = token->length;

	if (is_all(token, "+"))
		return true;
	if (token->length > 12 || !isdigit((unsigned char)token->text[0]))
		return false;
	if (!head->is_tree && test == 5)
		return is_all(token, "0123456789.");
	if (!head->has_units || head->is_tree)
		return is_all(token, "0123456789");
	/* 15.8m */
	digits--;
	return strchr("kmg", token->text[digits]) && strspn(token->text, "0123456789.") == digits;
}

static bool is_cpu(const struct wp_bonnie_token *token, const struct wp_bonnie_head *head)
{
	if (is_all(token, "+"))
		return true;
	return token->length < 6 && isdigit((unsigned char)token->text[0]) &&
	       is_all(token, head->is_classic ? "0123456789." : "0123456789");
}

/* "++" and "+" are one cell that a line break parted. Returns the new number of tokens, and their
 * text in out. */
static size_t glue(
	const struct wp_bonnie_token *tokens, size_t count, struct wp_bonnie_token *out, char *room)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		size_t width = used % 2 ? CPU_WIDTH : RATE_WIDTH;

		out[used] = tokens[i];
		while (is_all(&out[used], "+") && out[used].length < width && i + 1 < count &&
			is_all(&tokens[i + 1], "+")) {
			i++;
			memset(room, '+', out[used].length + tokens[i].length);
			out[used].text = room;
			out[used].length += tokens[i].length;
			out[used].end = tokens[i].end;
			room += out[used].length;
		}
		used++;
	}
	return used;
}

/* ---- cells ------------------------------------------------------------------------------------- */

static bool fits(
	const struct wp_bonnie_token *token, const struct wp_bonnie_head *head, size_t cell)
{
	return cell % 2 ? is_cpu(token, head) : is_rate(token, head, cell / 2);
}

static bool put_all(const struct wp_bonnie_token *tokens, const struct wp_bonnie_head *head,
	struct wp_bonnie_row_text *row)
{
	for (size_t i = 0; i < WP_BONNIE_CELLS; i++) {
		if (!fits(&tokens[i], head, i))
			return false;
		wp_bonnie_copy(
			row->cells[i], sizeof(row->cells[i]), tokens[i].text, tokens[i].length);
	}
	return true;
}

/* A wide number moves what follows it to the right. */
static size_t excess(const struct wp_bonnie_token *token, size_t cell)
{
	size_t width = cell % 2 ? CPU_WIDTH : RATE_WIDTH;

	return token->length > width ? token->length - width : 0;
}

static bool put_by_edge(const struct wp_bonnie_token *tokens, size_t count,
	const struct wp_bonnie_head *head, struct wp_bonnie_row_text *row)
{
	size_t moved = 0;
	size_t cell = 0;

	if (!head->has_edges || count % 2 || count >= WP_BONNIE_CELLS)
		return false;
	for (size_t i = 0; i < count; i++, cell++) {
		moved += excess(&tokens[i], i);
		while (cell < WP_BONNIE_CELLS && head->edges[cell] + moved + 1 < tokens[i].end)
			cell++;
		/* A rate and its share of processor time go together. */
		if (cell >= WP_BONNIE_CELLS || cell % 2 != i % 2 ||
			head->edges[cell] + moved > tokens[i].end + 1 ||
			!fits(&tokens[i], head, cell) || (i % 2 && !row->cells[cell - 1][0]))
			return false;
		wp_bonnie_copy(row->cells[cell], sizeof(row->cells[cell]), tokens[i].text,
			tokens[i].length);
	}
	return count > 0;
}

/* ---- rows -------------------------------------------------------------------------------------- */

/* "2G", "64G:4k::65536", and from 2.00 also "name:2G:..." in one word. */
static bool read_size_token(const struct wp_bonnie_token *token, const struct wp_bonnie_head *head,
	struct wp_bonnie_row_text *row)
{
	char text[96];
	char *size = text;
	struct wp_bonnie_run scratch;
	size_t digits;

	if (token->length >= sizeof(text))
		return false;
	wp_bonnie_copy(text, sizeof(text), token->text, token->length);
	wp_bonnie_begin(&scratch);
	digits = strspn(size, "0123456789");
	if (head->has_units && !(digits && strchr("MG", size[digits])) && strchr(text, ':')) {
		size = strchr(text, ':');
		*size++ = '\0';
		digits = strspn(size, "0123456789");
		wp_bonnie_copy(row->label, sizeof(row->label), text, strlen(text));
	}
	if (!digits || !(size[digits] == 'M' || size[digits] == 'G') ||
		!wp_bonnie_size(&scratch, size))
		return false;
	wp_bonnie_copy(row->size, sizeof(row->size), size, strlen(size));
	return true;
}

static bool is_size_at(const struct wp_bonnie_token *tokens, size_t count, size_t at,
	const struct wp_bonnie_head *head)
{
	struct wp_bonnie_row_text scratch;

	memset(&scratch, 0, sizeof(scratch));
	return at < count && read_size_token(&tokens[at], head, &scratch);
}

/* Index of the token with the size, count when there is none. */
static size_t find_size(const struct wp_bonnie_token *tokens, size_t count,
	const struct wp_bonnie_head *head, struct wp_bonnie_row_text *row)
{
	if (head->is_tree) {
		if (!count || !is_all(&tokens[0], "0123456789:/linksym"))
			return count;
		wp_bonnie_copy(row->size, sizeof(row->size), tokens[0].text, tokens[0].length);
		return isdigit((unsigned char)tokens[0].text[0]) ? 0 : count;
	}
	if (head->is_classic) {
		size_t at = count - WP_BONNIE_CELLS - 1;

		/* Its names are one word; what is longer is two rows. */
		if (count <= WP_BONNIE_CELLS || at > 1 || !is_all(&tokens[at], "0123456789"))
			return count;
		wp_bonnie_copy(row->size, sizeof(row->size), tokens[at].text, tokens[at].length);
		return at;
	}
	for (size_t i = 0; i < count && i < 5; i++) {
		if (read_size_token(&tokens[i], head, row))
			return i;
		/* A name of several words has no numbers; those are the end of a broken row. */
		if (is_all(&tokens[i], "0123456789.+") &&
			(i || !is_size_at(tokens, count, 1, head)))
			return count;
	}
	return count;
}

bool wp_bonnie_parse_row(const char *text, const void *ctx, void *out)
{
	const struct wp_bonnie_head *head = ctx;
	struct wp_bonnie_row_text *row = out;
	struct wp_bonnie_token tokens[WP_BONNIE_TOKENS];
	struct wp_bonnie_token glued[WP_BONNIE_TOKENS];
	char *room = wp_xcalloc(strlen(text) * WP_BONNIE_CELLS + 1, 1);
	size_t count = wp_bonnie_split(text, tokens);
	size_t size = find_size(tokens, count, head, row);
	size_t cells;
	bool is_row = false;

	if (size < count) {
		if (size)
			wp_bonnie_copy(row->label, sizeof(row->label), tokens[0].text,
				tokens[size - 1].end - (size_t)(tokens[0].text - text));
		cells = glue(tokens + size + 1, count - size - 1, glued, room);
		is_row = cells == WP_BONNIE_CELLS ? put_all(glued, head, row)
						  : put_by_edge(glued, cells, head, row);
	}
	free(room);
	return is_row;
}

/* A row it is, but which figure is which cannot be told. */
bool wp_bonnie_parse_lost_row(const char *text, const void *ctx, void *out)
{
	const struct wp_bonnie_head *head = ctx;
	struct wp_bonnie_row_text *row = out;
	struct wp_bonnie_token tokens[WP_BONNIE_TOKENS];
	size_t count = wp_bonnie_split(text, tokens);
	size_t size = find_size(tokens, count, head, row);

	if (head->is_classic || size + 3 > count)
		return false;
	for (size_t i = size + 1; i < count; i++)
		if (!is_all(&tokens[i], "0123456789.+kmg"))
			return false;
	if (size)
		wp_bonnie_copy(row->label, sizeof(row->label), tokens[0].text,
			tokens[size - 1].end - (size_t)(tokens[0].text - text));
	return true;
}
