/* SPDX-License-Identifier: PostgreSQL */
/*
 * entry.h - reading the bodies of ledger entries; their writers are in ledger.h.
 *
 * Each takes the whole rest of get and returns false when it is not exactly that, or its values
 * contradict each other.
 */
#ifndef WALPROBE_WITNESS_ENTRY_H
#define WALPROBE_WITNESS_ENTRY_H

#include "walprobe/ledger.h"

bool wp_manifest_get(struct wp_get *get, const uint8_t *run, struct wp_manifest *out);
bool wp_cycle_get(struct wp_get *get, uint16_t writers, struct wp_cycle_start *out);
bool wp_segment_get(struct wp_get *get, struct wp_ledger_segment *out);
bool wp_result_get(struct wp_get *get, struct wp_cycle_result *out);

/* wp_exposures_get - three exposures, not the whole rest. */
void wp_exposures_get(struct wp_get *get, int64_t out[WP_EXPOSURES]);

#endif
