/* SPDX-License-Identifier: PostgreSQL */
/*
 * fake_rounds.h - a scripted machine and a plan of fake measures, for tests of the scheduler.
 */
#ifndef WALPROBE_FAKE_ROUNDS_H
#define WALPROBE_FAKE_ROUNDS_H

#include "walprobe/measure.h"

#include <stdatomic.h>

#define BLOCK_NS (500 * WP_NS_PER_MS)
#define LOG_SIZE 512

/*
 * A machine that is all script: its clock moves with blocks and sleeps, /proc and /sys are written
 * from its counters, and syncfs is counted.
 */
struct fake_machine {
	struct wp_os_ops ops;
	struct wp_os os;
	int64_t now_ns;
	int64_t user_ticks; /* of all processes */
	int64_t own_ticks;
	int64_t disk_requests;
	int64_t disk_requests_per_sleep; /* others', in an idle window */
	int64_t flushes;
	atomic_int syncfs_calls;
	atomic_int syncfs_rc;
	int open_count;
	/* what was told */
	char told[4096];
	int progress_calls;
	bool has_bad_progress;
	/* ids of the measures in the order in which they ran */
	int log[LOG_SIZE];
	size_t log_count;
};
extern struct fake_machine machine;

/* what a fake measure does */
struct script {
	int id;
	int runs;
	int fail_at; /* run with this number, from 1; 0: never */
	int fail_code;
	int stop_at;
	int64_t samples;           /* a block */
	int64_t foreign_ticks[16]; /* others' user time in the n-th run */
	bool is_released;
};

/* two measures on each of two targets */
struct fake_plan {
	struct wp_target targets[2];
	struct script scripts[5];
	struct wp_measures measures;
	struct wp_run run;
};
extern struct fake_plan plan;

/* a directory and a disk that the fake machine has */
extern char target_dir[];
extern struct wp_layer disk_layer;

/* add_measure - one more fake measure of table sync. */
struct wp_measure *add_measure(struct wp_target *target, struct script *script, int id);

/* set_up, tear_down - cmocka fixtures: two fake measures on each of two targets, ten rounds. */
int set_up(void **state);
int tear_down(void **state);

/* item - a measure of the plan. */
struct wp_measure *item(size_t i);

/* run_plan - wp_rounds_run() over the plan; inline, so that only its users link the scheduler. */
static inline int run_plan(void)
{
	struct wp_err err;

	return wp_rounds_run(&plan.run, &plan.measures, &err);
}

/* fake_syncfs - counts in machine.syncfs_calls and answers machine.syncfs_rc. */
int fake_syncfs(void *ctx, int fd);

/* fake_flush_read - what a test's own wp_flush_read() answers: counters where the target has a
 * layer, else unknown. */
void fake_flush_read(const struct wp_stack *stack, struct wp_flush_counts *out);

#endif
