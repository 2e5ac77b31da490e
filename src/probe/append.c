/* SPDX-License-Identifier: PostgreSQL */
#include "probe/append.h"

#include "walprobe/limits.h"
#include "walprobe/mem.h"
#include "walprobe/units.h"

#include <math.h>

#define LAP_RUN_NS (100 * WP_NS_PER_MS)
#define FILES_BESIDE_CLIENTS 64

void wp_append_standard(struct wp_append_options *options)
{
	static const int64_t clients[] = { 1, 2, 4, 8 };

	memset(options, 0, sizeof(*options));
	options->methods.items[options->methods.count++] = WP_METHOD_FDATASYNC;
	memcpy(options->clients, clients, sizeof(clients));
	options->client_count = WP_COUNT(clients);
	options->record_bytes = 412;
	options->commit_siblings = 5;
	options->era = wp_era_find("15");
	options->segment_bytes = INT64_C(16) << 20;
	options->segments = 4;
	options->recycle = WP_RECYCLE_RENAME;
}

int64_t wp_append_needed_bytes(const struct wp_append_options *options)
{
	/* One more while a backend is faster than the checkpointer, and one under its temporary
	 * name. */
	return (options->segments + 2) * options->segment_bytes + (INT64_C(1) << 20);
}

int append_first_method(const struct wp_append_options *options)
{
	for (size_t i = 0; i < options->methods.count; i++)
		if (wp_method_is_supported(options->methods.items[i], NULL))
			return (int)options->methods.items[i];
	return -1;
}

struct wp_wal_load append_load(
	const struct wp_append_options *options, enum wp_method method, int64_t clients)
{
	struct wp_wal_load load = {
		.method = method,
		.clients = clients,
		.record_bytes = options->record_bytes,
		.image_pages = options->image_pages,
		.think_ns = options->think_ns,
		.commit_delay_ns = options->commit_delay_ns,
		.commit_siblings = options->commit_siblings,
		.is_async = options->is_async,
	};

	return load;
}

/* ---- the ring ------------------------------------------------------------------------------------ */

struct ring *append_ring_new(
	struct wp_run *run, struct wp_target *target, const struct wp_append_options *options)
{
	struct ring *ring = wp_xcalloc(1, sizeof(*ring));
	int method = append_first_method(options);

	ring->os = run->os;
	ring->target = target;
	ring->options = *options;
	ring->seed = run->seed;
	ring->users = 1;
	if (method >= 0)
		ring->lap_load = append_load(options, (enum wp_method)method,
			wp_int_list_most(options->clients, options->client_count));
	return ring;
}

void append_ring_release(struct ring *ring)
{
	if (--ring->users > 0)
		return;
	wp_wal_free(ring->wal);
	wp_hist_release(&ring->lap_hist);
	wp_hist_release(&ring->lap_switches);
	free(ring);
}

static int start_beside(struct ring *ring, struct wp_err *err)
{
	return ring->options.beside ? wp_beside_start(ring->options.beside, err) : 0;
}

/* The WAL's own error comes first; what went wrong beside it spoils the figures all the same. */
static int stop_beside(struct ring *ring, int rc, struct wp_err *err)
{
	struct wp_err own;
	int stopped = 0;

	if (ring->options.beside)
		stopped = wp_beside_stop(ring->options.beside, &own);
	if (!rc && stopped && err)
		*err = own;
	return rc ? rc : stopped;
}

int append_run_loaded(struct ring *ring, const struct wp_wal_load *load, int64_t least_ns,
	struct wp_hist *hist, struct wp_hist *switches, struct wp_wal_figures *figures,
	struct wp_err *err)
{
	int rc = start_beside(ring, err);

	memset(figures, 0, sizeof(*figures));
	if (!rc)
		rc = wp_wal_run(ring->wal, load, least_ns, true, hist, switches, figures, err);
	return stop_beside(ring, rc, err);
}

static int run_lap(struct ring *ring, struct wp_err *err)
{
	int rc = start_beside(ring, err);

	wp_hist_init(&ring->lap_hist);
	wp_hist_init(&ring->lap_switches);
	if (!rc)
		rc = wp_wal_first_lap(ring->wal, &ring->lap_load, LAP_RUN_NS,
			ring->options.is_natural, &ring->lap_hist, &ring->lap_switches, &ring->lap,
			err);
	rc = stop_beside(ring, rc, err);
	ring->has_lap = rc == 0;
	return rc;
}

int append_ring_open(struct ring *ring, struct wp_err *err)
{
	const struct wp_append_options *options = &ring->options;
	struct wp_wal_config config = {
		.dir = ring->target->dir,
		.era = options->era,
		.segment_bytes = options->segment_bytes,
		.segments = options->segments,
		.recycle = options->recycle,
		.is_sparse = options->is_sparse,
		.is_direct = options->is_direct,
		.seed = ring->seed,
	};
	int rc;

	if (ring->wal && ring->has_lap)
		return 0;
	if (ring->is_broken)
		return wp_fail(
			err, WP_E_SYS, 0, "pg_wal could not be made in \"%s\"", ring->target->dir);
	rc = wp_wal_new(ring->os, &config, &ring->wal, err);
	if (!rc)
		rc = run_lap(ring, err);
	ring->is_broken = rc != 0;
	return rc;
}

/* ---- what a place lacks ---------------------------------------------------------------------------- */

static int try_direct(const struct wp_os *os, const char *dir, char **reason, struct wp_err *err)
{
	char *path = wp_xasprintf("%s/direct", dir);
	int fd = wp_os_open(os, path, O_RDWR | O_CREAT | O_EXCL | O_DIRECT, 0600);
	int rc = 0;

	if (fd >= 0)
		(void)wp_os_close(os, fd); /* empty: nothing can be lost */
	else if (fd == -EINVAL || fd == -EOPNOTSUPP)
		*reason = wp_xasprintf("O_DIRECT refused: %s", wp_errno_name(-fd));
	else
		rc = wp_fail(err, WP_E_SYS, -fd, "could not create \"%s\"", path);
	(void)wp_os_unlink(os, path); /* left there by some systems even when refused */
	free(path);
	return rc;
}

static int try_links(const struct wp_os *os, const char *dir, char **reason, struct wp_err *err)
{
	int sys_errno = 0;
	int rc = wp_segment_can_link(os, dir, &sys_errno, err);

	if (rc == 0)
		*reason = wp_xasprintf("no hard links: %s", wp_errno_name(sys_errno));
	return rc < 0 ? rc : 0;
}

static bool needs_links(const struct wp_append_options *options)
{
	return options->recycle == WP_RECYCLE_LINK ||
	       (options->recycle == WP_RECYCLE_NONE && options->era->is_link);
}

int append_missing(const struct wp_run *run, const struct wp_target *target,
	const struct wp_append_options *options, char **reason, struct wp_err *err)
{
	int rc = 0;

	*reason = NULL;
	if (!target->is_open) {
		*reason = wp_xstrdup(target->absent ? target->absent : "not measured");
		return 0;
	}
	if (needs_links(options))
		rc = try_links(run->os, target->dir, reason, err);
	if (!rc && !*reason && options->is_direct)
		rc = try_direct(run->os, target->dir, reason, err);
	return rc;
}

/* ---- measures ---------------------------------------------------------------------------------------- */

static void add_note(
	struct series *series, const struct wp_wal_figures *figures, const struct wp_hist *switches)
{
	struct block_note *note;

	series->notes =
		wp_xreallocarray(series->notes, series->note_count + 1, sizeof(*series->notes));
	note = &series->notes[series->note_count++];
	memset(note, 0, sizeof(*note));
	note->figures = *figures;
	if (switches->count == 0)
		return;
	wp_hist_init(&note->switches);
	wp_hist_merge(&note->switches, switches);
}

/* Rounds that failed have no note of their own; an empty one keeps the numbers in step. */
static void pad_notes(struct series *series, size_t count)
{
	static const struct wp_wal_figures none;
	static const struct wp_hist no_switches;

	while (series->note_count < count)
		add_note(series, &none, &no_switches);
}

static int run_block(struct wp_measure *measure, int64_t least_ns, struct wp_hist *hist,
	struct wp_block *block, struct wp_err *err)
{
	struct series *series = measure->self;
	struct ring *ring = series->ring;
	struct wp_wal_figures figures;
	struct wp_hist switches = { 0 };
	int rc = append_ring_open(ring, err);

	if (rc)
		return rc;
	if (!ring->options.is_natural)
		wp_wal_approach(ring->wal, (int64_t)(series->bytes_per_ns * (double)least_ns));
	wp_hist_init(&switches);
	rc = append_run_loaded(ring, &series->load, least_ns, hist, &switches, &figures, err);
	if (!rc) {
		series->bytes_per_ns = (double)figures.wal_bytes / (double)figures.elapsed_ns;
		block->operations = figures.commits;
		/* What creating and recycling synced reaches the device too. */
		block->syncs = figures.counts.syncs + figures.fsyncs;
		block->elapsed_ns = figures.elapsed_ns;
		block->value =
			(double)figures.commits * (double)WP_NS_PER_S / (double)figures.elapsed_ns;
		/* Not in the warm-up. */
		if (measure->round_count > 0) {
			pad_notes(series, (size_t)measure->round_count - 1);
			add_note(series, &figures, &switches);
		}
	}
	wp_hist_release(&switches);
	return rc;
}

static void release_series(struct wp_measure *measure)
{
	struct series *series = measure->self;

	for (size_t i = 0; i < series->note_count; i++)
		wp_hist_release(&series->notes[i].switches);
	free(series->notes);
	append_ring_release(series->ring);
	free(series);
}

static struct wp_measure *add_measure(
	struct ring *ring, const struct wp_wal_load *load, struct wp_measures *measures)
{
	struct wp_measure *measure = wp_measures_add(measures);
	struct series *series = wp_xcalloc(1, sizeof(*series));

	ring->users++;
	series->ring = ring;
	series->load = *load;
	measure->table = "append";
	measure->metric = "commits_per_s";
	measure->method = wp_method_name(load->method);
	measure->clients = load->clients;
	measure->target = ring->target;
	measure->run = run_block;
	measure->release = release_series;
	measure->self = series;
	measure->os = ring->os;
	return measure;
}

static void plan_all(struct ring *ring, const char *missing, struct wp_measures *measures)
{
	const struct wp_append_options *options = &ring->options;

	for (size_t i = 0; i < options->methods.count; i++)
		for (size_t j = 0; j < options->client_count; j++) {
			struct wp_wal_load load = append_load(
				options, options->methods.items[i], options->clients[j]);
			struct wp_measure *measure = add_measure(ring, &load, measures);
			const char *reason;

			if (!wp_method_is_supported(load.method, &reason))
				wp_measure_set_absent(measure, "%s", reason);
			else if (missing)
				wp_measure_set_absent(measure, "%s", missing);
		}
}

int wp_append_plan(struct wp_run *run, struct wp_target *target,
	const struct wp_append_options *options, struct wp_measures *measures, struct wp_err *err)
{
	struct ring *ring = append_ring_new(run, target, options);
	struct wp_err own = { 0 };
	char *missing = NULL;
	int rc = wp_limit_open_files(
		wp_int_list_most(options->clients, options->client_count) + FILES_BESIDE_CLIENTS,
		&own);

	if (!rc)
		rc = append_missing(run, target, options, &missing, &own);
	plan_all(ring, rc ? own.message : missing, measures);
	append_ring_release(ring);
	free(missing);
	if (rc && err)
		*err = own;
	return rc;
}

struct wp_measure *wp_append_plan_twin(
	const struct wp_measure *original, struct wp_measures *measures)
{
	const struct series *series = original->self;
	struct wp_measure *twin = add_measure(series->ring, &series->load, measures);

	twin->is_twin = true;
	if (original->absent)
		wp_measure_set_absent(twin, "%s", original->absent);
	return twin;
}
