/* SPDX-License-Identifier: PostgreSQL */
/*
 * io_options.h - the options of io as words, and what io and compare do with them alike.
 *
 * Floor: cli.
 */
#ifndef WALPROBE_CLI_IO_OPTIONS_H
#define WALPROBE_CLI_IO_OPTIONS_H

#include "cli/measure_targets.h"
#include "walprobe/probe_io.h"

/* as the option table fills them; NULL is what the table did not ask for */
struct wp_io_words {
	const char *tests;
	const char *record_sizes;
	const char *sizes;
	const char *files;
	const char *sync;
	const char *timed;
	int64_t jobs;
	int64_t seekers;
	bool is_cached;
	bool is_direct;
};

extern const char *const wp_io_syncs[];
extern const char *const wp_io_timeds[];

/* wp_io_options_read - words into options; -WP_E_USAGE naming the option. */
int wp_io_options_read(
	const struct wp_io_words *words, struct wp_io_options *options, struct wp_err *err);

/*
 * wp_io_make_all - tell how long the files take, then write them on every target that is open.
 *
 * A target that fails is told, and its rows say why. Returns: 0 or -WP_E_STOPPED.
 */
int wp_io_make_all(struct wp_run *run, struct wp_io_study *study, struct wp_io_options *options,
	struct wp_measure_targets *targets, struct wp_measures *measures, struct wp_err *err);

#endif
