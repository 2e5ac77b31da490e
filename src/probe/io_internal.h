/* SPDX-License-Identifier: PostgreSQL */
/*
 * io_internal.h - the table of io tests, and what a measure of them holds.
 *
 * Floor: probe, private.
 */
#ifndef WALPROBE_PROBE_IO_INTERNAL_H
#define WALPROBE_PROBE_IO_INTERNAL_H

#include "walprobe/io_tree.h"
#include "walprobe/probe_io.h"

enum wp_io_group {
	WP_IO_GROUP_BONNIE = 1,
	WP_IO_GROUP_IOZONE = 2,
	WP_IO_GROUP_WAL = 4,
	WP_IO_GROUP_FILES = 8,
};

struct wp_io_test_row {
	const char *name;
	unsigned groups;
	bool is_tree;
	/* big files */
	enum wp_io_work work;
	enum wp_io_order order;
	int64_t record_bytes; /* 0: each of the record sizes */
	bool is_new;
	bool is_fill; /* the cache is filled with what will be read */
	bool is_seekers;
	/* small files */
	enum wp_io_tree_work tree_work;
	bool is_random;
	bool is_synced;
};

extern const struct wp_io_test_row wp_io_tests[WP_IO_TEST_COUNT];

/* files of one target; the last measure that uses them removes them */
struct wp_io_place {
	const struct wp_target *target;
	struct wp_io_files files;
	bool is_kept;
	int users;
};

/* self of a measure */
struct wp_io_self {
	const struct wp_io_test_row *test;
	const struct wp_io_options *options; /* borrowed from the study */
	struct wp_io_place *place;           /* NULL: absent from the start */
	int64_t file_bytes;                  /* of all jobs together; 0: small files */
	char *variant;                       /* owned; NULL: one file size only */
	int64_t jobs;
	struct wp_io_loop loop;
	struct wp_io_tree tree;
};

/* wp_io_needs_files - true when a test works on what was written before. */
bool wp_io_needs_files(const struct wp_io_options *options);

extern const struct wp_column wp_io_columns[];
extern const size_t wp_io_column_count;

/* counters of what reached a device, read around the measured time */
struct wp_io_seen {
	struct wp_flush_counts device;
	int64_t own_bytes; /* that this process's reads brought in; -1: cannot be read */
};

/* wp_io_look - the counters now. */
void wp_io_look(const struct wp_os *os, const struct wp_target *target, struct wp_io_seen *out);

/* wp_io_count - add what lies between two looks to a block. */
void wp_io_count(
	const struct wp_io_seen *before, const struct wp_io_seen *after, struct wp_block_io *block);

/*
 * wp_io_cached - whether the cache served what was measured: "yes", "no", "unknown".
 *
 * yes when more than 5 % of the bytes read did not come from a device, or of the bytes written did
 * not reach one in the time; for small files, when they were neither synced nor read from one.
 */
const char *wp_io_cached(const struct wp_io_test_row *test, const char *fstype,
	const struct wp_block_io *block, int64_t operations);

#endif
