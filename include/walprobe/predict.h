/* SPDX-License-Identifier: PostgreSQL */
/*
 * predict.h - transactions a second that PostgreSQL would do on a target, without PostgreSQL there:
 * table "predict".
 *
 * Floor: probe. The model (server_load.h) runs on the target with the work of a calibration. With a
 * server on the same target the real thing runs beside it, in the same rounds, and the table has
 * both. The closed form next to them is what can be said from the flush alone (batch_law.h).
 * Threads: main thread only.
 */
#ifndef WALPROBE_PREDICT_H
#define WALPROBE_PREDICT_H

#include "walprobe/calibration.h"
#include "walprobe/measure.h"
#include "walprobe/target_cluster.h"

#define WP_PREDICT_CLIENTS_CAPACITY 64

struct wp_predict_options {
	const struct wp_calibration *calibration; /* fitted; must outlive the measures */
	struct wp_method_set methods;
	int64_t clients[WP_PREDICT_CLIENTS_CAPACITY];
	size_t client_count;
	int64_t scale; /* 0: the calibration's */
	int64_t commit_delay_ns;
	int64_t commit_siblings;
	int64_t time_ns; /* from a checkpoint to the end of what is predicted; 0: one block */
};

/* wp_predict_needed_bytes - space that the model needs on a target. */
int64_t wp_predict_needed_bytes(void);

/*
 * wp_predict_plan - a measure of the model for each method and number of clients on target.
 *
 * options  copied.
 * A target that is not open, and a method that does not exist here, give absent measures.
 */
void wp_predict_plan(struct wp_run *run, struct wp_target *target,
	const struct wp_predict_options *options, struct wp_measures *measures);

/* a real server for calibrating or checking */
struct wp_predict_server;

/* what is to be run on it */
struct wp_predict_server_options {
	const struct wp_tx_shape *shape;
	int64_t scale;
	const int64_t *clients;
	size_t client_count;
	int64_t time_ns; /* of one block */
};

/*
 * wp_predict_server_start - a throwaway server on an open target, with tables, and with segments
 * that were used before, as on a server that has run for a while.
 *
 * Returns: 0 with *out (wp_predict_server_free()); -code with the target's label in the message.
 */
int wp_predict_server_start(struct wp_run *run, const struct wp_cluster_plan *plan,
	struct wp_target *target, const struct wp_predict_server_options *options,
	struct wp_predict_server **out, struct wp_err *err);

/* wp_predict_server_free - accepts NULL; stopping the server is left to the registry. */
void wp_predict_server_free(struct wp_predict_server *server);

/* wp_predict_server_stop - it has done its work; nothing but freeing it may follow. */
int wp_predict_server_stop(struct wp_predict_server *server, struct wp_err *err);

/* wp_predict_server_facts - version and settings; valid as long as the server. */
const struct wp_server_facts *wp_predict_server_facts(const struct wp_predict_server *server);

/*
 * wp_predict_server_step - one block at a number of clients (of the options), its figures into
 * step; the sums go on over all blocks of that step.
 *
 * Returns: 0, -WP_E_SERVER, -WP_E_STOPPED.
 */
int wp_predict_server_step(
	struct wp_predict_server *server, struct wp_calibration_step *step, struct wp_err *err);

/* wp_predict_server_mean - figures of all blocks of a step together. */
void wp_predict_server_mean(
	const struct wp_predict_server *server, struct wp_calibration_step *step);

/*
 * wp_predict_check_plan - a measure of the server for each of those of wp_predict_plan() with the
 * same options.
 */
void wp_predict_check_plan(struct wp_predict_server *server,
	const struct wp_predict_options *options, struct wp_measures *measures);

/*
 * wp_predict_fill - table "predict" from what wp_predict_plan(), wp_predict_check_plan() and
 * wp_sync_plan() planned; checks "prediction" where a server ran beside the model.
 */
void wp_predict_fill(
	struct wp_run *run, const struct wp_predict_options *options, struct wp_measures *measures);

/* wp_predict_is_measure - one of wp_predict_plan(). */
bool wp_predict_is_measure(const struct wp_measure *measure);

/*
 * wp_predict_what_if_plan - what compare asks of the model on one target: 1, 2, 4 and 8 clients,
 * and for 8 of them several commit_delays. Clients and delay of the options are not looked at.
 */
void wp_predict_what_if_plan(struct wp_run *run, struct wp_target *target,
	const struct wp_predict_options *options, struct wp_measures *measures);

/* wp_predict_what_if_fill - table "what_if" from table "predict": a row a target and method. */
void wp_predict_what_if_fill(struct wp_run *run);

#endif
