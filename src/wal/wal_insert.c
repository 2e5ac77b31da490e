/* SPDX-License-Identifier: PostgreSQL */
/*
 * wal_insert.c - XLogInsertRecord() and AdvanceXLInsertBuffer(): records into the ring of pages.
 *
 * The lock is held for the copy. A holder that finds the ring full may wait for the write lock;
 * the holder of the write lock never asks for this one, it only reads the atomic position.
 */
#include "wal_internal.h"

/* The ring is full: the inserter writes the oldest page itself, without a sync. */
static int make_room(struct wp_wal *wal, struct wp_wal_backend *backend)
{
	uint64_t needed = wal->insert_lsn + WP_WAL_PAGE_BYTES - WAL_RING_BYTES;
	int rc = 0;

	/* Whoever holds the lock may be about to write exactly this far. */
	atomic_store_explicit(&wal->inserted, wal->insert_lsn, memory_order_release);
	(void)atomic_fetch_add_explicit(&wal->buffers_full, 1, memory_order_relaxed);
	while (!wal_acquire_or_wait(wal, backend, 0))
		if (atomic_load_explicit(&wal->written, memory_order_acquire) >= needed)
			return 0;
	if (wp_wal_has_failed(wal, &backend->err))
		rc = -(int)backend->err.code;
	else if (atomic_load_explicit(&wal->written, memory_order_relaxed) < needed)
		rc = wal_write(wal, backend, needed, 0, false);
	if (rc)
		wp_wal_fail(wal, &backend->err);
	wal_release(wal);
	return rc;
}

static int start_page(struct wp_wal *wal, struct wp_wal_backend *backend, size_t remaining)
{
	uint64_t lsn = wal->insert_lsn;
	uint64_t slot = lsn / WP_WAL_PAGE_BYTES % WP_WAL_BUFFER_PAGES;
	int rc = 0;

	if (lsn + WP_WAL_PAGE_BYTES >
		atomic_load_explicit(&wal->written, memory_order_acquire) + WAL_RING_BYTES)
		rc = make_room(wal, backend);
	if (rc)
		return rc;
	wal->insert_lsn += wp_wal_page_init(
		wal->pages + slot * WP_WAL_PAGE_BYTES, &wal->format, lsn, (uint32_t)remaining);
	return 0;
}

static int copy_record(
	struct wp_wal *wal, struct wp_wal_backend *backend, unsigned char *record, size_t length)
{
	int rc = 0;

	if (wal->insert_lsn % WP_WAL_PAGE_BYTES == 0)
		rc = start_page(wal, backend, 0);
	if (rc)
		return rc;
	wp_wal_record_seal(record, wal->previous_lsn);
	wal->previous_lsn = wal->insert_lsn;
	while (length > 0) {
		size_t offset = (size_t)(wal->insert_lsn % WP_WAL_PAGE_BYTES);
		uint64_t slot = wal->insert_lsn / WP_WAL_PAGE_BYTES % WP_WAL_BUFFER_PAGES;
		size_t part = WP_WAL_PAGE_BYTES - offset;

		if (offset == 0) {
			rc = start_page(wal, backend, length);
			if (rc)
				return rc;
			continue;
		}
		if (part > length)
			part = length;
		memcpy(wal->pages + slot * WP_WAL_PAGE_BYTES + offset, record, part);
		wal->insert_lsn += part;
		record += part;
		length -= part;
	}
	wal->insert_lsn = wp_wal_align(wal->insert_lsn);
	return 0;
}

/* The records in scratch, data (0: none) and commit (0: none), under one hold of the lock. */
static int insert_records(struct wp_wal *wal, struct wp_wal_backend *backend, size_t data,
	size_t commit, int64_t *advance, uint64_t *end)
{
	uint64_t start;
	int rc = 0;

	wp_mutex_lock(&wal->insert_lock);
	start = wal->insert_lsn;
	if (data)
		rc = copy_record(wal, backend, backend->scratch, data);
	if (!rc && commit)
		rc = copy_record(wal, backend, backend->scratch + data, commit);
	*advance = (int64_t)(wal->insert_lsn - start);
	*end = wal->insert_lsn;
	atomic_store_explicit(&wal->inserted, wal->insert_lsn, memory_order_release);
	wp_mutex_unlock(&wal->insert_lock);
	return rc;
}

int wp_wal_insert(struct wp_wal *wal, struct wp_wal_backend *backend, int64_t bytes, uint64_t *end)
{
	uint32_t xid = atomic_fetch_add_explicit(&wal->next_xid, 1, memory_order_relaxed);
	int64_t wanted = bytes + backend->debt;
	int64_t advance;
	int rc;

	for (;;) {
		int64_t data = (wanted - WAL_COMMIT_ALIGNED_BYTES) & ~INT64_C(7);
		bool is_last = data <= WAL_PIECE_BYTES;

		if (!is_last)
			data = WAL_PIECE_BYTES;
		if (data < WP_WAL_DATA_MINIMUM_BYTES)
			data = 0;
		else
			wp_wal_record_data(backend->scratch, (uint32_t)data, xid, &backend->random);
		if (is_last)
			wp_wal_record_commit(
				backend->scratch + data, xid, wp_os_now_ns(wal->os) / 1000);
		rc = insert_records(wal, backend, (size_t)data, is_last ? WP_WAL_COMMIT_BYTES : 0,
			&advance, end);
		if (rc)
			return rc;
		wanted -= advance;
		if (is_last)
			break;
	}
	/* A transaction shorter than its commit record can never be made up for. */
	backend->debt = wanted > -WAL_COMMIT_ALIGNED_BYTES ? wanted : -WAL_COMMIT_ALIGNED_BYTES;
	return 0;
}
