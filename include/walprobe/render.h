/* SPDX-License-Identifier: PostgreSQL */
/*
 * render.h - a result as text, JSON, CSV or a page, and back from JSON.
 *
 * Floor: report (may include base, result). A renderer sees the result and a stream, and neither
 * clock, locale nor terminal: the same document gives the same bytes.
 * Threads: yes.
 */
#ifndef WALPROBE_RENDER_H
#define WALPROBE_RENDER_H

#include "walprobe/result.h"

/* a plot that gnuplot has drawn from a script of plot.h */
struct wp_picture {
	char *title;
	char *svg;
};

struct wp_render_options {
	bool is_colored; /* text only */
	bool is_verbose; /* text only: also environment, parameters and raw rounds */
	/* html only: borrowed */
	const struct wp_picture *pictures;
	size_t picture_count;
	const char *pictures_missing; /* why plots are not there; NULL: none are missing */
};

/* A renderer writes all of result; errors of the stream are for the caller to look at (ferror). */
typedef void wp_render_fn(
	const struct wp_result *result, const struct wp_render_options *options, FILE *stream);

wp_render_fn wp_render_text; /* at most 100 columns */
wp_render_fn wp_render_json; /* the full document, round trip exact */
wp_render_fn wp_render_csv;  /* every table: a comment line with its name, a heading, the rows */
wp_render_fn
	wp_render_html; /* one page that needs no network, script or font; well-formed XML too */
wp_render_fn wp_render_prometheus; /* run, checks and figures for the textfile collector */
wp_render_fn wp_render_bonnie_200; /* table io as bonnie++ 2.00's CSV; nothing without it */
wp_render_fn wp_render_bonnie_103; /* ... as bonnie++ 1.03's */
wp_render_fn wp_render_iozone;     /* ... as iozone 3.489's table */

wp_render_fn wp_render_pgbench; /* steps of a ramp as pgbench 18 prints runs; nothing else */

/* wp_renderer - the renderer with this --format name, or NULL. */
wp_render_fn *wp_renderer(const char *format);

#define WP_DOCUMENT_LIMIT_BYTES ((size_t)64 << 20) /* a longer document is refused */

/*
 * wp_result_read_json - a document that wp_render_json() wrote.
 *
 * name  for messages: the file.
 * Returns: 0 with *out (free with wp_result_free()), or -WP_E_DATA with line and column of what is
 * wrong; unknown keys are ignored, a higher schema is refused with a hint.
 */
int wp_result_read_json(const char *text, size_t length, const char *name, struct wp_result **out,
	struct wp_err *err);

#endif
