/* SPDX-License-Identifier: PostgreSQL */
/*
 * combine.h - several result documents become one.
 *
 * Floor: result (may include base). Targets are labelled apart, tables of the same name become one
 * table, and what all documents say alike is said once.
 * Threads: no.
 */
#ifndef WALPROBE_COMBINE_H
#define WALPROBE_COMBINE_H

#include "walprobe/result.h"

/* one document on its way into a combined one */
struct wp_part {
	struct wp_result *result; /* owned; its targets may be given other labels */
	const char *file;         /* where it was read, for its name; borrowed */
	char *name;               /* told apart from the others by it; see wp_parts_label() */
};

/*
 * wp_parts_label - name every part, and label its targets apart from those of the others.
 *
 * The name is the host where these differ, else the file's name without folder and ".json", else
 * that with "#2". Where a label is used by two parts, all labels get their part's name in front
 * ("db1: ext4"), in targets, checks, and the columns that name targets.
 */
void wp_parts_label(struct wp_part *parts, size_t count);

/*
 * wp_parts_combine - one result with all that the parts say; free with wp_result_free().
 *
 * Tables of the same name are one table with the columns of both; a table whose rows name no target
 * gets a column "document". Facts of the environment and parameters on which the parts differ have
 * the part's name in their key. A table "documents" has a row for each part. What was recommended
 * from one document alone is left out. The result has no time of its own: the same parts give the
 * same bytes.
 */
struct wp_result *wp_parts_combine(const struct wp_part *parts, size_t count);

/* wp_part_environment - a fact of the machine that was measured, or NULL; of imported figures, whose
 * machine is not the one that imported them, always NULL. */
const char *wp_part_environment(const struct wp_part *part, const char *key);

/* wp_parts_release - free names and results; accepts zeroed parts. */
void wp_parts_release(struct wp_part *parts, size_t count);

#endif
