/* SPDX-License-Identifier: PostgreSQL */
/*
 * cmd_report.h - `walprobe report FILE`: a saved document, rendered again.
 *
 * Floor: cli.
 * Threads: no.
 */
#ifndef WALPROBE_CMD_REPORT_H
#define WALPROBE_CMD_REPORT_H

#include "walprobe/opts.h"

extern const struct wp_command wp_cmd_report;

#endif
