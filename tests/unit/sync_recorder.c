/* SPDX-License-Identifier: PostgreSQL */
#include "sync_recorder.h"

#include "walprobe/stop.h"

#include <signal.h>

struct recorder recorder;

static void record(char call, int flags, int64_t size, int64_t offset)
{
	assert(recorder.count < MAX_TRACE);
	recorder.traces[recorder.count++] = (struct trace){ call, flags, size, offset };
}

static void spend(int64_t ns)
{
	(void)atomic_fetch_add(&recorder.fake.now_ns, ns);
}

static int record_open(void *ctx, const char *path, int flags, unsigned mode)
{
	record('o', flags, 0, 0);
	/* The directory that tests run in may lack O_DIRECT; the flag is on record. */
	return recorder.below->open(ctx, path, flags & ~O_DIRECT, mode);
}

static int record_close(void *ctx, int fd)
{
	record('c', 0, 0, 0);
	return recorder.below->close(ctx, fd);
}

static void look_at(const void *buffer, size_t length)
{
	if (length < sizeof(recorder.last))
		return;
	if (memcmp(buffer, recorder.last, sizeof(recorder.last)) == 0)
		recorder.has_repeated_bytes = true;
	memcpy(recorder.last, buffer, sizeof(recorder.last));
}

static int64_t record_pwrite(void *ctx, int fd, const void *buffer, size_t length, int64_t offset)
{
	record('w', 0, (int64_t)length, offset);
	look_at(buffer, length);
	spend(recorder.write_ns);
	return recorder.below->pwrite(ctx, fd, buffer, length, offset);
}

static int64_t record_pwritev2(
	void *ctx, int fd, const struct iovec *parts, int count, int64_t offset, int flags)
{
	record('v', flags, (int64_t)parts->iov_len, offset);
	look_at(parts->iov_base, parts->iov_len);
	spend(recorder.write_ns);
	return recorder.below->pwritev2(ctx, fd, parts, count, offset, flags);
}

static void count_sync(char call)
{
	record(call, 0, 0, 0);
	spend(recorder.sync_ns);
	if (++recorder.syncs == recorder.stop_at_sync)
		wp_stop_raise(SIGINT);
}

static int record_fsync(void *ctx, int fd)
{
	count_sync('s');
	return recorder.below->fsync(ctx, fd);
}

static int record_fdatasync(void *ctx, int fd)
{
	count_sync('d');
	return recorder.below->fdatasync(ctx, fd);
}

static int record_fallocate(void *ctx, int fd, int mode, int64_t offset, int64_t length)
{
	record('f', mode, length, offset);
	return recorder.below->fallocate(ctx, fd, mode, offset, length);
}

static int record_unlink(void *ctx, const char *path)
{
	record('u', 0, 0, 0);
	return recorder.below->unlink(ctx, path);
}

void recorder_init(void)
{
	memset(&recorder, 0, sizeof(recorder));
	fake_os_init(&recorder.fake);
	recorder.below = recorder.fake.os.ops;
	recorder.ops = *recorder.below;
	recorder.ops.open = record_open;
	recorder.ops.close = record_close;
	recorder.ops.pwrite = record_pwrite;
	recorder.ops.pwritev2 = record_pwritev2;
	recorder.ops.fsync = record_fsync;
	recorder.ops.fdatasync = record_fdatasync;
	recorder.ops.fallocate = record_fallocate;
	recorder.ops.unlink = record_unlink;
	recorder.os.ops = &recorder.ops;
	recorder.os.ctx = &recorder.fake;
	recorder.write_ns = 1000;
	recorder.sync_ns = 9000;
	atomic_store(&recorder.fake.now_ns, 1);
}

const char *recorder_calls(void)
{
	static char word[MAX_TRACE + 1];

	for (size_t i = 0; i < recorder.count; i++)
		word[i] = recorder.traces[i].call;
	word[recorder.count] = '\0';
	return word;
}
