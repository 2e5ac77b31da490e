/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/tick.h"

#define CLOCK_SOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define PAIR_TRIES 5

void wp_tick_init(struct wp_tick *tick, const struct wp_os *os)
{
	char *source = NULL;
	int sys_errno;

	*tick = (struct wp_tick){ .os = os };
	if (os != wp_os_linux() || !wp_tick_counter())
		return;
	source = wp_os_read_text(os, CLOCK_SOURCE, 64, &sys_errno);
	tick->is_usable = source && strcmp(source, "tsc") == 0;
	free(source);
}

/* Counter and clock of one moment: the tightest of a few tries, should we be interrupted. */
static void read_pair(const struct wp_tick *tick, uint64_t *counter, int64_t *now_ns)
{
	uint64_t tightest = UINT64_MAX;

	for (int i = 0; i < PAIR_TRIES; i++) {
		uint64_t before = wp_tick_counter();
		int64_t between_ns = wp_os_now_ns(tick->os);
		uint64_t width = wp_tick_counter() - before;

		if (width >= tightest)
			continue;
		tightest = width;
		*counter = before + width / 2;
		*now_ns = between_ns;
	}
}

void wp_tick_start(struct wp_tick *tick)
{
	if (tick->is_usable)
		read_pair(tick, &tick->base, &tick->base_ns);
}

void wp_tick_stop(struct wp_tick *tick)
{
	uint64_t counter = 0;
	int64_t now_ns = 0;
	uint64_t rate;
	uint64_t change;

	if (!tick->is_usable)
		return;
	read_pair(tick, &counter, &now_ns);
	if (counter <= tick->base || now_ns - tick->base_ns < WP_TICK_LEARN_NS)
		return;
	rate = (uint64_t)(((unsigned __int128)(now_ns - tick->base_ns) << 32) /
			  (counter - tick->base));
	change = rate > tick->rate_q32 ? rate - tick->rate_q32 : tick->rate_q32 - rate;
	if (tick->rate_q32 && change > rate / 1000) {
		tick->is_usable = false;
		rate = 0;
	}
	tick->rate_q32 = rate;
}

bool wp_tick_is_learnt(const struct wp_tick *tick)
{
	return !tick->is_usable || tick->rate_q32;
}
