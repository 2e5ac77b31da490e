/* SPDX-License-Identifier: PostgreSQL */
#include "probe/ramp_internal.h"

#include <math.h>

#define MAINTENANCE_LIMIT_NS (3600 * WP_NS_PER_S)
#define STALL_NS (1500 * WP_NS_PER_MS) /* overrun of a loop whose clients had to be cut off */
#define STALLED_ANSWER_NS (300 * WP_NS_PER_MS)
#define INSUFFICIENT_PRIVILEGE "42501"

/* ---- before the clients ---------------------------------------------------------------------- */

static int vacuum(struct wp_ramp_self *self, struct wp_session *session, struct wp_err *err)
{
	static const char *const small[] = { "VACUUM pgbench_branches", "VACUUM pgbench_tellers" };
	static const char *const all[] = { "VACUUM ANALYZE pgbench_branches",
		"VACUUM ANALYZE pgbench_tellers", "VACUUM ANALYZE pgbench_accounts",
		"VACUUM ANALYZE pgbench_history" };
	bool is_all = self->options->vacuum == WP_RAMP_VACUUM_ALL;
	const char *const *statements = is_all ? all : small;
	size_t count = is_all ? WP_COUNT(all) : WP_COUNT(small);
	int rc = 0;

	if (self->options->vacuum == WP_RAMP_VACUUM_NONE)
		return 0;
	for (size_t i = 0; !rc && i < count; i++)
		rc = wp_session_query(session, statements[i], MAINTENANCE_LIMIT_NS,
			"could not vacuum before the step", NULL, err);
	return rc;
}

/* Without the privilege the step goes on without, and the reader is told. */
static int checkpoint(struct wp_ramp_self *self, struct wp_session *session, struct wp_err *err)
{
	int rc;

	if (!self->options->has_checkpoint || self->server->is_checkpoint_refused)
		return 0;
	rc = wp_session_query(session, "CHECKPOINT", MAINTENANCE_LIMIT_NS,
		"could not CHECKPOINT before the step", NULL, err);
	if (rc != -WP_E_SERVER || strcmp(wp_session_sqlstate(session), INSUFFICIENT_PRIVILEGE) != 0)
		return rc;
	self->server->is_checkpoint_refused = true;
	wp_run_tell(self->run, "warning",
		"target \"%s\": this role may not CHECKPOINT, so steps start without one; grant "
		"it pg_checkpoint (PostgreSQL 15 and later) or connect as a superuser",
		self->server->target->label);
	return 0;
}

static int maintain(struct wp_ramp_self *self, struct wp_err *err)
{
	struct wp_session *session = NULL;
	int rc = wp_session_open(self->run->os, &self->server->conn, &session, err);

	if (!rc)
		rc = vacuum(self, session, err);
	if (!rc)
		rc = checkpoint(self, session, err);
	wp_session_close(session);
	return rc;
}

/* ---- at the ends of the clock ---------------------------------------------------------------- */

static void read_flushes(const struct wp_ramp_self *self, struct wp_flush_counts *out)
{
	wp_flush_read(self->run->os, NULL, &self->server->target->stack, out);
}

static void clock_starts(void *ctx)
{
	struct wp_ramp_self *self = ctx;

	self->watch_rc = wp_counter_watch_read(self->watch, &self->connected, &self->watch_err);
	read_flushes(self, &self->flushes_before);
	self->clock_ns = wp_os_now_ns(self->run->os);
}

static void clock_stopped(void *ctx)
{
	struct wp_ramp_self *self = ctx;
	const struct wp_loop_options *loop = &self->options->loop;
	int64_t took_ns = wp_os_now_ns(self->run->os) - self->clock_ns;

	read_flushes(self, &self->flushes_after);
	/* A server that answered nobody for the last seconds is not waited for once more. */
	if (!loop->transactions && took_ns > loop->duration_ns + STALL_NS)
		wp_counter_watch_limit(self->watch, STALLED_ANSWER_NS);
	if (!self->watch_rc)
		self->watch_rc =
			wp_counter_watch_read(self->watch, &self->stopped, &self->watch_err);
}

static void progressed(void *ctx, const struct wp_loop_progress *progress)
{
	struct wp_ramp_self *self = ctx;

	self->options->progress(self->options->progress_ctx, progress);
}

/* ---- sums ------------------------------------------------------------------------------------ */

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void add_commands(struct wp_ramp_self *self, const struct wp_loop_result *result)
{
	for (size_t i = 0; i < self->command_count && i < result->command_count; i++) {
		self->commands[i].count += result->commands[i].count;
		self->commands[i].sum_ns += result->commands[i].sum_ns;
		self->commands[i].failures += result->commands[i].failures;
		self->commands[i].retries += result->commands[i].retries;
	}
}

static void add_scripts(struct wp_ramp_self *self, const struct wp_loop_result *result)
{
	for (size_t i = 0; i < result->script_count; i++) {
		self->scripts[i].transactions += result->scripts[i].transactions;
		self->scripts[i].serialization_failures +=
			result->scripts[i].serialization_failures;
		self->scripts[i].deadlock_failures += result->scripts[i].deadlock_failures;
		self->scripts[i].latency_sum_ns += result->scripts[i].latency_sum_ns;
		self->scripts[i].latency_square_sum += result->scripts[i].latency_square_sum;
	}
}

static void add_result(struct wp_ramp_self *self, const struct wp_loop_result *result)
{
	self->is_wal_timed = (self->rounds == 0 || self->is_wal_timed) && result->is_wal_timed;
	self->rounds++;
	wp_loop_counts_add(&self->counts, &result->counts);
	self->cut += result->cut;
	self->warmup_transactions += result->warmup_transactions;
	self->connect_ns += result->connect_ns;
	self->reconnect_ns += result->reconnect_ns;
	self->elapsed_ns += result->elapsed_ns;
	self->cpu_ns += result->cpu_ns;
	self->overrun_ns = larger(self->overrun_ns, result->overrun_ns);
	self->stall_ns = larger(self->stall_ns, result->stall_ns);
	self->lag_max_ns = larger(self->lag_max_ns, result->lag_max_ns);
	self->idle_clients = larger(self->idle_clients, result->idle_clients);
	self->lost_clients += result->lost_clients;
	add_commands(self, result);
	add_scripts(self, result);
}

/* Without the CHECKPOINT before a step and what connecting writes. */
static void add_flushes(struct wp_ramp_self *self)
{
	const struct wp_flush_counts *before = &self->flushes_before;
	const struct wp_flush_counts *after = &self->flushes_after;

	if (before->is_known && after->is_known)
		self->flushes += after->flushes - before->flushes;
	else if (!self->flushes_unknown)
		self->flushes_unknown = after->unknown_reason ? after->unknown_reason
							      : "flushes cannot be counted here";
}

/* Everything between the clock's start and the end of the backends; commits from before them. */
static void add_counters(struct wp_ramp_self *self, const struct wp_loop_result *result,
	const struct wp_counters *before, const struct wp_counters *after)
{
	double commits = after->values[WP_COUNTER_COMMITS] - before->values[WP_COUNTER_COMMITS];

	self->counted_transactions += result->counts.transactions;
	self->counted_warmup += result->warmup_transactions;
	for (int i = 0; i < WP_COUNTER_COUNT; i++)
		self->sums[i] += after->values[i] - self->connected.values[i];
	self->sums[WP_COUNTER_COMMITS] +=
		self->connected.values[WP_COUNTER_COMMITS] - before->values[WP_COUNTER_COMMITS];
	self->wal_bytes += self->stopped.values[WP_COUNTER_LSN_BYTES] -
			   self->connected.values[WP_COUNTER_LSN_BYTES];
	if (self->connected.cpu_ns < 0 || self->stopped.cpu_ns < 0 || self->server_cpu_ns < 0)
		self->server_cpu_ns = -1;
	else
		self->server_cpu_ns += self->stopped.cpu_ns - self->connected.cpu_ns;
	if (isfinite(commits))
		self->surplus_commits += (int64_t)commits - result->own_commits -
					 result->counts.transactions - result->warmup_transactions;
}

/* Going on without some clients was asked for; that it came to it is told. */
static void tell_losses(const struct wp_ramp_self *self, const struct wp_loop_result *result)
{
	if (result->lost_clients)
		wp_run_tell(self->run, "warning",
			"target \"%s\": %" PRId64 " of %" PRId64 " clients were lost, the first "
			"error: %s",
			self->server->target->label, result->lost_clients, self->clients,
			result->loss.message);
}

/* ---- the block ------------------------------------------------------------------------------- */

static int run_loop(struct wp_ramp_self *self, struct wp_hist *hist, struct wp_loop_result *result,
	struct wp_err *err)
{
	struct wp_conn conn = self->server->conn;
	struct wp_loop_options loop = self->options->loop;

	wp_workload_set_scale(self->options->workload, self->server->scale);
	conn.application = WP_RAMP_APPLICATION;
	loop.conn = &conn;
	loop.workload = self->options->workload;
	loop.clients = self->clients;
	loop.begin = clock_starts;
	loop.end = clock_stopped;
	loop.progress = self->options->progress ? progressed : NULL;
	loop.ctx = self;
	/* Every round draws other numbers, and the same ones on every server. */
	loop.seed += (uint64_t)self->rounds * UINT64_C(0x632be59bd9b4e019);
	return wp_loop_run(self->run->os, &loop, hist, result, err);
}

static int measure_round(
	struct wp_ramp_self *self, struct wp_hist *hist, struct wp_block *block, struct wp_err *err)
{
	struct wp_loop_result result = { 0 };
	struct wp_counters before;
	struct wp_counters after;
	int rc = wp_counter_watch_settle(self->watch, "walprobe", err);

	if (!rc)
		rc = wp_counter_watch_read(self->watch, &before, err);
	if (rc)
		return rc;
	self->watch_rc = 0;
	rc = run_loop(self, hist, &result, err);
	add_result(self, &result);
	if (!rc && self->watch_rc) {
		*err = self->watch_err;
		rc = self->watch_rc;
	}
	if (!rc)
		rc = wp_counter_watch_settle(self->watch, WP_RAMP_APPLICATION, err);
	if (!rc)
		rc = wp_counter_watch_read(self->watch, &after, err);
	if (!rc) {
		tell_losses(self, &result);
		add_counters(self, &result, &before, &after);
		add_flushes(self);
		block->operations = result.counts.transactions;
		block->elapsed_ns = result.elapsed_ns;
		block->syncs = (int64_t)(after.values[WP_COUNTER_WAL_SYNCS] -
					 self->connected.values[WP_COUNTER_WAL_SYNCS]);
		block->value = result.counts.transactions == 0
				       ? (double)NAN
				       : (double)result.counts.transactions * (double)WP_NS_PER_S /
						 (double)result.elapsed_ns;
	}
	wp_loop_result_release(&result);
	return rc;
}

/* A step that fails is told alone while the server still answers. */
static int judge_failure(struct wp_ramp_self *self, int rc, struct wp_err *err)
{
	struct wp_conn conn = self->server->conn;
	struct wp_session *session = NULL;
	struct wp_err told = *err;

	conn.limit_ns = WP_NS_PER_S;
	if (self->server->cluster)
		rc = wp_cluster_explain(self->server->cluster, rc, err);
	if (rc != -WP_E_SERVER || (self->server->cluster && !self->server->cluster->pid) ||
		wp_session_open(self->run->os, &conn, &session, NULL))
		return rc;
	wp_session_close(session);
	wp_err_prefix(&told, "target \"%s\", %" PRId64 " client%s: ", self->server->target->label,
		self->clients, self->clients == 1 ? "" : "s");
	wp_run_problem(self->run, &told);
	return -WP_E_UNSUPPORTED;
}

int wp_ramp_run_block(struct wp_measure *measure, int64_t least_ns, struct wp_hist *hist,
	struct wp_block *block, struct wp_err *err)
{
	struct wp_ramp_self *self = measure->self;
	struct wp_err own = { 0 };
	int rc = maintain(self, &own);

	(void)least_ns; /* the loop's options say how long */
	if (!rc)
		rc = wp_counter_watch_open(self->run->os, &self->server->conn, &self->watch, &own);
	if (!rc)
		rc = measure_round(self, hist, block, &own);
	wp_counter_watch_close(self->watch);
	self->watch = NULL;
	if (rc)
		rc = judge_failure(self, rc, &own);
	if (rc && err)
		*err = own;
	return rc;
}
