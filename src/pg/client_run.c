/* SPDX-License-Identifier: PostgreSQL */
/*
 * One client's way through its transactions. advance() goes on until the client waits for the
 * server or for a time; readable() and the timers bring it back.
 */
#include "pg/loop_internal.h"

#include <math.h>

static const struct wp_loop_options *options_of(const struct wp_client *client)
{
	return client->thread->loop->options;
}

void wp_client_finish(struct wp_client *client)
{
	if (client->state == WP_CLIENT_FINISHED || client->state == WP_CLIENT_LOST)
		return;
	client->state = WP_CLIENT_FINISHED;
	client->thread->active--;
}

void wp_client_lose(struct wp_client *client, const struct wp_err *err)
{
	struct wp_loop_thread *thread = client->thread;

	if (client->state == WP_CLIENT_LOST)
		return;
	if (client->state != WP_CLIENT_FINISHED)
		thread->active--;
	client->state = WP_CLIENT_LOST;
	/* The cause, and not what it did to the others, is told: a full disk, not its crash. */
	if (err && (thread->lost_clients == 0 || client->loss_rank > thread->loss_rank)) {
		thread->err = *err;
		thread->loss_rank = client->loss_rank;
	}
	thread->lost_clients++;
	wp_client_disconnect(client);
	if (!options_of(client)->is_keep_going)
		atomic_store_explicit(&thread->loop->abort, 1, memory_order_relaxed);
}

void wp_client_wait_until(struct wp_client *client, enum wp_client_state state, int64_t wake_ns)
{
	client->state = state;
	client->wake_ns = wake_ns;
	wp_timer_heap_add(&client->thread->timers, wake_ns, client);
}

/* ---- where a transaction begins -------------------------------------------------------------- */

static const struct wp_workload_script *choose_script(struct wp_loop_thread *thread)
{
	const struct wp_workload *workload = thread->loop->workload;
	size_t i = 0;
	int64_t draw;

	if (workload->count == 1)
		return &workload->scripts[0];
	draw = (int64_t)wp_random_below(&thread->random, (uint64_t)workload->weight_total);
	while (workload->scripts[i].weight_until <= draw)
		i++;
	return &workload->scripts[i];
}

/* Exponential intervals: the clients of a thread share one Poisson schedule. */
static int64_t next_interval_ns(struct wp_loop_thread *thread)
{
	const struct wp_loop *loop = thread->loop;
	double mean_ns = (double)WP_NS_PER_S / loop->options->rate_per_s *
			 (double)loop->options->clients / (double)thread->client_count;

	return (int64_t)(-log(1.0 - wp_random_unit(&thread->random)) * mean_ns);
}

static bool has_quota(const struct wp_client *client)
{
	const struct wp_loop_options *options = options_of(client);

	return !options->transactions || !client->thread->is_measured ||
	       client->done < options->transactions;
}

/* The client's turn in the schedule; turns that are too late already are skipped. */
static void schedule(struct wp_client *client)
{
	struct wp_loop_thread *thread = client->thread;
	const struct wp_loop_options *options = options_of(client);

	thread->throttle_ns += next_interval_ns(thread);
	while (options->latency_limit_ns && has_quota(client) &&
		thread->throttle_ns < thread->now_ns - options->latency_limit_ns) {
		wp_client_skip(client, thread->now_ns);
		thread->throttle_ns += next_interval_ns(thread);
	}
	client->scheduled_ns = thread->throttle_ns;
	if (!has_quota(client) || client->scheduled_ns > thread->deadline_ns)
		wp_client_finish(client);
	else if (client->scheduled_ns > thread->now_ns)
		wp_client_wait_until(client, WP_CLIENT_SCHEDULED, client->scheduled_ns);
}

static void begin_script(struct wp_client *client)
{
	client->at = 0;
	client->failure = WP_FAILURE_NONE;
	client->state = WP_CLIENT_WAITING;
	if (client->thread->loop->workload->is_pipelined)
		client->is_pipeline = PQenterPipelineMode(client->connection) == 1;
}

/* Everything but the schedule; the clock has just been read. */
static int begin_transaction(struct wp_client *client, struct wp_err *err)
{
	struct wp_loop_thread *thread = client->thread;
	bool is_throttled = options_of(client)->rate_per_s > 0 && thread->is_measured;

	if (!client->connection) {
		int rc = wp_client_connect(client, err);

		if (rc)
			return rc;
		/* Connecting is told apart and is no latency, as in pgbench. */
		(void)wp_thread_clock(thread);
	}
	client->script = choose_script(thread);
	client->random_begin = client->random;
	client->tries = 1;
	client->begin_ns = thread->now_ns;
	if (!is_throttled)
		client->scheduled_ns = client->begin_ns;
	begin_script(client);
	return 0;
}

/* False when the client does not begin a transaction now: it waits for its turn, or is done. */
static bool may_begin(struct wp_client *client)
{
	struct wp_loop_thread *thread = client->thread;

	if (!has_quota(client) || thread->now_ns >= thread->deadline_ns ||
		atomic_load_explicit(&thread->loop->abort, memory_order_relaxed)) {
		wp_client_finish(client);
		return false;
	}
	if (client->state == WP_CLIENT_SCHEDULED || !thread->is_measured ||
		options_of(client)->rate_per_s <= 0)
		return true;
	schedule(client);
	return client->state == WP_CLIENT_IDLE;
}

/* ---- where it ends --------------------------------------------------------------------------- */

static bool can_retry(const struct wp_client *client)
{
	const struct wp_loop_options *options = options_of(client);
	const struct wp_loop_thread *thread = client->thread;

	if (client->failure == WP_FAILURE_CANCELLED ||
		(options->max_tries && client->tries >= options->max_tries))
		return false;
	if (options->latency_limit_ns &&
		thread->now_ns - client->scheduled_ns > options->latency_limit_ns)
		return false;
	return thread->now_ns < thread->deadline_ns;
}

static int leave_pipeline(struct wp_client *client, struct wp_err *err)
{
	if (!client->is_pipeline)
		return 0;
	if (!PQexitPipelineMode(client->connection)) {
		char message[400];

		return wp_fail(err, WP_E_SERVER, 0,
			"client %" PRId64 ": could not leave pipeline mode: %s", client->id,
			wp_pg_message(client->connection, message, sizeof(message)));
	}
	client->is_pipeline = false;
	return 0;
}

static int check_end(const struct wp_client *client, struct wp_err *err)
{
	if (client->is_pipeline)
		return wp_fail(err, WP_E_SERVER, 0,
			"client %" PRId64 " ended: end of script \"%s\" reached with pipeline open",
			client->id, client->script->script.name);
	if (PQtransactionStatus(client->connection) != PQTRANS_IDLE)
		return wp_fail(err, WP_E_SERVER, 0,
			"client %" PRId64 " ended: end of script \"%s\" reached without completing "
			"the last transaction",
			client->id, client->script->script.name);
	return 0;
}

static int end_transaction(struct wp_client *client, struct wp_err *err)
{
	struct wp_loop_thread *thread = client->thread;
	int rc = client->failure == WP_FAILURE_NONE ? check_end(client, err) : 0;

	if (rc)
		return rc;
	wp_client_account(client, wp_thread_clock(thread));
	client->state = WP_CLIENT_IDLE;
	if (options_of(client)->is_reconnecting && thread->is_measured)
		wp_client_disconnect(client);
	return 0;
}

/* What was counted as a failure of the command is none yet. */
static void count_retry(struct wp_client *client)
{
	struct wp_loop_thread *thread = client->thread;
	struct wp_loop_command *entry;

	if (!thread->commands || !thread->is_measured || client->at >= client->script->script.count)
		return;
	entry = &thread->commands[client->script->first_command + client->at];
	entry->failures--;
	entry->retries++;
}

/* The failed try is rolled back: once more with the same random numbers, or given up. */
static int settle_failure(struct wp_client *client, struct wp_err *err)
{
	(void)wp_thread_clock(client->thread);
	if (!can_retry(client))
		return end_transaction(client, err);
	count_retry(client);
	client->tries++;
	client->random = client->random_begin;
	begin_script(client);
	return 0;
}

/* After a failure that can be tried again: the pipeline is over, the transaction must be too. */
static int roll_back(struct wp_client *client, struct wp_err *err)
{
	int rc = leave_pipeline(client, err);

	if (rc)
		return rc;
	if (PQtransactionStatus(client->connection) != PQTRANS_INERROR)
		return settle_failure(client, err);
	client->state = WP_CLIENT_ROLLBACK;
	return wp_client_send_text(client, "ROLLBACK", err);
}

/* ---- commands -------------------------------------------------------------------------------- */

static void count_command(struct wp_client *client)
{
	struct wp_loop_thread *thread = client->thread;
	struct wp_loop_command *entry;
	int64_t now_ns;

	if (!thread->commands || !thread->is_measured || client->at >= client->script->script.count)
		return;
	now_ns = wp_thread_clock(thread);
	entry = &thread->commands[client->script->first_command + client->at];
	if (client->failure == WP_FAILURE_NONE) {
		entry->count++;
		entry->sum_ns += now_ns - client->command_ns;
	} else {
		entry->failures++;
	}
}

static void start_command_clock(struct wp_client *client)
{
	if (client->thread->commands)
		client->command_ns = wp_thread_clock(client->thread);
}

static int prepare_rest(struct wp_client *client, struct wp_err *err)
{
	const struct wp_script *script = &client->script->script;
	int rc = 0;

	for (size_t i = 0; !rc && i < script->count; i++)
		if (script->commands[i].kind == WP_COMMAND_SQL &&
			!client->prepared[client->script->first_flag +
					  (size_t)script->commands[i].statement])
			rc = wp_client_prepare(client, &script->commands[i], err);
	return rc;
}

static int start_pipeline(struct wp_client *client, struct wp_err *err)
{
	int rc = 0;

	/* Once in the pipeline there is no waiting for a statement to be prepared. */
	if (client->thread->loop->workload->protocol == WP_PROTOCOL_PREPARED)
		rc = prepare_rest(client, err);
	if (rc)
		return rc;
	if (!PQenterPipelineMode(client->connection))
		return wp_fail(err, WP_E_SERVER, 0,
			"client %" PRId64 ": could not enter pipeline mode", client->id);
	client->is_pipeline = true;
	return 0;
}

/* A command; *is_waiting when the client must wait before the next one. */
static int run_command(struct wp_client *client, bool *is_waiting, struct wp_err *err)
{
	const struct wp_command *command = &client->script->script.commands[client->at];
	const struct wp_expr_env env = { .vars = &client->vars, .random = &client->random };
	struct wp_step step = { .next = client->at + 1 };
	int rc = 0;

	start_command_clock(client);
	switch (command->kind) {
	case WP_COMMAND_SQL:
		rc = wp_client_send(client, command, err);
		*is_waiting = !client->is_pipeline;
		break;
	case WP_COMMAND_STARTPIPELINE:
		rc = start_pipeline(client, err);
		break;
	case WP_COMMAND_SYNCPIPELINE:
		rc = wp_client_sync(client, err);
		break;
	case WP_COMMAND_ENDPIPELINE:
		rc = wp_client_sync(client, err);
		*is_waiting = true;
		break;
	default:
		rc = wp_script_run_meta(&client->script->script, client->at, &env, &step, err);
		if (rc)
			wp_err_prefix(err,
				"client %" PRId64 " ended in script \"%s\": ", client->id,
				client->script->script.name);
		break;
	}
	if (rc || *is_waiting)
		return rc;
	count_command(client);
	client->at = step.next;
	if (command->kind == WP_COMMAND_SLEEP && step.sleep_ns > 0) {
		wp_client_wait_until(client, WP_CLIENT_SLEEPING,
			wp_thread_clock(client->thread) + step.sleep_ns);
		*is_waiting = true;
	}
	return 0;
}

/* Past the last command: in a pipeline of ours its answers are still to come. */
static int end_script(struct wp_client *client, bool *is_waiting, struct wp_err *err)
{
	if (client->is_pipeline && client->thread->loop->workload->is_pipelined) {
		*is_waiting = true;
		return wp_client_sync(client, err);
	}
	return end_transaction(client, err);
}

static int step(struct wp_client *client, bool *is_waiting, struct wp_err *err)
{
	if (client->state == WP_CLIENT_IDLE || client->state == WP_CLIENT_SCHEDULED) {
		if (may_begin(client))
			return begin_transaction(client, err);
		*is_waiting = true;
		return 0;
	}
	if (client->at >= client->script->script.count)
		return end_script(client, is_waiting, err);
	return run_command(client, is_waiting, err);
}

void wp_client_advance(struct wp_client *client)
{
	struct wp_err err = { 0 };
	bool is_waiting = false;
	int rc = 0;

	while (!rc && !is_waiting)
		rc = step(client, &is_waiting, &err);
	if (rc)
		wp_client_lose(client, &err);
}

/* The answer to the statement, pipeline or ROLLBACK is complete. */
static void answered(struct wp_client *client)
{
	struct wp_err err = { 0 };
	int rc;

	if (client->state == WP_CLIENT_ROLLBACK) {
		rc = settle_failure(client, &err);
	} else {
		count_command(client);
		if (client->failure != WP_FAILURE_NONE) {
			rc = roll_back(client, &err);
		} else {
			rc = leave_pipeline(client, &err);
			client->at++;
		}
	}
	if (rc)
		wp_client_lose(client, &err);
	else if (client->state != WP_CLIENT_ROLLBACK)
		wp_client_advance(client);
}

void wp_client_readable(struct wp_client *client)
{
	struct wp_err err = { 0 };
	enum wp_answer answer;

	if (!client->connection)
		return;
	if (!PQconsumeInput(client->connection)) {
		(void)wp_client_fail_connection(client, &err);
		wp_client_lose(client, &err);
		return;
	}
	if (client->state != WP_CLIENT_WAITING && client->state != WP_CLIENT_ROLLBACK)
		return; /* a notice, or the first answers of a pipeline that is not complete */
	answer = wp_client_answer(client, &err);
	if (answer == WP_ANSWER_DONE)
		answered(client);
	else if (answer == WP_ANSWER_LOST)
		wp_client_lose(client, &err);
}

void wp_client_writable(struct wp_client *client)
{
	struct wp_err err = { 0 };

	if (client->connection && wp_client_flush(client, &err))
		wp_client_lose(client, &err);
}
