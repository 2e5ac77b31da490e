/* SPDX-License-Identifier: PostgreSQL */
#include "predict_internal.h"

#include "walprobe/mem.h"

#define SEGMENTS 16 /* enough for a block between two checkpoints */
#define SEGMENT_BYTES (INT64_C(16) << 20)
#define LAP_RUN_NS (30 * WP_NS_PER_MS)
#define LAP_CLIENTS 8

/* one pg_wal, shared by all measures of a target */
struct predict_ring {
	const struct wp_os *os;
	struct wp_target *target; /* borrowed */
	uint64_t seed;
	int64_t record_bytes;
	int users;
	struct wp_wal *wal; /* NULL until the first block */
	bool is_broken;
};

int64_t wp_predict_needed_bytes(void)
{
	return (SEGMENTS + 3) * SEGMENT_BYTES;
}

/* ---- the ring -------------------------------------------------------------------------------- */

static int make_wal(struct predict_ring *ring, struct wp_err *err)
{
	char *dir = wp_xasprintf("%s/model", ring->target->dir);
	const struct wp_wal_config config = { .dir = dir,
		.era = wp_era_find("15"),
		.segment_bytes = SEGMENT_BYTES,
		.segments = SEGMENTS,
		.seed = ring->seed,
		.is_shared = true };
	int rc = wp_os_mkdir(ring->os, dir, 0700);

	if (rc)
		rc = wp_fail(err, WP_E_SYS, -rc, "could not create directory \"%s\"", dir);
	else
		rc = wp_wal_new(ring->os, &config, &ring->wal, err);
	free(dir);
	return rc;
}

/* Segments as a server has them that has run for a while: written before, and recycled. */
static int run_lap(struct predict_ring *ring, struct wp_err *err)
{
	const struct wp_wal_load load = { .method = WP_METHOD_FDATASYNC,
		.clients = LAP_CLIENTS,
		.record_bytes = ring->record_bytes };
	struct wp_wal_figures figures;
	struct wp_hist hist = { 0 };
	struct wp_hist switches = { 0 };
	int rc;

	wp_hist_init(&hist);
	wp_hist_init(&switches);
	rc = wp_wal_first_lap(ring->wal, &load, LAP_RUN_NS, false, &hist, &switches, &figures, err);
	wp_hist_release(&switches);
	wp_hist_release(&hist);
	return rc;
}

static int open_ring(struct predict_ring *ring, struct wp_err *err)
{
	int rc;

	if (ring->is_broken)
		return wp_fail(
			err, WP_E_SYS, 0, "pg_wal could not be made in \"%s\"", ring->target->dir);
	if (ring->wal)
		return wp_wal_checkpoint(ring->wal, err);
	rc = make_wal(ring, err);
	if (!rc)
		rc = run_lap(ring, err);
	ring->is_broken = rc != 0;
	return rc;
}

static void release_ring(struct predict_ring *ring)
{
	if (--ring->users > 0)
		return;
	wp_wal_free(ring->wal);
	free(ring);
}

/* ---- measures -------------------------------------------------------------------------------- */

static int run_block(struct wp_measure *measure, int64_t least_ns, struct wp_hist *hist,
	struct wp_block *block, struct wp_err *err)
{
	struct predict_series *series = measure->self;
	struct wp_server_figures figures;
	int rc = open_ring(series->ring, err);

	if (rc)
		return rc;
	series->load.seed++;
	rc = wp_server_run(series->ring->wal, &series->load, least_ns, hist, &figures, err);
	if (rc)
		return rc;
	/* Not in the warm-up. */
	if (measure->round_count > 0)
		wp_server_figures_add(&series->sum, &figures);
	block->operations = figures.wal.commits;
	block->syncs = figures.wal.counts.syncs + figures.wal.fsyncs;
	block->elapsed_ns = figures.wal.elapsed_ns;
	block->value =
		(double)figures.wal.commits * (double)WP_NS_PER_S / (double)figures.wal.elapsed_ns;
	return 0;
}

static void release_series(struct wp_measure *measure)
{
	struct predict_series *series = measure->self;

	release_ring(series->ring);
	free(series);
}

static struct wp_server_load load_of(const struct wp_run *run,
	const struct wp_predict_options *options, enum wp_method method, int64_t clients)
{
	const struct wp_calibration *calibration = options->calibration;
	struct wp_calibration_step step = wp_calibration_step_for(calibration, clients);
	double time_ns = options->time_ns ? (double)options->time_ns : (double)run->time_ns;

	return (struct wp_server_load){ .shape = calibration->shape,
		.method = method,
		.clients = clients,
		.scale = options->scale ? options->scale : calibration->scale,
		.server_units = step.server_units,
		.client_units = step.client_units,
		.record_bytes = calibration->record_bytes,
		.images = { .first = calibration->image_first,
			.pages = calibration->image_pages,
			.stretch = time_ns / (double)run->time_ns,
			.bytes = calibration->image_bytes },
		.commit_delay_ns = options->commit_delay_ns,
		.commit_siblings = options->commit_siblings,
		.seed = run->seed * 1000003 + (uint64_t)clients };
}

const char *predict_describe_delay(int64_t commit_delay_ns, char *out, size_t size)
{
	if (!commit_delay_ns)
		return NULL;
	(void)snprintf(out, size, "commit_delay %" PRId64 "us", commit_delay_ns / WP_NS_PER_US);
	return out;
}

static void add_measure(
	struct predict_ring *ring, const struct wp_server_load *load, struct wp_measures *measures)
{
	struct wp_measure *measure = wp_measures_add(measures);
	struct predict_series *series = wp_xcalloc(1, sizeof(*series));
	const char *reason;

	ring->users++;
	series->ring = ring;
	series->load = *load;
	measure->table = PREDICT_TABLE;
	measure->metric = PREDICT_METRIC;
	measure->method = wp_method_name(load->method);
	measure->variant =
		predict_describe_delay(load->commit_delay_ns, series->delay, sizeof(series->delay));
	measure->clients = load->clients;
	measure->target = ring->target;
	measure->run = run_block;
	measure->release = release_series;
	measure->self = series;
	measure->os = ring->os;
	if (!ring->target->is_open)
		wp_measure_set_absent(measure, "%s",
			ring->target->absent ? ring->target->absent : "not measured");
	else if (!wp_method_is_supported(load->method, &reason))
		wp_measure_set_absent(measure, "%s", reason);
}

/* One pg_wal for all measures of a target, planned at once or not. */
static struct predict_ring *ring_of(struct wp_run *run, struct wp_target *target,
	const struct wp_predict_options *options, const struct wp_measures *measures)
{
	struct predict_ring *ring;

	for (size_t i = 0; i < measures->count; i++) {
		const struct predict_series *series = measures->items[i]->self;

		if (measures->items[i]->run != run_block || measures->items[i]->target != target)
			continue;
		series->ring->users++;
		return series->ring;
	}
	ring = wp_xcalloc(1, sizeof(*ring));
	ring->os = run->os;
	ring->target = target;
	ring->seed = run->seed;
	ring->record_bytes = options->calibration->record_bytes;
	ring->users = 1;
	return ring;
}

void wp_predict_plan(struct wp_run *run, struct wp_target *target,
	const struct wp_predict_options *options, struct wp_measures *measures)
{
	struct predict_ring *ring = ring_of(run, target, options, measures);

	for (size_t i = 0; i < options->methods.count; i++)
		for (size_t j = 0; j < options->client_count; j++) {
			struct wp_server_load load = load_of(
				run, options, options->methods.items[i], options->clients[j]);

			add_measure(ring, &load, measures);
		}
	release_ring(ring);
}
