/* SPDX-License-Identifier: PostgreSQL */
#include "import/pgbench_run.h"
#include "walprobe/mem.h"

#include <math.h>
#include <strings.h>

#define NOT_PRINTED "pgbench does not print it"
#define BROKEN "the line is broken: the figure may not be all of it"
#define NOT_THERE "not in the output"

static bool is_sure(const struct pgbench_value *value)
{
	return value->state == SCAN_SURE;
}

static void set_count(
	struct wp_row *row, const char *key, const struct pgbench_value *value, const char *none)
{
	if (is_sure(value))
		wp_row_int(row, key, llround(value->value));
	else
		wp_row_absent(row, key, value->state == SCAN_UNSURE ? BROKEN : none);
}

static void set_ms(
	struct wp_row *row, const char *key, const struct pgbench_value *value, const char *none)
{
	if (is_sure(value))
		wp_row_int(row, key, llround(value->value * 1e6));
	else
		wp_row_absent(row, key, value->state == SCAN_UNSURE ? BROKEN : none);
}

static void set_rate(
	struct wp_row *row, const char *key, const struct pgbench_value *value, const char *none)
{
	if (is_sure(value))
		wp_row_real(row, key, value->value);
	else
		wp_row_absent(row, key, value->state == SCAN_UNSURE ? BROKEN : none);
}

static void set_words(struct wp_row *row, const char *key, const char *value)
{
	if (value && *value)
		wp_row_text(row, key, value);
	else
		wp_row_absent(row, key, NOT_THERE);
}

/* Before 9.4 pgbench prints no latency. Newer ones name scripts otherwise, and always print it. */
static bool is_without_latency(const struct pgbench_run *run)
{
	return !run->has_gap && !run->version && !is_sure(&run->fields[PGBENCH_CONNECT_MS]) &&
	       (!run->type || (run->type[0] != '<' && strncmp(run->type, "multiple", 8) != 0));
}

/* All clients work all the time. */
static void set_latency(struct wp_row *row, const struct pgbench_run *run)
{
	const struct pgbench_value *printed = &run->fields[PGBENCH_LATENCY_MS];
	const struct pgbench_value *clients = &run->fields[PGBENCH_CLIENTS];
	const struct pgbench_value *tps =
		&run->fields[run->is_reconnecting ? PGBENCH_TPS_INCLUDING : PGBENCH_TPS_EXCLUDING];

	set_ms(row, "latency_mean_ns", printed, NOT_THERE);
	if (is_sure(printed)) {
		wp_row_text(row, "latency_from", "printed");
	} else if (printed->state == SCAN_NONE && is_without_latency(run) && is_sure(clients) &&
		   is_sure(tps) && tps->value > 0) {
		wp_row_int(row, "latency_mean_ns", llround(clients->value / tps->value * 1e9));
		wp_row_text(row, "latency_from", "derived");
	}
}

static void set_tps(struct wp_row *row, const struct pgbench_run *run)
{
	const char *none = run->is_aborted ? "the run was aborted" : "not in the output";
	bool is_new = is_sure(&run->fields[PGBENCH_CONNECT_MS]);

	set_rate(row, "tps_excluding", &run->fields[PGBENCH_TPS_EXCLUDING],
		run->is_reconnecting && is_new
			? "a new connection for each transaction is part of every one"
			: none);
	set_rate(row, "tps_including", &run->fields[PGBENCH_TPS_INCLUDING],
		is_new ? "pgbench prints it only before version 14" : none);
}

static const char *unranked(const struct pgbench_run *run, const struct pgbench_place *place)
{
	if (run->is_aborted)
		return "the run was aborted: its figures are incomplete";
	if (place->section && strcasestr(place->section, "warm"))
		return "a warm-up";
	if (run->type && strcasestr(run->type, "select only"))
		return "it only reads: no commit, no log";
	if (run->is_reconnecting)
		return "a new connection for each transaction: connecting is what it measures";
	if (run->script_count > 1 || (run->type && strcmp(run->type, "multiple scripts") == 0))
		return "several scripts: the figures of all together speak of none of them";
	if (!run->has_summary)
		return "only progress lines: the summary is missing";
	return "yes";
}

static void add_ramp(
	struct wp_import *in, const struct pgbench_run *run, const struct pgbench_place *place)
{
	static const struct {
		const char *key;
		enum pgbench_field field;
		bool is_ms;
	} cells[] = {
		{ "clients", PGBENCH_CLIENTS, false },
		{ "threads", PGBENCH_THREADS, false },
		{ "scale", PGBENCH_SCALE, false },
		{ "latency_stddev_ns", PGBENCH_STDDEV_MS, true },
		{ "transactions", PGBENCH_DONE, false },
		{ "transactions_planned", PGBENCH_PLANNED, false },
		{ "failed", PGBENCH_FAILED, false },
		{ "serialization_failures", PGBENCH_SERIALIZATION, false },
		{ "deadlock_failures", PGBENCH_DEADLOCK, false },
		{ "retried", PGBENCH_RETRIED, false },
		{ "retries", PGBENCH_RETRIES, false },
		{ "skipped", PGBENCH_SKIPPED, false },
		{ "late", PGBENCH_LATE, false },
		{ "max_tries", PGBENCH_TRIES, false },
		{ "transactions_per_client", PGBENCH_PER_CLIENT, false },
		{ "connect_ns", PGBENCH_CONNECT_MS, true },
		{ "schedule_lag_mean_ns", PGBENCH_LAG_MS, true },
		{ "schedule_lag_max_ns", PGBENCH_LAG_MAX_MS, true },
	};
	const struct pgbench_value *duration = &run->fields[PGBENCH_DURATION_S];
	const char *none = run->is_aborted ? "the run was aborted" : NOT_THERE;
	struct wp_row *row = wp_import_row(wp_import_ramp_table(in), place->target);

	for (size_t i = 0; i < WP_COUNT(cells); i++)
		(cells[i].is_ms ? set_ms : set_count)(
			row, cells[i].key, &run->fields[cells[i].field], none);
	if (is_sure(duration))
		wp_row_int(row, "duration_ns", llround(duration->value * 1e9));
	set_words(row, "protocol", run->mode);
	set_words(row, "script", run->type);
	if (place->section)
		wp_row_text(row, "section", place->section);
	else
		wp_row_absent(row, "section", "no heading above it");
	wp_row_text(row, "connections", run->is_reconnecting ? "one for each transaction" : "kept");
	set_tps(row, run);
	set_latency(row, run);
	wp_row_text(row, "ranked", unranked(run, place));
	wp_import_absent_rest(row, NOT_PRINTED);
}

static void add_scripts(
	struct wp_import *in, const struct pgbench_run *run, const struct pgbench_place *place)
{
	for (size_t i = 0; i < run->script_count; i++) {
		const struct pgbench_script *script = &run->scripts[i];
		struct wp_row *row = wp_import_row(wp_import_scripts_table(in), place->target);

		set_count(row, "clients", &run->fields[PGBENCH_CLIENTS], NOT_THERE);
		set_words(row, "script", script->name);
		set_count(row, "weight", &script->weight, NOT_THERE);
		set_count(row, "transactions", &script->done, NOT_THERE);
		set_rate(row, "tps_excluding", &script->tps, NOT_THERE);
		set_count(row, "failed", &script->failed, NOT_THERE);
		set_ms(row, "latency_mean_ns", &script->latency_ms, NOT_THERE);
		set_ms(row, "latency_stddev_ns", &script->stddev_ms, NOT_THERE);
		wp_import_absent_rest(row, NOT_PRINTED);
	}
}

static void add_statements(
	struct wp_import *in, const struct pgbench_run *run, const struct pgbench_place *place)
{
	int64_t number = 0;

	for (size_t i = 0; i < run->statement_count; i++) {
		const struct pgbench_statement *statement = &run->statements[i];
		struct wp_row *row = wp_import_row(wp_import_statements_table(in), place->target);
		bool is_first = i == 0 || statement->script != run->statements[i - 1].script;

		number = is_first ? 1 : number + 1;
		set_count(row, "clients", &run->fields[PGBENCH_CLIENTS], NOT_THERE);
		set_words(row, "script",
			statement->script < run->script_count ? run->scripts[statement->script].name
							      : run->type);
		wp_row_int(row, "number", number);
		wp_row_int(row, "mean_ns", llround(statement->mean_ms * 1e6));
		if (statement->failures >= 0)
			wp_row_int(row, "failures", statement->failures);
		if (statement->retries >= 0)
			wp_row_int(row, "retries", statement->retries);
		wp_row_text(row, "command", statement->command);
		wp_import_absent_rest(row, NOT_THERE);
	}
}

static void add_progress(
	struct wp_import *in, const struct pgbench_run *run, const struct pgbench_place *place)
{
	for (size_t i = 0; i < run->progress_count; i++) {
		const struct pgbench_progress *progress = &run->progress[i];
		struct wp_row *row = wp_import_row(wp_import_progress_table(in), place->target);

		set_count(row, "clients", &run->fields[PGBENCH_CLIENTS], NOT_THERE);
		wp_row_int(row, "time_ns", llround(progress->at_s * 1e9));
		wp_row_real(row, "tps", progress->tps);
		set_ms(row, "latency_mean_ns", &progress->latency_ms, NOT_THERE);
		set_ms(row, "latency_stddev_ns", &progress->stddev_ms, NOT_THERE);
		set_ms(row, "schedule_lag_mean_ns", &progress->lag_ms, NOT_THERE);
		set_count(row, "skipped", &progress->skipped, NOT_THERE);
		set_count(row, "failed", &progress->failed, NOT_THERE);
		set_count(row, "retried", &progress->retried, NOT_THERE);
		set_count(row, "retries", &progress->retries, NOT_THERE);
		wp_import_absent_rest(row, NOT_PRINTED);
	}
}

void pgbench_add_rows(
	struct wp_import *in, const struct pgbench_run *run, const struct pgbench_place *place)
{
	const struct pgbench_value *scale = &run->fields[PGBENCH_SCALE];
	char text[32];

	if (is_sure(scale)) {
		(void)snprintf(text, sizeof(text), "%.0f", scale->value);
		wp_result_add_environment(in->result, "scale", text, place->target);
	}
	if (run->version)
		wp_result_add_environment(
			in->result, "pgbench_version", run->version, place->target);
	add_ramp(in, run, place);
	add_scripts(in, run, place);
	add_statements(in, run, place);
	add_progress(in, run, place);
}
