/* SPDX-License-Identifier: PostgreSQL */
/*
 * plug.h - the power-cut test: writers before the cut, and the look at what is left after it.
 *
 * Floor: probe (may include all below). N writers have segments of their own and make them, fill
 * them and sync every record as PostgreSQL does with pg_wal; a witness on another machine is told
 * what was acknowledged. No place is written twice in a cycle, apart from segments that were given
 * up with the witness's knowledge, so that what a misdirected write hit stays to be seen.
 * Threads: main thread only; it starts its own.
 */
#ifndef WALPROBE_PLUG_H
#define WALPROBE_PLUG_H

#include "walprobe/classify.h"
#include "walprobe/client.h"
#include "walprobe/method.h"
#include "walprobe/run.h"
#include "walprobe/secret.h"

#define WP_PLUG_PREFIX "walprobe-plug-"

struct wp_plug_options {
	struct wp_access witness; /* where "none": nobody is told (to measure the cost) */
	const char *label;
	const char *path;   /* target directory */
	const uint8_t *run; /* go on with this run; NULL: a new one */
	int64_t writers;    /* 1 .. WP_WRITERS_MAXIMUM */
	enum wp_method method;
	uint8_t workloads[WP_WORKLOAD_COUNT]; /* enum wp_workload; writers take turns */
	size_t workload_count;
	int64_t duration_ns; /* 0: until the cut or a signal */
	int64_t page_bytes;
	int64_t batch;         /* records for one sync, 1 .. 64 */
	int64_t segment_bytes; /* at most; smaller where there is little space */
	int64_t space_bytes;   /* for all segments; 0: a quarter of what is free, 4 GB at most */
	bool is_direct;
};

struct wp_plug_verify_options {
	struct wp_access witness;
	const char *label;
	const char *path;   /* target directory, or the run's own */
	const uint8_t *run; /* NULL: the one whose directory is there, else the newest */
	enum wp_cut_rule cut;
	int64_t read_timeout_ns; /* for one read */
	bool is_discarded;       /* remove the run's directory after the verdict */
};

/*
 * wp_plug_write - write until the duration is over, a signal comes, or the device goes.
 *
 * Adds a row to table "plug". Returns: 0 after the duration; -WP_E_STOPPED; -WP_E_SYS within 5 s
 * of the first failed write or sync; -WP_E_SERVER when the witness refuses.
 */
int wp_plug_write(struct wp_run *run, const struct wp_plug_options *options, struct wp_err *err);

/*
 * wp_plug_verify - judge the last cycle of a run; reads only, and may be repeated.
 *
 * Adds a row to table "verdict" and a check "data-survived"; tells the witness.
 * Returns: 0 when there is a verdict, whatever it is; -code when target or witness cannot be
 * reached.
 */
int wp_plug_verify(
	struct wp_run *run, const struct wp_plug_verify_options *options, struct wp_err *err);

/*
 * wp_plug_cycles - what a service does at every start of the machine: verify the newest run of this
 * machine and directory if there is one, and write on in its next cycle.
 *
 * cycles   effective cuts without a loss that are enough.
 * Writes nothing more after a loss, after enough cuts, while others write, or where the run's
 * directory is not there. Waits some minutes for a witness that cannot be reached yet.
 * Returns: as wp_plug_verify() when that was all, else as wp_plug_write().
 */
int wp_plug_cycles(struct wp_run *run, const struct wp_plug_options *write,
	const struct wp_plug_verify_options *verify, int64_t cycles, struct wp_err *err);

/* wp_plug_parse_workloads - "append,recycle" or "all" into options; 0 or -WP_E_USAGE. */
int wp_plug_parse_workloads(const char *text, struct wp_plug_options *options, struct wp_err *err);

#endif
