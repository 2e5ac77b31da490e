/* SPDX-License-Identifier: PostgreSQL */
#include "expr_internal.h"

#include <math.h>

/* ---- hashes and permutations ----------------------------------------------------------------- */

int64_t wp_expr_hash_fnv1a(int64_t value, uint64_t seed)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325) ^ seed;
	uint64_t rest = (uint64_t)value;

	for (int i = 0; i < 8; i++) {
		hash = (hash ^ (rest & 0xff)) * UINT64_C(0x100000001b3);
		rest >>= 8;
	}
	return (int64_t)hash;
}

/* MurmurHash64A (Austin Appleby) of one 8-byte word. */
int64_t wp_expr_hash_murmur2(int64_t value, uint64_t seed)
{
	static const uint64_t multiplier = UINT64_C(0xc6a4a7935bd1e995);
	uint64_t hash = seed ^ (8 * multiplier);
	uint64_t word = (uint64_t)value * multiplier;

	word ^= word >> 47;
	hash = (hash ^ (word * multiplier)) * multiplier;
	hash = (hash ^ (hash >> 47)) * multiplier;
	return (int64_t)(hash ^ (hash >> 47));
}

/* xoroshiro128** (Blackman & Vigna), which fixes the permutations that pgbench makes */
struct xoroshiro {
	uint64_t s0;
	uint64_t s1;
};

static uint64_t rotate_left(uint64_t value, int bits)
{
	return (value << bits) | (value >> (64 - bits));
}

static uint64_t xoroshiro_next(struct xoroshiro *state)
{
	uint64_t mixed = state->s1 ^ state->s0;
	uint64_t result = rotate_left(state->s0 * 5, 7) * 9;

	state->s0 = rotate_left(state->s0, 24) ^ mixed ^ (mixed << 16);
	state->s1 = rotate_left(mixed, 37);
	return result;
}

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static int highest_bit(uint64_t value)
{
	return 63 - __builtin_clzll(value);
}

/* 0 .. most, drawn by masking and rejecting; most at least 1 */
static uint64_t xoroshiro_up_to(struct xoroshiro *state, uint64_t most)
{
	int shift = 63 - highest_bit(most);
	uint64_t value;

	do
		value = xoroshiro_next(state) >> shift;
	while (value > most);
	return value;
}

/* A bijection of 0 .. mask: an odd multiple, an exclusive or, and a rotation by one bit. */
static uint64_t scramble(uint64_t value, uint64_t odd, uint64_t pattern, uint64_t mask, int bits)
{
	value = ((value * odd) ^ pattern) & mask;
	return ((value << 1) & mask) | (value >> (bits - 1));
}

/*
 * Six rounds over the lower and the upper part of the range, which are powers of two and overlap,
 * each followed by a shift of the whole range (pgbench.c, permute).
 */
int64_t wp_expr_permute(int64_t value, int64_t size, uint64_t seed)
{
	uint64_t count = (uint64_t)size;
	struct xoroshiro state;
	uint64_t mask;
	uint64_t v;
	int bits;

	if (size < 2)
		return 0;
	state.s0 = splitmix64(&seed);
	state.s1 = splitmix64(&seed);
	bits = highest_bit(count);
	mask = (UINT64_C(1) << bits) - 1;
	v = (uint64_t)value % count;
	for (int round = 0; round < 6; round++) {
		uint64_t odd = (xoroshiro_next(&state) & mask) | 1;
		uint64_t pattern = xoroshiro_next(&state) & mask;

		if (v <= mask)
			v = scramble(v, odd, pattern, mask, bits);
		odd = (xoroshiro_next(&state) & mask) | 1;
		pattern = xoroshiro_next(&state) & mask;
		if (count - 1 - v <= mask)
			v = count - 1 - scramble(count - 1 - v, odd, pattern, mask, bits);
		v = (v + xoroshiro_up_to(&state, count - 1)) % count;
	}
	return (int64_t)v;
}

/* ---- arithmetic and comparison --------------------------------------------------------------- */

static void set_int(struct wp_value *out, int64_t integer)
{
	*out = (struct wp_value){ .type = WP_VALUE_INT, .integer = integer };
}

static void set_double(struct wp_value *out, double real)
{
	*out = (struct wp_value){ .type = WP_VALUE_DOUBLE, .real = real };
}

static void set_boolean(struct wp_value *out, bool boolean)
{
	*out = (struct wp_value){ .type = WP_VALUE_BOOLEAN, .boolean = boolean };
}

static int two_ints(const struct wp_value *args, int64_t *a, int64_t *b, struct wp_err *err)
{
	int result = wp_expr_to_int(&args[0], a, err);

	return result < 0 ? result : wp_expr_to_int(&args[1], b, err);
}

static int two_doubles(const struct wp_value *args, double *a, double *b, struct wp_err *err)
{
	int result = wp_expr_to_double(&args[0], a, err);

	return result < 0 ? result : wp_expr_to_double(&args[1], b, err);
}

static void double_operation(enum expr_function function, double a, double b, struct wp_value *out)
{
	switch (function) {
	case FN_ADD:
		set_double(out, a + b);
		return;
	case FN_SUB:
		set_double(out, a - b);
		return;
	case FN_MUL:
		set_double(out, a * b);
		return;
	case FN_EQ:
		set_boolean(out, a == b);
		return;
	case FN_NE:
		set_boolean(out, a != b);
		return;
	case FN_LT:
		set_boolean(out, a < b);
		return;
	case FN_LE:
		set_boolean(out, a <= b);
		return;
	case FN_GT:
		set_boolean(out, a > b);
		return;
	case FN_GE:
		set_boolean(out, a >= b);
		return;
	default:
		set_double(out, a / b);
	}
}

static bool int_comparison(enum expr_function function, int64_t a, int64_t b)
{
	switch (function) {
	case FN_EQ:
		return a == b;
	case FN_NE:
		return a != b;
	case FN_LT:
		return a < b;
	case FN_LE:
		return a <= b;
	case FN_GT:
		return a > b;
	default:
		return a >= b;
	}
}

static int out_of_range(const char *operation, struct wp_err *err)
{
	return wp_fail(err, WP_E_DATA, 0, "bigint %s out of range", operation);
}

static int int_division(
	enum expr_function function, int64_t a, int64_t b, struct wp_value *out, struct wp_err *err)
{
	if (b == 0)
		return wp_fail(err, WP_E_DATA, 0, "division by zero");
	if (b == -1) {
		/* the smallest bigint has no positive counterpart */
		if (function == FN_DIV && a == INT64_MIN)
			return out_of_range("div", err);
		set_int(out, function == FN_DIV ? -a : 0);
		return 0;
	}
	set_int(out, function == FN_DIV ? a / b : a % b);
	return 0;
}

static int int_operation(
	enum expr_function function, int64_t a, int64_t b, struct wp_value *out, struct wp_err *err)
{
	int64_t result;

	switch (function) {
	case FN_ADD:
		if (__builtin_add_overflow(a, b, &result))
			return out_of_range("add", err);
		break;
	case FN_SUB:
		if (__builtin_sub_overflow(a, b, &result))
			return out_of_range("sub", err);
		break;
	case FN_MUL:
		if (__builtin_mul_overflow(a, b, &result))
			return out_of_range("mul", err);
		break;
	case FN_DIV:
	case FN_MOD:
		return int_division(function, a, b, out, err);
	default:
		set_boolean(out, int_comparison(function, a, b));
		return 0;
	}
	set_int(out, result);
	return 0;
}

/* Doubles when either side is one, but for mod, which is of ints only. */
static int arithmetic(enum expr_function function, const struct wp_value *args,
	struct wp_value *out, struct wp_err *err)
{
	bool real = args[0].type == WP_VALUE_DOUBLE || args[1].type == WP_VALUE_DOUBLE;
	int64_t i[2];
	double d[2];
	int result;

	if (real && function != FN_MOD) {
		result = two_doubles(args, &d[0], &d[1], err);
		if (result == 0)
			double_operation(function, d[0], d[1], out);
		return result;
	}
	result = two_ints(args, &i[0], &i[1], err);
	return result < 0 ? result : int_operation(function, i[0], i[1], out, err);
}

static int bit_operation(enum expr_function function, const struct wp_value *args,
	struct wp_value *out, struct wp_err *err)
{
	int64_t a;
	int64_t b;
	int result = two_ints(args, &a, &b, err);

	if (result < 0)
		return result;
	switch (function) {
	case FN_BIT_AND:
		set_int(out, a & b);
		break;
	case FN_BIT_OR:
		set_int(out, a | b);
		break;
	case FN_BIT_XOR:
		set_int(out, a ^ b);
		break;
	case FN_SHIFT_LEFT:
		/* pgbench leaves wide shifts to the processor, which takes six bits of the count */
		set_int(out, (int64_t)((uint64_t)a << (b & 63)));
		break;
	default:
		set_int(out, a >> (b & 63));
	}
	return 0;
}

/* ---- functions ------------------------------------------------------------------------------- */

static int absolute(const struct wp_value *arg, struct wp_value *out, struct wp_err *err)
{
	double real;
	int result;

	if (arg->type == WP_VALUE_INT) {
		/* the smallest bigint stays itself, as in pgbench */
		int64_t a = arg->integer;

		set_int(out, a < 0 ? (int64_t)(-(uint64_t)a) : a);
		return 0;
	}
	result = wp_expr_to_double(arg, &real, err);
	if (result == 0)
		set_double(out, real < 0.0 ? -real : real);
	return result;
}

static int real_function(enum expr_function function, const struct wp_value *arg,
	struct wp_value *out, struct wp_err *err)
{
	double real;
	int result = wp_expr_to_double(arg, &real, err);

	if (result < 0)
		return result;
	if (function == FN_SQRT)
		real = sqrt(real);
	else if (function == FN_LN)
		real = log(real);
	else if (function == FN_EXP)
		real = exp(real);
	set_double(out, real);
	return 0;
}

static int extreme_double(enum expr_function function, const struct wp_value *args, int32_t count,
	struct wp_value *out, struct wp_err *err)
{
	double extreme = 0;

	for (int32_t i = 0; i < count; i++) {
		double real;
		int result = wp_expr_to_double(&args[i], &real, err);

		if (result < 0)
			return result;
		/* written so that a NaN is treated as pgbench's Min and Max treat it */
		if (i == 0)
			extreme = real;
		else if (function == FN_LEAST)
			extreme = extreme < real ? extreme : real;
		else
			extreme = extreme > real ? extreme : real;
	}
	set_double(out, extreme);
	return 0;
}

static int extreme_int(enum expr_function function, const struct wp_value *args, int32_t count,
	struct wp_value *out, struct wp_err *err)
{
	int64_t extreme = 0;

	for (int32_t i = 0; i < count; i++) {
		int64_t integer;
		int result = wp_expr_to_int(&args[i], &integer, err);

		if (result < 0)
			return result;
		if (i == 0 || (function == FN_LEAST ? integer < extreme : integer > extreme))
			extreme = integer;
	}
	set_int(out, extreme);
	return 0;
}

static int extreme(enum expr_function function, const struct wp_value *args, int32_t count,
	struct wp_value *out, struct wp_err *err)
{
	for (int32_t i = 0; i < count; i++)
		if (args[i].type == WP_VALUE_DOUBLE)
			return extreme_double(function, args, count, out, err);
	return extreme_int(function, args, count, out, err);
}

static int hash(enum expr_function function, const struct wp_value *args, struct wp_value *out,
	struct wp_err *err)
{
	int64_t value;
	int64_t seed;
	int result = two_ints(args, &value, &seed, err);

	if (result < 0)
		return result;
	if (function == FN_HASH_FNV1A)
		set_int(out, wp_expr_hash_fnv1a(value, (uint64_t)seed));
	else
		set_int(out, wp_expr_hash_murmur2(value, (uint64_t)seed));
	return 0;
}

static int permute(const struct wp_value *args, struct wp_value *out, struct wp_err *err)
{
	int64_t value;
	int64_t size;
	int64_t seed;
	int result = two_ints(args, &value, &size, err);

	if (result == 0)
		result = wp_expr_to_int(&args[2], &seed, err);
	if (result < 0)
		return result;
	if (size <= 0)
		return wp_fail(
			err, WP_E_DATA, 0, "permute size parameter must be greater than zero");
	set_int(out, wp_expr_permute(value, size, (uint64_t)seed));
	return 0;
}

static int power(const struct wp_value *args, struct wp_value *out, struct wp_err *err)
{
	double base;
	double exponent;
	int result = two_doubles(args, &base, &exponent, err);

	if (result == 0)
		set_double(out, pow(base, exponent));
	return result;
}

static int negate(const struct wp_value *arg, struct wp_value *out, struct wp_err *err)
{
	bool boolean;
	int result = wp_expr_to_boolean(arg, &boolean, err);

	if (result == 0)
		set_boolean(out, !boolean);
	return result;
}

static int to_int(const struct wp_value *arg, struct wp_value *out, struct wp_err *err)
{
	int64_t integer;
	int result = wp_expr_to_int(arg, &integer, err);

	if (result == 0)
		set_int(out, integer);
	return result;
}

/* The right side is always null, true or false. */
static bool is_same(const struct wp_value *args)
{
	return args[0].type == args[1].type &&
	       (args[0].type == WP_VALUE_NULL || args[0].boolean == args[1].boolean);
}

static bool any_null(const struct wp_value *args, int32_t count)
{
	for (int32_t i = 0; i < count; i++)
		if (args[i].type == WP_VALUE_NULL)
			return true;
	return false;
}

static int call_named(enum expr_function function, const struct wp_value *args, int32_t count,
	const struct wp_expr_env *env, struct wp_value *out, struct wp_err *err)
{
	switch (function) {
	case FN_ABS:
		return absolute(args, out, err);
	case FN_DOUBLE:
	case FN_EXP:
	case FN_LN:
	case FN_SQRT:
		return real_function(function, args, out, err);
	case FN_GREATEST:
	case FN_LEAST:
		return extreme(function, args, count, out, err);
	case FN_HASH:
	case FN_HASH_FNV1A:
	case FN_HASH_MURMUR2:
		return hash(function, args, out, err);
	case FN_INT:
		return to_int(args, out, err);
	case FN_PERMUTE:
		return permute(args, out, err);
	case FN_PI:
		set_double(out, M_PI);
		return 0;
	case FN_POW:
	case FN_POWER:
		return power(args, out, err);
	default:
		return wp_expr_random_call(function, args, env->random, out, err);
	}
}

int wp_expr_call(enum expr_function function, const struct wp_value *args, int32_t count,
	const struct wp_expr_env *env, struct wp_value *out, struct wp_err *err)
{
	if (function == FN_IS) {
		set_boolean(out, is_same(args));
		return 0;
	}
	if (function == FN_DEBUG) {
		if (env->debug)
			env->debug(env->debug_arg, args);
		*out = args[0];
		return 0;
	}
	if (any_null(args, count)) {
		*out = (struct wp_value){ .type = WP_VALUE_NULL };
		return 0;
	}
	if (function == FN_NOT)
		return negate(args, out, err);
	if (function <= FN_MOD)
		return arithmetic(function, args, out, err);
	if (function <= FN_SHIFT_RIGHT)
		return bit_operation(function, args, out, err);
	return call_named(function, args, count, env, out, err);
}
