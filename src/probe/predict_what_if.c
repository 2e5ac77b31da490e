/* SPDX-License-Identifier: PostgreSQL */
/*
 * predict_what_if.c - predictions beside a recommendation.
 */
#include "predict_internal.h"

#include <math.h>

#define MOST_CLIENTS 8
#define GAIN 1.02 /* a delay that brings less is not worth a setting */

static const int64_t clients[] = { 1, 2, 4, MOST_CLIENTS };
static const int64_t delays_ns[] = { 50000, 100000, 200000, 500000, 1000000 };

static const struct wp_column columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label of the target." },
	{ "method", "method", "", WP_KIND_TEXT, "wal_sync_method." },
	{ "tps_1", "1 client", "1/s", WP_KIND_REAL, "Transactions a second predicted." },
	{ "tps_2", "2 clients", "1/s", WP_KIND_REAL, "The same for 2 clients." },
	{ "tps_4", "4 clients", "1/s", WP_KIND_REAL, "The same for 4 clients." },
	{ "tps_8", "8 clients", "1/s", WP_KIND_REAL, "The same for 8 clients." },
	{ "best_commit_delay_ns", "best commit_delay", "ns", WP_KIND_INT,
		"The one of those tried with the most transactions at 8 clients; 0 unless another "
		"brings 2 % more." },
	{ "tps_8_best", "8 with it", "1/s", WP_KIND_REAL,
		"Transactions a second predicted for 8 clients with it." },
};

bool wp_predict_is_measure(const struct wp_measure *measure)
{
	return strcmp(measure->table, PREDICT_TABLE) == 0;
}

void wp_predict_what_if_plan(struct wp_run *run, struct wp_target *target,
	const struct wp_predict_options *options, struct wp_measures *measures)
{
	struct wp_predict_options own = *options;

	memcpy(own.clients, clients, sizeof(clients));
	own.client_count = WP_COUNT(clients);
	own.commit_delay_ns = 0;
	wp_predict_plan(run, target, &own, measures);
	own.clients[0] = MOST_CLIENTS;
	own.client_count = 1;
	for (size_t i = 0; i < WP_COUNT(delays_ns); i++) {
		own.commit_delay_ns = delays_ns[i];
		wp_predict_plan(run, target, &own, measures);
	}
}

static bool is_same(const struct wp_row *a, const struct wp_row *b)
{
	return strcmp(wp_row_get_text(a, "target"), wp_row_get_text(b, "target")) == 0 &&
	       strcmp(wp_row_get_text(a, "method"), wp_row_get_text(b, "method")) == 0;
}

static double tps_of(
	const struct wp_table *table, const struct wp_row *like, int64_t count, int64_t delay_ns)
{
	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];

		if (is_same(row, like) && (int64_t)wp_row_get_number(row, "clients") == count &&
			(int64_t)wp_row_get_number(row, "commit_delay_ns") == delay_ns)
			return wp_row_get_number(row, "tps_predicted");
	}
	return (double)NAN;
}

static void fill_best(struct wp_row *row, const struct wp_table *table, const struct wp_row *like)
{
	double best = tps_of(table, like, MOST_CLIENTS, 0);
	int64_t best_ns = 0;

	if (!isfinite(best)) {
		wp_row_absent(row, "best_commit_delay_ns", "nothing was predicted");
		wp_row_absent(row, "tps_8_best", "nothing was predicted");
		return;
	}
	for (size_t i = 0; i < WP_COUNT(delays_ns); i++) {
		double tps = tps_of(table, like, MOST_CLIENTS, delays_ns[i]);

		if (tps > best * (best_ns ? 1 : GAIN)) {
			best = tps;
			best_ns = delays_ns[i];
		}
	}
	wp_row_int(row, "best_commit_delay_ns", best_ns);
	wp_row_real(row, "tps_8_best", best);
}

static bool is_there(const struct wp_table *table, const struct wp_row *like)
{
	for (size_t i = 0; i < table->row_count; i++)
		if (is_same(table->rows[i], like))
			return true;
	return false;
}

static void fill_row(struct wp_row *row, const struct wp_table *table, const struct wp_row *like)
{
	static const char *const keys[] = { "tps_1", "tps_2", "tps_4", "tps_8" };

	wp_row_text(row, "target", wp_row_get_text(like, "target"));
	wp_row_text(row, "method", wp_row_get_text(like, "method"));
	for (size_t j = 0; j < WP_COUNT(keys); j++) {
		double tps = tps_of(table, like, clients[j], 0);

		if (isfinite(tps))
			wp_row_real(row, keys[j], tps);
		else
			wp_row_absent(row, keys[j], "nothing was predicted");
	}
	fill_best(row, table, like);
}

void wp_predict_what_if_fill(struct wp_run *run)
{
	const struct wp_table *table = wp_result_find_table(run->result, PREDICT_TABLE);
	struct wp_table *out;

	if (!table)
		return;
	out = wp_result_table(run->result, "what_if", "What PostgreSQL would do there, predicted",
		columns, WP_COUNT(columns));
	for (size_t i = 0; i < table->row_count; i++)
		if (!is_there(out, table->rows[i]))
			fill_row(wp_table_add_row(out), table, table->rows[i]);
}
