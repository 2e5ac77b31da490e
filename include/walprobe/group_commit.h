/* SPDX-License-Identifier: PostgreSQL */
/*
 * group_commit.h - WAL buffers, the WAL write lock, and PostgreSQL's group commit.
 *
 * Floor: wal (may include base, os, stats). Insert >= Write >= Flush are positions in one stream
 * of bytes. Inserters copy records into a ring of 2048 pages; whoever must have its commit on disk
 * computes its target first (everything inserted so far), then asks for the one write lock. A free
 * lock makes it the leader: it writes whole pages from the page that holds the old write position
 * and syncs once. A busy lock makes it sleep until the lock is free and look again whether somebody
 * has flushed for it; the release wakes all who sleep.
 *
 * The gate. In PostgreSQL a backend that has committed answers its client and reads the next
 * command before it inserts again, and by then the leader of the next group, woken at the same
 * moment, has computed its target. Without that round trip (there is no client here) the backend
 * would slip its next record into the group that is just starting, and two clients would commit
 * 1.5 to 2 transactions per sync where the server commits 1.00. So a release that leaves unflushed
 * sleepers closes a gate in front of new transactions, which the next holder of the lock opens.
 * The gate takes no time of the flushes: they start as soon as the next leader has woken up.
 *
 * The insertion locks of PostgreSQL (eight of them) are one short lock here.
 * Source: PostgreSQL xlog.c, XLogInsertRecord(), XLogFlush(), XLogWrite(),
 * XLogBackgroundFlush(); lwlock.c, LWLockAcquireOrWait().
 */
#ifndef WALPROBE_GROUP_COMMIT_H
#define WALPROBE_GROUP_COMMIT_H

#include "walprobe/hist.h"
#include "walprobe/method.h"
#include "walprobe/segment.h"
#include "walprobe/thread.h"
#include "walprobe/wal_page.h"

#define WP_WAL_BUFFER_PAGES 2048
#define WP_WAL_COMMIT_DELAY_MAXIMUM_NS (100 * WP_NS_PER_MS)
#define WP_WAL_RECORD_MINIMUM_BYTES 40
#define WP_WAL_RECORD_MAXIMUM_BYTES (INT64_C(1) << 26)

enum wp_recycle {
	WP_RECYCLE_RENAME,
	WP_RECYCLE_LINK,
	WP_RECYCLE_NONE, /* old segments are removed, new ones created */
};

/* wp_recycle_name - "rename", "link", "none". */
const char *wp_recycle_name(enum wp_recycle recycle);

struct wp_wal_config {
	const char *dir; /* pg_wal is made in it; copied */
	const struct wp_era *era;
	int64_t segment_bytes; /* power of two, 1 MB to 1 GB */
	int64_t segments;      /* files of the ring; at least 2 */
	enum wp_recycle recycle;
	bool is_sparse;
	bool is_direct; /* O_DIRECT; eras before 16 only with open_datasync and open_sync */
	uint64_t seed;
	bool is_shared; /* processes use it together (forked.h), not threads alone */
};

struct wp_wal;

/* one process that writes WAL: its own descriptor, its own semaphore */
struct wp_wal_backend {
	int id;
	int fd;         /* -1: none */
	uint64_t segno; /* of fd */
	struct wp_sem sem;
	struct wp_wal_backend *next; /* in the queue that it sleeps in */
	uint64_t wanted;             /* position it sleeps for */
	int64_t debt;                /* bytes that its records fell short of what was asked for */
	struct wp_random random;
	unsigned char *scratch;
	struct wp_err err;
};

/* what was done; all but buffers_full change under the write lock only */
struct wp_wal_counts {
	int64_t writes;
	int64_t syncs; /* synchronous writes: syncs, or with open_* the writes themselves */
	int64_t written_bytes;
	int64_t segment_ends;
	int64_t buffers_full; /* times an inserter had to write pages itself */
	int64_t flush_ns;     /* leaders spent in writing and syncing */
};

/*
 * wp_wal_new - an empty pg_wal: the directory, archive_status in it, and buffers (16 MB, touched).
 *
 * out  receives the object; free with wp_wal_free(). The files stay: the directory's owner removes
 *      them.
 */
int wp_wal_new(const struct wp_os *os, const struct wp_wal_config *config, struct wp_wal **out,
	struct wp_err *err);

/* wp_wal_free - free memory; accepts NULL. No thread may use the object any more. */
void wp_wal_free(struct wp_wal *wal);

/*
 * wp_wal_set_method - the method and commit_delay from now on. No thread may use the object, and
 * no descriptor may be open.
 */
void wp_wal_set_method(struct wp_wal *wal, enum wp_method method, int64_t commit_delay_ns,
	int64_t commit_siblings);

/* wp_wal_backend_init - a backend without a descriptor; record_bytes bounds its scratch memory. */
void wp_wal_backend_init(
	struct wp_wal_backend *backend, const struct wp_wal *wal, int id, int64_t record_bytes);

/* wp_wal_backend_release - free memory and close the descriptor, whatever close says. */
void wp_wal_backend_release(struct wp_wal_backend *backend, const struct wp_wal *wal);

/*
 * wp_wal_attach - open the segment of the write position for this backend ahead of time, creating
 * it when it does not exist (then not from two threads at once).
 *
 * Returns: 0, or -code with backend->err filled.
 */
int wp_wal_attach(struct wp_wal *wal, struct wp_wal_backend *backend);

/* wp_wal_detach - close the backend's descriptor; 0, or -WP_E_SYS with backend->err filled. */
int wp_wal_detach(struct wp_wal *wal, struct wp_wal_backend *backend);

/* wp_wal_begin - a transaction begins: waits at the gate. Threads: yes. */
void wp_wal_begin(struct wp_wal *wal, struct wp_wal_backend *backend);

/*
 * wp_wal_enter - as wp_wal_begin without the gate, for backends that wait for a client of their
 * own between two transactions. Threads: yes.
 */
void wp_wal_enter(struct wp_wal *wal);

/* wp_wal_end - the transaction is over; commit_siblings no longer counts it. Threads: yes. */
void wp_wal_end(struct wp_wal *wal);

/*
 * wp_wal_insert - copy one transaction's records into the buffers.
 *
 * bytes  of WAL, page headers and padding included; what rounding takes or gives is made up for in
 *        the backend's next transactions, so that the mean is exact.
 * end    receives the position to flush.
 * Returns: 0, or -code with backend->err filled: pages had to be written and could not.
 * Threads: yes, one per backend.
 */
int wp_wal_insert(struct wp_wal *wal, struct wp_wal_backend *backend, int64_t bytes, uint64_t *end);

/*
 * wp_wal_flush - sleep, follow or lead until everything up to lsn is durable.
 *
 * Returns: 0, or -code: a write or sync failed, here (backend->err) or in another backend; from
 * then on nothing is ever acknowledged.
 * Threads: yes, one per backend.
 */
int wp_wal_flush(struct wp_wal *wal, struct wp_wal_backend *backend, uint64_t lsn);

/*
 * wp_wal_background_flush - one turn of the walwriter: write completed pages (or, when there are
 * none, the partial one); sync them when 200 ms have passed since its last sync or 1 MB is waiting.
 *
 * last_sync_ns  kept by the caller between turns; starts at 0.
 * Returns: as wp_wal_flush().
 */
int wp_wal_background_flush(
	struct wp_wal *wal, struct wp_wal_backend *backend, int64_t *last_sync_ns);

/* wp_wal_wants_walwriter - enough pages are completed to wake the walwriter before its time. */
bool wp_wal_wants_walwriter(const struct wp_wal *wal);

/*
 * wp_wal_checkpoint - retire all segments before the one that holds the flush position: give them
 * numbers ahead, or remove what the ring does not need.
 *
 * Returns: 0, or -code. Threads: one at a time, beside any number of backends.
 */
int wp_wal_checkpoint(struct wp_wal *wal, struct wp_err *err);

/*
 * wp_wal_jump - go on at a later position of the segment in which the stream ends, or at the start
 * of the next, as if everything between had been written. Everything inserted must be flushed, and
 * no thread may use the object.
 *
 * lsn  a multiple of 8192; a position that is passed already changes nothing.
 */
void wp_wal_jump(struct wp_wal *wal, uint64_t lsn);

/* wp_wal_fail - remember the first error; nothing is acknowledged from now on. Threads: yes. */
void wp_wal_fail(struct wp_wal *wal, const struct wp_err *err);

/* wp_wal_has_failed - true, with a copy of the first error (NULL allowed), after one. */
bool wp_wal_has_failed(struct wp_wal *wal, struct wp_err *err);

/* wp_wal_inserted, wp_wal_written, wp_wal_flushed - the three positions. Threads: yes. */
uint64_t wp_wal_inserted(const struct wp_wal *wal);
uint64_t wp_wal_written(const struct wp_wal *wal);
uint64_t wp_wal_flushed(const struct wp_wal *wal);

/* wp_wal_written_bytes - bytes handed to the system so far, zero fills included. Threads: yes. */
int64_t wp_wal_written_bytes(const struct wp_wal *wal);

/* wp_wal_segments - the directory's segments and the counts of what was done to them. */
struct wp_segments *wp_wal_segments(struct wp_wal *wal);

/* wp_wal_config_of - the configuration as given; dir is pg_wal itself. */
const struct wp_wal_config *wp_wal_config_of(const struct wp_wal *wal);

/* wp_wal_counts_of - counts since the object was made. No thread may use the object. */
struct wp_wal_counts wp_wal_counts_of(const struct wp_wal *wal);

/*
 * wp_wal_switches - how long commits stood still at each segment end: the sync of the finished
 * segment, closing it, and opening or creating the next. The caller may clear it; no thread may
 * use the object.
 */
struct wp_hist *wp_wal_switches(struct wp_wal *wal);

/* wp_wal_on_segment_end - semaphore that is posted after each finished segment; NULL: none. */
void wp_wal_on_segment_end(struct wp_wal *wal, struct wp_sem *sem);

#endif
