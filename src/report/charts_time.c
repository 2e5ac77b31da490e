/* SPDX-License-Identifier: PostgreSQL */
/* Throughput over time with what happened then, and the verdicts after power cuts. */
#include "chart.h"
#include "walprobe/mem.h"

#include <math.h>

#define POINTS_MAXIMUM 400 /* of one line; more are averaged */
#define S 1e9

/* tables with a row for each span of time */
static const struct {
	const char *table;
	const char *title;
	const char *time_key;
	const char *key;
	const char *y_label;
} sources[] = {
	{ "soak", "Commits over time", "elapsed_ns", "commits_per_s", "Commits (1/s)" },
	{ "progress", "Transactions over time", "time_ns", "tps", "Transactions (1/s)" },
};

static char *series_name(const struct wp_result *result, const struct wp_row *row)
{
	char *target = wp_target_name(result, wp_row_get_text(row, "target"));
	double clients = wp_row_get_number(row, "clients");
	char *name = clients > 0 ? wp_xasprintf("%s, %.0f client%s", target, clients,
					   clients > 1 ? "s" : "")
				 : wp_xstrdup(target);

	free(target);
	return name;
}

/* Neighbours are averaged until a line has no more points than a picture can show. */
static void thin(struct wp_series *series)
{
	size_t step = (series->count + POINTS_MAXIMUM - 1) / POINTS_MAXIMUM;
	size_t kept = 0;

	for (size_t i = 0; step > 1 && i < series->count; i += step) {
		struct wp_point sum = { .low = (double)NAN, .high = (double)NAN };
		size_t n = 0;

		for (; n < step && i + n < series->count; n++) {
			sum.x += series->points[i + n].x;
			sum.y += series->points[i + n].y;
		}
		sum.x /= (double)n;
		sum.y /= (double)n;
		series->points[kept++] = sum;
	}
	if (step > 1)
		series->count = kept;
}

static void add_fall(struct wp_chart *chart, const struct wp_row *row)
{
	double after = wp_row_get_number(row, "fell_after_ns") / S;
	char *label;

	if (!(after > 0))
		return;
	label = wp_xasprintf("%s fell", wp_row_get_text(row, "target"));
	wp_chart_mark(chart, after, label);
	free(label);
}

static void chart_source(const struct wp_result *result, const struct wp_table *table, size_t index,
	struct wp_plots *plots)
{
	const struct wp_table *changes = wp_result_find_table(result, "soak_change");
	struct wp_chart chart = { .title = wp_xstrdup(sources[index].title),
		.x_label = wp_xstrdup("Time since the start (s)"),
		.y_label = wp_xstrdup(sources[index].y_label) };

	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];
		double at = wp_row_get_number(row, sources[index].time_key) / S;
		double value = wp_row_get_number(row, sources[index].key);
		char *name;

		/* An interval in which nothing was done is what such a plot is looked at for. */
		if (!(at >= 0) || !(value >= 0))
			continue;
		name = series_name(result, row);
		wp_series_add(wp_chart_series(&chart, name), at, value, (double)NAN, (double)NAN);
		free(name);
		if (*wp_row_get_text(row, "event"))
			wp_chart_mark(&chart, at, wp_row_get_text(row, "event"));
	}
	for (size_t i = 0;
		changes && strcmp(sources[index].table, "soak") == 0 && i < changes->row_count; i++)
		add_fall(&chart, changes->rows[i]);
	for (size_t i = 0; i < chart.series_count; i++)
		thin(&chart.series[i]);
	wp_chart_finish(&chart, plots);
}

void wp_charts_time(const struct wp_result *result, struct wp_plots *plots)
{
	for (size_t i = 0; i < WP_COUNT(sources); i++) {
		const struct wp_table *table = wp_result_find_table(result, sources[i].table);

		if (table && table->row_count)
			chart_source(result, table, i, plots);
	}
}

/* Power cuts by verdict: a bar for each target in each of the three words. */
void wp_charts_verdict(const struct wp_result *result, struct wp_plots *plots)
{
	static const char *const words[] = { "no loss", "cannot tell", "lies" };
	const struct wp_table *table = wp_result_find_table(result, "verdict");
	struct wp_chart chart = { 0 };

	if (!table || !table->row_count)
		return;
	chart = (struct wp_chart){ .title = wp_xstrdup("Power cuts, by verdict"),
		.x_label = wp_xstrdup("Verdict (word)"),
		.y_label = wp_xstrdup("Power cuts (number)"),
		.is_bars = true };
	for (size_t i = 0; i < WP_COUNT(words); i++)
		(void)wp_chart_category(&chart, words[i]);
	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];
		char *name = wp_target_name(result, wp_row_get_text(row, "target"));
		struct wp_series *series = wp_chart_series(&chart, name);
		size_t at = wp_chart_category(&chart, wp_row_get_text(row, "verdict"));
		size_t k = 0;

		while (k < series->count && series->points[k].x != (double)at)
			k++;
		if (k == series->count)
			wp_series_add(series, (double)at, 0, (double)NAN, (double)NAN);
		series->points[k].y++;
		free(name);
	}
	wp_chart_finish(&chart, plots);
}
