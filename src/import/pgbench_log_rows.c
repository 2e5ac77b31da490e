/* SPDX-License-Identifier: PostgreSQL */
#include "import/pgbench_log.h"
#include "import/place.h"

#include <math.h>

/* Which of a run's transactions a log of them holds. */
struct whole {
	size_t clients;
	bool is_part;    /* clients' numbers have gaps: one thread's log */
	bool is_sampled; /* transactions are missing */
	bool is_more;    /* the same number comes twice: more than one run */
};

static struct whole look(const struct wp_import_log *log)
{
	struct whole whole = { .clients = 0 };
	bool is_gap = false;

	for (size_t i = 0; i < log->client_room; i++) {
		const struct log_client *client = &log->clients[i];
		uint64_t range = client->last - client->first + 1;

		if (!client->count) {
			is_gap = true;
			continue;
		}
		whole.is_part = whole.is_part || is_gap;
		whole.clients++;
		whole.is_more = whole.is_more || client->count > range;
		whole.is_sampled = whole.is_sampled || client->count < range || client->first > 1;
	}
	return whole;
}

static const char *why_no_rate(const struct whole *whole)
{
	if (whole->is_part)
		return "clients are missing: it is one thread's log of several";
	if (whole->is_more)
		return "transactions come twice: the log holds more than one run";
	if (whole->is_sampled)
		return "transactions are missing: the log is a sample or a part";
	return NULL;
}

static void set_moments(struct wp_row *row, const struct log_sums *sums)
{
	double count = (double)sums->count;
	double mean = sums->sum_us / count;
	double variance = sums->square_us / count - mean * mean;

	if (!sums->count) {
		wp_row_absent(row, "latency_mean_ns", "no transaction was done");
		wp_row_absent(row, "latency_stddev_ns", "no transaction was done");
		wp_row_absent(row, "max_ns", "no transaction was done");
		return;
	}
	wp_row_int(row, "latency_mean_ns", llround(mean * 1e3));
	wp_row_int(row, "latency_stddev_ns", llround(sqrt(variance > 0 ? variance : 0) * 1e3));
	wp_row_int(row, "max_ns", (int64_t)sums->max_us * WP_NS_PER_US);
}

static void set_percentiles(struct wp_row *row, const struct wp_import_log *log)
{
	static const struct {
		const char *key;
		double quantile;
		int64_t samples;
		const char *few;
	} cells[] = {
		{ "p50_ns", 0.5, 1, "no transaction was done" },
		{ "p90_ns", 0.9, 10, "fewer than 10 transactions" },
		{ "p99_ns", 0.99, 100, "fewer than 100 transactions" },
		{ "p999_ns", 0.999, 1000, "fewer than 1,000 transactions" },
	};

	for (size_t i = 0; i < WP_COUNT(cells); i++)
		if (log->form == LOG_AGGREGATE)
			wp_row_absent(row, cells[i].key, "the log has sums only");
		else if (log->hist.count < cells[i].samples)
			wp_row_absent(row, cells[i].key, cells[i].few);
		else
			wp_row_int(row, cells[i].key,
				wp_hist_quantile_ns(&log->hist, cells[i].quantile));
}

/* ---- the run --------------------------------------------------------------------------------- */

static void set_transactions(struct wp_row *row, const struct wp_import_log *log)
{
	struct whole whole = look(log);
	const char *why = why_no_rate(&whole);
	double seconds = (double)(log->last_us - log->first_us) / 1e6;

	if (whole.is_part)
		wp_row_absent(row, "clients", why);
	else
		wp_row_int(row, "clients", (int64_t)whole.clients);
	if (!why && seconds > 0 && log->first_us) {
		wp_row_real(row, "tps_excluding", (double)log->total.sums.count / seconds);
		wp_row_int(row, "elapsed_ns", llround(seconds * 1e9));
	} else {
		wp_row_absent(row, "tps_excluding", why ? why : "no transaction was done");
		wp_row_absent(row, "elapsed_ns", why ? why : "no transaction was done");
	}
}

/* The last interval may not be a whole one. */
static void set_intervals(struct wp_row *row, const struct wp_import_log *log)
{
	const struct log_span *last = &log->spans[log->span_count - 1];
	double seconds = log->interval_s ? (double)(log->previous_s - log->begin_s) : 0;

	wp_row_absent(row, "clients", "a log of intervals does not tell");
	if (seconds > 0 && log->span_s <= log->interval_s) {
		wp_row_real(row, "tps_excluding",
			(double)(log->total.sums.count - last->sums.count) / seconds);
		wp_row_int(row, "elapsed_ns", llround(seconds * 1e9));
	} else {
		wp_row_absent(row, "tps_excluding", "too few or too many intervals");
	}
}

/* With seven fields the last one is the delay under a rate or the number of retries. */
static void set_lag(struct wp_row *row, const struct wp_import_log *log)
{
	bool has_lag = log->form == LOG_AGGREGATE ? log->field_count >= 10 : log->field_count == 8;
	bool has_retries =
		log->form == LOG_AGGREGATE ? log->field_count >= 15 : log->field_count == 8;
	const char *why = log->form == LOG_TRANSACTIONS && log->field_count == 7
				  ? "the seventh column is the lag (-R) or the retries "
				    "(--max-tries): the log does not tell which"
				  : "not in this form of the log";
	double count = (double)log->total.sums.count;

	if (has_lag && count > 0) {
		wp_row_int(
			row, "schedule_lag_mean_ns", llround(log->total.lag_sum_us / count * 1e3));
		wp_row_int(row, "schedule_lag_max_ns", llround(log->lag_max_us * 1e3));
	} else {
		wp_row_absent(row, "schedule_lag_mean_ns", why);
		wp_row_absent(row, "schedule_lag_max_ns", why);
	}
	if (has_retries) {
		wp_row_int(row, "retried", (int64_t)log->total.retried);
		wp_row_int(row, "retries", (int64_t)log->total.retries);
	} else {
		wp_row_absent(row, "retried", why);
		wp_row_absent(row, "retries", why);
	}
}

static void add_ramp(struct wp_import *in, const struct wp_import_log *log, const char *target)
{
	struct wp_row *row = wp_import_row(wp_import_ramp_table(in), target);
	bool has_counts = log->form == LOG_TRANSACTIONS || log->field_count >= 15;

	wp_row_int(row, "transactions", (int64_t)log->total.sums.count);
	if (log->form == LOG_TRANSACTIONS || log->field_count >= 11)
		wp_row_int(row, "skipped", (int64_t)log->total.skipped);
	if (has_counts)
		wp_row_int(row, "failed", (int64_t)log->total.failed);
	/* a log with "failed" does not tell which kind */
	if (has_counts &&
		log->total.failed == log->serialization_failures + log->deadlock_failures) {
		wp_row_int(row, "serialization_failures", (int64_t)log->serialization_failures);
		wp_row_int(row, "deadlock_failures", (int64_t)log->deadlock_failures);
	}
	if (log->form == LOG_TRANSACTIONS)
		set_transactions(row, log);
	else
		set_intervals(row, log);
	wp_row_absent(row, "tps_including", "the log does not tell when connecting began");
	set_moments(row, &log->total.sums);
	if (log->total.sums.count)
		wp_row_text(row, "latency_from", "printed");
	set_percentiles(row, log);
	set_lag(row, log);
	wp_row_text(row, "ranked", "yes");
	wp_import_absent_rest(row, "pgbench's log does not tell");
}

static void add_scripts(struct wp_import *in, const struct wp_import_log *log, const char *target)
{
	char name[32];

	for (size_t i = 0; log->script_count > 1 && i < log->script_count; i++) {
		struct wp_row *row;

		if (!log->scripts[i].count)
			continue;
		row = wp_import_row(wp_import_scripts_table(in), target);
		(void)snprintf(name, sizeof(name), "number %zu", i);
		wp_row_text(row, "script", name);
		wp_row_int(row, "transactions", (int64_t)log->scripts[i].count);
		set_moments(row, &log->scripts[i]);
		wp_import_absent_rest(row, "pgbench's log does not tell");
	}
}

static void add_progress(struct wp_import *in, const struct wp_import_log *log, const char *target)
{
	bool is_log = log->form == LOG_TRANSACTIONS;
	uint64_t width_s = is_log || log->span_s > log->interval_s ? log->span_s : log->interval_s;
	size_t step = (size_t)(width_s / log->span_s);

	for (size_t i = 0; i < log->span_count; i += step) {
		struct log_span span = log_spans_sum(log, i, i + step);
		struct wp_row *row = wp_import_row(wp_import_progress_table(in), target);
		bool is_edge = i + step >= log->span_count || (is_log && i == 0);

		wp_row_int(row, "time_ns",
			(int64_t)((uint64_t)i * log->span_s + width_s) * WP_NS_PER_S);
		wp_row_int(row, "interval_ns", (int64_t)width_s * WP_NS_PER_S);
		wp_row_int(row, "transactions", (int64_t)span.sums.count);
		if (is_edge)
			wp_row_absent(row, "tps", "the interval may not be a whole one");
		else
			wp_row_real(row, "tps", (double)span.sums.count / (double)width_s);
		set_moments(row, &span.sums);
		wp_row_int(row, "skipped", (int64_t)span.skipped);
		wp_row_int(row, "failed", (int64_t)span.failed);
		wp_import_absent_rest(row, "pgbench's log does not tell");
	}
}

void log_add_rows(struct wp_import *in, const struct wp_import_log *log, size_t line)
{
	struct wp_import_run run = { .tool = "pgbench", .line = line };
	const char *target;
	char observed[64];

	if (!log->lines)
		return;
	run.line_count = (size_t)(log->lines + log->strange_lines);
	target = wp_import_add_run(in, &run);
	add_ramp(in, log, target);
	add_scripts(in, log, target);
	add_progress(in, log, target);
	if (!log->strange_lines)
		return;
	(void)snprintf(observed, sizeof(observed), "%" PRIu64 " of %" PRIu64 " lines",
		log->strange_lines, log->strange_lines + log->lines);
	wp_result_add_check(in->result, "import-lines", target, WP_CHECK_UNKNOWN,
		"every line is one of the log", observed,
		"some lines of the log were not understood and are left out: the file is cut, or "
		"more than a log");
}
