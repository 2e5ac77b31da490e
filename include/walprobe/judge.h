/* SPDX-License-Identifier: PostgreSQL */
/*
 * judge.h - what the facts about a place mean: a status and one sentence for each check.
 *
 * Floor: probe. Pure functions: facts in, judgement out; no clock, no file. A rate alone never
 * fails a check: only a missing flush, a mount option or a contradicting setting does.
 * Threads: yes.
 */
#ifndef WALPROBE_JUDGE_H
#define WALPROBE_JUDGE_H

#include "walprobe/cache_facts.h"
#include "walprobe/flush_probe.h"
#include "walprobe/result.h"
#include "walprobe/sync_evidence.h"

#define WP_NOT_TRIED 1 /* for the results below that are 0 or -errno */

struct wp_facts {
	const struct wp_stack *stack;
	const struct wp_flush_report *flush; /* NULL: not measured */
	const char *untried;                 /* why nothing was written here; NULL: it was */
	int link_result;                     /* of link(): 0, -errno, WP_NOT_TRIED */
	int direct_open_result;              /* of open with O_DIRECT: 0, -errno, WP_NOT_TRIED */
	int direct_write_result;             /* of an aligned write through it */
	int64_t direct_alignment_bytes;
	int is_no_cow;       /* a new file is exempt from copy on write: 1, 0, -1: unknown */
	const char *preload; /* LD_PRELOAD of this process; NULL: none */
	const struct wp_sync_evidence *evidence; /* NULL: not looked for */
	struct wp_nfs_counts nfs;           /* requests of an NFS mount during the measurement */
	bool has_nfs;                       /* nfs was counted */
	const struct wp_cache_facts *cache; /* of controllers and drives; NULL: nobody was asked */
};

struct wp_judgement {
	enum wp_check_status status;
	char expected[200];
	char observed[600];
	char text[600];
};

typedef void wp_judge_fn(const struct wp_facts *facts, struct wp_judgement *out);

/* FLUSH (or FUA) per synchronous write at the counting devices. */
wp_judge_fn wp_judge_flush_sent;
/* What drops flushes before they reach a device: mount options on the way down, a library in the
 * server's memory, ZFS sync=disabled, an asynchronous NFS export. */
wp_judge_fn wp_judge_barriers;
/* What each layer claims; an override that contradicts the device or what a drive's own tool says,
 * a layer that drops flushes above one that needs them, or a drive that refuses FLUSH, fails. */
wp_judge_fn wp_judge_write_cache;
/* RAID cache, battery, disk caches behind it: safe is a volume that writes through, or back only
 * while a good battery is there, with the disks' own caches off. */
wp_judge_fn wp_judge_controller;
/* The measured rate of one writer, through wp_judge_rate(). */
wp_judge_fn wp_judge_rate_plausible;
wp_judge_fn wp_judge_volatile;
wp_judge_fn wp_judge_links;
wp_judge_fn wp_judge_recycle_cow;
wp_judge_fn wp_judge_direct_io;

struct wp_judge {
	const char *id; /* of the check */
	wp_judge_fn *judge;
};

/* wp_judges - all checks of an inspection, in the order in which they are reported; ends with a row
 * whose id is NULL. */
extern const struct wp_judge wp_judges[];

/*
 * wp_judge_rate - can these many synchronous writes per second be true of these disks?
 *
 * per_s      all writers together.
 * writers    who may share one flush; 1 for the probe's own figure.
 * p50_ns     of one write and sync; 0: not known.
 * is_flush_counted  flushes were seen to reach the device.
 * Source: one write per revolution and writer at best (a disk that turns rpm/60 times a second).
 */
void wp_judge_rate(const struct wp_stack *stack, double per_s, int64_t writers, int64_t p50_ns,
	bool is_flush_counted, struct wp_judgement *out);

/* wp_layer_drops_flushes - the kernel was told not to flush this layer although it, or something
 * under it, says write back; *why receives the fact in words. */
bool wp_layer_drops_flushes(const struct wp_stack *stack, size_t layer, char *why, size_t why_size);

#endif
