/* SPDX-License-Identifier: PostgreSQL */
/*
 * utf8.h - UTF-8 without a locale: code points, display width, and text made safe to print.
 *
 * Floor: report, private. Bytes that are no UTF-8 read as U+FFFD everywhere, so that a document
 * gives the same bytes before and after it went through JSON.
 * Threads: yes, all functions.
 */
#ifndef WALPROBE_REPORT_UTF8_H
#define WALPROBE_REPORT_UTF8_H

#include "walprobe/base.h"

#define WP_UTF8_REPLACEMENT 0xFFFD

/*
 * wp_utf8_next - the code point at the start of text.
 *
 * text  not at its end.
 * code  U+FFFD for a byte that starts no valid, shortest sequence.
 * Returns: bytes to go on by, 1 to 4.
 */
size_t wp_utf8_next(const char *text, uint32_t *code);

/* wp_utf8_put - code as UTF-8 into out (room for 4, not terminated); returns the bytes written. */
size_t wp_utf8_put(uint32_t code, char *out);

/* wp_utf8_code_width - terminal cells of one code point: 0, 1 or 2 (a subset of wcwidth). */
size_t wp_utf8_code_width(uint32_t code);

/* wp_utf8_width - terminal cells of a whole text. */
size_t wp_utf8_width(const char *text);

/*
 * wp_utf8_clean - text as it may go to a terminal: white space of any kind is a blank, other
 * control and direction characters are written as \x1b or \u202e. NULL gives "".
 *
 * Returns: a copy; the caller frees.
 */
char *wp_utf8_clean(const char *text);

#endif
