/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/change_point.h"
#include "walprobe/mem.h"

#include <math.h>

#define LEVEL 0.001

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(const double *values, size_t count)
{
	double *sorted = wp_xcalloc(count, sizeof(*sorted));
	double middle;

	memcpy(sorted, values, count * sizeof(*sorted));
	qsort(sorted, count, sizeof(*sorted), compare_doubles);
	middle = count % 2 ? sorted[count / 2] : (sorted[count / 2 - 1] + sorted[count / 2]) / 2;
	free(sorted);
	return middle;
}

/* How many of all values lie below one, minus how many lie above. */
static double balance(const double *values, size_t count, double value)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (values[i] < value) - (values[i] > value);
	return sum;
}

static void take_medians(struct wp_change_point *point, const double *values, size_t count)
{
	point->before = median(values, point->index);
	point->after = median(values + point->index, count - point->index);
}

/*
 * Ranks place a change early or late in the series a little towards the middle. What separates the
 * two levels best, with the fewest values on the wrong side of the mean of both medians, does not.
 */
static size_t best_split(const double *values, size_t count, double threshold)
{
	int64_t wrong = 0;
	int64_t fewest;
	size_t best = 1;

	for (size_t i = 1; i < count; i++)
		wrong += values[i] > threshold;
	wrong += values[0] <= threshold;
	fewest = wrong;
	for (size_t i = 2; i < count; i++) {
		wrong += values[i - 1] > threshold ? -1 : 1;
		if (wrong < fewest) {
			fewest = wrong;
			best = i;
		}
	}
	return best;
}

struct wp_change_point wp_change_point_find(const double *values, size_t count, double fall)
{
	struct wp_change_point point = { .p_value = 1 };
	double n = (double)count;
	double statistic = 0;
	double largest = 0;

	if (count < WP_CHANGE_POINT_MINIMUM)
		return point;
	/* Positive while what comes first is higher: its largest value marks a fall. */
	for (size_t i = 0; i + 1 < count; i++) {
		statistic += balance(values, count, values[i]);
		if (statistic > largest) {
			largest = statistic;
			point.index = i + 1;
		}
	}
	point.p_value = 2 * exp(-6 * largest * largest / (n * n * n + n * n));
	if (point.p_value > 1)
		point.p_value = 1;
	if (point.index == 0)
		return point;
	take_medians(&point, values, count);
	if (point.p_value < LEVEL && point.after <= fall * point.before) {
		point.is_found = true;
		point.index = best_split(values, count, (point.before + point.after) / 2);
		take_medians(&point, values, count);
	}
	return point;
}
