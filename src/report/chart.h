/* SPDX-License-Identifier: PostgreSQL */
/*
 * chart.h - series of numbers with axes, before they become a script.
 *
 * Floor: report, private.
 * Threads: no.
 */
#ifndef WALPROBE_REPORT_CHART_H
#define WALPROBE_REPORT_CHART_H

#include "walprobe/plot.h"

struct wp_point {
	double x; /* of bars: the index of the category */
	double y;
	double low; /* interval; NaN: none */
	double high;
};

struct wp_series {
	char *name;
	struct wp_point *points;
	size_t count;
	size_t colour; /* index; its own at first. A target keeps its colour from chart to chart. */
};

struct wp_tic {
	double at;
	char *label;
};

/* something that happened at x */
struct wp_mark {
	double at;
	char *label;
};

struct wp_chart {
	char *title;
	char *x_label; /* with its unit in parentheses */
	char *y_label;
	bool is_bars;
	bool is_x_log; /* base 2 */
	bool is_y_log;
	struct wp_series *series;
	size_t series_count;
	struct wp_tic *tics; /* of x; none: gnuplot chooses */
	size_t tic_count;
	struct wp_mark *marks;
	size_t mark_count;
};

/* wp_chart_series - the series with this name, made when new. */
struct wp_series *wp_chart_series(struct wp_chart *chart, const char *name);

/* wp_target_order - how many other targets stand before the first row of this one in table. */
size_t wp_target_order(const struct wp_table *table, const char *label);

/* wp_series_add - a point at the end; low and high may be NaN. */
void wp_series_add(struct wp_series *series, double x, double y, double low, double high);

/* wp_chart_tic - label at x, unless there is one. */
void wp_chart_tic(struct wp_chart *chart, double at, const char *label);

/* wp_chart_mark - a vertical line at x with a label. */
void wp_chart_mark(struct wp_chart *chart, double at, const char *label);

/* wp_chart_category - index of a category of bars, by its label; made when new. */
size_t wp_chart_category(struct wp_chart *chart, const char *label);

/* wp_chart_widest - the largest number of points that any series has. */
size_t wp_chart_widest(const struct wp_chart *chart);

/* wp_chart_finish - the chart becomes a plot at the end of plots (none when it has no points), and is
 * released. */
void wp_chart_finish(struct wp_chart *chart, struct wp_plots *plots);

/*
 * wp_target_name - what a legend calls a target: its label, and its file system where the label does
 * not say it, as "/srv/pg (ext4)". The caller frees.
 */
char *wp_target_name(const struct wp_result *result, const char *label);

/* what charts are made of */
void wp_charts_sync(const struct wp_result *result, struct wp_plots *plots);
void wp_charts_clients(const struct wp_result *result, struct wp_plots *plots);
void wp_charts_io(const struct wp_result *result, struct wp_plots *plots);
void wp_charts_time(const struct wp_result *result, struct wp_plots *plots);
void wp_charts_verdict(const struct wp_result *result, struct wp_plots *plots);

#endif
