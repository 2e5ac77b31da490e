/* SPDX-License-Identifier: PostgreSQL */
/*
 * append_options.h - the options of the model of pg_wal as words, for append and compare.
 *
 * Floor: cli.
 */
#ifndef WALPROBE_CLI_APPEND_OPTIONS_H
#define WALPROBE_CLI_APPEND_OPTIONS_H

#include "walprobe/probe_append.h"

/* as the option table fills them; NULL and 0 are what the table did not ask for */
struct wp_append_words {
	const char *clients;
	const char *synchronous_commit; /* "off", or anything else for on */
	const char *pg_version;         /* NULL: 15 */
	const char *recycle;            /* NULL: what the version did */
	const char *init;               /* "sparse", or anything else for zero */
	const char *direct;             /* "on", or anything else for off */
	int64_t record_bytes;
	int64_t image_pages;
	int64_t think_ns;
	int64_t commit_delay_ns;
	int64_t commit_siblings;
	int64_t segment_bytes;
	int64_t segments;
};

extern const char *const wp_append_on_off[];
extern const char *const wp_append_versions[];
extern const char *const wp_append_recycles[];
extern const char *const wp_append_inits[];

/*
 * wp_append_options_read - words and the list of methods into options.
 *
 * Returns: 0, or -WP_E_USAGE naming the option.
 */
int wp_append_options_read(const struct wp_append_words *words, const char *methods,
	struct wp_append_options *options, struct wp_err *err);

#endif
