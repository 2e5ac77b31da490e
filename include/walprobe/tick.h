/* SPDX-License-Identifier: PostgreSQL */
/*
 * tick.h - a clock for loops whose operations take about a microsecond.
 *
 * Floor: os (may include base). Where Linux itself trusts the processor's time stamp counter
 * (clock source "tsc"), the counter is read without the call: 10 ns instead of 25 to 45, which is
 * the larger part of what timing costs on tmpfs. Its rate is learnt from CLOCK_MONOTONIC over the
 * measured work, and checked against it after every stretch; anywhere else, and with another
 * system behind the door, wp_tick_now() is wp_os_now_ns().
 * Threads: no; one struct per thread.
 */
#ifndef WALPROBE_TICK_H
#define WALPROBE_TICK_H

#include "walprobe/os.h"

/* shortest stretch that a rate is learnt from */
#define WP_TICK_LEARN_NS (10 * WP_NS_PER_MS)

struct wp_tick {
	const struct wp_os *os;
	bool is_usable;    /* the counter is good on this machine */
	uint64_t rate_q32; /* ns per tick, 32 fraction bits; 0: not known yet */
	uint64_t base;     /* counter and clock at the start of the stretch */
	int64_t base_ns;
};

/* wp_tick_init - find out whether the counter may be used; the rate is not known yet. */
void wp_tick_init(struct wp_tick *tick, const struct wp_os *os);

/* wp_tick_start - begin a stretch: from here on wp_tick_now() counts from the clock's time now. */
void wp_tick_start(struct wp_tick *tick);

/*
 * wp_tick_stop - end a stretch: learn the rate, if it lasted WP_TICK_LEARN_NS.
 *
 * A rate that differs from the one learnt before by more than 1/1000 ends the use of the counter.
 */
void wp_tick_stop(struct wp_tick *tick);

/* wp_tick_is_learnt - false as long as a stretch of WP_TICK_LEARN_NS would make reading cheaper. */
bool wp_tick_is_learnt(const struct wp_tick *tick);

/* wp_tick_counter - the time stamp counter, 0 on processors that we do not know. */
static inline uint64_t wp_tick_counter(void)
{
#ifdef __x86_64__
	return __builtin_ia32_rdtsc();
#else
	return 0;
#endif
}

/* wp_tick_now - ns on the scale of wp_os_now_ns(). */
static inline int64_t wp_tick_now(const struct wp_tick *tick)
{
	if (!tick->rate_q32)
		return wp_os_now_ns(tick->os);
	return tick->base_ns +
	       (int64_t)((unsigned __int128)(wp_tick_counter() - tick->base) * tick->rate_q32 >>
			 32);
}

#endif
