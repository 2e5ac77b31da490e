/* SPDX-License-Identifier: PostgreSQL */
/*
 * predict_internal.h - what the files of the prediction share.
 */
#ifndef WALPROBE_PROBE_PREDICT_INTERNAL_H
#define WALPROBE_PROBE_PREDICT_INTERNAL_H

#include "walprobe/predict.h"

#define PREDICT_TABLE "predict"
#define PREDICT_METRIC "tps_predicted"
#define CHECK_METRIC "tps_measured"

/* self of a measure of the model */
struct predict_series {
	struct predict_ring *ring;
	struct wp_server_load load;
	struct wp_server_figures sum; /* all rounds but the warm-up */
	char delay[48];               /* variant of the measure; empty: none */
};

/* self of a measure of a server */
struct check_series {
	struct wp_predict_server *server; /* borrowed */
	struct wp_measure *step;          /* of the ramp; borrowed */
	int64_t commit_delay_ns;
	int64_t commit_siblings;
	enum wp_method method;
	double commits; /* all rounds but the warm-up */
	double syncs;
	double flush_ms;
	char delay[48]; /* as in predict_series */
	double cpu_ns;  /* of server and clients; NaN: not known */
};

/* predict_describe_delay - "commit_delay 200us" into out; NULL for 0. */
const char *predict_describe_delay(int64_t commit_delay_ns, char *out, size_t size);

#endif
