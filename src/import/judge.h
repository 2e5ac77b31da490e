/* SPDX-License-Identifier: PostgreSQL */
/*
 * judge.h - what published runs say beyond their figures, whatever tool made them.
 *
 * Floor: import, private.
 */
#ifndef WALPROBE_IMPORT_JUDGE_H
#define WALPROBE_IMPORT_JUDGE_H

#include "walprobe/import.h"

/* wp_judge_words - checks about a run's heading and mount options: barriers switched off, disk
 * caches switched on. Each may be NULL. */
void wp_judge_words(
	struct wp_import *in, const char *label, const char *title, const char *mount_options);

/* wp_judge_machines - many machines with the same figure have a limit in common, which is none of
 * their disks. Looks at the rows of table io from first_row on. */
void wp_judge_machines(struct wp_import *in, size_t first_row);

/* wp_judge_ramp - what the target's rows of table ramp and its statements and progress say: runs
 * too short, locks, connecting, rates that no disk can do. */
void wp_judge_ramp(struct wp_import *in, const char *target);

/* wp_judge_sync - what the target's rows of table sync say: flushes that are not sent, rates of
 * disks, which methods are slower and why. */
void wp_judge_sync(struct wp_import *in, const char *target);

#endif
