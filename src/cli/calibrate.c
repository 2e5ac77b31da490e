/* SPDX-License-Identifier: PostgreSQL */
#include "cli/calibrate.h"

#include "walprobe/document.h"
#include "walprobe/mem.h"
#include "walprobe/server_facts.h"
#include "walprobe/units.h"

#include <math.h>
#include <stdlib.h>

#define STANDARD_SCALE 10
#define NEEDED_BYTES (INT64_C(600) << 20)

/* a private directory in memory for the model, and for a server's pg_wal */
struct memory {
	struct wp_target_specs specs;
	struct wp_target target;
	char *dir; /* for the model */
};

static int open_memory(struct wp_run *run, const struct wp_calibrate_options *options,
	struct memory *memory, struct wp_err *err)
{
	const struct wp_target_options target_options = { .needed_bytes = NEEDED_BYTES,
		.is_kept = run->is_kept };
	char *word = wp_xasprintf("calibration=%s", options->memory);
	const char *words[] = { word };
	int rc = wp_targets_parse(words, 1, &memory->specs, err);

	free(word);
	if (!rc)
		rc = wp_target_open(run->os, run->registry, &memory->specs.items[0],
			&target_options, &memory->target, err);
	if (rc) {
		wp_err_hint(err, "Name a directory on a tmpfs with --memory.");
		return rc;
	}
	memory->dir = wp_xasprintf("%s/fit", memory->target.dir);
	rc = wp_os_mkdir(run->os, memory->dir, 0700);
	return rc ? wp_fail(err, WP_E_SYS, -rc, "could not create directory \"%s\"", memory->dir)
		  : 0;
}

static void release_memory(struct memory *memory)
{
	free(memory->dir);
	wp_target_release(&memory->target);
	wp_targets_release(&memory->specs);
}

/* What lies in memory is taken to cost nothing; anything else is said. */
static void tell_place(struct wp_run *run, const struct memory *memory)
{
	const char *type = memory->target.stack.fstype;

	if (!type || strcmp(type, "tmpfs") != 0)
		wp_run_tell(run, "warning",
			"\"%s\" is on %s and not in memory: what its flush costs counts twice",
			memory->target.place, type ? type : "an unknown file system");
}

/* ---- from a document ------------------------------------------------------------------------- */

static int read_document(struct wp_run *run, const struct wp_calibrate_options *options,
	struct wp_calibration *out, struct wp_err *err)
{
	struct wp_result *result = NULL;
	int rc = wp_document_read(run->os, options->like, &result, err);

	if (!rc)
		rc = wp_calibration_read(result, options->like, out, err);
	if (!rc)
		rc = wp_calibration_check(run, out, (int)options->major, options->scale, err);
	wp_result_free(result);
	return rc;
}

static int fit_document(struct wp_run *run, const struct memory *memory, struct wp_calibration *out,
	struct wp_err *err)
{
	wp_run_tell(run, "note", "fitting the model to the ramp of %s",
		out->started ? out->started : "an unknown time");
	return wp_calibration_fit(run, out, memory->dir, NULL, NULL, err);
}

/* ---- on the spot ----------------------------------------------------------------------------- */

static int step_again(void *ctx, struct wp_calibration_step *step, struct wp_err *err)
{
	return wp_predict_server_step(ctx, step, err);
}

static int compare_clients(const void *a, const void *b)
{
	const int64_t *one = a;
	const int64_t *two = b;

	return (*one > *two) - (*one < *two);
}

/* Those that are asked for, rising, and 1, which the closed form needs. */
static size_t clients_of(const struct wp_calibrate_options *options, int64_t *out)
{
	size_t count = 0;

	out[count++] = 1;
	for (size_t i = 0; i < options->client_count; i++)
		if (options->clients[i] != 1)
			out[count++] = options->clients[i];
	qsort(out, count, sizeof(*out), compare_clients);
	return count;
}

static void begin_calibration(struct wp_run *run, const struct wp_calibrate_options *options,
	const int64_t *clients, size_t count, const char *version, struct wp_calibration *out)
{
	out->shape = wp_tx_shape_find(options->builtin);
	out->scale = options->scale ? options->scale : STANDARD_SCALE;
	out->time_ns = run->time_ns;
	out->server_version = wp_xstrdup(version);
	out->started = wp_xstrdup(run->result->started);
	for (size_t i = 0; i < count; i++) {
		out->steps[i].clients = clients[i];
		out->steps[i].server_units = out->steps[i].client_units = out->steps[i].tps_model =
			(double)NAN;
	}
	out->step_count = count;
}

static int measure_server(struct wp_run *run, const struct wp_calibrate_options *options,
	struct memory *memory, struct wp_calibration *out, struct wp_err *err)
{
	int64_t clients[WP_PREDICT_CLIENTS_CAPACITY + 1];
	size_t count = clients_of(options, clients);
	const struct wp_predict_server_options server_options = { .shape = wp_tx_shape_find(
									  options->builtin),
		.scale = options->scale ? options->scale : STANDARD_SCALE,
		.clients = clients,
		.client_count = count,
		.time_ns = run->time_ns };
	struct wp_predict_server *server = NULL;
	int rc;

	wp_run_tell(run, "note",
		"calibrating with PostgreSQL %s, pg_wal in \"%s\", %s at scale %" PRId64,
		options->plan->binaries.version, memory->target.place, options->builtin,
		server_options.scale);
	wp_cluster_plan_fit(run, options->plan, &memory->target, 1);
	rc = wp_predict_server_start(
		run, options->plan, &memory->target, &server_options, &server, err);
	if (rc)
		return rc;
	begin_calibration(
		run, options, clients, count, wp_predict_server_facts(server)->version, out);
	out->fstype = wp_xstrdup(memory->target.stack.fstype);
	rc = wp_calibration_fit(run, out, memory->dir, step_again, server, err);
	for (size_t i = 0; !rc && i < out->step_count; i++)
		wp_predict_server_mean(server, &out->steps[i]);
	if (!rc) {
		wp_calibration_settle(out);
		rc = wp_predict_server_stop(server, err);
	}
	wp_predict_server_free(server);
	return rc;
}

int wp_calibrate(struct wp_run *run, const struct wp_calibrate_options *options,
	struct wp_calibration *out, struct wp_err *err)
{
	struct memory memory = { .dir = NULL };
	int rc = 0;

	memset(out, 0, sizeof(*out));
	if (options->like)
		rc = read_document(run, options, out, err);
	if (!rc && !(options->like && wp_calibration_is_fitted(out))) {
		rc = open_memory(run, options, &memory, err);
		if (!rc)
			tell_place(run, &memory);
		if (!rc)
			rc = options->like ? fit_document(run, &memory, out, err)
					   : measure_server(run, options, &memory, out, err);
	}
	if (!rc && !options->like)
		rc = wp_calibration_check(run, out, (int)options->major, 0, err);
	if (!rc)
		wp_calibration_fill(run, out);
	release_memory(&memory);
	return rc;
}
