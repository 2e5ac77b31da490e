/* SPDX-License-Identifier: PostgreSQL */
/*
 * bare_loop - pwrite of 8 kB and fdatasync with nothing else, and beside it walprobe's timed loop.
 *
 *   bare_loop bare DIR SECONDS     the bare loop alone: operations per second (wall)
 *   bare_loop timed DIR SECONDS    walprobe's loop alone, in this process
 *   bare_loop slices DIR SECONDS   both in turns of 50 ms on one file; CPU time per operation
 *
 * "slices" is the fair comparison on a noisy machine: both loops meet the same moments, and CPU
 * time of the thread leaves out what others did meanwhile. The ratio is formed per pair of slices.
 */
#include "walprobe/sync_loop.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#define FILE_BYTES (INT64_C(16) << 20)
#define WRITE_BYTES 8192
#define SLICE_NS (50 * WP_NS_PER_MS)
#define MAX_PAIRS 4096

static volatile sig_atomic_t is_over;

static void on_alarm(int signal_number)
{
	(void)signal_number;
	is_over = 1;
}

static int64_t clock_ns(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return now.tv_sec * WP_NS_PER_S + now.tv_nsec;
}

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(3);
}

/* pg_test_fsync's loop: both results looked at, the end told by a signal. */
static int64_t bare(int fd, const unsigned char *buffer, int64_t duration_ns)
{
	struct itimerspec after = { .it_value = { duration_ns / WP_NS_PER_S,
					    duration_ns % WP_NS_PER_S } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	int64_t operations = 0;
	timer_t timer;

	is_over = 0;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &after, NULL))
		die("timer");
	while (!is_over) {
		if (pwrite(fd, buffer, WRITE_BYTES, 0) != WRITE_BYTES)
			die("pwrite");
		if (fdatasync(fd))
			die("fdatasync");
		operations++;
	}
	(void)timer_delete(timer);
	return operations;
}

static int64_t timed(struct wp_sync_loop *loop, struct wp_hist *hist, int64_t duration_ns)
{
	struct wp_sync_counts done;
	struct wp_err err;

	if (wp_sync_loop_run(loop, duration_ns, hist, &done, &err)) {
		wp_err_print(&err, "error", stderr);
		exit(3);
	}
	return done.operations;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static void slices(struct wp_sync_loop *loop, struct wp_hist *hist, int fd, int64_t duration_ns)
{
	static double ratios[MAX_PAIRS];
	static double costs[2][MAX_PAIRS];
	int64_t end_ns = clock_ns(CLOCK_MONOTONIC) + duration_ns;
	size_t count = 0;

	while (count < MAX_PAIRS && clock_ns(CLOCK_MONOTONIC) < end_ns) {
		/* ABBA: neither is always the first after the other's cache lines. */
		for (size_t turn = 0; turn < 2; turn++) {
			bool is_timed = (turn ^ count) & 1;
			int64_t start_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
			int64_t operations = is_timed ? timed(loop, hist, SLICE_NS)
						      : bare(fd, loop->buffer, SLICE_NS);

			costs[is_timed][count] =
				(double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - start_ns) /
				(double)operations;
		}
		ratios[count] = costs[0][count] / costs[1][count];
		count++;
	}
	qsort(ratios, count, sizeof(*ratios), compare_doubles);
	for (size_t i = 0; i < 2; i++)
		qsort(costs[i], count, sizeof(*costs[i]), compare_doubles);
	printf("%zu %.0f %.0f %.3f %.3f %.3f\n", count, costs[0][count / 2], costs[1][count / 2],
		ratios[count / 2], ratios[count / 4], ratios[count * 3 / 4]);
}

int main(int argc, char **argv)
{
	struct wp_sync_plan plan = { .method = WP_METHOD_FDATASYNC,
		.writes_per_op = 1,
		.write_bytes = WRITE_BYTES };
	struct wp_sync_file file;
	struct wp_sync_loop loop;
	struct wp_hist hist;
	struct wp_err err;
	double seconds = argc == 4 ? strtod(argv[3], NULL) : 0;
	int64_t duration_ns = (int64_t)(seconds * 1e9);
	char name[64];
	int fd;

	if (duration_ns <= 0) {
		fputs("usage: bare_loop bare|timed|slices DIR SECONDS\n", stderr);
		return 2;
	}
	(void)signal(SIGALRM, on_alarm);
	(void)snprintf(name, sizeof(name), "walprobe-bench-%ld", (long)getpid());
	wp_hist_init(&hist);
	wp_sync_file_init(
		&file, wp_os_linux(), argv[2], name, WP_SYNC_FILL_ZERO, FILE_BYTES);
	wp_sync_loop_init(&loop, &file, &plan, 1);
	if (wp_sync_file_make(&file, NULL, &err)) {
		wp_err_print(&err, "error", stderr);
		return 3;
	}
	fd = open(file.path, O_RDWR | O_CLOEXEC);
	(void)unlink(file.path);
	if (fd < 0)
		die(file.path);
	/* Both loops use the same file, which has no name any more. */
	(void)snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	free(file.path);
	file.path = strdup(name);
	if (strcmp(argv[1], "bare") == 0)
		printf("%.1f\n", (double)bare(fd, loop.buffer, duration_ns) / seconds);
	else if (strcmp(argv[1], "timed") == 0)
		printf("%.1f\n", (double)timed(&loop, &hist, duration_ns) / seconds);
	else
		slices(&loop, &hist, fd, duration_ns);
	(void)close(fd);
	wp_sync_loop_release(&loop);
	wp_sync_file_release(&file);
	wp_hist_release(&hist);
	return 0;
}
