/* SPDX-License-Identifier: PostgreSQL */
#include "expr_internal.h"

#include <strings.h>

#define NUMBER_SIZE 400 /* a longer constant is refused; no useful one comes near */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (unsigned char)c > 127;
}

static char peek(const struct expr_scanner *scanner, size_t ahead)
{
	size_t at = scanner->next + ahead;

	return at < scanner->length ? scanner->text[at] : '\0';
}

void wp_expr_fault_set(struct wp_expr_fault *fault, const char *message, const char *word,
	size_t length, size_t end)
{
	int shown = length < sizeof(fault->more) ? (int)length : (int)sizeof(fault->more) - 4;

	fault->message = message;
	fault->at = end ? end - 1 : 0;
	fault->more[0] = '\0';
	if (word)
		(void)snprintf(fault->more, sizeof(fault->more), "%.*s%s", shown, word,
			(size_t)shown < length ? "..." : "");
}

static void scan_error(struct expr_scanner *scanner, const char *message, size_t start)
{
	scanner->kind = TOKEN_ERROR;
	wp_expr_fault_set(&scanner->fault, message, scanner->text + start, scanner->next - start,
		scanner->next);
}

/* Spaces and continued lines. */
static void skip_space(struct expr_scanner *scanner)
{
	for (;;) {
		char c = peek(scanner, 0);

		if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v')
			scanner->next++;
		else if (c == '\\' && peek(scanner, 1) == '\n')
			scanner->next += 2;
		else if (c == '\\' && peek(scanner, 1) == '\r' && peek(scanner, 2) == '\n')
			scanner->next += 3;
		else
			return;
	}
}

static size_t count_digits(const struct expr_scanner *scanner, size_t ahead)
{
	size_t count = 0;

	while (is_digit(peek(scanner, ahead + count)))
		count++;
	return count;
}

/* Length of "e+10" at ahead, 0 when it is not complete. */
static size_t exponent_length(const struct expr_scanner *scanner, size_t ahead)
{
	size_t sign;
	size_t digits;

	if (peek(scanner, ahead) != 'e' && peek(scanner, ahead) != 'E')
		return 0;
	sign = peek(scanner, ahead + 1) == '+' || peek(scanner, ahead + 1) == '-';
	digits = count_digits(scanner, ahead + 1 + sign);
	return digits ? 1 + sign + digits : 0;
}

static void scan_number(struct expr_scanner *scanner)
{
	size_t start = scanner->next;
	size_t whole = count_digits(scanner, 0);
	size_t length = whole;
	char number[NUMBER_SIZE];
	bool is_int;

	if (peek(scanner, length) == '.')
		length += 1 + count_digits(scanner, length + 1);
	length += exponent_length(scanner, length);
	is_int = length == whole;
	scanner->next += length;
	if (length >= sizeof(number)) {
		scan_error(scanner,
			is_int ? "bigint constant overflow" : "double constant overflow", start);
		return;
	}
	memcpy(number, scanner->text + start, length);
	number[length] = '\0';
	errno = 0;
	if (is_int && strcmp(number, "9223372036854775808") == 0) {
		scanner->kind = TOKEN_MIN_INT;
	} else if (is_int) {
		scanner->kind = TOKEN_INT;
		scanner->value = (struct wp_value){ .type = WP_VALUE_INT };
		scanner->value.integer = strtoll(number, NULL, 10);
		if (errno == ERANGE)
			scan_error(scanner, "bigint constant overflow", start);
	} else {
		scanner->kind = TOKEN_DOUBLE;
		scanner->value = (struct wp_value){ .type = WP_VALUE_DOUBLE };
		scanner->value.real = strtod(number, NULL);
		if (errno == ERANGE)
			scan_error(scanner, "double constant overflow", start);
	}
}

static void scan_word(struct expr_scanner *scanner)
{
	static const struct {
		const char *word;
		int kind;
	} keywords[] = {
		{ "and", TOKEN_AND },
		{ "or", TOKEN_OR },
		{ "not", TOKEN_NOT },
		{ "is", TOKEN_IS },
		{ "isnull", TOKEN_ISNULL },
		{ "notnull", TOKEN_NOTNULL },
		{ "case", TOKEN_CASE },
		{ "when", TOKEN_WHEN },
		{ "then", TOKEN_THEN },
		{ "else", TOKEN_ELSE },
		{ "end", TOKEN_END_WORD },
		{ "null", TOKEN_NULL },
		{ "true", TOKEN_BOOLEAN },
		{ "false", TOKEN_BOOLEAN },
	};
	size_t length = scanner->word_length;

	scanner->kind = TOKEN_WORD;
	for (size_t i = 0; i < WP_COUNT(keywords); i++)
		if (strlen(keywords[i].word) == length &&
			strncasecmp(keywords[i].word, scanner->word, length) == 0)
			scanner->kind = keywords[i].kind;
	if (scanner->kind == TOKEN_NULL)
		scanner->value = (struct wp_value){ .type = WP_VALUE_NULL };
	if (scanner->kind == TOKEN_BOOLEAN)
		scanner->value = (struct wp_value){ .type = WP_VALUE_BOOLEAN,
			.boolean = length == strlen("true") };
}

/* Letters and digits from next on. */
static void take_word(struct expr_scanner *scanner)
{
	scanner->word = scanner->text + scanner->next;
	scanner->word_length = 0;
	while (is_alpha(peek(scanner, 0)) || is_digit(peek(scanner, 0))) {
		scanner->next++;
		scanner->word_length++;
	}
}

static void scan_operator(struct expr_scanner *scanner)
{
	static const struct {
		char text[3];
		int kind;
	} pairs[] = {
		{ "<>", TOKEN_NE },
		{ "!=", TOKEN_NE },
		{ "<=", TOKEN_LE },
		{ ">=", TOKEN_GE },
		{ "<<", TOKEN_SHIFT_LEFT },
		{ ">>", TOKEN_SHIFT_RIGHT },
	};
	size_t start = scanner->next;
	char c = peek(scanner, 0);

	for (size_t i = 0; i < WP_COUNT(pairs); i++) {
		if (c == pairs[i].text[0] && peek(scanner, 1) == pairs[i].text[1]) {
			scanner->next += 2;
			scanner->kind = pairs[i].kind;
			return;
		}
	}
	scanner->next++;
	scanner->kind = c;
	if (!c || !strchr("+-*/%(),=<>|&#~", c))
		scan_error(scanner, "unexpected character", start);
}

void wp_expr_scan(struct expr_scanner *scanner)
{
	char c;

	skip_space(scanner);
	c = peek(scanner, 0);
	if (scanner->next >= scanner->length) {
		scanner->kind = TOKEN_END;
	} else if (c == '\n') {
		scanner->next++;
		scanner->kind = TOKEN_END;
	} else if (is_digit(c) || (c == '.' && is_digit(peek(scanner, 1)))) {
		scan_number(scanner);
	} else if (is_alpha(c)) {
		take_word(scanner);
		scan_word(scanner);
	} else if (c == ':' && (is_alpha(peek(scanner, 1)) || is_digit(peek(scanner, 1)))) {
		scanner->next++;
		take_word(scanner);
		scanner->kind = TOKEN_VARIABLE;
	} else {
		scan_operator(scanner);
	}
}
