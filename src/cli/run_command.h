/* SPDX-License-Identifier: PostgreSQL */
/*
 * run_command.h - one command from its words to its exit status.
 *
 * Floor: cli.
 */
#ifndef WALPROBE_CLI_RUN_COMMAND_H
#define WALPROBE_CLI_RUN_COMMAND_H

#include "walprobe/opts.h"

/*
 * wp_run_command - parse, do the work, undo what was made, print, and say how it went.
 *
 * argv    the whole command line: argv[0] the program, argv[1] the command.
 * Returns: the exit status of the contract.
 */
int wp_run_command(const struct wp_command *command, const char *const *argv, size_t argc);

#endif
