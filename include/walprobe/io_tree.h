/* SPDX-License-Identifier: PostgreSQL */
/*
 * io_tree.h - many small files created, looked at and deleted, timed.
 *
 * Floor: wal (may include base, os, stats). As io_loop.h: prepare without the clock, pass under it,
 * finish. Names are computed from a file's number, so that memory does not grow with the files:
 * seven hex digits and up to twelve letters, the digits first for the sequential order, the letters
 * first for the random one. Source: bonnie++ 2.00 (bon_file.cpp).
 *
 * With is_synced every create also syncs the file and its directory and every delete its directory,
 * as PostgreSQL's durable_rename() and durable_unlink() do.
 * Threads: no.
 */
#ifndef WALPROBE_IO_TREE_H
#define WALPROBE_IO_TREE_H

#include "walprobe/io_loop.h"

#define WP_IO_TREE_FILE_MAXIMUM (INT64_C(1) << 20) /* bytes of one file */

enum wp_io_tree_work {
	WP_IO_CREATE,
	WP_IO_STAT, /* and a read of what is in it */
	WP_IO_DELETE,
};

struct wp_io_tree_plan {
	enum wp_io_tree_work work;
	bool is_random;
	bool is_synced;
	int64_t count; /* files of one pass, at most */
	int64_t most_bytes;
	int64_t least_bytes;
	int64_t directories; /* over which the files are spread; at least 1 */
};

struct wp_io_tree {
	struct wp_io_tree_plan plan;
	const struct wp_os *os;  /* borrowed */
	struct wp_io_pool *pool; /* borrowed; its first buffer holds the largest file */
	char *dir;
	struct wp_io_shuffle order;
	uint64_t seed;
	bool has_directories;
	int64_t from; /* files from .. to-1 exist, by their place in the order */
	int64_t to;
	int64_t place;   /* where looking goes on */
	double per_s;    /* of the last pass; 0: not known */
	char path[4096]; /* of the file that is worked on */
	const char *failed_call;
};

/*
 * wp_io_tree_init - describe files in a directory NAME of parent; nothing is made yet.
 *
 * pool  borrowed until wp_io_tree_release(); a buffer of plan->most_bytes at least.
 */
void wp_io_tree_init(struct wp_io_tree *tree, const struct wp_io_tree_plan *plan,
	const struct wp_os *os, const char *parent, const char *name, struct wp_io_pool *pool,
	uint64_t seed);

/* wp_io_tree_release - free; the files stay. Accepts a zeroed struct. */
void wp_io_tree_release(struct wp_io_tree *tree);

/*
 * wp_io_tree_prepare - make what the pass needs: directories, files to look at or to delete.
 *
 * left_ns  how long the pass will be: of files to delete no more are made than it will need, by the
 *          rate of the pass before.
 * Returns: 0, or -code with a message that names file and call; -WP_E_STOPPED.
 */
int wp_io_tree_prepare(struct wp_io_tree *tree, int64_t left_ns, struct wp_err *err);

/*
 * wp_io_tree_pass - create, look at or delete files for left_ns, or until all were.
 *
 * hist, counts  as wp_io_loop_pass(); an operation is one file.
 */
int wp_io_tree_pass(struct wp_io_tree *tree, int64_t left_ns, struct wp_hist *hist,
	struct wp_io_counts *counts, struct wp_err *err);

/* wp_io_tree_finish - delete what creating and deleting left; files to look at stay. Untimed. */
int wp_io_tree_finish(struct wp_io_tree *tree, struct wp_err *err);

#endif
