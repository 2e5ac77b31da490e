/* SPDX-License-Identifier: PostgreSQL */
#include "import/clean.h"
#include "walprobe/mem.h"

#include <ctype.h>

#define TAB 8
#define FULL_LINE 40 /* what follows a line of this length may be the rest of it */

/* ---- quoted-printable -------------------------------------------------------------------------- */

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* "=" is common in the output of tools; "=3D" and a soft break near column 76 are not. */
static bool is_quoted_printable(const char *text, size_t length)
{
	const char *line = text;

	for (const char *c = text; c < text + length; c++) {
		if (*c == '\n')
			line = c + 1;
		if (*c != '=' || c + 1 >= text + length)
			continue;
		if (c + 2 < text + length && c[1] == '3' && c[2] == 'D')
			return true;
		if (c - line >= 70 && c - line <= 76 &&
			(c[1] == '\n' || (c[1] == '\r' && c + 2 < text + length && c[2] == '\n')))
			return true;
	}
	return false;
}

/* Decodes line in place. Returns true when it ends in a soft break. */
static bool decode_line(char *line)
{
	char *out = line;
	size_t length = strlen(line);

	while (length && (line[length - 1] == ' ' || line[length - 1] == '\r'))
		line[--length] = '\0';
	for (const char *c = line; *c; c++) {
		if (*c == '=' && c + 1 == line + length) {
			*out = '\0';
			return true;
		}
		if (*c == '=' && hex_digit(c[1]) >= 0 && hex_digit(c[2]) >= 0) {
			int byte = 16 * hex_digit(c[1]) + hex_digit(c[2]);

			*out++ = byte ? (char)byte : ' ';
			c += 2;
		} else {
			*out++ = *c;
		}
	}
	*out = '\0';
	return false;
}

/* ---- one line ---------------------------------------------------------------------------------- */

/* Takes what pattern says out of line and puts c there ('\0': nothing). */
static void replace(char *line, const char *pattern, char c)
{
	size_t length = strlen(pattern);
	char *at = line;

	while ((at = strstr(at, pattern)) != NULL) {
		if (c)
			*at++ = c;
		memmove(at, at + length - (c ? 1 : 0), strlen(at + length - (c ? 1 : 0)) + 1);
	}
}

static void strip_html(char *line)
{
	static const struct {
		const char *pattern;
		char c;
	} marks[] = {
		{ "<br>", '\0' },
		{ "<br/>", '\0' },
		{ "<br />", '\0' },
		{ "<pre>", '\0' },
		{ "</pre>", '\0' },
		{ "&nbsp;", ' ' },
		{ "&gt;", '>' },
		{ "&lt;", '<' },
		{ "&quot;", '"' },
		{ "&amp;", '&' },
	};

	if (!strchr(line, '<') && !strchr(line, '&'))
		return;
	for (size_t i = 0; i < WP_COUNT(marks); i++)
		replace(line, marks[i].pattern, marks[i].c);
}

/* Colours and other escape sequences of terminals: ESC [ ... letter. */
static void strip_escapes(char *line)
{
	char *out = line;

	for (const char *c = line; *c; c++) {
		if (*c == '\033' && c[1] == '[') {
			c += 2;
			while (*c && !isalpha((unsigned char)*c))
				c++;
			if (!*c)
				break;
		} else if ((unsigned char)*c >= ' ' || *c == '\t') {
			*out++ = *c;
		}
	}
	*out = '\0';
}

static const char *skip_quotes(const char *line)
{
	while (*line == '>') {
		while (*line == '>')
			line++;
		if (*line == ' ')
			line++;
	}
	return line;
}

/* A copy without tabs and trailing blanks; the caller frees. */
static char *expand_tabs(const char *line)
{
	char *out = wp_xcalloc(strlen(line) * TAB + 1, 1);
	size_t used = 0;

	for (; *line; line++) {
		size_t blanks = *line == '\t' ? TAB - used % TAB : 1;

		while (blanks--)
			out[used++] = *line == '\t' ? ' ' : *line;
	}
	while (used && out[used - 1] == ' ')
		out[--used] = '\0';
	return out;
}

static char *clean_line(char *line)
{
	strip_escapes(line);
	replace(line, "\xC2\xA0", ' ');
	strip_html(line);
	return expand_tabs(skip_quotes(line));
}

/* ---- lines ------------------------------------------------------------------------------------- */

static void add_line(struct wp_import *in, size_t *room, char *text, size_t number)
{
	bool is_fence;

	if (in->line_count == *room) {
		*room = *room ? 2 * *room : 256;
		in->lines = wp_xreallocarray(in->lines, *room, sizeof(*in->lines));
	}
	is_fence = strncmp(text, "```", 3) == 0 || strncmp(text, "~~~", 3) == 0;
	if (is_fence)
		text[0] = '\0';
	in->lines[in->line_count++] = (struct wp_import_line){ text, NULL, number, is_fence };
}

/* Adds the pieces between carriage returns: what a progress line overwrote. */
static void add_pieces(struct wp_import *in, size_t *room, char *raw, size_t number)
{
	char *rest = raw;
	char *piece;

	while ((piece = strsep(&rest, "\r")) != NULL)
		if (*piece || piece == raw)
			add_line(in, room, clean_line(piece), number);
}

static void split(struct wp_import *in, char *text, bool is_quoted)
{
	char *pending = NULL; /* what soft breaks leave open */
	size_t pending_number = 0;
	size_t number = 0;
	size_t room = 0;
	char *line;

	while ((line = strsep(&text, "\n")) != NULL) {
		bool is_soft;
		char *whole;

		number++;
		if (!text && !*line && !pending)
			break; /* behind the last line's end */
		is_soft = is_quoted && decode_line(line);
		whole = wp_xasprintf("%s%s", pending ? pending : "", line);
		pending_number = pending ? pending_number : number;
		free(pending);
		pending = NULL;
		if (is_soft && text) {
			pending = whole;
			continue;
		}
		add_pieces(in, &room, whole, pending_number);
		free(whole);
	}
	free(pending);
}

/* ---- pdsh -------------------------------------------------------------------------------------- */

/* Words that tools print before a colon. */
static bool is_own_word(const char *line, size_t length)
{
	static const char *const words[] = { "progress", "client", "tps", "duration", "scale",
		"latency", "Latency", "real", "user", "sys", "error", "ERROR", "warning", "WARNING",
		"note", "NOTICE", "HINT", "DETAIL", "fio", "pgbench", "walprobe", "diskchecker",
		"verifying", "Iozone", "Build", "lat", "slat", "clat", "bw", "iops", "cpu", "read",
		"write", "READ", "WRITE", "sync", "Subject", "From", "To", "Date", "Cc" };

	for (size_t i = 0; i < WP_COUNT(words); i++)
		if (strlen(words[i]) == length && strncmp(words[i], line, length) == 0)
			return true;
	return false;
}

/* Length of "host" in "host: text", 0 when the line does not start so. */
static size_t host_length(const char *line)
{
	size_t length = 0;

	if (!isalnum((unsigned char)line[0]))
		return 0;
	while (isalnum((unsigned char)line[length]) ||
		(line[length] && strchr("._-", line[length])))
		length++;
	if (line[length] != ':' || (line[length + 1] != ' ' && line[length + 1] != '\0'))
		return 0;
	return is_own_word(line, length) ? 0 : length;
}

/* pdsh puts the host before every line, or it was not pdsh. */
static bool is_pdsh(const struct wp_import *in)
{
	size_t previous = 0;
	bool is_any = false;

	for (size_t i = 0; i < in->line_count; i++) {
		const char *text = in->lines[i].text;

		if (!*text)
			continue;
		if (host_length(text))
			is_any = true;
		else if (!is_any || previous < FULL_LINE)
			return false;
		previous = strlen(text);
	}
	return is_any;
}

static void move_hosts(struct wp_import *in)
{
	const char *last = NULL;

	for (size_t i = 0; i < in->line_count; i++) {
		struct wp_import_line *line = &in->lines[i];
		size_t length = host_length(line->text);
		size_t skip = length + 1;

		if (!length) {
			line->host = wp_xstrdup(last);
			continue;
		}
		line->host = wp_xstrndup(line->text, length);
		last = line->host;
		skip += line->text[skip] == ' ';
		memmove(line->text, line->text + skip, strlen(line->text + skip) + 1);
	}
}

/* pdsh mixes the lines of its hosts as they come. */
static void sort_by_host(struct wp_import *in)
{
	struct wp_import_line *sorted = wp_xcalloc(in->line_count, sizeof(*sorted));
	bool *is_done = wp_xcalloc(in->line_count, sizeof(*is_done));
	size_t used = 0;

	for (size_t i = 0; i < in->line_count; i++) {
		for (size_t j = i; !is_done[i] && j < in->line_count; j++) {
			const char *a = in->lines[i].host;
			const char *b = in->lines[j].host;

			if (j == i || (!is_done[j] && a && b && strcmp(a, b) == 0)) {
				sorted[used++] = in->lines[j];
				is_done[j] = j != i;
			}
		}
		is_done[i] = true;
	}
	free(is_done);
	free(in->lines);
	in->lines = sorted;
}

void wp_clean_lines(struct wp_import *in, const char *text, size_t length)
{
	static const char mark[] = "\xEF\xBB\xBF"; /* byte order mark */
	char *copy;

	if (length >= 3 && memcmp(text, mark, 3) == 0) {
		text += 3;
		length -= 3;
	}
	copy = wp_xcalloc(length + 1, 1);
	for (size_t i = 0; i < length; i++)
		copy[i] = text[i] ? text[i] : ' ';
	split(in, copy, is_quoted_printable(copy, length));
	free(copy);
	if (in->line_count && is_pdsh(in)) {
		move_hosts(in);
		sort_by_host(in);
	}
}

void wp_clean_release(struct wp_import *in)
{
	for (size_t i = 0; i < in->line_count; i++) {
		free(in->lines[i].text);
		free(in->lines[i].host);
	}
	free(in->lines);
	in->lines = NULL;
	in->line_count = 0;
}
