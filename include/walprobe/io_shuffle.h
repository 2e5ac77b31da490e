/* SPDX-License-Identifier: PostgreSQL */
/*
 * io_shuffle.h - a random order of 0 .. count-1 that needs no memory.
 *
 * Floor: wal (may include base, os, stats). A Feistel network over the smallest even number of bits
 * that holds count, walked until the result is below count: every index comes once in a cycle, so
 * that random reads never meet what they read themselves before all of a file was read.
 * Source: Black & Rogaway, Ciphers with arbitrary finite domains, 2002 (cycle walking).
 * Threads: yes, read only after init.
 */
#ifndef WALPROBE_IO_SHUFFLE_H
#define WALPROBE_IO_SHUFFLE_H

#include "walprobe/base.h"

#define WP_IO_SHUFFLE_STEPS 4

struct wp_io_shuffle {
	uint64_t count;
	unsigned half_bits;
	uint64_t half_mask;
	uint64_t keys[WP_IO_SHUFFLE_STEPS];
};

/* wp_io_shuffle_init - an order of count indexes (at least 1); the same seed gives the same. */
void wp_io_shuffle_init(struct wp_io_shuffle *shuffle, uint64_t count, uint64_t seed);

/* wp_io_shuffle_at - which index stands at a place of the order, 0 .. count-1. */
uint64_t wp_io_shuffle_at(const struct wp_io_shuffle *shuffle, uint64_t place);

#endif
