/* SPDX-License-Identifier: PostgreSQL */
/*
 * timer_heap.h - clients by the time at which they wake; private to pg.
 *
 * Floor: pg. A binary heap with room for every client from the start.
 */
#ifndef WALPROBE_PG_TIMER_HEAP_H
#define WALPROBE_PG_TIMER_HEAP_H

#include "walprobe/base.h"

struct wp_timer {
	int64_t at_ns;
	void *owner;
};

struct wp_timer_heap {
	struct wp_timer *items;
	size_t count;
	size_t capacity;
};

/* wp_timer_heap_init, wp_timer_heap_release - room for capacity timers. */
void wp_timer_heap_init(struct wp_timer_heap *heap, size_t capacity);
void wp_timer_heap_release(struct wp_timer_heap *heap);

/* wp_timer_heap_add - at most capacity at one time. */
void wp_timer_heap_add(struct wp_timer_heap *heap, int64_t at_ns, void *owner);

/* wp_timer_heap_next_ns - when the earliest is due; INT64_MAX when there is none. */
int64_t wp_timer_heap_next_ns(const struct wp_timer_heap *heap);

/* wp_timer_heap_take - owner of the earliest, removed; NULL when there is none. */
void *wp_timer_heap_take(struct wp_timer_heap *heap);

#endif
