/* SPDX-License-Identifier: PostgreSQL */
/*
 * watch_os.h - the real system, with a list of the calls that touch files, and planted delays.
 */
#ifndef WALPROBE_WATCH_OS_H
#define WALPROBE_WATCH_OS_H

#include "walprobe/os.h"
#include "walprobe/thread.h"

#include <stdatomic.h>

struct watch_os {
	struct wp_os os; /* hand &watch.os to the code under test */
	struct wp_mutex guard;
	char *calls; /* one line a call: "open NAME flags = ok", names without directories */
	size_t length;
	atomic_bool is_recording;
	int64_t flush_sleep_ns;    /* fdatasync, fsync: really sleeps that long */
	atomic_llong fail_sync_at; /* 1: the next fdatasync fails, once; 0: never */
	atomic_llong syncs_after_failure;
	atomic_bool has_failed;
	atomic_llong refuse_link; /* link() answers EPERM */
};

/* watch_os_init, watch_os_release - recording. */
void watch_os_init(struct watch_os *watch);
void watch_os_release(struct watch_os *watch);

/* watch_os_clear - forget the calls so far. */
void watch_os_clear(struct watch_os *watch);

#endif
