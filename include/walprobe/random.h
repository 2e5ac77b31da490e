/* SPDX-License-Identifier: PostgreSQL */
/*
 * random.h - seeded random numbers (xoshiro256**), for order and payload; never for secrets.
 *
 * Floor: stats (may include base). Source: Blackman & Vigna, Scrambled linear pseudorandom number
 * generators, 2018; seeding by splitmix64.
 * Threads: no; one struct per thread.
 */
#ifndef WALPROBE_RANDOM_H
#define WALPROBE_RANDOM_H

#include "walprobe/base.h"

struct wp_random {
	uint64_t state[4];
};

/* wp_random_init - the same seed gives the same numbers for ever. */
void wp_random_init(struct wp_random *random, uint64_t seed);

/* wp_random_next - 64 random bits. */
uint64_t wp_random_next(struct wp_random *random);

/* wp_random_below - 0 .. limit-1, without bias; limit at least 1. */
uint64_t wp_random_below(struct wp_random *random, uint64_t limit);

/* wp_random_unit - 0 <= x < 1, 53 bits. */
double wp_random_unit(struct wp_random *random);

/* wp_random_fill - incompressible bytes. */
void wp_random_fill(struct wp_random *random, void *buffer, size_t size);

/* wp_random_shuffle - put count indexes into a random order (Fisher-Yates). */
void wp_random_shuffle(struct wp_random *random, size_t *indexes, size_t count);

#endif
