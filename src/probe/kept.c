/* SPDX-License-Identifier: PostgreSQL */
#include "probe/kept.h"
#include "walprobe/compare_stats.h"
#include "walprobe/mem.h"

struct wp_kept_block *wp_kept_add(struct wp_kept_round *round, struct wp_measure *measure,
	const struct wp_block *block, const struct wp_hist *hist)
{
	struct wp_kept_block *kept;
	size_t used = 0;

	round->blocks =
		wp_xreallocarray(round->blocks, round->block_count + 1, sizeof(*round->blocks));
	kept = &round->blocks[round->block_count++];
	memset(kept, 0, sizeof(*kept));
	kept->measure = measure;
	kept->block = *block;
	kept->totals = *hist;
	kept->totals.counts = NULL;
	for (size_t i = 0; i < WP_HIST_BUCKETS; i++)
		kept->bucket_count += hist->counts[i] != 0;
	kept->buckets = wp_xcalloc(kept->bucket_count, sizeof(*kept->buckets));
	kept->counts = wp_xcalloc(kept->bucket_count, sizeof(*kept->counts));
	for (size_t i = 0; i < WP_HIST_BUCKETS; i++) {
		if (hist->counts[i] == 0)
			continue;
		kept->buckets[used] = (uint32_t)i;
		kept->counts[used++] = hist->counts[i];
	}
	return kept;
}

static void pool_block(const struct wp_kept_block *kept)
{
	struct wp_measure *measure = kept->measure;
	struct wp_hist *hist = &measure->hist;

	for (size_t i = 0; i < kept->bucket_count; i++)
		hist->counts[kept->buckets[i]] += kept->counts[i];
	hist->count += kept->totals.count;
	hist->sum_ns += kept->totals.sum_ns;
	if (kept->totals.max_ns > hist->max_ns)
		hist->max_ns = kept->totals.max_ns;
	if (kept->totals.min_ns < hist->min_ns)
		hist->min_ns = kept->totals.min_ns;
	measure->operations += kept->block.operations;
	measure->syncs += kept->block.syncs;
	measure->elapsed_ns += kept->block.elapsed_ns;
	wp_block_io_add(&measure->io, &kept->block.io);
	measure->flushes += kept->flushes;
	if (!measure->flushes_unknown)
		measure->flushes_unknown = kept->flushes_unknown;
}

void wp_kept_pool(struct wp_kept_round *round)
{
	for (size_t i = 0; i < round->block_count; i++)
		pool_block(&round->blocks[i]);
	wp_kept_release(round);
}

void wp_kept_release(struct wp_kept_round *round)
{
	for (size_t i = 0; i < round->block_count; i++) {
		free(round->blocks[i].buckets);
		free(round->blocks[i].counts);
	}
	free(round->blocks);
	memset(round, 0, sizeof(*round));
}

size_t wp_suspects_limit(size_t count)
{
	size_t fifth = count / 5;

	if (count <= WP_ROUNDS_MINIMUM)
		return 0;
	return fifth < count - WP_ROUNDS_MINIMUM ? fifth : count - WP_ROUNDS_MINIMUM;
}

void wp_suspects_init(struct wp_suspects *suspects, size_t planned)
{
	suspects->limit = wp_suspects_limit(planned);
	suspects->count = 0;
	suspects->rounds = wp_xcalloc(suspects->limit, sizeof(*suspects->rounds));
}

void wp_suspects_take(struct wp_suspects *suspects, struct wp_kept_round *round)
{
	size_t place = suspects->count;

	if (!(round->score > 1) || suspects->limit == 0) {
		wp_kept_pool(round);
		return;
	}
	while (place > 0 && suspects->rounds[place - 1].score < round->score)
		place--;
	if (place == suspects->limit) {
		wp_kept_pool(round);
		return;
	}
	if (suspects->count == suspects->limit)
		wp_kept_pool(&suspects->rounds[--suspects->count]);
	memmove(&suspects->rounds[place + 1], &suspects->rounds[place],
		(suspects->count - place) * sizeof(*suspects->rounds));
	suspects->rounds[place] = *round;
	suspects->count++;
	memset(round, 0, sizeof(*round));
}

void wp_suspects_settle(struct wp_suspects *suspects, size_t limit)
{
	while (suspects->count > limit)
		wp_kept_pool(&suspects->rounds[--suspects->count]);
}

void wp_suspects_release(struct wp_suspects *suspects)
{
	for (size_t i = 0; i < suspects->count; i++)
		wp_kept_release(&suspects->rounds[i]);
	free(suspects->rounds);
	memset(suspects, 0, sizeof(*suspects));
}
