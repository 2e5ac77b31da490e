/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/opts.h"

#define F(field) offsetof(struct wp_common, field)
#define DAY_NS (86400 * WP_NS_PER_S)

static const char *const formats[] = { "text", "json", "csv", "html", NULL };
static const char *const tristate[] = { "auto", "always", "never", NULL };

const struct wp_opt wp_common_opts[] = {
	{ "rounds", 0, WP_OPT_INT, "NUM", F(rounds), "10", 1, 10000, NULL,
		"rounds, interleaved over all targets and variants; fewer than 6 give no verdict" },
	{ "time", 0, WP_OPT_DURATION, "DURATION", F(time_ns), "500ms", WP_NS_PER_MS, DAY_NS, NULL,
		"least time of one measurement in one round" },
	{ "warmup", 0, WP_OPT_DURATION, "DURATION", F(warmup_ns), "200ms", 0, DAY_NS, NULL,
		"unmeasured run of each measurement before the first round; 0s for none" },
	{ "seed", 0, WP_OPT_INT, "NUM", F(seed), "1", 0, INT64_MAX, NULL,
		"seed of the shuffled order and of the data written" },
	{ "keep", 0, WP_OPT_FLAG, NULL, F(is_kept), NULL, 0, 0, NULL,
		"leave what was made, and say where it is" },
	{ "force", 0, WP_OPT_FLAG, NULL, F(is_forced), NULL, 0, 0, NULL,
		"measure beside a live pg_wal" },
	{ .name = NULL },
};

const struct wp_opt wp_method_opts[] = {
	{ "method", 0, WP_OPT_TEXT, "LIST", F(method), "all", 0, 0, NULL,
		"wal_sync_method names separated by commas, or all" },
	{ .name = NULL },
};

const struct wp_opt wp_output_opts[] = {
	{ "format", 0, WP_OPT_CHOICE, "FORMAT", F(format), "text", 0, 0, formats,
		"form of what is printed" },
	{ "output", 'o', WP_OPT_TEXT, "FILE", F(output), NULL, 0, 0, NULL,
		"print to this file instead of standard output" },
	{ "save", 0, WP_OPT_TEXT, "FILE", F(save), NULL, 0, 0, NULL,
		"also save the full document, as JSON" },
	{ "plot", 0, WP_OPT_TEXT, "FILE", F(plot), NULL, 0, 0, NULL,
		"also draw all plots into one picture, FILE.svg or FILE.png; needs gnuplot" },
	{ "progress", 0, WP_OPT_CHOICE, "WHEN", F(progress), "auto", 0, 0, tristate,
		"progress on standard error" },
	{ "color", 0, WP_OPT_CHOICE, "WHEN", F(color), "auto", 0, 0, tristate,
		"colors in text output" },
	{ "quiet", 'q', WP_OPT_FLAG, NULL, F(is_quiet), NULL, 0, 0, NULL,
		"no notes and warnings, errors only" },
	{ "verbose", 'v', WP_OPT_FLAG, NULL, F(is_verbose), NULL, 0, 0, NULL,
		"more detail, also in text output" },
	{ .name = NULL },
};
