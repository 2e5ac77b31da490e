/* SPDX-License-Identifier: PostgreSQL */
/*
 * number.h - numbers as JSON and CSV write them.
 *
 * Floor: report, private.
 * Threads: yes, all functions.
 */
#ifndef WALPROBE_REPORT_NUMBER_H
#define WALPROBE_REPORT_NUMBER_H

#include "walprobe/result.h"

#define WP_NUMBER_SIZE 32

/*
 * wp_number_real - the shortest decimal form that reads back as exactly value.
 *
 * value  finite.
 * out    room for WP_NUMBER_SIZE; always has a point or an exponent, which tells a real from an
 *        integer when it is read back.
 * Returns: out.
 */
const char *wp_number_real(double value, char *out);

/*
 * wp_number_fact - the value of a fact as every renderer shows it: numbers in their one form.
 *
 * out        room for WP_NUMBER_SIZE.
 * is_number  false when JSON must quote it (also where the value is no number after all).
 * Returns: out or fact->value; NULL when the fact has no value.
 */
const char *wp_number_fact(const struct wp_fact *fact, char *out, bool *is_number);

#endif
