/* SPDX-License-Identifier: PostgreSQL */
#include "pg/loop_internal.h"
#include "walprobe/mem.h"

#define STACK_BYTES (512 * 1024)

static int init_thread(struct wp_loop *loop, int64_t index, int64_t first_client,
	int64_t client_count, struct wp_err *err)
{
	struct wp_loop_thread *thread = &loop->threads[index];
	int rc;

	thread->loop = loop;
	thread->id = index;
	thread->poller.fd = -1;
	thread->client_count = client_count;
	thread->clients = wp_xcalloc((size_t)client_count, sizeof(*thread->clients));
	thread->scripts = wp_xcalloc(loop->workload->count, sizeof(*thread->scripts));
	if (loop->options->is_detailed)
		thread->commands =
			wp_xcalloc(loop->workload->command_total, sizeof(*thread->commands));
	wp_timer_heap_init(&thread->timers, (size_t)client_count);
	wp_hist_init(&thread->hist);
	wp_random_init(&thread->random, loop->options->seed ^ ((uint64_t)index << 32 | 0x5eedu));
	wp_sem_init(&thread->ready, 0);
	wp_sem_init(&thread->go, 0);
	rc = wp_poller_open(&thread->poller, err);
	for (int64_t i = 0; !rc && i < client_count; i++)
		rc = wp_client_init(&thread->clients[i], thread, first_client + i, err);
	return rc;
}

static void release_thread(struct wp_loop_thread *thread)
{
	if (!thread->loop)
		return;
	for (int64_t i = 0; i < thread->client_count; i++)
		wp_client_release(&thread->clients[i]);
	wp_poller_close(&thread->poller);
	wp_timer_heap_release(&thread->timers);
	wp_hist_release(&thread->hist);
	wp_sem_release(&thread->ready);
	wp_sem_release(&thread->go);
	free(thread->clients);
	free(thread->commands);
	free(thread->scripts);
}

/* ---- progress -------------------------------------------------------------------------------- */

static void read_live(const struct wp_loop *loop, struct wp_loop_counts *sum, int64_t *last_done_ns)
{
	memset(sum, 0, sizeof(*sum));
	*last_done_ns = loop->start_ns;
	for (int64_t i = 0; i < loop->thread_count; i++) {
		const struct wp_loop_live *live = &loop->threads[i].live;
		int64_t done_ns = atomic_load_explicit(&live->last_done_ns, memory_order_relaxed);

#define READ(field) sum->field += atomic_load_explicit(&live->field, memory_order_relaxed)
		READ(transactions);
		READ(skipped);
		READ(late);
		READ(serialization_failures);
		READ(deadlock_failures);
		READ(retried);
		READ(retries);
		READ(latency_sum_ns);
		READ(lag_sum_ns);
#undef READ
		sum->latency_square_sum +=
			1e6 * (double)atomic_load_explicit(
				      &live->latency_square_sum_us2, memory_order_relaxed);
		*last_done_ns = done_ns > *last_done_ns ? done_ns : *last_done_ns;
	}
}

static void tell_progress(const struct wp_loop *loop, int64_t now_ns, int64_t *before_ns,
	struct wp_loop_counts *before)
{
	struct wp_loop_progress progress = { .since_start_ns = now_ns - loop->start_ns,
		.interval_ns = now_ns - *before_ns };
	struct wp_loop_counts counts;
	int64_t last_done_ns;

	read_live(loop, &counts, &last_done_ns);
	progress.interval = counts;
	wp_loop_counts_subtract(&progress.interval, before);
	if (progress.interval.transactions == 0)
		progress.silent_ns = now_ns - last_done_ns;
	*before = counts;
	*before_ns = now_ns;
	loop->options->progress(loop->options->ctx, &progress);
}

static void tick(
	struct wp_loop *loop, struct wp_loop_counts *before, int64_t *before_ns, int64_t *next_ns)
{
	int64_t every_ns = loop->options->progress_ns;
	int64_t now_ns = wp_os_now_ns(loop->os);

	for (int64_t i = 0; i < loop->thread_count; i++)
		wp_poller_wake(&loop->threads[i].poller);
	if (!every_ns || !loop->options->progress || now_ns < *next_ns)
		return;
	tell_progress(loop, now_ns, before_ns, before);
	while (*next_ns <= now_ns)
		*next_ns += every_ns;
}

/* Waits for all threads and wakes them meanwhile; a measured part tells its progress. */
static void await_running(struct wp_loop *loop, bool is_measured)
{
	int64_t before_ns = loop->start_ns;
	int64_t next_ns = is_measured ? loop->start_ns + loop->options->progress_ns : INT64_MAX;
	struct wp_loop_counts before = { 0 };

	for (int64_t i = 0; i < loop->thread_count; i++) {
		int64_t left_ns = next_ns - wp_os_now_ns(loop->os);

		while (!wp_sem_wait_for(&loop->threads[i].ready,
			loop->options->progress_ns && left_ns < WP_LOOP_TICK_NS
				? left_ns
				: WP_LOOP_TICK_NS)) {
			tick(loop, &before, &before_ns, &next_ns);
			left_ns = next_ns - wp_os_now_ns(loop->os);
		}
	}
}

static void await_all(struct wp_loop *loop)
{
	for (int64_t i = 0; i < loop->thread_count; i++)
		wp_sem_wait(&loop->threads[i].ready);
}

static void let_go(struct wp_loop *loop)
{
	for (int64_t i = 0; i < loop->thread_count; i++)
		wp_sem_post(&loop->threads[i].go);
}

static void run_parts(struct wp_loop *loop)
{
	const struct wp_loop_options *options = loop->options;
	bool is_going;

	await_all(loop); /* connected */
	let_go(loop);
	await_running(loop, false); /* warm */
	is_going = !atomic_load(&loop->abort);
	if (is_going && options->begin)
		options->begin(options->ctx);
	loop->start_ns = wp_os_now_ns(loop->os);
	for (int64_t i = 0; i < loop->thread_count; i++)
		atomic_store(&loop->threads[i].live.last_done_ns, loop->start_ns);
	let_go(loop);
	await_running(loop, true);
	if (is_going && options->end)
		options->end(options->ctx);
	let_go(loop);
	await_all(loop); /* disconnected */
}

/* ---- what it gave ---------------------------------------------------------------------------- */

static void add_commands(struct wp_loop_result *result, const struct wp_loop_thread *thread)
{
	for (size_t i = 0; thread->commands && i < result->command_count; i++) {
		result->commands[i].count += thread->commands[i].count;
		result->commands[i].sum_ns += thread->commands[i].sum_ns;
		result->commands[i].failures += thread->commands[i].failures;
		result->commands[i].retries += thread->commands[i].retries;
	}
}

static void add_scripts(struct wp_loop_result *result, const struct wp_loop_thread *thread)
{
	for (size_t i = 0; i < result->script_count; i++) {
		struct wp_loop_script *into = &result->scripts[i];
		const struct wp_loop_script *from = &thread->scripts[i];

		into->transactions += from->transactions;
		into->serialization_failures += from->serialization_failures;
		into->deadlock_failures += from->deadlock_failures;
		into->latency_sum_ns += from->latency_sum_ns;
		into->latency_square_sum += from->latency_square_sum;
	}
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The most that a thread before this one could tell. */
static int loss_rank(const struct wp_loop *loop, const struct wp_loop_thread *until)
{
	int rank = 0;

	for (const struct wp_loop_thread *thread = loop->threads; thread < until; thread++)
		rank = thread->lost_clients && thread->loss_rank > rank ? thread->loss_rank : rank;
	return rank;
}

static void add_thread(struct wp_loop_result *result, const struct wp_loop *loop,
	const struct wp_loop_thread *thread, struct wp_hist *latency)
{
	wp_loop_counts_add(&result->counts, &thread->counts);
	result->cut += thread->cut;
	result->warmup_transactions += thread->warmup_transactions;
	result->connections += thread->connections;
	result->connect_ns = larger(result->connect_ns, thread->connect_ns);
	result->reconnect_ns += thread->reconnect_ns;
	result->elapsed_ns = larger(result->elapsed_ns, thread->end_ns - loop->start_ns);
	result->cpu_ns += thread->cpu_ns;
	result->lag_max_ns = larger(result->lag_max_ns, thread->lag_max_ns);
	result->lost_clients += thread->lost_clients;
	result->own_commits += thread->own_commits;
	for (int64_t i = 0; i < thread->client_count; i++)
		result->idle_clients += thread->clients[i].completed == 0 ? 1 : 0;
	if (thread->lost_clients &&
		(result->loss.code == WP_OK || thread->loss_rank > loss_rank(loop, thread)))
		result->loss = thread->err;
	add_commands(result, thread);
	add_scripts(result, thread);
	wp_hist_merge(latency, &thread->hist);
}

static void fill_result(
	const struct wp_loop *loop, struct wp_hist *latency, struct wp_loop_result *result)
{
	const struct wp_loop_options *options = loop->options;

	result->script_count = loop->workload->count;
	result->scripts = wp_xcalloc(result->script_count, sizeof(*result->scripts));
	if (options->is_detailed) {
		result->command_count = loop->workload->command_total;
		result->commands = wp_xcalloc(result->command_count, sizeof(*result->commands));
	}
	for (int64_t i = 0; i < loop->thread_count; i++)
		add_thread(result, loop, &loop->threads[i], latency);
	result->is_wal_timed = true;
	for (int64_t i = 0; i < loop->thread_count; i++)
		if (loop->threads[i].timed_clients < loop->threads[i].client_count)
			result->is_wal_timed = false;
	if (!options->transactions && result->elapsed_ns > options->duration_ns)
		result->overrun_ns = result->elapsed_ns - options->duration_ns;
	result->stall_ns = wp_loop_longest_gap(loop);
}

/* A stop request is no failure of the server; the first error of a thread else, or a lost client. */
static int settle(
	const struct wp_loop *loop, const struct wp_loop_result *result, struct wp_err *err)
{
	const struct wp_err *worst = NULL;
	int rc = 0;

	for (int64_t i = 0; i < loop->thread_count; i++) {
		const struct wp_loop_thread *thread = &loop->threads[i];

		if (thread->rc && (!rc || thread->rc == -WP_E_STOPPED)) {
			rc = thread->rc;
			worst = &thread->err;
		}
	}
	/* Without any client there is nothing to go on with. */
	if (!rc && result->lost_clients &&
		(!loop->options->is_keep_going || result->lost_clients == loop->options->clients)) {
		rc = -(int)result->loss.code;
		worst = &result->loss;
	}
	if (rc && err)
		*err = *worst;
	return rc;
}

static int start_threads(struct wp_loop *loop, struct wp_err *err)
{
	int rc = 0;

	for (int64_t i = 0; !rc && i < loop->thread_count; i++)
		rc = wp_thread_start(&loop->threads[i].thread, wp_loop_thread_main,
			&loop->threads[i], STACK_BYTES, err);
	if (!rc)
		return 0;
	/* Those that run already wait for nobody else. */
	atomic_store(&loop->abort, 1);
	for (int64_t i = 0; i < loop->thread_count; i++)
		for (int part = 0; loop->threads[i].thread.is_started && part < 3; part++)
			wp_sem_post(&loop->threads[i].go);
	return rc;
}

static void join_threads(struct wp_loop *loop)
{
	for (int64_t i = 0; i < loop->thread_count; i++)
		wp_thread_join(&loop->threads[i].thread);
}

int wp_loop_run(const struct wp_os *os, const struct wp_loop_options *options,
	struct wp_hist *latency, struct wp_loop_result *result, struct wp_err *err)
{
	struct wp_loop loop = { .os = os, .options = options, .workload = options->workload };
	int64_t first = 0;
	int rc = 0;

	memset(result, 0, sizeof(*result));
	loop.thread_count =
		options->threads < options->clients ? options->threads : options->clients;
	loop.threads = wp_xcalloc((size_t)loop.thread_count, sizeof(*loop.threads));
	for (int64_t i = 0; !rc && i < loop.thread_count; i++) {
		int64_t left = options->clients - first;
		int64_t share = (left + loop.thread_count - i - 1) / (loop.thread_count - i);

		rc = init_thread(&loop, i, first, share, err);
		first += share;
	}
	if (!rc)
		rc = start_threads(&loop, err);
	if (!rc) {
		run_parts(&loop);
		join_threads(&loop);
		fill_result(&loop, latency, result);
		rc = settle(&loop, result, err);
	}
	join_threads(&loop);
	for (int64_t i = 0; i < loop.thread_count; i++)
		release_thread(&loop.threads[i]);
	free(loop.threads);
	return rc;
}

void wp_loop_result_release(struct wp_loop_result *result)
{
	free(result->commands);
	free(result->scripts);
	memset(result, 0, sizeof(*result));
}
