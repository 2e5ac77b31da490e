/* SPDX-License-Identifier: PostgreSQL */
#include "probe/recommendation.h"
#include "walprobe/comparison.h"
#include "walprobe/mem.h"

#include <math.h>

static const struct wp_column recommendation_columns[] = {
	{ "rank", "#", "", WP_KIND_INT, "Order of importance." },
	{ "target", "target", "", WP_KIND_TEXT, "Target that the line speaks of." },
	{ "item", "item", "", WP_KIND_TEXT, "What is to be chosen or set." },
	{ "value", "value", "", WP_KIND_TEXT, "The recommended choice." },
	{ "why", "why", "", WP_KIND_TEXT, "The figures and checks that it rests on." },
};

/* one place that could hold pg_wal */
struct candidate {
	const struct wp_target_info *info;
	const char *refusal; /* why it is never recommended; NULL: it may be */
	const char *caveat;  /* what could not be seen; NULL: nothing */
	double middle;       /* in the leading measurement; NaN: not measured */
	bool is_beaten;      /* another candidate was shown to be faster */
};

struct candidates {
	struct candidate *items;
	size_t count;
};

/* a measurement that decides, best first */
struct lead {
	const char *table;
	const char *metric;
	const char *method;
	const char *variant;
	double clients; /* NaN: does not apply */
};

void wp_recommendation_add(struct wp_run *run, const char *target, const char *item,
	const char *value, const char *why)
{
	struct wp_table *table = wp_result_table(run->result, "recommendation",
		"What to do, and why", recommendation_columns, WP_COUNT(recommendation_columns));
	struct wp_row *row = wp_table_add_row(table);

	wp_row_int(row, "rank", (int64_t)table->row_count);
	wp_row_text(row, "target", target);
	wp_row_text(row, "item", item);
	wp_row_text(row, "value", value);
	wp_row_text(row, "why", why);
}

/* Checks whose failure (or, for volatile, whose mention) rules a place out. */
static const char *refusal_of(const struct wp_result *result, const char *target)
{
	static const char *const deciding[] = { "flush-sent", "barriers", "write-cache",
		"controller", "data-survived" };

	for (size_t i = 0; i < result->check_count; i++) {
		const struct wp_check *check = &result->checks[i];

		if (strcmp(check->target, target) != 0)
			continue;
		if (strcmp(check->id, "volatile") == 0 && check->status != WP_CHECK_PASS)
			return check->text;
		for (size_t j = 0; j < WP_COUNT(deciding); j++)
			if (check->status == WP_CHECK_FAIL && strcmp(check->id, deciding[j]) == 0)
				return check->text;
	}
	return NULL;
}

static const struct wp_check *find_check(
	const struct wp_result *result, const char *id, const char *target)
{
	for (size_t i = 0; i < result->check_count; i++)
		if (strcmp(result->checks[i].id, id) == 0 &&
			strcmp(result->checks[i].target, target) == 0)
			return &result->checks[i];
	return NULL;
}

static const char *caveat_of(const struct wp_result *result, const char *target)
{
	const struct wp_check *check = find_check(result, "flush-sent", target);

	if (!check)
		return "whether its flushes reach a device was not looked at";
	return check->status == WP_CHECK_UNKNOWN ? check->text : NULL;
}

static bool is_text(const struct wp_row *row, const char *key, const char *text)
{
	return strcmp(wp_row_get_text(row, key), text ? text : "") == 0;
}

static bool is_lead_row(const struct wp_row *row, const struct lead *lead)
{
	double clients = wp_row_get_number(row, "clients");

	return is_text(row, "method", lead->method) && is_text(row, "variant", lead->variant) &&
	       (isnan(lead->clients) ? isnan(clients) : clients == lead->clients);
}

/* The row with the most (or fewest) clients of fdatasync, or of the first method there is. */
static bool append_lead(const struct wp_result *result, bool is_most, struct lead *lead)
{
	const struct wp_table *table = wp_result_find_table(result, "append");

	*lead = (struct lead){ "append", "commits_per_s", NULL, NULL, (double)NAN };
	for (size_t i = 0; table && i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];
		double clients = wp_row_get_number(row, "clients");
		bool is_better = is_most ? clients > lead->clients : clients < lead->clients;

		if (isnan(wp_row_get_number(row, "commits_per_s")))
			continue;
		if (lead->method && !is_text(row, "method", lead->method) &&
			!is_text(row, "method", "fdatasync"))
			continue;
		if (!lead->method || is_better) {
			lead->method = wp_row_get_text(row, "method");
			lead->clients = clients;
		}
	}
	return lead->method != NULL;
}

static size_t find_leads(const struct wp_result *result, struct lead *leads)
{
	size_t count = 0;

	if (append_lead(result, true, &leads[count]))
		count++;
	if (append_lead(result, false, &leads[count]) && leads[count].clients != leads[0].clients)
		count++;
	if (!count && wp_result_find_table(result, "sync"))
		leads[count++] =
			(struct lead){ "sync", "ops_per_s", "fdatasync", "overwrite", (double)NAN };
	return count;
}

static double middle_of(const struct wp_result *result, const struct lead *lead, const char *target)
{
	const struct wp_table *table = wp_result_find_table(result, lead->table);

	for (size_t i = 0; table && i < table->row_count; i++)
		if (is_text(table->rows[i], "target", target) && is_lead_row(table->rows[i], lead))
			return wp_row_get_number(table->rows[i], lead->metric);
	return (double)NAN;
}

/* The comparison of two targets in this measurement, in either order; NULL when there is none. */
static const struct wp_row *pair_row(
	const struct wp_result *result, const struct lead *lead, const char *one, const char *other)
{
	const struct wp_table *table = wp_result_find_table(result, "comparison");

	for (size_t i = 0; table && i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];

		if (!is_text(row, "table", lead->table) || !is_lead_row(row, lead))
			continue;
		if ((is_text(row, "a", one) && is_text(row, "b", other)) ||
			(is_text(row, "a", other) && is_text(row, "b", one)))
			return row;
	}
	return NULL;
}

static bool is_shown_faster(const struct wp_row *pair, const char *target)
{
	if (!pair)
		return false;
	return is_text(pair, "verdict", is_text(pair, "a", target) ? "faster" : "slower");
}

/* Who is beaten by an unbeaten candidate in this measurement. */
static void mark_beaten(
	const struct wp_result *result, const struct lead *lead, struct candidates *candidates)
{
	for (size_t i = 0; i < candidates->count; i++) {
		struct candidate *loser = &candidates->items[i];

		for (size_t j = 0; j < candidates->count && !loser->is_beaten; j++) {
			struct candidate *winner = &candidates->items[j];

			if (winner->refusal || winner->is_beaten || i == j)
				continue;
			loser->is_beaten = is_shown_faster(
				pair_row(result, lead, loser->info->label, winner->info->label),
				winner->info->label);
		}
	}
}

static struct candidates collect(const struct wp_result *result, const struct lead *lead)
{
	struct candidates candidates = { NULL, 0 };

	candidates.items = wp_xcalloc(result->target_count, sizeof(*candidates.items));
	for (size_t i = 0; i < result->target_count; i++) {
		const struct wp_target_info *info = result->targets[i];
		double middle = middle_of(result, lead, info->label);

		if (isnan(middle))
			continue;
		candidates.items[candidates.count++] = (struct candidate){
			.info = info,
			.middle = middle,
			.refusal = refusal_of(result, info->label),
			.caveat = caveat_of(result, info->label),
		};
	}
	return candidates;
}

static const struct candidate *best_of(const struct candidates *candidates)
{
	const struct candidate *best = NULL;

	for (size_t i = 0; i < candidates->count; i++) {
		const struct candidate *one = &candidates->items[i];

		if (one->refusal || one->is_beaten)
			continue;
		if (!best || one->middle > best->middle)
			best = one;
	}
	return best;
}

static void append_text(char **text, const char *separator, const char *more)
{
	char *longer = wp_xasprintf("%s%s%s", *text, **text ? separator : "", more);

	free(*text);
	*text = longer;
}

/* A claim names both places by itself; everything else is put beside the place it speaks of. */
static void append_reason(
	char **text, const struct lead *lead, const char *other, const struct wp_row *pair)
{
	bool is_claim = is_text(pair, "verdict", "faster") || is_text(pair, "verdict", "slower");
	const char *sentence = wp_row_get_text(pair, "sentence");
	char *reason;

	if (is_claim)
		reason = wp_xstrdup(sentence);
	else if (isnan(lead->clients))
		reason = wp_xasprintf("against %s: %s", other, sentence);
	else
		reason = wp_xasprintf("against %s with %.0f client%s: %s", other, lead->clients,
			lead->clients == 1 ? "" : "s", sentence);
	append_text(text, "; ", reason);
	free(reason);
}

/* What the leading measurements say about best against each other candidate. */
static char *reasons(const struct wp_result *result, const struct lead *leads, size_t lead_count,
	const struct candidates *candidates, const struct candidate *best)
{
	char *text = wp_xstrdup("");

	for (size_t i = 0; i < lead_count; i++)
		for (size_t j = 0; j < candidates->count; j++) {
			const struct candidate *other = &candidates->items[j];
			const struct wp_row *pair;

			if (other == best || other->refusal)
				continue;
			pair = pair_row(result, &leads[i], best->info->label, other->info->label);
			if (pair)
				append_reason(&text, &leads[i], other->info->label, pair);
		}
	if (!*text)
		append_text(&text, "", "it is the only place measured that may be recommended");
	if (best->caveat) {
		append_text(&text, "; but ", best->caveat);
	}
	return text;
}

static void recommend_target(struct wp_run *run, const struct lead *leads, size_t lead_count,
	const struct candidates *candidates, const struct candidate *best)
{
	char *value = wp_xstrdup(best->info->label);
	char *why = reasons(run->result, leads, lead_count, candidates, best);

	for (size_t i = 0; i < candidates->count; i++) {
		const struct candidate *one = &candidates->items[i];

		if (one != best && !one->refusal && !one->is_beaten)
			append_text(&value, " or ", one->info->label);
	}
	wp_recommendation_add(run, best->info->label, "pg_wal on", value, why);
	free(value);
	free(why);
}

/* A method is taken over fdatasync, Linux's default, only when it was shown to be faster. */
static void recommend_method(struct wp_run *run, const char *target)
{
	const struct wp_table *table = wp_result_find_table(run->result, "methods");
	const struct wp_row *best = NULL;
	const char *method = "fdatasync";
	double best_ratio = 1;

	for (size_t i = 0; table && i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];
		bool is_a = is_text(row, "b", "fdatasync");
		double ratio = wp_row_get_number(row, "ratio");

		if (!is_text(row, "target", target) || !is_text(row, "table", "sync") ||
			!is_text(row, "variant", "overwrite"))
			continue;
		if (!is_a && !is_text(row, "a", "fdatasync"))
			continue;
		ratio = is_a ? ratio : 1 / ratio;
		if (is_text(row, "verdict", is_a ? "faster" : "slower") && ratio > best_ratio) {
			best = row;
			best_ratio = ratio;
			method = wp_row_get_text(row, is_a ? "a" : "b");
		}
	}
	if (!table || !table->row_count)
		return;
	wp_recommendation_add(run, target, "wal_sync_method", method,
		best ? wp_row_get_text(best, "sentence")
		     : "the default; no other method was shown to be faster here");
}

static void recommend_settings(struct wp_run *run, const struct wp_target_info *info)
{
	const struct wp_check *cow = find_check(run->result, "recycle-cow", info->label);
	const char *options = info->mount_options ? info->mount_options : "";

	if (cow && cow->status == WP_CHECK_INFO) {
		wp_recommendation_add(
			run, info->label, "wal_recycle, wal_init_zero", "off, off", cow->text);
	} else {
		wp_recommendation_add(run, info->label, "wal_recycle, wal_init_zero", "on, on",
			"the defaults; the file system overwrites in place, so a recycled segment "
			"is written without changing its metadata");
	}
	if (strstr(options, "data=journal"))
		wp_recommendation_add(run, info->label, "mount option", "data=ordered",
			"data=journal writes every WAL page twice and flushes three times a "
			"commit");
	if (strstr(options, "discard") && !strstr(options, "nodiscard"))
		wp_recommendation_add(run, info->label, "mount option",
			"nodiscard, with fstrim from a timer",
			"online discard can make single syncs wait for the device's TRIM");
}

static void name_refused(struct wp_run *run, const struct candidates *candidates)
{
	for (size_t i = 0; i < candidates->count; i++)
		if (candidates->items[i].refusal)
			wp_recommendation_add(run, candidates->items[i].info->label,
				"not recommended", candidates->items[i].info->label,
				candidates->items[i].refusal);
}

void wp_recommend_fill(struct wp_run *run)
{
	struct lead leads[3];
	size_t lead_count = find_leads(run->result, leads);
	struct candidates candidates;
	const struct candidate *best;

	if (!lead_count)
		return;
	candidates = collect(run->result, &leads[0]);
	for (size_t i = 0; i < lead_count; i++)
		mark_beaten(run->result, &leads[i], &candidates);
	best = best_of(&candidates);
	if (best) {
		recommend_target(run, leads, lead_count, &candidates, best);
		recommend_method(run, best->info->label);
		recommend_settings(run, best->info);
	} else {
		wp_recommendation_add(run, NULL, "pg_wal on", "none of these",
			"no place that was measured passed the checks that a pg_wal needs");
	}
	name_refused(run, &candidates);
	free(candidates.items);
}
