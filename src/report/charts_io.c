/* SPDX-License-Identifier: PostgreSQL */
/*
 * Tests with several record sizes as iozone's users draw them: throughput by record size, a chart per
 * test. All others as bars side by side, tests with one unit in one chart.
 */
#include "chart.h"
#include "walprobe/mem.h"
#include "walprobe/units.h"

#include <math.h>

#define BARS_MAXIMUM 6 /* tests in one chart */
#define MB 1048576.0

enum unit {
	UNIT_BYTES,
	UNIT_SEEKS,
	UNIT_FILES,
};

/* the table, and what is found out once of each row */
struct io {
	const struct wp_result *result;
	const struct wp_table *table;
	bool *is_drawn;
	bool *has_sizes; /* its target has its test with several record sizes */
};

static const char *test_of(const struct wp_row *row)
{
	return wp_row_get_text(row, "test");
}

static enum unit unit_of(const struct wp_row *row)
{
	static const char *const files[] = { "create", "stat", "delete" };

	if (wp_row_get_number(row, "bytes_per_s") > 0)
		return UNIT_BYTES;
	for (size_t i = 0; i < WP_COUNT(files); i++)
		if (strstr(test_of(row), files[i]))
			return UNIT_FILES;
	return UNIT_SEEKS;
}

static double figure_of(const struct wp_row *row)
{
	return unit_of(row) == UNIT_BYTES ? wp_row_get_number(row, "bytes_per_s") / MB
					  : wp_row_get_number(row, "ops_per_s");
}

/* Intervals are of ops/s; the same share of MB/s is the interval of that. */
static double scale_of(const struct wp_row *row)
{
	if (unit_of(row) != UNIT_BYTES)
		return 1;
	return wp_row_get_number(row, "bytes_per_s") / MB / wp_row_get_number(row, "ops_per_s");
}

/* How many other targets have rows of this kind before the first of this one: its colour in all
 * charts of the kind, also where some have nothing to show. */
static size_t order_of(const struct io *io, const struct wp_row *of, bool has_sizes)
{
	const char *target = wp_row_get_text(of, "target");
	size_t order = 0;

	for (size_t i = 0; i < io->table->row_count; i++) {
		const char *other = wp_row_get_text(io->table->rows[i], "target");
		bool is_counted = false;

		if (strcmp(other, target) == 0)
			break;
		if (!io->is_drawn[i] || io->has_sizes[i] != has_sizes)
			continue;
		for (size_t k = 0; k < i && !is_counted; k++)
			is_counted =
				io->is_drawn[k] && io->has_sizes[k] == has_sizes &&
				strcmp(wp_row_get_text(io->table->rows[k], "target"), other) == 0;
		order += !is_counted;
	}
	return order;
}

static void add_point(const struct io *io, struct wp_chart *chart, size_t index, double x)
{
	const struct wp_row *row = io->table->rows[index];
	char *name = wp_target_name(io->result, wp_row_get_text(row, "target"));
	struct wp_series *series = wp_chart_series(chart, name);
	double scale = scale_of(row);

	if (!series->count)
		series->colour = order_of(io, row, io->has_sizes[index]);
	wp_series_add(series, x, figure_of(row), wp_row_get_number(row, "ci_low") * scale,
		wp_row_get_number(row, "ci_high") * scale);
	free(name);
}

static bool is_first_of_test(const struct wp_table *table, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (strcmp(test_of(table->rows[i]), test_of(table->rows[index])) == 0)
			return false;
	return true;
}

static bool is_same_series(const struct wp_row *a, const struct wp_row *b)
{
	return strcmp(test_of(a), test_of(b)) == 0 &&
	       strcmp(wp_row_get_text(a, "target"), wp_row_get_text(b, "target")) == 0;
}

/* Of files of several sizes the largest ones say most of the disk. */
static bool find_drawn(const struct wp_table *table, const struct wp_row *of)
{
	double bytes = wp_row_get_number(of, "file_bytes");

	if (!(figure_of(of) > 0))
		return false;
	for (size_t i = 0; i < table->row_count; i++)
		if (wp_row_get_number(table->rows[i], "file_bytes") > bytes &&
			figure_of(table->rows[i]) > 0 && is_same_series(table->rows[i], of))
			return false;
	return true;
}

static bool find_sizes(const struct io *io, const struct wp_row *of)
{
	double record = wp_row_get_number(of, "record_bytes");

	for (size_t i = 0; i < io->table->row_count; i++) {
		double other = wp_row_get_number(io->table->rows[i], "record_bytes");

		if (io->is_drawn[i] && other > 0 && record > 0 && other != record &&
			is_same_series(io->table->rows[i], of))
			return true;
	}
	return false;
}

static void io_init(struct io *io, const struct wp_result *result, const struct wp_table *table)
{
	*io = (struct io){ .result = result, .table = table };
	io->is_drawn = wp_xcalloc(table->row_count + 1, sizeof(bool));
	io->has_sizes = wp_xcalloc(table->row_count + 1, sizeof(bool));
	for (size_t i = 0; i < table->row_count; i++)
		io->is_drawn[i] = find_drawn(table, table->rows[i]);
	for (size_t i = 0; i < table->row_count; i++)
		io->has_sizes[i] = find_sizes(io, table->rows[i]);
}

/* ---- by record size -------------------------------------------------------------------------- */

static void chart_sizes(const struct io *io, const char *test, struct wp_plots *plots)
{
	struct wp_chart chart = { .title = wp_xasprintf("%s by record size", test),
		.x_label = wp_xstrdup("Record size (kB)"),
		.y_label = wp_xstrdup("Throughput (MB/s)"),
		.is_x_log = true };

	for (size_t i = 0; i < io->table->row_count; i++) {
		const struct wp_row *row = io->table->rows[i];
		double record = wp_row_get_number(row, "record_bytes") / 1024;
		char label[32];

		if (strcmp(test_of(row), test) != 0 || !io->is_drawn[i] || !io->has_sizes[i] ||
			unit_of(row) != UNIT_BYTES)
			continue;
		add_point(io, &chart, i, record);
		(void)snprintf(label, sizeof(label), "%g", record);
		wp_chart_tic(&chart, record, label);
	}
	wp_chart_finish(&chart, plots);
}

/* ---- bars ------------------------------------------------------------------------------------ */

static struct wp_chart new_bars(enum unit unit)
{
	static const char *const titles[] = { "Big files", "Seeks", "Small files" };
	static const char *const y_labels[] = { "Throughput (MB/s)", "Operations (1/s)",
		"Files (1/s)" };

	return (struct wp_chart){ .title = wp_xstrdup(titles[unit]),
		.x_label = wp_xstrdup("Test (name)"),
		.y_label = wp_xstrdup(y_labels[unit]),
		.is_bars = true };
}

static void chart_bars(const struct io *io, enum unit unit, struct wp_plots *plots)
{
	const struct wp_table *table = io->table;
	struct wp_chart chart = new_bars(unit);

	for (size_t i = 0; i < table->row_count; i++) {
		const char *test = test_of(table->rows[i]);

		if (!is_first_of_test(table, i))
			continue;
		if (chart.tic_count == BARS_MAXIMUM) {
			wp_chart_finish(&chart, plots);
			chart = new_bars(unit);
		}
		for (size_t k = i; k < table->row_count; k++)
			if (strcmp(test_of(table->rows[k]), test) == 0 && io->is_drawn[k] &&
				!io->has_sizes[k] && unit_of(table->rows[k]) == unit)
				add_point(io, &chart, k, (double)wp_chart_category(&chart, test));
	}
	wp_chart_finish(&chart, plots);
}

void wp_charts_io(const struct wp_result *result, struct wp_plots *plots)
{
	const struct wp_table *table = wp_result_find_table(result, "io");
	struct io io;

	if (!table)
		return;
	io_init(&io, result, table);
	chart_bars(&io, UNIT_BYTES, plots);
	chart_bars(&io, UNIT_SEEKS, plots);
	chart_bars(&io, UNIT_FILES, plots);
	/* Nothing is drawn of a test that nobody has with several sizes. */
	for (size_t i = 0; i < table->row_count; i++)
		if (is_first_of_test(table, i))
			chart_sizes(&io, test_of(table->rows[i]), plots);
	free(io.is_drawn);
	free(io.has_sizes);
}
