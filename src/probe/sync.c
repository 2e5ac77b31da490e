/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/probe_sync.h"

#include "probe/sync_columns.h"
#include "walprobe/mem.h"
#include "walprobe/sync_loop.h"
#include "walprobe/units.h"

#define PAGE_BYTES 8192
#define SLACK_BYTES (INT64_C(1) << 20)
#define ALL_METHODS ((1u << WP_METHOD_COUNT) - 1)
#define SYNC_CALLS (1u << WP_METHOD_FDATASYNC | 1u << WP_METHOD_FSYNC)
#define OPEN_SYNC (1u << WP_METHOD_OPEN_SYNC)
#define NO_METHOD 0u

struct variant {
	const char *name;
	unsigned methods; /* bits; NO_METHOD: measured once, without one */
	int writes;
	int64_t bytes;
	enum wp_sync_how how;
	enum wp_sync_fill fill;
	bool is_fresh;
	bool is_direct;
};

/* name, methods, writes in one operation, bytes of each; what differs from overwrite */
#define VARIANT(name_, methods_, writes_, bytes_, ...)                                             \
	{                                                                                          \
		.name = name_, .methods = methods_, .writes = writes_, .bytes = bytes_,            \
		__VA_ARGS__                                                                        \
	}
static const struct variant variants[WP_SYNC_VARIANT_COUNT] = {
	[WP_SYNC_OVERWRITE] = VARIANT("overwrite", ALL_METHODS, 1, PAGE_BYTES),
	[WP_SYNC_TWO_WRITES] = VARIANT("two-writes", ALL_METHODS, 2, PAGE_BYTES),
	[WP_SYNC_NEW_PAGE] = VARIANT("new-page", ALL_METHODS, 1, PAGE_BYTES, .is_fresh = true),
	[WP_SYNC_FALLOCATED] = VARIANT("fallocated", ALL_METHODS, 1, PAGE_BYTES, .is_fresh = true,
		.fill = WP_SYNC_FILL_ALLOCATE),
	[WP_SYNC_SPARSE] = VARIANT("sparse", ALL_METHODS, 1, PAGE_BYTES, .is_fresh = true,
		.fill = WP_SYNC_FILL_SPARSE),
	[WP_SYNC_DIRECT] = VARIANT("direct", ALL_METHODS, 1, PAGE_BYTES, .is_direct = true),
	[WP_SYNC_OTHER_FD] =
		VARIANT("other-fd", SYNC_CALLS, 1, PAGE_BYTES, .how = WP_SYNC_BY_OTHER_FD),
	[WP_SYNC_RWF_DSYNC] =
		VARIANT("rwf-dsync", NO_METHOD, 1, PAGE_BYTES, .how = WP_SYNC_BY_RWF_DSYNC),
	[WP_SYNC_1X16KB] = VARIANT("1x16kB", OPEN_SYNC, 1, 16384),
	[WP_SYNC_2X8KB] = VARIANT("2x8kB", OPEN_SYNC, 2, 8192),
	[WP_SYNC_4X4KB] = VARIANT("4x4kB", OPEN_SYNC, 4, 4096),
	[WP_SYNC_8X2KB] = VARIANT("8x2kB", OPEN_SYNC, 8, 2048),
	[WP_SYNC_16X1KB] = VARIANT("16x1kB", OPEN_SYNC, 16, 1024),
	[WP_SYNC_UNSYNCED] =
		VARIANT("unsynced", NO_METHOD, 1, PAGE_BYTES, .how = WP_SYNC_BY_NOTHING),
};
#undef VARIANT

/* The files of one target, one for each state; the last measure that uses them removes them. */
enum file_kind {
	FILE_WRITTEN,
	FILE_NEW,
	FILE_FALLOCATED,
	FILE_SPARSE,
	FILE_KIND_COUNT,
};

struct sync_files {
	struct wp_sync_file files[FILE_KIND_COUNT];
	int users;
	bool is_kept;
};

/* self of a measure */
struct sync_self {
	const struct variant *variant;
	enum wp_method method;
	struct sync_files *files; /* NULL: absent from the start */
	struct wp_sync_loop loop;
};

const char *wp_sync_variant_name(enum wp_sync_variant variant)
{
	return variants[variant].name;
}

static int find_variant(const char *name, unsigned *bit, struct wp_err *err)
{
	for (unsigned i = 0; i < WP_SYNC_VARIANT_COUNT; i++)
		if (strcmp(variants[i].name, name) == 0) {
			*bit = 1u << i;
			return 0;
		}
	(void)wp_fail(err, WP_E_USAGE, 0, "unknown variant \"%s\"", name);
	wp_err_hint(err, "Known are overwrite, two-writes, new-page, fallocated, sparse, direct, "
			 "other-fd, rwf-dsync, 1x16kB, 2x8kB, 4x4kB, 8x2kB, 16x1kB, unsynced and "
			 "all.");
	return -WP_E_USAGE;
}

int wp_sync_parse_variants(const char *text, unsigned *out, struct wp_err *err)
{
	char *copy = wp_xstrdup(text);
	char *rest = copy;
	unsigned bits = 0;
	unsigned bit;
	char *item;
	int rc = 0;

	if (strcmp(text, "all") == 0) {
		bits = WP_SYNC_ALL_VARIANTS;
		rest = NULL;
	}
	while (!rc && (item = strsep(&rest, ",")) != NULL) {
		rc = find_variant(item, &bit, err);
		if (!rc && (bits & bit))
			rc = wp_fail(err, WP_E_USAGE, 0, "variant \"%s\" appears twice", item);
		if (!rc)
			bits |= bit;
	}
	free(copy);
	if (!rc)
		*out = bits;
	return rc;
}

enum wp_sync_direct wp_sync_parse_direct(const char *text)
{
	if (strcmp(text, "on") == 0)
		return WP_SYNC_DIRECT_ON;
	return strcmp(text, "off") == 0 ? WP_SYNC_DIRECT_OFF : WP_SYNC_DIRECT_AUTO;
}

static bool is_wanted(const struct wp_sync_options *options, unsigned variant)
{
	if (!(options->variants & (1u << variant)))
		return false;
	if (variant != WP_SYNC_DIRECT)
		return true;
	switch (options->direct) {
	case WP_SYNC_DIRECT_OFF:
		return false;
	case WP_SYNC_DIRECT_ON:
		return !(options->variants & (1u << WP_SYNC_OVERWRITE));
	default:
		return true;
	}
}

static enum file_kind kind_of(const struct variant *variant)
{
	if (!variant->is_fresh)
		return FILE_WRITTEN;
	switch (variant->fill) {
	case WP_SYNC_FILL_ALLOCATE:
		return FILE_FALLOCATED;
	case WP_SYNC_FILL_SPARSE:
		return FILE_SPARSE;
	default:
		return FILE_NEW;
	}
}

/* Calls visit for each wanted pair in the order of the rows; method -1 where there is none. */
static void for_each_pair(const struct wp_sync_options *options,
	void (*visit)(void *ctx, int method, const struct variant *variant), void *ctx)
{
	for (size_t m = 0; m < options->methods.count; m++)
		for (unsigned v = 0; v < WP_SYNC_VARIANT_COUNT; v++)
			if (is_wanted(options, v) &&
				(variants[v].methods & (1u << options->methods.items[m])))
				visit(ctx, (int)options->methods.items[m], &variants[v]);
	for (unsigned v = 0; v < WP_SYNC_VARIANT_COUNT; v++)
		if (is_wanted(options, v) && variants[v].methods == NO_METHOD)
			visit(ctx, -1, &variants[v]);
}

struct tally {
	size_t count;
	bool is_used[FILE_KIND_COUNT];
};

static void tally_pair(void *ctx, int method, const struct variant *variant)
{
	struct tally *tally = ctx;

	(void)method;
	tally->count++;
	tally->is_used[kind_of(variant)] = true;
}

size_t wp_sync_count(const struct wp_sync_options *options)
{
	struct tally tally = { 0 };

	for_each_pair(options, tally_pair, &tally);
	return tally.count;
}

int64_t wp_sync_needed_bytes(const struct wp_sync_options *options)
{
	struct tally tally = { 0 };
	int64_t files = 0;

	for_each_pair(options, tally_pair, &tally);
	for (size_t i = 0; i < FILE_KIND_COUNT; i++)
		files += tally.is_used[i];
	/* A file that is used up is made anew before the blocks of the old one are surely free. */
	if (tally.is_used[FILE_NEW] || tally.is_used[FILE_FALLOCATED] || tally.is_used[FILE_SPARSE])
		files++;
	return files * options->file_bytes + SLACK_BYTES;
}

static struct sync_files *new_files(
	const struct wp_run *run, const char *dir, const char *prefix, int64_t file_bytes)
{
	static const struct {
		const char *name;
		enum wp_sync_fill fill;
	} kinds[FILE_KIND_COUNT] = {
		[FILE_WRITTEN] = { "written", WP_SYNC_FILL_ZERO },
		[FILE_NEW] = { "new-page", WP_SYNC_FILL_ZERO },
		[FILE_FALLOCATED] = { "fallocated", WP_SYNC_FILL_ALLOCATE },
		[FILE_SPARSE] = { "sparse", WP_SYNC_FILL_SPARSE },
	};
	struct sync_files *files = wp_xcalloc(1, sizeof(*files));

	files->is_kept = run->is_kept;
	for (size_t i = 0; i < FILE_KIND_COUNT; i++) {
		char *name = wp_xasprintf("%s-%s", prefix, kinds[i].name);

		wp_sync_file_init(&files->files[i], run->os, dir, name, kinds[i].fill, file_bytes);
		free(name);
	}
	return files;
}

static void drop_files(struct sync_files *files)
{
	if (!files || --files->users > 0)
		return;
	for (size_t i = 0; i < FILE_KIND_COUNT; i++) {
		/* What stays goes with the target's directory, and is told there. */
		if (!files->is_kept)
			(void)wp_sync_file_remove(&files->files[i], NULL);
		wp_sync_file_release(&files->files[i]);
	}
	free(files);
}

static int run_measure(struct wp_measure *measure, int64_t least_ns, struct wp_hist *hist,
	struct wp_block *block, struct wp_err *err)
{
	struct sync_self *self = measure->self;
	struct wp_sync_counts done;
	int rc = wp_sync_loop_run(&self->loop, least_ns, hist, &done, err);

	block->operations = done.operations;
	block->syncs = done.syncs;
	block->elapsed_ns = done.elapsed_ns;
	if (done.operations > 0 && done.elapsed_ns > 0)
		block->value =
			(double)done.operations * (double)WP_NS_PER_S / (double)done.elapsed_ns;
	return rc;
}

static void release_measure(struct wp_measure *measure)
{
	struct sync_self *self = measure->self;

	wp_sync_loop_release(&self->loop);
	drop_files(self->files);
	free(self);
	measure->self = NULL;
}

static struct sync_self *add_measure(struct wp_measures *measures, const struct wp_run *run,
	struct wp_target *target, int method, const struct variant *variant)
{
	struct wp_measure *measure = wp_measures_add(measures);
	struct sync_self *self = wp_xcalloc(1, sizeof(*self));

	self->variant = variant;
	self->method = method < 0 ? WP_METHOD_FDATASYNC : (enum wp_method)method;
	measure->table = "sync";
	measure->metric = "ops_per_s";
	measure->method = method < 0 ? NULL : wp_method_name(self->method);
	measure->variant = variant->name;
	measure->target = target;
	measure->run = run_measure;
	measure->release = release_measure;
	measure->self = self;
	measure->os = run->os;
	return self;
}

/* ctx of plan_pair */
struct planning {
	struct wp_run *run;
	struct wp_target *target;
	const struct wp_sync_options *options;
	struct wp_measures *measures;
	struct sync_files *files;
};

static void plan_pair(void *ctx, int method, const struct variant *variant)
{
	struct planning *planning = ctx;
	struct sync_self *self =
		add_measure(planning->measures, planning->run, planning->target, method, variant);
	struct wp_measure *measure = planning->measures->items[planning->measures->count - 1];
	const struct wp_sync_options *options = planning->options;
	struct wp_sync_plan plan = { .method = self->method,
		.how = variant->how,
		.is_direct = variant->is_direct || options->direct == WP_SYNC_DIRECT_ON,
		.writes_per_op = variant->writes,
		.write_bytes = variant->bytes };
	const char *reason;

	if (variant->is_fresh)
		plan.offsets = WP_SYNC_FRESH;
	else
		plan.offsets = options->is_rolling ? WP_SYNC_ROLL : WP_SYNC_FIXED;
	if (!planning->files)
		wp_measure_set_absent(measure, "%s",
			planning->target->absent ? planning->target->absent : "not available");
	else if (!wp_method_is_supported(self->method, &reason))
		wp_measure_set_absent(measure, "%s", reason);
	if (measure->absent)
		return;
	self->files = planning->files;
	self->files->users++;
	wp_sync_loop_init(&self->loop, &self->files->files[kind_of(variant)], &plan,
		planning->run->seed + planning->measures->count);
}

/* Direct writes below the logical block are refused with a bare EINVAL; this says why. */
static void set_refused(struct wp_measure *measure, const struct wp_err *err)
{
	const struct sync_self *self = measure->self;
	const struct wp_stack *stack = &measure->target->stack;
	int64_t block = stack->layer_count ? stack->layers[0].logical_block_bytes : 0;
	int64_t bytes = self->variant->bytes;

	if (self->loop.plan.is_direct && bytes < block)
		wp_measure_set_absent(measure,
			"%" PRId64 " kB is below the device's logical block of %" PRId64 " kB",
			bytes / 1024, block / 1024);
	else
		wp_measure_set_absent(measure, "%s", err->message);
}

static int try_measures(struct wp_measures *measures, size_t first, struct wp_err *err)
{
	for (size_t i = first; i < measures->count; i++) {
		struct wp_measure *measure = measures->items[i];
		struct sync_self *self = measure->self;
		struct wp_err own = { 0 };
		int rc;

		if (measure->absent)
			continue;
		rc = wp_sync_loop_try(&self->loop, &own);
		if (rc == -WP_E_UNSUPPORTED) {
			set_refused(measure, &own);
		} else if (rc) {
			if (err)
				*err = own;
			return rc;
		}
	}
	return 0;
}

int wp_sync_plan(struct wp_run *run, struct wp_target *target,
	const struct wp_sync_options *options, struct wp_measures *measures, struct wp_err *err)
{
	struct planning planning = { run, target, options, measures, NULL };
	size_t first = measures->count;
	struct wp_err own = { 0 };
	int rc;

	if (target->is_open) {
		planning.files = new_files(run, target->dir, "sync", options->file_bytes);
		planning.files->users = 1; /* ours, until all measures hold theirs */
	}
	for_each_pair(options, plan_pair, &planning);
	drop_files(planning.files);
	rc = try_measures(measures, first, &own);
	if (!rc)
		return 0;
	for (size_t i = first; i < measures->count; i++)
		wp_measure_set_absent(measures->items[i], "%s", own.message);
	if (err)
		*err = own;
	return rc;
}

struct wp_measure *wp_sync_plan_twin(struct wp_run *run, const struct wp_measure *original,
	struct wp_measures *measures, struct wp_err *err)
{
	const struct sync_self *model = original->self;
	struct sync_self *self;
	struct wp_measure *twin;
	char *prefix;

	if (original->absent) {
		(void)wp_fail(err, WP_E_UNSUPPORTED, 0, "%s", original->absent);
		return NULL;
	}
	self = add_measure(measures, run, original->target, -1, model->variant);
	twin = measures->items[measures->count - 1];
	twin->is_twin = true;
	twin->method = original->method;
	self->method = model->method;
	prefix = wp_xasprintf("sync-twin-%zu", measures->count);
	self->files = new_files(run, original->target->dir, prefix, model->loop.file->size_bytes);
	self->files->users = 1;
	free(prefix);
	wp_sync_loop_init(&self->loop, &self->files->files[kind_of(self->variant)],
		&model->loop.plan, run->seed + measures->count);
	if (wp_sync_loop_try(&self->loop, err)) {
		wp_measure_set_absent(twin, "the hidden twin could not be prepared");
		return NULL;
	}
	return twin;
}

/*
 * The flushes beside a block include those that made a used-up file anew. They are counted with
 * their syncs, so flushes per sync times syncs per operation leaves both out.
 */
static void fill_flushes(const struct wp_measure *measure, struct wp_row *row)
{
	const struct sync_self *self = measure->self;
	int syncs_per_op;

	if (measure->flushes_unknown) {
		wp_row_absent(row, "flushes_per_op", measure->flushes_unknown);
		return;
	}
	syncs_per_op = wp_sync_loop_syncs_per_op(&self->loop.plan);
	if (syncs_per_op > 0 && measure->syncs > 0)
		wp_row_real(row, "flushes_per_op",
			(double)measure->flushes * syncs_per_op / (double)measure->syncs);
	else if (measure->operations > 0)
		wp_row_real(row, "flushes_per_op",
			(double)measure->flushes / (double)measure->operations);
	else
		wp_row_absent(row, "flushes_per_op", "no round was measured");
}

void wp_sync_fill(struct wp_run *run, const struct wp_measures *measures)
{
	struct wp_table *table = wp_result_table(run->result, "sync",
		"Synchronous writes, by wal_sync_method", wp_sync_columns, wp_sync_column_count);

	for (size_t i = 0; i < measures->count; i++) {
		const struct wp_measure *measure = measures->items[i];
		const struct sync_self *self = measure->self;
		struct wp_row *row;

		if (measure->is_twin || strcmp(measure->table, "sync") != 0)
			continue;
		row = wp_table_add_row(table);
		wp_measure_fill_row(measure, row);
		wp_row_int(row, "write_bytes", self->variant->bytes);
		wp_row_int(row, "writes_per_op", self->variant->writes);
		if (measure->absent)
			continue;
		if (measure->operations > 0)
			wp_row_int(row, "ops", measure->operations);
		else
			wp_row_absent(row, "ops", "no round was measured");
		fill_flushes(measure, row);
	}
}
