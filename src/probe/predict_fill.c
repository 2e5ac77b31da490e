/* SPDX-License-Identifier: PostgreSQL */
#include "predict_internal.h"

#include "walprobe/batch_law.h"
#include "walprobe/host.h"

#include <math.h>

#define ERROR_FINE_PERCENT 20

static const struct wp_column columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label of the target." },
	{ "method", "method", "", WP_KIND_TEXT, "wal_sync_method." },
	{ "clients", "clients", "", WP_KIND_INT, "Clients that run transactions." },
	{ "commit_delay_ns", "delay", "ns", WP_KIND_INT, "commit_delay of model and server." },
	{ "tps_predicted", "predicted tps", "1/s", WP_KIND_REAL,
		"Transactions a second by the model, middle of the rounds." },
	{ "predicted_low", "low", "1/s", WP_KIND_REAL, "Lower end of its 95 % interval." },
	{ "predicted_high", "high", "1/s", WP_KIND_REAL, "Upper end of its 95 % interval." },
	{ "tps_measured", "measured tps", "1/s", WP_KIND_REAL,
		"Transactions a second of a real server on the same target in the same rounds." },
	{ "measured_low", "low", "1/s", WP_KIND_REAL, "Lower end of its 95 % interval." },
	{ "measured_high", "high", "1/s", WP_KIND_REAL, "Upper end of its 95 % interval." },
	{ "error_percent", "error", "%", WP_KIND_REAL,
		"How much the prediction lies above (below: minus) what was measured." },
	{ "commits_per_sync_predicted", "commits /sync", "", WP_KIND_REAL,
		"Transactions for each sync of the log in the model." },
	{ "commits_per_sync_measured", "measured", "", WP_KIND_REAL,
		"Transactions for each sync of the log on the real server." },
	{ "flush_predicted_ns", "flush", "ns", WP_KIND_INT,
		"Mean time of writing and syncing the log in the model." },
	{ "flush_measured_ns", "measured", "ns", WP_KIND_INT,
		"Mean time of writing and syncing the log on the real server." },
	{ "cpu_predicted_ns", "CPU", "ns", WP_KIND_INT,
		"Processor time of a transaction in the model, clients and backends." },
	{ "cpu_measured_ns", "measured", "ns", WP_KIND_INT,
		"Processor time of a transaction on the real server, clients and server." },
	{ "tps_closed_form", "closed form", "1/s", WP_KIND_REAL,
		"Transactions a second by theory, from the sync of a page alone." },
	{ "closed_form_error_percent", "its error", "%", WP_KIND_REAL,
		"How much the closed form lies above (below: minus) what was measured, or "
		"predicted "
		"where nothing was measured." },
};

static bool is_model(const struct wp_measure *measure)
{
	return strcmp(measure->metric, PREDICT_METRIC) == 0;
}

static bool is_same_cell(const struct wp_measure *a, const struct wp_measure *b)
{
	return a->target == b->target && a->clients == b->clients &&
	       strcmp(a->method, b->method) == 0 && !a->variant == !b->variant &&
	       (!a->variant || strcmp(a->variant, b->variant) == 0);
}

static const struct wp_measure *find_check(
	const struct wp_measures *measures, const struct wp_measure *model)
{
	for (size_t i = 0; i < measures->count; i++)
		if (strcmp(measures->items[i]->metric, CHECK_METRIC) == 0 &&
			is_same_cell(measures->items[i], model))
			return measures->items[i];
	return NULL;
}

/* One page overwritten and synced, again and again: nothing else is known of the place. */
static const struct wp_measure *find_sync(
	const struct wp_measures *measures, const struct wp_measure *model)
{
	for (size_t i = 0; i < measures->count; i++)
		if (strcmp(measures->items[i]->table, "sync") == 0 &&
			measures->items[i]->target == model->target &&
			strcmp(measures->items[i]->method, model->method) == 0)
			return measures->items[i];
	return NULL;
}

static double variation_of(const struct wp_hist *hist)
{
	double mean = (double)hist->sum_ns / (double)hist->count;
	double sum = 0;

	for (size_t i = 0; i < WP_HIST_BUCKETS; i++) {
		double off = (double)wp_hist_bucket_top_ns(i) - mean;

		if (hist->counts[i])
			sum += (double)hist->counts[i] * off * off;
	}
	return sqrt(sum / (double)hist->count) / mean;
}

static double closed_form(const struct wp_predict_options *options, const struct wp_measure *model,
	const struct wp_measure *sync)
{
	const struct wp_calibration *calibration = options->calibration;
	struct wp_calibration_step one = wp_calibration_step_for(calibration, 1);
	struct wp_calibration_step step = wp_calibration_step_for(calibration, model->clients);
	struct wp_batch_law law = { .clients = model->clients,
		.outside_ns = 1e9 / one.tps * (double)one.clients,
		.cpu_ns = step.server_cpu_ns + step.client_cpu_ns,
		.processors = (double)wp_host_processors() };

	if (!sync || sync->absent || sync->hist.count == 0)
		return (double)NAN;
	law.flush_ns = (double)sync->hist.sum_ns / (double)sync->hist.count;
	law.variation = variation_of(&sync->hist);
	return wp_batch_law_rate(&law);
}

static void set_interval(struct wp_row *row, const struct wp_measure *measure, const char *value,
	const char *low_key, const char *high_key)
{
	double middle;
	double low;
	double high;
	const char *reason = wp_measure_interval(measure, &middle, &low, &high);

	if (isfinite(middle))
		wp_row_real(row, value, middle);
	else
		wp_row_absent(row, value, reason);
	if (reason) {
		wp_row_absent(row, low_key, reason);
		wp_row_absent(row, high_key, reason);
	} else {
		wp_row_real(row, low_key, low);
		wp_row_real(row, high_key, high);
	}
}

static void set_ratio(
	struct wp_row *row, const char *key, double above, double below, const char *none)
{
	if (below > 0 && isfinite(above))
		wp_row_real(row, key, above / below);
	else
		wp_row_absent(row, key, none);
}

static void fill_model(struct wp_row *row, const struct wp_measure *model)
{
	const struct predict_series *series = model->self;
	const struct wp_wal_counts *counts = &series->sum.wal.counts;

	wp_row_text(row, "target", model->target->label);
	wp_row_text(row, "method", model->method);
	wp_row_int(row, "clients", model->clients);
	wp_row_int(row, "commit_delay_ns", series->load.commit_delay_ns);
	set_interval(row, model, "tps_predicted", "predicted_low", "predicted_high");
	set_ratio(row, "commits_per_sync_predicted", (double)series->sum.wal.commits,
		(double)counts->syncs, model->absent ? model->absent : "nothing was synced");
	if (counts->syncs > 0)
		wp_row_int(row, "flush_predicted_ns", counts->flush_ns / counts->syncs);
	else
		wp_row_absent(row, "flush_predicted_ns", "nothing was synced");
	if (series->sum.wal.commits > 0)
		wp_row_int(row, "cpu_predicted_ns",
			(series->sum.server_cpu_ns + series->sum.client_cpu_ns) /
				series->sum.wal.commits);
	else
		wp_row_absent(row, "cpu_predicted_ns", "nothing was committed");
}

static void set_error(struct wp_row *row, const char *key, double tps, double truth)
{
	if (tps > 0 && truth > 0)
		wp_row_real(row, key, (tps / truth - 1) * 100);
	else
		wp_row_absent(row, key, "nothing to compare with");
}

static void fill_check(struct wp_row *row, const struct wp_measure *check)
{
	static const char *const keys[] = { "tps_measured", "measured_low", "measured_high",
		"error_percent", "commits_per_sync_measured", "flush_measured_ns",
		"cpu_measured_ns" };
	const struct check_series *series;

	if (!check) {
		for (size_t i = 0; i < WP_COUNT(keys); i++)
			wp_row_absent(row, keys[i], "no server ran (--check)");
		return;
	}
	series = check->self;
	set_interval(row, check, "tps_measured", "measured_low", "measured_high");
	set_error(row, "error_percent", wp_row_get_number(row, "tps_predicted"),
		wp_row_get_number(row, "tps_measured"));
	set_ratio(row, "commits_per_sync_measured", series->commits, series->syncs,
		"the server does not tell");
	if (series->syncs > 0 && isfinite(series->flush_ms))
		wp_row_int(row, "flush_measured_ns",
			(int64_t)(series->flush_ms * 1e6 / series->syncs));
	else
		wp_row_absent(row, "flush_measured_ns", "the server does not tell");
	if (series->commits > 0 && isfinite(series->cpu_ns))
		wp_row_int(row, "cpu_measured_ns", (int64_t)(series->cpu_ns / series->commits));
	else
		wp_row_absent(row, "cpu_measured_ns", "the server's processes cannot be seen");
}

static void fill_closed_form(struct wp_row *row, double tps)
{
	double measured = wp_row_get_number(row, "tps_measured");

	if (!(tps > 0)) {
		wp_row_absent(row, "tps_closed_form", "the sync was not measured");
		wp_row_absent(row, "closed_form_error_percent", "the sync was not measured");
		return;
	}
	wp_row_real(row, "tps_closed_form", tps);
	set_error(row, "closed_form_error_percent", tps,
		measured > 0 ? measured : wp_row_get_number(row, "tps_predicted"));
}

/* One check for each target: how near the model came there. */
static void judge(struct wp_run *run, const struct wp_table *table, const char *target)
{
	double worst = 0;
	size_t near = 0;
	size_t count = 0;
	char observed[160];

	for (size_t i = 0; i < table->row_count; i++) {
		double error = fabs(wp_row_get_number(table->rows[i], "error_percent"));

		if (strcmp(wp_row_get_text(table->rows[i], "target"), target) != 0 ||
			!isfinite(error))
			continue;
		count++;
		near += error <= ERROR_FINE_PERCENT;
		worst = error > worst ? error : worst;
	}
	if (count == 0)
		return;
	(void)snprintf(observed, sizeof(observed),
		"%zu of %zu within %d %%, the farthest %.0f %% off", near, count,
		ERROR_FINE_PERCENT, worst);
	wp_result_add_check(run->result, "prediction", target,
		near == count ? WP_CHECK_PASS : WP_CHECK_INFO,
		"predictions within 20 % of the real server", observed,
		near == count
			? "the model does what the server does here"
			: "the model and the server differ here: trust the order of places more "
			  "than the rates, and look whether the machine was quiet");
}

void wp_predict_fill(
	struct wp_run *run, const struct wp_predict_options *options, struct wp_measures *measures)
{
	struct wp_table *table = wp_result_table(
		run->result, PREDICT_TABLE, "Predicted transactions", columns, WP_COUNT(columns));
	const struct wp_target *last = NULL;

	for (size_t i = 0; i < measures->count; i++) {
		const struct wp_measure *model = measures->items[i];
		struct wp_row *row;

		if (!is_model(model))
			continue;
		row = wp_table_add_row(table);
		fill_model(row, model);
		fill_check(row, find_check(measures, model));
		fill_closed_form(row, closed_form(options, model, find_sync(measures, model)));
	}
	for (size_t i = 0; i < measures->count; i++) {
		if (!is_model(measures->items[i]) || measures->items[i]->target == last)
			continue;
		last = measures->items[i]->target;
		judge(run, table, last->label);
	}
}
