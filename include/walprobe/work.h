/* SPDX-License-Identifier: PostgreSQL */
/*
 * work.h - processor work of a known amount.
 *
 * Floor: wal (may include base, os, stats). A server's transaction costs so much processor time,
 * and that time moves with the machine: its clock, its caches, what else runs on it. Time burnt by
 * the clock would not move. So work is counted in units that take as long as the machine makes
 * them take: each reads one line of a small private memory, at a place that depends on the line
 * before, and does a little arithmetic.
 * Threads: yes, one object per thread.
 */
#ifndef WALPROBE_WORK_H
#define WALPROBE_WORK_H

#include "walprobe/random.h"

struct wp_work {
	uint32_t *next; /* one cycle through all lines */
	uint32_t at;
	uint64_t sum;
};

/* wp_work_init - memory of bytes (a multiple of 64), laid out by seed. */
void wp_work_init(struct wp_work *work, size_t bytes, uint64_t seed);

/* wp_work_release - free memory; accepts a zeroed struct. */
void wp_work_release(struct wp_work *work);

/* wp_work_do - that many units; about 10 ns each on a processor of 2020. */
void wp_work_do(struct wp_work *work, int64_t units);

#endif
