/* SPDX-License-Identifier: PostgreSQL */
#include "import/scan.h"
#include "walprobe/mem.h"

#include <ctype.h>
#include <math.h>

#define NUMBER_CHARS 40

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

void scan_text_add(struct scan_text *text, const char *line, size_t index)
{
	size_t length = strlen(line);

	if ((text->count & (text->count - 1)) == 0) {
		size_t room = text->count ? text->count * 2 : 1;

		text->starts = wp_xreallocarray(text->starts, room, sizeof(*text->starts));
		text->indexes = wp_xreallocarray(text->indexes, room, sizeof(*text->indexes));
	}
	text->starts[text->count] = text->length;
	text->indexes[text->count++] = index;
	text->text = wp_xreallocarray(text->text, text->length + length + 2, 1);
	memcpy(text->text + text->length, line, length);
	text->length += length;
	text->text[text->length++] = '\n';
	text->text[text->length] = '\0';
}

struct scan_text scan_text_lines(const struct wp_import *in, size_t at, size_t count)
{
	size_t end = count < in->line_count - at ? at + count : in->line_count;
	struct scan_text text = { .is_end = end == in->line_count };
	size_t bytes = 1;

	for (size_t i = at; i < end; i++)
		bytes += strlen(in->lines[i].text) + 1;
	text.text = wp_xcalloc(bytes, 1);
	text.starts = wp_xcalloc(end - at + 1, sizeof(*text.starts));
	text.indexes = wp_xcalloc(end - at + 1, sizeof(*text.indexes));
	for (size_t i = at; i < end; i++) {
		size_t length = strlen(in->lines[i].text);

		text.starts[text.count] = text.length;
		text.indexes[text.count++] = i;
		memcpy(text.text + text.length, in->lines[i].text, length);
		text.length += length;
		text.text[text.length++] = '\n';
	}
	return text;
}

void scan_text_release(struct scan_text *text)
{
	free(text->text);
	free(text->starts);
	free(text->indexes);
	memset(text, 0, sizeof(*text));
}

size_t scan_line(const struct scan_text *text, const char *place)
{
	size_t offset = (size_t)(place - text->text);
	size_t low = 0;
	size_t high = text->count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (text->starts[middle] <= offset)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void scan_take(struct wp_import *in, const struct scan_text *text, const char *from, const char *to)
{
	if (to <= from)
		return;
	for (size_t i = scan_line(text, from); i <= scan_line(text, to - 1); i++)
		in->lines[text->indexes[i]].is_taken = true;
}

static const char *skip_blanks(const char *at)
{
	while (is_blank(*at))
		at++;
	return at;
}

/* One alternative of a pattern, which ends at '|' or '\0'. */
static const char *match_one(const char *at, const char *pattern)
{
	for (; *pattern && *pattern != '|'; pattern++) {
		if (*pattern == ' ' || *pattern == '~') {
			if (*pattern == ' ' && !is_blank(*at))
				return NULL;
			at = skip_blanks(at);
		} else if (*at++ != *pattern) {
			return NULL;
		}
	}
	return at;
}

const char *scan_words(const char *at, const char *pattern)
{
	while (pattern) {
		const char *end = match_one(at, pattern);

		if (end)
			return end;
		pattern = strchr(pattern, '|');
		pattern = pattern ? pattern + 1 : NULL;
	}
	return NULL;
}

/* Which characters an alternative of pattern can begin with; false: any. */
static bool first_characters(const char *pattern, bool firsts[256])
{
	memset(firsts, 0, 256 * sizeof(*firsts));
	while (pattern) {
		if (*pattern == ' ' || *pattern == '~')
			return false;
		firsts[(unsigned char)*pattern] = true;
		pattern = strchr(pattern, '|');
		pattern = pattern ? pattern + 1 : NULL;
	}
	return true;
}

const char *scan_find(const char *at, const char *end, const char *pattern)
{
	bool firsts[256];
	bool is_known = first_characters(pattern, firsts);

	for (; at < end; at++)
		if ((!is_known || firsts[(unsigned char)*at]) && scan_words(at, pattern))
			return at;
	return NULL;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* the characters of a number as they were found */
struct figures {
	char text[NUMBER_CHARS];
	size_t length;
	int decimals; /* digits behind the mark; 0 without a mark */
	size_t marks; /* points and commas */
	bool has_comma;
	bool is_joined; /* a line end was within it */
	bool is_too_long;
	const char *end;
};

static bool is_figure(const char *at, bool is_whole)
{
	return is_digit(*at) || (!is_whole && (*at == '.' || *at == ',') && is_digit(at[1]));
}

static void collect(const char *at, bool is_whole, bool can_join, struct figures *out)
{
	memset(out, 0, sizeof(*out));
	for (;; at++) {
		if (can_join && *at == '\n' && out->length && is_figure(at + 1, is_whole)) {
			out->is_joined = true;
			continue;
		}
		/* the mark itself may stand last on a line */
		if (can_join && !is_whole && out->length && (*at == '.' || *at == ',') &&
			at[1] == '\n' && is_digit(at[2])) {
			out->is_joined = true;
		} else if (!is_figure(at, is_whole)) {
			break;
		}
		if (out->length + 1 >= sizeof(out->text)) {
			out->is_too_long = true;
			break;
		}
		if (is_digit(*at)) {
			out->decimals += out->marks ? 1 : 0;
		} else {
			out->marks++;
			out->decimals = 0;
			out->has_comma = out->has_comma || *at == ',';
		}
		out->text[out->length++] = *at == ',' ? '.' : *at;
	}
	out->end = at;
}

static bool has_sure_form(const struct figures *figures, int decimals)
{
	if (figures->is_too_long || figures->marks > 1)
		return false;
	if (!figures->is_joined && !figures->has_comma)
		return true;
	if (decimals == SCAN_ANY_DECIMALS)
		return figures->has_comma ? figures->decimals != 3 && !figures->is_joined
					  : !figures->is_joined;
	return figures->decimals == decimals;
}

/* Without a terminator, the number may go on where the line is broken or the text ends. */
static bool goes_on(const struct figures *figures, const char *end)
{
	bool is_mark = *end == '.' || (*end == ',' && figures->marks == 0);

	if (is_mark && end[1] == '\n' && (is_digit(end[2]) || end[2] == '\0'))
		return true;
	return *end == '\0' || (*end == '\n' && (end[1] == '\0' || is_figure(end + 1, false))) ||
	       is_figure(end, false);
}

static struct scan_number finish(
	const struct figures *figures, const char *terminator, int decimals)
{
	struct scan_number number = { .state = SCAN_UNSURE, .end = figures->end };
	const char *end = terminator ? scan_words(figures->end, terminator) : figures->end;

	if (!end || !has_sure_form(figures, decimals))
		return number;
	if (!terminator &&
		(goes_on(figures, end) || (decimals > 0 && figures->decimals != decimals)))
		return number;
	number.value = strtod(figures->text, NULL);
	if (!isfinite(number.value) || number.value > 9e15)
		return number;
	number.integer = (int64_t)number.value;
	number.end = end;
	number.state = SCAN_SURE;
	return number;
}

struct scan_number scan_number(const char *at, const char *terminator, int decimals)
{
	struct scan_number number = { .state = SCAN_NONE, .end = at };
	struct figures figures;

	at = skip_blanks(at);
	if (!is_digit(*at))
		return number;
	collect(at, decimals == 0, false, &figures);
	number = finish(&figures, terminator, decimals);
	if (number.state == SCAN_SURE || !terminator)
		return number;
	collect(at, decimals == 0, true, &figures);
	if (!figures.is_joined)
		return number;
	return finish(&figures, terminator, decimals);
}

char *scan_rest(const char *at)
{
	size_t length;

	while (*at == ' ' || *at == '\t')
		at++;
	length = strcspn(at, "\n");
	while (length && (at[length - 1] == ' ' || at[length - 1] == '\t'))
		length--;
	return wp_xstrndup(at, length);
}
