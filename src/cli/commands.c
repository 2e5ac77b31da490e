/* SPDX-License-Identifier: PostgreSQL */
#include "cli/commands.h"

extern const struct wp_command wp_cmd_inspect;
extern const struct wp_command wp_cmd_report;
extern const struct wp_command wp_cmd_cleanup;

const struct wp_command *const wp_commands[] = {
	&wp_cmd_inspect,
	&wp_cmd_report,
	&wp_cmd_cleanup,
	NULL,
};
