/* SPDX-License-Identifier: PostgreSQL */
/*
 * wrap.h - text broken into lines of at most so many terminal cells.
 *
 * Floor: report, private.
 * Threads: yes, all functions.
 */
#ifndef WALPROBE_REPORT_WRAP_H
#define WALPROBE_REPORT_WRAP_H

#include "walprobe/base.h"

struct wp_lines {
	char **lines;
	size_t count;
};

/*
 * wp_wrap - break text at blanks; a word that is too long behind one of , / : = and only then
 * anywhere.
 *
 * text   cleaned by wp_utf8_clean().
 * width  1 or more.
 * lines  receives at least one line, none with a trailing blank; free with wp_lines_release().
 */
void wp_wrap(const char *text, size_t width, struct wp_lines *lines);

/* wp_lines_release - free the lines; accepts a zeroed struct. */
void wp_lines_release(struct wp_lines *lines);

/* wp_wrap_longest_part - width of the longest part of text that wp_wrap() does not like to break. */
size_t wp_wrap_longest_part(const char *text);

/*
 * wp_wrap_print - text on lines of at most limit cells, each indented by indent blanks, the first
 * one beginning with lead (which is indented, and counts).
 *
 * text  need not be cleaned; NULL is "".
 */
void wp_wrap_print(FILE *stream, size_t limit, size_t indent, const char *lead, const char *text);

/* wp_join - append part to *text (allocated), behind separator where *text is not empty already; an
 * empty part changes nothing. */
void wp_join(char **text, const char *separator, const char *part);

#endif
