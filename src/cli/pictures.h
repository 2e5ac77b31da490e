/* SPDX-License-Identifier: PostgreSQL */
/*
 * pictures.h - plots of a result, drawn by gnuplot.
 *
 * Floor: cli. The scripts come from the report floor, which starts no program; this is where one is
 * started. A signal that stopped the measuring does not stop the drawing of what was measured.
 */
#ifndef WALPROBE_CLI_PICTURES_H
#define WALPROBE_CLI_PICTURES_H

#include "walprobe/os.h"
#include "walprobe/render.h"

struct wp_pictures {
	struct wp_picture *items;
	size_t count;
	char *missing; /* one sentence: why plots are not there; NULL: none are missing */
};

/* wp_pictures_draw - every plot of result as SVG; what cannot be drawn is left out, and missing says
 * why. Release in the end. */
void wp_pictures_draw(
	const struct wp_os *os, const struct wp_result *result, struct wp_pictures *pictures);

/* wp_pictures_release - free all; accepts zeroed pictures. */
void wp_pictures_release(struct wp_pictures *pictures);

/* wp_picture_check - whether the file's name says how to draw: .svg or .png; else -WP_E_USAGE. */
int wp_picture_check(const char *path, struct wp_err *err);

/*
 * wp_picture_write - all plots of result as one picture into stream.
 *
 * path  for its ending.
 * Returns: 0; -WP_E_UNSUPPORTED without gnuplot or when nothing in the result can be drawn;
 * -WP_E_SYS when gnuplot fails. Errors of the stream are for the caller to look at.
 */
int wp_picture_write(const struct wp_os *os, const struct wp_result *result, const char *path,
	FILE *stream, struct wp_err *err);

#endif
