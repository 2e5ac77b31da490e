/* SPDX-License-Identifier: PostgreSQL */
/*
 * html.h - parts of the page.
 *
 * Floor: report, private. Texts of a document go through wp_html_text() alone: what a browser could
 * take for markup, or what could turn the direction of text, reaches the page as characters.
 * Threads: no.
 */
#ifndef WALPROBE_REPORT_HTML_H
#define WALPROBE_REPORT_HTML_H

#include "walprobe/render.h"

/* wp_html_text - text for between tags and in double quotes; NULL is "". */
void wp_html_text(FILE *stream, const char *text);

/* wp_html_element - <tag>text</tag>, with a class unless that is NULL, and a line end. */
void wp_html_element(FILE *stream, const char *tag, const char *class, const char *text);

/* wp_html_table - one table of the result with title, rows and notes; nothing where it has no row. */
void wp_html_table(const struct wp_result *result, const struct wp_table *table, FILE *stream);

/* wp_html_picture - one plot of gnuplot as part of the page; number keeps its ids apart. */
void wp_html_picture(const struct wp_picture *picture, size_t number, FILE *stream);

/* the style sheet, and what is added to it: rules for narrow windows and for print, to a NULL */
extern const char wp_html_style[];
extern const char *const wp_html_cards[];

#endif
