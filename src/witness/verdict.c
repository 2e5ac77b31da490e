/* SPDX-License-Identifier: PostgreSQL */
/*
 * Counting fates, and saying what they mean.
 */
#include "witness/classify.h"

#include <math.h>

/* The first record that one sync made durable together with this one. */
static uint64_t first_of_batch(const struct wp_classifier *c, uint16_t writer, uint64_t seq)
{
	uint64_t base = c->run->start.bases[writer];

	return seq > base ? seq - (seq - base - 1) % c->run->manifest.batch : seq;
}

/* Acknowledged to the witness, and what survivors prove to have been acknowledged as well. */
static uint64_t proved_seq(const struct wp_classifier *c, uint16_t writer)
{
	uint64_t seq = c->run->acked[writer];
	uint64_t first = first_of_batch(c, writer, c->survivor[writer]);

	if (first > seq + 1)
		seq = first - 1;
	return c->cited[writer] > seq ? c->cited[writer] : seq;
}

static void bring_strays_home(struct wp_classifier *c)
{
	for (size_t i = 0; i < c->stray_count; i++) {
		uint8_t *fate = &c->slots[c->strays[i].segment].fates[c->strays[i].slot];

		/* Its own place keeps what was there before: that is how it was missed. */
		if (*fate != FATE_WHOLE)
			*fate = FATE_MISDIRECTED;
	}
}

static bool is_hole(const struct wp_classifier *c, uint16_t writer, uint64_t seq)
{
	return seq < first_of_batch(c, writer, c->survivor[writer]) || seq <= c->cited[writer];
}

static void note_age(
	const struct wp_classifier *c, struct wp_judgement *out, uint16_t writer, uint64_t seq)
{
	int64_t age_ns = wp_ledger_age_ns(c->run, writer, seq);

	out->age_ns = age_ns > out->age_ns ? age_ns : out->age_ns;
}

static void note_lost(
	struct wp_classifier *c, struct wp_judgement *out, uint16_t writer, uint64_t seq)
{
	out->counts.lost++;
	if (is_hole(c, writer, seq))
		out->counts.reordered++;
	if (!out->first_lost) {
		out->first_writer = writer;
		out->first_lost = seq;
		out->last_lost = seq;
	}
	if (writer == out->first_writer) {
		out->first_lost = seq < out->first_lost ? seq : out->first_lost;
		out->last_lost = seq > out->last_lost ? seq : out->last_lost;
	}
	if (seq == c->run->acked[writer])
		c->has_tail_lost[writer] = true;
}

static bool has_file(const struct slots *slots, uint32_t slot)
{
	return slots->has_file[slots->is_create ? slot : 0];
}

static void count_record(
	struct wp_classifier *c, struct wp_judgement *out, size_t index, uint32_t slot)
{
	const struct wp_ledger_segment *segment = &c->run->segments[index];
	struct wp_fault_counts *counts = &out->counts;
	uint64_t seq = segment->first_seq + slot;

	counts->judged++;
	if (c->slots[index].fates[slot] != FATE_WHOLE)
		note_age(c, out, segment->writer, seq);
	switch ((enum fate)c->slots[index].fates[slot]) {
	case FATE_WHOLE:
		return;
	case FATE_UNSEEN:
		if (has_file(&c->slots[index], slot))
			counts->shortened++;
		else if (c->slots[index].is_create)
			counts->missing_names++;
		break;
	case FATE_STALE:
		counts->stale++;
		break;
	case FATE_LOST:
		break;
	case FATE_TORN:
		counts->torn++;
		return;
	case FATE_FLIPPED:
		counts->flipped++;
		return;
	case FATE_MISDIRECTED:
		counts->misdirected++;
		return;
	case FATE_UNREADABLE:
		counts->unreadable++;
		return;
	}
	note_lost(c, out, segment->writer, seq);
}

static void count_segment(struct wp_classifier *c, struct wp_judgement *out, size_t index)
{
	const struct wp_ledger_segment *segment = &c->run->segments[index];
	const struct slots *slots = &c->slots[index];
	uint64_t proved = proved_seq(c, segment->writer);
	uint64_t acked = c->run->acked[segment->writer];

	if (!slots->is_create && !slots->has_file[0])
		out->counts.missing_names++;
	for (uint32_t slot = 0; slot < segment->slots; slot++) {
		uint64_t seq = segment->first_seq + slot;
		bool is_whole = slots->fates[slot] == FATE_WHOLE;

		if (seq <= acked || (seq <= proved && !is_whole))
			count_record(c, out, index, slot);
		else if (is_whole)
			out->counts.in_flight++;
	}
}

static void count_cold(struct wp_classifier *c, struct wp_judgement *out, size_t index)
{
	const struct wp_ledger_segment *segment = &c->run->segments[index];

	if (!c->slots[index].has_file[0])
		out->counts.missing_names++;
	for (uint32_t slot = 0; slot < segment->slots; slot++)
		if (c->slots[index].fates[slot] == FATE_UNREADABLE)
			out->counts.unreadable++;
		else if (c->slots[index].fates[slot] != FATE_WHOLE)
			out->counts.cold++;
}

static void count_all(struct wp_classifier *c, struct wp_judgement *out)
{
	bring_strays_home(c);
	out->counts.acknowledged = (int64_t)wp_ledger_total(c->run);
	for (size_t i = 0; i < c->run->segment_count; i++) {
		if (c->run->segments[i].writer == WP_WRITER_COLD)
			count_cold(c, out, i);
		else
			count_segment(c, out, i);
	}
	/* Their own places and those that they hit may be of no record that counts. */
	if (out->counts.misdirected == 0)
		out->counts.misdirected = (int64_t)c->stray_count;
}

/* All writers lost their ends together, and nothing later survived: F9. */
static bool is_rollback(const struct wp_classifier *c, const struct wp_judgement *out)
{
	if (!out->counts.lost || out->counts.reordered || c->run->manifest.writers < 2)
		return false;
	for (size_t i = 0; i < c->run->manifest.writers; i++)
		if (c->run->acked[i] > c->run->start.bases[i] && !c->has_tail_lost[i])
			return false;
	return true;
}

static void add_kind(struct wp_judgement *out, bool is_found, const char *name)
{
	size_t used = strlen(out->kinds);

	if (is_found)
		(void)snprintf(out->kinds + used, sizeof(out->kinds) - used, "%s%s",
			used ? ", " : "", name);
}

static void name_kinds(
	const struct wp_classifier *c, const struct wp_cut_facts *facts, struct wp_judgement *out)
{
	const struct wp_fault_counts *n = &out->counts;

	add_kind(out, !facts->is_mounted, "file system cannot be mounted");
	add_kind(out, facts->is_mounted && !facts->has_directory, "directory missing");
	add_kind(out, facts->has_directory && !facts->has_marker && c->run->has_marker,
		"marker file missing");
	add_kind(out, n->missing_names > 0, "missing names");
	add_kind(out, n->lost > n->reordered, "lost");
	add_kind(out, n->reordered > 0, "reordered");
	add_kind(out, n->shortened > 0, "shortened files");
	add_kind(out, n->stale > 0, "stale content");
	add_kind(out, n->torn > 0, "torn");
	add_kind(out, n->flipped > 0, "flipped bits");
	add_kind(out, n->misdirected > 0, "misdirected");
	add_kind(out, n->unreadable > 0, "unreadable");
	add_kind(out, n->cold > 0, "damage to cold data");
	add_kind(out, is_rollback(c, out), "whole rollback");
}

/*
 * What the block layer and file systems say of a device that is gone. EINVAL is among it: Linux 6.18
 * hands it up from a loop device whose file, of a FUSE server that died, refuses the write; a record
 * that was acknowledged has to be there whatever ended the writers.
 */
static bool is_lost_device(int sys_errno)
{
	static const int codes[] = { EIO, EROFS, ENXIO, ENODEV, EINVAL, ENOLINK, EREMOTEIO,
		ETIMEDOUT, ENODATA, ENOTCONN, ESHUTDOWN };

	for (size_t i = 0; i < WP_COUNT(codes); i++)
		if (codes[i] == sys_errno)
			return true;
	return false;
}

static bool has_moved(int64_t before, int64_t now)
{
	return before >= 0 && now > before;
}

/* Why there was no cut that counts by the rule, or NULL. */
static const char *reason_no_cut(const struct wp_ledger_run *run, const struct wp_cut_facts *facts)
{
	if (!run->start.cycle)
		return "the run has written nothing yet";
	if (facts->is_live)
		return "its writers are still at work: cut the power first";
	if (run->is_stopped)
		return "the writers were stopped in good order, so that no cut hit them";
	if (run->failed_errno && !is_lost_device(run->failed_errno))
		return "the writers ended by themselves before any cut";
	if (facts->rule == WP_CUT_ASSERTED)
		return run->is_cut || run->failed_errno
			       ? NULL
			       : "the witness has not seen the writers fall silent";
	if (strcmp(run->start.boot_id, facts->boot_id) == 0)
		return "the machine was not restarted since (--cut asserted takes your word for "
		       "another kind of cut)";
	if (facts->rule == WP_CUT_BOOT)
		return NULL;
	if ((run->start.power_cycles < 0 || facts->power_cycles < 0) &&
		(run->start.unsafe_shutdowns < 0 || facts->unsafe_shutdowns < 0))
		return "the drive's power counters cannot be read";
	if (!has_moved(run->start.power_cycles, facts->power_cycles) &&
		!has_moved(run->start.unsafe_shutdowns, facts->unsafe_shutdowns))
		return "the drive's power counters did not move: it kept its power";
	return NULL;
}

/* Why absence of loss shows nothing, or NULL. */
static const char *reason_not_shown(
	const struct wp_judgement *out, const struct wp_cut_facts *facts)
{
	if (out->counts.judged == 0)
		return "no acknowledged record could be judged";
	if (facts->was_blind ||
		(out->exposures[2] >= 0 && out->counts.in_flight > out->exposures[2] &&
			out->counts.in_flight > WP_EFFECTIVE_RECORDS))
		return "the witness was blind when the power went: it had not heard of what was "
		       "written last";
	if (out->exposures[2] < 0)
		return "it is not known how much was acknowledged shortly before the cut";
	if (out->exposures[2] < WP_EFFECTIVE_RECORDS)
		return "too few records were acknowledged in the last second before the cut";
	return NULL;
}

static bool has_fault(const struct wp_ledger_run *run, const struct wp_cut_facts *facts,
	const struct wp_fault_counts *n)
{
	return n->lost || n->torn || n->flipped || n->misdirected ||
	       (n->unreadable && !facts->is_hung) || n->cold || n->missing_names ||
	       (run->has_marker && !facts->has_marker);
}

static void cannot_tell(struct wp_judgement *out, const char *reason)
{
	out->verdict = WP_SURVIVAL_CANNOT_TELL;
	(void)snprintf(out->reason, sizeof(out->reason), "%s", reason);
}

/* An earlier cycle in which this run lost something, or 0. */
static uint16_t cycle_of_lie(const struct wp_ledger_run *run)
{
	for (size_t i = 0; i < run->result_count; i++)
		if (run->results[i].verdict == WP_SURVIVAL_LIES &&
			run->results[i].cycle != run->start.cycle)
			return run->results[i].cycle;
	return 0;
}

static void no_loss(const struct wp_ledger_run *run, struct wp_judgement *out)
{
	uint16_t lie = cycle_of_lie(run);

	out->verdict = WP_SURVIVAL_NO_LOSS;
	out->cuts = 1;
	for (size_t i = 0; i < run->result_count; i++)
		if (run->results[i].cycle != run->start.cycle &&
			run->results[i].verdict == WP_SURVIVAL_NO_LOSS)
			out->cuts++;
	if (lie) {
		(void)snprintf(out->reason, sizeof(out->reason),
			"nothing acknowledged was lost in this cut, but something was in cycle %d "
			"of the same run",
			lie);
		return;
	}
	out->p_upper_95 = wp_upper_bound_95(out->cuts);
	(void)snprintf(out->reason, sizeof(out->reason),
		"nothing acknowledged was lost in %" PRId64
		" effective cut%s: the chance of a loss "
		"is at most %.3g %% per cut, at 95 %% confidence",
		out->cuts, out->cuts == 1 ? "" : "s", 100 * out->p_upper_95);
}

static void lies(struct wp_judgement *out)
{
	out->verdict = WP_SURVIVAL_LIES;
	(void)snprintf(out->reason, sizeof(out->reason), "acknowledged data did not survive: %s",
		out->kinds);
}

void wp_classify_judge(
	struct wp_classifier *c, const struct wp_cut_facts *facts, struct wp_judgement *out)
{
	const struct wp_ledger_run *run = c->run;
	const char *reason = reason_no_cut(run, facts);

	memset(out, 0, sizeof(*out));
	out->p_upper_95 = NAN;
	out->age_ns = -1;
	memcpy(out->exposures, run->exposures, sizeof(out->exposures));
	count_all(c, out);
	name_kinds(c, facts, out);
	if (!reason && run->is_damaged)
		reason = "the journal of the witness was damaged";
	if (!reason && !facts->is_mounted && facts->rule != WP_CUT_ASSERTED)
		reason = "the file system that held the run is not mounted there: mount it, or "
			 "assert with --cut asserted that it cannot be mounted any more";
	if (reason) {
		cannot_tell(out, reason);
		return;
	}
	if (has_fault(run, facts, &out->counts)) {
		lies(out);
		return;
	}
	if (facts->is_hung)
		reason = "the device does not answer: a read did not return in the time allowed";
	else
		reason = reason_not_shown(out, facts);
	if (reason)
		cannot_tell(out, reason);
	else
		no_loss(run, out);
}

const char *wp_cut_rule_name(enum wp_cut_rule rule)
{
	static const char *const names[] = { "boot", "device", "asserted" };

	return names[rule];
}

double wp_upper_bound_95(int64_t cuts)
{
	return 1 - pow(0.05, 1 / (double)cuts);
}
