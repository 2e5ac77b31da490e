/* SPDX-License-Identifier: PostgreSQL */
#include "import/fio_rows.h"
#include "walprobe/mem.h"

#include <math.h>
#include <strings.h>

#define MEMORY_PER_S 15e9 /* bytes/s, more than any one device reads or writes */
#define NOT_TOLD "fio's output does not tell"

static const struct {
	double percent;
	const char *key;
	double samples;
	const char *few;
} percentiles[] = {
	[FIO_P50] = { 50, "p50_ns", 1, "no samples" },
	[FIO_P90] = { 90, "p90_ns", 10, "fewer than 10 samples" },
	[FIO_P95] = { 95, "p95_ns", 20, "fewer than 20 samples" },
	[FIO_P99] = { 99, "p99_ns", 100, "fewer than 100 samples" },
	[FIO_P999] = { 99.9, "p999_ns", 1000, "fewer than 1,000 samples" },
	[FIO_P9999] = { 99.99, "p9999_ns", 10000, "fewer than 10,000 samples" },
};

void fio_latency_init(struct fio_latency *latency)
{
	latency->min_ns = latency->mean_ns = latency->stddev_ns = latency->max_ns = FIO_ABSENT;
	latency->count = FIO_ABSENT;
	for (size_t i = 0; i < FIO_PERCENTILES; i++)
		latency->percentiles_ns[i] = FIO_ABSENT;
}

struct fio_direction *fio_job_direction(struct fio_job *job, const char *name)
{
	struct fio_direction *direction;

	if (job->direction_count == WP_COUNT(job->directions))
		return NULL;
	direction = &job->directions[job->direction_count++];
	memset(direction, 0, sizeof(*direction));
	direction->name = name;
	direction->bytes_per_s = direction->ops_per_s = direction->ops = direction->elapsed_ns =
		direction->total_ns = FIO_ABSENT;
	fio_latency_init(&direction->latency);
	return direction;
}

void fio_job_init(struct fio_job *job)
{
	memset(job, 0, sizeof(*job));
	job->record_bytes = job->file_bytes = job->jobs = job->depth = job->cpu_percent =
		FIO_ABSENT;
	fio_latency_init(&job->sync);
}

void fio_job_release(struct fio_job *job)
{
	free(job->name);
	free(job->version);
	free(job->rw);
	free(job->sync_name);
	memset(job, 0, sizeof(*job));
}

int fio_percentile(double percent)
{
	for (size_t i = 0; i < WP_COUNT(percentiles); i++)
		if (fabs(percent - percentiles[i].percent) < 1e-6)
			return (int)i;
	return -1;
}

double fio_size_bytes(const char *text)
{
	char *end;
	double value = strtod(text, &end);
	static const char units[] = "kmgt";
	const char *unit;

	if (end == text || !(value >= 0) || value > 1e18)
		return FIO_ABSENT;
	while (*end == ' ')
		end++;
	if (*end == '\0' || strcasecmp(end, "b") == 0)
		return value;
	unit = strchr(units, *end | 0x20);
	if (!unit || !(end[1] == '\0' || strcasecmp(end + 1, "b") == 0 ||
			     strcasecmp(end + 1, "ib") == 0))
		return FIO_ABSENT;
	for (const char *step = units; step <= unit; step++)
		value *= 1024;
	return value;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void set_int(struct wp_row *row, const char *key, double value)
{
	if (value >= 0 && value < 9e18)
		wp_row_int(row, key, llround(value));
	else
		wp_row_absent(row, key, NOT_TOLD);
}

static void set_latency(struct wp_row *row, const struct fio_latency *latency)
{
	set_int(row, "min_ns", latency->min_ns);
	set_int(row, "mean_ns", latency->mean_ns);
	set_int(row, "max_ns", latency->max_ns);
	if (latency->stddev_ns >= 0)
		wp_row_int(row, "stddev_ns", llround(latency->stddev_ns));
	else
		wp_row_absent(row, "stddev_ns", NOT_TOLD);
	for (size_t i = 0; i < WP_COUNT(percentiles); i++)
		if (wp_table_column(row->table, percentiles[i].key) < 0)
			continue; /* sync has fewer */
		else if (latency->count >= 0 && latency->count < percentiles[i].samples)
			wp_row_absent(row, percentiles[i].key, percentiles[i].few);
		else
			set_int(row, percentiles[i].key, latency->percentiles_ns[i]);
}

/* walprobe's name of the test; without the job's options it cannot be told. */
static char *test_name(const struct fio_job *job, const struct fio_direction *direction)
{
	bool is_mixed = job->rw &&
			(strncmp(job->rw, "rw", 2) == 0 || strncmp(job->rw, "readwrite", 9) == 0 ||
				strncmp(job->rw, "randrw", 6) == 0);

	if (!job->rw)
		return wp_xasprintf("%s, order unknown", direction->name);
	return wp_xasprintf("%s%s%s", is_mixed ? "mixed-" : "",
		strncmp(job->rw, "rand", 4) == 0 ? "random-" : "", direction->name);
}

static void set_job(struct wp_row *row, const struct fio_job *job)
{
	if (job->name)
		wp_row_text(row, "job", job->name);
	wp_row_text(
		row, "ranked", job->error ? "the job failed: fio reports an error for it" : "yes");
}

static bool is_memory(const struct fio_direction *direction)
{
	return direction->bytes_per_s > MEMORY_PER_S;
}

static void add_io(struct wp_import *in, const struct fio_job *job,
	const struct fio_direction *direction, const char *target)
{
	struct wp_row *row = wp_import_row(wp_import_io_table(in), target);
	char *test = test_name(job, direction);

	set_job(row, job);
	wp_row_text(row, "test", test);
	free(test);
	set_int(row, "record_bytes", job->record_bytes);
	set_int(row, "file_bytes", job->file_bytes);
	set_int(row, "jobs", job->jobs);
	set_int(row, "depth", job->depth);
	set_int(row, "ops", direction->ops);
	set_int(row, "elapsed_ns", direction->elapsed_ns);
	if (direction->bytes_per_s >= 0)
		wp_row_real(row, "bytes_per_s", direction->bytes_per_s);
	if (direction->ops_per_s >= 0)
		wp_row_real(row, "ops_per_s", direction->ops_per_s);
	if (job->cpu_percent >= 0)
		wp_row_real(row, "cpu_percent", job->cpu_percent);
	set_latency(row, &direction->latency);
	if (direction->latency_of)
		wp_row_text(row, "latency_of", direction->latency_of);
	if (job->is_direct)
		wp_row_text(row, "cached", "no");
	else if (is_memory(direction))
		wp_row_text(row, "cached", "yes");
	else
		wp_row_absent(row, "cached", "the rate may be a disk's or the page cache's");
	wp_import_absent_rest(row, NOT_TOLD);
	if (!job->is_direct && is_memory(direction))
		wp_import_check(in, "cached", target, WP_CHECK_INFO,
			"%s at %.1f GB/s without direct=1: that is the page cache, and says "
			"nothing "
			"of the device; run fio with --direct=1",
			direction->name, direction->bytes_per_s / 1e9);
}

/* The writes of a job that did nothing else: each is followed by one sync. */
static const struct fio_direction *only_writes(const struct fio_job *job)
{
	const struct fio_direction *writes = NULL;

	for (size_t i = 0; i < job->direction_count; i++) {
		if (strcmp(job->directions[i].name, "write") == 0)
			writes = &job->directions[i];
		else if (job->directions[i].ops > 0 || job->directions[i].ops_per_s > 0)
			return NULL;
	}
	return writes;
}

/* fio's sync latency is that of the call alone; its joint time with the write cannot be had. */
static void add_sync(struct wp_import *in, const struct fio_job *job, const char *target)
{
	struct wp_row *row = wp_import_row(wp_import_sync_table(in), target);
	const struct fio_direction *writes;

	set_job(row, job);
	if (job->sync_name)
		wp_row_text(row, "method", job->sync_name);
	else
		wp_row_absent(row, "method", "the options are not in the output");
	wp_row_text(row, "variant", "sync-only");
	set_int(row, "write_bytes", job->record_bytes);
	set_int(row, "ops", job->sync.count);
	writes = only_writes(job);
	if (job->sync_name && writes && writes->ops_per_s >= 0) {
		wp_row_real(row, "ops_per_s", writes->ops_per_s);
		wp_row_int(row, "writes_per_op", 1);
	}
	set_latency(row, &job->sync);
	if (job->sync.mean_ns >= 0)
		wp_row_text(row, "mean_from", "printed");
	wp_import_absent_rest(row, NOT_TOLD);
}

static bool is_known(const struct fio_latency *latency)
{
	bool is_any = latency->mean_ns > 0;

	for (size_t i = 0; i < FIO_PERCENTILES; i++)
		is_any = is_any || latency->percentiles_ns[i] > 0;
	return is_any;
}

/* By Little's law as many requests are under way as come in the time that one takes. */
static void judge_depth(struct wp_import *in, const struct fio_job *job,
	const struct fio_direction *direction, const char *target)
{
	double outstanding = direction->ops_per_s * direction->total_ns / 1e9;
	char observed[120];

	if (!(job->depth > 0 && direction->total_ns > 0 && outstanding > 1.5 * job->depth))
		return;
	(void)snprintf(observed, sizeof(observed), "%.1f requests under way, depth %.0f",
		outstanding, job->depth);
	wp_result_add_check(in->result, "fio-jobs", target, WP_CHECK_INFO,
		"no more requests under way than a job's depth", observed,
		"rate and time show that several jobs ran and were added up: how many the output "
		"does not tell, so that no job's own figures can be given");
}

void fio_add_rows(struct wp_import *in, const struct fio_job *job, const char *target)
{
	char observed[160];

	for (size_t i = 0; i < job->direction_count; i++) {
		const struct fio_direction *direction = &job->directions[i];

		/* nothing asked for in this direction */
		if (direction->ops > 0 || (direction->ops < 0 && direction->ops_per_s > 0))
			add_io(in, job, direction, target);
		judge_depth(in, job, direction, target);
	}
	if (job->sync.count > 0 || (job->sync.count < 0 && is_known(&job->sync)))
		add_sync(in, job, target);
	if (!job->error)
		return;
	(void)snprintf(observed, sizeof(observed), "job \"%s\": error %" PRId64,
		job->name ? job->name : "", job->error);
	wp_result_add_check(in->result, "fio-error", target, WP_CHECK_FAIL, "error 0", observed,
		"the job failed: its figures are shown and left out of comparisons; mend the error "
		"and measure again");
}
