/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/io_shuffle.h"

#include "walprobe/random.h"

void wp_io_shuffle_init(struct wp_io_shuffle *shuffle, uint64_t count, uint64_t seed)
{
	struct wp_random random;

	assert(count > 0);
	memset(shuffle, 0, sizeof(*shuffle));
	shuffle->count = count;
	shuffle->half_bits = 1;
	while (shuffle->half_bits < 31 && (UINT64_C(1) << (2 * shuffle->half_bits)) < count)
		shuffle->half_bits++;
	shuffle->half_mask = (UINT64_C(1) << shuffle->half_bits) - 1;
	wp_random_init(&random, seed);
	for (size_t i = 0; i < WP_IO_SHUFFLE_STEPS; i++)
		shuffle->keys[i] = wp_random_next(&random);
}

static uint64_t mix(uint64_t value)
{
	value *= UINT64_C(0x9e3779b97f4a7c15);
	value ^= value >> 32;
	value *= UINT64_C(0xd6e8feb86659fd93);
	return value ^ (value >> 32);
}

static uint64_t encrypt(const struct wp_io_shuffle *shuffle, uint64_t value)
{
	uint64_t left = value >> shuffle->half_bits;
	uint64_t right = value & shuffle->half_mask;

	for (size_t i = 0; i < WP_IO_SHUFFLE_STEPS; i++) {
		uint64_t next = left ^ (mix(right + shuffle->keys[i]) & shuffle->half_mask);

		left = right;
		right = next;
	}
	return left << shuffle->half_bits | right;
}

uint64_t wp_io_shuffle_at(const struct wp_io_shuffle *shuffle, uint64_t place)
{
	uint64_t value = encrypt(shuffle, place % shuffle->count);

	/* The walk stays in the cycle that place is in, so it comes below count again. */
	while (value >= shuffle->count)
		value = encrypt(shuffle, value);
	return value;
}
