/* SPDX-License-Identifier: PostgreSQL */
/*
 * power.h - the drive's own counters of power cycles, to tell a cut from a restart.
 *
 * Floor: device (may include base, os, result). smartctl's JSON (ATA attributes 12, and 174 or 192;
 * the health log of NVMe; the start-stop cycles of SCSI), else nvme smart-log. Drives behind a RAID controller, and hosts without these tools,
 * say nothing.
 * Threads: main thread only.
 */
#ifndef WALPROBE_POWER_H
#define WALPROBE_POWER_H

#include "walprobe/stack.h"

struct wp_power {
	int64_t power_cycles;     /* -1: unknown */
	int64_t unsafe_shutdowns; /* -1: unknown */
	char device[64];          /* that said so; "" for none */
};

/* wp_power_read - of the first leaf device under the file system that answers. */
void wp_power_read(const struct wp_os *os, const struct wp_stack *stack, struct wp_power *out);

/* wp_power_parse - from the JSON of smartctl or nvme; false when it says neither. */
bool wp_power_parse(const char *json, struct wp_power *out);

#endif
