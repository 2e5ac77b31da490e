/* SPDX-License-Identifier: PostgreSQL */
/*
 * flush_probe.h - how many FLUSH requests reach the device for one synchronous write.
 *
 * Floor: probe. Procedure: the counters are read over a pause without own requests, then around
 * single-threaded series of 8 kB writes, then over a pause again. What the pauses show is taken
 * off as background; a series says something only where the background is small, but a zero always
 * does: other programs can add flushes, never take one away. Single-threaded, because concurrent
 * writers share flushes.
 * Threads: main thread only.
 */
#ifndef WALPROBE_FLUSH_PROBE_H
#define WALPROBE_FLUSH_PROBE_H

#include "walprobe/method.h"
#include "walprobe/stack.h"

#define WP_FLUSH_WRITE_BYTES 8192
#define WP_FLUSH_SAMPLE_COUNT 7

enum wp_flush_workload {
	WP_FLUSH_OVERWRITE,        /* of written and synced blocks: the steady state of WAL */
	WP_FLUSH_APPEND,           /* the file grows by every write */
	WP_FLUSH_OVERWRITE_DIRECT, /* with O_DIRECT: where FUA writes may stand in for flushes */
};

/* one series */
struct wp_flush_sample {
	enum wp_flush_workload workload;
	enum wp_method method;
	char *absent; /* why it was not run; then nothing below holds */
	int64_t operations;
	int64_t elapsed_ns;
	int64_t p50_ns;
	struct wp_flush_counts counts; /* at the counting devices meanwhile, background included */
	int64_t *device_flushes;       /* the same for each of wp_flush_report.devices */
	double background_flushes;     /* expected of others in elapsed_ns */
	double flushes_per_op;         /* background taken off, not below 0 */
	double writes_per_op;
	bool is_conclusive; /* little background, or nothing was counted at all */
};

struct wp_flush_report {
	struct wp_flush_sample samples[WP_FLUSH_SAMPLE_COUNT];
	size_t sample_count;
	bool has_counters;
	const char *unknown_reason; /* static; why there are no counters */
	double background_flushes_per_s;
	double background_writes_per_s;
	int *devices; /* layers that were counted */
	size_t device_count;
};

struct wp_flush_options {
	int64_t control_ns; /* each of the two pauses; 1 s is good */
	int64_t operations; /* of one series; 100 is good, at least 1 */
	int64_t limit_ns;   /* a series ends after this time once it has ten operations */
};

/* wp_flush_workload_name - "overwrite", "append", "overwrite-direct". */
const char *wp_flush_workload_name(enum wp_flush_workload workload);

/*
 * wp_flush_probe - measure in an existing private directory; its two files are removed again.
 *
 * roots    as in wp_stack_find().
 * stack    what lies under dir; kept in the report by index only.
 * Without counters the series are run all the same, for their times.
 * Returns: 0 with *report filled (wp_flush_report_release()), -WP_E_SYS or -WP_E_NOSPACE naming
 * the file, -WP_E_STOPPED after a signal. A refused O_DIRECT is an absent sample.
 */
int wp_flush_probe(const struct wp_os *os, const struct wp_stack_roots *roots,
	const struct wp_stack *stack, const char *dir, const struct wp_flush_options *options,
	struct wp_flush_report *report, struct wp_err *err);

/* wp_flush_report_release - free; accepts a zeroed struct. */
void wp_flush_report_release(struct wp_flush_report *report);

/* wp_flush_report_find - the series of workload and method that was run, or NULL. */
const struct wp_flush_sample *wp_flush_report_find(const struct wp_flush_report *report,
	enum wp_flush_workload workload, enum wp_method method);

#endif
