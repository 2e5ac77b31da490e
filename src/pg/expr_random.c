/* SPDX-License-Identifier: PostgreSQL */
#include "expr_internal.h"

#include <math.h>

#define GAUSSIAN_PARAMETER_MIN 2.0
#define ZIPFIAN_PARAMETER_MIN 1.001
#define ZIPFIAN_PARAMETER_MAX 1000.0

/* count values beginning at first; count is at most INT64_MAX */
struct range {
	int64_t first;
	int64_t count;
};

/*
 * The place in the range of unit, nominally 0 <= unit < 1. Extreme parameters and counts above 2^53
 * can leave that by rounding, and infinite ones give NaN: those are put to the ends.
 */
static int64_t pick(const struct range *range, double unit)
{
	double offset = (double)range->count * unit;

	if (!(offset > 0))
		return range->first;
	if (offset >= (double)range->count)
		return range->first + (range->count - 1);
	return range->first + (int64_t)offset;
}

static int64_t exponential(const struct range *range, double parameter, struct wp_random *random)
{
	double cut = exp(-parameter);
	double unit = 1.0 - wp_random_unit(random); /* 0 < unit <= 1 */

	return pick(range, -log(cut + (1.0 - cut) * unit) / parameter);
}

/* Box-Muller, without its second value, as in PostgreSQL's pg_prng_double_normal */
static double normal(struct wp_random *random)
{
	double u1 = 1.0 - wp_random_unit(random);
	double u2 = 1.0 - wp_random_unit(random);

	return sqrt(-2.0 * log(u1)) * sin(2.0 * M_PI * u2);
}

static int64_t gaussian(const struct range *range, double parameter, struct wp_random *random)
{
	double deviation;

	/* at worst, with a parameter of 2, one draw in twenty is repeated */
	do
		deviation = normal(random);
	while (deviation < -parameter || deviation >= parameter);
	return pick(range, (deviation + parameter) / (parameter * 2.0));
}

/* Rejection method: Devroye, Non-Uniform Random Variate Generation, 1986, page 550. */
static int64_t zipfian(const struct range *range, double s, struct wp_random *random)
{
	double b = pow(2.0, s - 1.0);
	double x;
	double t;
	double v;

	if (range->count <= 1)
		return range->first;
	do {
		double u = wp_random_unit(random);

		v = wp_random_unit(random);
		x = floor(pow(u, -1.0 / (s - 1.0)));
		t = pow(1.0 + 1.0 / x, s - 1.0);
	} while (!(v * x * (t - 1.0) / (b - 1.0) <= t / b && x <= (double)range->count));
	/* x is at most a count that may have been rounded up */
	if (x >= (double)range->count)
		return range->first + (range->count - 1);
	return range->first + ((int64_t)x - 1);
}

static int read_range(const struct wp_value *args, struct range *range, struct wp_err *err)
{
	int64_t last;
	int result = wp_expr_to_int(&args[0], &range->first, err);

	if (result == 0)
		result = wp_expr_to_int(&args[1], &last, err);
	if (result < 0)
		return result;
	if (range->first > last)
		return wp_fail(err, WP_E_DATA, 0, "empty range given to random");
	if (__builtin_sub_overflow(last, range->first, &range->count) ||
		__builtin_add_overflow(range->count, 1, &range->count))
		return wp_fail(err, WP_E_DATA, 0, "random range is too large");
	return 0;
}

static int check_parameter(enum expr_function function, double parameter, struct wp_err *err)
{
	if (function == FN_RANDOM_GAUSSIAN && !(parameter >= GAUSSIAN_PARAMETER_MIN))
		return wp_fail(err, WP_E_DATA, 0, "gaussian parameter must be at least %f (not %f)",
			GAUSSIAN_PARAMETER_MIN, parameter);
	if (function == FN_RANDOM_ZIPFIAN &&
		!(parameter >= ZIPFIAN_PARAMETER_MIN && parameter <= ZIPFIAN_PARAMETER_MAX))
		return wp_fail(err, WP_E_DATA, 0,
			"zipfian parameter must be in range [%.3f, %.0f] (not %f)",
			ZIPFIAN_PARAMETER_MIN, ZIPFIAN_PARAMETER_MAX, parameter);
	if (function == FN_RANDOM_EXPONENTIAL && !(parameter > 0.0))
		return wp_fail(err, WP_E_DATA, 0,
			"exponential parameter must be greater than zero (not %f)", parameter);
	return 0;
}

static int64_t draw(enum expr_function function, const struct range *range, double parameter,
	struct wp_random *random)
{
	switch (function) {
	case FN_RANDOM_EXPONENTIAL:
		return exponential(range, parameter, random);
	case FN_RANDOM_GAUSSIAN:
		return gaussian(range, parameter, random);
	case FN_RANDOM_ZIPFIAN:
		return zipfian(range, parameter, random);
	default:
		return range->first + (int64_t)wp_random_below(random, (uint64_t)range->count);
	}
}

int wp_expr_random_call(enum expr_function function, const struct wp_value *args,
	struct wp_random *random, struct wp_value *out, struct wp_err *err)
{
	struct range range;
	double parameter = 0;
	int result = read_range(args, &range, err);

	if (result == 0 && function != FN_RANDOM)
		result = wp_expr_to_double(&args[2], &parameter, err);
	if (result == 0)
		result = check_parameter(function, parameter, err);
	if (result < 0)
		return result;
	*out = (struct wp_value){ .type = WP_VALUE_INT,
		.integer = draw(function, &range, parameter, random) };
	return 0;
}
