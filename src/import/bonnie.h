/* SPDX-License-Identifier: PostgreSQL */
/*
 * bonnie.h - one run of bonnie++ or of classic bonnie, from its table or from its CSV.
 *
 * Floor: import, private.
 */
#ifndef WALPROBE_IMPORT_BONNIE_H
#define WALPROBE_IMPORT_BONNIE_H

#include "walprobe/import.h"

#define WP_BONNIE_IO 6     /* putc, block out, rewrite, getc, block in, seeks */
#define WP_BONNIE_TESTS 12 /* then create, stat, delete: sequential, random */

enum wp_bonnie_state {
	WP_BONNIE_NOT_RUN,   /* the field is empty */
	WP_BONNIE_TOO_SHORT, /* +++++ */
	WP_BONNIE_GIVEN,
	WP_BONNIE_LOST, /* cannot be read; reason says why */
};

struct wp_bonnie_value {
	enum wp_bonnie_state state;
	double value;
	const char *reason; /* static */
};

/* One test. */
struct wp_bonnie_figure {
	struct wp_bonnie_value rate; /* kB/s (1024 bytes), for seeks and files 1/s */
	struct wp_bonnie_value cpu;  /* per cent */
	int64_t longest_ns;          /* -1: not told */
};

struct wp_bonnie_run {
	char name[64];
	char version[16];     /* "" when not told */
	bool is_classic;      /* Tim Bray's, not Russell Coker's */
	bool is_charwise;     /* putc() and getc(), not one system call for each byte */
	int64_t file_bytes;   /* -1: not told, or no big files */
	int64_t record_bytes; /* -1: not told */
	char files[64];       /* as --files writes it */
	int64_t seeks;        /* how many were made; -1: not told */
	char concurrency[16];
	struct wp_bonnie_figure figures[WP_BONNIE_TESTS];
	const char *differing; /* test in which table and CSV differ; NULL: none */
	bool has_files;        /* the small files were looked at */
};

/* wp_bonnie_begin - a run of which nothing is known. */
void wp_bonnie_begin(struct wp_bonnie_run *run);

/* wp_bonnie_value - one field: empty, pluses, a number; anything else is lost. */
struct wp_bonnie_value wp_bonnie_value(const char *field);

/* wp_bonnie_size - "8096M", "2G:16k", "64G:4k::65536" into run; false when text is no size. */
bool wp_bonnie_size(struct wp_bonnie_run *run, const char *text);

/* wp_bonnie_latency_ns - "16549us", "264ms", "2s"; -1 when text is none. */
int64_t wp_bonnie_latency_ns(const char *text);

/*
 * wp_bonnie_read_csv - the row that begins on line at, mail's line breaks undone.
 *
 * Returns: the number of lines it takes, 0 when no row begins there.
 */
size_t wp_bonnie_read_csv(const struct wp_import *in, size_t at, struct wp_bonnie_run *run);

/* wp_bonnie_add - run becomes rows of table io and its checks; count lines from at are its own. A
 * run that is in this input already is not added again. */
void wp_bonnie_add(struct wp_import *in, size_t at, size_t count, const struct wp_bonnie_run *run);

/* wp_bonnie_differ - name of the first test in which two readings of one run differ; NULL: none.
 * What one of them lacks is no difference. */
const char *wp_bonnie_differ(const struct wp_bonnie_run *a, const struct wp_bonnie_run *b);

#endif
