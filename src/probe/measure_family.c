/* SPDX-License-Identifier: PostgreSQL */
#include "probe/measure_family.h"
#include "walprobe/mem.h"
#include "walprobe/units.h"

static bool is_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool is_same_but_method(const struct wp_measure *a, const struct wp_measure *b)
{
	return is_equal(a->table, b->table) && is_equal(a->metric, b->metric) &&
	       is_equal(a->variant, b->variant) && is_equal(a->test, b->test) &&
	       a->clients == b->clients && a->record_bytes == b->record_bytes;
}

bool wp_measure_is_same(const struct wp_measure *a, const struct wp_measure *b)
{
	return is_same_but_method(a, b) && is_equal(a->method, b->method);
}

static bool is_other_method(const struct wp_measure *a, const struct wp_measure *b)
{
	return is_same_but_method(a, b) && a->target == b->target && a->method && b->method;
}

/* What was not measured has nothing to be compared; its reason stands in its own row. */
static bool is_member(const struct wp_measure *measure)
{
	return !measure->is_twin && !measure->absent;
}

static bool collect(const struct wp_measures *measures, size_t index, struct wp_family *family,
	bool (*belongs)(const struct wp_measure *a, const struct wp_measure *b))
{
	const struct wp_measure *first = measures->items[index];

	if (!is_member(first))
		return false;
	for (size_t i = 0; i < index; i++)
		if (is_member(measures->items[i]) && belongs(first, measures->items[i]))
			return false;
	family->items = wp_xcalloc(measures->count, sizeof(*family->items));
	family->count = 0;
	for (size_t i = index; i < measures->count; i++)
		if (is_member(measures->items[i]) && belongs(first, measures->items[i]))
			family->items[family->count++] = measures->items[i];
	if (family->count >= 2)
		return true;
	wp_family_release(family);
	return false;
}

bool wp_family_of_targets(
	const struct wp_measures *measures, size_t index, struct wp_family *family)
{
	return collect(measures, index, family, wp_measure_is_same);
}

bool wp_family_of_methods(
	const struct wp_measures *measures, size_t index, struct wp_family *family)
{
	return collect(measures, index, family, is_other_method);
}

void wp_family_release(struct wp_family *family)
{
	free(family->items);
	family->items = NULL;
	family->count = 0;
}

/* ---- summary ---------------------------------------------------------------------------- */

/* The measures that stand for one column each: the first of every measurement. */
static size_t distinct(const struct wp_measures *measures, const struct wp_measure **out)
{
	size_t count = 0;

	for (size_t i = 0; i < measures->count; i++) {
		bool is_known = measures->items[i]->is_twin;

		for (size_t j = 0; !is_known && j < count; j++)
			is_known = wp_measure_is_same(out[j], measures->items[i]);
		if (!is_known)
			out[count++] = measures->items[i];
	}
	return count;
}

static char *column_key(const struct wp_measure *measure)
{
	char *key = wp_xasprintf("%s_%s%s%s%s%s", measure->table,
		measure->method ? measure->method : "none", measure->variant ? "_" : "",
		measure->variant ? measure->variant : "", measure->test ? "_" : "",
		measure->test ? measure->test : "");
	char *full = key;

	if (measure->clients || measure->record_bytes) {
		full = wp_xasprintf("%s_%" PRId64, key,
			measure->clients ? measure->clients : measure->record_bytes);
		free(key);
	}
	return full;
}

static char *column_label(const struct wp_measure *measure)
{
	char record[32];

	if (strcmp(measure->table, "sync") == 0) {
		bool is_plain = !measure->variant || strcmp(measure->variant, "overwrite") == 0;

		return wp_xasprintf("%s%s%s", measure->method ? measure->method : "",
			is_plain ? "" : " ", is_plain ? "" : measure->variant);
	}
	if (measure->test)
		return wp_xasprintf("%s%s%s", measure->test, measure->record_bytes ? " of " : "",
			measure->record_bytes
				? wp_format_size(measure->record_bytes, record, sizeof(record))
				: "");
	return wp_xasprintf("%s %s%s%" PRId64, measure->table,
		measure->method ? measure->method : "", measure->clients ? " c" : " ",
		measure->clients ? measure->clients : measure->record_bytes);
}

static void fill_cell(struct wp_row *row, const char *key, const struct wp_measure *measure)
{
	double middle;
	double low;
	double high;

	(void)wp_measure_interval(measure, &middle, &low, &high);
	if (measure->absent)
		wp_row_absent(row, key, measure->absent);
	else
		wp_row_real(row, key, middle);
}

static struct wp_row *row_of(struct wp_table *table, const char *target)
{
	struct wp_row *row;

	for (size_t i = 0; i < table->row_count; i++)
		if (strcmp(wp_row_get_text(table->rows[i], "target"), target) == 0)
			return table->rows[i];
	row = wp_table_add_row(table);
	wp_row_text(row, "target", target);
	return row;
}

void wp_summary_fill(struct wp_run *run, const struct wp_measures *measures)
{
	const struct wp_measure **heads = wp_xcalloc(measures->count, sizeof(*heads));
	size_t count = distinct(measures, heads);
	struct wp_column *columns = wp_xcalloc(count + 1, sizeof(*columns));
	struct wp_table *table;

	columns[0] = (struct wp_column){ "target", "target", "", WP_KIND_TEXT,
		"Place that was measured." };
	for (size_t i = 0; i < count; i++)
		columns[i + 1] = (struct wp_column){ column_key(heads[i]), column_label(heads[i]),
			"1/s", WP_KIND_REAL, "Middle of the rounds (Hodges-Lehmann)." };
	table = wp_result_table(run->result, "summary",
		"Operations or commits per second, middle of the rounds", columns, count + 1);
	for (size_t i = 0; i < measures->count; i++) {
		const struct wp_measure *measure = measures->items[i];
		size_t column = 0;

		if (measure->is_twin)
			continue;
		while (!wp_measure_is_same(heads[column], measure))
			column++;
		fill_cell(row_of(table, measure->target->label), columns[column + 1].key, measure);
	}
	for (size_t i = 0; i < count; i++) {
		free((void *)(uintptr_t)columns[i + 1].key);
		free((void *)(uintptr_t)columns[i + 1].label);
	}
	free(columns);
	free(heads);
}
