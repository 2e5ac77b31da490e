/* SPDX-License-Identifier: PostgreSQL */
#include "probe/comparison_table.h"
#include "probe/measure_family.h"
#include "walprobe/comparison.h"
#include "walprobe/mem.h"
#include "walprobe/units.h"

#include <math.h>

const struct wp_column wp_comparison_columns[WP_COMPARISON_COLUMNS] = {
	{ "table", "table", "", WP_KIND_TEXT, "Table that holds the measurement." },
	{ "metric", "metric", "", WP_KIND_TEXT, "Column of that table which is compared." },
	{ "method", "method", "", WP_KIND_TEXT, "wal_sync_method." },
	{ "variant", "variant", "", WP_KIND_TEXT, "Variant of the sync measurement." },
	{ "clients", "clients", "", WP_KIND_INT, "Concurrent committers." },
	{ "test", "test", "", WP_KIND_TEXT, "Test of the io measurement." },
	{ "record_bytes", "record", "bytes", WP_KIND_INT, "Record size of the io measurement." },
	{ "a", "a", "", WP_KIND_TEXT, "First target." },
	{ "b", "b", "", WP_KIND_TEXT, "Second target." },
	{ "rounds", "rounds", "", WP_KIND_INT, "Rounds in which both have a figure." },
	{ "ratio", "a / b", "", WP_KIND_REAL,
		"Hodges-Lehmann estimate of a / b, paired by round." },
	{ "ci_low", "low", "", WP_KIND_REAL, "Lower end of the 95 % interval of the ratio." },
	{ "ci_high", "high", "", WP_KIND_REAL, "Upper end of the 95 % interval of the ratio." },
	{ "p_value", "p", "", WP_KIND_REAL, "Two-sided signed-rank p-value, before Holm." },
	{ "verdict", "verdict", "", WP_KIND_TEXT, "Speed of a against b." },
	{ "twin_low", "A/A low", "", WP_KIND_REAL,
		"Lower end of the interval of the same place against itself." },
	{ "twin_high", "A/A high", "", WP_KIND_REAL,
		"Upper end of the interval of the same place against itself." },
	{ "sentence", "in words", "", WP_KIND_TEXT, "The verdict as a sentence." },
};

static const struct wp_column method_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Where both were measured." },
	{ "table", "table", "", WP_KIND_TEXT, "Table that holds the measurement." },
	{ "variant", "variant", "", WP_KIND_TEXT, "Variant of the sync measurement." },
	{ "clients", "clients", "", WP_KIND_INT, "Concurrent committers." },
	{ "a", "a", "", WP_KIND_TEXT, "First wal_sync_method." },
	{ "b", "b", "", WP_KIND_TEXT, "Second wal_sync_method." },
	{ "rounds", "rounds", "", WP_KIND_INT, "Rounds in which both have a figure." },
	{ "ratio", "a / b", "", WP_KIND_REAL,
		"Hodges-Lehmann estimate of a / b, paired by round." },
	{ "ci_low", "low", "", WP_KIND_REAL, "Lower end of the 95 % interval of the ratio." },
	{ "ci_high", "high", "", WP_KIND_REAL, "Upper end of the 95 % interval of the ratio." },
	{ "verdict", "verdict", "", WP_KIND_TEXT, "Speed of a against b." },
	{ "sentence", "in words", "", WP_KIND_TEXT, "The verdict as a sentence." },
};

static void set_int_or_absent(struct wp_row *row, const char *key, int64_t value)
{
	if (value)
		wp_row_int(row, key, value);
}

static void append_word(char *out, size_t size, const char *word)
{
	size_t used = strlen(out);

	if (word && *word)
		(void)snprintf(out + used, size - used, "%s%s", used ? " " : "", word);
}

void wp_measurement_words(
	const struct wp_measurement *measurement, const char *label, char *out, size_t size)
{
	bool is_said = strcmp(measurement->table, "sync") == 0 ||
		       (measurement->test && *measurement->test);
	char count[48] = "";
	char record[32];

	if (measurement->clients)
		(void)snprintf(count, sizeof(count), "with %" PRId64 " client%s",
			measurement->clients, measurement->clients == 1 ? "" : "s");
	else if (measurement->record_bytes)
		(void)snprintf(count, sizeof(count), "of %s",
			wp_format_size(measurement->record_bytes, record, sizeof(record)));
	out[0] = '\0';
	append_word(out, size, label);
	append_word(out, size, is_said ? "" : measurement->table);
	append_word(out, size, measurement->method);
	append_word(out, size, measurement->variant);
	append_word(out, size, measurement->test);
	append_word(out, size, count);
}

static struct wp_measurement measurement_of(const struct wp_measure *measure)
{
	return (struct wp_measurement){
		.table = measure->table,
		.metric = measure->metric,
		.method = measure->method,
		.variant = measure->variant,
		.test = measure->test,
		.clients = measure->clients,
		.record_bytes = measure->record_bytes,
	};
}

static void set_text_or_absent(struct wp_row *row, const char *key, const char *text)
{
	wp_row_text(row, key, text && *text ? text : NULL);
}

void wp_measurement_fill(struct wp_row *row, const struct wp_measurement *measurement)
{
	wp_row_text(row, "table", measurement->table);
	wp_row_text(row, "metric", measurement->metric);
	set_text_or_absent(row, "method", measurement->method);
	set_text_or_absent(row, "variant", measurement->variant);
	set_int_or_absent(row, "clients", measurement->clients);
	set_text_or_absent(row, "test", measurement->test);
	set_int_or_absent(row, "record_bytes", measurement->record_bytes);
}

static void fill_pair(struct wp_row *row, const struct wp_pair *pair)
{
	wp_row_int(row, "rounds", (int64_t)pair->rounds);
	wp_row_real(row, "ratio", pair->ratio);
	wp_row_real(row, "ci_low", pair->low);
	wp_row_real(row, "ci_high", pair->high);
	wp_row_text(row, "verdict", wp_verdict_name(pair->verdict));
}

static void fill_comparison_row(struct wp_table *table, const struct wp_pair *pair,
	const struct wp_pair *twin, double margin, const struct wp_measure *a,
	const struct wp_measure *b)
{
	struct wp_row *row = wp_table_add_row(table);
	struct wp_measurement measurement = measurement_of(a);
	char a_words[256];
	char b_words[256];
	char sentence[512];

	wp_measurement_fill(row, &measurement);
	wp_row_text(row, "a", a->target->label);
	wp_row_text(row, "b", b->target->label);
	fill_pair(row, pair);
	wp_row_real(row, "p_value", pair->p_value);
	if (twin) {
		wp_row_real(row, "twin_low", twin->low);
		wp_row_real(row, "twin_high", twin->high);
	}
	wp_measurement_words(&measurement, a->target->label, a_words, sizeof(a_words));
	wp_measurement_words(&measurement, b->target->label, b_words, sizeof(b_words));
	wp_row_text(row, "sentence",
		wp_verdict_sentence(
			pair, twin, margin, a_words, b_words, sentence, sizeof(sentence)));
}

static struct wp_pair pair_of(const struct wp_measure *a, const struct wp_measure *b)
{
	int64_t count = a->round_count < b->round_count ? a->round_count : b->round_count;

	return (struct wp_pair){
		.a = a->values,
		.b = b->values,
		.count = (size_t)count,
		.is_lower_better = a->is_lower_better,
		.verb = a->test ? "runs" : NULL, /* nothing is committed by a read */
	};
}

/* The pair of a measure and its hidden copy; false when none was planned. */
static bool twin_of(
	const struct wp_measures *measures, const struct wp_measure *of, struct wp_pair *twin)
{
	const struct wp_measure *copy = NULL;
	const struct wp_measure *original = NULL;

	for (size_t i = 0; i < measures->count; i++) {
		const struct wp_measure *measure = measures->items[i];

		if (measure->is_twin && wp_measure_is_same(measure, of))
			copy = measure;
	}
	for (size_t i = 0; copy && i < measures->count; i++) {
		const struct wp_measure *measure = measures->items[i];

		if (!measure->is_twin && measure->target == copy->target &&
			wp_measure_is_same(measure, copy))
			original = measure;
	}
	if (!original)
		return false;
	*twin = pair_of(original, copy);
	return true;
}

/* All pairs of one family, judged together; row() writes each. */
static void judge_family(struct wp_table *table, const struct wp_family *family,
	struct wp_pair *twin, double margin,
	void (*row)(struct wp_table *table, const struct wp_pair *pair, const struct wp_pair *twin,
		double margin, const struct wp_measure *a, const struct wp_measure *b))
{
	size_t count = family->count * (family->count - 1) / 2;
	struct wp_pair *pairs = wp_xcalloc(count, sizeof(*pairs));
	size_t n = 0;

	for (size_t i = 0; i < family->count; i++)
		for (size_t j = i + 1; j < family->count; j++)
			pairs[n++] = pair_of(family->items[i], family->items[j]);
	wp_pairs_judge(pairs, count, twin, margin);
	n = 0;
	for (size_t i = 0; i < family->count; i++)
		for (size_t j = i + 1; j < family->count; j++)
			row(table, &pairs[n++], twin, margin, family->items[i], family->items[j]);
	free(pairs);
}

static void compare_targets(struct wp_run *run, const struct wp_measures *measures, double margin)
{
	struct wp_table *table = wp_result_table(run->result, "comparison",
		"Every pair of targets, a against b", wp_comparison_columns, WP_COMPARISON_COLUMNS);

	for (size_t i = 0; i < measures->count; i++) {
		struct wp_family family;
		struct wp_pair twin;
		bool has_twin;

		if (!wp_family_of_targets(measures, i, &family))
			continue;
		has_twin = twin_of(measures, measures->items[i], &twin);
		judge_family(table, &family, has_twin ? &twin : NULL, margin, fill_comparison_row);
		wp_family_release(&family);
	}
}

static void fill_method_row(struct wp_table *table, const struct wp_pair *pair,
	const struct wp_pair *twin, double margin, const struct wp_measure *a,
	const struct wp_measure *b)
{
	struct wp_row *row = wp_table_add_row(table);
	char sentence[512];

	wp_row_text(row, "target", a->target->label);
	wp_row_text(row, "table", a->table);
	wp_row_text(row, "variant", a->variant);
	set_int_or_absent(row, "clients", a->clients);
	wp_row_text(row, "a", a->method);
	wp_row_text(row, "b", b->method);
	fill_pair(row, pair);
	wp_row_text(row, "sentence",
		wp_verdict_sentence(
			pair, twin, margin, a->method, b->method, sentence, sizeof(sentence)));
}

static void compare_methods(struct wp_run *run, const struct wp_measures *measures, double margin)
{
	struct wp_table *table = wp_result_table(run->result, "methods",
		"Every pair of sync methods on one target, a against b", method_columns,
		WP_COUNT(method_columns));

	for (size_t i = 0; i < measures->count; i++) {
		struct wp_family family;
		struct wp_pair twin;
		bool has_twin;

		if (!wp_family_of_methods(measures, i, &family))
			continue;
		has_twin = twin_of(measures, measures->items[i], &twin);
		judge_family(table, &family, has_twin ? &twin : NULL, margin, fill_method_row);
		wp_family_release(&family);
	}
}

void wp_comparison_fill(struct wp_run *run, const struct wp_measures *measures, double margin)
{
	wp_summary_fill(run, measures);
	compare_targets(run, measures, margin);
	compare_methods(run, measures, margin);
}
