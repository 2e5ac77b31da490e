/* SPDX-License-Identifier: PostgreSQL */
#include "chart.h"
#include "utf8.h"
#include "walprobe/mem.h"

#include <math.h>

#define WIDTH 460
#define PLOT_HEIGHT 290
#define KEY_LINE 17
#define KEY_CHARACTERS 62 /* of the legend in one line */
#define KEY_SAMPLE 7      /* what the sample of a series takes of them */
#define NAME_LIMIT 54
#define CATEGORY_CHARACTERS 56 /* of all labels below the bars, side by side */

/* Readable on white and on black: relative luminance between 0.13 and 0.30. */
static const char *const colours[] = { "#2f7fd1", "#d9730d", "#2e9e5b", "#d6455d", "#9a63d6",
	"#1693a5", "#a9762f", "#7d8590" };

struct wp_series *wp_chart_series(struct wp_chart *chart, const char *name)
{
	for (size_t i = 0; i < chart->series_count; i++)
		if (strcmp(chart->series[i].name, name) == 0)
			return &chart->series[i];
	chart->series =
		wp_xreallocarray(chart->series, chart->series_count + 1, sizeof(*chart->series));
	chart->series[chart->series_count] =
		(struct wp_series){ .name = wp_xstrdup(name), .colour = chart->series_count };
	return &chart->series[chart->series_count++];
}

void wp_series_add(struct wp_series *series, double x, double y, double low, double high)
{
	series->points =
		wp_xreallocarray(series->points, series->count + 1, sizeof(*series->points));
	series->points[series->count++] = (struct wp_point){ x, y, low, high };
}

void wp_chart_tic(struct wp_chart *chart, double at, const char *label)
{
	for (size_t i = 0; i < chart->tic_count; i++)
		if (chart->tics[i].at == at)
			return;
	chart->tics = wp_xreallocarray(chart->tics, chart->tic_count + 1, sizeof(*chart->tics));
	chart->tics[chart->tic_count++] = (struct wp_tic){ at, wp_xstrdup(label) };
}

void wp_chart_mark(struct wp_chart *chart, double at, const char *label)
{
	chart->marks = wp_xreallocarray(chart->marks, chart->mark_count + 1, sizeof(*chart->marks));
	chart->marks[chart->mark_count++] = (struct wp_mark){ at, wp_xstrdup(label) };
}

size_t wp_chart_category(struct wp_chart *chart, const char *label)
{
	for (size_t i = 0; i < chart->tic_count; i++)
		if (strcmp(chart->tics[i].label, label) == 0)
			return i;
	wp_chart_tic(chart, (double)chart->tic_count, label);
	return chart->tic_count - 1;
}

size_t wp_chart_widest(const struct wp_chart *chart)
{
	size_t widest = 0;

	for (size_t i = 0; i < chart->series_count; i++)
		if (chart->series[i].count > widest)
			widest = chart->series[i].count;
	return widest;
}

static void release(struct wp_chart *chart)
{
	for (size_t i = 0; i < chart->series_count; i++) {
		free(chart->series[i].name);
		free(chart->series[i].points);
	}
	for (size_t i = 0; i < chart->tic_count; i++)
		free(chart->tics[i].label);
	for (size_t i = 0; i < chart->mark_count; i++)
		free(chart->marks[i].label);
	free(chart->series);
	free(chart->tics);
	free(chart->marks);
	free(chart->title);
	free(chart->x_label);
	free(chart->y_label);
	*chart = (struct wp_chart){ 0 };
}

/* ---- text ------------------------------------------------------------------------------------ */

static size_t count_codes(const char *text)
{
	size_t count = 0;
	uint32_t code;

	for (; *text; count++)
		text += wp_utf8_next(text, &code);
	return count;
}

/* text in single quotes, in which gnuplot expands nothing and a quote is doubled. */
static void put_quoted(FILE *out, const char *text)
{
	char *clean = wp_utf8_clean(text);
	const char *rest = clean;
	char bytes[4];
	size_t count = 0;
	uint32_t code;

	putc('\'', out);
	for (; *rest && count < NAME_LIMIT; count++) {
		rest += wp_utf8_next(rest, &code);
		if (code == '\'')
			putc('\'', out);
		(void)fwrite(bytes, 1, wp_utf8_put(code, bytes), out);
	}
	fputs(*rest ? "...'" : "'", out);
	free(clean);
}

static void put_set(FILE *out, const char *what, const char *text)
{
	fprintf(out, "set %s ", what);
	put_quoted(out, text);
	putc('\n', out);
}

/* ---- script ---------------------------------------------------------------------------------- */

static bool has_intervals(const struct wp_series *series)
{
	for (size_t i = 0; i < series->count; i++)
		if (isfinite(series->points[i].low) && isfinite(series->points[i].high))
			return true;
	return false;
}

/* Of bars, side by side in their category; of a point without interval, one of no length. */
static void put_data(FILE *out, const struct wp_chart *chart, size_t index)
{
	const struct wp_series *series = &chart->series[index];
	double width = 0.8 / (double)chart->series_count;
	double shift = ((double)index - (double)(chart->series_count - 1) / 2) * width;

	fprintf(out, "$d%zu << EOD\n", index);
	for (size_t i = 0; i < series->count; i++) {
		const struct wp_point *point = &series->points[i];
		bool has_interval = isfinite(point->low) && isfinite(point->high);

		fprintf(out, "%.10g %.10g %.10g %.10g %.4g\n",
			point->x + (chart->is_bars ? shift : 0), point->y,
			has_interval ? point->low : point->y, has_interval ? point->high : point->y,
			width * 0.92);
	}
	fputs("EOD\n", out);
}

static void put_series(FILE *out, const struct wp_chart *chart, size_t index)
{
	const struct wp_series *series = &chart->series[index];
	const char *colour = colours[series->colour % WP_COUNT(colours)];
	size_t turn = series->colour / WP_COUNT(colours);

	fputs(index ? ", \\\n  " : "plot ", out);
	if (chart->is_bars)
		fprintf(out, "$d%zu using 1:2:%s with %s lc rgb '%s' fs solid %.1f", index,
			has_intervals(series) ? "3:4:5" : "5",
			has_intervals(series) ? "boxerrorbars" : "boxes", colour,
			turn ? 0.5 : 0.85);
	else if (has_intervals(series))
		fprintf(out, "$d%zu using 1:2:3:4 with yerrorlines lc rgb '%s' dt %zu pt %zu",
			index, colour, turn + 1, 5 + 2 * (series->colour % 5));
	else
		fprintf(out, "$d%zu using 1:2 with %s lc rgb '%s' dt %zu pt %zu", index,
			series->count > 60 ? "lines" : "linespoints", colour, turn + 1,
			5 + 2 * (series->colour % 5));
	fputs(" title ", out);
	put_quoted(out, series->name);
}

static size_t longest_tic(const struct wp_chart *chart)
{
	size_t longest = 0;

	for (size_t i = 0; i < chart->tic_count; i++)
		if (count_codes(chart->tics[i].label) > longest)
			longest = count_codes(chart->tics[i].label);
	return longest;
}

static bool has_slanted_tics(const struct wp_chart *chart)
{
	return chart->is_bars && (longest_tic(chart) + 2) * chart->tic_count > CATEGORY_CHARACTERS;
}

static void put_tics(FILE *out, const struct wp_chart *chart)
{
	if (!chart->tic_count)
		return;
	fprintf(out, "set xtics nomirror scale 0.5%s (",
		has_slanted_tics(chart) ? " rotate by -30" : " norotate");
	for (size_t i = 0; i < chart->tic_count; i++) {
		fputs(i ? ", " : "", out);
		put_quoted(out, chart->tics[i].label);
		fprintf(out, " %.10g", chart->tics[i].at);
	}
	fputs(")\n", out);
}

/* Largest of 1, 2, 5 times a power of ten that is at most value (is_up: least that is at least it). */
static double round_125(double value, bool is_up)
{
	static const double steps[] = { 1, 2, 5, 10 };
	double decade = pow(10, floor(log10(value)));

	for (size_t i = 0; i < WP_COUNT(steps); i++)
		if (is_up ? steps[i] * decade >= value : steps[i + 1] * decade > value)
			return steps[i] * decade;
	return 10 * decade;
}

/* gnuplot labels whole decades only, of which there may be one. */
static void put_log_tics(FILE *out, const struct wp_chart *chart)
{
	double least = INFINITY;
	double most = 0;
	bool is_first = true;

	for (size_t i = 0; i < chart->series_count; i++)
		for (size_t k = 0; k < chart->series[i].count; k++) {
			least = fmin(least, chart->series[i].points[k].y);
			most = fmax(most, chart->series[i].points[k].y);
		}
	least = round_125(least * 0.999, false);
	most = round_125(most * 1.001, true);
	fprintf(out, "set logscale y\nset yrange [%.10g:%.10g]\nset ytics nomirror scale 0.5 (",
		least, most);
	for (double at = least; at <= most * 1.001; at = round_125(at * 1.1, true)) {
		if (most / least > 1000 && fabs(log10(at) - round(log10(at))) > 0.01)
			continue;
		fprintf(out, "%s'%g' %.10g", is_first ? "" : ", ", at, at);
		is_first = false;
	}
	fputs(")\n", out);
}

static void put_axes(FILE *out, const struct wp_chart *chart)
{
	put_set(out, "title", chart->title);
	put_set(out, "xlabel offset 0,0.3", chart->x_label);
	put_set(out, "ylabel", chart->y_label);
	fputs("set border 3 lc rgb '#888888'\nset tics nomirror scale 0.5\n"
	      "set grid ytics lc rgb '#888888' lw 0.3\nset bars 0.6\nset tmargin 2\n",
		out);
	if (chart->is_bars)
		fprintf(out, "set xrange [-0.6:%.1f]\nset yrange [0:*]\n",
			(double)chart->tic_count - 0.4);
	else if (chart->tic_count || chart->is_x_log)
		fputs("set offsets graph 0.04, graph 0.04, 0, 0\n", out);
	else
		fputs("set xrange [0:*]\n", out);
	if (chart->is_x_log)
		fputs("set logscale x 2\n", out);
	if (chart->is_y_log)
		put_log_tics(out, chart);
	else if (!chart->is_bars)
		fputs("set yrange [0:*]\n", out);
	if (has_slanted_tics(chart))
		fprintf(out, "set rmargin %zu\n", longest_tic(chart) * 3 / 4);
	put_tics(out, chart);
}

static void put_marks(FILE *out, const struct wp_chart *chart)
{
	for (size_t i = 0; i < chart->mark_count; i++) {
		fprintf(out,
			"set arrow from first %.10g, graph 0 to first %.10g, graph 1 nohead lc rgb "
			"'#888888' dt 2\nset label ",
			chart->marks[i].at, chart->marks[i].at);
		put_quoted(out, chart->marks[i].label);
		fprintf(out, " at first %.10g, graph %.2f right offset -0.5, 0\n",
			chart->marks[i].at, 0.97 - 0.07 * (double)(i % 5));
	}
}

/* The legend below the plot; returns its lines. */
static size_t put_key(FILE *out, const struct wp_chart *chart)
{
	size_t longest = 1;
	size_t columns;

	for (size_t i = 0; i < chart->series_count; i++) {
		size_t length = count_codes(chart->series[i].name);

		if (length > longest)
			longest = length > NAME_LIMIT ? NAME_LIMIT : length;
	}
	columns = KEY_CHARACTERS / (longest + KEY_SAMPLE);
	if (!columns)
		columns = 1;
	fprintf(out,
		"set key bmargin center horizontal Left reverse maxcols %zu samplen 1.5 "
		"width 1 height 0.3\n",
		columns);
	return (chart->series_count + columns - 1) / columns;
}

static char *make_body(const struct wp_chart *chart, int *height)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	size_t key_lines;

	assert(out); /* as all allocation: out of memory ends the process */
	put_axes(out, chart);
	put_marks(out, chart);
	key_lines = put_key(out, chart);
	for (size_t i = 0; i < chart->series_count; i++)
		put_data(out, chart, i);
	for (size_t i = 0; i < chart->series_count; i++)
		put_series(out, chart, i);
	putc('\n', out);
	(void)fclose(out); /* memory */
	*height = PLOT_HEIGHT + (int)key_lines * KEY_LINE +
		  (has_slanted_tics(chart) ? (int)longest_tic(chart) * 3 : 0);
	return text;
}

void wp_chart_finish(struct wp_chart *chart, struct wp_plots *plots)
{
	struct wp_plot *plot;

	if (wp_chart_widest(chart)) {
		plots->items =
			wp_xreallocarray(plots->items, plots->count + 1, sizeof(*plots->items));
		plot = &plots->items[plots->count++];
		*plot = (struct wp_plot){ .title = wp_xstrdup(chart->title), .width = WIDTH };
		plot->body = make_body(chart, &plot->height);
	}
	release(chart);
}

char *wp_target_name(const struct wp_result *result, const char *label)
{
	for (size_t i = 0; i < result->target_count; i++) {
		const struct wp_target_info *target = result->targets[i];

		if (strcmp(target->label, label) == 0 && target->fstype && *target->fstype &&
			!strstr(label, target->fstype))
			return wp_xasprintf("%s (%s)", label, target->fstype);
	}
	return wp_xstrdup(label);
}

/* True when no row before this index is about the same target. */
static bool is_first_of_target(const struct wp_table *table, size_t index)
{
	const char *label = wp_row_get_text(table->rows[index], "target");

	for (size_t i = 0; i < index; i++)
		if (strcmp(wp_row_get_text(table->rows[i], "target"), label) == 0)
			return false;
	return true;
}

size_t wp_target_order(const struct wp_table *table, const char *label)
{
	size_t order = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		if (strcmp(wp_row_get_text(table->rows[i], "target"), label) == 0)
			break;
		order += is_first_of_target(table, i);
	}
	return order;
}
