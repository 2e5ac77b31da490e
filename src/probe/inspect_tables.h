/* SPDX-License-Identifier: PostgreSQL */
/*
 * inspect_tables.h - the tables of an inspection.
 */
#ifndef WALPROBE_PROBE_INSPECT_TABLES_H
#define WALPROBE_PROBE_INSPECT_TABLES_H

#include "walprobe/cache_facts.h"
#include "walprobe/flush_probe.h"

/* inspect_fill_layers - a row for each layer into table "inspect"; one without a layer that says
 * why when no block device can be seen. */
void inspect_fill_layers(struct wp_result *result, const char *label, const struct wp_stack *stack);

/* inspect_fill_absent - a row that says why there are no layers. */
void inspect_fill_absent(struct wp_result *result, const char *label, const char *reason);

/* inspect_fill_flush - a row for each series into table "flush". */
void inspect_fill_flush(struct wp_result *result, const char *label, const struct wp_stack *stack,
	const struct wp_flush_report *report);

/* inspect_fill_caches - a row for each volume into table "controllers", one for each source of each
 * drive into table "drives"; no table without rows. */
void inspect_fill_caches(
	struct wp_result *result, const char *label, const struct wp_cache_facts *facts);

#endif
