/* SPDX-License-Identifier: PostgreSQL */
/*
 * calibrate.h - a calibration for predictions: from a document, or measured on the spot.
 *
 * Floor: cli.
 */
#ifndef WALPROBE_CLI_CALIBRATE_H
#define WALPROBE_CLI_CALIBRATE_H

#include "walprobe/predict.h"

/* what it is to be like */
struct wp_calibrate_options {
	const char *like;   /* a document; NULL: a server is measured */
	const char *memory; /* directory in memory */
	const char *builtin;
	int64_t scale; /* 0: the document's, or 10 */
	int64_t major; /* 0: whatever it is */
	const int64_t *clients;
	size_t client_count;
	struct wp_cluster_plan *plan; /* prepared; only used without like */
};

/*
 * wp_calibrate - read or measure, find the model's work where it is not known, check that it holds
 * here, and fill table "calibration".
 *
 * Returns: 0 with *out (release with wp_calibration_release() in every case); -WP_E_DATA: it
 * cannot be used; or -code of reading, the server or the model.
 */
int wp_calibrate(struct wp_run *run, const struct wp_calibrate_options *options,
	struct wp_calibration *out, struct wp_err *err);

#endif
