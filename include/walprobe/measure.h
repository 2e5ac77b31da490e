/* SPDX-License-Identifier: PostgreSQL */
/*
 * measure.h - one thing that is measured once in every round, and the rounds themselves.
 *
 * Floor: probe. A probe plans measures for each target; wp_rounds_run() runs all of them in
 * interleaved rounds in a seeded shuffled order, so that drift hits all alike; the probe then
 * turns them into rows. The unit of every interval is the round.
 * Threads: main thread only; a measure may use threads inside its own block.
 *
 * Between blocks the target just used is written back (at most 2 s are waited for it), so that its
 * write-back does not land in the next block, and the disks are watched for a moment while nothing
 * of ours is under way. At most 20 % of the rounds are dropped, as whole rounds for all measures,
 * worst first, and only those in which the rest of the machine was too busy (noise.h); never so
 * many that fewer than 6 remain.
 *
 * Memory: one histogram a measure (36 kB) and one scratch. A round's blocks are kept apart, with
 * the non-zero buckets only, until it is over; then they are pooled, unless a guard was exceeded
 * and the round is among the worst that may be dropped. So at most a fifth of the rounds, plus
 * one, are kept apart.
 */
#ifndef WALPROBE_MEASURE_H
#define WALPROBE_MEASURE_H

#include "walprobe/hist.h"
#include "walprobe/noise.h"
#include "walprobe/run.h"
#include "walprobe/target.h"

/* bytes of a block and where they came from; added up over blocks. All 0 where nobody counts. */
struct wp_block_io {
	int64_t read_bytes; /* by our calls */
	int64_t written_bytes;
	int64_t cpu_ns; /* processor time of the threads that worked */
	/* at the counting devices, everybody's, in the measured time alone */
	int64_t device_read_bytes;
	int64_t device_written_bytes;
	int64_t device_flushes;
	const char *device_unknown; /* why they cannot be counted; NULL: they are */
	int64_t fetched_bytes; /* that reads of ours brought in from a device; never above the device's */
};

/* what one block (one measure in one round) gave */
struct wp_block {
	double value;       /* in the metric's unit: operations or commits per second */
	int64_t operations; /* behind value */
	int64_t syncs;      /* synchronous writes: what flushes are counted against */
	int64_t elapsed_ns;
	struct wp_block_io io;
};

struct wp_measure {
	/* who it is, as in table "rounds"; static or owned by the plan (self) */
	const char *table;        /* "sync", "append", "io" */
	const char *metric;       /* "ops_per_s", "commits_per_s" */
	const char *method;       /* NULL: does not apply */
	const char *variant;      /* NULL: does not apply */
	int64_t clients;          /* 0: does not apply */
	const char *test;         /* NULL: does not apply */
	int64_t record_bytes;     /* 0: does not apply */
	struct wp_target *target; /* borrowed */
	bool is_lower_better;
	bool is_twin; /* the hidden A/A copy of another measure: no row of its own */
	/* What it did in earlier rounds still counts when another measure of its target fails. */
	bool keeps_rounds;

	/*
	 * Run for at least least_ns, recording latencies into hist. Nothing but the measured work
	 * happens inside. A signal (wp_stop_flag) ends the block early: -WP_E_STOPPED.
	 */
	int (*run)(struct wp_measure *measure, int64_t least_ns, struct wp_hist *hist,
		struct wp_block *block, struct wp_err *err);
	/* Close and free self; accepts a measure that never ran. NULL: nothing to do. */
	void (*release)(struct wp_measure *measure);
	void *self;
	const struct wp_os *os;

	/* filled by wp_rounds_run() */
	char *absent;        /* reason why there is no figure; NULL: there is one */
	bool is_over;        /* not run any more, its target failed; what it has counts */
	struct wp_hist hist; /* pooled over the rounds that count */
	double *values;      /* one per round; NaN: not measured, or the round was dropped */
	double *raw_values;  /* the same with dropped rounds, as in table "rounds" */
	int64_t round_count; /* rounds begun; length of both arrays */
	int64_t operations;  /* over all rounds that count */
	int64_t syncs;
	int64_t elapsed_ns;
	struct wp_block_io io;
	int64_t flushes;             /* at the counting device, beside syncs */
	const char *flushes_unknown; /* reason; NULL: flushes is known */
};

/* one round, all measures together */
struct wp_round_note {
	struct wp_noise noise; /* what else the machine did meanwhile */
	char *dropped;         /* why the round does not count; NULL: it does */
};

struct wp_measures {
	struct wp_measure **items;
	size_t count;
	struct wp_round_note *rounds; /* filled by wp_rounds_run() */
	size_t round_count;           /* rounds begun */
};

/* wp_block_io_add - add what one more block gave; unknown once means unknown. */
void wp_block_io_add(struct wp_block_io *sum, const struct wp_block_io *more);

/* wp_measures_add - a new zeroed measure at the end; the list owns it, its address stays. */
struct wp_measure *wp_measures_add(struct wp_measures *measures);

/* wp_measures_release - release and free all; accepts a zeroed struct. */
void wp_measures_release(struct wp_measures *measures);

/* wp_measure_set_absent - there is no figure, for this reason (formatted; keeps the first one). */
void wp_measure_set_absent(struct wp_measure *measure, const char *format, ...) WP_PRINTF(2, 3);

/* wp_measure_describe - "ext4 fdatasync overwrite, 8 clients" for people, into out; returns out. */
const char *wp_measure_describe(const struct wp_measure *measure, char *out, size_t size);

/*
 * wp_rounds_expected_ns - how long wp_rounds_run() will take, about, for the line before a run
 * and the progress; measures that are absent already cost nothing.
 */
int64_t wp_rounds_expected_ns(const struct wp_run *run, const struct wp_measures *measures);

/*
 * wp_rounds_run - warm up once, then run all measures run->rounds times.
 *
 * A measure that fails is absent from then on, together with the others of its target (but for those
 * that keep the rounds that they have); the failure is told as a problem of the run and the other
 * targets go on. A measure that answers
 * -WP_E_UNSUPPORTED is absent alone, with the message as reason, and nothing is told. Measures
 * that are absent beforehand are not run. A block cut by a signal is not counted.
 * Returns: 0, or -WP_E_STOPPED when a signal came: what was measured stays, and
 * run->result->is_complete is false. Called once for a list.
 */
int wp_rounds_run(struct wp_run *run, struct wp_measures *measures, struct wp_err *err);

/*
 * wp_rounds_fill - the raw rounds into table "rounds" of the result, dropped ones and the hidden
 * twin's (column twin) with them, so that every interval can be checked from the document.
 */
void wp_rounds_fill(const struct wp_run *run, const struct wp_measures *measures);

/*
 * wp_measure_interval - middle and 95 % interval of the rounds' values (Hodges-Lehmann and the
 * exact signed-rank interval).
 *
 * The middle of the logarithms, exponentiated; rounds that are not above 0 count as missing.
 * Returns: NULL with all three set, or a reason (static, or the measure's own) with *low and *high
 * NaN; *middle is set whenever one round was measured, else NaN.
 */
const char *wp_measure_interval(
	const struct wp_measure *measure, double *middle, double *low, double *high);

/*
 * wp_measure_fill_row - the cells that every measure's row shares, where the table has them:
 * target method variant clients test record_bytes, the rate (key: metric) ci_low ci_high mean_ns
 * p50_ns p90_ns p99_ns p999_ns max_ns ops syncs flushes_per_op flushes_per_sync (both: flushes /
 * syncs) rounds (that count) steady ("yes", "no"); absent with its reason where not measured, or
 * where the samples are too few for a percentile (p99: 100, p99.9: 1,000).
 */
void wp_measure_fill_row(const struct wp_measure *measure, struct wp_row *row);

#endif
