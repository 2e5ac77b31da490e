/* SPDX-License-Identifier: PostgreSQL */
/* Throughput by clients: lines where there is a ramp, bars where there is one number of clients. */
#include "chart.h"
#include "walprobe/mem.h"

#include <math.h>

/* where a table has its figures */
struct source {
	const char *table;
	const char *title;
	const char *y_label;
	const char *keys[2]; /* the figure; the second where the first is absent */
	const char *low;
	const char *high;
	const char *suffix; /* of the series; "": none */
};

static const struct source sources[] = {
	{ "ramp", "Transactions by clients", "Transactions (1/s)",
		{ "tps_excluding", "tps_including" }, "ci_low", "ci_high", "" },
	{ "append", "Commits of the model by clients", "Commits (1/s)", { "commits_per_s", NULL },
		"ci_low", "ci_high", "" },
	{ "predict", "Prediction and server by clients", "Transactions (1/s)",
		{ "tps_predicted", NULL }, "predicted_low", "predicted_high", " predicted" },
	{ "predict", "", "", { "tps_measured", NULL }, "measured_low", "measured_high",
		" measured" },
};

static double figure_of(const struct wp_row *row, const struct source *source)
{
	double value = wp_row_get_number(row, source->keys[0]);

	return value > 0 || !source->keys[1] ? value : wp_row_get_number(row, source->keys[1]);
}

static bool is_constant(const struct wp_table *table, const char *key)
{
	for (size_t i = 1; i < table->row_count; i++)
		if (strcmp(wp_row_get_text(table->rows[i], key),
			    wp_row_get_text(table->rows[0], key)) != 0)
			return false;
	return true;
}

/* "ext4 (xfs) fdatasync rename": the target, and what else tells its lines apart. */
static char *series_name(
	const struct wp_result *result, const struct wp_row *row, const struct source *source)
{
	static const char *const keys[] = { "method", "recycle", "protocol" };
	char *name = wp_target_name(result, wp_row_get_text(row, "target"));

	for (size_t i = 0; i < WP_COUNT(keys); i++) {
		const char *text = wp_row_get_text(row, keys[i]);
		char *longer;

		if (!*text || is_constant(row->table, keys[i]))
			continue;
		longer = wp_xasprintf("%s %s", name, text);
		free(name);
		name = longer;
	}
	if (*source->suffix) {
		char *longer = wp_xasprintf("%s%s", name, source->suffix);

		free(name);
		name = longer;
	}
	return name;
}

/* The number of different clients in all rows that have a figure. */
static size_t count_steps(const struct wp_table *table, const struct source *source)
{
	double first = -1;
	bool has_more = false;

	for (size_t i = 0; i < table->row_count; i++) {
		double clients = wp_row_get_number(table->rows[i], "clients");

		if (!(figure_of(table->rows[i], source) > 0) || !(clients > 0))
			continue;
		has_more = has_more || (first > 0 && clients != first);
		first = clients;
	}
	return first < 0 ? 0 : has_more ? 2 : 1;
}

static void add_row(const struct wp_result *result, struct wp_chart *chart,
	const struct wp_row *row, const struct source *source)
{
	double clients = wp_row_get_number(row, "clients");
	double value = figure_of(row, source);
	char label[32];
	char *name;

	if (!(value > 0) || !(clients > 0))
		return;
	(void)snprintf(label, sizeof(label), "%.0f%s", clients,
		!chart->is_bars ? ""
		: clients > 1   ? " clients"
				: " client");
	name = series_name(result, row, source);
	if (chart->is_bars)
		clients = (double)wp_chart_category(chart, label);
	else
		wp_chart_tic(chart, clients, label);
	wp_series_add(wp_chart_series(chart, name), clients, value,
		wp_row_get_number(row, source->low), wp_row_get_number(row, source->high));
	free(name);
}

/* A ramp to 1,000 clients needs another axis than one to 8; labels of every step would overlap. */
static void settle_axis(struct wp_chart *chart)
{
	double least = INFINITY;
	double most = 0;

	if (chart->is_bars)
		return;
	for (size_t i = 0; i < chart->tic_count; i++) {
		least = chart->tics[i].at < least ? chart->tics[i].at : least;
		most = chart->tics[i].at > most ? chart->tics[i].at : most;
	}
	chart->is_x_log = most > 16 * least;
	if (chart->tic_count <= 12)
		return;
	for (size_t i = 0; i < chart->tic_count; i++)
		free(chart->tics[i].label);
	chart->tic_count = 0;
}

static void add_source(const struct wp_result *result, struct wp_chart *chart,
	const struct wp_table *table, const struct source *source)
{
	for (size_t i = 0; i < table->row_count; i++)
		add_row(result, chart, table->rows[i], source);
}

void wp_charts_clients(const struct wp_result *result, struct wp_plots *plots)
{
	for (size_t s = 0; s < WP_COUNT(sources); s++) {
		const struct source *source = &sources[s];
		const struct wp_table *table = wp_result_find_table(result, source->table);
		struct wp_chart chart = { 0 };
		size_t steps = table && *source->title ? count_steps(table, source) : 0;

		if (!steps)
			continue;
		chart = (struct wp_chart){ .title = wp_xstrdup(source->title),
			.x_label = wp_xstrdup("Clients (number)"),
			.y_label = wp_xstrdup(source->y_label),
			.is_bars = steps == 1 };
		add_source(result, &chart, table, source);
		/* What follows without a title is drawn beside it. */
		for (size_t k = s + 1; k < WP_COUNT(sources) && !*sources[k].title; k++)
			add_source(result, &chart, table, &sources[k]);
		settle_axis(&chart);
		wp_chart_finish(&chart, plots);
	}
}
