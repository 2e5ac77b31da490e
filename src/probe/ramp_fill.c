/* SPDX-License-Identifier: PostgreSQL */
#include "probe/ramp_internal.h"
#include "walprobe/comparison.h"
#include "walprobe/mem.h"

#include <math.h>

static const struct wp_column ramp_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label of the server or of what holds pg_wal." },
	{ "clients", "clients", "", WP_KIND_INT, "Connections that run transactions." },
	{ "threads", "threads", "", WP_KIND_INT, "Threads of walprobe that serve them." },
	{ "protocol", "protocol", "", WP_KIND_TEXT,
		"Query protocol; pipelined: each transaction in one round trip." },
	{ "tps_excluding", "tps", "1/s", WP_KIND_REAL,
		"Transactions a second without the time to connect (middle of the rounds)." },
	{ "ci_low", "low", "1/s", WP_KIND_REAL, "Lower end of its 95 % interval." },
	{ "ci_high", "high", "1/s", WP_KIND_REAL, "Upper end of its 95 % interval." },
	{ "tps_including", "tps incl. connecting", "1/s", WP_KIND_REAL,
		"The same with the time to make the connections." },
	{ "latency_mean_ns", "mean", "ns", WP_KIND_INT,
		"Mean time of a transaction; under a rate from its scheduled begin." },
	{ "latency_stddev_ns", "stddev", "ns", WP_KIND_INT, "Standard deviation of that." },
	{ "p50_ns", "p50", "ns", WP_KIND_INT, "Median time of a transaction." },
	{ "p90_ns", "p90", "ns", WP_KIND_INT, "90 % were done in this time." },
	{ "p99_ns", "p99", "ns", WP_KIND_INT, "99 % were done in this time." },
	{ "p999_ns", "p99.9", "ns", WP_KIND_INT, "99.9 % were done in this time." },
	{ "max_ns", "max", "ns", WP_KIND_INT, "Longest transaction." },
	{ "max_stall_ns", "stall", "ns", WP_KIND_INT,
		"Longest time in which no client finished a transaction." },
	{ "commits_per_sync", "commits /sync", "", WP_KIND_REAL,
		"Transactions for each sync of the log (write, where the method syncs by "
		"writing)." },
	{ "wal_write_mean_ns", "wal write", "ns", WP_KIND_INT, "Mean time of a write of the log." },
	{ "wal_sync_mean_ns", "wal sync", "ns", WP_KIND_INT, "Mean time of a sync of the log." },
	{ "wal_bytes_per_transaction", "wal bytes", "bytes", WP_KIND_REAL,
		"Log written for each transaction." },
	{ "wal_fpi_per_transaction", "page images", "", WP_KIND_REAL,
		"Whole pages in the log for each transaction." },
	{ "checkpoints", "checkpoints", "", WP_KIND_INT, "Checkpoints within the rounds." },
	{ "flushes", "flushes", "", WP_KIND_INT,
		"FLUSH requests at the device while the clock ran, everybody's." },
	{ "flushes_per_sync", "flush /sync", "", WP_KIND_REAL,
		"These for each sync of the log (write, where the method syncs by writing)." },
	{ "transactions", "transactions", "", WP_KIND_INT,
		"Transactions done in all rounds, those of dropped rounds included." },
	{ "failed", "failed", "", WP_KIND_INT,
		"Transactions given up after a serialization failure or deadlock." },
	{ "serialization_failures", "serialization", "", WP_KIND_INT, "Of these, serialization." },
	{ "deadlock_failures", "deadlock", "", WP_KIND_INT, "Of these, deadlock." },
	{ "retried", "retried", "", WP_KIND_INT, "Transactions tried more than once." },
	{ "retries", "retries", "", WP_KIND_INT, "Tries beyond the first." },
	{ "skipped", "skipped", "", WP_KIND_INT, "Too late for the latency limit, not begun." },
	{ "late", "late", "", WP_KIND_INT, "Done, above the latency limit." },
	{ "cut", "cut", "", WP_KIND_INT,
		"Under way when the time was over and the server did not answer." },
	{ "warmup_transactions", "warm-up", "", WP_KIND_INT,
		"Transactions done before the clock, which are no figure." },
	{ "lost_clients", "lost", "", WP_KIND_INT, "Clients that an error ended." },
	{ "rounds", "rounds", "", WP_KIND_INT, "Rounds that count." },
	{ "elapsed_ns", "elapsed", "ns", WP_KIND_INT, "Measured time of all rounds." },
	{ "overrun_ns", "overrun", "ns", WP_KIND_INT, "Longest time beyond the one asked for." },
	{ "connect_ns", "connect", "ns", WP_KIND_INT,
		"Time to make a round's connections, one after the other in each thread." },
	{ "schedule_lag_mean_ns", "lag", "ns", WP_KIND_INT,
		"Mean time from a transaction's scheduled to its real begin." },
	{ "schedule_lag_max_ns", "max lag", "ns", WP_KIND_INT, "Longest such time." },
	{ "client_cpu_ns_per_transaction", "client CPU", "ns", WP_KIND_INT,
		"Processor time of walprobe's client threads for each transaction." },
	{ "server_cpu_ns_per_transaction", "server CPU", "ns", WP_KIND_INT,
		"Processor time of the server's processes for each transaction." },
	{ "steady", "steady", "", WP_KIND_TEXT, "Whether the last rounds agree with each other." },
	{ "ranked", "ranked", "", WP_KIND_TEXT,
		"yes, or why the figures do not speak of the log's speed." },
};

static const struct wp_column statement_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label of the server." },
	{ "clients", "clients", "", WP_KIND_INT, "Connections that run transactions." },
	{ "script", "script", "", WP_KIND_TEXT, "Script that the command is in." },
	{ "number", "#", "", WP_KIND_INT, "Place of the command in the script, from 1." },
	{ "mean_ns", "mean", "ns", WP_KIND_INT, "Mean time of the command." },
	{ "executions", "executions", "", WP_KIND_INT, "How often it was run without error." },
	{ "failures", "failures", "", WP_KIND_INT, "Serialization failures and deadlocks in it." },
	{ "retries", "retries", "", WP_KIND_INT,
		"Such errors after which the transaction was tried again." },
	{ "command", "command", "", WP_KIND_TEXT, "The command." },
};

static const struct wp_column script_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label of the server." },
	{ "clients", "clients", "", WP_KIND_INT, "Connections that run transactions." },
	{ "script", "script", "", WP_KIND_TEXT, "Name of the script." },
	{ "weight", "weight", "", WP_KIND_INT, "Its weight among the scripts." },
	{ "transactions", "transactions", "", WP_KIND_INT, "Transactions done in all rounds." },
	{ "serialization_failures", "serialization", "", WP_KIND_INT,
		"Given up after a serialization failure." },
	{ "deadlock_failures", "deadlock", "", WP_KIND_INT, "Given up after a deadlock." },
	{ "latency_mean_ns", "mean", "ns", WP_KIND_INT, "Mean time of a transaction." },
	{ "latency_stddev_ns", "stddev", "ns", WP_KIND_INT, "Standard deviation of that." },
};

/* ---- the server's part ----------------------------------------------------------------------- */

static bool is_open_method(const struct wp_ramp_server *server)
{
	const char *method = wp_server_setting(&server->facts, "wal_sync_method");

	return method && strncmp(method, "open_", 5) == 0;
}

static bool is_timed(const struct wp_ramp_server *server)
{
	const char *timing = wp_server_setting(&server->facts, "track_wal_io_timing");

	return timing && strcmp(timing, "on") == 0;
}

/* A quotient, or the reason why there is none. */
static void set_ratio(struct wp_row *row, const char *key, double above, double below,
	const char *absent, const char *none)
{
	if (absent || !isfinite(above) || !isfinite(below))
		wp_row_absent(row, key, absent ? absent : "the server does not tell");
	else if (below <= 0)
		wp_row_absent(row, key, none);
	else
		wp_row_real(row, key, above / below);
}

static void set_mean_ms(struct wp_row *row, const char *key, double sum_ms, double count,
	const char *absent, const char *none)
{
	if (absent || !isfinite(sum_ms) || !isfinite(count))
		wp_row_absent(row, key, absent ? absent : "the server does not tell");
	else if (count <= 0)
		wp_row_absent(row, key, none);
	else
		wp_row_int(row, key, (int64_t)(sum_ms / count * 1e6));
}

static void fill_wal(struct wp_row *row, const struct wp_ramp_self *self)
{
	const struct wp_ramp_server *server = self->server;
	const char *absent = wp_counter_absent(server->facts.version_number, WP_COUNTER_WAL_SYNCS);
	bool is_open = is_open_method(server);
	const char *untimed =
		is_timed(server) || self->is_wal_timed
			? NULL
			: "track_wal_io_timing is off, and only a superuser may set it";
	double transactions = (double)(self->counted_transactions + self->counted_warmup);
	double syncs = self->sums[WP_COUNTER_WAL_SYNCS];
	double writes = self->sums[WP_COUNTER_WAL_WRITES];

	set_ratio(row, "commits_per_sync", transactions, is_open ? writes : syncs, absent,
		"the log was not synced");
	set_mean_ms(row, "wal_write_mean_ns", self->sums[WP_COUNTER_WAL_WRITE_MS], writes,
		absent ? absent : untimed, "the log was not written");
	set_mean_ms(row, "wal_sync_mean_ns",
		self->sums[is_open ? WP_COUNTER_WAL_WRITE_MS : WP_COUNTER_WAL_SYNC_MS],
		is_open ? writes : syncs, absent ? absent : untimed, "the log was not synced");
	set_ratio(row, "wal_bytes_per_transaction", self->wal_bytes,
		(double)self->counted_transactions, NULL, "no transaction was done");
	set_ratio(row, "wal_fpi_per_transaction", self->sums[WP_COUNTER_WAL_FPI], transactions,
		absent, "no transaction was done");
	if (isfinite(self->sums[WP_COUNTER_CHECKPOINTS]))
		wp_row_int(row, "checkpoints", (int64_t)self->sums[WP_COUNTER_CHECKPOINTS]);
	else
		wp_row_absent(row, "checkpoints", "the server does not tell");
}

static void fill_flushes(struct wp_row *row, const struct wp_ramp_self *self)
{
	const struct wp_ramp_server *server = self->server;
	const char *absent = wp_counter_absent(server->facts.version_number, WP_COUNTER_WAL_SYNCS);
	enum wp_counter syncs =
		is_open_method(server) ? WP_COUNTER_WAL_WRITES : WP_COUNTER_WAL_SYNCS;

	if (self->flushes_unknown || !self->rounds) {
		const char *reason = self->rounds ? self->flushes_unknown : "no round was measured";

		wp_row_absent(row, "flushes", reason);
		wp_row_absent(row, "flushes_per_sync", reason);
		return;
	}
	wp_row_int(row, "flushes", self->flushes);
	set_ratio(row, "flushes_per_sync", (double)self->flushes, self->sums[syncs], absent,
		"the log was not synced");
}

static void fill_cpu(struct wp_row *row, const struct wp_ramp_self *self)
{
	int64_t transactions = self->counts.transactions;

	if (transactions == 0) {
		wp_row_absent(row, "client_cpu_ns_per_transaction", "no transaction was done");
		wp_row_absent(row, "server_cpu_ns_per_transaction", "no transaction was done");
		return;
	}
	wp_row_int(row, "client_cpu_ns_per_transaction", self->cpu_ns / transactions);
	if (self->server_cpu_ns < 0)
		wp_row_absent(row, "server_cpu_ns_per_transaction",
			"the server's processes cannot be seen from here");
	else
		wp_row_int(
			row, "server_cpu_ns_per_transaction", self->server_cpu_ns / transactions);
}

/* ---- the clients' part ----------------------------------------------------------------------- */

static void fill_counts(struct wp_row *row, const struct wp_ramp_self *self)
{
	const struct wp_loop_counts *counts = &self->counts;

	wp_row_int(row, "transactions", counts->transactions);
	wp_row_int(row, "serialization_failures", counts->serialization_failures);
	wp_row_int(row, "deadlock_failures", counts->deadlock_failures);
	wp_row_int(row, "failed", counts->serialization_failures + counts->deadlock_failures);
	wp_row_int(row, "retried", counts->retried);
	wp_row_int(row, "retries", counts->retries);
	wp_row_int(row, "skipped", counts->skipped);
	if (self->options->loop.latency_limit_ns)
		wp_row_int(row, "late", counts->late);
	else
		wp_row_absent(row, "late", "no latency limit was set");
	wp_row_int(row, "cut", self->cut);
	wp_row_int(row, "warmup_transactions", self->warmup_transactions);
	wp_row_int(row, "lost_clients", self->lost_clients);
}

static void fill_times(struct wp_row *row, const struct wp_ramp_self *self)
{
	const struct wp_loop_options *loop = &self->options->loop;
	int64_t transactions = self->counts.transactions;

	if (!self->rounds)
		return;
	wp_row_int(row, "elapsed_ns", self->elapsed_ns);
	wp_row_int(row, "connect_ns",
		loop->is_reconnecting && transactions ? self->reconnect_ns / transactions
						      : self->connect_ns / self->rounds);
	wp_row_int(row, "max_stall_ns", self->stall_ns);
	if (loop->transactions)
		wp_row_absent(row, "overrun_ns", "the steps are not limited by time");
	else
		wp_row_int(row, "overrun_ns", self->overrun_ns);
	if (loop->rate_per_s > 0 && transactions) {
		wp_row_int(row, "schedule_lag_mean_ns", self->counts.lag_sum_ns / transactions);
		wp_row_int(row, "schedule_lag_max_ns", self->lag_max_ns);
	} else {
		wp_row_absent(row, "schedule_lag_mean_ns", "no rate was set");
		wp_row_absent(row, "schedule_lag_max_ns", "no rate was set");
	}
}

static void fill_latency(
	struct wp_row *row, int64_t transactions, int64_t sum_ns, double square_sum)
{
	double count = (double)transactions;
	double mean;
	double variance;

	if (count < 1) {
		wp_row_absent(row, "latency_mean_ns", "no transaction was done");
		wp_row_absent(row, "latency_stddev_ns", "no transaction was done");
		return;
	}
	mean = (double)sum_ns / count;
	variance = square_sum / count - mean * mean;
	wp_row_int(row, "latency_mean_ns", (int64_t)mean);
	wp_row_int(row, "latency_stddev_ns", (int64_t)sqrt(variance > 0 ? variance : 0));
}

/* Connecting stretches every round alike, so the middle is scaled. */
static void fill_including(
	struct wp_row *row, const struct wp_measure *measure, const struct wp_ramp_self *self)
{
	double tps = wp_row_get_number(row, "tps_excluding");
	double elapsed = (double)self->elapsed_ns;
	double connect = (double)self->connect_ns;

	if (isfinite(tps) && elapsed > 0)
		wp_row_real(row, "tps_including", tps * elapsed / (elapsed + connect));
	else
		wp_row_absent(row, "tps_including",
			measure->absent ? measure->absent : "no round was measured");
}

static bool was_run(const struct wp_measure *measure)
{
	const struct wp_ramp_self *self = measure->self;

	return !measure->absent || self->rounds > 0;
}

/* A step that never began: no count of it is 0, there is none. */
static void fill_nothing(struct wp_row *row, const char *reason)
{
	for (size_t i = 0; i < WP_COUNT(ramp_columns); i++) {
		const struct wp_cell *cell = wp_row_cell(row, ramp_columns[i].key);

		if (cell->state == WP_CELL_ABSENT && !cell->text)
			wp_row_absent(row, ramp_columns[i].key, reason);
	}
}

static void fill_row(struct wp_table *table, const struct wp_measure *measure)
{
	const struct wp_ramp_self *self = measure->self;
	const struct wp_loop_options *loop = &self->options->loop;
	struct wp_row *row = wp_table_add_row(table);
	const char *protocol = wp_workload_protocol(self->options->workload);
	char text[32];

	wp_measure_fill_row(measure, row);
	wp_row_int(row, "threads", loop->threads < self->clients ? loop->threads : self->clients);
	(void)snprintf(text, sizeof(text), "%s%s", protocol,
		wp_workload_is_pipelined(self->options->workload) ? " pipelined" : "");
	wp_row_text(row, "protocol", text);
	if (!was_run(measure)) {
		fill_nothing(row, measure->absent);
		return;
	}
	wp_row_text(row, "ranked", self->server->unranked ? self->server->unranked : "yes");
	fill_counts(row, self);
	fill_times(row, self);
	fill_latency(row, self->counts.transactions, self->counts.latency_sum_ns,
		self->counts.latency_square_sum);
	fill_including(row, measure, self);
	fill_wal(row, self);
	fill_flushes(row, self);
	fill_cpu(row, self);
}

static void fill_statements(struct wp_run *run, const struct wp_measure *measure)
{
	const struct wp_ramp_self *self = measure->self;
	const struct wp_workload *workload = self->options->workload;
	size_t at = 0;
	struct wp_table *table;

	if (!self->commands)
		return;
	table = wp_result_table(run->result, "statements", "Time of each command of the scripts",
		statement_columns, WP_COUNT(statement_columns));
	for (size_t i = 0; i < wp_workload_count(workload); i++) {
		for (size_t j = 0; j < wp_workload_command_count(workload, i); j++, at++) {
			const struct wp_loop_command *command = &self->commands[at];
			struct wp_row *row = wp_table_add_row(table);

			wp_row_text(row, "target", measure->target->label);
			wp_row_int(row, "clients", self->clients);
			wp_row_text(row, "script", wp_workload_title(workload, i));
			wp_row_int(row, "number", (int64_t)j + 1);
			wp_row_text(row, "command", wp_workload_command_title(workload, i, j));
			wp_row_int(row, "executions", command->count);
			wp_row_int(row, "failures", command->failures);
			wp_row_int(row, "retries", command->retries);
			if (command->count)
				wp_row_int(row, "mean_ns", command->sum_ns / command->count);
			else
				wp_row_absent(row, "mean_ns", "it was not run");
		}
	}
}

static void fill_scripts(struct wp_run *run, const struct wp_measure *measure)
{
	const struct wp_ramp_self *self = measure->self;
	const struct wp_workload *workload = self->options->workload;
	struct wp_table *table = wp_result_table(run->result, "scripts", "Scripts that were run",
		script_columns, WP_COUNT(script_columns));

	for (size_t i = 0; i < wp_workload_count(workload); i++) {
		const struct wp_loop_script *script = &self->scripts[i];
		struct wp_row *row = wp_table_add_row(table);

		wp_row_text(row, "target", measure->target->label);
		wp_row_int(row, "clients", self->clients);
		wp_row_text(row, "script", wp_workload_title(workload, i));
		wp_row_int(row, "weight", wp_workload_weight(workload, i));
		wp_row_int(row, "transactions", script->transactions);
		wp_row_int(row, "serialization_failures", script->serialization_failures);
		wp_row_int(row, "deadlock_failures", script->deadlock_failures);
		fill_latency(row, script->transactions, script->latency_sum_ns,
			script->latency_square_sum);
	}
}

/* ---- findings -------------------------------------------------------------------------------- */

static double spread_of(const struct wp_measure *measure)
{
	double low = INFINITY;
	double high = -INFINITY;
	double sum = 0;
	int64_t count = 0;

	for (int64_t i = 0; i < measure->round_count; i++) {
		double value = measure->values[i];

		if (!isfinite(value))
			continue;
		low = value < low ? value : low;
		high = value > high ? value : high;
		sum += value;
		count++;
	}
	return count > 1 && sum > 0 ? (high - low) / (sum / (double)count) : (double)NAN;
}

static void describe_step(const struct wp_measure *measure, struct wp_ramp_step *step)
{
	const struct wp_ramp_self *self = measure->self;
	int64_t threads = self->options->loop.threads < self->clients ? self->options->loop.threads
								      : self->clients;

	memset(step, 0, sizeof(*step));
	step->clients = self->clients;
	(void)wp_measure_interval(measure, &step->tps, &step->tps_low, &step->tps_high);
	step->spread = spread_of(measure);
	step->rounds = self->rounds;
	step->elapsed_ns = self->rounds ? self->elapsed_ns / self->rounds : 0;
	step->connect_ns = self->rounds ? self->connect_ns / self->rounds : 0;
	step->client_cpu =
		self->elapsed_ns ? (double)self->cpu_ns / (double)(self->elapsed_ns * threads) : 0;
	step->checkpoints = self->sums[WP_COUNTER_CHECKPOINTS];
	step->idle_clients = self->idle_clients;
}

/* Only where every transaction is one commit: the built-in scripts. */
static void check_accounting(struct wp_run *run, const struct wp_measure *measure)
{
	const struct wp_ramp_self *self = measure->self;
	char observed[160];

	if (measure->absent || !self->rounds ||
		!wp_workload_is_builtin_only(self->options->workload) ||
		!isfinite(self->sums[WP_COUNTER_COMMITS]))
		return;
	(void)snprintf(observed, sizeof(observed),
		"%" PRId64 " clients: %" PRId64 " transactions here, %" PRId64
		" commits more on the server",
		self->clients, self->counts.transactions, self->surplus_commits);
	wp_result_add_check(run->result, "accounting", measure->target->label,
		self->surplus_commits == 0 ? WP_CHECK_PASS : WP_CHECK_INFO,
		"as many commits on the server as transactions here", observed,
		self->surplus_commits == 0
			? "every transaction counted here is a commit of the server"
			: "other sessions, autovacuum among them, committed in the same database "
			  "during the steps");
}

static void judge_server(
	struct wp_run *run, const struct wp_measures *measures, const struct wp_target *target)
{
	struct wp_ramp_step steps[WP_RAMP_STEPS_MAX];
	const struct wp_ramp_self *self = NULL;
	size_t count = 0;

	for (size_t i = 0; i < measures->count && count < WP_RAMP_STEPS_MAX; i++) {
		if (measures->items[i]->target != target)
			continue;
		self = measures->items[i]->self;
		check_accounting(run, measures->items[i]);
		if (!measures->items[i]->absent && self->rounds)
			describe_step(measures->items[i], &steps[count++]);
	}
	if (self)
		wp_ramp_judge(run->result, target->label, self->server->scale,
			wp_workload_has_hot_rows(self->options->workload), steps, count);
}

/* The servers whose figures speak of their logs; borrowed. */
static void compare(struct wp_run *run, const struct wp_measures *measures)
{
	struct wp_measures ranked = *measures;
	const struct wp_target *first = NULL;
	bool is_several = false;

	ranked.items = wp_xcalloc(measures->count, sizeof(struct wp_measure *));
	ranked.count = 0;
	for (size_t i = 0; i < measures->count; i++) {
		const struct wp_ramp_self *self = measures->items[i]->self;

		if (self->server->unranked || measures->items[i]->absent)
			continue;
		is_several = is_several || (first && first != measures->items[i]->target);
		first = first ? first : measures->items[i]->target;
		ranked.items[ranked.count++] = measures->items[i];
	}
	if (is_several)
		wp_comparison_fill(run, &ranked, WP_COMPARISON_MARGIN);
	free(ranked.items);
}

void wp_ramp_fill(struct wp_run *run, const struct wp_measures *measures)
{
	struct wp_table *table = wp_result_table(
		run->result, "ramp", "Client ramp", ramp_columns, WP_COUNT(ramp_columns));

	for (size_t i = 0; i < measures->count; i++) {
		fill_row(table, measures->items[i]);
		if (!was_run(measures->items[i]))
			continue;
		fill_scripts(run, measures->items[i]);
		fill_statements(run, measures->items[i]);
	}
	for (size_t i = 0; i < measures->count; i++)
		if (i == 0 || measures->items[i]->target != measures->items[i - 1]->target)
			judge_server(run, measures, measures->items[i]->target);
	compare(run, measures);
}
