/* SPDX-License-Identifier: PostgreSQL */
/*
 * probe_append.h - the model of pg_wal on every target: tables "append", "append_first_lap",
 * "soak" and "soak_change".
 *
 * Floor: probe. One measure for each method and number of clients. All measures of a target share
 * one pg_wal, whose state goes on from block to block: the first of them runs the lap in which the
 * segments are created (reported apart), all others find recycled ones.
 *
 * A segment end in every block. At the pace of small commits a segment lasts much longer than a
 * block. So that switching and recycling are part of what is measured, the stream moves forward
 * between blocks, off the clock, until a segment ends about half way through the next one. With
 * is_natural it never moves. A measure in whose rounds nothing was recycled is absent with that
 * reason.
 * Threads: main thread only.
 */
#ifndef WALPROBE_PROBE_APPEND_H
#define WALPROBE_PROBE_APPEND_H

#include "walprobe/beside.h"
#include "walprobe/measure.h"
#include "walprobe/wal_load.h"

#define WP_APPEND_CLIENTS_CAPACITY 64

struct wp_append_options {
	struct wp_method_set methods;
	int64_t clients[WP_APPEND_CLIENTS_CAPACITY];
	size_t client_count;
	int64_t record_bytes;
	int64_t image_pages; /* --fpi; 0: no full page images */
	int64_t think_ns;
	int64_t commit_delay_ns;
	int64_t commit_siblings;
	bool is_async;
	const struct wp_era *era;
	int64_t segment_bytes;
	int64_t segments;
	enum wp_recycle recycle;
	bool is_sparse;
	bool is_direct;
	bool is_natural;
	struct wp_beside *beside; /* borrowed; NULL: nothing beside */
};

/* wp_append_standard - fdatasync at 1, 2, 4 and 8 clients, everything else as PostgreSQL 15 has
 * it after initdb: what the command does without options. */
void wp_append_standard(struct wp_append_options *options);

/* wp_append_needed_bytes - space that one target's pg_wal needs at most. */
int64_t wp_append_needed_bytes(const struct wp_append_options *options);

/*
 * wp_append_plan - add one measure for each method and number of clients on target.
 *
 * Nothing is written yet but a trial of hard links or O_DIRECT, where they are asked for; a target
 * without them, and a method that does not exist here, give measures that are absent with the
 * reason, as does a target that is not open.
 * options  copied.
 * Returns: 0, or -code: the trial failed, or the limit of open files is too low for the clients;
 * the target's measures are absent with that message then, and the caller tells it.
 */
int wp_append_plan(struct wp_run *run, struct wp_target *target,
	const struct wp_append_options *options, struct wp_measures *measures, struct wp_err *err);

/*
 * wp_append_plan_twin - a hidden second copy of a measure of wp_append_plan(), on the same pg_wal.
 *
 * Returns: the twin, which measures owns.
 */
struct wp_measure *wp_append_plan_twin(
	const struct wp_measure *original, struct wp_measures *measures);

/*
 * wp_append_fill - every measure of table "append" that is no twin becomes a row, every first lap
 * a row of table "append_first_lap".
 *
 * Called after wp_rounds_run() and before the rounds are compared or filled: measures in which
 * nothing was recycled become absent here.
 */
void wp_append_fill(struct wp_run *run, struct wp_measures *measures);

/*
 * wp_append_soak - one long run on target with the first method and the most clients: a row of
 * table "soak" each second, and one of "soak_change" that names the point at which the rate falls.
 *
 * Segments fill at their own pace. run->progress is called each second.
 * Returns: 0; -WP_E_STOPPED, what was measured stays; or -code, and the row of "soak_change" is
 * absent with the message. A target that is not open, or lacks what was asked for, gives such a
 * row and 0.
 */
int wp_append_soak(struct wp_run *run, struct wp_target *target,
	const struct wp_append_options *options, int64_t duration_ns, struct wp_err *err);

#endif
