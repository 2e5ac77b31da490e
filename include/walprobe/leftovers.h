/* SPDX-License-Identifier: PostgreSQL */
/*
 * leftovers.h - telling the user what an earlier, killed run left.
 *
 * Floor: probe. Threads: main thread only.
 */
#ifndef WALPROBE_LEFTOVERS_H
#define WALPROBE_LEFTOVERS_H

#include "walprobe/run.h"
#include "walprobe/target.h"

/*
 * wp_leftovers_tell - a note for each directory that a dead run left below the places of targets
 * (directories, and those that hold images), with the command that removes it. Called before
 * anything is measured. A place that cannot be read is passed over: opening it will tell.
 */
void wp_leftovers_tell(struct wp_run *run, const struct wp_target_specs *specs);

/* wp_leftovers_tell_in - the same for one directory, as the base of throwaway servers. */
void wp_leftovers_tell_in(struct wp_run *run, const char *place);

/* wp_target_place - the directory in which a target's own would lie; borrowed from spec. */
const char *wp_target_place(const struct wp_target_spec *spec);

#endif
