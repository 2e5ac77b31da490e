/* SPDX-License-Identifier: PostgreSQL */
#include "witness/classify.h"
#include "walprobe/mem.h"

struct wp_classifier *wp_classify_new(const struct wp_ledger_run *run, struct wp_payload *payload)
{
	struct wp_classifier *c = wp_xcalloc(1, sizeof(*c));

	c->run = run;
	c->payload = payload;
	c->slots = wp_xcalloc(run->segment_count, sizeof(*c->slots));
	for (size_t i = 0; i < run->segment_count; i++) {
		const struct wp_ledger_segment *segment = &run->segments[i];
		struct slots *slots = &c->slots[i];

		slots->is_create = segment->writer != WP_WRITER_COLD &&
				   run->manifest.workloads[segment->writer] == WP_WORKLOAD_CREATE;
		slots->fates = wp_xcalloc(segment->slots, 1);
		slots->has_file = wp_xcalloc(slots->is_create ? segment->slots : 1, sizeof(bool));
	}
	return c;
}

void wp_classify_free(struct wp_classifier *c)
{
	if (!c)
		return;
	for (size_t i = 0; i < c->run->segment_count; i++) {
		free(c->slots[i].fates);
		free(c->slots[i].has_file);
	}
	free(c->slots);
	free(c->strays);
	free(c);
}

void wp_classify_expected(const struct wp_manifest *manifest,
	const struct wp_ledger_segment *segment, uint32_t slot, struct wp_stamp *out)
{
	memset(out, 0, sizeof(*out));
	out->sectors = (uint8_t)(manifest->page_bytes / WP_SECTOR_BYTES);
	out->kind = segment->writer == WP_WRITER_COLD ? WP_RECORD_COLD : WP_RECORD_DATA;
	out->run = wp_run_id_number(manifest->run);
	out->writer = segment->writer;
	out->cycle = segment->cycle;
	out->segno = segment->segno;
	out->seq = segment->first_seq + slot;
	out->position = (uint64_t)slot * manifest->page_bytes;
	out->physical = segment->physical;
	out->generation = segment->generation;
}

void wp_classify_found(struct wp_classifier *c, size_t segment, uint32_t slot)
{
	assert(segment < c->run->segment_count && slot < c->run->segments[segment].slots);
	c->slots[segment].has_file[c->slots[segment].is_create ? slot : 0] = true;
}

/* The live record that a sector found elsewhere claims to be; false for one that is gone. */
static bool find_home(
	const struct wp_classifier *c, const struct wp_stamp *found, struct stray *home)
{
	if (found->kind != WP_RECORD_DATA && found->kind != WP_RECORD_COLD)
		return false;
	for (size_t i = 0; i < c->run->segment_count; i++) {
		const struct wp_ledger_segment *segment = &c->run->segments[i];

		if (segment->writer != found->writer || segment->segno != found->segno ||
			segment->physical != found->physical ||
			segment->generation != found->generation ||
			found->seq < segment->first_seq ||
			found->seq - segment->first_seq >= segment->slots)
			continue;
		home->segment = (uint32_t)i;
		home->slot = (uint32_t)(found->seq - segment->first_seq);
		return true;
	}
	return false;
}

static void add_stray(struct wp_classifier *c, const struct stray *stray)
{
	if (c->stray_count) {
		const struct stray *last = &c->strays[c->stray_count - 1];

		/* The sectors of one page come one after the other. */
		if (last->segment == stray->segment && last->slot == stray->slot)
			return;
	}
	if (c->stray_count == STRAYS_MAXIMUM)
		return;
	if ((c->stray_count & (c->stray_count - 1)) == 0)
		c->strays = wp_xreallocarray(
			c->strays, c->stray_count ? 2 * c->stray_count : 16, sizeof(*c->strays));
	c->strays[c->stray_count++] = *stray;
}

/* sectors of one page by what they are */
struct tally {
	size_t expected;
	size_t stray;
	size_t old; /* stale, of another run, of something that is gone */
	size_t blank;
	size_t damaged;
	size_t unreadable;
};

static enum fate fate_of(const struct tally *tally, size_t sectors)
{
	if (tally->expected == sectors)
		return FATE_WHOLE;
	if (tally->stray)
		return FATE_MISDIRECTED;
	if (tally->unreadable)
		return FATE_UNREADABLE;
	if (tally->damaged)
		return FATE_FLIPPED;
	if (tally->expected)
		return FATE_TORN;
	return tally->old ? FATE_STALE : FATE_LOST;
}

static void tally_sector(struct wp_classifier *c, struct wp_stamp *expected, const uint8_t *sector,
	struct tally *tally, uint64_t *horizon)
{
	struct wp_stamp found;
	struct stray home;
	unsigned bits;

	switch (wp_record_compare(c->payload, expected, sector, &found, &bits)) {
	case WP_SECTOR_EXPECTED:
		tally->expected++;
		*horizon = found.horizon;
		break;
	case WP_SECTOR_FOREIGN:
		if (find_home(c, &found, &home)) {
			add_stray(c, &home);
			tally->stray++;
		} else {
			tally->old++;
		}
		break;
	case WP_SECTOR_STALE:
	case WP_SECTOR_OTHER_RUN:
		tally->old++;
		break;
	case WP_SECTOR_ZERO:
	case WP_SECTOR_PREFILL:
		tally->blank++;
		break;
	default:
		tally->damaged++;
		break;
	}
}

static void note_survivor(struct wp_classifier *c, const struct wp_stamp *stamp, uint64_t horizon)
{
	uint16_t cited = wp_horizon_writer(horizon);

	if (stamp->writer == WP_WRITER_COLD)
		return;
	if (stamp->seq > c->survivor[stamp->writer])
		c->survivor[stamp->writer] = stamp->seq;
	if (cited < c->run->manifest.writers && wp_horizon_seq(horizon) > c->cited[cited])
		c->cited[cited] = wp_horizon_seq(horizon);
}

void wp_classify_page(struct wp_classifier *c, size_t segment, uint32_t slot, const uint8_t *page,
	const bool *unreadable)
{
	size_t sectors = c->run->manifest.page_bytes / WP_SECTOR_BYTES;
	struct tally tally = { 0 };
	struct wp_stamp expected;
	uint64_t horizon = 0;
	enum fate fate;

	assert(segment < c->run->segment_count && slot < c->run->segments[segment].slots);
	wp_classify_expected(&c->run->manifest, &c->run->segments[segment], slot, &expected);
	for (size_t i = 0; i < sectors; i++) {
		expected.sector = (uint8_t)i;
		if (unreadable && unreadable[i])
			tally.unreadable++;
		else
			tally_sector(c, &expected, page + i * WP_SECTOR_BYTES, &tally, &horizon);
	}
	fate = fate_of(&tally, sectors);
	c->slots[segment].fates[slot] = (uint8_t)fate;
	if (fate == FATE_WHOLE)
		note_survivor(c, &expected, horizon);
}
