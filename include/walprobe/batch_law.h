/* SPDX-License-Identifier: PostgreSQL */
/*
 * batch_law.h - what group commit gives by theory, from the time of a flush alone.
 *
 * Floor: stats (may include base). A flush makes durable what was inserted before it began; who
 * comes later waits for its end, and then for a flush of its own. In a closed loop of N clients
 * that spend T outside the flush, with flushes of mean S, a commit meets a flush of another with
 * the probability that one is under way, waits for its rest, and then S:
 *
 *	R = T + S + u (N - 1) / N  S (1 + c^2) / 2      u = min(1, X S / b), X = N / R
 *
 * where b = max(1, min(N, X S)) is the size of a batch and c the coefficient of variation of S. Two
 * clients and more never go round faster than 2 S when flushes follow each other. Processors bound
 * X from above. No locks, no queue for a processor: the error of this law is what a model adds.
 * Threads: yes, no state.
 */
#ifndef WALPROBE_BATCH_LAW_H
#define WALPROBE_BATCH_LAW_H

#include "walprobe/base.h"

struct wp_batch_law {
	int64_t clients;
	double outside_ns; /* T: time of a transaction outside the flush, without waiting */
	double flush_ns;   /* S */
	double variation;  /* c */
	double cpu_ns;     /* processor time of a transaction; 0: no bound */
	double processors;
};

/* wp_batch_law_rate - X, transactions a second; NaN when a figure is not finite or not above 0. */
double wp_batch_law_rate(const struct wp_batch_law *law);

#endif
