/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/compare_stats.h"
#include "walprobe/measure.h"
#include "walprobe/mem.h"

#include <math.h>

#define P99_SAMPLES 100
#define P999_SAMPLES 1000

void wp_block_io_add(struct wp_block_io *sum, const struct wp_block_io *more)
{
	sum->read_bytes += more->read_bytes;
	sum->written_bytes += more->written_bytes;
	sum->cpu_ns += more->cpu_ns;
	sum->device_read_bytes += more->device_read_bytes;
	sum->device_written_bytes += more->device_written_bytes;
	sum->device_flushes += more->device_flushes;
	sum->fetched_bytes += more->fetched_bytes;
	if (!sum->device_unknown)
		sum->device_unknown = more->device_unknown;
}

struct wp_measure *wp_measures_add(struct wp_measures *measures)
{
	struct wp_measure *measure = wp_xcalloc(1, sizeof(*measure));

	measures->items =
		wp_xreallocarray(measures->items, measures->count + 1, sizeof(struct wp_measure *));
	measures->items[measures->count++] = measure;
	return measure;
}

static void free_measure(struct wp_measure *measure)
{
	if (measure->release)
		measure->release(measure);
	wp_hist_release(&measure->hist);
	free(measure->values);
	free(measure->raw_values);
	free(measure->absent);
	free(measure);
}

void wp_measures_release(struct wp_measures *measures)
{
	for (size_t i = 0; i < measures->count; i++)
		free_measure(measures->items[i]);
	for (size_t i = 0; i < measures->round_count; i++)
		free(measures->rounds[i].dropped);
	free(measures->items);
	free(measures->rounds);
	memset(measures, 0, sizeof(*measures));
}

void wp_measure_set_absent(struct wp_measure *measure, const char *format, ...)
{
	va_list args;

	if (measure->absent)
		return;
	va_start(args, format);
	measure->absent = wp_xvasprintf(format, args);
	va_end(args);
}

static void append(char *out, size_t size, const char *separator, const char *word)
{
	size_t used = strlen(out);

	if (word)
		(void)snprintf(out + used, size - used, "%s%s", used ? separator : "", word);
}

const char *wp_measure_describe(const struct wp_measure *measure, char *out, size_t size)
{
	char clients[48];

	out[0] = '\0';
	append(out, size, " ", measure->target->label);
	append(out, size, " ", measure->method);
	append(out, size, " ", measure->variant);
	append(out, size, " ", measure->test);
	if (!measure->method && !measure->variant && !measure->test)
		append(out, size, " ", measure->table);
	(void)snprintf(clients, sizeof(clients), "%" PRId64 " %s", measure->clients,
		measure->clients == 1 ? "client" : "clients");
	append(out, size, ", ", measure->clients ? clients : NULL);
	return out;
}

static bool is_usable(double value)
{
	return isfinite(value) && value > 0;
}

const char *wp_measure_interval(
	const struct wp_measure *measure, double *middle, double *low, double *high)
{
	size_t rounds = (size_t)measure->round_count;
	double *logs = wp_xcalloc(rounds, sizeof(*logs));
	const char *reason = NULL;
	size_t used = 0;
	double p_value;

	*middle = *low = *high = (double)NAN;
	for (size_t i = 0; i < rounds; i++)
		if (is_usable(measure->values[i]))
			logs[used++] = log(measure->values[i]);
	if (measure->absent) {
		reason = measure->absent;
	} else if (used == 0) {
		reason = "no round was measured";
	} else {
		wp_signed_rank(logs, used, 0.95, middle, low, high, &p_value);
		*middle = exp(*middle);
		*low = exp(*low);
		*high = exp(*high);
	}
	if (!reason && used < WP_ROUNDS_MINIMUM) {
		*low = *high = (double)NAN;
		reason = "fewer than 6 rounds";
	}
	free(logs);
	return reason;
}

static bool has(const struct wp_row *row, const char *key)
{
	return wp_table_column(row->table, key) >= 0;
}

static void set_int(struct wp_row *row, const char *key, int64_t value)
{
	if (has(row, key))
		wp_row_int(row, key, value);
}

static void set_real(struct wp_row *row, const char *key, double value)
{
	if (has(row, key))
		wp_row_real(row, key, value);
}

static void set_text(struct wp_row *row, const char *key, const char *value)
{
	if (has(row, key))
		wp_row_text(row, key, value);
}

static void set_absent(struct wp_row *row, const char *key, const char *reason)
{
	if (has(row, key))
		wp_row_absent(row, key, reason);
}

/* What says which measure it is; a number of 0 and a NULL do not apply. */
static void fill_identity(const struct wp_measure *measure, struct wp_row *row)
{
	set_text(row, "target", measure->target->label);
	set_text(row, "method", measure->method);
	set_text(row, "variant", measure->variant);
	set_text(row, "test", measure->test);
	if (measure->clients)
		set_int(row, "clients", measure->clients);
	if (measure->record_bytes)
		set_int(row, "record_bytes", measure->record_bytes);
}

static void fill_absent(const struct wp_measure *measure, struct wp_row *row)
{
	static const char *const keys[] = { "ci_low", "ci_high", "mean_ns", "p50_ns", "p90_ns",
		"p99_ns", "p999_ns", "max_ns", "ops", "syncs", "flushes_per_op", "flushes_per_sync",
		"rounds", "steady" };

	set_absent(row, measure->metric, measure->absent);
	for (size_t i = 0; i < WP_COUNT(keys); i++)
		set_absent(row, keys[i], measure->absent);
}

static void fill_rate(const struct wp_measure *measure, struct wp_row *row)
{
	double middle;
	double low;
	double high;
	const char *reason = wp_measure_interval(measure, &middle, &low, &high);

	if (isfinite(middle))
		set_real(row, measure->metric, middle);
	else
		set_absent(row, measure->metric, reason);
	if (reason) {
		set_absent(row, "ci_low", reason);
		set_absent(row, "ci_high", reason);
	} else {
		set_real(row, "ci_low", low);
		set_real(row, "ci_high", high);
	}
}

static void fill_quantile(const struct wp_hist *hist, struct wp_row *row, const char *key,
	const char *name, double q, int64_t needed)
{
	char reason[96];

	if (hist->count >= needed) {
		set_int(row, key, wp_hist_quantile_ns(hist, q));
		return;
	}
	(void)snprintf(reason, sizeof(reason), "%s needs %" PRId64 " samples, there are %" PRId64,
		name, needed, hist->count);
	set_absent(row, key, reason);
}

static void fill_latencies(const struct wp_measure *measure, struct wp_row *row)
{
	static const char *const keys[] = { "mean_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns",
		"max_ns" };
	const struct wp_hist *hist = &measure->hist;

	if (hist->count == 0) {
		for (size_t i = 0; i < WP_COUNT(keys); i++)
			set_absent(row, keys[i], "no latency was recorded");
		return;
	}
	set_int(row, "mean_ns", llround((double)hist->sum_ns / (double)hist->count));
	fill_quantile(hist, row, "p50_ns", "p50", 0.5, 1);
	fill_quantile(hist, row, "p90_ns", "p90", 0.9, 1);
	fill_quantile(hist, row, "p99_ns", "p99", 0.99, P99_SAMPLES);
	fill_quantile(hist, row, "p999_ns", "p99.9", 0.999, P999_SAMPLES);
	set_int(row, "max_ns", hist->max_ns);
}

static void fill_flushes(const struct wp_measure *measure, struct wp_row *row)
{
	static const char *const keys[] = { "flushes_per_op", "flushes_per_sync" };
	const char *reason = measure->flushes_unknown;

	if (!reason && measure->syncs == 0)
		reason = "no synchronous write";
	for (size_t i = 0; i < WP_COUNT(keys); i++) {
		if (reason)
			set_absent(row, keys[i], reason);
		else
			set_real(row, keys[i], (double)measure->flushes / (double)measure->syncs);
	}
}

static void fill_steadiness(const struct wp_measure *measure, struct wp_row *row)
{
	struct wp_steady steady = wp_steady_check(measure->values, (size_t)measure->round_count);

	if (isfinite(steady.range_ratio))
		set_text(row, "steady", steady.is_steady ? "yes" : "no");
	else
		set_absent(row, "steady", "fewer than 5 rounds");
}

static int64_t count_rounds(const struct wp_measure *measure)
{
	int64_t count = 0;

	for (int64_t i = 0; i < measure->round_count; i++)
		count += isfinite(measure->values[i]) ? 1 : 0;
	return count;
}

void wp_measure_fill_row(const struct wp_measure *measure, struct wp_row *row)
{
	fill_identity(measure, row);
	if (measure->absent) {
		fill_absent(measure, row);
		return;
	}
	fill_rate(measure, row);
	fill_latencies(measure, row);
	set_int(row, "ops", measure->operations);
	set_int(row, "syncs", measure->syncs);
	fill_flushes(measure, row);
	set_int(row, "rounds", count_rounds(measure));
	fill_steadiness(measure, row);
}

static const struct wp_column rounds_columns[] = {
	{ "table", "table", "", WP_KIND_TEXT, "Table that the measurement's row is in." },
	{ "metric", "metric", "", WP_KIND_TEXT, "Column of that table that value belongs to." },
	{ "target", "target", "", WP_KIND_TEXT, "Label of the target." },
	{ "method", "method", "", WP_KIND_TEXT, "wal_sync_method, where one applies." },
	{ "variant", "variant", "", WP_KIND_TEXT, "Variant of the test, where one applies." },
	{ "clients", "clients", "", WP_KIND_INT, "Concurrent committers, where that applies." },
	{ "test", "test", "", WP_KIND_TEXT, "Name of the test, where one applies." },
	{ "record_bytes", "record", "bytes", WP_KIND_INT, "Record size, where one applies." },
	{ "round", "round", "", WP_KIND_INT, "Number of the round, from 1." },
	{ "value", "value", "", WP_KIND_REAL, "What the round gave, in the metric's unit." },
	{ "twin", "twin", "", WP_KIND_TEXT,
		"yes: the hidden second copy of a measurement, by which the machine's quietness is "
		"judged." },
	{ "dropped", "dropped", "", WP_KIND_TEXT, "Why the round does not count; empty: it does." },
	{ "foreign_cpu", "foreign CPU", "cores", WP_KIND_REAL,
		"User time of other processes during the round, 1 is one whole core." },
	{ "steal", "steal", "", WP_KIND_REAL,
		"Share of the time of all cores that the hypervisor gave to others." },
	{ "foreign_io", "foreign I/O", "", WP_KIND_REAL,
		"Share of the disks' work in the round that was not ours, from idle moments." },
};

static void set_share(struct wp_row *row, const char *key, double value)
{
	if (isfinite(value))
		wp_row_real(row, key, value);
	else
		wp_row_absent(row, key, "cannot be seen here");
}

static void fill_round(struct wp_row *row, const struct wp_measure *measure, size_t round,
	const struct wp_round_note *note)
{
	fill_identity(measure, row);
	wp_row_text(row, "table", measure->table);
	wp_row_text(row, "metric", measure->metric);
	wp_row_int(row, "round", (int64_t)round + 1);
	wp_row_real(row, "value", measure->raw_values[round]);
	wp_row_text(row, "twin", measure->is_twin ? "yes" : NULL);
	wp_row_text(row, "dropped", measure->absent ? measure->absent : note->dropped);
	set_share(row, "foreign_cpu", note->noise.foreign_cpu);
	set_share(row, "steal", note->noise.steal);
	set_share(row, "foreign_io", note->noise.foreign_io);
}

void wp_rounds_fill(const struct wp_run *run, const struct wp_measures *measures)
{
	struct wp_table *table = wp_result_table(
		run->result, "rounds", "Raw rounds", rounds_columns, WP_COUNT(rounds_columns));

	for (size_t i = 0; i < measures->count; i++) {
		const struct wp_measure *measure = measures->items[i];

		for (size_t round = 0; round < (size_t)measure->round_count; round++)
			if (isfinite(measure->raw_values[round]))
				fill_round(wp_table_add_row(table), measure, round,
					&measures->rounds[round]);
	}
}
