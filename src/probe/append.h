/* SPDX-License-Identifier: PostgreSQL */
/*
 * append.h - what the files of the append probe share: the ring of a target, and its measures.
 */
#ifndef WALPROBE_SRC_APPEND_H
#define WALPROBE_SRC_APPEND_H

#include "walprobe/probe_append.h"

/* one pg_wal, shared by all measures of a target */
struct ring {
	const struct wp_os *os;
	struct wp_target *target; /* borrowed */
	struct wp_append_options options;
	uint64_t seed;
	int users;
	struct wp_wal *wal; /* NULL until the first block */
	bool is_broken;     /* could not be made: never tried again */
	bool has_lap;
	struct wp_wal_load lap_load;
	struct wp_wal_figures lap;
	struct wp_hist lap_hist;
	struct wp_hist lap_switches;
};

/* one round of a measure */
struct block_note {
	struct wp_wal_figures figures;
	struct wp_hist switches; /* without memory when there were none */
};

/* wp_measure.self */
struct series {
	struct ring *ring;
	struct wp_wal_load load;
	double bytes_per_ns;      /* of the block before */
	struct block_note *notes; /* one a round */
	size_t note_count;
};

/* append_ring_new - a ring that makes its pg_wal when it is opened. */
struct ring *append_ring_new(
	struct wp_run *run, struct wp_target *target, const struct wp_append_options *options);

/* append_ring_release - one user less; the last one frees it. */
void append_ring_release(struct ring *ring);

/* append_ring_open - pg_wal and its first lap, once; 0 or -code. */
int append_ring_open(struct ring *ring, struct wp_err *err);

/* append_load - the load of options with this method and number of clients. */
struct wp_wal_load append_load(
	const struct wp_append_options *options, enum wp_method method, int64_t clients);

/*
 * append_missing - why options cannot be measured on target although nothing is wrong.
 *
 * Returns: 0 with *reason (the caller frees; NULL: nothing is missing), or -code.
 */
int append_missing(const struct wp_run *run, const struct wp_target *target,
	const struct wp_append_options *options, char **reason, struct wp_err *err);

/* append_run_loaded - wp_wal_run() with what is to go on beside it. */
int append_run_loaded(struct ring *ring, const struct wp_wal_load *load, int64_t least_ns,
	struct wp_hist *hist, struct wp_hist *switches, struct wp_wal_figures *figures,
	struct wp_err *err);

/* append_first_method - the first method that exists here, or -1. */
int append_first_method(const struct wp_append_options *options);

#endif
