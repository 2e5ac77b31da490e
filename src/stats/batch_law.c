/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/batch_law.h"

#include <math.h>

#define TURNS 200
#define NS_PER_S 1e9

static double least(double a, double b)
{
	return a < b ? a : b;
}

static double most(double a, double b)
{
	return a > b ? a : b;
}

/* One turn of the fixed point: the time of a round when the rate is x per ns. */
static double round_ns(const struct wp_batch_law *law, double x)
{
	double clients = (double)law->clients;
	double flush = law->flush_ns;
	double batch = most(1, least(clients, x * flush));
	double busy = least(1, x * flush / batch);
	double rest = flush * (1 + law->variation * law->variation) / 2;
	double all = law->outside_ns + flush + busy * (clients - 1) / clients * rest;

	return law->clients > 1 ? most(all, 2 * flush) : all;
}

double wp_batch_law_rate(const struct wp_batch_law *law)
{
	double clients = (double)law->clients;
	double x;

	if (!(law->outside_ns > 0) || !(law->flush_ns > 0) || !isfinite(law->outside_ns) ||
		!isfinite(law->flush_ns) || !isfinite(law->variation) || law->clients < 1)
		return (double)NAN;
	x = clients / (law->outside_ns + law->flush_ns);
	for (int i = 0; i < TURNS; i++)
		x = (x + clients / round_ns(law, x)) / 2;
	if (law->cpu_ns > 0 && law->processors > 0)
		x = least(x, law->processors / law->cpu_ns);
	return x * NS_PER_S;
}
