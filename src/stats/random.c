/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/random.h"

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void wp_random_init(struct wp_random *random, uint64_t seed)
{
	for (size_t i = 0; i < WP_COUNT(random->state); i++)
		random->state[i] = splitmix64(&seed);
}

static uint64_t rotate_left(uint64_t value, unsigned bits)
{
	return (value << bits) | (value >> (64 - bits));
}

uint64_t wp_random_next(struct wp_random *random)
{
	uint64_t *s = random->state;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = rotate_left(s[3], 45);
	return result;
}

uint64_t wp_random_below(struct wp_random *random, uint64_t limit)
{
	uint64_t threshold = -limit % limit;
	uint64_t value;

	assert(limit > 0);
	do
		value = wp_random_next(random);
	while (value < threshold);
	return value % limit;
}

double wp_random_unit(struct wp_random *random)
{
	return (double)(wp_random_next(random) >> 11) * 0x1.0p-53;
}

void wp_random_fill(struct wp_random *random, void *buffer, size_t size)
{
	unsigned char *bytes = buffer;

	while (size > 0) {
		uint64_t word = wp_random_next(random);
		size_t part = size < sizeof(word) ? size : sizeof(word);

		memcpy(bytes, &word, part);
		bytes += part;
		size -= part;
	}
}

void wp_random_shuffle(struct wp_random *random, size_t *indexes, size_t count)
{
	for (size_t i = count; i > 1; i--) {
		size_t j = (size_t)wp_random_below(random, i);
		size_t swapped = indexes[i - 1];

		indexes[i - 1] = indexes[j];
		indexes[j] = swapped;
	}
}
