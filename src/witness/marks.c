/* SPDX-License-Identifier: PostgreSQL */
/*
 * Moments of a cycle and what had been acknowledged by then, to say how old a lost record was when
 * the power went. There is room for few: where it is short, the one goes whose neighbours are
 * closest together by the measure of how long ago they are.
 */
#include "walprobe/ledger.h"
#include "walprobe/mem.h"

static void forget_all(struct wp_ledger_run *run)
{
	while (run->mark_count)
		free(run->marks[--run->mark_count]);
}

static void forget_one(struct wp_ledger_run *run, int64_t now_ns)
{
	size_t worst = 1;
	double least = 0;

	for (size_t i = 1; i + 1 < run->mark_count; i++) {
		double gap_ns = (double)(run->marks[i + 1]->wall_ns - run->marks[i - 1]->wall_ns);
		double share = gap_ns / (double)(now_ns - run->marks[i - 1]->wall_ns);

		if (i > 1 && share >= least)
			continue;
		worst = i;
		least = share;
	}
	free(run->marks[worst]);
	run->mark_count--;
	memmove(&run->marks[worst], &run->marks[worst + 1],
		(run->mark_count - worst) * sizeof(run->marks[0]));
}

void wp_ledger_mark(struct wp_ledger_run *run, int64_t wall_ns)
{
	size_t writers = run->manifest.writers;
	struct wp_ledger_mark *mark;

	if (run->mark_count) {
		int64_t newest_ns = run->marks[run->mark_count - 1]->wall_ns;

		if (wall_ns == newest_ns)
			return;
		if (wall_ns < newest_ns)
			forget_all(run);
	}
	if (run->mark_count == WP_MARKS)
		forget_one(run, wall_ns);
	mark = wp_xcalloc(1, sizeof(*mark) + writers * sizeof(mark->acked[0]));
	mark->wall_ns = wall_ns;
	memcpy(mark->acked, run->acked, writers * sizeof(mark->acked[0]));
	run->marks[run->mark_count++] = mark;
}

int64_t wp_ledger_age_ns(const struct wp_ledger_run *run, uint16_t writer, uint64_t seq)
{
	for (size_t i = 0; i < run->mark_count; i++)
		if (run->marks[i]->acked[writer] >= seq)
			return run->marks[run->mark_count - 1]->wall_ns - run->marks[i]->wall_ns;
	return -1;
}
