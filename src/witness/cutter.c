/* SPDX-License-Identifier: PostgreSQL */
/*
 * Cuts that the witness makes by itself: a state that goes on with every turn of the server. The
 * journal is flushed every 100 ms and the power stays off for seconds, so that what was
 * acknowledged is on the witness's disk long before the target is back to ask for it.
 */
#include "walprobe/classify.h"
#include "walprobe/proc.h"
#include "witness/server.h"

#define COMMAND_NS (120 * WP_NS_PER_S)
#define LEAST_DELAY_PART 12

static void run_command(void *argument)
{
	struct wp_cutter *cutter = argument;
	const char *const argv[] = { "sh", "-c", cutter->command, NULL };
	const struct wp_proc_options options = { .limit_ns = COMMAND_NS, .ignores_stop = true };
	struct wp_proc_output output = { 0 };

	memset(&cutter->err, 0, sizeof(cutter->err));
	if (wp_proc_run(cutter->os, argv, &options, &output, &cutter->err) == 0) {
		(void)wp_proc_check(cutter->command, &output, &cutter->err); /* err tells it */
		wp_proc_output_release(&output);
	}
	atomic_store(&cutter->is_done, true);
}

static void start_command(struct wp_cutter *cutter, const char *command, enum wp_cutter_state state)
{
	cutter->command = command;
	cutter->state = state;
	atomic_store(&cutter->is_done, false);
	if (wp_thread_start(&cutter->thread, run_command, cutter, 0, &cutter->err) != 0)
		atomic_store(&cutter->is_done, true);
}

static bool is_of_host(const struct wp_life *life, const struct wp_cut_plan *plan)
{
	return life->speaker && strcmp(life->run->manifest.host, plan->host) == 0;
}

/* Each writer has something at stake, and all of them are at work. */
static bool is_at_work(const struct wp_life *life, int64_t now_ns)
{
	const struct wp_ledger_run *run = life->run;
	int64_t exposures[WP_EXPOSURES];

	if (!run->start.cycle || run->start.cycle <= life->cut_cycle || run->is_stopped ||
		run->failed_errno || now_ns - life->progress_ns > WP_NS_PER_S)
		return false;
	for (size_t i = 0; i < run->manifest.writers; i++)
		if (run->acked[i] <= run->start.bases[i])
			return false;
	wp_life_exposures(life, exposures);
	return exposures[2] >= WP_EFFECTIVE_RECORDS;
}

static bool is_host_at_work(const struct wp_witness *witness, int64_t now_ns)
{
	bool is_any = false;

	for (size_t i = 0; i < witness->life_count; i++) {
		const struct wp_life *life = witness->lives[i];

		if (!is_of_host(life, witness->cutter.plan))
			continue;
		if (!is_at_work(life, now_ns))
			return false;
		is_any = true;
	}
	return is_any;
}

static void choose_moment(struct wp_witness *witness, int64_t now_ns)
{
	struct wp_cutter *cutter = &witness->cutter;
	int64_t least_ns = cutter->plan->delay_ns / LEAST_DELAY_PART;
	uint64_t random;

	if (!is_host_at_work(witness, now_ns))
		return;
	wp_secret_fill(&random, sizeof(random));
	cutter->until_ns = now_ns + least_ns +
			   (int64_t)(random % (uint64_t)(cutter->plan->delay_ns - least_ns + 1));
	cutter->state = WP_CUTTER_DUE;
	wp_witness_log(witness, "note",
		"the power of \"%s\" will be cut in %.1f s (cut %" PRId64 " of %" PRId64 ")",
		cutter->plan->host, (double)(cutter->until_ns - now_ns) / 1e9, cutter->cycles + 1,
		cutter->plan->cycles);
}

static void cut(struct wp_witness *witness)
{
	struct wp_cutter *cutter = &witness->cutter;

	for (size_t i = 0; i < witness->life_count; i++)
		if (is_of_host(witness->lives[i], cutter->plan))
			witness->lives[i]->cut_cycle = witness->lives[i]->run->start.cycle;
	wp_witness_log(witness, "note", "cutting the power of \"%s\"", cutter->plan->host);
	start_command(cutter, cutter->plan->cut_command, WP_CUTTER_CUTTING);
}

/* True when the command has ended. */
static bool has_ended(struct wp_witness *witness)
{
	struct wp_cutter *cutter = &witness->cutter;

	if (!atomic_load(&cutter->is_done))
		return false;
	wp_thread_join(&cutter->thread);
	memset(&cutter->thread, 0, sizeof(cutter->thread));
	if (!cutter->err.code)
		return true;
	cutter->has_failed = true;
	wp_witness_log(witness, "warning", "%s%s%s; there will be no more cuts",
		cutter->err.message, cutter->err.detail[0] ? ": " : "", cutter->err.detail);
	return true;
}

/* The cut is over; is there to be another one? */
static void end_cycle(struct wp_witness *witness)
{
	struct wp_cutter *cutter = &witness->cutter;

	cutter->cycles++;
	cutter->state = WP_CUTTER_WAITING;
	if (!cutter->has_failed && cutter->cycles < cutter->plan->cycles)
		return;
	cutter->state = WP_CUTTER_ENDED;
	wp_witness_log(witness, "note", "%" PRId64 " of %" PRId64 " cuts are done", cutter->cycles,
		cutter->plan->cycles);
}

static void warn_alive(struct wp_witness *witness)
{
	const struct wp_cut_plan *plan = witness->cutter.plan;

	for (size_t i = 0; i < witness->life_count; i++)
		if (is_of_host(witness->lives[i], plan) && !witness->lives[i]->run->is_cut)
			wp_witness_log(witness, "warning",
				"\"%s\" still speaks: the command did not cut its power",
				plan->host);
}

static void turn_on(struct wp_witness *witness)
{
	wp_witness_log(witness, "note", "putting the power of \"%s\" on again",
		witness->cutter.plan->host);
	start_command(&witness->cutter, witness->cutter.plan->on_command, WP_CUTTER_TURNING_ON);
}

void wp_cutter_step(struct wp_witness *witness)
{
	struct wp_cutter *cutter = &witness->cutter;
	int64_t now_ns;

	if (!cutter->plan)
		return;
	now_ns = wp_os_now_ns(cutter->os);
	switch (cutter->state) {
	case WP_CUTTER_WAITING:
		choose_moment(witness, now_ns);
		break;
	case WP_CUTTER_DUE:
		if (!is_host_at_work(witness, now_ns))
			cutter->state = WP_CUTTER_WAITING;
		else if (now_ns >= cutter->until_ns)
			cut(witness);
		break;
	case WP_CUTTER_CUTTING:
		if (!has_ended(witness))
			break;
		cutter->until_ns = now_ns + cutter->plan->off_ns;
		cutter->state = WP_CUTTER_OFF;
		break;
	case WP_CUTTER_OFF:
		if (now_ns < cutter->until_ns)
			break;
		warn_alive(witness);
		turn_on(witness);
		break;
	case WP_CUTTER_TURNING_ON:
		if (has_ended(witness))
			end_cycle(witness);
		break;
	case WP_CUTTER_ENDED:
		break;
	}
}

void wp_cutter_end(struct wp_witness *witness)
{
	struct wp_cutter *cutter = &witness->cutter;

	if (!cutter->plan)
		return;
	wp_thread_join(&cutter->thread);
	memset(&cutter->thread, 0, sizeof(cutter->thread));
	if (cutter->state != WP_CUTTER_CUTTING && cutter->state != WP_CUTTER_OFF)
		return;
	/* Whoever ends the witness must not be left with a host that is off. */
	turn_on(witness);
	wp_thread_join(&cutter->thread);
	(void)has_ended(witness); /* it only tells */
}
