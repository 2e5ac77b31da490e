/* SPDX-License-Identifier: PostgreSQL */
/*
 * probe_sync.h - every way to write and sync a WAL page, on every target: table "sync".
 *
 * Floor: probe. One measure for each method and variant; what does not exist on this platform or
 * file system becomes a measure that is absent with the reason. Source: pg_test_fsync.c.
 * Threads: main thread only.
 */
#ifndef WALPROBE_PROBE_SYNC_H
#define WALPROBE_PROBE_SYNC_H

#include "walprobe/measure.h"
#include "walprobe/method.h"

enum wp_sync_variant {
	WP_SYNC_OVERWRITE,  /* one 8 kB write to a page written before */
	WP_SYNC_TWO_WRITES, /* two of them, then the sync */
	WP_SYNC_NEW_PAGE,   /* each page of a zero-filled segment written for the first time */
	WP_SYNC_FALLOCATED, /* the same in a segment made by fallocate */
	WP_SYNC_SPARSE,     /* the same in a segment that is a hole */
	WP_SYNC_DIRECT,     /* overwrite with O_DIRECT */
	WP_SYNC_OTHER_FD,   /* written and closed, synced through another descriptor */
	WP_SYNC_RWF_DSYNC,  /* pwritev2 with RWF_DSYNC; no wal_sync_method does this */
	WP_SYNC_1X16KB,
	WP_SYNC_2X8KB,
	WP_SYNC_4X4KB,
	WP_SYNC_8X2KB,
	WP_SYNC_16X1KB,
	WP_SYNC_UNSYNCED, /* written only; no wal_sync_method does this */
	WP_SYNC_VARIANT_COUNT,
};

#define WP_SYNC_ALL_VARIANTS ((1u << WP_SYNC_VARIANT_COUNT) - 1)

enum wp_sync_direct {
	WP_SYNC_DIRECT_AUTO, /* variant "direct" beside all others without O_DIRECT */
	WP_SYNC_DIRECT_ON,   /* O_DIRECT everywhere; "direct" would be "overwrite" again */
	WP_SYNC_DIRECT_OFF,  /* nowhere, and no variant "direct" */
};

struct wp_sync_options {
	struct wp_method_set methods;
	unsigned variants; /* bit 1u << enum wp_sync_variant for each */
	enum wp_sync_direct direct;
	bool is_rolling;    /* overwriting variants go through the file instead of staying at 0 */
	int64_t file_bytes; /* of each file; a multiple of 16 kB */
};

/* wp_sync_variant_name - the name in the results. */
const char *wp_sync_variant_name(enum wp_sync_variant variant);

/* wp_sync_parse_variants - "overwrite,direct" or "all" into bits; -WP_E_USAGE otherwise. */
int wp_sync_parse_variants(const char *text, unsigned *out, struct wp_err *err);

/* wp_sync_parse_direct - "auto", "on", "off", which the option table has checked. */
enum wp_sync_direct wp_sync_parse_direct(const char *text);

/* wp_sync_count - measures that wp_sync_plan() would add for one target. */
size_t wp_sync_count(const struct wp_sync_options *options);

/* wp_sync_needed_bytes - space that the files of one target and their replacement need. */
int64_t wp_sync_needed_bytes(const struct wp_sync_options *options);

/*
 * wp_sync_plan - add one measure for each method and variant on target, and make the files.
 *
 * Variants that overwrite share one written file, and fresh pages are taken in turn from one file
 * for each way of making it, so a target holds four files at most. On a target that is not open
 * every measure is absent with target->absent as reason.
 * Returns: 0; -WP_E_STOPPED; or -code when the files could not be made or written, in which case
 * the target's measures are all absent with that message, and the caller tells it.
 */
int wp_sync_plan(struct wp_run *run, struct wp_target *target,
	const struct wp_sync_options *options, struct wp_measures *measures, struct wp_err *err);

/*
 * wp_sync_plan_twin - a hidden second copy of a measure of wp_sync_plan(), on a file of its own.
 *
 * Needs one more file of the same size in the target.
 * Returns: the twin, which measures owns; NULL with err filled.
 */
struct wp_measure *wp_sync_plan_twin(struct wp_run *run, const struct wp_measure *original,
	struct wp_measures *measures, struct wp_err *err);

/* wp_sync_fill - every measure of table "sync" that is no twin becomes a row. */
void wp_sync_fill(struct wp_run *run, const struct wp_measures *measures);

#endif
