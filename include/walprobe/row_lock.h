/* SPDX-License-Identifier: PostgreSQL */
/*
 * row_lock.h - locks of rows that are updated by several transactions, held until they have ended.
 *
 * Floor: wal (may include base, os, stats). The first to wait sleeps for the transaction that
 * holds the row, the others for the first (in PostgreSQL: for its tuple lock). Whoever ends a
 * transaction wakes the first alone; until that one runs, a newcomer may take the row before it.
 * Source: PostgreSQL heapam.c, heap_update(), heap_acquire_tuplock(), XactLockTableWait().
 * Threads: yes, one waiter object per thread; or per process, where table and waiters are in memory
 * that they share.
 */
#ifndef WALPROBE_ROW_LOCK_H
#define WALPROBE_ROW_LOCK_H

#include "walprobe/thread.h"

/* one backend as it waits; in one queue at a time */
struct wp_row_waiter {
	struct wp_sem sem;
	struct wp_row_waiter *next;
	int64_t waits; /* rows that were not free at once */
};

struct wp_row_lock {
	bool is_held;
	struct wp_row_waiter *first;
	struct wp_row_waiter *last;
};

/* the rows of one table */
struct wp_row_table {
	struct wp_mutex guard;
	struct wp_row_lock *rows;
	int64_t count;
};

/* wp_row_table_init - count rows, all free; wp_row_table_release frees them, nobody may wait. */
void wp_row_table_init(struct wp_row_table *table, int64_t count);
void wp_row_table_release(struct wp_row_table *table);

/* wp_row_waiter_init, wp_row_waiter_release - one backend. */
void wp_row_waiter_init(struct wp_row_waiter *waiter);
void wp_row_waiter_release(struct wp_row_waiter *waiter);

/* wp_row_try - take a row that is free (true), or leave it as it is. */
bool wp_row_try(struct wp_row_table *table, int64_t row);

/*
 * wp_row_wait - take a row, sleeping as long as another has it. Takers must ask for rows in one
 * order, or they wait for each other for ever.
 */
void wp_row_wait(struct wp_row_table *table, int64_t row, struct wp_row_waiter *waiter);

/* wp_row_release - the transaction that holds row has ended. */
void wp_row_release(struct wp_row_table *table, int64_t row);

#endif
