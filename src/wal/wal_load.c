/* SPDX-License-Identifier: PostgreSQL */
/*
 * wal_load.c - the threads of one run.
 *
 * All threads are started and have their descriptor before the clock starts: each posts "ready"
 * and sleeps until the common start. At the end the committers finish the transaction they are in:
 * groups are as full as before, and the clock ends with the last acknowledged commit.
 */
#include "load_internal.h"
#include "walprobe/mem.h"
#include "walprobe/stop.h"
#include "walprobe/wal_load.h"

#include <math.h>

#define STACK_BYTES ((size_t)256 << 10)
#define LOOK_NS (20 * WP_NS_PER_MS) /* how often the main thread looks for a signal */
#define SLEEP_SLICE_NS (50 * WP_NS_PER_MS)
#define SLEEP_OVERSHOOT_NS (60 * WP_NS_PER_US) /* timer slack and wake-up */
#define WALWRITER_DELAY_NS (200 * WP_NS_PER_MS)

struct work {
	struct wp_wal *wal;
	const struct wp_os *os;
	const struct wp_wal_load *load;
	atomic_int is_stopping;
	struct wp_sem alarm; /* wakes the main thread: an error */
	struct wp_sem ready;
	struct wp_sem segment_end; /* wakes the checkpointer */
	struct wp_sem latch;       /* wakes the walwriter */
	atomic_bool is_latch_set;
	atomic_bool is_over;       /* checkpointer and walwriter leave */
	atomic_llong transactions; /* since the checkpoint at the start; only with page images */
	bool is_recycling;
	struct wp_err checkpoint_err;
	struct wp_wal_backend walwriter;
	struct wp_thread walwriter_thread;
	struct wp_thread checkpoint_thread;
};

struct committer {
	struct work *work;
	struct wp_wal_backend backend;
	struct wp_hist hist;
	struct wp_thread thread;
	_Atomic int64_t commits; /* written by its own thread only */
	int64_t end_ns;
};

static bool is_stopping(struct work *work)
{
	return atomic_load_explicit(&work->is_stopping, memory_order_relaxed) != 0;
}

static void stop(struct work *work)
{
	atomic_store_explicit(&work->is_stopping, 1, memory_order_relaxed);
}

static void report(struct work *work, const struct wp_err *err)
{
	wp_wal_fail(work->wal, err);
	stop(work);
	wp_sem_post(&work->alarm);
}

/* ---- committers ---------------------------------------------------------------------------- */

/* Half burnt, half slept; a thread that had to wait for a processor sleeps less or not at all. */
static void think(struct work *work)
{
	const struct wp_os *os = work->os;
	int64_t until_ns = wp_os_now_ns(os) + work->load->think_ns;
	int64_t burnt_ns = wp_os_cpu_ns(os) + work->load->think_ns / 2;
	int64_t left_ns;

	while (wp_os_cpu_ns(os) < burnt_ns && !is_stopping(work))
		;
	while ((left_ns = until_ns - wp_os_now_ns(os)) > SLEEP_OVERSHOOT_NS && !is_stopping(work)) {
		left_ns -= SLEEP_OVERSHOOT_NS;
		/* A sleep that ends early is made up for by the next turn. */
		(void)wp_os_sleep_ns(os, left_ns < SLEEP_SLICE_NS ? left_ns : SLEEP_SLICE_NS);
	}
	while (wp_os_now_ns(os) < until_ns && !is_stopping(work))
		;
}

static int64_t transaction_bytes(struct work *work, struct wp_random *random)
{
	const struct wp_wal_load *load = work->load;
	double k;

	if (!load->image_pages)
		return load->record_bytes;
	k = (double)atomic_fetch_add_explicit(&work->transactions, 1, memory_order_relaxed);
	if (wp_random_unit(random) < exp(-k / (double)load->image_pages))
		return load->record_bytes + WP_WAL_IMAGE_BYTES;
	return load->record_bytes;
}

static void wake_walwriter(struct work *work)
{
	if (wp_wal_wants_walwriter(work->wal) &&
		!atomic_exchange_explicit(&work->is_latch_set, true, memory_order_relaxed))
		wp_sem_post(&work->latch);
}

static int commit(struct committer *committer)
{
	struct work *work = committer->work;
	struct wp_wal_backend *backend = &committer->backend;
	int64_t bytes;
	int64_t start_ns;
	uint64_t lsn;
	int rc;

	wp_wal_begin(work->wal, backend);
	if (work->load->think_ns)
		think(work);
	bytes = transaction_bytes(work, &backend->random);
	start_ns = wp_os_now_ns(work->os);
	rc = wp_wal_insert(work->wal, backend, bytes, &lsn);
	if (!rc && work->load->is_async)
		wake_walwriter(work);
	else if (!rc)
		rc = wp_wal_flush(work->wal, backend, lsn);
	wp_wal_end(work->wal);
	if (rc)
		return rc;
	committer->end_ns = wp_os_now_ns(work->os);
	wp_hist_record(&committer->hist, committer->end_ns - start_ns);
	atomic_store_explicit(&committer->commits,
		atomic_load_explicit(&committer->commits, memory_order_relaxed) + 1,
		memory_order_relaxed);
	return 0;
}

static void run_committer(void *argument)
{
	struct committer *committer = argument;
	struct work *work = committer->work;
	int rc = wp_wal_attach(work->wal, &committer->backend);

	wp_sem_post(&work->ready);
	wp_sem_wait(&committer->backend.sem);
	while (!rc && !is_stopping(work))
		rc = commit(committer);
	if (rc)
		report(work, &committer->backend.err);
}

/* ---- checkpointer and walwriter ---------------------------------------------------------------- */

static void run_checkpointer(void *argument)
{
	struct work *work = argument;

	for (;;) {
		wp_sem_wait(&work->segment_end);
		if (atomic_load(&work->is_over))
			break;
		if (work->is_recycling && wp_wal_checkpoint(work->wal, &work->checkpoint_err)) {
			report(work, &work->checkpoint_err);
			break;
		}
	}
}

static void run_walwriter(void *argument)
{
	struct work *work = argument;
	int64_t last_sync_ns = 0;
	int rc = 0;

	while (!rc && !atomic_load(&work->is_over)) {
		rc = wp_wal_background_flush(work->wal, &work->walwriter, &last_sync_ns);
		if (rc)
			break;
		(void)wp_sem_wait_for(&work->latch, WALWRITER_DELAY_NS); /* time or latch: alike */
		atomic_store_explicit(&work->is_latch_set, false, memory_order_relaxed);
	}
	if (rc)
		report(work, &work->walwriter.err);
}

/* ---- one run -------------------------------------------------------------------------------------- */

static void init_work(struct work *work, struct wp_wal *wal, const struct wp_wal_load *load)
{
	memset(work, 0, sizeof(*work));
	work->wal = wal;
	work->os = wp_wal_segments(wal)->os;
	work->load = load;
	wp_sem_init(&work->alarm, 0);
	wp_sem_init(&work->ready, 0);
	wp_sem_init(&work->segment_end, 0);
	wp_sem_init(&work->latch, 0);
	wp_wal_backend_init(&work->walwriter, wal, (int)load->clients + 1, 0);
	wp_wal_on_segment_end(wal, &work->segment_end);
}

static void release_work(struct work *work)
{
	wp_wal_on_segment_end(work->wal, NULL);
	wp_wal_backend_release(&work->walwriter, work->wal);
	wp_sem_release(&work->latch);
	wp_sem_release(&work->segment_end);
	wp_sem_release(&work->ready);
	wp_sem_release(&work->alarm);
}

static struct committer *new_committers(struct work *work)
{
	int64_t most =
		work->load->record_bytes + (work->load->image_pages ? WP_WAL_IMAGE_BYTES : 0);
	size_t count = (size_t)work->load->clients;
	struct committer *committers = wp_xcalloc(count, sizeof(*committers));

	for (size_t i = 0; i < count; i++) {
		committers[i].work = work;
		wp_wal_backend_init(&committers[i].backend, work->wal, (int)i + 1, most);
		wp_hist_init(&committers[i].hist);
	}
	return committers;
}

static void free_committers(struct work *work, struct committer *committers)
{
	for (int64_t i = 0; i < work->load->clients; i++) {
		wp_hist_release(&committers[i].hist);
		wp_wal_backend_release(&committers[i].backend, work->wal);
	}
	free(committers);
}

static int start_threads(struct work *work, struct committer *committers, struct wp_err *err)
{
	int rc =
		wp_thread_start(&work->checkpoint_thread, run_checkpointer, work, STACK_BYTES, err);

	if (!rc && work->load->is_async) {
		rc = wp_wal_attach(work->wal, &work->walwriter);
		if (rc && err)
			*err = work->walwriter.err;
		if (!rc)
			rc = wp_thread_start(
				&work->walwriter_thread, run_walwriter, work, STACK_BYTES, err);
	}
	for (int64_t i = 0; !rc && i < work->load->clients; i++) {
		rc = wp_thread_start(
			&committers[i].thread, run_committer, &committers[i], STACK_BYTES, err);
		if (rc)
			wp_err_detail(err, "%" PRId64 " of %" PRId64 " threads were started.", i,
				work->load->clients);
	}
	return rc;
}

/* All at once: whoever is not there yet would be missing in the first groups. */
static int64_t start_clock(struct work *work, struct committer *committers)
{
	int64_t started = 0;
	int64_t now_ns;

	for (int64_t i = 0; i < work->load->clients; i++)
		started += committers[i].thread.is_started;
	for (int64_t i = 0; i < started; i++)
		wp_sem_wait(&work->ready);
	now_ns = wp_os_now_ns(work->os);
	for (int64_t i = 0; i < started; i++)
		wp_sem_post(&committers[i].backend.sem);
	return now_ns;
}

static int64_t sum_commits(const struct work *work, struct committer *committers)
{
	int64_t sum = 0;

	for (int64_t i = 0; i < work->load->clients; i++)
		sum += atomic_load_explicit(&committers[i].commits, memory_order_relaxed);
	return sum;
}

static void wait_for_end(
	struct work *work, struct committer *committers, int64_t start_ns, int64_t least_ns)
{
	const struct wp_wal_load *load = work->load;
	int64_t written_bytes = wp_wal_written_bytes(work->wal);
	int64_t next_ns = load->sample_ns ? load->sample_ns : INT64_MAX;

	while (!is_stopping(work) && !wp_stop_requested()) {
		int64_t elapsed_ns = wp_os_now_ns(work->os) - start_ns;
		int64_t left_ns = least_ns - elapsed_ns;

		if (elapsed_ns >= next_ns) {
			load->sample(load->ctx, elapsed_ns, sum_commits(work, committers),
				wp_wal_written_bytes(work->wal) - written_bytes);
			next_ns += load->sample_ns;
		}
		/* A block without a single commit would have no rate. */
		if (left_ns <= 0 && sum_commits(work, committers) > 0)
			break;
		if (left_ns <= 0 || left_ns > LOOK_NS)
			left_ns = LOOK_NS;
		(void)wp_sem_wait_for(&work->alarm, left_ns); /* time or alarm: looked at above */
	}
	stop(work);
}

static void join_committers(struct work *work, struct committer *committers)
{
	for (int64_t i = 0; i < work->load->clients; i++)
		wp_thread_join(&committers[i].thread);
}

static void join_walwriter(struct work *work)
{
	atomic_store(&work->is_over, true);
	wp_sem_post(&work->latch);
	wp_thread_join(&work->walwriter_thread);
}

static void join_checkpointer(struct work *work)
{
	wp_sem_post(&work->segment_end);
	wp_thread_join(&work->checkpoint_thread);
}

void wal_figures_take(struct wp_wal *wal, struct wp_wal_figures *figures)
{
	const struct wp_segments *segments = wp_wal_segments(wal);

	memset(figures, 0, sizeof(*figures));
	figures->wal_bytes = (int64_t)wp_wal_inserted(wal);
	figures->created = atomic_load(&segments->created);
	figures->recycled = atomic_load(&segments->recycled);
	figures->removed = atomic_load(&segments->removed);
	figures->fsyncs = atomic_load(&segments->fsyncs);
	figures->counts = wp_wal_counts_of(wal);
}

void wal_figures_combine(
	struct wp_wal_figures *sum, const struct wp_wal_figures *more, int64_t sign)
{
	sum->commits += sign * more->commits;
	sum->elapsed_ns += sign * more->elapsed_ns;
	sum->wal_bytes += sign * more->wal_bytes;
	sum->created += sign * more->created;
	sum->recycled += sign * more->recycled;
	sum->removed += sign * more->removed;
	sum->fsyncs += sign * more->fsyncs;
	sum->counts.writes += sign * more->counts.writes;
	sum->counts.syncs += sign * more->counts.syncs;
	sum->counts.written_bytes += sign * more->counts.written_bytes;
	sum->counts.segment_ends += sign * more->counts.segment_ends;
	sum->counts.buffers_full += sign * more->counts.buffers_full;
	sum->counts.flush_ns += sign * more->counts.flush_ns;
}

void wp_wal_figures_add(struct wp_wal_figures *sum, const struct wp_wal_figures *more)
{
	wal_figures_combine(sum, more, 1);
}

static void collect(struct work *work, struct committer *committers, int64_t start_ns,
	struct wp_hist *hist, struct wp_wal_figures *figures)
{
	int64_t end_ns = start_ns;

	for (int64_t i = 0; i < work->load->clients; i++) {
		wp_hist_merge(hist, &committers[i].hist);
		if (committers[i].end_ns > end_ns)
			end_ns = committers[i].end_ns;
	}
	figures->commits = sum_commits(work, committers);
	figures->elapsed_ns = end_ns - start_ns;
}

/* Off the clock: what an asynchronous run left unflushed, and descriptors. */
static int settle(struct work *work, struct committer *committers, struct wp_err *err)
{
	struct wp_wal *wal = work->wal;
	int rc = 0;

	if (work->load->is_async && !wp_wal_has_failed(wal, NULL)) {
		rc = wp_wal_flush(wal, &work->walwriter, wp_wal_inserted(wal));
		if (rc && err)
			*err = work->walwriter.err;
	}
	for (int64_t i = 0; !rc && i < work->load->clients; i++) {
		rc = wp_wal_detach(wal, &committers[i].backend);
		if (rc && err)
			*err = committers[i].backend.err;
	}
	return rc;
}

int wal_prepare_segment(struct wp_wal *wal, struct wp_wal_backend *backend, struct wp_err *err)
{
	int rc = wp_wal_attach(wal, backend);

	if (!rc)
		rc = wp_wal_detach(wal, backend);
	if (rc && err)
		*err = backend->err;
	return rc;
}

int wp_wal_run(struct wp_wal *wal, const struct wp_wal_load *load, int64_t least_ns,
	bool is_recycling, struct wp_hist *hist, struct wp_hist *switches,
	struct wp_wal_figures *figures, struct wp_err *err)
{
	struct wp_wal_figures before;
	struct committer *committers;
	struct work work;
	int64_t start_ns;
	int rc;

	memset(figures, 0, sizeof(*figures));
	if (wp_wal_has_failed(wal, err))
		return err ? -(int)err->code : -WP_E_SYS;
	wp_wal_set_method(wal, load->method, load->commit_delay_ns, load->commit_siblings);
	init_work(&work, wal, load);
	work.is_recycling = is_recycling;
	committers = new_committers(&work);
	rc = wal_prepare_segment(wal, &work.walwriter, err);
	wal_figures_take(wal, &before);
	wp_hist_clear(wp_wal_switches(wal));
	if (!rc)
		rc = start_threads(&work, committers, err);
	start_ns = start_clock(&work, committers);
	if (!rc)
		wait_for_end(&work, committers, start_ns, least_ns);
	stop(&work);
	join_committers(&work, committers);
	join_walwriter(&work);
	wal_figures_take(wal, figures);
	wal_figures_combine(figures, &before, -1);
	join_checkpointer(&work);
	collect(&work, committers, start_ns, hist, figures);
	wp_hist_merge(switches, wp_wal_switches(wal));
	if (!rc)
		rc = settle(&work, committers, err);
	if (!rc && wp_wal_has_failed(wal, err))
		rc = err ? -(int)err->code : -WP_E_SYS;
	free_committers(&work, committers);
	release_work(&work);
	return rc ? rc : wp_stop_fail(err);
}
