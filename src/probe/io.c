/* SPDX-License-Identifier: PostgreSQL */
#include "probe/io_internal.h"
#include "walprobe/mem.h"
#include "walprobe/units.h"

#include <math.h>

#define PROBE_BYTES (INT64_C(32) << 20) /* written to learn how long all of it will take */
#define WALL_LIMIT 20 /* a block takes no longer than so many times what was asked for */

struct wp_io_study {
	struct wp_run *run;
	struct wp_io_options options;
	struct wp_io_pool pool;
};

static int64_t threads_of(const struct wp_io_options *options)
{
	return options->jobs > options->seekers ? options->jobs : options->seekers;
}

struct wp_io_study *wp_io_study_new(struct wp_run *run, const struct wp_io_options *options)
{
	struct wp_io_study *study = wp_xcalloc(1, sizeof(*study));
	int64_t bytes = wp_int_list_most(options->records.bytes, options->records.count);

	study->run = run;
	study->options = *options;
	if (options->small_most_bytes > bytes)
		bytes = options->small_most_bytes;
	wp_io_pool_init(&study->pool, run->os, (int)threads_of(options), bytes);
	return study;
}

void wp_io_study_free(struct wp_io_study *study)
{
	if (!study)
		return;
	wp_io_pool_release(&study->pool);
	free(study);
}

bool wp_io_is_measure(const struct wp_measure *measure)
{
	return strcmp(measure->table, "io") == 0;
}

/* ---- a block ---------------------------------------------------------------------------------- */

static int prepare_pass(struct wp_io_self *self, int64_t left_ns, struct wp_err *err)
{
	return self->test->is_tree ? wp_io_tree_prepare(&self->tree, left_ns, err)
				   : wp_io_loop_prepare(&self->loop, err);
}

static int run_pass(struct wp_io_self *self, int64_t left_ns, struct wp_hist *hist,
	struct wp_io_counts *counts, struct wp_err *err)
{
	return self->test->is_tree ? wp_io_tree_pass(&self->tree, left_ns, hist, counts, err)
				   : wp_io_loop_pass(&self->loop, left_ns, hist, counts, err);
}

static int finish_block(struct wp_io_self *self, struct wp_err *err)
{
	return self->test->is_tree ? wp_io_tree_finish(&self->tree, err)
				   : wp_io_loop_finish(&self->loop, err);
}

/* Passes until the measured time is long enough: what is over too soon is done again. */
static int run_passes(struct wp_measure *measure, int64_t least_ns, struct wp_hist *hist,
	struct wp_io_counts *counts, struct wp_block_io *io, struct wp_err *err)
{
	struct wp_io_self *self = measure->self;
	int64_t limit_ns = wp_os_now_ns(measure->os) + WALL_LIMIT * least_ns;
	int rc;

	do {
		int64_t left_ns = least_ns - counts->elapsed_ns;
		struct wp_io_seen before;
		struct wp_io_seen after;

		rc = prepare_pass(self, left_ns, err);
		if (rc)
			break;
		wp_io_look(measure->os, measure->target, &before);
		rc = run_pass(self, left_ns, hist, counts, err);
		wp_io_look(measure->os, measure->target, &after);
		wp_io_count(&before, &after, io);
	} while (!rc && counts->elapsed_ns < least_ns && wp_os_now_ns(measure->os) < limit_ns);
	return rc;
}

static int run_measure(struct wp_measure *measure, int64_t least_ns, struct wp_hist *hist,
	struct wp_block *block, struct wp_err *err)
{
	struct wp_io_counts counts = { 0 };
	struct wp_err late = { 0 };
	int rc = run_passes(measure, least_ns, hist, &counts, &block->io, err);
	int finish_rc = finish_block(measure->self, rc ? &late : err);

	block->operations = counts.operations;
	block->syncs = counts.syncs;
	block->elapsed_ns = counts.elapsed_ns;
	block->io.read_bytes = counts.read_bytes;
	block->io.written_bytes = counts.written_bytes;
	block->io.cpu_ns = counts.cpu_ns;
	if (counts.operations > 0 && counts.elapsed_ns > 0)
		block->value =
			(double)counts.operations * (double)WP_NS_PER_S / (double)counts.elapsed_ns;
	return rc ? rc : finish_rc; /* the first failure is the one to tell */
}

/* ---- planning --------------------------------------------------------------------------------- */

static void drop_place(struct wp_io_place *place)
{
	if (!place || --place->users > 0)
		return;
	if (!place->is_kept)
		wp_io_files_remove(&place->files);
	wp_io_files_release(&place->files);
	free(place);
}

static void release_measure(struct wp_measure *measure)
{
	struct wp_io_self *self = measure->self;

	wp_io_loop_release(&self->loop);
	wp_io_tree_release(&self->tree);
	drop_place(self->place);
	free(self->variant);
	free(self);
	measure->self = NULL;
}

/* ctx of the planning of one target */
struct planning {
	struct wp_io_study *study;
	struct wp_target *target;
	struct wp_measures *measures;
	struct wp_io_place *place;
};

static struct wp_measure *add_measure(
	const struct planning *planning, const struct wp_io_test_row *test, int64_t record_bytes)
{
	struct wp_measure *measure = wp_measures_add(planning->measures);
	struct wp_io_self *self = wp_xcalloc(1, sizeof(*self));

	self->test = test;
	self->options = &planning->study->options;
	self->jobs = 1;
	measure->table = "io";
	measure->metric = "ops_per_s";
	measure->test = test->name;
	measure->record_bytes = record_bytes;
	measure->target = planning->target;
	measure->run = run_measure;
	measure->release = release_measure;
	measure->self = self;
	measure->os = planning->study->run->os;
	if (!planning->place)
		wp_measure_set_absent(measure, "%s",
			planning->target->absent ? planning->target->absent : "not available");
	return measure;
}

static void hold_place(const struct planning *planning, struct wp_io_self *self)
{
	self->place = planning->place;
	self->place->users++;
}

static void plan_small(const struct planning *planning, const struct wp_io_test_row *test)
{
	const struct wp_io_options *options = &planning->study->options;
	struct wp_measure *measure = add_measure(planning, test, 0);
	struct wp_io_self *self = measure->self;
	struct wp_io_tree_plan plan = { .work = test->tree_work,
		.is_random = test->is_random,
		.is_synced = test->is_synced,
		.count = options->small_count,
		.most_bytes = options->small_most_bytes,
		.least_bytes = options->small_least_bytes,
		.directories = options->small_directories };
	char name[64];

	if (measure->absent)
		return;
	hold_place(planning, self);
	(void)snprintf(name, sizeof(name), "files-%zu", planning->measures->count);
	wp_io_tree_init(&self->tree, &plan, measure->os, planning->target->dir, name,
		&planning->study->pool, planning->study->run->seed + planning->measures->count);
}

static enum wp_io_cache cache_of(
	const struct wp_io_options *options, const struct wp_io_test_row *test)
{
	if (test->is_fill)
		return WP_IO_CACHE_FILL;
	return options->is_cached ? WP_IO_CACHE_KEEP : WP_IO_CACHE_DROP;
}

static struct wp_io_plan plan_of(const struct wp_io_options *options,
	const struct wp_io_test_row *test, int64_t record_bytes, int64_t file_bytes)
{
	/* Seeks leave their writes to the kernel, as bonnie++ does. */
	return (struct wp_io_plan){ .work = test->work,
		.order = test->order,
		.cache = cache_of(options, test),
		.sync = options->sync,
		.is_sync_timed = options->is_sync_timed && test->work != WP_IO_SEEK,
		.is_close_timed = options->is_close_timed,
		.is_new = test->is_new,
		.is_direct = options->is_direct,
		.record_bytes = record_bytes,
		.file_bytes = file_bytes / options->jobs,
		.jobs = (int)(test->is_seekers ? options->seekers : options->jobs) };
}

static int64_t least_file(const struct wp_io_test_row *test, int64_t record_bytes)
{
	switch (test->work) {
	case WP_IO_PUTC:
	case WP_IO_GETC:
		return WP_IO_STDIO_BYTES;
	case WP_IO_WRITE_ONE:
	case WP_IO_READ_ONE:
		return WP_IO_BYTE_CALLS;
	default:
		return record_bytes;
	}
}

static void plan_big(const struct planning *planning, const struct wp_io_test_row *test,
	int64_t record_bytes, int64_t file_bytes)
{
	const struct wp_io_options *options = &planning->study->options;
	struct wp_measure *measure = add_measure(planning, test, record_bytes);
	struct wp_io_self *self = measure->self;
	struct wp_io_plan plan = plan_of(options, test, record_bytes, file_bytes);
	char size[32];

	self->file_bytes = file_bytes;
	self->jobs = plan.jobs;
	if (options->files.count > 1)
		self->variant =
			wp_xasprintf("%s file", wp_format_size(file_bytes, size, sizeof(size)));
	measure->variant = self->variant;
	if (plan.file_bytes < least_file(test, record_bytes))
		wp_measure_set_absent(measure,
			"a record of %" PRId64 " bytes is more than the file of a job (%" PRId64
			" bytes)",
			least_file(test, record_bytes), plan.file_bytes);
	else if (options->is_direct && record_bytes < 512)
		wp_measure_set_absent(measure, "O_DIRECT needs whole blocks");
	if (measure->absent)
		return;
	hold_place(planning, self);
	wp_io_loop_init(&self->loop, &plan, &self->place->files, &planning->study->pool,
		planning->study->run->seed + planning->measures->count);
}

static void plan_records(const struct planning *planning, const struct wp_io_test_row *test)
{
	const struct wp_io_options *options = &planning->study->options;

	for (size_t f = 0; f < options->files.count; f++) {
		if (test->record_bytes) {
			plan_big(planning, test, test->record_bytes, options->files.bytes[f]);
			continue;
		}
		for (size_t r = 0; r < options->records.count; r++)
			plan_big(
				planning, test, options->records.bytes[r], options->files.bytes[f]);
	}
}

static struct wp_io_place *new_place(struct wp_io_study *study, const struct wp_target *target)
{
	struct wp_io_place *place = wp_xcalloc(1, sizeof(*place));
	int jobs = (int)study->options.jobs;

	place->target = target;
	place->is_kept = study->run->is_kept;
	wp_io_files_init(&place->files, study->run->os, target->dir, jobs,
		wp_io_needs_files(&study->options)
			? wp_int_list_most(study->options.files.bytes, study->options.files.count) /
				  jobs
			: 0);
	return place;
}

void wp_io_plan(struct wp_io_study *study, struct wp_target *target, struct wp_measures *measures)
{
	struct planning planning = { .study = study, .target = target, .measures = measures };

	if (target->is_open) {
		planning.place = new_place(study, target);
		planning.place->users = 1; /* ours, until all measures hold theirs */
	}
	for (size_t i = 0; i < WP_IO_TEST_COUNT; i++) {
		if (!(study->options.tests & (UINT32_C(1) << i)))
			continue;
		if (wp_io_tests[i].is_tree)
			plan_small(&planning, &wp_io_tests[i]);
		else
			plan_records(&planning, &wp_io_tests[i]);
	}
	drop_place(planning.place);
}

void wp_io_plan_twin(
	struct wp_io_study *study, const struct wp_measure *original, struct wp_measures *measures)
{
	const struct wp_io_self *model = original->self;
	struct planning planning = { .study = study,
		.target = original->target,
		.measures = measures,
		.place = model->place };

	if (original->absent)
		return;
	if (model->test->is_tree)
		plan_small(&planning, model->test);
	else
		plan_big(&planning, model->test, original->record_bytes, model->file_bytes);
	measures->items[measures->count - 1]->is_twin = true;
}

/* ---- the files -------------------------------------------------------------------------------- */

static struct wp_io_place *place_of(
	const struct wp_measures *measures, const struct wp_target *target)
{
	for (size_t i = 0; i < measures->count; i++) {
		const struct wp_measure *measure = measures->items[i];
		const struct wp_io_self *self = measure->self;

		if (wp_io_is_measure(measure) && measure->target == target && self->place)
			return self->place;
	}
	return NULL;
}

int wp_io_make_probe(struct wp_io_study *study, const struct wp_target *target,
	int64_t *expected_ns, struct wp_err *err)
{
	struct wp_io_place *place = new_place(study, target);
	int64_t total = place->files.file_bytes * place->files.count;
	int64_t begun_ns = wp_os_now_ns(study->run->os);
	int rc = wp_io_files_make(&place->files, study->run->seed, PROBE_BYTES, NULL, NULL, err);
	int64_t passed_ns = wp_os_now_ns(study->run->os) - begun_ns;

	*expected_ns = total <= PROBE_BYTES
			       ? passed_ns
			       : (int64_t)((double)passed_ns * (double)total / (double)PROBE_BYTES);
	place->users = 1;
	place->is_kept = true; /* nothing is left of the probe */
	drop_place(place);
	return rc;
}

/* ctx of tell_made */
struct making {
	struct wp_run *run;
	const struct wp_target *target;
	int64_t total_bytes;
	int64_t begun_ns;
};

static void tell_made(void *ctx, int64_t done_bytes)
{
	const struct making *making = ctx;
	struct wp_run *run = making->run;
	int64_t passed_ns = wp_os_now_ns(run->os) - making->begun_ns;
	char label[160];

	if (!run->progress || done_bytes <= 0)
		return;
	(void)snprintf(label, sizeof(label), "%s, writing the files", making->target->label);
	run->progress(run->ctx, label, passed_ns,
		(int64_t)((double)passed_ns * (double)making->total_bytes / (double)done_bytes));
}

void wp_io_set_absent(
	struct wp_measures *measures, const struct wp_target *target, const struct wp_err *failure)
{
	for (size_t i = 0; i < measures->count; i++)
		if (measures->items[i]->target == target && wp_io_is_measure(measures->items[i]))
			wp_measure_set_absent(measures->items[i], "%s", failure->message);
}

int wp_io_make(struct wp_io_study *study, const struct wp_target *target,
	struct wp_measures *measures, struct wp_err *err)
{
	struct wp_io_place *place = place_of(measures, target);
	struct making making = {
		.run = study->run, .target = target, .begun_ns = wp_os_now_ns(study->run->os)
	};
	struct wp_err own = { 0 };
	int rc;

	if (!place || place->files.file_bytes == 0)
		return 0;
	making.total_bytes = place->files.file_bytes * place->files.count;
	rc = wp_io_files_make(&place->files, study->run->seed, 0, tell_made, &making, &own);
	if (!rc)
		return 0;
	wp_io_set_absent(measures, target, &own);
	if (err)
		*err = own;
	return rc;
}

/* ---- rows ------------------------------------------------------------------------------------- */

static const char *cache_name(const struct wp_io_self *self)
{
	if (self->options->is_direct)
		return "direct";
	if (self->test->is_fill)
		return "filled";
	if (self->options->is_cached)
		return "kept";
	return self->options->beats_cache ? "size" : "dropped";
}

/* Rewriting reads and writes each byte: a record counts once, as in bonnie++. */
static double bytes_per_op(const struct wp_measure *measure, const struct wp_io_self *self)
{
	const struct wp_block_io *io = &measure->io;

	if (!self->test->is_tree)
		return (double)measure->record_bytes;
	return (double)(io->read_bytes + io->written_bytes) / (double)measure->operations;
}

static void fill_device(const struct wp_block_io *io, struct wp_row *row)
{
	static const char *const keys[] = { "device_read_bytes", "device_written_bytes",
		"device_flushes", "fetched_bytes" };
	const int64_t values[] = { io->device_read_bytes, io->device_written_bytes,
		io->device_flushes, io->fetched_bytes };

	for (size_t i = 0; i < WP_COUNT(keys); i++) {
		if (io->device_unknown)
			wp_row_absent(row, keys[i], io->device_unknown);
		else
			wp_row_int(row, keys[i], values[i]);
	}
}

static void fill_measured(const struct wp_measure *measure, struct wp_row *row)
{
	const struct wp_io_self *self = measure->self;
	double rate = wp_row_get_number(row, "ops_per_s");
	double each = bytes_per_op(measure, self);

	if (each > 0)
		wp_row_real(row, "bytes_per_s", rate * each);
	wp_row_text(row, "cached",
		wp_io_cached(self->test, measure->target->stack.fstype, &measure->io,
			measure->operations));
	wp_row_int(row, "read_bytes", measure->io.read_bytes);
	wp_row_int(row, "written_bytes", measure->io.written_bytes);
	if (measure->elapsed_ns > 0)
		wp_row_real(row, "cpu_percent",
			100.0 * (double)measure->io.cpu_ns / (double)measure->elapsed_ns);
	fill_device(&measure->io, row);
}

static void fill_absent(struct wp_row *row, const char *reason)
{
	static const char *const keys[] = { "bytes_per_s", "cpu_percent", "cached", "read_bytes",
		"written_bytes", "fetched_bytes", "device_read_bytes", "device_written_bytes",
		"device_flushes" };

	for (size_t i = 0; i < WP_COUNT(keys); i++)
		wp_row_absent(row, keys[i], reason);
}

void wp_io_fill(struct wp_run *run, const struct wp_measures *measures)
{
	struct wp_table *table = wp_result_table(run->result, "io",
		"Reads and writes of big and small files", wp_io_columns, wp_io_column_count);

	for (size_t i = 0; i < measures->count; i++) {
		const struct wp_measure *measure = measures->items[i];
		const struct wp_io_self *self = measure->self;
		struct wp_row *row;

		if (measure->is_twin || !wp_io_is_measure(measure))
			continue;
		row = wp_table_add_row(table);
		wp_measure_fill_row(measure, row);
		if (self->file_bytes)
			wp_row_int(row, "file_bytes", self->file_bytes);
		wp_row_int(row, "jobs", self->jobs);
		if (!self->test->is_tree)
			wp_row_text(row, "cache", cache_name(self));
		if (measure->absent)
			fill_absent(row, measure->absent);
		else if (measure->operations > 0)
			fill_measured(measure, row);
		else
			fill_absent(row, "no round was measured");
	}
}
