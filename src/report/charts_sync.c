/* SPDX-License-Identifier: PostgreSQL */
/*
 * Rates of the sync methods as bars, and their times as percentile plots: x is the share of
 * operations that were slower, on a logarithmic axis, so that 99.9 % has as much room as 90 %.
 */
#include "chart.h"
#include "walprobe/mem.h"

#include <math.h>

static const struct {
	const char *key;
	const char *label;
	double slower; /* share of operations that take longer */
} percentiles[] = {
	{ "p50_ns", "50", 0.5 },
	{ "p90_ns", "90", 0.1 },
	{ "p99_ns", "99", 0.01 },
	{ "p999_ns", "99.9", 0.001 },
};

/* Other variants write otherwise: their figures are for the table. */
static bool is_plain(const struct wp_row *row)
{
	const char *variant = wp_row_get_text(row, "variant");

	return !*variant || strcmp(variant, "overwrite") == 0;
}

static bool has_percentiles(const struct wp_row *row)
{
	return wp_row_get_number(row, "p50_ns") > 0 && wp_row_get_number(row, "p99_ns") > 0;
}

static void add_percentiles(
	struct wp_series *series, struct wp_chart *chart, const struct wp_row *row, double unit_ns)
{
	for (size_t i = 0; i < WP_COUNT(percentiles); i++) {
		double value = wp_row_get_number(row, percentiles[i].key);
		double at = -log10(percentiles[i].slower);

		if (!(value > 0))
			continue;
		wp_series_add(series, at, value / unit_ns, (double)NAN, (double)NAN);
		wp_chart_tic(chart, at, percentiles[i].label);
	}
}

/* One chart per method with a line for each target. */
static void chart_method(const struct wp_result *result, const struct wp_table *table,
	const char *method, struct wp_plots *plots)
{
	struct wp_chart chart = { .title = wp_xasprintf("Time of one %s, 8 kB", method),
		.x_label = wp_xstrdup("Operations no slower than that (%)"),
		.y_label = wp_xstrdup("Latency (ms)"),
		.is_y_log = true };

	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];
		struct wp_series *series;
		char *name;

		if (!is_plain(row) || !has_percentiles(row) ||
			strcmp(wp_row_get_text(row, "method"), method) != 0)
			continue;
		name = wp_target_name(result, wp_row_get_text(row, "target"));
		series = wp_chart_series(&chart, name);
		series->colour = wp_target_order(table, wp_row_get_text(row, "target"));
		add_percentiles(series, &chart, row, 1e6);
		free(name);
	}
	wp_chart_finish(&chart, plots);
}

/* With one target, one chart with a line for each method says more. */
static void chart_target(
	const struct wp_result *result, const struct wp_table *table, struct wp_plots *plots)
{
	struct wp_chart chart = { .title = wp_xstrdup("Time of one synchronous write, 8 kB"),
		.x_label = wp_xstrdup("Operations no slower than that (%)"),
		.y_label = wp_xstrdup("Latency (ms)"),
		.is_y_log = true };

	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];
		char *target;
		char *name;

		if (!is_plain(row) || !has_percentiles(row))
			continue;
		target = wp_target_name(result, wp_row_get_text(row, "target"));
		name = wp_xasprintf("%s %s", wp_row_get_text(row, "method"), target);
		add_percentiles(wp_chart_series(&chart, name), &chart, row, 1e6);
		free(name);
		free(target);
	}
	wp_chart_finish(&chart, plots);
}

static void chart_rates(
	const struct wp_result *result, const struct wp_table *table, struct wp_plots *plots)
{
	struct wp_chart chart = { .title = wp_xstrdup("Synchronous writes of 8 kB"),
		.x_label = wp_xstrdup("Method (wal_sync_method)"),
		.y_label = wp_xstrdup("Operations (1/s)"),
		.is_bars = true };

	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];
		double rate = wp_row_get_number(row, "ops_per_s");
		struct wp_series *series;
		char *name;

		if (!is_plain(row) || !(rate > 0))
			continue;
		name = wp_target_name(result, wp_row_get_text(row, "target"));
		series = wp_chart_series(&chart, name);
		series->colour = wp_target_order(table, wp_row_get_text(row, "target"));
		wp_series_add(series,
			(double)wp_chart_category(&chart, wp_row_get_text(row, "method")), rate,
			wp_row_get_number(row, "ci_low"), wp_row_get_number(row, "ci_high"));
		free(name);
	}
	wp_chart_finish(&chart, plots);
}

/* True when no row before this index is about what this one is about. */
static bool is_first(const struct wp_table *table, size_t index, const char *key)
{
	const char *text = wp_row_get_text(table->rows[index], key);

	for (size_t i = 0; i < index; i++)
		if (strcmp(wp_row_get_text(table->rows[i], key), text) == 0)
			return false;
	return true;
}

void wp_charts_sync(const struct wp_result *result, struct wp_plots *plots)
{
	const struct wp_table *table = wp_result_find_table(result, "sync");
	size_t targets = 0;

	if (!table)
		return;
	for (size_t i = 0; i < table->row_count; i++)
		targets += is_first(table, i, "target");
	chart_rates(result, table, plots);
	if (targets == 1)
		chart_target(result, table, plots);
	for (size_t i = 0; i < table->row_count && targets > 1; i++)
		if (is_first(table, i, "method"))
			chart_method(
				result, table, wp_row_get_text(table->rows[i], "method"), plots);
}
