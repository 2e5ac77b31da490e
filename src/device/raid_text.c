/* SPDX-License-Identifier: PostgreSQL */
#include "raid.h"

#include <ctype.h>

#define VALUE_BYTES 100

/* Length of a terminal's control sequence at text, 0 when there is none. Source: ECMA-48. */
static size_t escape_length(const char *text, size_t left)
{
	size_t length = 2;

	if (left < 2 || text[0] != '\033')
		return 0;
	if (text[1] == '[') {
		while (length < left && !(text[length] >= 0x40 && text[length] <= 0x7e))
			length++;
		return length < left ? length + 1 : left;
	}
	if (text[1] == ']') {
		while (length < left && text[length] != '\a' && text[length] != '\n')
			length++;
		return length < left && text[length] == '\a' ? length + 1 : length;
	}
	return length;
}

static char *clean(const char *text, size_t length)
{
	char *out = wp_xcalloc(length + 1, 1);
	size_t used = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned char at = (unsigned char)text[i];
		size_t skipped = escape_length(text + i, length - i);

		if (skipped > 0)
			i += skipped - 1;
		else if (at == '\r' && !(i + 1 < length && text[i + 1] == '\n'))
			out[used++] = '\n';
		else if (at == '\n')
			out[used++] = '\n';
		else if (at >= 0x80)
			out[used++] = (char)at;
		else if (at != '\r')
			out[used++] = at < ' ' || at == 0x7f ? ' ' : (char)at;
	}
	return out;
}

/* Quote marks of mail and prompts of shells and tools: "> ", "=> ", "# ", "$ ". */
static char *skip_marks(char *line)
{
	static const char *const marks[] = { "=>", ">", "#", "$", "|" };
	bool is_found = true;

	while (is_found) {
		is_found = false;
		line += strspn(line, " ");
		for (size_t i = 0; i < WP_COUNT(marks) && !is_found; i++) {
			size_t length = strlen(marks[i]);

			is_found = strncmp(line, marks[i], length) == 0;
			line += is_found ? length : 0;
		}
	}
	return line;
}

void raid_text_read(struct raid_text *out, const char *text, size_t length)
{
	size_t room = 1;
	char *line;
	char *rest;

	out->buffer = clean(text, length);
	for (const char *at = out->buffer; *at; at++)
		room += *at == '\n';
	out->lines = wp_xcalloc(room, sizeof(*out->lines));
	out->whole = wp_xcalloc(room, sizeof(*out->whole));
	out->count = 0;
	rest = out->buffer;
	while ((line = strsep(&rest, "\n")) != NULL) {
		size_t end = strlen(line);

		while (end > 0 && line[end - 1] == ' ')
			line[--end] = '\0';
		out->whole[out->count] = line;
		out->lines[out->count++] = skip_marks(line);
	}
}

void raid_text_release(struct raid_text *text)
{
	free(text->buffer);
	free(text->lines);
	free(text->whole);
	memset(text, 0, sizeof(*text));
}

const char *raid_value(const char *line, const char *key)
{
	size_t length = strlen(key);

	if (strncasecmp(line, key, length) != 0)
		return NULL;
	line += length;
	line += strspn(line, " ");
	if (*line != ':' && *line != '=')
		return NULL;
	line++;
	return line + strspn(line, " ");
}

bool raid_says(const char *value, const char *words)
{
	size_t length = strlen(words);

	return strncasecmp(value, words, length) == 0 && !isalnum((unsigned char)value[length]);
}

int64_t raid_number(const char *text)
{
	int64_t number = 0;
	size_t digits = strspn(text, "0123456789");

	if (digits == 0 || digits > 15)
		return -1;
	for (size_t i = 0; i < digits; i++)
		number = number * 10 + (text[i] - '0');
	return number;
}

void raid_keep(char **slot, const char *value)
{
	size_t length = value ? strlen(value) : 0;

	if (length == 0)
		return;
	if (length > VALUE_BYTES) {
		length = VALUE_BYTES;
		/* not in the middle of a character of several bytes */
		while (length > 0 && ((unsigned char)value[length] & 0xc0) == 0x80)
			length--;
	}
	free(*slot);
	*slot = wp_xstrndup(value, length);
}

void raid_keep_device(char **slot, const char *value)
{
	char *name;
	size_t length;

	if (strncmp(value, "/dev/", 5) != 0)
		return;
	value += 5;
	length = strcspn(value, " :,;()'\"");
	if (length == 0 || length > 60 || memchr(value, '/', length))
		return;
	name = wp_xstrndup(value, length);
	free(*slot);
	*slot = name;
}

/* The word may stand behind a prompt, "sudo" and a path; nothing else may be before it. */
static bool is_command_place(const char *line, const char *word)
{
	size_t before;

	while (word > line && word[-1] != ' ')
		word--;
	before = (size_t)(word - line);
	while (before > 0 && line[before - 1] == ' ')
		before--;
	if (before == 0)
		return true;
	if (before >= 4 && strncmp(line + before - 4, "sudo", 4) == 0)
		return true;
	return strchr("#$>%", line[before - 1]) != NULL;
}

const char *raid_command(const char *line, const char *program)
{
	size_t length = strlen(program);
	const char *at = line;

	while ((at = strcasestr(at, program)) != NULL) {
		const char *end = at + length;

		if (strncmp(end, "64", 2) == 0)
			end += 2;
		if ((at == line || at[-1] == '/' || at[-1] == ' ') &&
			(*end == ' ' || *end == '\0') && is_command_place(line, at))
			return end + strspn(end, " ");
		at++;
	}
	return NULL;
}
