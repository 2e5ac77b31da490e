/* SPDX-License-Identifier: PostgreSQL */
#include "cells.h"
#include "walprobe/mem.h"
#include "walprobe/units.h"
#include "wrap.h"

#include <math.h>

struct unit {
	const char *name;
	double factor;
};

static const struct unit durations[] = {
	{ "s", 1e9 },
	{ "ms", 1e6 },
	{ "us", 1e3 },
	{ "ns", 1 },
};

static const struct unit sizes[] = {
	{ "TB", 1099511627776.0 },
	{ "GB", 1073741824.0 },
	{ "MB", 1048576.0 },
	{ "kB", 1024.0 },
	{ "B", 1 },
};

/* Figures of one column are readable together up to this one. */
#define LARGEST_SHOWN 99999.0

static bool number_of(const struct wp_cell *cell, double *value)
{
	if (cell->state == WP_CELL_INT)
		*value = (double)cell->integer;
	else if (cell->state == WP_CELL_REAL)
		*value = cell->real;
	else
		return false;
	return true;
}

/* Smallest (above zero) and largest magnitude; false when there is no number but zero. */
static bool find_range(const struct wp_table *table, const size_t *columns, size_t count,
	double *least, double *most)
{
	*least = INFINITY;
	*most = 0;
	for (size_t i = 0; i < table->row_count; i++) {
		for (size_t j = 0; j < count; j++) {
			double value;

			if (!number_of(&table->rows[i]->cells[columns[j]], &value) || value == 0)
				continue;
			value = fabs(value);
			if (value < *least)
				*least = value;
			if (value > *most)
				*most = value;
		}
	}
	return *most > 0;
}

/* The largest unit that shows the least value as floor or more. */
static const struct unit *unit_for(
	const struct unit *units, size_t count, double least, double floor_shown)
{
	for (size_t i = 0; i + 1 < count; i++)
		if (least >= floor_shown * units[i].factor)
			return &units[i];
	return &units[count - 1];
}

struct wp_scale wp_scale_pick(const struct wp_table *table, const size_t *columns, size_t count)
{
	const char *name = table->columns[columns[0]].unit ? table->columns[columns[0]].unit : "";
	struct wp_scale scale = { .factor = 1, .unit = name };
	const struct unit *unit;
	double least;
	double most;

	/* Rates of bytes are read in one unit whatever their size; their headings name it. */
	if (strcmp(name, "bytes/s") == 0)
		return (struct wp_scale){ .factor = 1048576, .unit = "" };
	scale.is_duration = strcmp(name, "ns") == 0;
	scale.is_size = strcmp(name, "bytes") == 0;
	if (!scale.is_duration && !scale.is_size)
		return scale;
	if (!find_range(table, columns, count, &least, &most)) {
		least = scale.is_duration ? 1e6 : 1024;
		most = least;
	}
	unit = scale.is_duration ? unit_for(durations, WP_COUNT(durations), least, 0.1)
				 : unit_for(sizes, WP_COUNT(sizes), least, 1);
	scale.factor = unit->factor;
	scale.unit = unit->name;
	if (most / unit->factor > LARGEST_SHOWN) {
		scale.is_each = true;
		scale.unit = "";
	}
	return scale;
}

const char *wp_number_3(double value, char *out)
{
	/* Beyond this, plain digits would no longer fit in out. */
	if (fabs(value) >= 1e15 || (value != 0 && fabs(value) < 1e-7))
		(void)snprintf(out, WP_CELL_SIZE, "%.2e", value);
	else
		(void)wp_format_3(value, out, WP_CELL_SIZE);
	return out;
}

static const char *format_number(
	double value, const struct wp_cell *cell, const struct wp_scale *scale, char *out)
{
	double shown = value / scale->factor;

	/* What int64_t cannot hold is beyond any time or size that was measured. */
	if (scale->is_each && fabs(value) >= 9e18)
		return wp_number_3(value, out);
	if (scale->is_each && scale->is_duration)
		return wp_format_duration((int64_t)value, out, WP_CELL_SIZE);
	if (scale->is_each)
		return wp_format_size((int64_t)value, out, WP_CELL_SIZE);
	/* Counts are exact, and so are sizes that are a whole number of units. */
	if (cell->state == WP_CELL_INT && !scale->is_duration && shown == floor(shown))
		(void)snprintf(
			out, WP_CELL_SIZE, "%" PRId64, cell->integer / (int64_t)scale->factor);
	else
		(void)wp_number_3(shown, out);
	return out;
}

static const char *format_absent(const char *reason, struct wp_notes *notes, char *out)
{
	size_t i = 0;

	if (!reason)
		return "-";
	while (i < notes->count && strcmp(notes->reasons[i], reason) != 0)
		i++;
	if (i == notes->count) {
		notes->reasons =
			wp_xreallocarray(notes->reasons, notes->count + 1, sizeof(*notes->reasons));
		notes->reasons[notes->count++] = reason;
	}
	(void)snprintf(out, WP_CELL_SIZE, "-[%zu]", i + 1);
	return out;
}

const char *wp_cell_format(
	const struct wp_cell *cell, const struct wp_scale *scale, struct wp_notes *notes, char *out)
{
	double value;

	if (cell->state == WP_CELL_TEXT)
		return cell->text;
	if (!number_of(cell, &value))
		return format_absent(cell->text, notes, out);
	return format_number(value, cell, scale, out);
}

const char *wp_cell_interval(const struct wp_cell *low, const struct wp_cell *high,
	const struct wp_scale *scale, struct wp_notes *notes, char *out)
{
	char low_text[WP_CELL_SIZE];
	char high_text[WP_CELL_SIZE];
	double from;
	double to;

	if (!number_of(low, &from))
		return format_absent(low->text, notes, out);
	if (!number_of(high, &to))
		return format_absent(high->text, notes, out);
	(void)snprintf(out, WP_CELL_SIZE, "%.28s-%.28s", format_number(from, low, scale, low_text),
		format_number(to, high, scale, high_text));
	return out;
}

void wp_notes_print(const struct wp_notes *notes, size_t limit, size_t indent, FILE *stream)
{
	char lead[32];

	for (size_t i = 0; i < notes->count; i++) {
		(void)snprintf(lead, sizeof(lead), "[%zu] ", i + 1);
		wp_wrap_print(stream, limit, indent, lead, notes->reasons[i]);
	}
}

void wp_notes_release(struct wp_notes *notes)
{
	free(notes->reasons);
	memset(notes, 0, sizeof(*notes));
}
