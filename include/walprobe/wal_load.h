/* SPDX-License-Identifier: PostgreSQL */
/*
 * wal_load.h - N committers, a checkpointer and a walwriter at work on one pg_wal.
 *
 * Floor: wal (may include base, os, stats). Every committer is a thread with a descriptor of its
 * own, as a backend has. Nothing is allocated and no lock but the model's own is taken while the
 * clock runs. The first error of any thread stops all of them.
 * Threads: main thread only; one run at a time per pg_wal.
 */
#ifndef WALPROBE_WAL_LOAD_H
#define WALPROBE_WAL_LOAD_H

#include "walprobe/group_commit.h"

#define WP_WAL_CLIENTS_MAXIMUM 1000
#define WP_WAL_IMAGE_BYTES 8000 /* WAL that a full page image adds */

struct wp_wal_load {
	enum wp_method method;
	int64_t clients;
	int64_t record_bytes; /* WAL of one transaction, page headers and padding included */
	/*
	 * Pages that the workload touches: transaction k after a checkpoint (here: after the start
	 * of the run) logs a page image with probability exp(-k / image_pages). 0: no images.
	 */
	int64_t image_pages;
	/*
	 * Time outside the flush per transaction: at least half of it burns processor time of the
	 * thread, the rest sleeps; the whole never ends early.
	 */
	int64_t think_ns;
	int64_t commit_delay_ns;
	int64_t commit_siblings;
	bool is_async; /* synchronous_commit = off */
	/*
	 * Called by the main thread each sample_ns (0: never): time since the start, commits and
	 * bytes handed to the system since then.
	 */
	int64_t sample_ns;
	void (*sample)(void *ctx, int64_t elapsed_ns, int64_t commits, int64_t written_bytes);
	void *ctx;
};

/* what one run gave; differences over the run */
struct wp_wal_figures {
	int64_t commits;
	int64_t elapsed_ns; /* from the common start to the end of the last commit */
	int64_t wal_bytes;  /* inserted */
	int64_t created;
	int64_t recycled;
	int64_t removed;
	int64_t fsyncs; /* of creating and recycling segments, beside counts.syncs */
	struct wp_wal_counts counts;
};

/*
 * wp_wal_run - run a load for at least least_ns.
 *
 * is_recycling  the checkpointer retires segments behind while commits go on.
 * hist          commit latencies (insert and flush) are added; initialised.
 * switches      lengths of the stalls at segment ends are added; initialised.
 * Returns: 0; -WP_E_STOPPED when a signal came (figures are set all the same); or -code of the
 * first error, after which this pg_wal acknowledges nothing any more.
 */
int wp_wal_run(struct wp_wal *wal, const struct wp_wal_load *load, int64_t least_ns,
	bool is_recycling, struct wp_hist *hist, struct wp_hist *switches,
	struct wp_wal_figures *figures, struct wp_err *err);

/* wp_wal_figures_add - add the figures of one more run to a sum. */
void wp_wal_figures_add(struct wp_wal_figures *sum, const struct wp_wal_figures *more);

/*
 * wp_wal_approach - move the stream forward so that the segment ends about half way through what
 * will be written next.
 *
 * expected_bytes  WAL of the next run.
 * Nothing moves when the end is that near already. No thread may use the object.
 */
void wp_wal_approach(struct wp_wal *wal, int64_t expected_bytes);

/*
 * wp_wal_first_lap - create the segments of the ring under a load, then recycle what lies behind,
 * so that a full ring of used segments is ready.
 *
 * run_ns       time in each segment.
 * is_natural   every segment is filled to its end, however long that takes; otherwise the stream
 *              jumps to shortly before each end (and where new segments are sparse, what is jumped
 *              over is written first, because a used segment has no holes).
 * The other arguments and the result are those of wp_wal_run().
 */
int wp_wal_first_lap(struct wp_wal *wal, const struct wp_wal_load *load, int64_t run_ns,
	bool is_natural, struct wp_hist *hist, struct wp_hist *switches,
	struct wp_wal_figures *figures, struct wp_err *err);

#endif
