/* SPDX-License-Identifier: PostgreSQL */
/* script_internal.h - what the files that read scripts share. */
#ifndef WALPROBE_SCRIPT_INTERNAL_H
#define WALPROBE_SCRIPT_INTERNAL_H

#include "walprobe/script.h"

enum script_end {
	SCRIPT_SEMICOLON,
	SCRIPT_BACKSLASH, /* next stands behind it */
	SCRIPT_END,
	SCRIPT_OPEN, /* a quote, comment or parenthesis is open at the end of the text */
};

/* the statement being collected; is_quoted says of each byte whether it is quoted or a comment */
struct script_sql {
	char *bytes;
	bool *is_quoted;
	size_t length;
	size_t capacity;
	size_t start; /* of its first byte in the script */
};

struct script_reader {
	const char *text;
	size_t length;
	size_t next;
	size_t counted; /* line is that of this offset */
	int32_t line;
	struct script_sql sql;
	const char *open; /* what is open, for SCRIPT_OPEN */
	size_t open_at;
	/* how deep the scanner is inside a statement */
	size_t parentheses;
	size_t parenthesis_at; /* the outermost one */
	size_t begins;
	char identifiers[4]; /* first letters of CREATE OR REPLACE FUNCTION ... */
	size_t identifier_count;
};

/* a word of a backslash command */
struct script_word {
	size_t at;
	size_t length;
};

struct script_parser {
	struct script_reader reader;
	struct wp_script *script;
	struct wp_symbols *symbols;
	struct wp_err *err;
};

/* what a message is about */
struct script_place {
	size_t start;               /* of the line that is shown */
	size_t end;                 /* start: show no line */
	struct script_word command; /* name of the backslash command; length 0 for none */
};

/* ---- script_scan.c --------------------------------------------------------------------------- */

/* wp_script_scan_sql - collect a statement with its semicolon into reader->sql. */
enum script_end wp_script_scan_sql(struct script_reader *reader);

/* wp_script_scan_word - next word of the command line; false, and the newline taken, at its end. */
bool wp_script_scan_word(struct script_reader *reader, struct script_word *word);

/* wp_script_line_end - offset of the newline that ends the command line at, or the text's end. */
size_t wp_script_line_end(const struct script_reader *reader, size_t at);

/* wp_script_line - number of the line at; quick as long as it does not go back. */
int32_t wp_script_line(struct script_reader *reader, size_t at);

/* ---- script_parse.c -------------------------------------------------------------------------- */

/*
 * wp_script_fail - "file:line: message (more) in command "x"", with the line and a mark as detail.
 *
 * at       offset to be marked, or SIZE_MAX
 * more     length bytes, or NULL
 */
int wp_script_fail(struct script_parser *parser, const struct script_place *place, size_t at,
	const char *message, const char *more, size_t length);

/* wp_script_add - a new zeroed command at the end of the script, NULL when there are too many. */
struct wp_command *wp_script_add(struct script_parser *parser, enum wp_command_kind kind);

/* ---- script_statement.c ---------------------------------------------------------------------- */

/* wp_script_add_statement - make a command of the collected text, if it holds anything. */
int wp_script_add_statement(struct script_parser *parser);

/* ---- script_meta.c --------------------------------------------------------------------------- */

/* wp_script_add_meta - read the backslash command whose backslash stands before reader->next. */
int wp_script_add_meta(struct script_parser *parser);

/* ---- script_check.c -------------------------------------------------------------------------- */

/* wp_script_check - nesting of \if and of pipelines; links the branches. */
int wp_script_check(struct wp_script *script, struct wp_err *err);

#endif
