/* SPDX-License-Identifier: PostgreSQL */
#include "io_internal.h"

#include "walprobe/mem.h"
#include "walprobe/stop.h"
#include "walprobe/thread.h"

#define FIRST_BUDGET_BYTES (INT64_C(16) << 20) /* of a pass whose rate is not known yet */
#define LEAST_BUDGET_BYTES (INT64_C(1) << 20)
#define BUDGET_MARGIN 1.05
#define FILL_BYTES (INT64_C(64) << 20) /* read into the cache beforehand, at most */
#define STACK_BYTES ((size_t)256 << 10)

/* True when all that was written counts, because the time runs until it is synced. */
static bool ends_synced(const struct wp_io_plan *plan)
{
	return plan->sync == WP_IO_SYNC_FSYNC && plan->is_sync_timed && wp_io_writes(plan->work);
}

void wp_io_loop_init(struct wp_io_loop *loop, const struct wp_io_plan *plan,
	const struct wp_io_files *files, struct wp_io_pool *pool, uint64_t seed)
{
	struct wp_random random;

	assert(plan->jobs <= pool->jobs && files->count >= 1);
	assert(plan->cache != WP_IO_CACHE_FILL || plan->order == WP_IO_FORWARD);
	*loop = (struct wp_io_loop){ .plan = *plan, .os = files->os, .files = files, .pool = pool };
	loop->operate = wp_io_operation(plan->work);
	loop->step_bytes = wp_io_step_bytes(plan);
	assert(plan->file_bytes >= loop->step_bytes);
	loop->jobs = wp_xcalloc((size_t)plan->jobs, sizeof(*loop->jobs));
	wp_random_init(&random, seed);
	for (int i = 0; i < plan->jobs; i++) {
		struct wp_io_job *job = &loop->jobs[i];

		job->loop = loop;
		job->index = i;
		job->fd = -1;
		job->buffer = pool->buffers[i];
		job->hist = &pool->hists[i];
		job->tick = &pool->ticks[i];
		job->sequence = wp_random_next(&random);
		wp_io_shuffle_init(&job->shuffle, (uint64_t)(plan->file_bytes / loop->step_bytes),
			wp_random_next(&random));
	}
}

void wp_io_loop_release(struct wp_io_loop *loop)
{
	free(loop->jobs);
	loop->jobs = NULL;
}

static void path_of(const struct wp_io_job *job, char *out, size_t size)
{
	const struct wp_io_loop *loop = job->loop;

	/* More seekers than files share them. */
	wp_io_path(loop->files, loop->plan.is_new, job->index % loop->files->count, out, size);
}

static bool is_refusal(const struct wp_io_job *job)
{
	return job->loop->plan.is_direct && job->failed_result == -EINVAL &&
	       strcmp(job->failed_call, "fsync") != 0;
}

static int tell_failure(const struct wp_io_job *job, struct wp_err *err)
{
	const struct wp_io_loop *loop = job->loop;
	int64_t result = job->failed_result;
	char path[4096];
	int rc;

	if (result == -EINTR && wp_stop_requested())
		return wp_stop_fail(err);
	if (is_refusal(job) && strcmp(job->failed_call, "open") == 0)
		return wp_fail(err, WP_E_UNSUPPORTED, 0, "O_DIRECT refused: EINVAL");
	if (is_refusal(job))
		return wp_fail(err, WP_E_UNSUPPORTED, 0,
			"O_DIRECT with records of %" PRId64 " bytes refused: EINVAL",
			loop->plan.record_bytes);
	path_of(job, path, sizeof(path));
	if (result < 0)
		return wp_io_file_fail(loop->os, loop->files->dir, path, job->failed_call,
			(int)-result, loop->plan.file_bytes * loop->plan.jobs, err);
	rc = wp_fail(err, WP_E_SYS, 0,
		"could not %s \"%s\": only %" PRId64 " of %" PRId64 " bytes were done",
		job->failed_call, path, result, job->failed_wanted);
	wp_err_hint(err, "A short write mostly means that the file system or a quota is full, a "
			 "short read that the file was changed by others.");
	return rc;
}

static int close_job(struct wp_io_job *job)
{
	int rc;

	if (job->fd < 0)
		return 0;
	rc = wp_os_close(job->loop->os, job->fd);
	job->fd = -1;
	return rc ? wp_io_failed(job, "close", rc, 0) : 0;
}

static void close_all(struct wp_io_loop *loop)
{
	for (int i = 0; i < loop->plan.jobs; i++)
		(void)close_job(&loop->jobs[i]); /* the failure that led here is the one to tell */
}

static int open_flags(const struct wp_io_plan *plan)
{
	int flags = wp_io_writes(plan->work) ? O_RDWR : O_RDONLY;

	if (plan->is_new)
		flags |= O_CREAT | O_TRUNC;
	if (plan->is_direct)
		flags |= O_DIRECT;
	if (plan->sync == WP_IO_SYNC_OSYNC && wp_io_writes(plan->work))
		flags |= O_SYNC;
	if (plan->sync == WP_IO_SYNC_ODSYNC && wp_io_writes(plan->work))
		flags |= O_DSYNC;
	return flags;
}

/* Read what the pass will read first, as far as a cache surely holds it. */
static int fill_cache(struct wp_io_job *job)
{
	struct wp_io_loop *loop = job->loop;
	uint64_t count = (uint64_t)(FILL_BYTES / loop->plan.jobs / loop->step_bytes);

	job->place = 0;
	job->taken = 0;
	job->shuffle.count = (uint64_t)(loop->plan.file_bytes / loop->step_bytes);
	if (count > 0 && count < job->shuffle.count)
		job->shuffle.count = count; /* the pass keeps to it */
	for (;;) {
		int64_t offset = wp_io_next_offset(job);

		if (offset < 0 || wp_stop_requested())
			break;
		if (loop->operate(job, offset))
			return -1;
	}
	return 0;
}

/* Dirty pages are not given up, so they go first. Only the counters will tell whether it worked. */
static int drop_cache(struct wp_io_job *job)
{
	const struct wp_os *os = job->loop->os;
	int rc = wp_os_fdatasync(os, job->fd);

	if (rc)
		return wp_io_failed(job, "fdatasync", rc, 0);
	(void)wp_os_fadvise(os, job->fd, 0, 0, POSIX_FADV_DONTNEED);
	return 0;
}

static int prepare_job(struct wp_io_job *job)
{
	const struct wp_io_plan *plan = &job->loop->plan;
	char path[4096];

	path_of(job, path, sizeof(path));
	job->fd = wp_os_open(job->loop->os, path, open_flags(plan), 0600);
	if (job->fd < 0) {
		int rc = job->fd;

		job->fd = -1;
		return wp_io_failed(job, "open", rc, 0);
	}
	if (plan->is_new)
		job->place = 0;
	if (plan->cache == WP_IO_CACHE_DROP && !plan->is_new)
		return drop_cache(job);
	return plan->cache == WP_IO_CACHE_FILL ? fill_cache(job) : 0;
}

int wp_io_loop_prepare(struct wp_io_loop *loop, struct wp_err *err)
{
	int rc = wp_stop_fail(err);

	for (int i = 0; !rc && i < loop->plan.jobs; i++)
		if (prepare_job(&loop->jobs[i]))
			rc = tell_failure(&loop->jobs[i], err);
	if (rc)
		close_all(loop);
	return rc;
}

/* True when another job has ended, and what is complete now comes too late to count. */
static inline bool is_late(const struct wp_io_loop *loop)
{
	return loop->plan.jobs > 1 && atomic_load_explicit(&loop->is_over, memory_order_relaxed);
}

static int run_records(struct wp_io_job *job)
{
	struct wp_io_loop *loop = job->loop;
	const atomic_int *stop = wp_stop_flag();
	int64_t least_ns = loop->least_ns;
	int64_t budget_bytes = loop->budget_bytes;
	int64_t each = loop->step_bytes / loop->plan.record_bytes;
	bool counts_all = ends_synced(&loop->plan);
	bool is_alone = loop->plan.jobs == 1;
	int64_t then_ns = job->start_ns;
	int64_t offset;

	while ((offset = wp_io_next_offset(job)) >= 0) {
		int64_t read_bytes = job->read_bytes;
		int64_t written_bytes = job->written_bytes;
		bool is_last;
		int64_t now_ns;

		if (loop->operate(job, offset))
			return -1;
		now_ns = wp_tick_now(job->tick);
		is_last = !is_alone && is_late(loop);
		if (is_last && !counts_all && job->operations > 0) {
			job->read_bytes = read_bytes;
			job->written_bytes = written_bytes;
			break;
		}
		wp_hist_record(job->hist, now_ns - then_ns);
		then_ns = now_ns;
		job->operations += each;
		job->end_ns = now_ns;
		if (is_last || now_ns - job->start_ns >= least_ns ||
			job->written_bytes >= budget_bytes ||
			atomic_load_explicit(stop, memory_order_relaxed))
			break;
	}
	return 0;
}

/* What belongs to the time after the last operation. */
static int run_end(struct wp_io_job *job)
{
	const struct wp_io_plan *plan = &job->loop->plan;
	int rc;

	if (ends_synced(plan)) {
		rc = wp_os_fsync(job->loop->os, job->fd);
		if (rc)
			return wp_io_failed(job, "fsync", rc, 0);
		job->syncs++;
	}
	if (plan->is_close_timed && close_job(job))
		return -1;
	if (ends_synced(plan) || plan->is_close_timed)
		job->done_ns = wp_tick_now(job->tick);
	return 0;
}

static void run_job(void *argument)
{
	struct wp_io_job *job = argument;
	const struct wp_os *os = job->loop->os;
	int64_t cpu_ns = wp_os_cpu_ns(os);

	wp_tick_start(job->tick);
	job->start_ns = wp_tick_now(job->tick);
	job->end_ns = job->start_ns;
	(void)run_records(job); /* failed_call says the same */
	atomic_store_explicit(&job->loop->is_over, 1, memory_order_relaxed);
	job->done_ns = job->end_ns;
	if (!job->failed_call)
		(void)run_end(job);
	wp_tick_stop(job->tick);
	job->cpu_ns = wp_os_cpu_ns(os) - cpu_ns;
}

/* a job on a thread of its own, held back until all are there */
struct started {
	struct wp_thread thread;
	struct wp_sem go;
	struct wp_io_job *job;
	bool is_wanted;
};

static void wait_and_run(void *argument)
{
	struct started *started = argument;

	wp_sem_wait(&started->go);
	if (started->is_wanted)
		run_job(started->job);
}

static int run_together(struct wp_io_loop *loop, struct wp_err *err)
{
	int count = loop->plan.jobs;
	struct started *started = wp_xcalloc((size_t)count, sizeof(*started));
	int running = 0;
	int rc = 0;

	for (int i = 0; i < count; i++) {
		started[i].job = &loop->jobs[i];
		wp_sem_init(&started[i].go, 0);
	}
	while (!rc && running < count) {
		rc = wp_thread_start(&started[running].thread, wait_and_run, &started[running],
			STACK_BYTES, err);
		running += rc == 0;
	}
	for (int i = 0; i < running; i++) {
		started[i].is_wanted = rc == 0;
		wp_sem_post(&started[i].go);
	}
	for (int i = 0; i < running; i++)
		wp_thread_join(&started[i].thread);
	for (int i = 0; i < count; i++)
		wp_sem_release(&started[i].go);
	free(started);
	if (rc)
		wp_err_hint(err, "Use fewer --jobs or --seekers.");
	return rc;
}

static void begin_pass(struct wp_io_loop *loop, int64_t left_ns)
{
	loop->least_ns = left_ns > 0 ? left_ns : 1;
	loop->budget_bytes = INT64_MAX;
	if (ends_synced(&loop->plan)) {
		double bytes = BUDGET_MARGIN * loop->rate_bytes_per_s * (double)loop->least_ns /
			       (double)WP_NS_PER_S;
		int64_t budget = FIRST_BUDGET_BYTES;

		if (loop->rate_bytes_per_s > 0)
			budget = bytes < (double)LEAST_BUDGET_BYTES ? LEAST_BUDGET_BYTES
								    : (int64_t)bytes;
		loop->budget_bytes = budget / loop->plan.jobs;
	}
	atomic_store(&loop->is_over, 0);
	for (int i = 0; i < loop->plan.jobs; i++) {
		struct wp_io_job *job = &loop->jobs[i];

		job->taken = 0;
		job->operations = job->read_bytes = job->written_bytes = job->syncs = 0;
		job->failed_call = NULL;
		wp_hist_clear(job->hist);
	}
}

/* The jobs together, over the time that all of them ran. */
static int64_t elapsed_ns(const struct wp_io_loop *loop)
{
	int64_t start_ns = INT64_MAX;
	int64_t end_ns = ends_synced(&loop->plan) ? 0 : INT64_MAX;

	for (int i = 0; i < loop->plan.jobs; i++) {
		const struct wp_io_job *job = &loop->jobs[i];

		if (job->start_ns < start_ns)
			start_ns = job->start_ns;
		if (ends_synced(&loop->plan) ? job->done_ns > end_ns : job->done_ns < end_ns)
			end_ns = job->done_ns;
	}
	return end_ns - start_ns;
}

static void end_pass(struct wp_io_loop *loop, struct wp_hist *hist, struct wp_io_counts *counts)
{
	int64_t passed_ns = elapsed_ns(loop);
	int64_t written_bytes = 0;

	for (int i = 0; i < loop->plan.jobs; i++) {
		struct wp_io_job *job = &loop->jobs[i];

		wp_hist_merge(hist, job->hist);
		counts->operations += job->operations;
		counts->read_bytes += job->read_bytes;
		counts->written_bytes += job->written_bytes;
		counts->cpu_ns += job->cpu_ns;
		counts->syncs += job->syncs;
		if (wp_io_writes(loop->plan.work) && (loop->plan.sync == WP_IO_SYNC_OSYNC ||
							     loop->plan.sync == WP_IO_SYNC_ODSYNC))
			counts->syncs += job->operations;
		written_bytes += job->written_bytes;
	}
	counts->elapsed_ns += passed_ns;
	if (ends_synced(&loop->plan) && passed_ns > 0)
		loop->rate_bytes_per_s =
			(double)written_bytes * (double)WP_NS_PER_S / (double)passed_ns;
}

int wp_io_loop_pass(struct wp_io_loop *loop, int64_t left_ns, struct wp_hist *hist,
	struct wp_io_counts *counts, struct wp_err *err)
{
	int rc = 0;

	begin_pass(loop, left_ns);
	if (loop->plan.jobs == 1)
		run_job(&loop->jobs[0]);
	else
		rc = run_together(loop, err);
	if (!rc)
		end_pass(loop, hist, counts);
	for (int i = 0; !rc && i < loop->plan.jobs; i++)
		if (loop->jobs[i].failed_call || close_job(&loop->jobs[i]))
			rc = tell_failure(&loop->jobs[i], err);
	close_all(loop);
	return rc ? rc : wp_stop_fail(err);
}

static int finish_job(struct wp_io_job *job)
{
	const struct wp_io_plan *plan = &job->loop->plan;
	int flags = O_RDWR | (plan->is_new ? O_TRUNC : 0);
	char path[4096];
	int rc = 0;

	path_of(job, path, sizeof(path));
	job->fd = wp_os_open(job->loop->os, path, flags, 0);
	if (job->fd < 0) {
		rc = job->fd;
		job->fd = -1;
		return wp_io_failed(job, "open", rc, 0);
	}
	if (!ends_synced(plan)) {
		rc = wp_os_fsync(job->loop->os, job->fd);
		if (rc)
			return wp_io_failed(job, "fsync", rc, 0);
	}
	return close_job(job);
}

int wp_io_loop_finish(struct wp_io_loop *loop, struct wp_err *err)
{
	int rc = 0;

	if (!wp_io_writes(loop->plan.work))
		return 0;
	for (int i = 0; !rc && i < loop->plan.jobs; i++)
		if (finish_job(&loop->jobs[i]))
			rc = tell_failure(&loop->jobs[i], err);
	close_all(loop);
	return rc;
}
