/* SPDX-License-Identifier: PostgreSQL */
/*
 * units.h - durations, sizes and number lists as people write them.
 *
 * Floor: base. Spelling is PostgreSQL's (us ms s min h d; B kB MB GB TB, powers of 1024).
 * Threads: yes.
 */
#ifndef WALPROBE_UNITS_H
#define WALPROBE_UNITS_H

#include "walprobe/err.h"

/*
 * wp_parse_duration_ns - "500ms", "2s", "1.5min" into nanoseconds, 0 or more.
 *
 * bare_unit_ns  what a number without a unit counts, as for options taken over from pgbench; 0
 *               refuses such a number.
 * Returns: 0, or -WP_E_USAGE with a message that says what is wrong with text.
 */
int wp_parse_duration_ns(
	const char *text, int64_t bare_unit_ns, int64_t *out_ns, struct wp_err *err);

/* wp_parse_size_bytes - "8kB", "16MB", "1.5GB" into bytes, 0 or more; -WP_E_USAGE otherwise. */
int wp_parse_size_bytes(const char *text, int64_t *out_bytes, struct wp_err *err);

/* wp_parse_int - a whole decimal number, nothing around it; -WP_E_USAGE otherwise. */
int wp_parse_int(const char *text, int64_t *out, struct wp_err *err);

/*
 * wp_parse_int_list - "1-8", "1,2,4,8", "1-4,8,16": rising or not, each at least 1, no repeats.
 *
 * out     receives at most capacity numbers, in the order written.
 * Returns: 0 with *count set, or -WP_E_USAGE.
 */
int wp_parse_int_list(const char *text, int64_t minimum, int64_t maximum, int64_t *out,
	size_t capacity, size_t *count, struct wp_err *err);

/* wp_int_list_most - the largest of count numbers, none of them negative; 0 of an empty list. */
int64_t wp_int_list_most(const int64_t *list, size_t count);

/* wp_format_duration - "12.3 ms", three significant digits, into out; returns out. */
const char *wp_format_duration(int64_t ns, char *out, size_t size);

/* wp_format_size - "16 MB", three significant digits at most, into out; returns out. */
const char *wp_format_size(int64_t bytes, char *out, size_t size);

/* wp_format_3 - a number with three significant digits, without exponent; returns out. */
const char *wp_format_3(double value, char *out, size_t size);

#endif
