/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/flush_probe.h"
#include "walprobe/hist.h"
#include "walprobe/mem.h"
#include "walprobe/random.h"
#include "walprobe/stop.h"

#define OPERATIONS_LEAST 10
#define BACKGROUND_SHARE 0.2 /* of the operations: more makes a series inconclusive */
#define ZERO_PER_OP 0.1

struct probe {
	const struct wp_os *os;
	const struct wp_stack_roots *roots;
	const struct wp_stack *stack;
	const struct wp_flush_options *options;
	struct wp_flush_report *report;
	char *overwrite_path;
	char *append_path;
	char *block; /* WP_FLUSH_WRITE_BYTES, aligned for O_DIRECT */
	struct wp_hist hist;
};

/* counters at one moment: the sum, and the flushes of each device */
struct snapshot {
	struct wp_flush_counts sum;
	int64_t *device_flushes;
	int64_t at_ns;
};

static const struct {
	enum wp_flush_workload workload;
	enum wp_method method;
} series[WP_FLUSH_SAMPLE_COUNT] = {
	{ WP_FLUSH_OVERWRITE, WP_METHOD_FDATASYNC },
	{ WP_FLUSH_OVERWRITE, WP_METHOD_FSYNC },
	{ WP_FLUSH_OVERWRITE, WP_METHOD_OPEN_DATASYNC },
	{ WP_FLUSH_APPEND, WP_METHOD_FDATASYNC },
	{ WP_FLUSH_APPEND, WP_METHOD_FSYNC },
	{ WP_FLUSH_APPEND, WP_METHOD_OPEN_DATASYNC },
	{ WP_FLUSH_OVERWRITE_DIRECT, WP_METHOD_OPEN_DATASYNC },
};

const char *wp_flush_workload_name(enum wp_flush_workload workload)
{
	static const char *const names[] = { "overwrite", "append", "overwrite-direct" };

	return names[workload];
}

static void take_snapshot(const struct probe *probe, struct snapshot *out)
{
	const struct wp_flush_report *report = probe->report;

	for (size_t i = 0; i < report->device_count; i++) {
		struct wp_flush_counts one;

		wp_flush_read_layer(
			probe->os, probe->roots, &probe->stack->layers[report->devices[i]], &one);
		out->device_flushes[i] = one.is_known ? one.flushes : 0;
	}
	wp_flush_read(probe->os, probe->roots, probe->stack, &out->sum);
	out->at_ns = wp_os_now_ns(probe->os);
}

static int64_t *device_array(const struct probe *probe)
{
	return wp_xcalloc(probe->report->device_count + 1, sizeof(int64_t));
}

/* What happened between two moments; unknown when either is. */
static void subtract(
	const struct snapshot *before, const struct snapshot *after, struct wp_flush_counts *out)
{
	*out = before->sum.is_known ? after->sum : before->sum;
	if (!out->is_known)
		return;
	out->flushes -= before->sum.flushes;
	out->writes -= before->sum.writes;
	out->written_bytes -= before->sum.written_bytes;
	out->reads -= before->sum.reads;
	out->read_bytes -= before->sum.read_bytes;
}

/* what others did during the pauses */
struct background {
	int64_t elapsed_ns;
	int64_t flushes;
	int64_t writes;
};

static int pause_control(struct probe *probe, struct background *background, struct wp_err *err)
{
	struct snapshot before = { .device_flushes = device_array(probe) };
	struct snapshot after = { .device_flushes = device_array(probe) };
	struct wp_flush_counts counts;
	int rc;

	take_snapshot(probe, &before);
	rc = wp_os_sleep_ns(probe->os, probe->options->control_ns);
	take_snapshot(probe, &after);
	subtract(&before, &after, &counts);
	if (counts.is_known) {
		background->elapsed_ns += after.at_ns - before.at_ns;
		background->flushes += counts.flushes;
		background->writes += counts.writes;
	}
	free(before.device_flushes);
	free(after.device_flushes);
	/* A pause cut short by a signal that is not ours is still a pause. */
	return rc == -EINTR || rc == 0 ? wp_stop_fail(err)
				       : wp_fail(err, WP_E_SYS, -rc, "could not sleep");
}

static const char *sample_path(const struct probe *probe, const struct wp_flush_sample *sample)
{
	return sample->workload == WP_FLUSH_APPEND ? probe->append_path : probe->overwrite_path;
}

static int fail_on(
	const struct wp_flush_sample *sample, const char *path, int rc, struct wp_err *err)
{
	return wp_fail(err, WP_E_SYS, -rc, "could not write and sync \"%s\" with %s", path,
		wp_method_name(sample->method));
}

/* The series itself: nothing but writes, syncs and the clock. */
static int run_operations(
	struct probe *probe, int fd, struct wp_flush_sample *sample, int64_t *operations)
{
	const struct wp_os *os = probe->os;
	int64_t start = wp_os_now_ns(os);
	int64_t before = start;

	for (*operations = 0; *operations < probe->options->operations;) {
		int64_t offset = *operations * WP_FLUSH_WRITE_BYTES;
		int64_t after;
		int rc = wp_os_write_all(os, fd, probe->block, WP_FLUSH_WRITE_BYTES, offset);

		if (!rc)
			rc = wp_method_sync(os, sample->method, fd);
		if (rc < 0)
			return rc;
		after = wp_os_now_ns(os);
		wp_hist_record(&probe->hist, after - before);
		before = after;
		++*operations;
		if (wp_stop_requested())
			break;
		if (after - start > probe->options->limit_ns && *operations >= OPERATIONS_LEAST)
			break;
	}
	return 0;
}

static int measure_open(
	struct probe *probe, int fd, struct wp_flush_sample *sample, struct wp_err *err)
{
	struct snapshot before = { .device_flushes = device_array(probe) };
	struct snapshot after = { .device_flushes = device_array(probe) };
	/* What is still dirty would be counted as ours. */
	int rc = wp_os_fsync(probe->os, fd);

	wp_hist_clear(&probe->hist);
	if (!rc) {
		take_snapshot(probe, &before);
		rc = run_operations(probe, fd, sample, &sample->operations);
		take_snapshot(probe, &after);
		subtract(&before, &after, &sample->counts);
		sample->elapsed_ns = after.at_ns - before.at_ns;
		sample->p50_ns = wp_hist_quantile_ns(&probe->hist, 0.5);
	}
	sample->device_flushes = device_array(probe);
	for (size_t i = 0; i < probe->report->device_count; i++)
		sample->device_flushes[i] = after.device_flushes[i] - before.device_flushes[i];
	free(before.device_flushes);
	free(after.device_flushes);
	return rc < 0 ? fail_on(sample, sample_path(probe, sample), rc, err) : wp_stop_fail(err);
}

static int run_sample(struct probe *probe, struct wp_flush_sample *sample, struct wp_err *err)
{
	const char *path = sample_path(probe, sample);
	bool is_direct = sample->workload == WP_FLUSH_OVERWRITE_DIRECT;
	int flags = O_RDWR | wp_method_open_flags(sample->method);
	int fd;
	int close_rc;
	int rc;

	/* A file of its own each time: fusefat does not let a truncated file be written again. */
	if (sample->workload == WP_FLUSH_APPEND) {
		rc = wp_os_unlink(probe->os, path);
		if (rc < 0 && rc != -ENOENT)
			return wp_fail(err, WP_E_SYS, -rc, "could not remove \"%s\"", path);
		flags |= O_CREAT | O_EXCL;
	}
	if (is_direct)
		flags |= O_DIRECT;
	fd = wp_os_open(probe->os, path, flags, 0600);
	if (fd == -EINVAL && is_direct) {
		sample->absent = wp_xstrdup("O_DIRECT refused: EINVAL");
		return 0;
	}
	if (fd < 0)
		return wp_fail(err, WP_E_SYS, -fd, "could not open \"%s\"", path);
	rc = measure_open(probe, fd, sample, err);
	close_rc = wp_os_close(probe->os, fd);
	if (!rc && close_rc < 0)
		rc = wp_fail(err, WP_E_SYS, -close_rc, "could not close \"%s\"", path);
	return rc;
}

static int prepare_overwrite(struct probe *probe, struct wp_err *err)
{
	const char *path = probe->overwrite_path;
	int fd = wp_os_open(probe->os, path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	int close_rc;
	int rc = 0;

	if (fd < 0)
		return wp_fail(err, WP_E_SYS, -fd, "could not create \"%s\"", path);
	for (int64_t i = 0; !rc && i < probe->options->operations; i++)
		rc = wp_os_write_all(probe->os, fd, probe->block, WP_FLUSH_WRITE_BYTES,
			i * WP_FLUSH_WRITE_BYTES);
	if (!rc)
		rc = wp_os_fsync(probe->os, fd);
	close_rc = wp_os_close(probe->os, fd);
	if (!rc)
		rc = close_rc;
	return rc < 0 ? wp_fail(err, WP_E_SYS, -rc, "could not fill and sync \"%s\"", path) : 0;
}

/* Take the background off, and say whether the rest means anything. */
static void conclude(struct wp_flush_report *report, const struct background *background)
{
	double seconds = (double)background->elapsed_ns / (double)WP_NS_PER_S;

	report->has_counters = true;
	if (seconds > 0) {
		report->background_flushes_per_s = (double)background->flushes / seconds;
		report->background_writes_per_s = (double)background->writes / seconds;
	}
	for (size_t i = 0; i < report->sample_count; i++) {
		struct wp_flush_sample *sample = &report->samples[i];
		double length = (double)sample->elapsed_ns / (double)WP_NS_PER_S;
		double operations = (double)sample->operations;
		double flushes = (double)sample->counts.flushes;

		if (sample->absent)
			continue;
		if (!sample->counts.is_known) {
			report->has_counters = false;
			report->unknown_reason = sample->counts.unknown_reason;
			return;
		}
		sample->background_flushes = report->background_flushes_per_s * length;
		sample->flushes_per_op = (flushes - sample->background_flushes) / operations;
		sample->writes_per_op =
			((double)sample->counts.writes - report->background_writes_per_s * length) /
			operations;
		if (sample->flushes_per_op < 0)
			sample->flushes_per_op = 0;
		if (sample->writes_per_op < 0)
			sample->writes_per_op = 0;
		sample->is_conclusive =
			sample->background_flushes < BACKGROUND_SHARE * operations ||
			flushes < ZERO_PER_OP * operations;
	}
}

static int run_all(struct probe *probe, struct wp_err *err)
{
	struct wp_flush_report *report = probe->report;
	struct background background = { 0 };
	int rc = prepare_overwrite(probe, err);

	if (!rc)
		rc = pause_control(probe, &background, err);
	for (size_t i = 0; !rc && i < WP_COUNT(series); i++) {
		struct wp_flush_sample *sample = &report->samples[report->sample_count++];

		sample->workload = series[i].workload;
		sample->method = series[i].method;
		rc = run_sample(probe, sample, err);
	}
	if (!rc)
		rc = pause_control(probe, &background, err);
	if (!rc)
		conclude(report, &background);
	return rc;
}

static void remove_files(const struct probe *probe)
{
	/* Names that were never made, or that the caller's registry removes with the directory. */
	(void)wp_os_unlink(probe->os, probe->overwrite_path);
	(void)wp_os_unlink(probe->os, probe->append_path);
}

int wp_flush_probe(const struct wp_os *os, const struct wp_stack_roots *roots,
	const struct wp_stack *stack, const char *dir, const struct wp_flush_options *options,
	struct wp_flush_report *report, struct wp_err *err)
{
	struct wp_flush_report filled = { 0 };
	struct probe probe = { .os = os, .roots = roots, .stack = stack, .options = options };
	struct wp_random random;
	const char *reason;
	int rc;

	assert(options->operations > 0);
	probe.report = &filled;
	probe.overwrite_path = wp_xasprintf("%s/overwrite", dir);
	probe.append_path = wp_xasprintf("%s/append", dir);
	probe.block = wp_xaligned(4096, WP_FLUSH_WRITE_BYTES);
	wp_random_init(&random, 1);
	wp_random_fill(&random, probe.block, WP_FLUSH_WRITE_BYTES);
	wp_hist_init(&probe.hist);
	filled.devices = wp_xcalloc(stack->layer_count + 1, sizeof(*filled.devices));
	filled.device_count = wp_stack_counted(stack, filled.devices, &reason);

	rc = run_all(&probe, err);

	remove_files(&probe);
	wp_hist_release(&probe.hist);
	free(probe.block);
	free(probe.append_path);
	free(probe.overwrite_path);
	if (rc)
		wp_flush_report_release(&filled);
	else
		*report = filled;
	return rc;
}

void wp_flush_report_release(struct wp_flush_report *report)
{
	for (size_t i = 0; i < report->sample_count; i++) {
		free(report->samples[i].absent);
		free(report->samples[i].device_flushes);
	}
	free(report->devices);
	memset(report, 0, sizeof(*report));
}

const struct wp_flush_sample *wp_flush_report_find(const struct wp_flush_report *report,
	enum wp_flush_workload workload, enum wp_method method)
{
	for (size_t i = 0; i < report->sample_count; i++) {
		const struct wp_flush_sample *sample = &report->samples[i];

		if (sample->workload == workload && sample->method == method && !sample->absent)
			return sample;
	}
	return NULL;
}
