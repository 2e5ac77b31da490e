/* SPDX-License-Identifier: PostgreSQL */
/*
 * classify.h - what the two halves of the classification share: looking at pages, and counting.
 */
#ifndef WALPROBE_WITNESS_CLASSIFY_H
#define WALPROBE_WITNESS_CLASSIFY_H

#include "walprobe/classify.h"

/* what became of one record */
enum fate {
	FATE_UNSEEN, /* no page was shown: the file is missing or too short */
	FATE_WHOLE,
	FATE_LOST,
	FATE_STALE,
	FATE_TORN,
	FATE_FLIPPED,
	FATE_MISDIRECTED,
	FATE_UNREADABLE,
};

struct slots {
	uint8_t *fates;
	bool *has_file; /* workload create: one for each record; otherwise the first counts */
	bool is_create;
};

/* a record that stands where another belongs */
struct stray {
	uint32_t segment;
	uint32_t slot;
};

#define STRAYS_MAXIMUM 65536

struct wp_classifier {
	const struct wp_ledger_run *run;
	struct wp_payload *payload;
	struct slots *slots; /* one for each segment of the run */
	struct stray *strays;
	size_t stray_count;
	uint64_t survivor[WP_WRITERS_MAXIMUM]; /* highest whole sequence; 0: none */
	uint64_t cited[WP_WRITERS_MAXIMUM];    /* highest sequence that a horizon covers */
	bool has_tail_lost[WP_WRITERS_MAXIMUM];
};

#endif
