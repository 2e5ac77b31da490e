/* SPDX-License-Identifier: PostgreSQL */
/*
 * noise.h - what else the machine did while something was measured.
 *
 * Floor: os (may include base). Two snapshots and what lies between them: CPU time of others and
 * time stolen by the hypervisor from /proc/stat, our own from /proc/self/stat, stalls from
 * /proc/pressure, requests at the disks from /sys/block/X/stat. A source that is missing gives NaN
 * (unknown), never 0.
 *
 * Foreign CPU counts user time only. System time cannot be told apart: the kernel threads that
 * write our own data (loop, journal, write-back) spend it too; it is given beside, not judged.
 *
 * Foreign I/O cannot be had by taking our own bytes from a disk's: the journal writes on our
 * behalf. It is sampled instead: what the disks do in short idle windows between blocks, when all
 * of ours has been written back, beside what they do in the blocks.
 * Threads: yes, no state.
 */
#ifndef WALPROBE_NOISE_H
#define WALPROBE_NOISE_H

#include "walprobe/os.h"

/* a guard is exceeded above these */
#define WP_NOISE_FOREIGN_CPU_LIMIT 0.25 /* of one core */
#define WP_NOISE_STEAL_LIMIT 0.02       /* of the time of all cores */
#define WP_NOISE_FOREIGN_IO_LIMIT 0.10  /* of the requests or bytes at the disks */

/* fewer requests than this in all idle windows together are chance */
#define WP_NOISE_IDLE_REQUESTS 3

/* /proc/stat, in clock ticks over all cores since boot */
struct wp_noise_cpu {
	bool is_known;
	int64_t user;   /* user, nice (guests are in them) */
	int64_t system; /* system, irq, softirq */
	int64_t steal;
	int64_t total; /* idle and iowait included */
	int64_t cores;
};

/* /proc/self/stat, in clock ticks, children that ended included */
struct wp_noise_own {
	bool is_known;
	int64_t user;
	int64_t system;
};

/* /sys/block/X/stat, summed over disks */
struct wp_noise_disk {
	bool is_known;
	int64_t requests; /* reads, writes, discards, flushes completed */
	int64_t bytes;
};

/* /proc/pressure/X, "some" */
struct wp_noise_stall {
	bool is_known;
	int64_t total_us;
};

struct wp_noise_snapshot {
	int64_t at_ns;
	struct wp_noise_cpu cpu;
	struct wp_noise_own own;
	struct wp_noise_stall cpu_stall;
	struct wp_noise_stall io_stall;
};

/* shares between two snapshots; NaN: unknown */
struct wp_noise {
	double foreign_cpu;    /* user time of others, 1 is one whole core */
	double foreign_system; /* system time beside our own, our kernel threads' included */
	double steal;          /* of the time of all cores */
	double foreign_io;     /* 0..1; not set by wp_noise_between() */
	double cpu_stall;      /* share of the time in which some task waited for a core */
	double io_stall;       /* ... for I/O, our own syncs included */
};

/* wp_noise_parse_cpu - text of /proc/stat; is_known is false when it is not one. */
void wp_noise_parse_cpu(const char *text, struct wp_noise_cpu *out);

/* wp_noise_parse_own - text of /proc/PID/stat, whatever stands in the process's name. */
void wp_noise_parse_own(const char *text, struct wp_noise_own *out);

/*
 * wp_noise_parse_disk - add the counters in the text of /sys/block/X/stat (11, 15 or 17 fields).
 *
 * Returns: false, with out untouched, when it is not such a text. is_known is left alone.
 * Source: Documentation/block/stat.rst.
 */
bool wp_noise_parse_disk(const char *text, struct wp_noise_disk *out);

/* wp_noise_parse_stall - text of /proc/pressure/X. Source: Documentation/accounting/psi.rst. */
void wp_noise_parse_stall(const char *text, struct wp_noise_stall *out);

/* wp_noise_read - a snapshot now; what cannot be read is unknown. Takes well under 1 ms. */
void wp_noise_read(const struct wp_os *os, struct wp_noise_snapshot *out);

/*
 * wp_noise_read_disks - sum of the counters of count block devices (kernel names, as "sda").
 *
 * Unknown when count is 0 or one of them cannot be read: a part would look like all.
 */
void wp_noise_read_disks(
	const struct wp_os *os, const char *const *names, size_t count, struct wp_noise_disk *out);

/*
 * wp_noise_between - what happened from before to after; foreign_io is NaN.
 *
 * Clock ticks are coarse (10 ms): under a second or so shares are rough. Negative differences,
 * as the two sources round differently, are 0.
 */
struct wp_noise wp_noise_between(
	const struct wp_noise_snapshot *before, const struct wp_noise_snapshot *after);

/*
 * wp_noise_disk_add - add what a disk did between two readings to a sum; the sum becomes unknown
 * for good once a reading is (start it with is_known true).
 */
void wp_noise_disk_add(struct wp_noise_disk *sum, const struct wp_noise_disk *before,
	const struct wp_noise_disk *after);

/*
 * wp_noise_foreign_io - share of the disks' work in busy_ns that others did, judged by the rate in
 * idle_ns when nothing of ours was under way: the larger of the shares of requests and of bytes.
 *
 * Returns: 0..1, or NaN when a side is unknown or has no time.
 */
double wp_noise_foreign_io(const struct wp_noise_disk *busy, int64_t busy_ns,
	const struct wp_noise_disk *idle, int64_t idle_ns);

/*
 * wp_noise_score - how far the worst guard is exceeded: value / limit; 1 or less is quiet.
 *
 * reason  receives "foreign CPU 41.0% of a core", "steal 3.10%", "foreign I/O 22.0%" for the worst
 *         guard when the score is above 1, else "".
 */
double wp_noise_score(const struct wp_noise *noise, char *reason, size_t size);

#endif
