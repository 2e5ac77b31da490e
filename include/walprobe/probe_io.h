/* SPDX-License-Identifier: PostgreSQL */
/*
 * probe_io.h - the tables of bonnie++ and iozone, and the reads of recovery and archiving: table
 * "io".
 *
 * Floor: probe. One measure for each test and record size. All tests of a target share one set of
 * files that is written beforehand. What the page cache served is told by what was read from the
 * device meanwhile (column cached), whatever was done to keep the cache out (column cache).
 * Threads: main thread only; jobs run on threads inside a block.
 */
#ifndef WALPROBE_PROBE_IO_H
#define WALPROBE_PROBE_IO_H

#include "walprobe/io_loop.h"
#include "walprobe/measure.h"

#define WP_IO_SIZES_MAXIMUM 32
#define WP_IO_ROWS_MAXIMUM 600 /* measures of a run: each holds a histogram */

enum wp_io_test {
	WP_IO_TEST_PUTC,
	WP_IO_TEST_WRITE1,
	WP_IO_TEST_WRITE,     /* into a new file */
	WP_IO_TEST_REWRITE,   /* bonnie++: read, change, write back */
	WP_IO_TEST_OVERWRITE, /* iozone's rewrite: write to what was written before */
	WP_IO_TEST_GETC,
	WP_IO_TEST_READ1,
	WP_IO_TEST_READ,
	WP_IO_TEST_REREAD,
	WP_IO_TEST_RANDOM_READ,
	WP_IO_TEST_RANDOM_WRITE,
	WP_IO_TEST_BACKWARD_READ,
	WP_IO_TEST_STRIDE_READ,
	WP_IO_TEST_SEEKS,
	WP_IO_TEST_RECOVERY,
	WP_IO_TEST_ARCHIVE,
	WP_IO_TEST_CREATE_SEQ,
	WP_IO_TEST_STAT_SEQ,
	WP_IO_TEST_DELETE_SEQ,
	WP_IO_TEST_CREATE_RANDOM,
	WP_IO_TEST_STAT_RANDOM,
	WP_IO_TEST_DELETE_RANDOM,
	WP_IO_TEST_CREATE_SEQ_SYNCED,
	WP_IO_TEST_DELETE_SEQ_SYNCED,
	WP_IO_TEST_CREATE_RANDOM_SYNCED,
	WP_IO_TEST_DELETE_RANDOM_SYNCED,
	WP_IO_TEST_COUNT,
};

/* sizes as the user listed them */
struct wp_io_sizes {
	int64_t bytes[WP_IO_SIZES_MAXIMUM];
	size_t count;
};

struct wp_io_options {
	uint32_t tests; /* bit 1u << enum wp_io_test for each */
	struct wp_io_sizes records;
	struct wp_io_sizes files; /* of all jobs together; empty: to be chosen */
	bool beats_cache;         /* the files are twice the memory */
	bool is_cached;           /* --cached: the page cache is measured on purpose */
	bool is_direct;
	enum wp_io_sync sync;
	bool is_sync_timed;
	bool is_close_timed;
	int64_t jobs;
	int64_t seekers;
	/* small files */
	int64_t small_count;
	int64_t small_most_bytes;
	int64_t small_least_bytes;
	int64_t small_directories;
};

/* wp_io_test_name - the name in the results. */
const char *wp_io_test_name(enum wp_io_test test);

/* wp_io_parse_tests - "read,files", names and groups (bonnie, iozone, wal, files, all) into bits. */
int wp_io_parse_tests(const char *text, uint32_t *out, struct wp_err *err);

/* wp_io_parse_sizes - "8kB-1MB" (each double the one before) and "4kB,8kB,16MB" within bounds. */
int wp_io_parse_sizes(
	const char *text, int64_t least, int64_t most, struct wp_io_sizes *out, struct wp_err *err);

/* wp_io_parse_files - bonnie++'s "16", "16:4096:0:10": thousands (of 1,024) of files, largest and
 * smallest size in bytes, directories. */
int wp_io_parse_files(const char *text, struct wp_io_options *options, struct wp_err *err);

/* wp_io_check - 0, or -WP_E_USAGE when the options contradict each other or need too much memory. */
int wp_io_check(const struct wp_io_options *options, struct wp_err *err);

/* wp_io_needed_bytes - space that the files of one target need. */
int64_t wp_io_needed_bytes(const struct wp_io_options *options);

/*
 * wp_io_choose_size - the size of the files, where none was given, for all targets alike.
 *
 * Twice the memory where that is at most half of the free space of every target; else at most 1 GB
 * and a quarter of the free space, of which the cache is dropped. most_bytes bounds it further; 0:
 * no bound.
 * Returns: 0; -WP_E_NOSPACE when no size is left. *memory_bytes receives the machine's memory.
 */
int wp_io_choose_size(struct wp_run *run, const struct wp_target *targets, size_t count,
	int64_t most_bytes, struct wp_io_options *options, struct wp_err *err);

/* what the measures of a run share: buffers, and the files of each target */
struct wp_io_study;

/* wp_io_study_new - for these options, copied; free after the measures are released. */
struct wp_io_study *wp_io_study_new(struct wp_run *run, const struct wp_io_options *options);

/* wp_io_study_free - free memory; the files go with the measures. Accepts NULL. */
void wp_io_study_free(struct wp_io_study *study);

/*
 * wp_io_plan - add one measure for each test and size on target; nothing is written yet.
 *
 * On a target that is not open every measure is absent with target->absent as reason.
 */
void wp_io_plan(struct wp_io_study *study, struct wp_target *target, struct wp_measures *measures);

/* wp_io_plan_twin - a hidden second copy of a measure of wp_io_plan(), on the same files. */
void wp_io_plan_twin(
	struct wp_io_study *study, const struct wp_measure *original, struct wp_measures *measures);

/* wp_io_is_measure - true for a measure of wp_io_plan(). */
bool wp_io_is_measure(const struct wp_measure *measure);

/*
 * wp_io_make_probe - how long wp_io_make() will take on target, about, by writing a part.
 *
 * Returns: 0 with *expected_ns; as wp_io_make().
 */
int wp_io_make_probe(struct wp_io_study *study, const struct wp_target *target,
	int64_t *expected_ns, struct wp_err *err);

/*
 * wp_io_make - write the files of target.
 *
 * Returns: 0; -WP_E_STOPPED; or -code, in which case the target's measures are all absent with that
 * message, and the caller tells it.
 */
int wp_io_make(struct wp_io_study *study, const struct wp_target *target,
	struct wp_measures *measures, struct wp_err *err);

/* wp_io_set_absent - no io measure of target has figures, for the reason in failure. */
void wp_io_set_absent(
	struct wp_measures *measures, const struct wp_target *target, const struct wp_err *failure);

/* wp_io_fill - every measure of table "io" that is no twin becomes a row. */
void wp_io_fill(struct wp_run *run, const struct wp_measures *measures);

#endif
