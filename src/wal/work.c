/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/work.h"

#include "walprobe/mem.h"

#define LINE_BYTES 64
#define LINE_WORDS (LINE_BYTES / sizeof(uint32_t))
#define MULTIPLIER UINT64_C(6364136223846793005)

void wp_work_init(struct wp_work *work, size_t bytes, uint64_t seed)
{
	size_t count = bytes / LINE_BYTES;
	size_t *order = wp_xcalloc(count, sizeof(*order));
	struct wp_random random;

	wp_random_init(&random, seed);
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	wp_random_shuffle(&random, order, count);
	work->next = wp_xaligned(LINE_BYTES, bytes);
	for (size_t i = 0; i < count; i++)
		work->next[order[i] * LINE_WORDS] = (uint32_t)(order[(i + 1) % count] * LINE_WORDS);
	work->at = 0;
	work->sum = seed;
	free(order);
}

void wp_work_release(struct wp_work *work)
{
	free(work->next);
	work->next = NULL;
}

void wp_work_do(struct wp_work *work, int64_t units)
{
	uint32_t at = work->at;
	uint64_t sum = work->sum;

	for (int64_t i = 0; i < units; i++) {
		at = work->next[at];
		for (int j = 0; j < 4; j++)
			sum = (sum ^ at) * MULTIPLIER + 1;
	}
	work->at = at;
	work->sum = sum;
}
