/* SPDX-License-Identifier: PostgreSQL */
/* fio_rows.h - what fio tells of a job, from JSON or text, as rows; private to import. */
#ifndef WALPROBE_IMPORT_FIO_ROWS_H
#define WALPROBE_IMPORT_FIO_ROWS_H

#include "import/scan.h"

#define FIO_ABSENT (-1.0)

enum fio_percentile {
	FIO_P50,
	FIO_P90,
	FIO_P95,
	FIO_P99,
	FIO_P999,
	FIO_P9999,
	FIO_PERCENTILES
};

/* FIO_ABSENT where the output does not tell */
struct fio_latency {
	double min_ns, mean_ns, stddev_ns, max_ns;
	double percentiles_ns[FIO_PERCENTILES];
	double count;
};

struct fio_direction {
	const char *name; /* "read", "write", "trim" */
	double bytes_per_s, ops_per_s, ops, elapsed_ns;
	double total_ns; /* mean from the request's issue to its end */
	struct fio_latency latency;
	const char *latency_of; /* "completion", "total" */
};

struct fio_job {
	char *name;
	char *version;
	char *rw;        /* as in its options; NULL: not told */
	char *sync_name; /* "fdatasync" or "fsync" where one is called after each write */
	double record_bytes, file_bytes, jobs, depth, cpu_percent;
	int64_t error;
	bool is_direct;
	struct fio_direction directions[3];
	size_t direction_count;
	struct fio_latency sync; /* count 0 or FIO_ABSENT: nothing was synced */
};

/* fio_latency_init, fio_direction_init, fio_job_init - everything absent. */
void fio_latency_init(struct fio_latency *latency);
struct fio_direction *fio_job_direction(struct fio_job *job, const char *name);
void fio_job_init(struct fio_job *job);

/* fio_job_release - free all. */
void fio_job_release(struct fio_job *job);

/* fio_percentile - index of "99.900000", or -1. */
int fio_percentile(double percent);

/* fio_size_bytes - "8000", "4k", "22m", "1GiB" as fio reads sizes; FIO_ABSENT when it is none. */
double fio_size_bytes(const char *text);

/* fio_add_rows - a row of io for each direction that did something, one of sync for its syncs. */
void fio_add_rows(struct wp_import *in, const struct fio_job *job, const char *target);

#endif
