/* SPDX-License-Identifier: PostgreSQL */
#include "probe/quiesce.h"

void wp_quiesce_init(
	struct wp_quiesce *quiesce, const struct wp_os *os, const struct wp_target *target)
{
	memset(quiesce, 0, sizeof(*quiesce));
	quiesce->os = os;
	quiesce->target = target;
	quiesce->fd = -1;
	wp_sem_init(&quiesce->done, 0);
}

static void write_back(void *argument)
{
	struct wp_quiesce *quiesce = argument;

	quiesce->rc = wp_os_syncfs(quiesce->os, quiesce->fd);
	wp_sem_post(&quiesce->done);
}

static int start(struct wp_quiesce *quiesce, struct wp_err *err)
{
	const char *dir = quiesce->target->dir;
	int rc;

	if (quiesce->fd < 0) {
		quiesce->fd = wp_os_open(quiesce->os, dir, O_RDONLY | O_DIRECTORY, 0);
		if (quiesce->fd < 0)
			return wp_fail(err, WP_E_SYS, -quiesce->fd,
				"could not open directory \"%s\"", dir);
	}
	rc = wp_thread_start(&quiesce->thread, write_back, quiesce, 0, err);
	quiesce->is_running = rc == 0;
	return rc;
}

static void finish(struct wp_quiesce *quiesce)
{
	wp_thread_join(&quiesce->thread);
	quiesce->is_running = false;
}

int wp_quiesce_wait(struct wp_quiesce *quiesce, int64_t limit_ns, struct wp_err *err)
{
	int rc = 0;

	if (!quiesce->target->dir)
		return 0;
	if (!quiesce->is_running)
		rc = start(quiesce, err);
	if (rc)
		return rc;
	if (!wp_sem_wait_for(&quiesce->done, limit_ns))
		return 1;
	finish(quiesce);
	if (quiesce->rc < 0)
		return wp_fail(err, WP_E_SYS, -quiesce->rc,
			"could not write back the file system of \"%s\"", quiesce->target->dir);
	return 0;
}

void wp_quiesce_release(struct wp_quiesce *quiesce)
{
	if (quiesce->is_running)
		finish(quiesce);
	if (quiesce->fd >= 0)
		(void)wp_os_close(quiesce->os, quiesce->fd); /* a directory: nothing to lose */
	wp_sem_release(&quiesce->done);
	quiesce->fd = -1;
}
