/* SPDX-License-Identifier: PostgreSQL */
/*
 * walprobe-witness: the command "witness" as a program of its own, for a host that has nothing
 * else of walprobe, and no libpq. Its table of commands has this one alone, so that the linker
 * takes nothing that the others need.
 */
#include "cli/commands.h"
#include "cli/run_command.h"
#include "walprobe/host.h"
#include "walprobe/stop.h"

const struct wp_command *const wp_commands[] = { &wp_cmd_witness, NULL };

int main(int argc, char **argv)
{
	wp_host_guard_descriptors();
	wp_stop_install();
	if (argc == 2 && (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)) {
		puts("walprobe-witness " WP_VERSION);
		return fflush(stdout) == 0 ? 0 : 3;
	}
	return wp_run_command(&wp_cmd_witness, (const char *const *)argv, (size_t)argc, 1);
}
