/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/compare_parts.h"
#include "probe/part_figures.h"
#include "walprobe/compare_stats.h"
#include "walprobe/mem.h"

#include <math.h>

/* two figures of one measurement */
struct duo {
	const struct wp_figure *a;
	const struct wp_figure *b;
	const char *metric;
	double a_value;
	double b_value;
	char *difference; /* why they cannot be compared; NULL: they can */
	struct wp_pair pair;
};

struct duos {
	struct duo *items;
	size_t count;
};

static void release_duos(struct duos *duos)
{
	for (size_t i = 0; i < duos->count; i++)
		free(duos->items[i].difference);
	free(duos->items);
	*duos = (struct duos){ 0 };
}

/* what a comparison of parts is about */
struct study {
	struct wp_figures figures;
	bool is_baseline; /* the first part is the baseline of the second */
	double margin;
};

/* Pairs that the part's own run has judged already, with a twin, are not judged again without. */
static bool is_compared_already(const struct wp_figure *a, const struct wp_figure *b)
{
	const struct wp_table *table = wp_result_find_table(a->part->result, "comparison");

	return a->part == b->part && table && table->row_count;
}

static bool is_alone(const struct wp_figure *figure)
{
	return figure->part->result->target_count == 1;
}

static bool is_wanted(
	const struct study *study, const struct wp_figure *a, const struct wp_figure *b)
{
	if (!wp_figure_is_same(a, b))
		return false;
	if (study->is_baseline)
		return a->part != b->part &&
		       (strcmp(a->target, b->target) == 0 || (is_alone(a) && is_alone(b)));
	/* Rows of one target differ in their conditions, or there would be one. */
	return strcmp(a->target, b->target) != 0 && !is_compared_already(a, b);
}

/* True when a can be compared with another row of b's target: sizes find their like. */
static bool has_better(
	const struct study *study, const struct wp_figure *a, const struct wp_figure *b)
{
	for (size_t i = 0; i < study->figures.count; i++) {
		const struct wp_figure *other = &study->figures.items[i];
		char *difference;

		if (other == b || other->part != b->part || strcmp(other->target, b->target) != 0 ||
			!wp_figure_is_same(other, b))
			continue;
		difference = wp_figure_difference(a, other, study->is_baseline);
		if (!difference)
			return true;
		free(difference);
	}
	return false;
}

static void add_duo(const struct study *study, struct duos *duos, const struct wp_figure *a,
	const struct wp_figure *b)
{
	struct duo duo = { .a = a, .b = b };

	if (!is_wanted(study, a, b))
		return;
	duo.metric = wp_figure_values(a, b, &duo.a_value, &duo.b_value);
	if (!duo.metric)
		return;
	duo.difference = wp_figure_difference(a, b, study->is_baseline);
	if (duo.difference && (has_better(study, a, b) || has_better(study, b, a))) {
		free(duo.difference);
		return;
	}
	duos->items = wp_xreallocarray(duos->items, duos->count + 1, sizeof(*duos->items));
	duos->items[duos->count++] = duo;
}

/* All pairs of the measurement that the figure with this index has. */
static void collect_family(struct study *study, size_t first, struct duos *duos)
{
	struct wp_figure *items = study->figures.items;

	for (size_t i = first; i < study->figures.count; i++) {
		if (!wp_figure_is_same(&items[first], &items[i]))
			continue;
		items[i].is_done = true;
		for (size_t k = i + 1; k < study->figures.count; k++)
			/* Of a change, what is now comes first. */
			add_duo(study, duos, study->is_baseline ? &items[k] : &items[i],
				study->is_baseline ? &items[i] : &items[k]);
	}
}

static void judge_single(struct duo *duo)
{
	duo->pair = (struct wp_pair){
		.ratio = duo->a_value / duo->b_value,
		.low = (double)NAN,
		.high = (double)NAN,
		.p_value = (double)NAN,
		.verdict = WP_VERDICT_NO_INTERVAL,
	};
}

static void judge(const struct study *study, struct duos *duos)
{
	struct wp_pair *pairs = wp_xcalloc(duos->count, sizeof(*pairs));
	size_t count = 0;

	for (size_t i = 0; i < duos->count; i++) {
		struct duo *duo = &duos->items[i];
		size_t rounds = duo->a->round_count < duo->b->round_count ? duo->a->round_count
									  : duo->b->round_count;

		judge_single(duo);
		if (duo->difference || !rounds)
			continue;
		duo->metric = duo->a->measurement.metric;
		pairs[count++] = (struct wp_pair){
			.a = duo->a->rounds,
			.b = duo->b->rounds,
			.count = rounds,
			.verb = strcmp(duo->a->measurement.table, "io") == 0 ? "runs" : NULL,
		};
	}
	wp_pairs_judge(pairs, count, NULL, study->margin);
	count = 0;
	for (size_t i = 0; i < duos->count; i++) {
		struct duo *duo = &duos->items[i];

		if (!duo->difference && duo->a->round_count && duo->b->round_count)
			duo->pair = pairs[count++];
	}
	free(pairs);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void fill_not_comparable(struct wp_row *row, const struct duo *duo)
{
	static const char *const keys[] = { "ratio", "ci_low", "ci_high" };

	for (size_t i = 0; i < WP_COUNT(keys); i++)
		wp_row_absent(row, keys[i], duo->difference);
	wp_row_text(row, "verdict", wp_verdict_name(WP_VERDICT_NOT_COMPARABLE));
	wp_row_text(row, "sentence", duo->difference);
}

static void fill_pair(const struct study *study, struct wp_row *row, const struct duo *duo)
{
	static const char no_rounds[] = "single figures, no rounds";
	const struct wp_pair *pair = &duo->pair;
	char a_words[256];
	char b_words[256];
	char sentence[640];

	wp_row_real(row, "ratio", pair->ratio);
	if (pair->verdict == WP_VERDICT_NO_INTERVAL) {
		wp_row_absent(row, "ci_low", no_rounds);
		wp_row_absent(row, "ci_high", no_rounds);
	} else {
		wp_row_int(row, "rounds", (int64_t)pair->rounds);
		wp_row_real(row, "ci_low", pair->low);
		wp_row_real(row, "ci_high", pair->high);
	}
	wp_row_text(row, "verdict", wp_verdict_name(pair->verdict));
	wp_measurement_words(&duo->a->measurement, duo->a->target, a_words, sizeof(a_words));
	wp_measurement_words(&duo->b->measurement, duo->b->target, b_words, sizeof(b_words));
	wp_row_text(row, "sentence",
		wp_verdict_sentence(pair, NULL, study->margin,
			study->is_baseline ? "now it" : a_words,
			study->is_baseline ? "before" : b_words, sentence, sizeof(sentence)));
}

static void fill_row(const struct study *study, struct wp_row *row, const struct duo *duo)
{
	struct wp_measurement measurement = duo->a->measurement;

	measurement.metric = duo->metric;
	wp_measurement_fill(row, &measurement);
	if (duo->difference)
		fill_not_comparable(row, duo);
	else
		fill_pair(study, row, duo);
}

/* Tables of older documents may lack columns that are written here. */
static struct wp_table *comparison_table(struct wp_result *result)
{
	static const char *const needed[] = { "table", "metric", "method", "variant", "clients",
		"test", "record_bytes", "a", "b", "rounds", "ratio", "ci_low", "ci_high", "verdict",
		"sentence", "p_value" };
	struct wp_table *table = wp_result_table(result, "comparison",
		"Every pair of targets, a against b", wp_comparison_columns, WP_COMPARISON_COLUMNS);

	for (size_t i = 0; i < WP_COUNT(needed); i++)
		if (wp_table_column(table, needed[i]) < 0)
			return wp_result_table(result, "comparison_across",
				"Pairs of targets of different documents, a against b",
				wp_comparison_columns, WP_COMPARISON_COLUMNS);
	return table;
}

void wp_compare_parts(
	const struct wp_part *parts, size_t count, double margin, struct wp_result *result)
{
	struct study study = { .margin = margin };
	struct wp_table *table = comparison_table(result);

	for (size_t i = 0; i < count; i++)
		wp_figures_add(&study.figures, &parts[i]);
	for (size_t i = 0; i < study.figures.count; i++) {
		struct duos duos = { 0 };

		if (study.figures.items[i].is_done)
			continue;
		collect_family(&study, i, &duos);
		judge(&study, &duos);
		for (size_t k = 0; k < duos.count; k++) {
			struct wp_row *row = wp_table_add_row(table);

			fill_row(&study, row, &duos.items[k]);
			wp_row_text(row, "a", duos.items[k].a->target);
			wp_row_text(row, "b", duos.items[k].b->target);
			wp_row_real(row, "p_value", duos.items[k].pair.p_value);
		}
		release_duos(&duos);
	}
	wp_figures_release(&study.figures);
}

/* ---- before and after -------------------------------------------------------------------------- */

static const struct wp_column change_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label of the target." },
	{ "table", "table", "", WP_KIND_TEXT, "Table that holds the measurement." },
	{ "metric", "metric", "", WP_KIND_TEXT, "Column of that table which is compared." },
	{ "method", "method", "", WP_KIND_TEXT, "wal_sync_method." },
	{ "variant", "variant", "", WP_KIND_TEXT, "Variant of the sync measurement." },
	{ "clients", "clients", "", WP_KIND_INT, "Concurrent committers." },
	{ "test", "test", "", WP_KIND_TEXT, "Test of the io measurement." },
	{ "record_bytes", "record", "bytes", WP_KIND_INT, "Record size of the io measurement." },
	{ "before", "before", "", WP_KIND_REAL, "The baseline's figure, in the metric's unit." },
	{ "after", "now", "", WP_KIND_REAL, "The figure now, in the metric's unit." },
	{ "rounds", "rounds", "", WP_KIND_INT, "Rounds in which both have a figure." },
	{ "ratio", "now / before", "", WP_KIND_REAL,
		"Hodges-Lehmann estimate of now / before, paired by round." },
	{ "ci_low", "low", "", WP_KIND_REAL, "Lower end of the 95 % interval of the ratio." },
	{ "ci_high", "high", "", WP_KIND_REAL, "Upper end of the 95 % interval of the ratio." },
	{ "verdict", "now it is", "", WP_KIND_TEXT, "Speed now, against before." },
	{ "sentence", "in words", "", WP_KIND_TEXT, "The verdict as a sentence." },
};

static void fill_change(const struct study *study, struct wp_table *table, const struct duo *duo)
{
	struct wp_row *row = wp_table_add_row(table);

	wp_row_text(row, "target", duo->a->target);
	fill_row(study, row, duo);
	wp_row_real(row, "before", wp_row_get_number(duo->b->row, duo->metric));
	wp_row_real(row, "after", wp_row_get_number(duo->a->row, duo->metric));
}

static bool did_fail(const struct wp_result *result, const struct wp_check *check)
{
	for (size_t i = 0; i < result->check_count; i++)
		if (result->checks[i].status == WP_CHECK_FAIL &&
			strcmp(result->checks[i].id, check->id) == 0 &&
			strcmp(result->checks[i].target ? result->checks[i].target : "",
				check->target ? check->target : "") == 0)
			return true;
	return false;
}

static size_t count_new_failures(const struct wp_result *before, const struct wp_result *after)
{
	size_t count = 0;

	for (size_t i = 0; i < after->check_count; i++)
		count += after->checks[i].status == WP_CHECK_FAIL &&
			 !did_fail(before, &after->checks[i]);
	return count;
}

struct wp_changes wp_compare_baseline(const struct wp_part *before, const struct wp_part *after,
	double margin, struct wp_result *result)
{
	struct study study = { .margin = margin, .is_baseline = true };
	struct wp_changes changes = { .failing =
					      count_new_failures(before->result, after->result) };
	struct wp_table *table = wp_result_table(result, "changes", "Now against the baseline",
		change_columns, WP_COUNT(change_columns));

	wp_figures_add(&study.figures, before);
	wp_figures_add(&study.figures, after);
	for (size_t i = 0; i < study.figures.count; i++) {
		struct duos duos = { 0 };

		if (study.figures.items[i].is_done)
			continue;
		collect_family(&study, i, &duos);
		judge(&study, &duos);
		for (size_t k = 0; k < duos.count; k++) {
			fill_change(&study, table, &duos.items[k]);
			changes.compared += !duos.items[k].difference;
			changes.slower += duos.items[k].pair.verdict == WP_VERDICT_SLOWER;
		}
		release_duos(&duos);
	}
	wp_figures_release(&study.figures);
	return changes;
}
