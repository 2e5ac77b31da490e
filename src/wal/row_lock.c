/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/row_lock.h"

#include "walprobe/forked.h"

void wp_row_table_init(struct wp_row_table *table, int64_t count)
{
	wp_mutex_init_shared(&table->guard);
	table->rows = wp_shared_alloc((size_t)count * sizeof(*table->rows));
	table->count = count;
}

void wp_row_table_release(struct wp_row_table *table)
{
	wp_shared_free(table->rows, (size_t)table->count * sizeof(*table->rows));
	table->rows = NULL;
	wp_mutex_release(&table->guard);
}

void wp_row_waiter_init(struct wp_row_waiter *waiter)
{
	waiter->next = NULL;
	waiter->waits = 0;
	wp_sem_init_shared(&waiter->sem, 0);
}

void wp_row_waiter_release(struct wp_row_waiter *waiter)
{
	wp_sem_release(&waiter->sem);
}

bool wp_row_try(struct wp_row_table *table, int64_t row)
{
	struct wp_row_lock *lock = &table->rows[row];
	bool is_taken;

	wp_mutex_lock(&table->guard);
	is_taken = !lock->is_held;
	lock->is_held = true;
	wp_mutex_unlock(&table->guard);
	return is_taken;
}

static void enqueue(struct wp_row_lock *lock, struct wp_row_waiter *waiter)
{
	waiter->next = NULL;
	if (lock->first)
		lock->last->next = waiter;
	else
		lock->first = waiter;
	lock->last = waiter;
}

/* The first in the queue leaves it with the row; whoever is first then waits for that one. */
static struct wp_row_waiter *take(struct wp_row_lock *lock)
{
	lock->is_held = true;
	lock->first = lock->first->next;
	return lock->first;
}

void wp_row_wait(struct wp_row_table *table, int64_t row, struct wp_row_waiter *waiter)
{
	struct wp_row_lock *lock = &table->rows[row];
	struct wp_row_waiter *after = NULL;
	bool is_taken;

	wp_mutex_lock(&table->guard);
	is_taken = !lock->is_held;
	lock->is_held = true;
	if (!is_taken)
		enqueue(lock, waiter);
	wp_mutex_unlock(&table->guard);
	if (is_taken)
		return;
	waiter->waits++;
	while (!is_taken) {
		wp_sem_wait(&waiter->sem);
		wp_mutex_lock(&table->guard);
		is_taken = lock->first == waiter && !lock->is_held;
		if (is_taken)
			after = take(lock);
		wp_mutex_unlock(&table->guard);
	}
	if (after)
		wp_sem_post(&after->sem);
}

void wp_row_release(struct wp_row_table *table, int64_t row)
{
	struct wp_row_lock *lock = &table->rows[row];
	struct wp_row_waiter *first;

	wp_mutex_lock(&table->guard);
	lock->is_held = false;
	first = lock->first;
	wp_mutex_unlock(&table->guard);
	if (first)
		wp_sem_post(&first->sem);
}
