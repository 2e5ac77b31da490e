/* SPDX-License-Identifier: PostgreSQL */
/*
 * wal_internal.h - the WAL object, shared by group_commit.c (locks and buffers) and wal_write.c
 * (writing and syncing under the lock).
 *
 * Who may touch what: "insert" fields under insert_lock; "write" fields by the holder of the write
 * lock; "guard" fields under guard; the three positions are atomic, each with one writer at a time.
 */
#ifndef WALPROBE_WAL_INTERNAL_H
#define WALPROBE_WAL_INTERNAL_H

#include "walprobe/group_commit.h"

#define WAL_RING_BYTES ((uint64_t)WP_WAL_BUFFER_PAGES * WP_WAL_PAGE_BYTES)
#define WAL_PIECE_BYTES 65536 /* longest single record; more data goes into several */
#define WAL_COMMIT_ALIGNED_BYTES 40

struct wal_queue {
	struct wp_wal_backend *first;
	struct wp_wal_backend *last;
};

struct wp_wal {
	const struct wp_os *os;
	struct wp_wal_config config;
	struct wp_wal_format format;
	struct wp_segments segments;
	unsigned char *pages; /* WP_WAL_BUFFER_PAGES of them */

	enum wp_method method;
	int open_flags;
	int64_t commit_delay_ns;
	int commit_siblings;
	atomic_int active; /* transactions under way; kept only when commit_delay is on */

	struct wp_mutex insert_lock;
	uint64_t insert_lsn;   /* insert: where the next record goes */
	uint64_t previous_lsn; /* insert: start of the record before */
	atomic_uint next_xid;
	atomic_llong buffers_full;

	_Atomic uint64_t inserted; /* everything before it is in the buffers */
	_Atomic uint64_t written;
	_Atomic uint64_t flushed;

	struct wp_mutex guard;
	bool is_held;               /* guard: the write lock */
	struct wal_queue waiters;   /* guard: for the write lock */
	struct wal_queue gated;     /* guard: in front of the gate */
	atomic_bool is_gate_closed; /* changed under guard */
	struct wp_err err;          /* guard */
	atomic_bool has_failed;     /* changed under guard */

	struct wp_wal_counts counts; /* write */
	atomic_llong written_bytes;
	uint64_t opened_segno;      /* write: newest segment that anybody has opened */
	int64_t end_sync_ns;        /* write: sync of the segment finished last */
	struct wp_hist switches;    /* write */
	struct wp_sem *segment_end; /* borrowed */

	uint64_t oldest_segno; /* checkpointer */
};

/*
 * wal_acquire_or_wait - LWLockAcquireOrWait(): true with the write lock held; or, after a sleep
 * until its release, false.
 *
 * wanted  position that must be flushed; 0: none, the lock itself is wanted.
 */
bool wal_acquire_or_wait(struct wp_wal *wal, struct wp_wal_backend *backend, uint64_t wanted);

/* wal_release - give the write lock up and wake all who wait for it. */
void wal_release(struct wp_wal *wal);

/*
 * wal_write - write pages up to write_to and make durable up to flush_to, under the write lock.
 *
 * is_flexible  stop at the first convenient boundary.
 * Returns: 0, or -code with backend->err filled; the positions are unchanged then.
 */
int wal_write(struct wp_wal *wal, struct wp_wal_backend *backend, uint64_t write_to,
	uint64_t flush_to, bool is_flexible);

/* wal_open_segment - make backend->fd the descriptor of segno, closing the one before. */
int wal_open_segment(struct wp_wal *wal, struct wp_wal_backend *backend, uint64_t segno);

#endif
