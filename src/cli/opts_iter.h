/* SPDX-License-Identifier: PostgreSQL */
/*
 * opts_iter.h - walking the option tables of a command; shared by parser, help and documents.
 *
 * Floor: cli.
 */
#ifndef WALPROBE_CLI_OPTS_ITER_H
#define WALPROBE_CLI_OPTS_ITER_H

#include "walprobe/opts.h"

struct wp_opt_iter {
	const struct wp_opt *const *table;
	const struct wp_opt *opt; /* NULL at the end */
};

/* wp_opt_first, wp_opt_next - every option of the command, table after table. */
struct wp_opt_iter wp_opt_first(const struct wp_command *command);
void wp_opt_next(struct wp_opt_iter *it);

/* wp_opt_standard - default of opt for this command as typed, or NULL. */
const char *wp_opt_standard(const struct wp_command *command, const struct wp_opt *opt);

/* wp_opt_choices - values of a choice for this command; ends with NULL. NULL: not a choice. */
const char *const *wp_opt_choices(const struct wp_command *command, const struct wp_opt *opt);

/* wp_opt_is_duration - true for all four duration types. */
bool wp_opt_is_duration(enum wp_opt_type type);

/* wp_opt_number_text - a number option's value exactly, in the largest whole unit, into out. */
void wp_opt_number_text(const struct wp_opt *opt, int64_t value, char *out, size_t size);

#endif
