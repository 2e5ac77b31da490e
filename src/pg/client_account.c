/* SPDX-License-Identifier: PostgreSQL */
#include "pg/loop_internal.h"
#include "pg/tx_log.h"

void wp_loop_counts_add(struct wp_loop_counts *into, const struct wp_loop_counts *other)
{
	into->transactions += other->transactions;
	into->skipped += other->skipped;
	into->late += other->late;
	into->serialization_failures += other->serialization_failures;
	into->deadlock_failures += other->deadlock_failures;
	into->retried += other->retried;
	into->retries += other->retries;
	into->latency_sum_ns += other->latency_sum_ns;
	into->lag_sum_ns += other->lag_sum_ns;
	into->latency_square_sum += other->latency_square_sum;
}

void wp_loop_counts_subtract(struct wp_loop_counts *into, const struct wp_loop_counts *other)
{
	into->transactions -= other->transactions;
	into->skipped -= other->skipped;
	into->late -= other->late;
	into->serialization_failures -= other->serialization_failures;
	into->deadlock_failures -= other->deadlock_failures;
	into->retried -= other->retried;
	into->retries -= other->retries;
	into->latency_sum_ns -= other->latency_sum_ns;
	into->lag_sum_ns -= other->lag_sum_ns;
	into->latency_square_sum -= other->latency_square_sum;
}

/* ---- gaps ------------------------------------------------------------------------------------ */

static int64_t length_of(const struct wp_loop_gap *gap)
{
	return gap->to_ns - gap->from_ns;
}

static void find_shortest(struct wp_loop_thread *thread)
{
	thread->gap_shortest = 0;
	for (size_t i = 1; i < thread->gap_count; i++)
		if (length_of(&thread->gaps[i]) < length_of(&thread->gaps[thread->gap_shortest]))
			thread->gap_shortest = i;
}

void wp_thread_note_gap(struct wp_loop_thread *thread, int64_t to_ns)
{
	struct wp_loop_gap gap = { .from_ns = thread->last_done_ns, .to_ns = to_ns };

	thread->last_done_ns = to_ns;
	if (thread->gap_count == WP_LOOP_GAPS) {
		if (length_of(&gap) <= length_of(&thread->gaps[thread->gap_shortest]))
			return;
		thread->gaps[thread->gap_shortest] = gap;
	} else {
		thread->gaps[thread->gap_count++] = gap;
	}
	find_shortest(thread);
}

/* The longest stretch of [from, to) that lies within a gap of every thread from index on. */
static int64_t common_ns(const struct wp_loop *loop, int64_t index, int64_t from_ns, int64_t to_ns)
{
	const struct wp_loop_thread *thread;
	int64_t longest = 0;

	if (to_ns <= from_ns)
		return 0;
	if (index == loop->thread_count)
		return to_ns - from_ns;
	thread = &loop->threads[index];
	for (size_t i = 0; i < thread->gap_count; i++) {
		const struct wp_loop_gap *gap = &thread->gaps[i];
		int64_t common =
			common_ns(loop, index + 1, gap->from_ns > from_ns ? gap->from_ns : from_ns,
				gap->to_ns < to_ns ? gap->to_ns : to_ns);

		longest = common > longest ? common : longest;
	}
	return longest;
}

int64_t wp_loop_longest_gap(const struct wp_loop *loop)
{
	return common_ns(loop, 0, 0, INT64_MAX);
}

/* ---- transactions ---------------------------------------------------------------------------- */

static void account_retries(struct wp_client *client)
{
	struct wp_loop_counts *counts = &client->thread->counts;

	if (client->tries > 1) {
		counts->retried++;
		counts->retries += client->tries - 1;
	}
}

static struct wp_loop_script *script_of(const struct wp_client *client)
{
	struct wp_loop_thread *thread = client->thread;

	return &thread->scripts[client->script - thread->loop->workload->scripts];
}

static void account_done(struct wp_client *client, int64_t now_ns)
{
	struct wp_loop_thread *thread = client->thread;
	struct wp_loop_counts *counts = &thread->counts;
	struct wp_loop_script *script = script_of(client);
	int64_t latency_ns = now_ns - client->scheduled_ns;
	int64_t lag_ns = client->begin_ns - client->scheduled_ns;
	int64_t limit_ns = thread->loop->options->latency_limit_ns;

	counts->transactions++;
	counts->latency_sum_ns += latency_ns;
	counts->latency_square_sum += (double)latency_ns * (double)latency_ns;
	counts->lag_sum_ns += lag_ns;
	thread->lag_max_ns = lag_ns > thread->lag_max_ns ? lag_ns : thread->lag_max_ns;
	counts->late += limit_ns && latency_ns > limit_ns ? 1 : 0;
	script->transactions++;
	script->latency_sum_ns += latency_ns;
	script->latency_square_sum += (double)latency_ns * (double)latency_ns;
	wp_hist_record(&thread->hist, latency_ns);
	wp_thread_note_gap(thread, now_ns);
	client->completed++;
}

static void log_transaction(struct wp_client *client, int64_t now_ns, bool is_skipped)
{
	struct wp_loop_thread *thread = client->thread;
	struct wp_tx_entry entry;

	if (!thread->log)
		return;
	entry = (struct wp_tx_entry){
		.client = client->id,
		.number = client->done,
		.script = client->script ? client->script - thread->loop->workload->scripts : 0,
		.latency_ns = now_ns - client->scheduled_ns,
		.lag_ns = client->begin_ns - client->scheduled_ns,
		.retries = client->tries - 1,
		.now_ns = now_ns,
		.is_skipped = is_skipped,
		.is_serialization = client->failure == WP_FAILURE_SERIALIZATION,
		.is_deadlock = client->failure == WP_FAILURE_DEADLOCK,
	};
	if (is_skipped) {
		entry.retries = 0;
		entry.lag_ns = now_ns - thread->throttle_ns;
	}
	wp_tx_log_add(thread->log, &entry, &thread->random);
}

void wp_client_account(struct wp_client *client, int64_t now_ns)
{
	struct wp_loop_thread *thread = client->thread;

	if (!thread->is_measured) {
		thread->warmup_transactions += client->failure == WP_FAILURE_NONE ? 1 : 0;
		return;
	}
	if (client->failure == WP_FAILURE_CANCELLED) {
		thread->cut++;
		return;
	}
	if (client->failure == WP_FAILURE_NONE) {
		account_done(client, now_ns);
	} else if (client->failure == WP_FAILURE_SERIALIZATION) {
		thread->counts.serialization_failures++;
		script_of(client)->serialization_failures++;
	} else {
		thread->counts.deadlock_failures++;
		script_of(client)->deadlock_failures++;
	}
	account_retries(client);
	log_transaction(client, now_ns, false);
	client->done++;
}

void wp_client_skip(struct wp_client *client, int64_t now_ns)
{
	client->thread->counts.skipped++;
	log_transaction(client, now_ns, true);
	client->done++;
}

void wp_thread_publish(struct wp_loop_thread *thread)
{
	const struct wp_loop_counts *counts = &thread->counts;
	struct wp_loop_live *live = &thread->live;

#define PUBLISH(field)                                                                             \
	atomic_store_explicit(&live->field, (long long)counts->field, memory_order_relaxed)
	PUBLISH(transactions);
	PUBLISH(skipped);
	PUBLISH(late);
	PUBLISH(serialization_failures);
	PUBLISH(deadlock_failures);
	PUBLISH(retried);
	PUBLISH(retries);
	PUBLISH(latency_sum_ns);
	PUBLISH(lag_sum_ns);
#undef PUBLISH
	atomic_store_explicit(&live->latency_square_sum_us2,
		(long long)(counts->latency_square_sum / 1e6), memory_order_relaxed);
	atomic_store_explicit(&live->last_done_ns, thread->last_done_ns, memory_order_relaxed);
}
