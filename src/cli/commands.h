/* SPDX-License-Identifier: PostgreSQL */
/*
 * commands.h - the table of commands.
 *
 * Floor: cli.
 */
#ifndef WALPROBE_CLI_COMMANDS_H
#define WALPROBE_CLI_COMMANDS_H

#include "walprobe/opts.h"

extern const struct wp_command wp_cmd_sync;
extern const struct wp_command wp_cmd_compare;
extern const struct wp_command wp_cmd_append;
extern const struct wp_command wp_cmd_io;
extern const struct wp_command wp_cmd_inspect;
extern const struct wp_command wp_cmd_ramp;
extern const struct wp_command wp_cmd_report;
extern const struct wp_command wp_cmd_store;
extern const struct wp_command wp_cmd_cleanup;

extern const struct wp_command *const wp_commands[]; /* NULL-terminated, in the order of help */

/* wp_command_find - the command with this name, or NULL. */
const struct wp_command *wp_command_find(const char *name);

/* wp_commands_help - what walprobe is and the list of commands. */
void wp_commands_help(FILE *stream);

/* wp_commands_man - the man page, in roff. */
void wp_commands_man(FILE *stream);

/* wp_commands_completion - completion for bash. */
void wp_commands_completion(FILE *stream);

#endif
