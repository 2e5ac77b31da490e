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
 * argv    the whole command line: argv[0] the program.
 * first   index of the first word after the command's name.
 * Returns: the exit status of the contract.
 */
int wp_run_command(
	const struct wp_command *command, const char *const *argv, size_t argc, size_t first);

#endif
