/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/sync_loop.h"

#include "walprobe/mem.h"
#include "walprobe/random.h"
#include "walprobe/stop.h"

#define BUFFER_ALIGNMENT 8192 /* XLOG_BLCKSZ, as PostgreSQL aligns its WAL buffers */

/*
 * One function per shape, chosen before the loop. Each returns 0 when every call did all that was
 * asked, and otherwise leaves in the loop which call failed and how.
 */

static __attribute__((cold)) int failed(struct wp_sync_loop *loop, const char *call, int64_t result)
{
	loop->failed_call = call;
	loop->failed_result = result;
	return -1;
}

/* Two writes with the same bytes could be merged or dropped by storage that deduplicates. */
static inline const unsigned char *stamp(struct wp_sync_loop *loop, int64_t offset)
{
	unsigned char *part = loop->buffer + offset;

	loop->sequence++;
	memcpy(part, &loop->sequence, sizeof(loop->sequence));
	return part;
}

static inline int write_part(struct wp_sync_loop *loop, int64_t within, int64_t offset)
{
	int64_t size = loop->plan.write_bytes;
	int64_t written = wp_os_pwrite(
		loop->os, loop->fd, stamp(loop, within), (size_t)size, offset + within);

	return written == size ? 0 : failed(loop, "write", written);
}

static int write_once(struct wp_sync_loop *loop, int64_t offset)
{
	return write_part(loop, 0, offset);
}

static int write_all_parts(struct wp_sync_loop *loop, int64_t offset)
{
	for (int i = 0; i < loop->plan.writes_per_op; i++)
		if (write_part(loop, i * loop->plan.write_bytes, offset))
			return -1;
	return 0;
}

static int sync_by_method(struct wp_sync_loop *loop)
{
	int rc = wp_method_sync(loop->os, loop->plan.method, loop->fd);

	return rc ? failed(loop, wp_method_name(loop->plan.method), rc) : 0;
}

static int write_then_fdatasync(struct wp_sync_loop *loop, int64_t offset)
{
	int rc;

	if (write_part(loop, 0, offset))
		return -1;
	rc = wp_os_fdatasync(loop->os, loop->fd);
	return rc ? failed(loop, "fdatasync", rc) : 0;
}

static int write_then_fsync(struct wp_sync_loop *loop, int64_t offset)
{
	int rc;

	if (write_part(loop, 0, offset))
		return -1;
	rc = wp_os_fsync(loop->os, loop->fd);
	return rc ? failed(loop, "fsync", rc) : 0;
}

static int write_all_then_sync(struct wp_sync_loop *loop, int64_t offset)
{
	if (write_all_parts(loop, offset))
		return -1;
	return sync_by_method(loop);
}

static int write_dsync(struct wp_sync_loop *loop, int64_t offset)
{
	for (int i = 0; i < loop->plan.writes_per_op; i++) {
		int64_t within = i * loop->plan.write_bytes;
		struct iovec part = { .iov_base = loop->buffer + within,
			.iov_len = (size_t)loop->plan.write_bytes };
		int64_t written;

		(void)stamp(loop, within);
		written = wp_os_pwritev2(loop->os, loop->fd, &part, 1, offset + within, RWF_DSYNC);
		if (written != loop->plan.write_bytes)
			return failed(loop, "write", written);
	}
	return 0;
}

static int reopen(struct wp_sync_loop *loop, int flags)
{
	int fd = wp_os_open(loop->os, loop->file->path, flags, 0);

	if (fd < 0)
		return failed(loop, "open", fd);
	loop->fd = fd;
	return 0;
}

static int close_fd(struct wp_sync_loop *loop)
{
	int rc;

	if (loop->fd < 0)
		return 0;
	rc = wp_os_close(loop->os, loop->fd);
	loop->fd = -1;
	return rc ? failed(loop, "close", rc) : 0;
}

static int write_then_sync_elsewhere(struct wp_sync_loop *loop, int64_t offset)
{
	if (reopen(loop, loop->open_flags) || write_all_parts(loop, offset) || close_fd(loop) ||
		reopen(loop, O_RDWR) || sync_by_method(loop))
		return -1;
	return close_fd(loop);
}

static bool is_sync_call(enum wp_method method)
{
	return wp_method_open_flags(method) == 0;
}

static void choose_operation(struct wp_sync_loop *loop)
{
	const struct wp_sync_plan *plan = &loop->plan;
	bool is_one = plan->writes_per_op == 1;

	loop->open_flags = O_RDWR | (plan->is_direct ? O_DIRECT : 0);
	switch (plan->how) {
	case WP_SYNC_BY_OTHER_FD:
		loop->operate = write_then_sync_elsewhere;
		break;
	case WP_SYNC_BY_RWF_DSYNC:
		loop->operate = write_dsync;
		break;
	case WP_SYNC_BY_NOTHING:
		loop->operate = is_one ? write_once : write_all_parts;
		break;
	case WP_SYNC_BY_METHOD:
		loop->open_flags |= wp_method_open_flags(plan->method);
		if (!is_sync_call(plan->method))
			loop->operate = is_one ? write_once : write_all_parts;
		else if (is_one && plan->method == WP_METHOD_FDATASYNC)
			loop->operate = write_then_fdatasync;
		else if (is_one && plan->method == WP_METHOD_FSYNC)
			loop->operate = write_then_fsync;
		else
			loop->operate = write_all_then_sync;
		break;
	}
}

int wp_sync_loop_syncs_per_op(const struct wp_sync_plan *plan)
{
	switch (plan->how) {
	case WP_SYNC_BY_NOTHING:
		return 0;
	case WP_SYNC_BY_RWF_DSYNC:
		return plan->writes_per_op;
	default:
		return is_sync_call(plan->method) ? 1 : plan->writes_per_op;
	}
}

void wp_sync_loop_init(struct wp_sync_loop *loop, struct wp_sync_file *file,
	const struct wp_sync_plan *plan, uint64_t seed)
{
	size_t size = (size_t)(plan->writes_per_op * plan->write_bytes);
	struct wp_random random;

	assert(plan->writes_per_op > 0 && plan->write_bytes >= (int64_t)sizeof(loop->sequence));
	assert(file->size_bytes % (int64_t)size == 0);
	*loop = (struct wp_sync_loop){ .plan = *plan, .file = file, .os = file->os, .fd = -1 };
	loop->buffer = wp_xaligned(BUFFER_ALIGNMENT, size);
	wp_tick_init(&loop->tick, file->os);
	wp_random_init(&random, seed);
	wp_random_fill(&random, loop->buffer, size);
	loop->sequence = wp_random_next(&random);
	choose_operation(loop);
}

void wp_sync_loop_release(struct wp_sync_loop *loop)
{
	free(loop->buffer);
	loop->buffer = NULL;
}

/* The failed operation in words. */
static int tell_failure(const struct wp_sync_loop *loop, struct wp_err *err)
{
	int64_t result = loop->failed_result;
	int rc;

	if (result == -EINTR && wp_stop_requested())
		return wp_stop_fail(err); /* some file systems let a signal break into a sync */
	if (result < 0)
		return wp_sync_file_fail(loop->file,
			strcmp(loop->failed_call, "write") == 0 ? "write to" : loop->failed_call,
			(int)-result, err);
	rc = wp_fail(err, WP_E_SYS, 0,
		"could not write to \"%s\": wrote only %" PRId64 " of %" PRId64 " bytes",
		loop->file->path, result, loop->plan.write_bytes);
	wp_err_hint(err, "A short write mostly means that the file system or a quota is full.");
	return rc;
}

static bool opens_by_itself(const struct wp_sync_loop *loop)
{
	return loop->plan.how == WP_SYNC_BY_OTHER_FD;
}

static int64_t operation_bytes(const struct wp_sync_loop *loop)
{
	return loop->plan.writes_per_op * loop->plan.write_bytes;
}

/* The file with room for one operation, and the descriptor open on it. */
static int prepare(struct wp_sync_loop *loop, int64_t *syncs, struct wp_err *err)
{
	struct wp_sync_file *file = loop->file;
	bool is_used_up = loop->plan.offsets == WP_SYNC_FRESH &&
			  file->next_bytes + operation_bytes(loop) > file->size_bytes;

	if (!file->is_made || is_used_up) {
		int rc;

		if (close_fd(loop))
			return tell_failure(loop, err);
		rc = wp_sync_file_make(file, syncs, err);
		if (rc)
			return rc;
	}
	if (loop->fd < 0 && !opens_by_itself(loop) && reopen(loop, loop->open_flags))
		return tell_failure(loop, err);
	return 0;
}

/* Operate until least_ns are over or the fresh part of the file is used up. */
static int run_slice(struct wp_sync_loop *loop, int64_t least_ns, struct wp_hist *hist,
	struct wp_sync_counts *done)
{
	const atomic_int *stop = wp_stop_flag();
	int64_t size = operation_bytes(loop);
	int64_t step = loop->plan.offsets == WP_SYNC_FIXED ? 0 : size;
	int64_t last_offset = loop->file->size_bytes - size;
	int64_t offset = step ? loop->file->next_bytes : 0;
	int64_t operations = 0;
	int64_t start_ns;
	int64_t then_ns;
	int rc;

	if (offset > last_offset)
		offset = 0;
	wp_tick_start(&loop->tick);
	start_ns = wp_tick_now(&loop->tick);
	then_ns = start_ns;
	while ((rc = loop->operate(loop, offset)) == 0) {
		int64_t now_ns = wp_tick_now(&loop->tick);

		wp_hist_record(hist, now_ns - then_ns);
		then_ns = now_ns;
		operations++;
		offset += step;
		if (now_ns - start_ns >= least_ns ||
			atomic_load_explicit(stop, memory_order_relaxed))
			break;
		if (offset > last_offset) {
			if (loop->plan.offsets == WP_SYNC_FRESH)
				break;
			offset = 0;
		}
	}
	wp_tick_stop(&loop->tick);
	if (step)
		loop->file->next_bytes = offset;
	done->operations += operations;
	done->syncs += operations * wp_sync_loop_syncs_per_op(&loop->plan);
	done->elapsed_ns += then_ns - start_ns;
	return rc;
}

/* Close, and leave no dirty pages behind for the next one to write. */
static int finish(struct wp_sync_loop *loop, struct wp_sync_counts *done)
{
	if (loop->plan.how == WP_SYNC_BY_NOTHING) {
		int rc = wp_os_fsync(loop->os, loop->fd);

		if (rc)
			return failed(loop, "fsync", rc);
		done->syncs++;
	}
	return close_fd(loop);
}

int wp_sync_loop_run(struct wp_sync_loop *loop, int64_t least_ns, struct wp_hist *hist,
	struct wp_sync_counts *done, struct wp_err *err)
{
	int rc;

	memset(done, 0, sizeof(*done));
	do {
		int64_t left_ns = least_ns - done->elapsed_ns;

		/* A first short slice, so that the rest has the cheaper clock. */
		if (!wp_tick_is_learnt(&loop->tick) && left_ns > 2 * WP_TICK_LEARN_NS)
			left_ns = 2 * WP_TICK_LEARN_NS;
		rc = prepare(loop, &done->syncs, err);
		if (rc)
			goto out;
		if (run_slice(loop, left_ns, hist, done)) {
			rc = tell_failure(loop, err);
			goto out;
		}
	} while (done->elapsed_ns < least_ns && !wp_stop_requested());
	rc = finish(loop, done) ? tell_failure(loop, err) : wp_stop_fail(err);
out:
	(void)close_fd(loop); /* the failure that led here is the one to tell */
	return rc;
}

static bool is_refusal(int sys_errno)
{
	return sys_errno == EINVAL || sys_errno == EOPNOTSUPP || sys_errno == ENOSYS;
}

/* Turn the failure of a first operation into "does not exist here" where it means that. */
static int judge_refusal(const struct wp_sync_loop *loop, int rc, struct wp_err *err)
{
	int sys_errno = err->sys_errno;

	if (rc != -WP_E_SYS || !loop->failed_call || !is_refusal(sys_errno))
		return rc;
	if (loop->plan.is_direct && strcmp(loop->failed_call, "open") == 0)
		return wp_fail(
			err, WP_E_UNSUPPORTED, 0, "O_DIRECT refused: %s", wp_errno_name(sys_errno));
	if (strcmp(loop->failed_call, "write") != 0)
		return rc;
	if (loop->plan.is_direct && sys_errno == EINVAL)
		return wp_fail(err, WP_E_UNSUPPORTED, 0,
			"O_DIRECT write of %" PRId64 " bytes refused: %s", loop->plan.write_bytes,
			wp_errno_name(sys_errno));
	if (loop->plan.how == WP_SYNC_BY_RWF_DSYNC)
		return wp_fail(err, WP_E_UNSUPPORTED, 0, "RWF_DSYNC refused: %s",
			wp_errno_name(sys_errno));
	return rc;
}

int wp_sync_loop_try(struct wp_sync_loop *loop, struct wp_err *err)
{
	struct wp_sync_counts counts = { 0 };
	struct wp_err own = { 0 };
	int rc;

	loop->failed_call = NULL;
	rc = prepare(loop, &counts.syncs, &own);
	if (!rc && loop->operate(loop, 0))
		rc = tell_failure(loop, &own);
	if (!rc && finish(loop, &counts))
		rc = tell_failure(loop, &own);
	(void)close_fd(loop); /* the failure that led here is the one to tell */
	if (!rc && loop->plan.offsets == WP_SYNC_FRESH && loop->file->next_bytes == 0)
		loop->file->next_bytes = operation_bytes(loop);
	rc = judge_refusal(loop, rc, &own);
	if (rc && err)
		*err = own;
	return rc;
}
