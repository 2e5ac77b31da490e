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
extern const struct wp_command wp_cmd_predict;
extern const struct wp_command wp_cmd_witness;
extern const struct wp_command wp_cmd_plug_write;
extern const struct wp_command wp_cmd_plug_verify;
extern const struct wp_command wp_cmd_import;
extern const struct wp_command wp_cmd_report;
extern const struct wp_command wp_cmd_store;
extern const struct wp_command wp_cmd_cleanup;

extern const struct wp_command *const wp_commands[]; /* NULL-terminated, in the order of help */

/*
 * wp_command_find - the command that words begin with; its name may be of two words.
 *
 * used     receives how many words its name has. When there is no such command, 1 when the first
 *          word begins names of two words, else 0.
 * Returns: the command, or NULL.
 */
const struct wp_command *wp_command_find(const char *const *words, size_t count, size_t *used);

/* wp_commands_group_help - the commands whose names begin with this word. */
void wp_commands_group_help(const char *word, FILE *stream);

/* wp_commands_help - what walprobe is and the list of commands. */
void wp_commands_help(FILE *stream);

/* wp_commands_man - the man page, in roff. */
void wp_commands_man(FILE *stream);

/* wp_commands_completion - completion for bash. */
void wp_commands_completion(FILE *stream);

#endif
