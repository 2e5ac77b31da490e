/* SPDX-License-Identifier: PostgreSQL */
/*
 * wal_write.c - XLogWrite(): pages out of the ring into segments, always under the write lock.
 *
 * Output starts at the page that holds the old write position, so the partial page at the tail is
 * written again in full, at the same place. One write takes all pages that follow each other in
 * memory; it ends at the target, at the end of the ring, or at the end of the segment. A finished
 * segment is synced at once; after that there is at most one sync for the whole call.
 */
#include "wal_internal.h"

/*
 * While the leader writes the tail page, others may copy records into it behind the target. Those
 * bytes are not promised yet and go out again with the page's next write, in PostgreSQL as here;
 * the thread sanitizer is told to look away for this one read.
 */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HAS_THREAD_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define HAS_THREAD_SANITIZER 1
#endif

#ifdef HAS_THREAD_SANITIZER
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
#define RACY_READ_BEGIN() AnnotateIgnoreReadsBegin(__FILE__, __LINE__)
#define RACY_READ_END() AnnotateIgnoreReadsEnd(__FILE__, __LINE__)
#else
#define RACY_READ_BEGIN() ((void)0)
#define RACY_READ_END() ((void)0)
#endif

int wal_open_segment(struct wp_wal *wal, struct wp_wal_backend *backend, uint64_t segno)
{
	bool is_first = segno > wal->opened_segno;
	int64_t start_ns = 0;
	int rc;

	if (backend->fd >= 0 && backend->segno == segno)
		return 0;
	if (is_first)
		start_ns = wp_os_now_ns(wal->os);
	rc = wp_wal_detach(wal, backend);
	if (!rc)
		rc = wp_segment_open(&wal->segments, backend->id, segno, wal->open_flags,
			&backend->fd, &backend->err);
	if (rc)
		return rc;
	backend->segno = segno;
	if (is_first) {
		wp_hist_record(&wal->switches, wp_os_now_ns(wal->os) - start_ns + wal->end_sync_ns);
		wal->end_sync_ns = 0;
		wal->opened_segno = segno;
	}
	return 0;
}

static bool syncs_by_writing(const struct wp_wal *wal)
{
	return wp_method_open_flags(wal->method) != 0;
}

static int write_pages(
	struct wp_wal *wal, struct wp_wal_backend *backend, uint64_t start, uint64_t end)
{
	uint64_t slot = start / WP_WAL_PAGE_BYTES % WP_WAL_BUFFER_PAGES;
	uint64_t offset = start % (uint64_t)wal->config.segment_bytes;
	int rc;

	RACY_READ_BEGIN();
	rc = wp_os_write_all(wal->os, backend->fd, wal->pages + slot * WP_WAL_PAGE_BYTES,
		end - start, (int64_t)offset);
	RACY_READ_END();
	if (rc < 0) {
		char name[WP_SEGMENT_NAME_BYTES];

		return wp_fail(&backend->err, WP_E_SYS, -rc,
			"could not write to \"%s/%s\" at offset %" PRIu64 ", length %" PRIu64,
			wal->config.dir,
			wp_segment_name(
				name, WP_WAL_TIMELINE, backend->segno, wal->config.segment_bytes),
			offset, end - start);
	}
	wal->counts.writes++;
	wal->counts.syncs += syncs_by_writing(wal);
	wal->counts.written_bytes += (int64_t)(end - start);
	(void)atomic_fetch_add_explicit(
		&wal->written_bytes, (long long)(end - start), memory_order_relaxed);
	return 0;
}

static int sync_segment(struct wp_wal *wal, struct wp_wal_backend *backend)
{
	char name[WP_SEGMENT_NAME_BYTES];
	int rc;

	if (syncs_by_writing(wal))
		return 0;
	rc = wp_method_sync(wal->os, wal->method, backend->fd);
	if (rc < 0)
		return wp_fail(&backend->err, WP_E_SYS, -rc, "could not %s \"%s/%s\"",
			wp_method_name(wal->method), wal->config.dir,
			wp_segment_name(
				name, WP_WAL_TIMELINE, backend->segno, wal->config.segment_bytes));
	wal->counts.syncs++;
	return 0;
}

/* The last page of a segment is out: nothing of it may be lost when the next one is begun. */
static int finish_segment(struct wp_wal *wal, struct wp_wal_backend *backend)
{
	int64_t start_ns = wp_os_now_ns(wal->os);
	int rc = sync_segment(wal, backend);

	if (rc)
		return rc;
	wal->end_sync_ns = wp_os_now_ns(wal->os) - start_ns;
	wal->counts.segment_ends++;
	if (wal->segment_end)
		wp_sem_post(wal->segment_end);
	return 0;
}

static bool is_run_over(const struct wp_wal *wal, uint64_t start, uint64_t end, uint64_t write_to)
{
	int64_t most = wal->config.era->write_pages;

	return end >= write_to || end / WP_WAL_PAGE_BYTES % WP_WAL_BUFFER_PAGES == 0 ||
	       end % (uint64_t)wal->config.segment_bytes == 0 ||
	       (most && (int64_t)((end - start) / WP_WAL_PAGE_BYTES) >= most);
}

/* All pages from *written to write_to; both positions move with what was done. */
static int write_runs(struct wp_wal *wal, struct wp_wal_backend *backend, uint64_t write_to,
	bool is_flexible, uint64_t *written, uint64_t *flushed)
{
	uint64_t segment_bytes = (uint64_t)wal->config.segment_bytes;
	uint64_t start = *written - *written % WP_WAL_PAGE_BYTES;
	uint64_t end = start;
	int rc = 0;

	while (!rc && *written < write_to) {
		end += WP_WAL_PAGE_BYTES;
		if (end - start == WP_WAL_PAGE_BYTES)
			rc = wal_open_segment(wal, backend, start / segment_bytes);
		if (rc || !is_run_over(wal, start, end, write_to))
			continue;
		rc = write_pages(wal, backend, start, end);
		if (rc)
			break;
		*written = end < write_to ? end : write_to;
		start = end;
		if (*written % segment_bytes == 0) {
			rc = finish_segment(wal, backend);
			*flushed = *written;
		}
		if (is_flexible)
			break;
	}
	return rc;
}

int wal_write(struct wp_wal *wal, struct wp_wal_backend *backend, uint64_t write_to,
	uint64_t flush_to, bool is_flexible)
{
	uint64_t written = atomic_load_explicit(&wal->written, memory_order_relaxed);
	uint64_t flushed = atomic_load_explicit(&wal->flushed, memory_order_relaxed);
	int rc = write_runs(wal, backend, write_to, is_flexible, &written, &flushed);

	if (!rc && flushed < flush_to && flushed < written) {
		rc = wal_open_segment(
			wal, backend, (written - 1) / (uint64_t)wal->config.segment_bytes);
		if (!rc)
			rc = sync_segment(wal, backend);
		flushed = written;
	}
	if (rc)
		return rc;
	atomic_store_explicit(&wal->written, written, memory_order_release);
	atomic_store_explicit(&wal->flushed, flushed, memory_order_release);
	return 0;
}
