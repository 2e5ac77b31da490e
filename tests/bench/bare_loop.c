/* SPDX-License-Identifier: PostgreSQL */
/*
 * bare_loop - pwrite of 8 kB and fdatasync with nothing else, and beside it walprobe's timed loop.
 *
 *   bare_loop bare DIR SECONDS     the bare loop alone: operations per second (wall)
 *   bare_loop timed DIR SECONDS    walprobe's loop alone, in this process
 *   bare_loop slices DIR SECONDS   both in turns of 50 ms on one file; CPU time per operation
 *
 * "slices" is the fair comparison on a noisy machine: both loops meet the same moments, and CPU
 * time of the thread leaves out what others did meanwhile. Ratios are formed per pair of slices.
 * It prints: pairs, CPU ns per operation of the bare and of the timed loop, the median ratio of
 * their CPU time with its quartiles, and the median ratio of their wall time; above 1 the timed loop
 * is the faster one.
 */
#include "walprobe/mem.h"
#include "walprobe/sync_loop.h"

#include <time.h>
#include <unistd.h>

#define FILE_BYTES (INT64_C(16) << 20)
#define WRITE_BYTES 8192
#define SLICE_NS (50 * WP_NS_PER_MS)
#define MAX_PAIRS 4096

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

/*
 * pg_test_fsync's loop, both results looked at. The end is looked for once in 64 operations and not
 * told by a signal: on disks a pending timer alone changed the CPU time of an operation by 5 %.
 */
static int64_t bare(int fd, const unsigned char *buffer, int64_t duration_ns)
{
	int64_t end_ns = clock_ns(CLOCK_MONOTONIC) + duration_ns;
	int64_t operations = 0;

	while (operations % 64 || clock_ns(CLOCK_MONOTONIC) < end_ns) {
		if (pwrite(fd, buffer, WRITE_BYTES, 0) != WRITE_BYTES)
			die("pwrite");
		if (fdatasync(fd))
			die("fdatasync");
		operations++;
	}
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

/* what one slice cost, per operation */
struct cost {
	double cpu_ns;
	double wall_ns;
};

static struct cost slice(
	struct wp_sync_loop *loop, struct wp_hist *hist, int fd, int64_t duration_ns, bool is_timed)
{
	int64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	int64_t wall_ns = clock_ns(CLOCK_MONOTONIC);
	int64_t operations =
		is_timed ? timed(loop, hist, duration_ns) : bare(fd, loop->buffer, duration_ns);

	return (struct cost){
		(double)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns) / (double)operations,
		(double)(clock_ns(CLOCK_MONOTONIC) - wall_ns) / (double)operations,
	};
}

static double quantile(double *values, size_t count, double q)
{
	qsort(values, count, sizeof(*values), compare_doubles);
	return values[(size_t)((double)(count - 1) * q)];
}

static void slices(struct wp_sync_loop *loop, struct wp_hist *hist, int fd, int64_t duration_ns)
{
	static double cpu_ratios[MAX_PAIRS];
	static double wall_ratios[MAX_PAIRS];
	static double cpu_ns[2][MAX_PAIRS];
	int64_t end_ns = clock_ns(CLOCK_MONOTONIC) + duration_ns;
	size_t count = 0;

	while (count < MAX_PAIRS && clock_ns(CLOCK_MONOTONIC) < end_ns) {
		struct cost costs[2];

		/* ABBA: neither is always the one that comes after the other. */
		for (size_t turn = 0; turn < 2; turn++) {
			bool is_timed = (turn ^ count) & 1;

			costs[is_timed] = slice(loop, hist, fd, SLICE_NS, is_timed);
		}
		cpu_ns[0][count] = costs[0].cpu_ns;
		cpu_ns[1][count] = costs[1].cpu_ns;
		cpu_ratios[count] = costs[0].cpu_ns / costs[1].cpu_ns;
		wall_ratios[count] = costs[0].wall_ns / costs[1].wall_ns;
		count++;
	}
	printf("%zu %.0f %.0f %.3f %.3f %.3f %.3f\n", count, quantile(cpu_ns[0], count, 0.5),
		quantile(cpu_ns[1], count, 0.5), quantile(cpu_ratios, count, 0.5),
		quantile(cpu_ratios, count, 0.25), quantile(cpu_ratios, count, 0.75),
		quantile(wall_ratios, count, 0.5));
}

int main(int argc, char **argv)
{
	struct wp_sync_plan plan = {
		.method = WP_METHOD_FDATASYNC, .writes_per_op = 1, .write_bytes = WRITE_BYTES
	};
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
	(void)snprintf(name, sizeof(name), "walprobe-bench-%ld", (long)getpid());
	wp_hist_init(&hist);
	wp_sync_file_init(&file, wp_os_linux(), argv[2], name, WP_SYNC_FILL_ZERO, FILE_BYTES);
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
	file.path = wp_xstrdup(name);
	if (strcmp(argv[1], "bare") == 0)
		printf("%.1f\n", 1e9 / slice(&loop, &hist, fd, duration_ns, false).wall_ns);
	else if (strcmp(argv[1], "timed") == 0)
		printf("%.1f\n", 1e9 / slice(&loop, &hist, fd, duration_ns, true).wall_ns);
	else
		slices(&loop, &hist, fd, duration_ns);
	(void)close(fd);
	wp_sync_loop_release(&loop);
	wp_sync_file_release(&file);
	wp_hist_release(&hist);
	return 0;
}
