/* SPDX-License-Identifier: PostgreSQL */
/*
 * sync_loop.h - one way to write and sync, prepared on one file and timed.
 *
 * Floor: wal (may include base, os, stats). A wp_sync_file is a file of a WAL segment's size in one
 * of the states that a segment can be in; a wp_sync_loop writes to it in one way, again and again,
 * and reads the clock once per operation: the end of one is the start of the next, so that nothing
 * between two operations goes uncounted. Inside the timed loop there is no allocation, no lock and
 * no output; every result of a call is looked at, and a failed sync ends the loop and counts as
 * nothing. Source: pg_test_fsync.c for the shapes, PostgreSQL xlog.c for how segments are made.
 * Threads: no; one file and its loops belong to one thread.
 */
#ifndef WALPROBE_SYNC_LOOP_H
#define WALPROBE_SYNC_LOOP_H

#include "walprobe/hist.h"
#include "walprobe/method.h"
#include "walprobe/tick.h"

/* how the file came to its size; all end with fsync of the file and of its directory */
enum wp_sync_fill {
	WP_SYNC_FILL_ZERO,     /* zeros written to all of it (wal_init_zero = on) */
	WP_SYNC_FILL_ALLOCATE, /* fallocate: blocks that were never written */
	WP_SYNC_FILL_SPARSE,   /* one byte at the end (wal_init_zero = off) */
};

struct wp_sync_file {
	const struct wp_os *os; /* borrowed */
	char *dir;
	char *path;
	enum wp_sync_fill fill;
	int64_t size_bytes;
	int64_t next_bytes; /* first byte that no operation wrote yet */
	bool is_made;
};

/* which bytes an operation writes */
enum wp_sync_offsets {
	WP_SYNC_FIXED, /* the start of the file, always the same, as pg_test_fsync does */
	WP_SYNC_ROLL,  /* one place after another, then from the start again */
	WP_SYNC_FRESH, /* only places not written before; a used-up file is made anew, untimed */
};

/* what makes the write durable */
enum wp_sync_how {
	WP_SYNC_BY_METHOD,    /* open flags and sync call of the method */
	WP_SYNC_BY_OTHER_FD,  /* open, write, close; open again, the method's sync, close */
	WP_SYNC_BY_RWF_DSYNC, /* pwritev2 with RWF_DSYNC on a descriptor without sync flags */
	WP_SYNC_BY_NOTHING,   /* the page cache alone; synced once, untimed, after the loop */
};

struct wp_sync_plan {
	enum wp_method method; /* looked at where how says so */
	enum wp_sync_how how;
	enum wp_sync_offsets offsets;
	bool is_direct; /* O_DIRECT */
	int writes_per_op;
	int64_t write_bytes; /* of each write; writes_per_op of them lie side by side */
};

struct wp_sync_loop {
	struct wp_sync_plan plan;
	struct wp_sync_file *file; /* borrowed */
	const struct wp_os *os;    /* borrowed */
	struct wp_tick tick;
	int fd; /* -1 outside of a run */
	int open_flags;
	unsigned char *buffer; /* random bytes, all that one operation writes */
	uint64_t sequence;     /* stamped into every write, so that no two are alike */
	int (*operate)(struct wp_sync_loop *loop, int64_t offset);
	const char *failed_call; /* set by a failing operation: "write", "fdatasync" ... */
	int64_t failed_result;   /* -errno, or the bytes of a short write */
};

/* what a run did */
struct wp_sync_counts {
	int64_t operations; /* completed, each in the histogram */
	int64_t syncs;      /* synchronous writes and syncs, those that made the file included */
	int64_t elapsed_ns; /* time of the operations alone */
};

/*
 * wp_sync_file_init - describe a file NAME in directory dir; nothing is made yet.
 *
 * size_bytes  a multiple of every operation's bytes.
 */
void wp_sync_file_init(struct wp_sync_file *file, const struct wp_os *os, const char *dir,
	const char *name, enum wp_sync_fill fill, int64_t size_bytes);

/*
 * wp_sync_file_make - make the file, in place of an earlier one, with all of its bytes fresh.
 *
 * syncs  raised by the number of syncs that it took; NULL allowed.
 * Returns: 0; -WP_E_UNSUPPORTED with the reason as message where fallocate does not exist;
 * -WP_E_NOSPACE with the bytes needed and free; -WP_E_SYS; -WP_E_STOPPED. A file that could not be
 * completed is removed.
 */
int wp_sync_file_make(struct wp_sync_file *file, int64_t *syncs, struct wp_err *err);

/*
 * wp_sync_file_fail - "could not CALL "PATH": ..." into err, as wp_fail() does.
 *
 * When space is out, the bytes of the file and those that are free are the detail.
 */
int wp_sync_file_fail(
	const struct wp_sync_file *file, const char *call, int sys_errno, struct wp_err *err);

/* wp_sync_file_remove - unlink the file if it was made; 0 or -WP_E_SYS. */
int wp_sync_file_remove(struct wp_sync_file *file, struct wp_err *err);

/* wp_sync_file_release - free memory; the file stays. Accepts a zeroed struct. */
void wp_sync_file_release(struct wp_sync_file *file);

/*
 * wp_sync_loop_init - choose the operation of plan and fill its buffer with incompressible bytes.
 *
 * file  borrowed until wp_sync_loop_release(); loops that run one after another may share it.
 */
void wp_sync_loop_init(struct wp_sync_loop *loop, struct wp_sync_file *file,
	const struct wp_sync_plan *plan, uint64_t seed);

/* wp_sync_loop_release - free the buffer; accepts a zeroed struct. */
void wp_sync_loop_release(struct wp_sync_loop *loop);

/*
 * wp_sync_loop_syncs_per_op - synchronous writes or syncs in one operation: 1 for a sync call
 * after the writes, one per write for open_* and RWF_DSYNC, 0 for unsynced writes.
 */
int wp_sync_loop_syncs_per_op(const struct wp_sync_plan *plan);

/*
 * wp_sync_loop_try - one operation without the clock, to learn whether this way exists here.
 *
 * Makes the file when it is not made. Returns: 0; -WP_E_UNSUPPORTED with the reason as message
 * ("O_DIRECT refused: EINVAL") where the system lacks O_DIRECT, fallocate or RWF_DSYNC; else as
 * wp_sync_loop_run().
 */
int wp_sync_loop_try(struct wp_sync_loop *loop, struct wp_err *err);

/*
 * wp_sync_loop_run - operate for at least least_ns of measured time, once at least.
 *
 * hist    receives one latency per completed operation.
 * done    receives the counts of what completed, also when the run fails or is stopped.
 * Returns: 0, or -code with a message that names file and call; -WP_E_STOPPED after a signal. No
 * descriptor is open afterwards.
 */
int wp_sync_loop_run(struct wp_sync_loop *loop, int64_t least_ns, struct wp_hist *hist,
	struct wp_sync_counts *done, struct wp_err *err);

#endif
