/* SPDX-License-Identifier: PostgreSQL */
/*
 * What one thread does. Waits end at the next timer or when the main thread wakes it, every
 * WP_LOOP_TICK_NS, when the limits of time and the flags are looked at:
 *
 *   deadline         no transaction begins any more; those under way go on
 *   + GRACE_NS       what is still under way is cancelled, through a connection of its own
 *   + CLOSE_NS       what did not answer is closed
 */
#include "pg/loop_internal.h"
#include "pg/tx_log.h"
#include "walprobe/stop.h"

#define CHECK_NS (WP_LOOP_TICK_NS / 2)
#define GRACE_NS WP_NS_PER_S
#define STOP_GRACE_NS (300 * WP_NS_PER_MS)
#define CANCEL_NS (500 * WP_NS_PER_MS)
#define CLOSE_NS (200 * WP_NS_PER_MS)
#define ROUNDS_WITHOUT_CLOCK 64

static bool is_over(const struct wp_client *client)
{
	return client->state == WP_CLIENT_FINISHED || client->state == WP_CLIENT_LOST;
}

/* ---- limits ---------------------------------------------------------------------------------- */

/* Clients that have not begun need not wait for their turn any more. */
static void finish_scheduled(struct wp_loop_thread *thread)
{
	for (int64_t i = 0; i < thread->client_count; i++)
		if (thread->clients[i].state == WP_CLIENT_SCHEDULED)
			wp_client_finish(&thread->clients[i]);
}

static void close_rest(struct wp_loop_thread *thread)
{
	for (int64_t i = 0; i < thread->client_count; i++) {
		struct wp_client *client = &thread->clients[i];

		if (is_over(client))
			continue;
		thread->cut += thread->is_measured ? 1 : 0;
		wp_client_finish(client);
		wp_client_disconnect(client);
	}
}

static bool is_stalled(const struct wp_loop_thread *thread)
{
	int64_t limit_ns = thread->loop->options->stall_limit_ns;

	if (!limit_ns || thread->now_ns - thread->last_answer_ns < limit_ns)
		return false;
	for (int64_t i = 0; i < thread->client_count; i++)
		if (thread->clients[i].state == WP_CLIENT_WAITING ||
			thread->clients[i].state == WP_CLIENT_ROLLBACK)
			return true;
	return false;
}

static void end_now(struct wp_loop_thread *thread, int64_t grace_ns)
{
	int64_t until_ns = thread->now_ns - GRACE_NS + grace_ns;

	if (thread->deadline_ns > until_ns)
		thread->deadline_ns = until_ns;
}

static void check_flags(struct wp_loop_thread *thread)
{
	struct wp_loop *loop = thread->loop;

	if (is_stalled(thread) && !thread->rc) {
		thread->rc = wp_fail(&thread->err, WP_E_SERVER, 0,
			"the server did not answer any client for %" PRId64 " s",
			loop->options->stall_limit_ns / WP_NS_PER_S);
		wp_err_hint(&thread->err,
			"Look for locks (pg_locks), a stopped server or a broken network; "
			"--stall-limit says how long to wait.");
		atomic_store_explicit(&loop->abort, 1, memory_order_relaxed);
	}
	if (wp_stop_requested() && !thread->rc) {
		thread->rc = wp_stop_fail(&thread->err);
		atomic_store_explicit(&loop->abort, 1, memory_order_relaxed);
	}
	if (atomic_load_explicit(&loop->abort, memory_order_relaxed))
		end_now(thread, STOP_GRACE_NS);
}

static void check(struct wp_loop_thread *thread)
{
	thread->check_ns = thread->now_ns + CHECK_NS;
	check_flags(thread);
	if (thread->deadline_ns == INT64_MAX)
		return;
	if (thread->now_ns >= thread->deadline_ns)
		finish_scheduled(thread);
	else if (thread->check_ns > thread->deadline_ns)
		thread->check_ns = thread->deadline_ns;
	if (thread->now_ns >= thread->deadline_ns + GRACE_NS && !thread->is_cancelled &&
		thread->active) {
		thread->is_cancelled = true;
		wp_thread_cancel_all(thread, CANCEL_NS);
		/* Answers that came meanwhile are looked at before anything is closed. */
		thread->check_ns = wp_thread_clock(thread) + CLOSE_NS;
	} else if (thread->is_cancelled) {
		close_rest(thread);
	}
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void run_timers(struct wp_loop_thread *thread)
{
	while (wp_timer_heap_next_ns(&thread->timers) <= wp_thread_clock(thread)) {
		struct wp_client *client = wp_timer_heap_take(&thread->timers);

		if (client->state == WP_CLIENT_SLEEPING)
			client->state = WP_CLIENT_WAITING;
		else if (client->state != WP_CLIENT_SCHEDULED)
			continue; /* over meanwhile */
		wp_client_advance(client);
	}
}

/* The main thread wakes us now and then, so without a timer there is no end to the wait. */
static int64_t wait_ns(const struct wp_loop_thread *thread)
{
	int64_t left_ns;

	if (!thread->timers.count)
		return -1;
	left_ns = wp_timer_heap_next_ns(&thread->timers) - thread->now_ns;
	return left_ns > 0 ? left_ns : 0;
}

static void take_events(
	struct wp_loop_thread *thread, const struct wp_poll_event *events, int count)
{
	for (int i = 0; i < count; i++) {
		struct wp_client *client = events[i].owner;

		if (!client) {
			(void)wp_thread_clock(thread);
			continue;
		}
		thread->last_answer_ns = thread->now_ns;
		if ((events[i].ready & WP_POLL_WRITE) && client->is_writing)
			wp_client_writable(client);
		if (events[i].ready & WP_POLL_READ)
			wp_client_readable(client);
	}
}

static void begin_all(struct wp_loop_thread *thread)
{
	for (int64_t i = 0; i < thread->client_count; i++) {
		struct wp_client *client = &thread->clients[i];

		if (is_over(client))
			continue;
		(void)wp_thread_clock(thread);
		wp_client_advance(client);
	}
}

static void run_loop(struct wp_loop_thread *thread)
{
	struct wp_poll_event events[WP_POLLER_BATCH];
	bool is_published = thread->loop->options->progress_ns > 0;
	unsigned rounds = 0;

	begin_all(thread);
	while (thread->active > 0) {
		int count = wp_poller_wait(&thread->poller, wait_ns(thread), events);

		if (count < 0) {
			thread->rc = wp_fail(&thread->err, WP_E_SYS, -count,
				"could not wait for the clients' sockets");
			atomic_store_explicit(&thread->loop->abort, 1, memory_order_relaxed);
			close_rest(thread);
			break;
		}
		/* Ends of transactions read the clock; else it is read only now and then. */
		if (count == 0 || thread->timers.count || ++rounds % ROUNDS_WITHOUT_CLOCK == 0)
			(void)wp_thread_clock(thread);
		take_events(thread, events, count);
		if (thread->timers.count)
			run_timers(thread);
		if (thread->now_ns >= thread->check_ns)
			check(thread);
		if (is_published)
			wp_thread_publish(thread);
	}
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void start_part(struct wp_loop_thread *thread, bool is_measured, int64_t duration_ns)
{
	int64_t now_ns = wp_thread_clock(thread);

	thread->is_measured = is_measured;
	thread->is_cancelled = false;
	thread->deadline_ns = duration_ns ? now_ns + duration_ns : INT64_MAX;
	thread->check_ns = now_ns + CHECK_NS;
	if (thread->check_ns > thread->deadline_ns)
		thread->check_ns = thread->deadline_ns;
	thread->throttle_ns = thread->last_done_ns = thread->last_answer_ns = now_ns;
	thread->active = 0;
	for (int64_t i = 0; i < thread->client_count; i++) {
		struct wp_client *client = &thread->clients[i];

		if (client->state == WP_CLIENT_LOST)
			continue;
		client->state = WP_CLIENT_IDLE;
		thread->active++;
	}
}

static void run_measured(struct wp_loop_thread *thread)
{
	const struct wp_loop *loop = thread->loop;
	const struct wp_loop_options *options = loop->options;
	int64_t cpu_ns;

	start_part(thread, true, options->transactions ? 0 : options->duration_ns);
	thread->start_ns = thread->now_ns;
	cpu_ns = wp_os_cpu_ns(loop->os);
	run_loop(thread);
	thread->cpu_ns = wp_os_cpu_ns(loop->os) - cpu_ns;
	thread->end_ns = wp_thread_clock(thread);
	wp_thread_note_gap(thread, thread->end_ns);
	thread->last_done_ns = thread->end_ns;
	if (options->progress_ns > 0)
		wp_thread_publish(thread);
}

static int open_log(struct wp_loop_thread *thread)
{
	const struct wp_loop_options *options = thread->loop->options;
	const struct wp_tx_log_form form = {
		.has_lag = options->rate_per_s > 0,
		.has_skipped = options->rate_per_s > 0 && options->latency_limit_ns > 0,
		.has_retries = options->max_tries != 1,
	};

	if (!options->log.prefix)
		return 0;
	thread->log =
		wp_tx_log_open(thread->loop->os, &options->log, &form, thread->id, &thread->err);
	return thread->log ? 0 : -(int)thread->err.code;
}

static int connect_all(struct wp_loop_thread *thread)
{
	const struct wp_loop *loop = thread->loop;
	int64_t begin_ns = wp_os_now_ns(loop->os);
	int rc = 0;

	for (int64_t i = 0; !rc && i < thread->client_count; i++) {
		rc = wp_client_connect(&thread->clients[i], &thread->err);
		if (!rc && atomic_load_explicit(&loop->abort, memory_order_relaxed))
			break;
	}
	thread->connect_ns = wp_os_now_ns(loop->os) - begin_ns;
	for (int64_t i = 0; !rc && i < thread->client_count; i++) {
		if (atomic_load_explicit(&loop->abort, memory_order_relaxed))
			break;
		if (loop->options->has_wal_timing)
			rc = wp_client_time_wal(&thread->clients[i], &thread->err);
		if (!rc)
			rc = wp_client_prepare_all(&thread->clients[i], &thread->err);
		if (!rc && loop->options->has_untimed)
			rc = wp_client_untimed(&thread->clients[i], &thread->err);
		if (!rc)
			rc = wp_client_publish(&thread->clients[i], &thread->err);
	}
	return rc;
}

static bool may_go_on(const struct wp_loop_thread *thread)
{
	return !thread->rc && !atomic_load_explicit(&thread->loop->abort, memory_order_relaxed);
}

/* Everybody has come this far; the main thread does its part, and all go on. */
static void meet(struct wp_loop_thread *thread)
{
	if (thread->rc)
		atomic_store_explicit(&thread->loop->abort, 1, memory_order_relaxed);
	wp_sem_post(&thread->ready);
	wp_sem_wait(&thread->go);
}

void wp_loop_thread_main(void *argument)
{
	struct wp_loop_thread *thread = argument;
	const struct wp_loop_options *options = thread->loop->options;
	int closed;

	thread->rc = open_log(thread);
	if (!thread->rc)
		thread->rc = connect_all(thread);
	meet(thread);
	if (may_go_on(thread) && options->warmup_ns) {
		start_part(thread, false, options->warmup_ns);
		run_loop(thread);
	}
	meet(thread);
	if (may_go_on(thread))
		run_measured(thread);
	meet(thread);
	for (int64_t i = 0; i < thread->client_count; i++)
		wp_client_disconnect(&thread->clients[i]);
	closed = wp_tx_log_close(thread->log, thread->rc ? NULL : &thread->err);
	thread->log = NULL;
	if (!thread->rc)
		thread->rc = closed;
	wp_sem_post(&thread->ready);
}
