/* SPDX-License-Identifier: PostgreSQL */
/*
 * The scheduler: every round runs each measure once, in an order shuffled anew from the run's
 * seed, so that drift and neighbours hit all alike. A round is
 *
 *   for each measure: flush counters, block, flush counters; write the target back; idle window
 *
 * and between the rounds' ends the rest of the machine is looked at. What is dropped in the end is
 * whole rounds, never single blocks: dropping the slow blocks of one target would favour it.
 */
#include "probe/kept.h"
#include "probe/quiesce.h"
#include "walprobe/mem.h"
#include "walprobe/random.h"
#include "walprobe/stop.h"

#include <math.h>

#define QUIESCE_LIMIT_NS (2 * WP_NS_PER_S)
#define IDLE_WINDOW_NS (20 * WP_NS_PER_MS)

struct scheduler {
	struct wp_run *run;
	struct wp_measures *measures;
	struct wp_random random;
	struct wp_hist scratch;
	struct wp_kept_round round;
	struct wp_suspects suspects;
	struct wp_quiesce *quiesces; /* one per target */
	bool *is_late_told;          /* beside quiesces */
	size_t target_count;
	const char **disks; /* leaf devices of all targets, borrowed */
	size_t disk_count;
	/* of the round under way */
	struct wp_noise_disk busy;
	int64_t busy_ns;
	struct wp_noise_disk idle;
	int64_t idle_ns;
	/* rounds in which a guard was exceeded */
	size_t disturbed_count;
	double worst_score;
	char worst_reason[96];
	/* progress */
	int64_t started_ns;
	int64_t planned_ns;
	int64_t planned_done_ns;
};

static int64_t block_ns(const struct wp_run *run, bool is_warmup)
{
	return is_warmup ? run->warmup_ns : run->time_ns;
}

int64_t wp_rounds_expected_ns(const struct wp_run *run, const struct wp_measures *measures)
{
	int64_t warmup_ns = run->warmup_ns ? run->warmup_ns + IDLE_WINDOW_NS : 0;
	int64_t each_ns = warmup_ns + run->rounds * (run->time_ns + IDLE_WINDOW_NS);
	int64_t count = 0;

	for (size_t i = 0; i < measures->count; i++)
		count += measures->items[i]->absent ? 0 : 1;
	return count * each_ns;
}

static void add_target(struct scheduler *s, const struct wp_target *target)
{
	for (size_t i = 0; i < s->target_count; i++)
		if (s->quiesces[i].target == target)
			return;
	wp_quiesce_init(&s->quiesces[s->target_count++], s->run->os, target);
}

static void add_disk(struct scheduler *s, const char *name)
{
	for (size_t i = 0; i < s->disk_count; i++)
		if (strcmp(s->disks[i], name) == 0)
			return;
	s->disks = wp_xreallocarray(s->disks, s->disk_count + 1, sizeof(*s->disks));
	s->disks[s->disk_count++] = name;
}

/* Only disks with nothing below them: what lies above holds nobody else's requests but ours. */
static void add_disks_of(struct scheduler *s, const struct wp_stack *stack)
{
	for (size_t i = 0; i < stack->layer_count; i++)
		if (stack->layers[i].is_leaf && stack->layers[i].below_count == 0)
			add_disk(s, stack->layers[i].name);
}

static void prepare_measure(struct wp_measure *measure, size_t rounds)
{
	wp_hist_release(&measure->hist);
	wp_hist_init(&measure->hist);
	measure->values = wp_xcalloc(rounds, sizeof(*measure->values));
	measure->raw_values = wp_xcalloc(rounds, sizeof(*measure->raw_values));
	for (size_t i = 0; i < rounds; i++)
		measure->values[i] = measure->raw_values[i] = (double)NAN;
}

static void start(struct scheduler *s, struct wp_run *run, struct wp_measures *measures)
{
	memset(s, 0, sizeof(*s));
	s->run = run;
	s->measures = measures;
	wp_random_init(&s->random, run->seed);
	wp_hist_init(&s->scratch);
	wp_suspects_init(&s->suspects, (size_t)run->rounds);
	s->quiesces = wp_xcalloc(measures->count, sizeof(*s->quiesces));
	s->is_late_told = wp_xcalloc(measures->count, sizeof(*s->is_late_told));
	measures->rounds = wp_xcalloc((size_t)run->rounds, sizeof(*measures->rounds));
	for (size_t i = 0; i < measures->count; i++) {
		struct wp_measure *measure = measures->items[i];

		prepare_measure(measure, (size_t)run->rounds);
		if (measure->absent)
			continue;
		add_target(s, measure->target);
		add_disks_of(s, &measure->target->stack);
	}
	s->planned_ns = wp_rounds_expected_ns(run, measures);
	s->started_ns = wp_os_now_ns(run->os);
}

static void finish(struct scheduler *s)
{
	for (size_t i = 0; i < s->target_count; i++)
		wp_quiesce_release(&s->quiesces[i]);
	free(s->quiesces);
	free(s->is_late_told);
	free(s->disks);
	wp_suspects_release(&s->suspects);
	wp_kept_release(&s->round);
	wp_hist_release(&s->scratch);
}

static bool is_running(const struct wp_measure *measure)
{
	return !measure->absent && !measure->is_over;
}

static bool has_round(const struct wp_measure *measure)
{
	for (int64_t i = 0; i < measure->round_count; i++)
		if (isfinite(measure->values[i]))
			return true;
	return false;
}

/* Nothing of this measure counts any more; its raw rounds stay. */
static void withdraw(struct wp_measure *measure)
{
	for (int64_t i = 0; i < measure->round_count; i++)
		measure->values[i] = (double)NAN;
}

static void fail_target(struct scheduler *s, const struct wp_target *target,
	struct wp_measure *failed, struct wp_err *err)
{
	char name[160] = "writing back";

	if (failed) {
		(void)wp_measure_describe(failed, name, sizeof(name));
		wp_measure_set_absent(failed, "%s", err->message);
		withdraw(failed);
	}
	for (size_t i = 0; i < s->measures->count; i++) {
		struct wp_measure *measure = s->measures->items[i];

		if (measure->target != target || !is_running(measure))
			continue;
		measure->is_over = measure->keeps_rounds && has_round(measure);
		if (measure->is_over) {
			s->run->result->is_complete = false;
			continue;
		}
		wp_measure_set_absent(measure, "%s failed: %s", name, err->message);
		withdraw(measure);
	}
	wp_err_prefix(err, "target \"%s\": ", target->label);
	wp_run_problem(s->run, err);
}

/* The plan is stretched by what the part done so far took. */
static void show_progress(
	const struct scheduler *s, const struct wp_measure *measure, const char *stage)
{
	char label[224];
	int64_t done_ns = wp_os_now_ns(s->run->os) - s->started_ns;
	int64_t total_ns = s->planned_ns;
	size_t used;

	if (!s->run->progress)
		return;
	if (s->planned_done_ns > 0)
		total_ns = (int64_t)((double)done_ns * (double)s->planned_ns /
				     (double)s->planned_done_ns);
	used = strlen(wp_measure_describe(measure, label, sizeof(label) - 64));
	(void)snprintf(label + used, sizeof(label) - used, ", %s", stage);
	s->run->progress(s->run->ctx, label, done_ns, total_ns > done_ns ? total_ns : done_ns);
}

static void read_disks(const struct scheduler *s, struct wp_noise_disk *out)
{
	wp_noise_read_disks(s->run->os, s->disks, s->disk_count, out);
}

/* What the disks do while nothing of ours is under way. */
static void watch_idle(struct scheduler *s)
{
	struct wp_noise_disk before;
	struct wp_noise_disk after;
	int64_t begun_ns;

	if (s->disk_count == 0)
		return;
	begun_ns = wp_os_now_ns(s->run->os);
	read_disks(s, &before);
	(void)wp_os_sleep_ns(s->run->os, IDLE_WINDOW_NS); /* cut by a signal: a shorter window */
	read_disks(s, &after);
	s->idle_ns += wp_os_now_ns(s->run->os) - begun_ns;
	wp_noise_disk_add(&s->idle, &before, &after);
}

/* Leaves the target, and with it the machine, without writes of ours under way. */
static void quiesce(struct scheduler *s, const struct wp_target *target)
{
	struct wp_err err;
	size_t i = 0;
	int rc;

	while (s->quiesces[i].target != target)
		i++;
	rc = wp_quiesce_wait(&s->quiesces[i], QUIESCE_LIMIT_NS, &err);
	if (rc < 0) {
		fail_target(s, target, NULL, &err);
	} else if (rc > 0 && !s->is_late_told[i]) {
		s->is_late_told[i] = true;
		wp_run_tell(s->run, "note",
			"target \"%s\": write-back between measurements takes longer than 2 s, so "
			"it may slow what is measured next",
			target->label);
	}
}

/* A read before and after a block; the difference goes into kept. */
static void count_flushes(struct wp_kept_block *kept, const struct wp_flush_counts *before,
	const struct wp_flush_counts *after)
{
	if (!before->is_known)
		kept->flushes_unknown = before->unknown_reason;
	else if (!after->is_known)
		kept->flushes_unknown = after->unknown_reason;
	else
		kept->flushes = after->flushes - before->flushes;
}

static void read_flushes(
	const struct scheduler *s, const struct wp_measure *measure, struct wp_flush_counts *out)
{
	memset(out, 0, sizeof(*out));
	wp_flush_read(s->run->os, NULL, &measure->target->stack, out);
	if (!out->is_known && !out->unknown_reason)
		out->unknown_reason = "flushes cannot be counted here";
}

/* One measured block; its figures go into the round that is being kept. */
static int run_block(
	struct scheduler *s, struct wp_measure *measure, size_t round, struct wp_err *err)
{
	struct wp_flush_counts flushes_before;
	struct wp_flush_counts flushes_after;
	struct wp_noise_disk disks_before;
	struct wp_noise_disk disks_after;
	struct wp_block block = { .value = (double)NAN };
	int64_t begun_ns;
	int rc;

	wp_hist_clear(&s->scratch);
	read_disks(s, &disks_before);
	read_flushes(s, measure, &flushes_before);
	begun_ns = wp_os_now_ns(s->run->os);
	rc = measure->run(measure, s->run->time_ns, &s->scratch, &block, err);
	s->busy_ns += wp_os_now_ns(s->run->os) - begun_ns;
	read_flushes(s, measure, &flushes_after);
	read_disks(s, &disks_after);
	wp_noise_disk_add(&s->busy, &disks_before, &disks_after);
	if (rc)
		return rc;
	measure->values[round] = measure->raw_values[round] = block.value;
	count_flushes(wp_kept_add(&s->round, measure, &block, &s->scratch), &flushes_before,
		&flushes_after);
	return 0;
}

static int warm_up_block(struct scheduler *s, struct wp_measure *measure, struct wp_err *err)
{
	struct wp_block block = { .value = (double)NAN };

	wp_hist_clear(&s->scratch);
	return measure->run(measure, s->run->warmup_ns, &s->scratch, &block, err);
}

/*
 * One measure's turn, round -1 for the warm-up. Only a signal is an error here: a failure is told
 * and leaves the others alone.
 */
static int take_turn(
	struct scheduler *s, struct wp_measure *measure, int64_t round, struct wp_err *err)
{
	char stage[64] = "warm-up";
	struct wp_err block_err;
	int rc = wp_stop_fail(err);

	if (rc)
		return rc;
	if (round >= 0)
		(void)snprintf(stage, sizeof(stage), "round %" PRId64 " of %" PRId64, round + 1,
			s->run->rounds);
	show_progress(s, measure, stage);
	memset(&block_err, 0, sizeof(block_err));
	rc = round < 0 ? warm_up_block(s, measure, &block_err)
		       : run_block(s, measure, (size_t)round, &block_err);
	s->planned_done_ns += block_ns(s->run, round < 0) + IDLE_WINDOW_NS;
	if (rc == -WP_E_STOPPED) {
		if (err)
			*err = block_err;
		return rc;
	}
	if (rc == -WP_E_UNSUPPORTED) {
		wp_measure_set_absent(measure, "%s", block_err.message);
		withdraw(measure);
	} else if (rc) {
		fail_target(s, measure->target, measure, &block_err);
	}
	if (rc == 0 || rc == -WP_E_UNSUPPORTED)
		quiesce(s, measure->target);
	watch_idle(s);
	return 0;
}

static int warm_up(struct scheduler *s, struct wp_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < s->target_count; i++)
		quiesce(s, s->quiesces[i].target); /* what was written to set up */
	for (size_t i = 0; !rc && s->run->warmup_ns > 0 && i < s->measures->count; i++)
		if (is_running(s->measures->items[i]))
			rc = take_turn(s, s->measures->items[i], -1, err);
	return rc;
}

static size_t shuffled_order(struct scheduler *s, size_t *order)
{
	size_t count = 0;

	for (size_t i = 0; i < s->measures->count; i++)
		if (is_running(s->measures->items[i]))
			order[count++] = i;
	wp_random_shuffle(&s->random, order, count);
	return count;
}

static void begin_round(struct scheduler *s, size_t index)
{
	s->measures->round_count = index + 1;
	for (size_t i = 0; i < s->measures->count; i++)
		if (is_running(s->measures->items[i]))
			s->measures->items[i]->round_count = (int64_t)index + 1;
	s->busy = s->idle = (struct wp_noise_disk){ .is_known = true };
	s->busy_ns = s->idle_ns = 0;
	s->round.index = index;
}

static void end_round(struct scheduler *s, const struct wp_noise_snapshot *before)
{
	struct wp_noise *noise = &s->measures->rounds[s->round.index].noise;
	struct wp_noise_snapshot after;

	wp_noise_read(s->run->os, &after);
	*noise = wp_noise_between(before, &after);
	noise->foreign_io = wp_noise_foreign_io(&s->busy, s->busy_ns, &s->idle, s->idle_ns);
	s->round.score = wp_noise_score(noise, s->round.reason, sizeof(s->round.reason));
	if (s->round.score > 1)
		s->disturbed_count++;
	if (s->round.score > s->worst_score) {
		s->worst_score = s->round.score;
		memcpy(s->worst_reason, s->round.reason, sizeof(s->worst_reason));
	}
	wp_suspects_take(&s->suspects, &s->round);
}

/* Returns 1 when no measure is left. */
static int run_round(struct scheduler *s, size_t index, struct wp_err *err)
{
	size_t *order = wp_xcalloc(s->measures->count, sizeof(*order));
	size_t count = shuffled_order(s, order);
	struct wp_noise_snapshot before;
	int rc = 0;

	if (count > 0) {
		begin_round(s, index);
		wp_noise_read(s->run->os, &before);
		for (size_t i = 0; !rc && i < count; i++)
			if (is_running(s->measures->items[order[i]]))
				rc = take_turn(
					s, s->measures->items[order[i]], (int64_t)index, err);
		end_round(s, &before);
	}
	free(order);
	return count > 0 ? rc : 1;
}

static void drop(struct scheduler *s, const struct wp_kept_round *round)
{
	s->measures->rounds[round->index].dropped = wp_xstrdup(round->reason);
	for (size_t i = 0; i < s->measures->count; i++)
		if ((size_t)s->measures->items[i]->round_count > round->index)
			s->measures->items[i]->values[round->index] = (double)NAN;
	wp_run_tell(
		s->run, "detail", "round %zu does not count: %s", round->index + 1, round->reason);
}

static void drop_the_worst(struct scheduler *s)
{
	/* Fewer rounds than planned, after a signal, allow fewer to be dropped. */
	wp_suspects_settle(&s->suspects, wp_suspects_limit(s->measures->round_count));
	for (size_t i = 0; i < s->suspects.count; i++)
		drop(s, &s->suspects.rounds[i]);
	if (s->disturbed_count > s->suspects.count)
		wp_run_tell(s->run, "warning",
			"this machine was busy in %zu of %zu rounds (worst: %s); %zu of them do "
			"not "
			"count, the others do",
			s->disturbed_count, s->measures->round_count, s->worst_reason,
			s->suspects.count);
}

int wp_rounds_run(struct wp_run *run, struct wp_measures *measures, struct wp_err *err)
{
	struct scheduler s;
	int rc;

	start(&s, run, measures);
	rc = warm_up(&s, err);
	for (int64_t i = 0; !rc && i < run->rounds; i++)
		rc = run_round(&s, (size_t)i, err);
	drop_the_worst(&s);
	finish(&s);
	if (rc < 0)
		run->result->is_complete = false;
	return rc < 0 ? rc : 0;
}
