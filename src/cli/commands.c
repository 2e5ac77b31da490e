/* SPDX-License-Identifier: PostgreSQL */
#include "cli/commands.h"

const struct wp_command *const wp_commands[] = {
	&wp_cmd_compare,
	&wp_cmd_sync,
	&wp_cmd_append,
	&wp_cmd_io,
	&wp_cmd_inspect,
	&wp_cmd_ramp,
	&wp_cmd_predict,
	&wp_cmd_witness,
	&wp_cmd_plug_write,
	&wp_cmd_plug_verify,
	&wp_cmd_import,
	&wp_cmd_report,
	&wp_cmd_store,
	&wp_cmd_cleanup,
	NULL,
};
