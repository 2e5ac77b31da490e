/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/beside.h"
#include "walprobe/mem.h"
#include "walprobe/random.h"
#include "walprobe/thread.h"

#include <stdatomic.h>

#define PAGE_BYTES 8192
#define FILL_BYTES (1 << 20)
#define PAGES_PER_SECOND 1000
#define BATCH 8
#define STACK_BYTES ((size_t)256 << 10)

struct wp_beside {
	const struct wp_os *os;
	char *paths[WP_BESIDE_FILES];
	int fds[WP_BESIDE_FILES];
	unsigned char *buffer; /* FILL_BYTES of random data */
	struct wp_random random;
	struct wp_thread thread;
	struct wp_sem wake;
	atomic_bool is_stopping;
	struct wp_err err; /* read after the thread has ended */
	int rc;
};

static int write_at(struct wp_beside *beside, size_t file, size_t length, int64_t offset)
{
	int rc = wp_os_write_all(beside->os, beside->fds[file], beside->buffer, length, offset);

	if (rc < 0)
		return wp_fail(
			&beside->err, WP_E_SYS, -rc, "could not write \"%s\"", beside->paths[file]);
	return 0;
}

static int sync_file(struct wp_beside *beside, size_t file)
{
	int rc = wp_os_fsync(beside->os, beside->fds[file]);

	if (rc < 0)
		return wp_fail(
			&beside->err, WP_E_SYS, -rc, "could not fsync \"%s\"", beside->paths[file]);
	return 0;
}

static int make_file(struct wp_beside *beside, size_t file)
{
	int rc = wp_os_open(beside->os, beside->paths[file], O_RDWR | O_CREAT | O_EXCL, 0600);

	if (rc < 0)
		return wp_fail(&beside->err, WP_E_SYS, -rc, "could not create \"%s\"",
			beside->paths[file]);
	beside->fds[file] = rc;
	rc = 0;
	for (int64_t offset = 0; !rc && offset < WP_BESIDE_FILE_BYTES; offset += FILL_BYTES)
		rc = write_at(beside, file, FILL_BYTES, offset);
	return rc ? rc : sync_file(beside, file);
}

int wp_beside_new(const struct wp_os *os, const char *dir, uint64_t seed, struct wp_beside **out,
	struct wp_err *err)
{
	struct wp_beside *beside = wp_xcalloc(1, sizeof(*beside));
	int rc = 0;

	beside->os = os;
	beside->buffer = wp_xaligned(PAGE_BYTES, FILL_BYTES);
	wp_random_init(&beside->random, seed);
	wp_random_fill(&beside->random, beside->buffer, FILL_BYTES);
	wp_sem_init(&beside->wake, 0);
	for (size_t i = 0; i < WP_BESIDE_FILES; i++) {
		beside->paths[i] = wp_xasprintf("%s/relation.%zu", dir, i);
		beside->fds[i] = -1;
	}
	for (size_t i = 0; !rc && i < WP_BESIDE_FILES; i++)
		rc = make_file(beside, i);
	if (rc) {
		if (err)
			*err = beside->err;
		wp_beside_free(beside);
		return rc;
	}
	*out = beside;
	return 0;
}

void wp_beside_free(struct wp_beside *beside)
{
	if (!beside)
		return;
	for (size_t i = 0; i < WP_BESIDE_FILES; i++) {
		if (beside->fds[i] >= 0)
			(void)wp_os_close(beside->os, beside->fds[i]); /* about to be removed */
		free(beside->paths[i]);
	}
	wp_sem_release(&beside->wake);
	free(beside->buffer);
	free(beside);
}

static bool is_stopping(const struct wp_beside *beside)
{
	return atomic_load_explicit(&beside->is_stopping, memory_order_relaxed);
}

static int write_batch(struct wp_beside *beside)
{
	int rc = 0;

	for (int i = 0; !rc && i < BATCH; i++) {
		uint64_t place = wp_random_next(&beside->random);
		int64_t page =
			(int64_t)(place / WP_BESIDE_FILES % (WP_BESIDE_FILE_BYTES / PAGE_BYTES));

		rc = write_at(beside, place % WP_BESIDE_FILES, PAGE_BYTES, page * PAGE_BYTES);
	}
	return rc;
}

/* Behind schedule, because the disk is slow, batches follow each other without a pause. */
static void run(void *argument)
{
	struct wp_beside *beside = argument;
	int64_t start_ns = wp_os_now_ns(beside->os);
	int64_t batches = 0;

	while (!beside->rc && !is_stopping(beside)) {
		int64_t due_ns = start_ns + batches * BATCH * WP_NS_PER_S / PAGES_PER_SECOND;
		int64_t left_ns = due_ns - wp_os_now_ns(beside->os);

		if (left_ns > 0 && wp_sem_wait_for(&beside->wake, left_ns))
			continue;
		beside->rc = write_batch(beside);
		if (++batches % (PAGES_PER_SECOND / BATCH))
			continue;
		for (size_t i = 0; !beside->rc && i < WP_BESIDE_FILES && !is_stopping(beside); i++)
			beside->rc = sync_file(beside, i);
	}
}

int wp_beside_start(struct wp_beside *beside, struct wp_err *err)
{
	atomic_store(&beside->is_stopping, false);
	return wp_thread_start(&beside->thread, run, beside, STACK_BYTES, err);
}

int wp_beside_stop(struct wp_beside *beside, struct wp_err *err)
{
	if (beside->thread.is_started) {
		atomic_store(&beside->is_stopping, true);
		wp_sem_post(&beside->wake);
	}
	wp_thread_join(&beside->thread);
	if (beside->rc && err)
		*err = beside->err;
	return beside->rc;
}
