/* SPDX-License-Identifier: PostgreSQL */
/*
 * plot.h - what of a result can be drawn, as scripts for gnuplot 5.
 *
 * Floor: report (may include base, result). Scripts hold their data and name no file; who runs them
 * (cli does) sends them to gnuplot's standard input, and the picture comes from its standard output.
 * The same result gives the same bytes. Texts of a document stand in single quotes only, where
 * gnuplot expands nothing.
 * Threads: yes.
 */
#ifndef WALPROBE_PLOT_H
#define WALPROBE_PLOT_H

#include "walprobe/result.h"

enum wp_plot_image {
	WP_PLOT_SVG,
	WP_PLOT_PNG,
};

/* one plot, without the terminal it is drawn on */
struct wp_plot {
	char *title; /* for its caption */
	char *body;  /* gnuplot commands */
	int width;   /* in pixels */
	int height;
};

struct wp_plots {
	struct wp_plot *items;
	size_t count;
};

/* wp_plots_make - all plots that the tables of result give; none is no error. Release in the end. */
void wp_plots_make(const struct wp_result *result, struct wp_plots *plots);

/* wp_plots_release - free all; accepts zeroed plots. */
void wp_plots_release(struct wp_plots *plots);

/*
 * wp_plot_script - a whole script that draws count plots (1 or more) into one picture, below each
 * other in as many columns as make it about square. The caller frees.
 */
char *wp_plot_script(const struct wp_plot *plots, size_t count, enum wp_plot_image image);

#endif
