/* SPDX-License-Identifier: PostgreSQL */
/*
 * A writer and its filler. The writer builds a batch of records, writes it, syncs it, and only then
 * stores the last sequence as acknowledged; at the first error it stops for good and never acknowledges again.
 * The filler keeps one segment ready, so that the writer does not wait for files to be filled, and
 * gives up the oldest ones, with the witness's knowledge, when there are too many.
 */
#include "plug_internal.h"
#include "walprobe/mem.h"

#define WAIT_NS (20 * WP_NS_PER_MS)

static bool is_stopping(const struct plug *plug)
{
	return atomic_load_explicit(&plug->is_stopping, memory_order_relaxed);
}

static void fail(struct plug *plug, const struct wp_err *err)
{
	wp_mutex_lock(&plug->mutex);
	if (!plug->error.code)
		plug->error = *err;
	wp_mutex_unlock(&plug->mutex);
	atomic_store(&plug->is_stopping, true);
}

bool plug_has_failed(struct plug *plug, struct wp_err *err)
{
	bool has_failed;

	wp_mutex_lock(&plug->mutex);
	has_failed = plug->error.code != WP_OK;
	if (has_failed)
		*err = plug->error;
	wp_mutex_unlock(&plug->mutex);
	return has_failed;
}

static uint64_t say(struct plug *plug, const struct wp_put *put)
{
	return plug->client ? wp_client_say(plug->client, put) : 0;
}

/* What is given up must be known to the witness before it goes. False when it is time to end. */
static bool give_up(struct plug_writer *writer, const struct wp_ledger_segment *segment)
{
	struct plug *plug = writer->plug;
	uint8_t bytes[64];
	struct wp_put put = { .bytes = bytes, .size = sizeof(bytes) };
	uint64_t ticket;

	wp_entry_drop(&put, plug->manifest.run, writer->index, segment->segno);
	ticket = say(plug, &put);
	while (!is_stopping(plug) && plug->client && !wp_client_is_durable(plug->client, ticket))
		(void)wp_os_sleep_ns(plug->dir.os, WAIT_NS / 8);
	return !is_stopping(plug);
}

static int reuse(struct plug_writer *writer, const struct wp_ledger_segment *oldest,
	struct wp_ledger_segment *segment, struct wp_err *err)
{
	struct plug *plug = writer->plug;
	int rc;

	if (writer->workload == WP_WORKLOAD_RECYCLE) {
		segment->physical = oldest->physical;
		segment->generation = oldest->generation + 1;
		return plug_segment_recycle(&plug->dir, oldest, segment, err);
	}
	rc = plug_segment_remove(&plug->dir, writer->workload, oldest, err);
	return rc ? rc
		  : plug_segment_make(&plug->dir, writer->fill_payload, writer->workload, segment,
			    &plug->is_stopping, err);
}

/* The next segment under its name; announced, and entered among the live ones. */
static int prepare(
	struct plug_writer *writer, struct wp_ledger_segment *segment, struct wp_err *err)
{
	struct plug *plug = writer->plug;
	uint8_t bytes[128];
	struct wp_put put = { .bytes = bytes, .size = sizeof(bytes) };
	int rc = 0;

	if (writer->live_count == plug->live_maximum) {
		struct wp_ledger_segment oldest = writer->live[0];

		if (!give_up(writer, &oldest))
			return 0;
		writer->live_count--;
		memmove(&writer->live[0], &writer->live[1],
			writer->live_count * sizeof(writer->live[0]));
		rc = reuse(writer, &oldest, segment, err);
	} else {
		rc = plug_segment_make(&plug->dir, writer->fill_payload, writer->workload, segment,
			&plug->is_stopping, err);
	}
	/* One that was half filled when the end came is nobody's. */
	if (rc || is_stopping(plug))
		return rc;
	wp_entry_segment(&put, plug->manifest.run, segment);
	(void)say(plug, &put);
	writer->live[writer->live_count++] = *segment;
	return 0;
}

static void run_filler(void *argument)
{
	struct plug_writer *writer = argument;
	struct plug *plug = writer->plug;
	struct wp_ledger_segment next = { .writer = writer->index,
		.segno = 0,
		.slots = plug->manifest.slots,
		.cycle = plug->start.cycle,
		.first_seq = writer->base + 1 };
	struct wp_err err = { 0 };

	while (!is_stopping(plug)) {
		next.segno++;
		next.physical = next.segno;
		next.generation = 1;
		if (prepare(writer, &next, &err) != 0) {
			fail(plug, &err);
			break;
		}
		if (is_stopping(plug))
			break;
		writer->ready = next;
		wp_sem_post(&writer->ready_sem);
		while (!is_stopping(plug) && !wp_sem_wait_for(&writer->taken_sem, WAIT_NS))
			;
		next.first_seq += next.slots;
	}
	(void)atomic_fetch_sub(&plug->running, 1);
}

static int open_flags(const struct plug *plug)
{
	return O_RDWR | wp_method_open_flags(plug->method) |
	       (plug->options->is_direct ? O_DIRECT : 0);
}

/* Where a write failed, the file is named by the caller. */
static int write_pages(struct plug_writer *writer, const uint8_t *pages, size_t count, int fd,
	int64_t offset, const char **call)
{
	struct plug *plug = writer->plug;
	int rc =
		wp_os_write_all(plug->dir.os, fd, pages, count * plug->manifest.page_bytes, offset);

	*call = "write";
	if (rc < 0)
		return rc;
	*call = wp_method_name(plug->method);
	return wp_method_sync(plug->dir.os, plug->method, fd);
}

static int create_record(struct plug_writer *writer, const struct wp_ledger_segment *segment,
	uint32_t slot, const uint8_t *page, struct wp_err *err)
{
	struct plug *plug = writer->plug;
	const struct wp_os *os = plug->dir.os;
	char *path = plug_record_path(plug->dir.path, writer->index, segment->segno, slot);
	int fd = wp_os_open(os, path, open_flags(plug) | O_CREAT | O_EXCL, 0600);
	const char *call = "create";
	int rc = fd;

	if (fd >= 0) {
		int closed;

		rc = write_pages(writer, page, 1, fd, 0, &call);
		closed = wp_os_close(os, fd);
		if (!rc && closed < 0) {
			call = "close";
			rc = closed;
		}
	}
	if (rc < 0)
		rc = wp_fail(err, WP_E_SYS, -rc, "could not %s \"%s\"", call, path);
	free(path);
	return rc;
}

/* The acknowledgement of one other writer that this record carries. */
static uint64_t horizon_of(const struct plug_writer *writer, uint64_t seq)
{
	const struct plug *plug = writer->plug;
	uint16_t others = (uint16_t)(plug->manifest.writers - 1);
	uint16_t cited = writer->index;

	if (others)
		cited = (uint16_t)((writer->index + 1 + seq % others) % plug->manifest.writers);
	return wp_horizon(
		cited, atomic_load_explicit(&plug->writers[cited].acked, memory_order_acquire));
}

static void build(struct plug_writer *writer, const struct wp_ledger_segment *segment,
	uint32_t slot, uint8_t *page)
{
	const struct plug *plug = writer->plug;
	struct wp_stamp stamp;

	wp_classify_expected(&plug->manifest, segment, slot, &stamp);
	stamp.horizon = horizon_of(writer, stamp.seq);
	wp_record_build(writer->payload, &stamp, plug->manifest.page_bytes / WP_SECTOR_BYTES, page);
}

static void acknowledge(struct plug_writer *writer, uint64_t seq)
{
	atomic_store_explicit(&writer->acked, seq, memory_order_release);
	if (writer->plug->client)
		wp_client_acked(writer->plug->client, writer->index, seq);
}

/*
 * Blindness is written down on the target, too: a cut that comes then hits writers that had
 * paused long before, and must not count as one that hit them at work.
 */
static int wait_for_sight(struct plug_writer *writer, struct wp_err *err)
{
	struct plug *plug = writer->plug;
	char *path;
	int rc = 0;

	if (!plug->client || !wp_client_is_blind(plug->client))
		return 0;
	if (writer->index == 0)
		rc = plug_file_write(&plug->dir, PLUG_BLIND, "the witness did not answer\n", err);
	while (!rc && !is_stopping(plug) && wp_client_is_blind(plug->client))
		(void)wp_os_sleep_ns(plug->dir.os, WAIT_NS / 4);
	if (rc || writer->index != 0 || is_stopping(plug))
		return rc;
	path = wp_xasprintf("%s/" PLUG_BLIND, plug->dir.path);
	rc = wp_os_unlink(plug->dir.os, path);
	rc = rc < 0 ? wp_fail(err, WP_E_SYS, -rc, "could not unlink \"%s\"", path)
		    : plug_sync_dir(plug->dir.os, plug->dir.path, err);
	free(path);
	return rc;
}

/* The next segment; false when it is time to end. */
static bool take_segment(
	struct plug_writer *writer, struct wp_ledger_segment *segment, struct wp_err *err)
{
	while (!wp_sem_wait_for(&writer->ready_sem, WAIT_NS))
		/* A filler that waits for the witness must not hide that it is blind. */
		if (is_stopping(writer->plug) || wait_for_sight(writer, err) != 0)
			return false;
	*segment = writer->ready;
	wp_sem_post(&writer->taken_sem);
	return true;
}

/* A file for each record, and their names made durable together. */
static int create_batch(struct plug_writer *writer, const struct wp_ledger_segment *segment,
	uint32_t slot, struct wp_err *err)
{
	const struct plug *plug = writer->plug;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < plug->manifest.batch; i++)
		rc = create_record(writer, segment, slot + i,
			writer->pages + (size_t)i * plug->manifest.page_bytes, err);
	return rc ? rc : plug_sync_dir(plug->dir.os, plug->dir.path, err);
}

/* The batch from slot on, which one sync makes durable. */
static int write_batch(struct plug_writer *writer, const struct wp_ledger_segment *segment,
	uint32_t slot, int fd, const char *path, struct wp_err *err)
{
	struct plug *plug = writer->plug;
	uint32_t page_bytes = plug->manifest.page_bytes;
	uint16_t batch = plug->manifest.batch;
	int64_t begin_ns;
	int64_t spent_ns;
	int rc = wait_for_sight(writer, err);
	const char *call;

	if (rc || is_stopping(plug))
		return rc;
	for (uint32_t i = 0; i < batch; i++)
		build(writer, segment, slot + i, writer->pages + (size_t)i * page_bytes);
	begin_ns = wp_os_now_ns(plug->dir.os);
	if (writer->workload == WP_WORKLOAD_CREATE) {
		rc = create_batch(writer, segment, slot, err);
	} else {
		rc = write_pages(
			writer, writer->pages, batch, fd, (int64_t)slot * page_bytes, &call);
		if (rc < 0)
			rc = wp_fail(err, WP_E_SYS, -rc, "could not %s \"%s\"", call, path);
	}
	if (rc)
		return rc;
	spent_ns = wp_os_now_ns(plug->dir.os) - begin_ns;
	for (uint32_t i = 0; i < batch; i++)
		wp_hist_record(&writer->latency, spent_ns);
	acknowledge(writer, segment->first_seq + slot + batch - 1);
	return 0;
}

static int write_segment(
	struct plug_writer *writer, const struct wp_ledger_segment *segment, struct wp_err *err)
{
	struct plug *plug = writer->plug;
	char *path = plug_segment_path(plug->dir.path, writer->index, segment->segno);
	int fd = -1;
	int rc = 0;

	if (writer->workload != WP_WORKLOAD_CREATE) {
		fd = wp_os_open(plug->dir.os, path, open_flags(plug), 0);
		if (fd < 0)
			rc = wp_fail(err, WP_E_SYS, -fd, "could not open \"%s\"", path);
	}
	for (uint32_t slot = 0; !rc && slot < segment->slots && !is_stopping(plug);
		slot += plug->manifest.batch)
		rc = write_batch(writer, segment, slot, fd, path, err);
	if (fd >= 0) {
		int closed = wp_os_close(plug->dir.os, fd);

		if (!rc && closed < 0)
			rc = wp_fail(err, WP_E_SYS, -closed, "could not close \"%s\"", path);
	}
	free(path);
	return rc;
}

static void run_writer(void *argument)
{
	struct plug_writer *writer = argument;
	struct wp_ledger_segment segment;
	struct wp_err err = { 0 };
	int rc = 0;

	while (!rc && !is_stopping(writer->plug) && take_segment(writer, &segment, &err))
		rc = write_segment(writer, &segment, &err);
	if (err.code)
		fail(writer->plug, &err);
	(void)atomic_fetch_sub(&writer->plug->running, 1);
}

static void init_writer(struct plug *plug, uint16_t index)
{
	struct plug_writer *writer = &plug->writers[index];

	writer->plug = plug;
	writer->index = index;
	writer->workload = (enum wp_workload)plug->manifest.workloads[index];
	writer->base = plug->start.bases[index];
	writer->payload = wp_payload_new(plug->seed);
	writer->fill_payload = wp_payload_new(plug->seed);
	writer->pages = wp_xaligned(4096, (size_t)plug->manifest.batch * plug->manifest.page_bytes);
	wp_hist_init(&writer->latency);
	wp_sem_init(&writer->ready_sem, 0);
	wp_sem_init(&writer->taken_sem, 0);
	atomic_store(&writer->acked, writer->base);
}

static int start_thread(struct plug *plug, struct wp_thread *thread, void (*run)(void *),
	void *argument, struct wp_err *err)
{
	int rc;

	(void)atomic_fetch_add(&plug->running, 1);
	rc = wp_thread_start(thread, run, argument, 0, err);
	if (rc)
		(void)atomic_fetch_sub(&plug->running, 1);
	return rc;
}

int plug_writers_start(struct plug *plug, struct wp_err *err)
{
	int rc = 0;

	plug->writers = wp_xcalloc(plug->manifest.writers, sizeof(*plug->writers));
	for (uint16_t i = 0; i < plug->manifest.writers; i++)
		init_writer(plug, i);
	for (uint16_t i = 0; !rc && i < plug->manifest.writers; i++) {
		struct plug_writer *writer = &plug->writers[i];

		rc = start_thread(plug, &writer->filler, run_filler, writer, err);
		if (!rc)
			rc = start_thread(plug, &writer->thread, run_writer, writer, err);
	}
	return rc;
}

bool plug_writers_stop(struct plug *plug, int64_t timeout_ns)
{
	int64_t until_ns = wp_os_now_ns(plug->dir.os) + timeout_ns;

	atomic_store(&plug->is_stopping, true);
	while (atomic_load(&plug->running) > 0 && wp_os_now_ns(plug->dir.os) < until_ns)
		(void)wp_os_sleep_ns(plug->dir.os, WAIT_NS / 4);
	if (atomic_load(&plug->running) > 0)
		return false;
	for (uint16_t i = 0; i < plug->manifest.writers; i++) {
		wp_thread_join(&plug->writers[i].thread);
		wp_thread_join(&plug->writers[i].filler);
	}
	return true;
}

void plug_writers_release(struct plug *plug)
{
	for (uint16_t i = 0; plug->writers && i < plug->manifest.writers; i++) {
		struct plug_writer *writer = &plug->writers[i];

		wp_payload_free(writer->payload);
		wp_payload_free(writer->fill_payload);
		free(writer->pages);
		wp_hist_release(&writer->latency);
		wp_sem_release(&writer->ready_sem);
		wp_sem_release(&writer->taken_sem);
	}
	free(plug->writers);
	plug->writers = NULL;
}
