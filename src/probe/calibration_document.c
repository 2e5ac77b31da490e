/* SPDX-License-Identifier: PostgreSQL */
/*
 * calibration_document.c - a calibration out of a result document, and into one.
 */
#include "walprobe/calibration.h"

#include "walprobe/mem.h"
#include "walprobe/script.h"
#include "walprobe/units.h"

#include <math.h>

#define TABLE "calibration"

static const struct wp_column columns[] = {
	{ "clients", "clients", "", WP_KIND_INT, "Clients of the server that was measured." },
	{ "tps", "tps", "1/s", WP_KIND_REAL, "Transactions a second that the server did." },
	{ "tps_model", "model", "1/s", WP_KIND_REAL,
		"The same for the model with the work found for it, both with pg_wal in memory." },
	{ "server_cpu_ns_per_transaction", "server CPU", "ns", WP_KIND_INT,
		"Processor time of the server for each transaction." },
	{ "client_cpu_ns_per_transaction", "client CPU", "ns", WP_KIND_INT,
		"Processor time of the clients for each transaction." },
	{ "wal_bytes_per_transaction", "wal bytes", "bytes", WP_KIND_REAL,
		"Log written for each transaction." },
	{ "wal_fpi_per_transaction", "page images", "", WP_KIND_REAL,
		"Whole pages in the log for each transaction." },
	{ "transactions", "transactions", "", WP_KIND_INT,
		"Transactions of one round, from a checkpoint on." },
	{ "commits_per_sync", "commits /sync", "", WP_KIND_REAL,
		"Transactions for each sync of the log." },
	{ "server_units", "server work", "", WP_KIND_REAL,
		"Work of the model for each transaction in its backend." },
	{ "client_units", "client work", "", WP_KIND_REAL,
		"Work of the model for each transaction in its client." },
	{ "script", "script", "", WP_KIND_TEXT, "Built-in script." },
	{ "scale", "scale", "", WP_KIND_INT, "Scale of the tables." },
	{ "time_ns", "time", "ns", WP_KIND_INT, "Length of a round, from a checkpoint on." },
	{ "fstype", "pg_wal on", "", WP_KIND_TEXT, "File system of the server's pg_wal." },
	{ "server_version", "PostgreSQL", "", WP_KIND_TEXT, "Version of the server." },
};

static int refuse(struct wp_err *err, const char *name, const char *why)
{
	int rc = wp_fail(err, WP_E_DATA, 0, "\"%s\" cannot calibrate the model: %s", name, why);

	wp_err_hint(err, "Make a ramp with one built-in script, as in \"walprobe ramp -c 1,2,4,8 "
			 "-s 10 --save ramp.json /dev/shm\".");
	return rc;
}

static const char *environment_of(const struct wp_result *result, const char *key)
{
	for (size_t i = 0; i < result->environment_count; i++)
		if (strcmp(result->environment[i].key, key) == 0)
			return result->environment[i].value;
	return NULL;
}

static void read_machine(const struct wp_result *result, struct wp_calibration *out)
{
	out->processors = wp_xstrdup(environment_of(result, "processors"));
	out->cpu_model = wp_xstrdup(environment_of(result, "cpu_model"));
	out->memory = wp_xstrdup(environment_of(result, "memory"));
	out->kernel = wp_xstrdup(environment_of(result, "kernel"));
	out->started = wp_xstrdup(result->started);
}

static bool is_set(const struct wp_result *result, const char *parameter, const char *usual)
{
	const char *value = wp_result_parameter(result, parameter);

	return value && *value && strcmp(value, usual) != 0;
}

static int read_shape(const struct wp_result *result, const char *name, struct wp_calibration *out,
	struct wp_err *err)
{
	const struct wp_table *scripts = wp_result_find_table(result, "scripts");
	const char *title = NULL;
	const struct wp_builtin *builtins;
	size_t count;

	for (size_t i = 0; scripts && i < scripts->row_count; i++) {
		const char *text = wp_row_get_text(scripts->rows[i], "script");

		if (title && strcmp(title, text) != 0)
			return refuse(err, name, "several scripts were run");
		title = text;
	}
	builtins = wp_builtins(&count);
	for (size_t i = 0; title && i < count; i++)
		if (strcmp(builtins[i].title, title) == 0)
			out->shape = wp_tx_shape_find(builtins[i].name);
	if (!out->shape)
		return refuse(err, name, "its script is none that the model knows");
	if (is_set(result, "jobs", "1"))
		return refuse(err, name, "several threads served its clients");
	if (is_set(result, "connect", "off") || is_set(result, "rate", "0") ||
		is_set(result, "pipeline", "off"))
		return refuse(err, name, "it connected anew, had a rate, or used a pipeline");
	return 0;
}

/* The target whose pg_wal was in memory, else the first. */
static const struct wp_target_info *choose_target(const struct wp_result *result)
{
	for (size_t i = 0; i < result->target_count; i++)
		if (result->targets[i]->fstype && strcmp(result->targets[i]->fstype, "tmpfs") == 0)
			return result->targets[i];
	return result->target_count ? result->targets[0] : NULL;
}

static int compare_steps(const void *a, const void *b)
{
	const struct wp_calibration_step *one = a;
	const struct wp_calibration_step *two = b;

	return (one->clients > two->clients) - (one->clients < two->clients);
}

static void read_row(const struct wp_row *row, struct wp_calibration_step *step)
{
	step->clients = (int64_t)wp_row_get_number(row, "clients");
	step->server_cpu_ns = wp_row_get_number(row, "server_cpu_ns_per_transaction");
	step->client_cpu_ns = wp_row_get_number(row, "client_cpu_ns_per_transaction");
	step->wal_bytes = wp_row_get_number(row, "wal_bytes_per_transaction");
	step->images = wp_row_get_number(row, "wal_fpi_per_transaction");
	step->transactions = wp_row_get_number(row, "transactions");
	step->commits_per_sync = wp_row_get_number(row, "commits_per_sync");
	step->server_units = step->client_units = step->tps_model = (double)NAN;
}

static int read_ramp(const struct wp_result *result, const struct wp_table *table, const char *name,
	struct wp_calibration *out, struct wp_err *err)
{
	const struct wp_target_info *target = choose_target(result);
	const char *scale = environment_of(result, "scale");
	int rc = read_shape(result, name, out, err);

	if (rc)
		return rc;
	out->server_version = wp_xstrdup(environment_of(result, "server_version"));
	out->fstype = wp_xstrdup(target ? target->fstype : NULL);
	if (!scale || wp_parse_int(scale, &out->scale, NULL) || out->scale < 1)
		return refuse(err, name, "it does not tell the scale of the tables");
	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];
		double rounds = wp_row_get_number(row, "rounds");
		double elapsed_ns = wp_row_get_number(row, "elapsed_ns");
		struct wp_calibration_step *step = &out->steps[out->step_count];

		if (target && strcmp(wp_row_get_text(row, "target"), target->label) != 0)
			continue;
		read_row(row, step);
		step->tps = wp_row_get_number(row, "tps_excluding");
		if (!(step->tps > 0) || !(rounds > 0) || step->clients < 1 ||
			out->step_count == WP_CALIBRATION_STEPS_MAXIMUM - 1)
			continue;
		step->transactions /= rounds;
		out->time_ns = (int64_t)(elapsed_ns / rounds);
		out->step_count++;
	}
	return 0;
}

static int read_own(const struct wp_table *table, const char *name, struct wp_calibration *out,
	struct wp_err *err)
{
	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];
		struct wp_calibration_step *step = &out->steps[out->step_count];

		read_row(row, step);
		step->tps = wp_row_get_number(row, "tps");
		step->tps_model = wp_row_get_number(row, "tps_model");
		step->server_units = wp_row_get_number(row, "server_units");
		step->client_units = wp_row_get_number(row, "client_units");
		if (!(step->tps > 0) || step->clients < 1 ||
			out->step_count == WP_CALIBRATION_STEPS_MAXIMUM - 1)
			continue;
		if (out->step_count++ > 0)
			continue;
		out->shape = wp_tx_shape_find(wp_row_get_text(row, "script"));
		out->scale = (int64_t)wp_row_get_number(row, "scale");
		out->time_ns = (int64_t)wp_row_get_number(row, "time_ns");
		out->fstype = wp_xstrdup(wp_row_get_text(row, "fstype"));
		out->server_version = wp_xstrdup(wp_row_get_text(row, "server_version"));
	}
	if (out->step_count && (!out->shape || out->scale < 1))
		return refuse(err, name, "its script or scale is none that the model knows");
	return 0;
}

int wp_calibration_read(const struct wp_result *result, const char *name,
	struct wp_calibration *out, struct wp_err *err)
{
	const struct wp_table *own = wp_result_find_table(result, TABLE);
	const struct wp_table *ramp = wp_result_find_table(result, "ramp");
	int rc;

	memset(out, 0, sizeof(*out));
	if (!own && !ramp)
		return refuse(err, name, "it is no ramp");
	read_machine(result, out);
	rc = own ? read_own(own, name, out, err) : read_ramp(result, ramp, name, out, err);
	if (rc)
		return rc;
	if (!out->step_count)
		return refuse(err, name, "no step of it gave a rate");
	if (out->time_ns < 1)
		out->time_ns = WP_NS_PER_S;
	qsort(out->steps, out->step_count, sizeof(out->steps[0]), compare_steps);
	wp_calibration_settle(out);
	return 0;
}

static void set_ns(struct wp_row *row, const char *key, double value)
{
	if (isfinite(value))
		wp_row_int(row, key, (int64_t)value);
	else
		wp_row_absent(row, key, "not known");
}

static void set_real(struct wp_row *row, const char *key, double value)
{
	if (isfinite(value))
		wp_row_real(row, key, value);
	else
		wp_row_absent(row, key, "not known");
}

void wp_calibration_fill(struct wp_run *run, const struct wp_calibration *calibration)
{
	struct wp_table *table = wp_result_table(
		run->result, TABLE, "What the model knows of a server", columns, WP_COUNT(columns));

	for (size_t i = 0; i < calibration->step_count; i++) {
		const struct wp_calibration_step *step = &calibration->steps[i];
		struct wp_row *row = wp_table_add_row(table);

		wp_row_int(row, "clients", step->clients);
		set_real(row, "tps", step->tps);
		set_real(row, "tps_model", step->tps_model);
		set_ns(row, "server_cpu_ns_per_transaction", step->server_cpu_ns);
		set_ns(row, "client_cpu_ns_per_transaction", step->client_cpu_ns);
		set_real(row, "wal_bytes_per_transaction", step->wal_bytes);
		set_real(row, "wal_fpi_per_transaction", step->images);
		set_ns(row, "transactions", step->transactions);
		set_real(row, "commits_per_sync", step->commits_per_sync);
		set_real(row, "server_units", step->server_units);
		set_real(row, "client_units", step->client_units);
		wp_row_text(row, "script", calibration->shape->name);
		wp_row_int(row, "scale", calibration->scale);
		wp_row_int(row, "time_ns", calibration->time_ns);
		wp_row_text(row, "fstype", calibration->fstype);
		wp_row_text(row, "server_version", calibration->server_version);
	}
}
