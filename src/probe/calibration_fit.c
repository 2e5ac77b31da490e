/* SPDX-License-Identifier: PostgreSQL */
/*
 * calibration_fit.c - how much work of the model a server's transaction is.
 *
 * Each pass over the steps runs the model for a moment and looks how much more or less work would
 * have taken the server's processor time; the next pass runs with the middle of what the passes
 * said. What a unit costs is measured just before each run, because it moves with the machine.
 */
#include "walprobe/calibration.h"

#include "walprobe/host.h"
#include "walprobe/mem.h"
#include "walprobe/work.h"

#include <math.h>
#include <stdlib.h>

#define PASSES 7
#define PASSES_OF_APPROACH 2 /* their answers are far off, and do not count */
#define RUN_NS (250 * WP_NS_PER_MS)
#define SEGMENTS 8
#define TRIAL_UNITS 50000
#define TRIALS 5
#define FEW_UNITS 500 /* too few to tell what one costs */
#define COLD 1.5      /* what one costs then, as a multiple of the least */
/* What a statement's round trip costs without any work, for a first guess. */
#define STATEMENT_SERVER_NS 11000
#define STATEMENT_CLIENT_NS 10000

struct fit {
	struct wp_run *run;
	struct wp_calibration *calibration;
	struct wp_wal *wal;
	double unit_ns;
	double *server; /* PASSES for each step: the work that would have been right */
	double *client;
	double *tps;
};

static double measure_unit_ns(const struct wp_os *os)
{
	double best_ns = INFINITY;
	struct wp_work work;

	wp_work_init(&work, WP_TX_COMMON_BYTES, 1);
	for (int i = 0; i < TRIALS; i++) {
		int64_t start_ns = wp_os_cpu_ns(os);
		double each_ns;

		wp_work_do(&work, TRIAL_UNITS);
		each_ns = (double)(wp_os_cpu_ns(os) - start_ns) / TRIAL_UNITS;
		best_ns = each_ns < best_ns ? each_ns : best_ns;
	}
	wp_work_release(&work);
	return best_ns;
}

static int compare_reals(const void *a, const void *b)
{
	const double *one = a;
	const double *two = b;

	return (*one > *two) - (*one < *two);
}

static double median(const double *values, size_t count)
{
	double sorted[PASSES];

	memcpy(sorted, values, count * sizeof(*values));
	qsort(sorted, count, sizeof(*sorted), compare_reals);
	return count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
}

static double at_least_0(double value)
{
	return value > 0 ? value : 0;
}

static void guess(struct fit *fit, struct wp_calibration_step *step)
{
	double statements = fit->calibration->shape->statements;
	double client_ns = isfinite(step->client_cpu_ns) ? step->client_cpu_ns : 0;
	double server_ns =
		isfinite(step->server_cpu_ns) ? step->server_cpu_ns : 1e9 / step->tps - client_ns;

	step->server_units =
		at_least_0(server_ns - statements * STATEMENT_SERVER_NS) / fit->unit_ns;
	step->client_units =
		at_least_0(client_ns - statements * STATEMENT_CLIENT_NS) / fit->unit_ns;
}

static struct wp_server_load load_of(
	const struct fit *fit, const struct wp_calibration_step *step, int pass)
{
	const struct wp_calibration *calibration = fit->calibration;

	return (struct wp_server_load){ .shape = calibration->shape,
		.method = WP_METHOD_FDATASYNC,
		.clients = step->clients,
		.scale = calibration->scale,
		.server_units = step->server_units,
		.client_units = step->client_units,
		.record_bytes = calibration->record_bytes,
		.images = { .first = calibration->image_first,
			.pages = calibration->image_pages,
			.stretch = (double)calibration->time_ns / RUN_NS,
			.bytes = calibration->image_bytes },
		.commit_siblings = 5,
		.seed = fit->run->seed + (uint64_t)pass * 7919 };
}

/* Clients and backends share the processors: so much work more takes so much longer. */
static double parallel(const struct wp_calibration_step *step)
{
	int64_t processors = wp_host_processors();

	return (double)(step->clients < processors ? step->clients : processors);
}

/*
 * What a unit cost in a run that took cpu_ns: with cold caches it is a multiple of the least, and a
 * correction with too small a cost would swing ever wider.
 */
static double unit_cost_ns(const struct fit *fit, double cpu_ns, double base_ns, double units)
{
	double each_ns = units > FEW_UNITS ? (cpu_ns - base_ns) / units : 0;

	return each_ns > fit->unit_ns ? each_ns : fit->unit_ns * COLD;
}

static double corrected(
	const struct fit *fit, double units, double wanted_ns, double cpu_ns, double base_ns)
{
	return at_least_0(units + (wanted_ns - cpu_ns) / unit_cost_ns(fit, cpu_ns, base_ns, units));
}

/* Processor time, because what else runs on the machine changes it least; else the rate. */
static double wanted_server_ns(
	const struct wp_calibration_step *step, double time_ns, double server_ns)
{
	if (isfinite(step->server_cpu_ns))
		return step->server_cpu_ns;
	return server_ns + (1e9 / step->tps - time_ns) * parallel(step);
}

static void judge(struct fit *fit, size_t index, int pass, const struct wp_server_figures *figures)
{
	const struct wp_calibration_step *step = &fit->calibration->steps[index];
	double statements = fit->calibration->shape->statements;
	double commits = (double)figures->wal.commits;
	double time_ns = (double)figures->wal.elapsed_ns / commits;
	double server_ns = (double)figures->server_cpu_ns / commits;
	double client_ns = (double)figures->client_cpu_ns / commits;
	size_t at = index * PASSES + (size_t)pass;

	fit->client[at] = step->client_units;
	if (isfinite(step->client_cpu_ns))
		fit->client[at] = corrected(fit, step->client_units, step->client_cpu_ns, client_ns,
			statements * STATEMENT_CLIENT_NS);
	fit->server[at] =
		corrected(fit, step->server_units, wanted_server_ns(step, time_ns, server_ns),
			server_ns, statements * STATEMENT_SERVER_NS);
	fit->tps[at] = 1e9 / time_ns;
}

static void settle(struct fit *fit, size_t index, int pass)
{
	struct wp_calibration_step *step = &fit->calibration->steps[index];
	int first = pass < PASSES_OF_APPROACH ? pass : PASSES_OF_APPROACH;
	size_t at = index * PASSES + (size_t)first;
	size_t count = (size_t)(pass - first) + 1;

	step->server_units = median(fit->server + at, count);
	step->client_units = median(fit->client + at, count);
	step->tps_model = median(fit->tps + at, count);
}

static int run_step(struct fit *fit, size_t index, int pass, struct wp_err *err)
{
	struct wp_calibration_step *step = &fit->calibration->steps[index];
	struct wp_server_figures figures;
	struct wp_server_load load;
	struct wp_hist hist = { 0 };
	int rc;

	fit->unit_ns = measure_unit_ns(fit->run->os);
	if (pass == 0)
		guess(fit, step);
	load = load_of(fit, step, pass);
	wp_hist_init(&hist);
	rc = wp_server_run(fit->wal, &load, RUN_NS, &hist, &figures, err);
	wp_hist_release(&hist);
	if (rc)
		return rc;
	judge(fit, index, pass, &figures);
	settle(fit, index, pass);
	return wp_wal_checkpoint(fit->wal, err);
}

static void show(const struct fit *fit, int pass, size_t index)
{
	struct wp_run *run = fit->run;
	int64_t total = PASSES * (int64_t)fit->calibration->step_count;

	if (run->progress)
		run->progress(run->ctx, "calibrating",
			pass * (int64_t)fit->calibration->step_count + (int64_t)index, total);
}

static int run_passes(struct fit *fit,
	int (*again)(void *ctx, struct wp_calibration_step *step, struct wp_err *err), void *ctx,
	struct wp_err *err)
{
	struct wp_calibration *calibration = fit->calibration;
	int rc = 0;

	for (int pass = 0; pass < PASSES; pass++) {
		for (size_t i = 0; !rc && i < calibration->step_count; i++) {
			show(fit, pass, i);
			if (again)
				rc = again(ctx, &calibration->steps[i], err);
			if (!rc && again && pass == 0)
				wp_calibration_settle(calibration);
			if (!rc)
				rc = run_step(fit, i, pass, err);
		}
	}
	return rc;
}

static int make_wal(struct fit *fit, const char *dir, struct wp_err *err)
{
	const struct wp_wal_config config = { .dir = dir,
		.era = wp_era_find("15"),
		.segment_bytes = INT64_C(16) << 20,
		.segments = SEGMENTS,
		.seed = fit->run->seed,
		.is_shared = true };

	return wp_wal_new(fit->run->os, &config, &fit->wal, err);
}

int wp_calibration_fit(struct wp_run *run, struct wp_calibration *calibration, const char *dir,
	int (*again)(void *ctx, struct wp_calibration_step *step, struct wp_err *err), void *ctx,
	struct wp_err *err)
{
	size_t count = calibration->step_count * PASSES;
	struct fit fit = { .run = run, .calibration = calibration };
	int rc = make_wal(&fit, dir, err);

	fit.server = wp_xcalloc(count, sizeof(double));
	fit.client = wp_xcalloc(count, sizeof(double));
	fit.tps = wp_xcalloc(count, sizeof(double));
	if (!rc)
		rc = run_passes(&fit, again, ctx, err);
	free(fit.server);
	free(fit.client);
	free(fit.tps);
	wp_wal_free(fit.wal);
	return rc;
}
