/* SPDX-License-Identifier: PostgreSQL */
/*
 * iozone.h - one run of iozone: what it says about itself, and its figures.
 *
 * Floor: import, private. Figures are collected first, because the run's label stands above them
 * and its number of lines is known at the end.
 */
#ifndef WALPROBE_IMPORT_IOZONE_H
#define WALPROBE_IMPORT_IOZONE_H

#include "walprobe/import.h"

#define WP_IOZONE_COLUMNS 17 /* of the widest table, behind file and record size */

enum wp_iozone_unit {
	WP_IOZONE_KB_PER_S, /* 1024 bytes */
	WP_IOZONE_OPS_PER_S,
	WP_IOZONE_US_PER_OP,
};

/* throughput mode: what stands below a test's sum; -1: not told */
struct wp_iozone_detail {
	double parent;
	double least;
	double most;
	double mean;
	double least_kb;
	double cpu_percent;
};

struct wp_iozone_figure {
	const char *test; /* in the names of walprobe io; static */
	int64_t file_kb;  /* of all processes together; -1: not told */
	int64_t record_kb;
	int64_t jobs;
	double value;       /* in the run's unit */
	const char *reason; /* static; not NULL: the value cannot be read */
	bool has_detail;
	struct wp_iozone_detail detail;
};

struct wp_iozone {
	char version[24];
	char *command;
	char *started;
	char *target; /* in walprobe's own export */
	const char *host;
	enum wp_iozone_unit unit;
	bool is_unit_told;
	bool is_fsync_timed;
	bool is_close_timed;
	bool is_sync; /* O_SYNC, O_DSYNC */
	bool is_direct;
	bool is_remounted; /* -U: reads do not come from the cache */
	int64_t file_kb;   /* of one process; -1: not told */
	int64_t record_kb; /* -1: not told */
	bool has_table;    /* the text table was read; Excel's report repeats it */
	size_t differing;  /* figures in which the two differ */
	struct wp_iozone_figure *figures;
	size_t count;
};

/* wp_iozone_test - name in table io of column index of the text table, in iozone's order. */
const char *wp_iozone_test(size_t index);

/* wp_iozone_add - one more figure; returned to be filled further. The address is valid until the
 * next call. */
struct wp_iozone_figure *wp_iozone_add(
	struct wp_iozone *run, const char *test, int64_t file_kb, int64_t record_kb, double value);

/* wp_iozone_starts_table, wp_iozone_starts_throughput, wp_iozone_starts_excel - whether such a part
 * begins on line at. */
bool wp_iozone_starts_table(const struct wp_import *in, size_t at);
bool wp_iozone_starts_throughput(const struct wp_import *in, size_t at);
bool wp_iozone_starts_excel(const struct wp_import *in, size_t at);

/* wp_iozone_read_table, wp_iozone_read_throughput, wp_iozone_read_excel - the part that begins on
 * line at. Returns its lines, marks none; 0 when it cannot be read. */
size_t wp_iozone_read_table(const struct wp_import *in, size_t at, struct wp_iozone *run);
size_t wp_iozone_read_throughput(const struct wp_import *in, size_t at, struct wp_iozone *run);
size_t wp_iozone_read_excel(const struct wp_import *in, size_t at, struct wp_iozone *run);

/* wp_iozone_fill - run becomes rows and checks; lines from at, count of them, are its own. */
void wp_iozone_fill(struct wp_import *in, size_t at, size_t count, const struct wp_iozone *run);

#endif
