/* SPDX-License-Identifier: PostgreSQL */
#include "pg/timer_heap.h"
#include "walprobe/mem.h"

void wp_timer_heap_init(struct wp_timer_heap *heap, size_t capacity)
{
	heap->items = wp_xcalloc(capacity, sizeof(*heap->items));
	heap->capacity = capacity;
	heap->count = 0;
}

void wp_timer_heap_release(struct wp_timer_heap *heap)
{
	free(heap->items);
	memset(heap, 0, sizeof(*heap));
}

void wp_timer_heap_add(struct wp_timer_heap *heap, int64_t at_ns, void *owner)
{
	size_t at = heap->count++;

	assert(heap->count <= heap->capacity);
	while (at > 0 && heap->items[(at - 1) / 2].at_ns > at_ns) {
		heap->items[at] = heap->items[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	heap->items[at] = (struct wp_timer){ .at_ns = at_ns, .owner = owner };
}

int64_t wp_timer_heap_next_ns(const struct wp_timer_heap *heap)
{
	return heap->count ? heap->items[0].at_ns : INT64_MAX;
}

void *wp_timer_heap_take(struct wp_timer_heap *heap)
{
	struct wp_timer last;
	void *owner;
	size_t at = 0;

	if (heap->count == 0)
		return NULL;
	owner = heap->items[0].owner;
	last = heap->items[--heap->count];
	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < heap->count &&
			heap->items[child + 1].at_ns < heap->items[child].at_ns)
			child++;
		if (child >= heap->count || heap->items[child].at_ns >= last.at_ns)
			break;
		heap->items[at] = heap->items[child];
		at = child;
	}
	heap->items[at] = last;
	return owner;
}
