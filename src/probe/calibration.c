/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/calibration.h"

#include "walprobe/mem.h"
#include "walprobe/units.h"
#include "walprobe/script.h"

#include <math.h>
#include <stdlib.h>

#define FEW_IMAGES 0.01 /* per transaction: as good as none */
#define PAGES_MOST 1e9
#define IMAGE_MOST_BYTES 8400

void wp_calibration_release(struct wp_calibration *calibration)
{
	free(calibration->server_version);
	free(calibration->fstype);
	free(calibration->started);
	free(calibration->processors);
	free(calibration->cpu_model);
	free(calibration->memory);
	free(calibration->kernel);
	memset(calibration, 0, sizeof(*calibration));
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* Mean over the first k transactions of exp(-i / pages). */
static double mean_of_decay(double k, double pages)
{
	double x = k / pages;

	return x < 1e-6 ? 1 : (1 - exp(-x)) / x;
}

static double images_excess(const struct wp_calibration *calibration, double pages)
{
	double sum = 0;

	for (size_t i = 0; i < calibration->step_count; i++) {
		const struct wp_calibration_step *step = &calibration->steps[i];

		if (isfinite(step->images) && step->transactions > 0)
			sum += calibration->image_first * mean_of_decay(step->transactions, pages) -
			       step->images;
	}
	return sum;
}

/* The pages for which the steps together have as many images as they had; it rises with pages. */
static double fit_pages(const struct wp_calibration *calibration)
{
	double low = 1;
	double high = PAGES_MOST;

	for (int i = 0; i < 100; i++) {
		double middle = sqrt(low * high);

		if (images_excess(calibration, middle) < 0)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void wp_calibration_settle(struct wp_calibration *calibration)
{
	double images = 0;
	double bytes = 0;
	double count = 0;

	calibration->image_first = 1;
	for (size_t i = 0; i < calibration->step_count; i++) {
		const struct wp_calibration_step *step = &calibration->steps[i];

		if (!isfinite(step->wal_bytes))
			continue;
		images += isfinite(step->images) ? step->images : 0;
		/* Tables that were made just now have more than one to begin with. */
		if (isfinite(step->images) && step->images > calibration->image_first)
			calibration->image_first = step->images;
		bytes += step->wal_bytes;
		count++;
	}
	calibration->record_bytes = calibration->shape->record_bytes;
	calibration->image_bytes = 0;
	calibration->image_pages = 0;
	if (count < 1)
		return;
	if (images / count < FEW_IMAGES) {
		calibration->record_bytes = (int64_t)(bytes / count);
		if (calibration->record_bytes < WP_WAL_RECORD_MINIMUM_BYTES)
			calibration->record_bytes = WP_WAL_RECORD_MINIMUM_BYTES;
		return;
	}
	bytes -= count * (double)calibration->record_bytes;
	calibration->image_bytes = bytes > 0 ? (int64_t)(bytes / images) : 0;
	if (calibration->image_bytes > IMAGE_MOST_BYTES)
		calibration->image_bytes = IMAGE_MOST_BYTES;
	calibration->image_pages = fit_pages(calibration);
}

/* ---- steps ----------------------------------------------------------------------------------- */

static double between(double a, double b, double share)
{
	return a + (b - a) * share;
}

struct wp_calibration_step wp_calibration_step_for(
	const struct wp_calibration *calibration, int64_t clients)
{
	const struct wp_calibration_step *steps = calibration->steps;
	struct wp_calibration_step out;
	size_t above = 0;
	double share;

	while (above < calibration->step_count && steps[above].clients < clients)
		above++;
	if (above == calibration->step_count)
		above--;
	out = steps[above];
	out.clients = clients;
	if (steps[above].clients <= clients || above == 0)
		return out;
	share = log((double)clients / (double)steps[above - 1].clients) /
		log((double)steps[above].clients / (double)steps[above - 1].clients);
	out.tps = between(steps[above - 1].tps, out.tps, share);
	out.server_cpu_ns = between(steps[above - 1].server_cpu_ns, out.server_cpu_ns, share);
	out.client_cpu_ns = between(steps[above - 1].client_cpu_ns, out.client_cpu_ns, share);
	out.server_units = between(steps[above - 1].server_units, out.server_units, share);
	out.client_units = between(steps[above - 1].client_units, out.client_units, share);
	return out;
}

bool wp_calibration_is_fitted(const struct wp_calibration *calibration)
{
	for (size_t i = 0; i < calibration->step_count; i++)
		if (!isfinite(calibration->steps[i].server_units) ||
			!isfinite(calibration->steps[i].client_units))
			return false;
	return true;
}

/* ---- does it hold here ----------------------------------------------------------------------- */

static const char *environment_of(const struct wp_result *result, const char *key)
{
	for (size_t i = 0; i < result->environment_count; i++)
		if (strcmp(result->environment[i].key, key) == 0)
			return result->environment[i].value;
	return NULL;
}

static void differ(char **text, const char *what, const char *there, const char *here)
{
	char *more;

	if (!there || !here || strcmp(there, here) == 0)
		return;
	more = wp_xasprintf("%s%s%s %s instead of %s", *text ? *text : "", *text ? ", " : "", what,
		there, here);
	free(*text);
	*text = more;
}

static void differ_number(char **text, const char *what, int64_t there, int64_t here)
{
	char a[32];
	char b[32];

	(void)snprintf(a, sizeof(a), "%" PRId64, there);
	(void)snprintf(b, sizeof(b), "%" PRId64, here);
	differ(text, what, a, b);
}

static int64_t major_of(const struct wp_calibration *calibration)
{
	return calibration->server_version ? strtol(calibration->server_version, NULL, 10) : 0;
}

int wp_calibration_check(struct wp_run *run, const struct wp_calibration *calibration, int major,
	int64_t scale, struct wp_err *err)
{
	const struct wp_result *result = run->result;
	char *serious = NULL;
	char *slight = NULL;
	int rc = 0;

	differ(&serious, "processors", calibration->processors,
		environment_of(result, "processors"));
	differ(&serious, "processor", calibration->cpu_model, environment_of(result, "cpu_model"));
	differ(&serious, "memory", calibration->memory, environment_of(result, "memory"));
	if (major && major_of(calibration))
		differ_number(&serious, "PostgreSQL", major_of(calibration), major);
	differ(&slight, "kernel", calibration->kernel, environment_of(result, "kernel"));
	if (scale)
		differ_number(&slight, "scale", calibration->scale, scale);
	if (calibration->fstype)
		differ(&slight, "pg_wal on", calibration->fstype, "tmpfs");
	if (serious && !run->is_forced) {
		rc = wp_fail(err, WP_E_DATA, 0,
			"the calibration does not hold here: it was made with %s", serious);
		wp_err_hint(err, "Calibrate on this machine and version (leave out --like, or run "
				 "walprobe ramp again), or use it all the same with --force.");
	} else if (serious || slight) {
		char *both = wp_xasprintf("%s%s%s", serious ? serious : "",
			serious && slight ? ", " : "", slight ? slight : "");

		wp_result_add_check(run->result, "calibration", "calibration", WP_CHECK_UNKNOWN,
			"calibrated on this machine with pg_wal in memory, same version and scale",
			both,
			serious ? "the predictions are those of another machine or version: take "
				  "them as a comparison of places, not as rates"
				: "what differs is not in the model: trust the predictions less");
		wp_run_tell(run, "warning", "the calibration was made with %s", both);
		free(both);
	} else {
		wp_result_add_check(run->result, "calibration", "calibration", WP_CHECK_PASS,
			"calibrated on this machine with pg_wal in memory, same version and scale",
			calibration->server_version,
			"machine, version and scale are those of the calibration");
	}
	free(serious);
	free(slight);
	return rc;
}
