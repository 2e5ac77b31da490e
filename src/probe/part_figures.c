/* SPDX-License-Identifier: PostgreSQL */
#include "probe/part_figures.h"
#include "walprobe/mem.h"
#include "walprobe/units.h"

#include <math.h>

/* The columns of a table that say how fast; the first is what rounds are in. */
static const struct {
	const char *table;
	const char *metrics[2];
} speeds[] = {
	{ "sync", { "ops_per_s", NULL } },
	{ "append", { "commits_per_s", NULL } },
	{ "ramp", { "tps_excluding", "tps_including" } },
	{ "io", { "ops_per_s", "bytes_per_s" } },
};

static bool is_same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static int64_t get_int(const struct wp_row *row, const char *key)
{
	const struct wp_cell *cell = wp_row_cell(row, key);

	return cell->state == WP_CELL_INT ? cell->integer : 0;
}

static struct wp_measurement measurement_of(
	const struct wp_row *row, const char *table, const char *metric)
{
	return (struct wp_measurement){
		.table = table,
		.metric = metric,
		.method = wp_row_get_text(row, "method"),
		.variant = wp_row_get_text(row, "variant"),
		.test = wp_row_get_text(row, "test"),
		.clients = get_int(row, "clients"),
		.record_bytes = get_int(row, "record_bytes"),
	};
}

static bool is_same_measurement(const struct wp_measurement *a, const struct wp_measurement *b)
{
	return is_same(a->table, b->table) && is_same(a->method, b->method) &&
	       is_same(a->variant, b->variant) && is_same(a->test, b->test) &&
	       a->clients == b->clients && a->record_bytes == b->record_bytes;
}

bool wp_figure_is_same(const struct wp_figure *a, const struct wp_figure *b)
{
	return is_same_measurement(&a->measurement, &b->measurement);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

#define ROUNDS_MAXIMUM 10000 /* of --rounds */

static void add_round(struct wp_figure *figure, int64_t round, double value)
{
	size_t needed = (size_t)round;

	if (needed > figure->round_count) {
		figure->rounds = wp_xreallocarray(figure->rounds, needed, sizeof(double));
		for (size_t i = figure->round_count; i < needed; i++)
			figure->rounds[i] = (double)NAN;
		figure->round_count = needed;
	}
	figure->rounds[needed - 1] = value;
}

static void find_rounds(struct wp_figure *figure)
{
	const struct wp_table *table = wp_result_find_table(figure->part->result, "rounds");

	for (size_t i = 0; table && i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];
		struct wp_measurement measurement = measurement_of(
			row, wp_row_get_text(row, "table"), wp_row_get_text(row, "metric"));
		int64_t round = get_int(row, "round");

		/* The twin is the first target's second measurement; what was dropped is none. */
		if (is_same(wp_row_get_text(row, "target"), figure->target) &&
			is_same_measurement(&measurement, &figure->measurement) &&
			is_same(measurement.metric, figure->measurement.metric) &&
			!*wp_row_get_text(row, "twin") && !*wp_row_get_text(row, "dropped") &&
			round >= 1 && round <= ROUNDS_MAXIMUM)
			add_round(figure, round, wp_row_get_number(row, "value"));
	}
}

/* ---- figures --------------------------------------------------------------------------------- */

static bool has_figure(const struct wp_row *row, const char *const *metrics)
{
	return wp_row_get_number(row, metrics[0]) > 0 ||
	       (metrics[1] && wp_row_get_number(row, metrics[1]) > 0);
}

void wp_figures_add(struct wp_figures *figures, const struct wp_part *part)
{
	for (size_t s = 0; s < WP_COUNT(speeds); s++) {
		const struct wp_table *table = wp_result_find_table(part->result, speeds[s].table);

		for (size_t i = 0; table && i < table->row_count; i++) {
			const struct wp_row *row = table->rows[i];
			struct wp_figure *figure;

			if (!has_figure(row, speeds[s].metrics))
				continue;
			figures->items = wp_xreallocarray(
				figures->items, figures->count + 1, sizeof(*figures->items));
			figure = &figures->items[figures->count++];
			*figure = (struct wp_figure){
				.part = part,
				.row = row,
				.target = wp_row_get_text(row, "target"),
				.measurement =
					measurement_of(row, speeds[s].table, speeds[s].metrics[0]),
			};
			find_rounds(figure);
		}
	}
}

void wp_figures_release(struct wp_figures *figures)
{
	for (size_t i = 0; i < figures->count; i++)
		free(figures->items[i].rounds);
	free(figures->items);
	*figures = (struct wp_figures){ 0 };
}

const char *wp_figure_values(
	const struct wp_figure *a, const struct wp_figure *b, double *a_value, double *b_value)
{
	for (size_t s = 0; s < WP_COUNT(speeds); s++) {
		if (!is_same(speeds[s].table, a->measurement.table))
			continue;
		/* The later ones are what tools publish where they publish one. */
		for (size_t i = WP_COUNT(speeds[s].metrics); i-- > 0;) {
			const char *metric = speeds[s].metrics[i];

			if (!metric)
				continue;
			*a_value = wp_row_get_number(a->row, metric);
			*b_value = wp_row_get_number(b->row, metric);
			if (*a_value > 0 && *b_value > 0)
				return metric;
		}
	}
	return NULL;
}

/* ---- conditions ------------------------------------------------------------------------------ */

static const char *known(const char *text)
{
	return text && *text ? text : NULL;
}

static char *differ(const char *what, const char *a, const char *b)
{
	if (!known(a) || !known(b) || strcmp(a, b) == 0)
		return NULL;
	return wp_xasprintf("other %s: %s against %s", what, a, b);
}

/* Options that do not change what one measurement is: how often, how long, where to, which. */
static bool is_free(const char *option)
{
	static const char *const names[] = { "rounds", "time", "warmup", "seed", "random-seed",
		"keep", "force", "method", "append-method", "variant", "clients", "client", "tests",
		"record-sizes", "size", "file-size", "format", "output", "save", "plot", "progress",
		"progress-every", "color", "quiet", "verbose", "margin", "no-twin", "server", "io",
		"full", "strict", "soak", "dbname", "host", "port", "username", "log", "log-prefix",
		"sampling-rate", "aggregate-interval", "report-per-command", "failures-detailed",
		"stall-limit", "keep-going", "quick", "controller-output" };

	for (size_t i = 0; i < WP_COUNT(names); i++)
		if (strcmp(names[i], option) == 0)
			return true;
	return false;
}

static char *option_difference(const struct wp_result *a, const struct wp_result *b)
{
	/* Options of different commands with one name need not mean one thing. */
	if (!is_same(a->command, b->command) || is_same(a->command, "import"))
		return NULL;
	for (size_t i = 0; i < a->parameter_count; i++) {
		const struct wp_fact *fact = &a->parameters[i];
		char *what;
		char *difference;

		if (is_free(fact->key))
			continue;
		what = wp_xasprintf("--%s", fact->key);
		difference = differ(what, fact->value, wp_result_parameter(b, fact->key));
		free(what);
		if (difference)
			return difference;
	}
	return NULL;
}

static char *size_difference(const struct wp_row *a, const struct wp_row *b)
{
	int64_t a_bytes = get_int(a, "file_bytes");
	int64_t b_bytes = get_int(b, "file_bytes");
	char a_text[32];
	char b_text[32];

	if (!a_bytes || !b_bytes || a_bytes == b_bytes)
		return NULL;
	return wp_xasprintf("other size: %s against %s",
		wp_format_size(a_bytes, a_text, sizeof(a_text)),
		wp_format_size(b_bytes, b_text, sizeof(b_text)));
}

static char *cache_difference(const struct wp_row *a, const struct wp_row *b)
{
	const char *a_text = known(wp_row_get_text(a, "cached"));
	const char *b_text = known(wp_row_get_text(b, "cached"));

	if (!a_text || !b_text || strcmp(a_text, b_text) == 0)
		return NULL;
	return wp_xstrdup(strcmp(a_text, "yes") == 0 ? "page cache against device"
						     : "device against page cache");
}

static char *row_difference(const struct wp_row *a, const struct wp_row *b)
{
	static const char *const texts[] = { "recycle", "protocol" };
	static const char *const numbers[] = { "jobs", "write_bytes", "scale" };
	char *difference = size_difference(a, b);

	if (!difference)
		difference = cache_difference(a, b);
	for (size_t i = 0; i < WP_COUNT(texts) && !difference; i++)
		difference = differ(
			texts[i], wp_row_get_text(a, texts[i]), wp_row_get_text(b, texts[i]));
	for (size_t i = 0; i < WP_COUNT(numbers) && !difference; i++) {
		int64_t a_number = get_int(a, numbers[i]);
		int64_t b_number = get_int(b, numbers[i]);

		if (a_number && b_number && a_number != b_number)
			difference = wp_xasprintf("other %s: %" PRId64 " against %" PRId64,
				numbers[i], a_number, b_number);
	}
	return difference;
}

char *wp_figure_difference(
	const struct wp_figure *a, const struct wp_figure *b, bool may_kernel_differ)
{
	char *difference = NULL;

	if (a->part != b->part) {
		if (!may_kernel_differ)
			difference = differ("kernel", wp_part_environment(a->part, "kernel"),
				wp_part_environment(b->part, "kernel"));
		if (!difference)
			difference = option_difference(a->part->result, b->part->result);
	}
	return difference ? difference : row_difference(a->row, b->row);
}
