/* SPDX-License-Identifier: PostgreSQL */
/*
 * calibration.h - what the model must know of a real server: a few figures of one ramp.
 *
 * Floor: probe. The ramp ran once on this machine, best with pg_wal in memory, and never saw the
 * targets. From it come, for each number of clients, the processor time of a transaction in the
 * server and in its client, and for all of them the bytes of WAL and of page images. How much work
 * of the model (work.h) that is, is found by running the model in memory until it takes the same
 * processor time: wp_calibration_fit().
 * Threads: main thread only.
 */
#ifndef WALPROBE_CALIBRATION_H
#define WALPROBE_CALIBRATION_H

#include "walprobe/run.h"
#include "walprobe/server_load.h"

#define WP_CALIBRATION_STEPS_MAXIMUM 64

/* what one number of clients gave */
struct wp_calibration_step {
	int64_t clients;
	double tps;
	double server_cpu_ns; /* per transaction; NaN: not known */
	double client_cpu_ns;
	double wal_bytes;
	double images;       /* full page images per transaction; NaN: not known */
	double transactions; /* of one round: between two checkpoints */
	double commits_per_sync;
	/* work of the model per transaction; NaN until it is fitted */
	double server_units;
	double client_units;
	double tps_model; /* what the model gave with it in memory; NaN: not run */
};

struct wp_calibration {
	const struct wp_tx_shape *shape;
	char *server_version; /* "15.18 (Debian ...)" */
	int64_t scale;
	int64_t time_ns; /* of one round: from a checkpoint to the end */
	char *fstype;    /* below the ramp's pg_wal; NULL: not known */
	char *started;
	/* the machine; NULL: not known */
	char *processors;
	char *cpu_model;
	char *memory;
	char *kernel;
	/* from all steps together */
	int64_t record_bytes; /* WAL of one transaction without page images */
	int64_t image_bytes;
	double image_first; /* see struct wp_tx_images */
	double image_pages; /* 0: none */
	struct wp_calibration_step steps[WP_CALIBRATION_STEPS_MAXIMUM]; /* by clients, rising */
	size_t step_count;
};

/*
 * wp_calibration_read - from a result document: of "ramp", or of "predict" with its table
 * "calibration".
 *
 * name  of the document, for messages.
 * Returns: 0 with *out (release with wp_calibration_release()); -WP_E_DATA when it is neither, or
 * a ramp that the model cannot follow (scripts of files, several scripts, several client threads,
 * a connection for each transaction, a rate).
 */
int wp_calibration_read(const struct wp_result *result, const char *name,
	struct wp_calibration *out, struct wp_err *err);

/* wp_calibration_release - free; accepts a zeroed struct. */
void wp_calibration_release(struct wp_calibration *calibration);

/* wp_calibration_settle - bytes of records and images from the steps, once they are filled. */
void wp_calibration_settle(struct wp_calibration *calibration);

/*
 * wp_calibration_step_for - figures for a number of clients: a step, between two of them by the
 * logarithm of clients, beyond the ends those of the last.
 */
struct wp_calibration_step wp_calibration_step_for(
	const struct wp_calibration *calibration, int64_t clients);

/*
 * wp_calibration_check - does it hold for this machine, major version and scale?
 *
 * A check "calibration" of run's result says what differs: another number or model of processors,
 * another memory, major version, or a pg_wal that was not in memory; scale and kernel too.
 * major, scale  that are asked for; 0: those of the calibration.
 * Returns: 0; -WP_E_DATA when processors, memory or major version differ and run is not forced.
 */
int wp_calibration_check(struct wp_run *run, const struct wp_calibration *calibration, int major,
	int64_t scale, struct wp_err *err);

/* wp_calibration_is_fitted - every step has its work. */
bool wp_calibration_is_fitted(const struct wp_calibration *calibration);

/*
 * wp_calibration_fit - find the work of every step that has none by running the model in dir,
 * which should lie in memory.
 *
 * again  called before each pass over the steps with the step that is about to be run, to measure
 *        the server once more beside the model; NULL: the figures of the steps stand.
 * Returns: 0; -WP_E_STOPPED; or -code of the model or of again.
 */
int wp_calibration_fit(struct wp_run *run, struct wp_calibration *calibration, const char *dir,
	int (*again)(void *ctx, struct wp_calibration_step *step, struct wp_err *err), void *ctx,
	struct wp_err *err);

/* wp_calibration_fill - table "calibration", from which it can be read again. */
void wp_calibration_fill(struct wp_run *run, const struct wp_calibration *calibration);

#endif
