/* SPDX-License-Identifier: PostgreSQL */
/*
 * scan.h - the lines of a run as one text, and the words and numbers in it; private to import.
 *
 * Tools' output comes glued, wrapped and joined, so that nothing here trusts where a line ends. A
 * number counts only with what must follow it: one that a line end or a foreign character has cut
 * is unsure, and the caller leaves it absent.
 * Threads: no.
 */
#ifndef WALPROBE_IMPORT_SCAN_H
#define WALPROBE_IMPORT_SCAN_H

#include "walprobe/import.h"

#define SCAN_ANY_DECIMALS (-1)

struct scan_text {
	char *text; /* lines, each ended by a newline */
	size_t length;
	size_t *starts;  /* offset of each line in text */
	size_t *indexes; /* its index in in->lines */
	size_t count;
	bool is_end; /* the input has nothing behind the last line */
};

/* scan_text_add - append one line, which is in->lines[index]. */
void scan_text_add(struct scan_text *text, const char *line, size_t index);

/* scan_text_lines - a text of lines at .. at + count - 1, or up to the last line; release it. */
struct scan_text scan_text_lines(const struct wp_import *in, size_t at, size_t count);

/* scan_text_release - free all. */
void scan_text_release(struct scan_text *text);

/* scan_line - index in text of the line that holds this place. */
size_t scan_line(const struct scan_text *text, const char *place);

/* scan_take - the lines that hold from .. to - 1 are understood. */
void scan_take(
	struct wp_import *in, const struct scan_text *text, const char *from, const char *to);

/*
 * scan_words - what follows when pattern stands at this place, else NULL.
 *
 * pattern  ' ' is one or more blanks or line ends, '~' none or more of them, '|' parts
 *          alternatives; all else stands for itself.
 */
const char *scan_words(const char *at, const char *pattern);

/* scan_find - first place at or behind at, before end, where pattern stands; NULL for none. */
const char *scan_find(const char *at, const char *end, const char *pattern);

enum scan_state {
	SCAN_NONE,   /* no number is there */
	SCAN_SURE,   /* a number, and all of it */
	SCAN_UNSURE, /* a number that may be cut or mean two things */
};

struct scan_number {
	enum scan_state state;
	double value;
	int64_t integer;
	const char *end; /* behind the number and its terminator */
};

/*
 * scan_number - the number at this place, blanks and line ends before it skipped.
 *
 * terminator  pattern that must follow it; NULL: anything but a further digit. With one, a number
 *             that a line end cuts in two is put together when it then has its decimals.
 * decimals    0: a whole number, which a mark does not belong to; else the digits behind the point that the tool prints, or SCAN_ANY_DECIMALS; a comma is the
 *             decimal mark only before that many digits.
 */
struct scan_number scan_number(const char *at, const char *terminator, int decimals);

/* scan_rest - copy of the rest of the line, outer blanks removed; the caller frees. */
char *scan_rest(const char *at);

#endif
