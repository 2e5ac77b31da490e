/* SPDX-License-Identifier: PostgreSQL */
/*
 * output.h - where results and messages go: standard output, files, standard error.
 *
 * Floor: cli.
 */
#ifndef WALPROBE_CLI_OUTPUT_H
#define WALPROBE_CLI_OUTPUT_H

#include "walprobe/opts.h"
#include "walprobe/os.h"

struct wp_output {
	const struct wp_os *os;
	const struct wp_common *common;
	bool is_output_new; /* the file did not exist before this run */
	bool is_save_new;
	bool is_plot_new;
	/* progress */
	bool has_progress;
	bool is_terminal;
	bool is_line_open;
	int64_t started_ns;
	int64_t last_ns;
};

/*
 * wp_output_open - look whether the files of --output, --save and --plot can be written, before anything
 * is measured. common is borrowed. Returns 0 or -code naming the file.
 */
int wp_output_open(struct wp_output *output, const struct wp_os *os, const struct wp_common *common,
	struct wp_err *err);

/* wp_output_write - render result to where the options say. 0, or -code naming file and error. */
int wp_output_write(struct wp_output *output, const struct wp_result *result, struct wp_err *err);

/* wp_output_abandon - nothing will be written: remove the empty files that wp_output_open() made. */
void wp_output_abandon(struct wp_output *output);

/* wp_output_tell, wp_output_progress - the callbacks of struct wp_run; ctx is the output. */
void wp_output_tell(void *ctx, const char *kind, const char *text);
void wp_output_progress(void *ctx, const char *label, int64_t done_ns, int64_t total_ns);

/* wp_output_end_progress - take the progress line away. */
void wp_output_end_progress(struct wp_output *output);

#endif
