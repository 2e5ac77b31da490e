/* SPDX-License-Identifier: PostgreSQL */
/*
 * Each step of a ramp as pgbench 18 prints a run, for scripts that read that; steps replayed from
 * 2001 as pgbench 7.1 printed them. All rounds of a step are one run here, its tps their middle.
 * Where there are several targets a line "target: LABEL", which pgbench has not, leads each step.
 * Source: PostgreSQL 18, src/bin/pgbench/pgbench.c, printResults() and its helpers.
 */
#include "ramp_text.h"
#include "walprobe/render.h"
#include "walprobe/units.h"

#include <math.h>

struct step {
	const struct wp_result *result;
	const struct wp_row *row;
	FILE *stream;
};

static double number(const struct step *step, const char *key)
{
	double value = wp_row_get_number(step->row, key);

	return isfinite(value) ? value : 0;
}

static double ms(const struct step *step, const char *key)
{
	return number(step, key) / 1e6;
}

static const char *parameter(const struct step *step, const char *key)
{
	const char *value = wp_result_parameter(step->result, key);

	return value ? value : "";
}

static bool is_on(const struct step *step, const char *key)
{
	return strcmp(parameter(step, key), "on") == 0;
}

/* Absent options are recorded as nothing, 0 or 0s. */
static bool is_set(const struct step *step, const char *key)
{
	const char *value = parameter(step, key);

	return *value && strcmp(value, "0") != 0 && strcmp(value, "0s") != 0;
}

static bool is_same_step(const struct step *step, const struct wp_row *row)
{
	return strcmp(wp_row_get_text(row, "target"), wp_row_get_text(step->row, "target")) == 0 &&
	       wp_row_get_number(row, "clients") == number(step, "clients");
}

/* Rows of another table that belong to the step; index counts them, NULL behind the last. */
static const struct wp_row *row_of(const struct step *step, const char *name, size_t index)
{
	const struct wp_table *table = wp_result_find_table(step->result, name);

	for (size_t i = 0; table && i < table->row_count; i++)
		if (is_same_step(step, table->rows[i]) && index-- == 0)
			return table->rows[i];
	return NULL;
}

static const char *scale_of(const struct step *step)
{
	const struct wp_result *result = step->result;

	for (size_t i = 0; i < result->environment_count; i++)
		if (strcmp(result->environment[i].key, "scale") == 0 &&
			strcmp(result->environment[i].source,
				wp_row_get_text(step->row, "target")) == 0)
			return result->environment[i].value;
	return "1";
}

static double percent(double part, double whole)
{
	return whole > 0 ? 100.0 * part / whole : 0;
}

static void put_share(const struct step *step, const char *what, double part, double whole)
{
	fprintf(step->stream, "%s: %.0f (%.3f%%)\n", what, part, percent(part, whole));
}

static const char *transaction_type(const struct step *step)
{
	const struct wp_row *first = row_of(step, "scripts", 0);

	if (row_of(step, "scripts", 1))
		return "multiple scripts";
	return first ? wp_row_get_text(first, "script") : "";
}

/* ---- head ------------------------------------------------------------------------------------ */

/* "prepared pipelined" is prepared to a reader of pgbench's output. */
static void put_mode(const struct step *step)
{
	const char *protocol = wp_row_get_text(step->row, "protocol");

	fprintf(step->stream, "query mode: %.*s\n", (int)strcspn(protocol, " "), protocol);
}

static void put_head(const struct step *step)
{
	fprintf(step->stream, "transaction type: %s\nscaling factor: %s\n", transaction_type(step),
		scale_of(step));
	put_mode(step);
	fprintf(step->stream, "number of clients: %.0f\nnumber of threads: %.0f\n",
		number(step, "clients"), number(step, "threads"));
	if (is_set(step, "max-tries"))
		fprintf(step->stream, "maximum number of tries: %s\n",
			parameter(step, "max-tries"));
}

static double all_transactions(const struct step *step)
{
	return number(step, "transactions") + number(step, "skipped") + number(step, "failed");
}

static void put_processed(const struct step *step)
{
	double rounds = strtod(parameter(step, "rounds"), NULL);
	double each = strtod(parameter(step, "transactions"), NULL);
	int64_t duration_ns = 0;

	if (is_set(step, "transactions")) {
		fprintf(step->stream,
			"number of transactions per client: %.0f\n"
			"number of transactions actually processed: %.0f/%.0f\n",
			each * rounds, number(step, "transactions"),
			each * rounds * number(step, "clients"));
		return;
	}
	(void)wp_parse_duration_ns(parameter(step, "time"), 0, &duration_ns, NULL);
	fprintf(step->stream, "duration: %.0f s\nnumber of transactions actually processed: %.0f\n",
		(double)duration_ns / 1e9 * rounds, number(step, "transactions"));
}

static void put_counts(const struct step *step)
{
	double all = all_transactions(step);

	put_share(step, "number of failed transactions", number(step, "failed"), all);
	if (is_on(step, "failures-detailed")) {
		put_share(step, "number of serialization failures",
			number(step, "serialization_failures"), all);
		put_share(step, "number of deadlock failures", number(step, "deadlock_failures"),
			all);
	}
	if (strcmp(parameter(step, "max-tries"), "1") != 0) {
		put_share(step, "number of transactions retried", number(step, "retried"), all);
		fprintf(step->stream, "total number of retries: %.0f\n", number(step, "retries"));
	}
}

static void put_latency(const struct step *step)
{
	bool has_rate = is_set(step, "rate");
	bool has_limit = is_set(step, "latency-limit");
	int64_t limit_ns = 0;

	if (has_rate && has_limit)
		put_share(step, "number of transactions skipped", number(step, "skipped"),
			all_transactions(step));
	(void)wp_parse_duration_ns(parameter(step, "latency-limit"), 0, &limit_ns, NULL);
	if (has_limit)
		fprintf(step->stream,
			"number of transactions above the %.1f ms latency limit: %.0f/%.0f "
			"(%.3f%%)\n",
			(double)limit_ns / 1e6, number(step, "late"), number(step, "transactions"),
			percent(number(step, "late"), number(step, "transactions")));
	fprintf(step->stream, "latency average = %.3f ms\n", ms(step, "latency_mean_ns"));
	if (has_rate || has_limit || is_set(step, "progress-every"))
		fprintf(step->stream, "latency stddev = %.3f ms\n", ms(step, "latency_stddev_ns"));
	if (has_rate)
		fprintf(step->stream, "rate limit schedule lag: avg %.3f (max %.3f) ms\n",
			ms(step, "schedule_lag_mean_ns"), ms(step, "schedule_lag_max_ns"));
}

/* A step that could not be finished has no rate. */
static void put_tps(const struct step *step)
{
	bool is_connecting = is_on(step, "connect");

	fprintf(step->stream, "%s connection time = %.3f ms\n",
		is_connecting ? "average" : "initial", ms(step, "connect_ns"));
	if (isfinite(wp_row_get_number(step->row, "tps_excluding")))
		fprintf(step->stream, "tps = %f (%s)\n", number(step, "tps_excluding"),
			is_connecting ? "including reconnection times"
				      : "without initial connection time");
}

/* ---- scripts --------------------------------------------------------------------------------- */

static double total_weight(const struct step *step)
{
	const struct wp_row *row;
	double total = 0;

	for (size_t i = 0; (row = row_of(step, "scripts", i)) != NULL; i++)
		total += wp_row_get_number(row, "weight");
	return total;
}

static void put_commands(const struct step *step, const char *script, const char *lead)
{
	bool has_retries = strcmp(parameter(step, "max-tries"), "1") != 0;
	const struct wp_row *row;

	fprintf(step->stream, "%sstatement latencies in milliseconds%s:\n", lead,
		has_retries ? ", failures and retries" : " and failures");
	for (size_t i = 0; (row = row_of(step, "statements", i)) != NULL; i++) {
		double mean_ns = wp_row_get_number(row, "mean_ns");

		if (strcmp(wp_row_get_text(row, "script"), script) != 0)
			continue;
		fprintf(step->stream, "   %11.3f  %10.0f", isfinite(mean_ns) ? mean_ns / 1e6 : 0,
			wp_row_get_number(row, "failures"));
		if (has_retries)
			fprintf(step->stream, "  %10.0f", wp_row_get_number(row, "retries"));
		fprintf(step->stream, "  %s\n", wp_row_get_text(row, "command"));
	}
}

static void put_script(const struct step *step, const struct wp_row *row, size_t index)
{
	double done = wp_row_get_number(row, "transactions");
	double failed = wp_row_get_number(row, "serialization_failures") +
			wp_row_get_number(row, "deadlock_failures");
	double weight = wp_row_get_number(row, "weight");
	double elapsed_s = number(step, "elapsed_ns") / 1e9;

	fprintf(step->stream,
		"SQL script %zu: %s\n - weight: %.0f (targets %.1f%% of total)\n"
		" - %.0f transactions (%.1f%% of total",
		index + 1, wp_row_get_text(row, "script"), weight,
		percent(weight, total_weight(step)), done,
		percent(done, number(step, "transactions")));
	if (elapsed_s > 0)
		fprintf(step->stream, ", tps = %f", done / elapsed_s);
	fputs(")\n", step->stream);
	put_share(step, " - number of failed transactions", failed, done + failed);
	if (done > 0)
		fprintf(step->stream, " - latency average = %.3f ms\n - latency stddev = %.3f ms\n",
			wp_row_get_number(row, "latency_mean_ns") / 1e6,
			wp_row_get_number(row, "latency_stddev_ns") / 1e6);
}

static void put_scripts(const struct step *step)
{
	bool is_several = row_of(step, "scripts", 1) != NULL;
	bool has_commands = row_of(step, "statements", 0) != NULL;
	const struct wp_row *row;

	for (size_t i = 0; (row = row_of(step, "scripts", i)) != NULL; i++) {
		if (is_several)
			put_script(step, row, i);
		if (has_commands)
			put_commands(step, wp_row_get_text(row, "script"), is_several ? " - " : "");
	}
}

/* ---- 2001 ------------------------------------------------------------------------------------ */

void wp_ramp_put_2001(const struct wp_row *row, FILE *stream)
{
	double including = wp_row_get_number(row, "tps_including");
	double excluding = wp_row_get_number(row, "tps_excluding");

	if (!isfinite(including) || !isfinite(excluding))
		return;
	fprintf(stream,
		"tps = %f(including connections establishing)\n"
		"tps = %f(excluding connections establishing)\n",
		including, excluding);
}

static void put_step_2001(const struct step *step)
{
	double rounds = strtod(parameter(step, "rounds"), NULL);
	double each = strtod(parameter(step, "transactions"), NULL);
	double clients = number(step, "clients");

	fprintf(step->stream,
		"transaction type: TPC-B (sort of)\nscaling factor: %s\nnumber of clients: %.0f\n"
		"number of transactions per client: %.0f\n"
		"number of transactions actually processed: %.0f/%.0f\n",
		scale_of(step), clients, each * rounds, number(step, "transactions"),
		each * rounds * clients);
	wp_ramp_put_2001(step->row, step->stream);
}

static bool has_several_targets(const struct wp_table *table)
{
	for (size_t i = 1; i < table->row_count; i++)
		if (strcmp(wp_row_get_text(table->rows[i], "target"),
			    wp_row_get_text(table->rows[0], "target")) != 0)
			return true;
	return false;
}

static void put_step(const struct step *step)
{
	put_head(step);
	put_processed(step);
	put_counts(step);
	put_latency(step);
	put_tps(step);
	put_scripts(step);
}

void wp_render_pgbench(
	const struct wp_result *result, const struct wp_render_options *options, FILE *stream)
{
	const struct wp_table *table = wp_result_find_table(result, "ramp");
	const char *replay = wp_result_parameter(result, "like-2001");

	(void)options;
	for (size_t i = 0; table && i < table->row_count; i++) {
		const struct step step = { result, table->rows[i], stream };

		/* Never begun: there is nothing that pgbench would print. */
		if (wp_row_cell(table->rows[i], "transactions")->state != WP_CELL_INT)
			continue;
		if (has_several_targets(table))
			fprintf(stream, "target: %s\n", wp_row_get_text(table->rows[i], "target"));
		if (replay && strcmp(replay, "on") == 0)
			put_step_2001(&step);
		else
			put_step(&step);
	}
}
