/* SPDX-License-Identifier: PostgreSQL */
#include "wal_internal.h"
#include "walprobe/forked.h"
#include "walprobe/mem.h"

#define WALWRITER_DELAY_NS (200 * WP_NS_PER_MS)
#define WALWRITER_FLUSH_PAGES 128
#define FIRST_SEGMENT 1
#define FIRST_XID 731

const char *wp_recycle_name(enum wp_recycle recycle)
{
	static const char *const names[] = {
		[WP_RECYCLE_RENAME] = "rename",
		[WP_RECYCLE_LINK] = "link",
		[WP_RECYCLE_NONE] = "none",
	};

	return names[recycle];
}

/* ---- life ---------------------------------------------------------------------------------- */

static int make_directory(const struct wp_os *os, const char *path, struct wp_err *err)
{
	int rc = wp_os_mkdir(os, path, 0700);

	return rc < 0 ? wp_fail(err, WP_E_SYS, -rc, "could not create directory \"%s\"", path) : 0;
}

static int make_directories(const struct wp_os *os, const char *pg_wal, struct wp_err *err)
{
	char *status;
	int rc;

	if (strlen(pg_wal) + 64 > WP_SEGMENT_PATH_BYTES)
		return wp_fail(err, WP_E_SYS, ENAMETOOLONG, "could not use \"%s\"", pg_wal);
	status = wp_xasprintf("%s/archive_status", pg_wal);
	rc = make_directory(os, pg_wal, err);
	if (!rc)
		rc = make_directory(os, status, err);
	free(status);
	return rc;
}

static void init_segments(struct wp_wal *wal)
{
	const struct wp_wal_config *config = &wal->config;

	wal->segments.os = wal->os;
	wal->segments.dir = config->dir;
	wal->segments.era = config->era;
	wal->segments.segment_bytes = config->segment_bytes;
	wal->segments.ahead = config->segments;
	wal->segments.is_sparse = config->is_sparse;
	/* Without recycling new segments still get their names the era's way. */
	wal->segments.is_link = config->recycle == WP_RECYCLE_NONE
					? config->era->is_link
					: config->recycle == WP_RECYCLE_LINK;
}

static void init_positions(struct wp_wal *wal)
{
	uint64_t start = (uint64_t)wal->config.segment_bytes * FIRST_SEGMENT;

	wal->insert_lsn = start;
	atomic_init(&wal->inserted, start);
	atomic_init(&wal->written, start);
	atomic_init(&wal->flushed, start);
	atomic_init(&wal->next_xid, FIRST_XID);
	wal->oldest_segno = FIRST_SEGMENT;
}

int wp_wal_new(const struct wp_os *os, const struct wp_wal_config *config, struct wp_wal **out,
	struct wp_err *err)
{
	char *pg_wal = wp_xasprintf("%s/pg_wal", config->dir);
	struct wp_wal *wal;
	int rc = make_directories(os, pg_wal, err);

	if (rc) {
		free(pg_wal);
		return rc;
	}
	wal = config->is_shared ? wp_shared_alloc(sizeof(*wal)) : wp_xcalloc(1, sizeof(*wal));
	wal->os = os;
	wal->config = *config;
	wal->config.dir = pg_wal;
	wal->format = (struct wp_wal_format){
		.magic = config->era->page_magic,
		.timeline = WP_WAL_TIMELINE,
		.system_id = config->seed * 2 + 1,
		.segment_bytes = config->segment_bytes,
	};
	init_segments(wal);
	init_positions(wal);
	if (config->is_shared) {
		wal->pages = wp_shared_alloc(WAL_RING_BYTES);
		wp_mutex_init_shared(&wal->insert_lock);
		wp_mutex_init_shared(&wal->guard);
	} else {
		wal->pages = wp_xaligned(WP_WAL_PAGE_BYTES, WAL_RING_BYTES);
		wp_mutex_init(&wal->insert_lock);
		wp_mutex_init(&wal->guard);
	}
	wp_hist_init(&wal->switches);
	wp_wal_set_method(wal, WP_METHOD_FDATASYNC, 0, 0);
	*out = wal;
	return 0;
}

void wp_wal_free(struct wp_wal *wal)
{
	if (!wal)
		return;
	wp_hist_release(&wal->switches);
	wp_mutex_release(&wal->guard);
	wp_mutex_release(&wal->insert_lock);
	free((char *)(uintptr_t)wal->config.dir);
	if (wal->config.is_shared) {
		wp_shared_free(wal->pages, WAL_RING_BYTES);
		wp_shared_free(wal, sizeof(*wal));
	} else {
		free(wal->pages);
		free(wal);
	}
}

void wp_wal_set_method(
	struct wp_wal *wal, enum wp_method method, int64_t commit_delay_ns, int64_t commit_siblings)
{
	wal->method = method;
	wal->open_flags = wp_method_open_flags(method);
	if (wal->config.is_direct && (wal->open_flags || wal->config.era->is_direct_always))
		wal->open_flags |= O_DIRECT;
	wal->commit_delay_ns = commit_delay_ns;
	wal->commit_siblings = (int)commit_siblings;
}

void wp_wal_backend_init(
	struct wp_wal_backend *backend, const struct wp_wal *wal, int id, int64_t record_bytes)
{
	size_t most = record_bytes < WAL_PIECE_BYTES ? (size_t)record_bytes : WAL_PIECE_BYTES;

	memset(backend, 0, sizeof(*backend));
	backend->id = id;
	backend->fd = -1;
	if (wal->config.is_shared)
		wp_sem_init_shared(&backend->sem, 0);
	else
		wp_sem_init(&backend->sem, 0);
	wp_random_init(&backend->random, wal->config.seed + (uint64_t)id * 2654435761);
	/* Debt from earlier transactions can make one longer by what rounding took. */
	backend->scratch = wp_xcalloc(most + 2 * WAL_COMMIT_ALIGNED_BYTES + 64, 1);
}

void wp_wal_backend_release(struct wp_wal_backend *backend, const struct wp_wal *wal)
{
	if (backend->fd >= 0)
		(void)wp_os_close(
			wal->os, backend->fd); /* after an error: what went before counts */
	backend->fd = -1;
	wp_sem_release(&backend->sem);
	free(backend->scratch);
	backend->scratch = NULL;
}

int wp_wal_attach(struct wp_wal *wal, struct wp_wal_backend *backend)
{
	uint64_t segno = atomic_load(&wal->written) / (uint64_t)wal->config.segment_bytes;
	int rc;

	if (backend->fd >= 0 && backend->segno == segno)
		return 0;
	rc = wp_wal_detach(wal, backend);
	if (!rc)
		rc = wp_segment_open(&wal->segments, backend->id, segno, wal->open_flags,
			&backend->fd, &backend->err);
	backend->segno = segno;
	/* What is opened ahead of time is no switch. */
	wp_mutex_lock(&wal->guard);
	if (segno > wal->opened_segno)
		wal->opened_segno = segno;
	wp_mutex_unlock(&wal->guard);
	return rc;
}

int wp_wal_detach(struct wp_wal *wal, struct wp_wal_backend *backend)
{
	char name[WP_SEGMENT_NAME_BYTES];
	int rc = 0;

	if (backend->fd >= 0)
		rc = wp_os_close(wal->os, backend->fd);
	backend->fd = -1;
	if (rc < 0)
		return wp_fail(&backend->err, WP_E_SYS, -rc, "could not close \"%s/%s\"",
			wal->config.dir,
			wp_segment_name(
				name, WP_WAL_TIMELINE, backend->segno, wal->config.segment_bytes));
	return 0;
}

/* ---- the write lock and the gate -------------------------------------------------------------- */

static void queue_add(struct wal_queue *queue, struct wp_wal_backend *backend)
{
	backend->next = NULL;
	if (queue->last)
		queue->last->next = backend;
	else
		queue->first = backend;
	queue->last = backend;
}

static struct wp_wal_backend *queue_take_all(struct wal_queue *queue)
{
	struct wp_wal_backend *first = queue->first;

	queue->first = NULL;
	queue->last = NULL;
	return first;
}

static void wake_all(struct wp_wal_backend *backend)
{
	while (backend) {
		/* Once woken it may queue itself again at once. */
		struct wp_wal_backend *next = backend->next;

		wp_sem_post(&backend->sem);
		backend = next;
	}
}

static struct wp_wal_backend *open_gate(struct wp_wal *wal)
{
	atomic_store_explicit(&wal->is_gate_closed, false, memory_order_relaxed);
	return queue_take_all(&wal->gated);
}

bool wal_acquire_or_wait(struct wp_wal *wal, struct wp_wal_backend *backend, uint64_t wanted)
{
	struct wp_wal_backend *gated = NULL;
	bool is_taken;

	wp_mutex_lock(&wal->guard);
	is_taken = !wal->is_held;
	wal->is_held = true;
	if (is_taken) {
		gated = open_gate(wal);
	} else {
		backend->wanted = wanted;
		queue_add(&wal->waiters, backend);
	}
	wp_mutex_unlock(&wal->guard);
	if (is_taken)
		wake_all(gated);
	else
		wp_sem_wait(&backend->sem);
	return is_taken;
}

void wal_release(struct wp_wal *wal)
{
	uint64_t flushed = atomic_load_explicit(&wal->flushed, memory_order_relaxed);
	struct wp_wal_backend *waiters;
	bool is_closed = false;

	wp_mutex_lock(&wal->guard);
	wal->is_held = false;
	waiters = queue_take_all(&wal->waiters);
	for (const struct wp_wal_backend *b = waiters; b && !is_closed; b = b->next)
		is_closed = b->wanted > flushed;
	/* After a failure nobody takes the lock again who could open the gate. */
	if (is_closed && !atomic_load_explicit(&wal->has_failed, memory_order_relaxed))
		atomic_store_explicit(&wal->is_gate_closed, true, memory_order_relaxed);
	wp_mutex_unlock(&wal->guard);
	wake_all(waiters);
}

void wp_wal_begin(struct wp_wal *wal, struct wp_wal_backend *backend)
{
	bool must_wait = atomic_load_explicit(&wal->is_gate_closed, memory_order_relaxed);

	if (must_wait) {
		wp_mutex_lock(&wal->guard);
		must_wait = atomic_load_explicit(&wal->is_gate_closed, memory_order_relaxed);
		if (must_wait)
			queue_add(&wal->gated, backend);
		wp_mutex_unlock(&wal->guard);
	}
	if (must_wait)
		wp_sem_wait(&backend->sem);
	wp_wal_enter(wal);
}

void wp_wal_enter(struct wp_wal *wal)
{
	if (wal->commit_delay_ns)
		(void)atomic_fetch_add_explicit(&wal->active, 1, memory_order_relaxed);
}

void wp_wal_end(struct wp_wal *wal)
{
	if (wal->commit_delay_ns)
		(void)atomic_fetch_sub_explicit(&wal->active, 1, memory_order_relaxed);
}

void wp_wal_fail(struct wp_wal *wal, const struct wp_err *err)
{
	struct wp_wal_backend *gated;

	wp_mutex_lock(&wal->guard);
	if (!atomic_load(&wal->has_failed))
		wal->err = *err;
	atomic_store(&wal->has_failed, true);
	gated = open_gate(wal);
	wp_mutex_unlock(&wal->guard);
	wake_all(gated);
}

bool wp_wal_has_failed(struct wp_wal *wal, struct wp_err *err)
{
	if (!atomic_load(&wal->has_failed))
		return false;
	wp_mutex_lock(&wal->guard);
	if (err)
		*err = wal->err;
	wp_mutex_unlock(&wal->guard);
	return true;
}

/* ---- flushing ----------------------------------------------------------------------------------- */

/* With enough others in a transaction, wait for their commits while holding the lock. */
static void delay_commit(struct wp_wal *wal, uint64_t *target)
{
	if (!wal->commit_delay_ns ||
		atomic_load_explicit(&wal->active, memory_order_relaxed) - 1 < wal->commit_siblings)
		return;
	(void)wp_os_sleep_ns(wal->os, wal->commit_delay_ns); /* a shorter sleep does no harm */
	*target = atomic_load_explicit(&wal->inserted, memory_order_acquire);
}

static int write_timed(struct wp_wal *wal, struct wp_wal_backend *backend, uint64_t target)
{
	int64_t start_ns = wp_os_now_ns(wal->os);
	int rc = wal_write(wal, backend, target, target, false);

	wal->counts.flush_ns += wp_os_now_ns(wal->os) - start_ns;
	return rc;
}

int wp_wal_flush(struct wp_wal *wal, struct wp_wal_backend *backend, uint64_t lsn)
{
	while (atomic_load_explicit(&wal->flushed, memory_order_acquire) < lsn) {
		uint64_t target = atomic_load_explicit(&wal->inserted, memory_order_acquire);
		int rc = 0;

		if (!wal_acquire_or_wait(wal, backend, lsn)) {
			if (atomic_load_explicit(&wal->flushed, memory_order_acquire) < lsn &&
				wp_wal_has_failed(wal, &backend->err))
				return -(int)backend->err.code;
			continue;
		}
		if (wp_wal_has_failed(wal, &backend->err)) {
			rc = -(int)backend->err.code;
		} else if (atomic_load_explicit(&wal->flushed, memory_order_relaxed) < lsn) {
			delay_commit(wal, &target);
			rc = write_timed(wal, backend, target);
			/* Before the lock is free: the next leader must not go on. */
			if (rc)
				wp_wal_fail(wal, &backend->err);
		}
		wal_release(wal);
		if (rc)
			return rc;
	}
	return 0;
}

bool wp_wal_wants_walwriter(const struct wp_wal *wal)
{
	uint64_t inserted = atomic_load_explicit(&wal->inserted, memory_order_relaxed);
	uint64_t flushed = atomic_load_explicit(&wal->flushed, memory_order_relaxed);

	return inserted / WP_WAL_PAGE_BYTES >=
	       flushed / WP_WAL_PAGE_BYTES + (uint64_t)wal->config.era->wake_pages;
}

int wp_wal_background_flush(
	struct wp_wal *wal, struct wp_wal_backend *backend, int64_t *last_sync_ns)
{
	uint64_t flushed = atomic_load_explicit(&wal->flushed, memory_order_acquire);
	uint64_t inserted = atomic_load_explicit(&wal->inserted, memory_order_acquire);
	uint64_t target = inserted - inserted % WP_WAL_PAGE_BYTES;
	bool is_flexible = target > flushed;
	int64_t now_ns = wp_os_now_ns(wal->os);
	bool is_synced;
	int rc = 0;

	if (!is_flexible)
		target = inserted;
	if (target <= flushed)
		return 0;
	is_synced =
		!*last_sync_ns || now_ns - *last_sync_ns >= WALWRITER_DELAY_NS ||
		target / WP_WAL_PAGE_BYTES - flushed / WP_WAL_PAGE_BYTES >= WALWRITER_FLUSH_PAGES;
	if (is_synced)
		*last_sync_ns = now_ns;
	while (!wal_acquire_or_wait(wal, backend, 0))
		;
	if (wp_wal_has_failed(wal, &backend->err))
		rc = -(int)backend->err.code;
	else if (target > atomic_load_explicit(&wal->written, memory_order_relaxed) ||
		 (is_synced && target > atomic_load_explicit(&wal->flushed, memory_order_relaxed)))
		rc = wal_write(wal, backend, target, is_synced ? target : 0, is_flexible);
	if (rc)
		wp_wal_fail(wal, &backend->err);
	wal_release(wal);
	return rc;
}

/* ---- checkpoints, jumps, looking at ---------------------------------------------------------------- */

int wp_wal_checkpoint(struct wp_wal *wal, struct wp_err *err)
{
	uint64_t current = atomic_load(&wal->flushed) / (uint64_t)wal->config.segment_bytes;
	uint64_t limit = wal->config.recycle == WP_RECYCLE_NONE
				 ? 0
				 : current + (uint64_t)wal->config.segments - 1;
	uint64_t next = current;

	for (; wal->oldest_segno < current; wal->oldest_segno++) {
		int rc = wp_segment_retire(&wal->segments, wal->oldest_segno, &next, limit, err);

		if (rc)
			return rc;
	}
	return 0;
}

void wp_wal_jump(struct wp_wal *wal, uint64_t lsn)
{
	assert(atomic_load(&wal->flushed) == atomic_load(&wal->inserted));
	assert(lsn % WP_WAL_PAGE_BYTES == 0);
	if (lsn <= wal->insert_lsn)
		return;
	wal->insert_lsn = lsn;
	atomic_store(&wal->inserted, lsn);
	atomic_store(&wal->written, lsn);
	atomic_store(&wal->flushed, lsn);
}

uint64_t wp_wal_inserted(const struct wp_wal *wal)
{
	return atomic_load_explicit(&wal->inserted, memory_order_acquire);
}

uint64_t wp_wal_written(const struct wp_wal *wal)
{
	return atomic_load_explicit(&wal->written, memory_order_acquire);
}

uint64_t wp_wal_flushed(const struct wp_wal *wal)
{
	return atomic_load_explicit(&wal->flushed, memory_order_acquire);
}

int64_t wp_wal_written_bytes(const struct wp_wal *wal)
{
	return atomic_load_explicit(&wal->written_bytes, memory_order_relaxed) +
	       atomic_load_explicit(&wal->segments.filled_bytes, memory_order_relaxed);
}

struct wp_segments *wp_wal_segments(struct wp_wal *wal)
{
	return &wal->segments;
}

const struct wp_wal_config *wp_wal_config_of(const struct wp_wal *wal)
{
	return &wal->config;
}

struct wp_wal_counts wp_wal_counts_of(const struct wp_wal *wal)
{
	struct wp_wal_counts counts = wal->counts;

	counts.buffers_full = atomic_load(&wal->buffers_full);
	return counts;
}

struct wp_hist *wp_wal_switches(struct wp_wal *wal)
{
	return &wal->switches;
}

void wp_wal_on_segment_end(struct wp_wal *wal, struct wp_sem *sem)
{
	wal->segment_end = sem;
}
