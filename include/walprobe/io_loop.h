/* SPDX-License-Identifier: PostgreSQL */
/*
 * io_loop.h - reads and writes of one big file, in every order that bonnie++ and iozone know, timed.
 *
 * Floor: wal (may include base, os, stats). A block is made of passes: wp_io_loop_prepare() opens
 * files and drops or fills the page cache without the clock, wp_io_loop_pass() works under it, with
 * one clock reading for each operation, the end of one being the start of the next. The caller puts
 * its own counters around the pass. Inside the timed loop there is no allocation, no lock and no
 * output; every result of a call is looked at, and a failed sync ends the loop.
 *
 * Several jobs work on files of their own on threads, and the sum is over the time that all of them
 * ran: from the first start to the first end, where what is not complete by then does not count. Where a
 * pass ends with a sync inside the time, all jobs stop writing together and the time runs until the
 * last sync returned: what is written and not synced would count otherwise.
 * Source: bonnie++ 2.00 (bonnie++.cpp, bon_io.cpp); iozone 3.489 (-i 0 to 5).
 * Threads: no; one loop at a time uses a pool.
 */
#ifndef WALPROBE_IO_LOOP_H
#define WALPROBE_IO_LOOP_H

#include "walprobe/hist.h"
#include "walprobe/io_shuffle.h"
#include "walprobe/random.h"
#include "walprobe/tick.h"

#include <stdatomic.h>

#define WP_IO_JOBS_MAXIMUM 256
#define WP_IO_RECORD_MAXIMUM (INT64_C(16) << 20)
#define WP_IO_SEGMENT_BYTES (INT64_C(16) << 20)
#define WP_IO_POOL_LIMIT_BYTES (INT64_C(32) << 20) /* all buffers together */
#define WP_IO_STDIO_BYTES 4096                     /* of the buffer of putc and getc */
#define WP_IO_BYTE_CALLS 64                        /* of write1 and read1 that are timed together */

/* what one operation does */
enum wp_io_work {
	WP_IO_READ,      /* one read of a record */
	WP_IO_WRITE,     /* one write of a record */
	WP_IO_REWRITE,   /* read a record, change a byte, write it back */
	WP_IO_SEEK,      /* read a record; every tenth is changed and written back */
	WP_IO_SEGMENT,   /* a 16 MB segment in reads of 128 kB, as archiving and streaming do */
	WP_IO_PUTC,      /* a byte through a buffer of 4 kB, as stdio */
	WP_IO_GETC,      /* the same, reading */
	WP_IO_WRITE_ONE, /* a system call for each byte */
	WP_IO_READ_ONE,
};

/* in which order the records come; a pass ends when each came once */
enum wp_io_order {
	WP_IO_FORWARD,
	WP_IO_BACKWARD,
	WP_IO_STRIDE, /* every 17th record, as iozone; then those after them */
	WP_IO_RANDOM, /* each once, in a random order */
};

/* what happens to the page cache before a pass */
enum wp_io_cache {
	WP_IO_CACHE_DROP, /* written back and given up (posix_fadvise) */
	WP_IO_CACHE_KEEP, /* left as it is */
	WP_IO_CACHE_FILL, /* what the pass will read is read beforehand */
};

enum wp_io_sync {
	WP_IO_SYNC_NONE,   /* left to the kernel in the time; synced after it */
	WP_IO_SYNC_FSYNC,  /* one fsync at the end of a pass */
	WP_IO_SYNC_OSYNC,  /* O_SYNC */
	WP_IO_SYNC_ODSYNC, /* O_DSYNC */
};

struct wp_io_plan {
	enum wp_io_work work;
	enum wp_io_order order;
	enum wp_io_cache cache;
	enum wp_io_sync sync;
	bool is_sync_timed;  /* the fsync at the end of a pass belongs to its time */
	bool is_close_timed; /* and so does close */
	bool is_new;         /* every pass writes into an empty file of its own */
	bool is_direct;      /* O_DIRECT */
	int64_t record_bytes;
	int64_t file_bytes; /* used of each job's file: one operation's bytes at least */
	int jobs;
};

/* the files of one target: "data-0" .. and, while they are written, "new-0" .. */
struct wp_io_files {
	const struct wp_os *os; /* borrowed */
	char *dir;
	int count;
	int64_t file_bytes; /* of each */
};

/* buffers, histograms and clocks of all jobs; shared by all loops of a run */
struct wp_io_pool {
	const struct wp_os *os; /* borrowed */
	int jobs;
	size_t buffer_bytes; /* of each */
	unsigned char **buffers;
	struct wp_hist *hists;
	struct wp_tick *ticks;
};

struct wp_io_loop;

/* one job of a loop */
struct wp_io_job {
	struct wp_io_loop *loop;
	int index;
	int fd; /* -1: not open */
	unsigned char *buffer;
	struct wp_hist *hist;
	struct wp_tick *tick;
	struct wp_random random;
	struct wp_io_shuffle shuffle;
	uint64_t place;    /* next record in the order; goes on in the next pass */
	uint64_t taken;    /* records of this pass */
	uint64_t sequence; /* stamped into every write, so that no two are alike */
	/* of one pass */
	int64_t operations;
	int64_t read_bytes;
	int64_t written_bytes;
	int64_t syncs;
	int64_t start_ns;
	int64_t end_ns;  /* of the last operation that counts */
	int64_t done_ns; /* of sync and close where they are timed, else end_ns */
	int64_t cpu_ns;
	const char *failed_call; /* NULL: nothing failed */
	int64_t failed_result;   /* -errno, or the bytes of a short read or write */
	int64_t failed_wanted;   /* bytes asked for */
};

struct wp_io_loop {
	struct wp_io_plan plan;
	const struct wp_os *os;          /* borrowed */
	const struct wp_io_files *files; /* borrowed */
	struct wp_io_pool *pool;         /* borrowed */
	struct wp_io_job *jobs;
	int (*operate)(struct wp_io_job *job, int64_t offset);
	int64_t step_bytes;      /* that one operation covers */
	double rate_bytes_per_s; /* of the last pass that ended with a sync; 0: not known */
	int64_t least_ns;
	int64_t budget_bytes; /* of each job in this pass */
	atomic_int is_over;   /* the first job has ended */
};

/* what passes did; added up */
struct wp_io_counts {
	int64_t operations; /* bytes for the four that work byte by byte */
	int64_t read_bytes;
	int64_t written_bytes;
	int64_t syncs;
	int64_t elapsed_ns;
	int64_t cpu_ns; /* of all jobs' threads */
};

/* wp_io_pool_init - jobs buffers of buffer_bytes, allocated and touched. */
void wp_io_pool_init(
	struct wp_io_pool *pool, const struct wp_os *os, int jobs, int64_t buffer_bytes);

/* wp_io_pool_release - free; accepts a zeroed struct. */
void wp_io_pool_release(struct wp_io_pool *pool);

/* wp_io_files_init - describe count files of file_bytes in dir; nothing is made yet. */
void wp_io_files_init(struct wp_io_files *files, const struct wp_os *os, const char *dir, int count,
	int64_t file_bytes);

/*
 * wp_io_files_make - write all of the files with incompressible bytes, and sync them; none where
 * they have no size.
 *
 * limit_bytes  stop after so many, and remove what was written: to learn how long all would take.
 *              0: all.
 * tell         called about every 100 ms with the bytes written so far; NULL allowed.
 * Returns: 0; -WP_E_NOSPACE with the bytes needed and free; -WP_E_SYS; -WP_E_STOPPED. Files that
 * could not be completed are removed.
 */
int wp_io_files_make(const struct wp_io_files *files, uint64_t seed, int64_t limit_bytes,
	void (*tell)(void *ctx, int64_t done_bytes), void *ctx, struct wp_err *err);

/* wp_io_files_remove - unlink all that is there. What fails goes with the target's directory. */
void wp_io_files_remove(const struct wp_io_files *files);

/* wp_io_files_release - free memory; accepts a zeroed struct. */
void wp_io_files_release(struct wp_io_files *files);

/* wp_io_file_fail - "could not CALL "PATH": ...", with the space or the limit that is short. */
int wp_io_file_fail(const struct wp_os *os, const char *dir, const char *path, const char *call,
	int sys_errno, int64_t needed_bytes, struct wp_err *err);

/*
 * wp_io_loop_init - choose the operation of plan.
 *
 * files, pool  borrowed until wp_io_loop_release(); the pool has a job and record_bytes for each.
 */
void wp_io_loop_init(struct wp_io_loop *loop, const struct wp_io_plan *plan,
	const struct wp_io_files *files, struct wp_io_pool *pool, uint64_t seed);

/* wp_io_loop_release - free; accepts a zeroed struct. */
void wp_io_loop_release(struct wp_io_loop *loop);

/*
 * wp_io_loop_prepare - files open and the cache as the plan wants it, untimed.
 *
 * Returns: 0; -WP_E_UNSUPPORTED with the reason ("O_DIRECT refused: EINVAL"); -WP_E_SYS ...; no
 * file is open after a failure.
 */
int wp_io_loop_prepare(struct wp_io_loop *loop, struct wp_err *err);

/*
 * wp_io_loop_pass - operate for left_ns, or until every record came once.
 *
 * A pass that ends with a timed sync writes as much as will be synced in left_ns, by the rate of
 * the pass before it.
 * hist    receives one latency per operation that counts (putc, getc: per buffer;
 *         write1, read1: per WP_IO_BYTE_CALLS calls).
 * counts  is added to, also when the pass fails.
 * Returns: 0, or -code with a message that names file and call; -WP_E_STOPPED after a signal;
 * -WP_E_UNSUPPORTED as above. No file is open afterwards.
 */
int wp_io_loop_pass(struct wp_io_loop *loop, int64_t left_ns, struct wp_hist *hist,
	struct wp_io_counts *counts, struct wp_err *err);

/*
 * wp_io_loop_finish - what the passes left behind goes: new files are emptied, written data is
 * synced that the time did not include. Untimed, once after the last pass of a block.
 */
int wp_io_loop_finish(struct wp_io_loop *loop, struct wp_err *err);

#endif
