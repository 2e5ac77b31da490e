/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/host.h"
#include "walprobe/mem.h"
#include "witness/server.h"

/* Words that come on without progress for this long mean that the writers stood still. */
#define STALLED_NS (5 * WP_NS_PER_S)

struct wp_life *wp_life_of(struct wp_witness *witness, struct wp_ledger_run *run)
{
	struct wp_life *life;

	for (size_t i = witness->life_count; i > 0; i--)
		if (witness->lives[i - 1]->run == run)
			return witness->lives[i - 1];
	life = wp_xcalloc(1, sizeof(*life));
	life->run = run;
	witness->lives = wp_xreallocarray(
		(void *)witness->lives, witness->life_count + 1, sizeof(*witness->lives));
	witness->lives[witness->life_count++] = life;
	return life;
}

static size_t newest_of(const struct wp_life *life)
{
	return (life->history_next + WP_HISTORY - 1) % WP_HISTORY;
}

static void remember(struct wp_life *life, int64_t now_ns, uint64_t total)
{
	size_t newest = newest_of(life);

	/* Close together: the newer total at the older time, which never claims too much. */
	if (life->history_count > 1 && now_ns - life->history[newest].at_ns < WP_HISTORY_STEP_NS) {
		life->history[newest].total = total;
		return;
	}
	life->history[life->history_next].at_ns = now_ns;
	life->history[life->history_next].total = total;
	life->history_next = (life->history_next + 1) % WP_HISTORY;
	if (life->history_count < WP_HISTORY)
		life->history_count++;
}

void wp_life_heard(struct wp_witness *witness, struct wp_life *life)
{
	uint64_t total = wp_ledger_total(life->run);

	life->heard_ns = wp_os_now_ns(witness->os);
	if (life->history_count && life->history[newest_of(life)].total > total)
		life->history_count = 0; /* a new cycle */
	if (!life->history_count || life->history[newest_of(life)].total < total) {
		if (life->history_count)
			life->progress_ns = life->heard_ns;
		remember(life, life->heard_ns, total);
		life->is_dirty = true;
	}
}

/* Records acknowledged before the moment at_ns, as far back as is remembered. */
static uint64_t total_at(const struct wp_life *life, int64_t at_ns)
{
	uint64_t total = 0;
	size_t at = (life->history_next + WP_HISTORY - life->history_count) % WP_HISTORY;

	total = life->history[at].total;
	for (size_t i = 0; i < life->history_count; i++, at = (at + 1) % WP_HISTORY)
		if (life->history[at].at_ns <= at_ns)
			total = life->history[at].total;
	return total;
}

void wp_life_exposures(const struct wp_life *life, int64_t out[WP_EXPOSURES])
{
	static const int64_t windows_ns[WP_EXPOSURES] = { 10 * WP_NS_PER_MS, 100 * WP_NS_PER_MS,
		WP_NS_PER_S };
	bool is_stalled =
		life->heard_ns - life->progress_ns > STALLED_NS && !life->run->failed_errno;

	for (size_t i = 0; i < WP_EXPOSURES; i++) {
		uint64_t newest;

		if (!life->history_count) {
			out[i] = life->run->exposures[i]; /* as the journal has it */
			continue;
		}
		newest = life->history[newest_of(life)].total;
		out[i] = is_stalled ? 0
				    : (int64_t)(newest -
						total_at(life, life->progress_ns - windows_ns[i]));
	}
}

void wp_life_journal(struct wp_witness *witness, struct wp_life *life)
{
	uint8_t bytes[WP_ENTRY_MAXIMUM];
	struct wp_put put = { .bytes = bytes, .size = sizeof(bytes) };
	struct wp_ledger_run *run = life->run;

	if (!life->is_dirty)
		return;
	life->is_dirty = false;
	wp_life_exposures(life, run->exposures);
	run->heard_wall_ns = wp_host_wall_ns();
	wp_ledger_mark(run, run->heard_wall_ns);
	wp_entry_acked(&put, run->manifest.run, run->acked, run->manifest.writers, run->exposures,
		run->heard_wall_ns);
	wp_journal_add(&witness->journal, bytes, put.used);
}

void wp_life_silent(struct wp_witness *witness, struct wp_life *life, bool was_closed)
{
	uint8_t bytes[WP_ENTRY_MAXIMUM];
	struct wp_put put = { .bytes = bytes, .size = sizeof(bytes) };
	struct wp_ledger_run *run = life->run;
	int64_t exposures[WP_EXPOSURES];
	char id[2 * WP_RUN_ID_BYTES + 1];
	const char *problem;

	if (run->is_stopped || run->is_cut || !run->start.cycle)
		return;
	wp_life_journal(witness, life);
	wp_life_exposures(life, exposures);
	wp_entry_cut(&put, run->manifest.run, exposures, was_closed);
	if (wp_ledger_apply(&witness->ledger, bytes, put.used, NULL, &problem))
		wp_journal_add(&witness->journal, bytes, put.used);
	wp_witness_log(witness, "note",
		"run %s of \"%s\": %s, with %" PRIu64 " records acknowledged, %" PRId64
		" of them in the last second",
		wp_run_id_text(run->manifest.run, id), run->manifest.host,
		was_closed ? "hung up" : "silent", wp_ledger_total(run), exposures[2]);
}
