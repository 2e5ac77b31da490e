/* SPDX-License-Identifier: PostgreSQL */
/*
 * sync_recorder.h - the system with every call on record, and a clock that only writes and syncs
 * move: latencies are exact, and what happens outside of the loop costs nothing.
 */
#ifndef WALPROBE_SYNC_RECORDER_H
#define WALPROBE_SYNC_RECORDER_H

#include "fake_os.h"

#define MAX_TRACE 4096

struct trace {
	char call; /* o(pen) c(lose) w(rite) v (pwritev2) d(atasync) s(ync) f(allocate) u(nlink) */
	int flags; /* of open and pwritev2 */
	int64_t size;
	int64_t offset;
};

struct recorder {
	struct fake_os fake;
	struct wp_os os;
	struct wp_os_ops ops;
	const struct wp_os_ops *below;
	struct trace traces[MAX_TRACE];
	size_t count;
	int64_t write_ns;
	int64_t sync_ns;
	unsigned char last[8];
	bool has_repeated_bytes;
	int stop_at_sync; /* raise SIGINT in this sync */
	int syncs;
};
extern struct recorder recorder;

/* recorder_init - over the fake system; a write takes 1 us, a sync 9 us. */
void recorder_init(void);

/* recorder_calls - the calls of the record as one word, in static storage. */
const char *recorder_calls(void);

#endif
