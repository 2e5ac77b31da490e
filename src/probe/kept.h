/* SPDX-License-Identifier: PostgreSQL */
/*
 * kept.h - the blocks of one round, kept apart until it is known whether the round counts.
 *
 * Floor: probe, private. Histograms are kept as their non-zero buckets.
 * Threads: no.
 */
#ifndef WALPROBE_KEPT_H
#define WALPROBE_KEPT_H

#include "walprobe/measure.h"

struct wp_kept_block {
	struct wp_measure *measure;
	struct wp_block block;
	int64_t flushes;
	const char *flushes_unknown; /* reason; NULL: known */
	uint32_t *buckets;           /* indexes of the non-zero buckets */
	uint64_t *counts;
	size_t bucket_count;
	struct wp_hist totals; /* count, sum, minimum, maximum; no buckets */
};

struct wp_kept_round {
	size_t index;
	double score; /* of the worst guard; above 1: exceeded */
	char reason[96];
	struct wp_kept_block *blocks;
	size_t block_count;
};

/* wp_kept_add - append a block of measure; the histogram is copied. Returns it, to set flushes. */
struct wp_kept_block *wp_kept_add(struct wp_kept_round *round, struct wp_measure *measure,
	const struct wp_block *block, const struct wp_hist *hist);

/* wp_kept_pool - the round counts: add its blocks to their measures, and empty it. */
void wp_kept_pool(struct wp_kept_round *round);

/* wp_kept_release - empty a round without counting it; accepts a zeroed struct. */
void wp_kept_release(struct wp_kept_round *round);

/* rounds in which a guard was exceeded, worst first, no more than may be dropped */
struct wp_suspects {
	struct wp_kept_round *rounds;
	size_t count;
	size_t limit;
};

/* wp_suspects_limit - how many of count rounds may be dropped: a fifth, and 6 must remain. */
size_t wp_suspects_limit(size_t count);

/* wp_suspects_init - room for the rounds that may be dropped out of planned. */
void wp_suspects_init(struct wp_suspects *suspects, size_t planned);

/*
 * wp_suspects_take - a finished round: pooled when it was quiet, kept when it is among the worst;
 * the round that is no longer among them is pooled. *round is empty afterwards.
 */
void wp_suspects_take(struct wp_suspects *suspects, struct wp_kept_round *round);

/* wp_suspects_settle - after the last round: pool all but the worst limit of them. */
void wp_suspects_settle(struct wp_suspects *suspects, size_t limit);

/* wp_suspects_release - accepts a zeroed struct. */
void wp_suspects_release(struct wp_suspects *suspects);

#endif
