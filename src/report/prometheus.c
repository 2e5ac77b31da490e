/* SPDX-License-Identifier: PostgreSQL */
/*
 * The last result for Prometheus' textfile collector: text exposition format 0.0.4. Units are the base
 * units that its conventions ask for (seconds, bytes), all samples of a metric stand together, and
 * what was not measured is not there.
 */
#include "number.h"
#include "utf8.h"
#include "walprobe/mem.h"
#include "walprobe/render.h"

#include <math.h>

#define LABELS 5
#define NS_PER_S 1e9

/* the tables that hold figures, and what tells their rows apart */
static const struct source {
	const char *table;
	const char *labels[LABELS];
} sources[] = {
	{ "sync", { "target", "method", "variant" } },
	{ "append", { "target", "method", "recycle", "clients" } },
	{ "ramp", { "target", "clients", "protocol" } },
	{ "predict", { "target", "method", "clients" } },
	{ "io", { "target", "test", "record_bytes", "file_bytes" } },
	{ "flush", { "target", "workload", "method" } },
	{ "verdict", { "target", "run", "cycle" } },
};

/* ---- text ------------------------------------------------------------------------------------ */

/* is_label: quotes are escaped as well. */
static void put_escaped(FILE *stream, const char *text, bool is_label)
{
	char *clean = wp_utf8_clean(text);

	for (const char *c = clean; *c; c++) {
		if (*c == '\\' || (*c == '"' && is_label))
			putc('\\', stream);
		putc(*c, stream);
	}
	free(clean);
}

static void put_label(FILE *stream, const char *name, const char *value, bool is_first)
{
	fprintf(stream, "%s%s=\"", is_first ? "" : ",", name);
	put_escaped(stream, value ? value : "", true);
	putc('"', stream);
}

static void put_heading(FILE *stream, const char *metric, const char *help)
{
	fprintf(stream, "# HELP %s ", metric);
	put_escaped(stream, help ? help : "", false);
	fprintf(stream, "\n# TYPE %s gauge\n", metric);
}

/* ---- the run --------------------------------------------------------------------------------- */

static const char *environment(const struct wp_result *result, const char *key)
{
	for (size_t i = 0; i < result->environment_count; i++)
		if (strcmp(result->environment[i].key, key) == 0)
			return result->environment[i].value;
	return NULL;
}

/* Seconds since 1970 of "2026-11-30T20:15:00Z"; -1 when it is no such time. */
static int64_t parse_utc(const char *text)
{
	int year, month, day, hour, minute, second;
	int64_t days;

	if (!text || sscanf(text, "%4d-%2d-%2dT%2d:%2d:%2dZ", &year, &month, &day, &hour, &minute,
			     &second) != 6)
		return -1;
	/* Years that begin in March have their odd day at the end. */
	year -= month <= 2;
	days = INT64_C(365) * year + year / 4 - year / 100 + year / 400 +
	       (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1 - 719468;
	return days * 86400 + hour * 3600 + minute * 60 + second;
}

static void put_run(const struct wp_result *result, FILE *stream)
{
	int64_t started = parse_utc(result->started);

	put_heading(stream, "walprobe_info", "What ran, and where.");
	fputs("walprobe_info{", stream);
	put_label(stream, "command", result->command, true);
	put_label(stream, "version", result->version, false);
	put_label(stream, "host", environment(result, "host"), false);
	put_label(stream, "kernel", environment(result, "kernel"), false);
	fputs("} 1\n", stream);
	if (started >= 0) {
		put_heading(stream, "walprobe_start_time_seconds", "When it began.");
		fprintf(stream, "walprobe_start_time_seconds %" PRId64 "\n", started);
	}
	put_heading(stream, "walprobe_complete", "1 when it ran to its end.");
	fprintf(stream, "walprobe_complete %d\n", result->is_complete);
}

/* ---- devices and checks ---------------------------------------------------------------------- */

static const char *yes_no(int value)
{
	return value < 0 ? "unknown" : value ? "yes" : "no";
}

static void put_devices(const struct wp_result *result, FILE *stream)
{
	bool is_headed = false;

	for (size_t i = 0; i < result->target_count; i++) {
		const struct wp_target_info *target = result->targets[i];

		for (size_t k = 0; k < target->device_count; k++) {
			const struct wp_device *device = &target->devices[k];
			char layer[24];

			if (!is_headed)
				put_heading(stream, "walprobe_device_info",
					"Layers under a target, from the top.");
			is_headed = true;
			(void)snprintf(layer, sizeof(layer), "%zu", k + 1);
			fputs("walprobe_device_info{", stream);
			put_label(stream, "target", target->label, true);
			put_label(stream, "fstype", target->fstype, false);
			put_label(stream, "layer", layer, false);
			put_label(stream, "device", device->name, false);
			put_label(stream, "write_cache",
				device->write_cache ? device->write_cache : "unknown", false);
			put_label(stream, "fua", yes_no(device->is_fua), false);
			put_label(stream, "rotational", yes_no(device->is_rotational), false);
			fputs("} 1\n", stream);
		}
	}
}

static bool is_same(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

/* How bad: one check of a target may be told several times, and a label set may not. */
static int rank(enum wp_check_status status)
{
	static const int ranks[] = { [WP_CHECK_PASS] = 0,
		[WP_CHECK_INFO] = 1,
		[WP_CHECK_UNKNOWN] = 2,
		[WP_CHECK_FAIL] = 3 };

	return ranks[status];
}

static void put_check(const struct wp_result *result, size_t index, FILE *stream)
{
	static const enum wp_check_status all[] = { WP_CHECK_PASS, WP_CHECK_FAIL, WP_CHECK_UNKNOWN,
		WP_CHECK_INFO };
	const struct wp_check *check = &result->checks[index];
	enum wp_check_status worst = check->status;

	for (size_t i = 0; i < result->check_count; i++) {
		const struct wp_check *other = &result->checks[i];

		if (!is_same(other->id, check->id) || !is_same(other->target, check->target))
			continue;
		if (i < index)
			return;
		worst = rank(other->status) > rank(worst) ? other->status : worst;
	}
	for (size_t i = 0; i < WP_COUNT(all); i++) {
		fputs("walprobe_check{", stream);
		put_label(stream, "check", check->id, true);
		put_label(stream, "target", check->target, false);
		put_label(stream, "status", wp_check_status_name(all[i]), false);
		fprintf(stream, "} %d\n", worst == all[i]);
	}
}

static void put_checks(const struct wp_result *result, FILE *stream)
{
	if (result->check_count)
		put_heading(stream, "walprobe_check", "1 for the status that the check has.");
	for (size_t i = 0; i < result->check_count; i++)
		put_check(result, i, stream);
}

/* ---- figures --------------------------------------------------------------------------------- */

static bool is_label(const struct source *source, const char *key)
{
	for (size_t i = 0; i < LABELS && source->labels[i]; i++)
		if (strcmp(source->labels[i], key) == 0)
			return true;
	return false;
}

/* "walprobe_sync_p99_seconds"; the caller frees. */
static char *metric_name(const struct source *source, const struct wp_column *column)
{
	size_t length = strlen(column->key);
	const char *unit = "";
	char *name;

	if (length > 3 && strcmp(column->key + length - 3, "_ns") == 0) {
		length -= 3;
		unit = "_seconds";
	} else if (length > 6 && strcmp(column->key + length - 6, "_per_s") == 0) {
		length -= 6;
		unit = "_per_second";
	}
	name = wp_xasprintf("walprobe_%s_%.*s%s", source->table, (int)length, column->key, unit);
	for (char *c = name; *c; c++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", *c))
			*c = '_';
	return name;
}

/* The value of a label: text, a whole number, or "" where it does not apply. */
static char *label_value(const struct wp_row *row, const char *key)
{
	const struct wp_cell *cell = wp_row_cell(row, key);

	if (cell->state == WP_CELL_INT)
		return wp_xasprintf("%" PRId64, cell->integer);
	return wp_xstrdup(wp_row_get_text(row, key));
}

static bool has_same_labels(
	const struct source *source, const struct wp_row *a, const struct wp_row *b)
{
	for (size_t i = 0; i < LABELS && source->labels[i]; i++) {
		char *a_value = label_value(a, source->labels[i]);
		char *b_value = label_value(b, source->labels[i]);
		bool is_equal = strcmp(a_value, b_value) == 0;

		free(a_value);
		free(b_value);
		if (!is_equal)
			return false;
	}
	return true;
}

/* Rows with the labels of an earlier one get a number, as a label set may stand once only. */
static void put_labels(
	const struct source *source, const struct wp_table *table, size_t index, FILE *stream)
{
	size_t number = 1;

	for (size_t i = 0; i < index; i++)
		number += has_same_labels(source, table->rows[i], table->rows[index]);
	putc('{', stream);
	for (size_t i = 0; i < LABELS && source->labels[i]; i++) {
		char *value = label_value(table->rows[index], source->labels[i]);

		put_label(stream, source->labels[i], value, i == 0);
		free(value);
	}
	if (number > 1)
		fprintf(stream, ",row=\"%zu\"", number);
	putc('}', stream);
}

static void put_column(
	const struct source *source, const struct wp_table *table, size_t column, FILE *stream)
{
	const char *unit = table->columns[column].unit;
	double factor = unit && strcmp(unit, "ns") == 0 ? 1 / NS_PER_S : 1;
	char *name = metric_name(source, &table->columns[column]);
	bool is_headed = false;

	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_cell *cell = &table->rows[i]->cells[column];

		if (cell->state != WP_CELL_INT && cell->state != WP_CELL_REAL)
			continue;
		if (!is_headed)
			put_heading(stream, name, table->columns[column].meaning);
		is_headed = true;
		fputs(name, stream);
		put_labels(source, table, i, stream);
		if (cell->state == WP_CELL_INT && factor == 1)
			fprintf(stream, " %" PRId64 "\n", cell->integer);
		else
			fprintf(stream, " %.9g\n",
				factor * (cell->state == WP_CELL_INT ? (double)cell->integer
								     : cell->real));
	}
	free(name);
}

void wp_render_prometheus(
	const struct wp_result *result, const struct wp_render_options *options, FILE *stream)
{
	(void)options;
	put_run(result, stream);
	put_devices(result, stream);
	put_checks(result, stream);
	for (size_t s = 0; s < WP_COUNT(sources); s++) {
		const struct wp_table *table = wp_result_find_table(result, sources[s].table);

		for (size_t k = 0; table && k < table->column_count; k++)
			if (!is_label(&sources[s], table->columns[k].key) &&
				table->columns[k].kind != WP_KIND_TEXT)
				put_column(&sources[s], table, k, stream);
	}
}
