/* SPDX-License-Identifier: PostgreSQL */
/*
 * place.h - what stands above a run, and the target that it becomes; private to import.
 *
 * Floor: import, private.
 */
#ifndef WALPROBE_IMPORT_PLACE_H
#define WALPROBE_IMPORT_PLACE_H

#include "walprobe/import.h"

/* place_heading - words of the heading right above line at: "=== RUN 1 ===", "## xfs",
 * "with pgbouncer:". NULL for none; the caller frees. */
char *place_heading(const struct wp_import *in, size_t at);

/*
 * place_add - wp_import_add_run() for the run whose first line is in->lines[at].
 *
 * run    tool and version, command, settings, machine may be filled; line, title, fstype and mount
 *        options are found where they are not.
 */
const char *place_add(struct wp_import *in, size_t at, struct wp_import_run *run);

/* place_take_heading - the heading that place_heading() found is understood. */
void place_take_heading(struct wp_import *in, size_t at);

#endif
