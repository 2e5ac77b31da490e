/* SPDX-License-Identifier: PostgreSQL */
/* sample_result.h - documents for the tests of renderers and readers. */
#ifndef WALPROBE_SAMPLE_RESULT_H
#define WALPROBE_SAMPLE_RESULT_H

#include "walprobe/render.h"

/* sample_compare - what `compare` finds on ext4, xfs and btrfs, with f2fs that could not be made;
 * every kind of cell is in it. Free with wp_result_free(). */
struct wp_result *sample_compare(void);

/* sample_stopped - the same, stopped before the end, with a failed check. */
struct wp_result *sample_stopped(void);

/* sample_odd - what no run should give but a document may hold: controls, quotes, extreme numbers,
 * bytes that are no UTF-8, long labels, many columns. */
struct wp_result *sample_odd(void);

/* sample_render - result by one renderer as a string; the caller frees. */
char *sample_render(
	const struct wp_result *result, wp_render_fn *render, bool is_colored, bool is_verbose);

/* sample_golden - text must be the bytes of tests/golden/NAME; with WP_BLESS=1 it becomes them. */
void sample_golden(const char *name, const char *text);

#endif
