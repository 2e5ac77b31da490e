/* SPDX-License-Identifier: PostgreSQL */
#include "script_internal.h"
#include "walprobe/mem.h"

#include <strings.h>

#define SQL_FIRST_BYTES 1024

static char peek(const struct script_reader *reader, size_t ahead)
{
	size_t at = reader->next + ahead;

	return at < reader->length ? reader->text[at] : '\0';
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (unsigned char)c > 127;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

int32_t wp_script_line(struct script_reader *reader, size_t at)
{
	if (at < reader->counted) {
		reader->counted = 0;
		reader->line = 1;
	}
	for (; reader->counted < at; reader->counted++)
		reader->line += reader->text[reader->counted] == '\n';
	return reader->line;
}

/* ---- statements ------------------------------------------------------------------------------ */

static void grow_sql(struct script_sql *sql, size_t needed)
{
	while (sql->capacity < needed)
		sql->capacity = sql->capacity ? sql->capacity * 2 : SQL_FIRST_BYTES;
	sql->bytes = wp_xreallocarray(sql->bytes, sql->capacity, 1);
	sql->is_quoted = wp_xreallocarray(sql->is_quoted, sql->capacity, sizeof(*sql->is_quoted));
}

/* Move count bytes from the script into the statement. */
static void take(struct script_reader *reader, size_t count, bool is_quoted)
{
	struct script_sql *sql = &reader->sql;

	if (count > reader->length - reader->next)
		count = reader->length - reader->next;
	if (sql->length + count + 1 > sql->capacity)
		grow_sql(sql, sql->length + count + 1);
	if (sql->length == 0)
		sql->start = reader->next;
	memcpy(sql->bytes + sql->length, reader->text + reader->next, count);
	memset(sql->is_quoted + sql->length, is_quoted, count);
	sql->length += count;
	reader->next += count;
}

/* Nothing is collected before the statement's first word. */
static void take_blank(struct script_reader *reader, size_t count, bool is_quoted)
{
	if (reader->sql.length > 0)
		take(reader, count, is_quoted);
	else
		reader->next += count;
}

static bool left_open(struct script_reader *reader, const char *what, size_t at)
{
	reader->open = what;
	reader->open_at = at;
	return false;
}

static void take_line_comment(struct script_reader *reader)
{
	size_t count = 0;

	while (reader->next + count < reader->length && peek(reader, count) != '\n' &&
		peek(reader, count) != '\r')
		count++;
	take_blank(reader, count, true);
}

static bool take_block_comment(struct script_reader *reader)
{
	size_t start = reader->next;
	size_t depth = 0;

	do {
		if (reader->next >= reader->length)
			return left_open(reader, "comment is not closed", start);
		if (peek(reader, 0) == '/' && peek(reader, 1) == '*') {
			depth++;
			take(reader, 2, true);
		} else if (peek(reader, 0) == '*' && peek(reader, 1) == '/') {
			depth--;
			take(reader, 2, true);
		} else {
			take(reader, 1, true);
		}
	} while (depth > 0);
	return true;
}

/* Do spaces with a newline among them, and another quote, continue the string that just ended? */
static bool string_continues(const struct script_reader *reader)
{
	bool has_newline = false;
	size_t ahead = 0;

	while (is_space(peek(reader, ahead))) {
		has_newline = has_newline || peek(reader, ahead) == '\n';
		ahead++;
	}
	return has_newline && peek(reader, ahead) == '\'';
}

static bool take_string(struct script_reader *reader, bool has_escapes)
{
	size_t start = reader->next;

	take(reader, 1, true);
	for (;;) {
		char c = peek(reader, 0);

		if (reader->next >= reader->length)
			return left_open(reader, "quoted string is not closed", start);
		if (has_escapes && c == '\\') {
			take(reader, 2, true);
		} else if (c != '\'') {
			take(reader, 1, true);
		} else if (peek(reader, 1) == '\'') {
			take(reader, 2, true);
		} else {
			take(reader, 1, true);
			if (!has_escapes || !string_continues(reader))
				return true;
			while (is_space(peek(reader, 0)))
				take(reader, 1, true);
			take(reader, 1, true);
		}
	}
}

static bool take_quoted_identifier(struct script_reader *reader)
{
	size_t start = reader->next;

	do {
		take(reader, 1, true);
		if (reader->next >= reader->length)
			return left_open(reader, "quoted identifier is not closed", start);
	} while (peek(reader, 0) != '"');
	take(reader, 1, true);
	return true;
}

/* $$...$$ or $tag$...$tag$; a dollar that opens none is taken alone. */
static bool take_dollar(struct script_reader *reader)
{
	const char *opening = reader->text + reader->next;
	size_t length = 1;
	const char *closing;

	if (is_alpha(peek(reader, 1)))
		while (is_alpha(peek(reader, length)) || is_digit(peek(reader, length)))
			length++;
	if (peek(reader, length) != '$') {
		take(reader, 1, false);
		return true;
	}
	length++;
	closing = memmem(opening + length, reader->length - reader->next - length, opening, length);
	if (!closing)
		return left_open(reader, "dollar-quoted string is not closed", reader->next);
	take(reader, (size_t)(closing - opening) + length, true);
	return true;
}

static bool is_word(const char *word, size_t length, const char *keyword)
{
	return strlen(keyword) == length && strncasecmp(word, keyword, length) == 0;
}

static bool creates_routine(const char *identifiers)
{
	if (identifiers[0] != 'c')
		return false;
	if (identifiers[1] == 'o' && identifiers[2] == 'r')
		return identifiers[3] == 'f' || identifiers[3] == 'p';
	return identifiers[1] == 'f' || identifiers[1] == 'p';
}

/*
 * The body of CREATE FUNCTION ... BEGIN ATOMIC ... END holds semicolons of its own. As psql does,
 * remember how the statement begins and count BEGIN and CASE against END.
 */
static void note_identifier(struct script_reader *reader, const char *word, size_t length)
{
	static const char *const leading[] = { "create", "function", "procedure", "or", "replace" };

	if (reader->identifier_count == 0)
		memset(reader->identifiers, 0, sizeof(reader->identifiers));
	if (reader->identifier_count < sizeof(reader->identifiers))
		for (size_t i = 0; i < WP_COUNT(leading); i++)
			if (is_word(word, length, leading[i]))
				reader->identifiers[reader->identifier_count] = leading[i][0];
	reader->identifier_count++;
	if (reader->parentheses > 0 || !creates_routine(reader->identifiers))
		return;
	if (is_word(word, length, "begin") || (is_word(word, length, "case") && reader->begins > 0))
		reader->begins++;
	else if (is_word(word, length, "end") && reader->begins > 0)
		reader->begins--;
}

static bool take_identifier(struct script_reader *reader)
{
	size_t length = 1;
	char first = peek(reader, 0);

	while (is_alpha(peek(reader, length)) || is_digit(peek(reader, length)) ||
		peek(reader, length) == '$')
		length++;
	if (length == 1 && (first == 'e' || first == 'E') && peek(reader, 1) == '\'') {
		take(reader, 1, false);
		return take_string(reader, true);
	}
	note_identifier(reader, reader->text + reader->next, length);
	take(reader, length, false);
	return true;
}

static void take_parenthesis(struct script_reader *reader)
{
	if (peek(reader, 0) == '(') {
		if (reader->parentheses++ == 0)
			reader->parenthesis_at = reader->next;
	} else if (reader->parentheses > 0) {
		reader->parentheses--;
	}
	take(reader, 1, false);
}

/* Take one token; false when it is not closed. */
static bool take_token(struct script_reader *reader)
{
	char c = peek(reader, 0);

	if (is_space(c))
		take_blank(reader, 1, false);
	else if (c == '-' && peek(reader, 1) == '-')
		take_line_comment(reader);
	else if (c == '/' && peek(reader, 1) == '*')
		return take_block_comment(reader);
	else if (is_alpha(c))
		return take_identifier(reader);
	else if (c == '\'')
		return take_string(reader, false);
	else if (c == '"')
		return take_quoted_identifier(reader);
	else if (c == '$')
		return take_dollar(reader);
	else if (c == '(' || c == ')')
		take_parenthesis(reader);
	else
		take(reader, 1, false);
	return true;
}

enum script_end wp_script_scan_sql(struct script_reader *reader)
{
	reader->sql.length = 0;
	while (reader->next < reader->length) {
		char c = peek(reader, 0);

		if (c == ';' && reader->parentheses == 0 && reader->begins == 0) {
			take(reader, 1, false);
			reader->identifier_count = 0;
			return SCRIPT_SEMICOLON;
		}
		if (c == '\\' && (peek(reader, 1) == ';' || peek(reader, 1) == ':')) {
			if (peek(reader, 1) == ';')
				reader->identifier_count = 0;
			reader->next++;
			take(reader, 1, false);
		} else if (c == '\\') {
			reader->next++;
			return SCRIPT_BACKSLASH;
		} else if (!take_token(reader)) {
			return SCRIPT_OPEN;
		}
	}
	if (reader->parentheses > 0) {
		(void)left_open(reader, "parenthesis is not closed", reader->parenthesis_at);
		return SCRIPT_OPEN;
	}
	return SCRIPT_END;
}

/* ---- backslash commands ---------------------------------------------------------------------- */

/* Length of a backslash and the newline behind it, 0 when there is none. */
static size_t continuation(const struct script_reader *reader, size_t ahead)
{
	if (peek(reader, ahead) != '\\')
		return 0;
	if (peek(reader, ahead + 1) == '\n')
		return 2;
	return peek(reader, ahead + 1) == '\r' && peek(reader, ahead + 2) == '\n' ? 3 : 0;
}

bool wp_script_scan_word(struct script_reader *reader, struct script_word *word)
{
	for (;;) {
		char c = peek(reader, 0);

		if (reader->next >= reader->length)
			return false;
		if (c == '\n') {
			reader->next++;
			return false;
		}
		if (continuation(reader, 0))
			reader->next += continuation(reader, 0);
		else if (is_space(c))
			reader->next++;
		else
			break;
	}
	word->at = reader->next;
	while (reader->next < reader->length && !is_space(peek(reader, 0)) &&
		!continuation(reader, 0))
		reader->next++;
	word->length = reader->next - word->at;
	return true;
}

size_t wp_script_line_end(const struct script_reader *reader, size_t at)
{
	while (at < reader->length && reader->text[at] != '\n') {
		struct script_reader here = {
			.text = reader->text, .length = reader->length, .next = at
		};
		size_t skipped = continuation(&here, 0);

		at += skipped ? skipped : 1;
	}
	return at;
}
