/* SPDX-License-Identifier: PostgreSQL */
/*
 * plug_internal.h - what the files of the power-cut test share.
 */
#ifndef WALPROBE_PROBE_PLUG_INTERNAL_H
#define WALPROBE_PROBE_PLUG_INTERNAL_H

#include "walprobe/client.h"
#include "walprobe/hist.h"
#include "walprobe/plug.h"
#include "walprobe/thread.h"

#include <stdatomic.h>

#define PLUG_MARKER "walprobe.run"
#define PLUG_BLIND "walprobe.blind"
#define PLUG_COLD "wp.cold"
#define PLUG_LIVE_MAXIMUM 64

/* the directory of a run */
struct plug_dir {
	const struct wp_os *os;
	char *path;
	uint32_t page_bytes;
	uint32_t slots;
	uint64_t run; /* its number in sectors */
	uint16_t cycle;
};

/* facts about the machine and what the target lies on */
struct plug_host {
	char boot_id[64];
	char machine[64];
	char product[64];
	char host[256];
	char path[WP_WIRE_TEXT_BYTES]; /* absolute */
	char mount_point[WP_WIRE_TEXT_BYTES];
	char fstype[64];
	char stack[WP_WIRE_TEXT_BYTES];
	int64_t power_cycles;
	int64_t unsafe_shutdowns;
};

/* plug_host_describe - host facts; where path is missing, the mount of the place where it was. */
void plug_host_describe(const struct wp_os *os, const char *path, struct plug_host *out);

/* plug_dir_path - DIR/walprobe-plug-RUNID; the caller frees. */
char *plug_dir_path(const char *target, const uint8_t *run);

/* plug_segment_path - of a segment, of a record's file (workload create), or of the cold area. */
char *plug_segment_path(const char *dir, uint16_t writer, uint32_t segno);
char *plug_record_path(const char *dir, uint16_t writer, uint32_t segno, uint32_t slot);
char *plug_cold_path(const char *dir);

/* plug_sync_dir - make names durable; file systems that cannot sync a directory do so anyway. */
int plug_sync_dir(const struct wp_os *os, const char *path, struct wp_err *err);

/* plug_file_write - a small file of text under its name for good. */
int plug_file_write(
	const struct plug_dir *dir, const char *name, const char *text, struct wp_err *err);

/*
 * plug_segment_make - a new segment under its name for good: empty, of zeros, or of prefill stamps
 * of generation 0. is_stopped: looked at between writes; NULL: never.
 */
int plug_segment_make(const struct plug_dir *dir, struct wp_payload *payload,
	enum wp_workload workload, const struct wp_ledger_segment *segment,
	const atomic_bool *is_stopped, struct wp_err *err);

/* plug_segment_recycle - the old segment becomes the new one, call for call as durable_rename(). */
int plug_segment_recycle(const struct plug_dir *dir, const struct wp_ledger_segment *old_segment,
	const struct wp_ledger_segment *new_segment, struct wp_err *err);

/* plug_segment_remove - a segment, or all files of its records. */
int plug_segment_remove(const struct plug_dir *dir, enum wp_workload workload,
	const struct wp_ledger_segment *segment, struct wp_err *err);

/* plug_cold_make - the cold area: slots pages, written once. */
int plug_cold_make(const struct plug_dir *dir, struct wp_payload *payload,
	const struct wp_manifest *manifest, const struct wp_ledger_segment *segment,
	struct wp_err *err);

/* what a verification found; all zero when there was nothing to judge */
struct plug_seen {
	enum wp_survival verdict;
	bool has_directory; /* of the run */
	int64_t cuts;       /* effective ones of the run without loss; 0 without this one */
};

/* plug_verify_look - wp_plug_verify() for who wants to go on. */
int plug_verify_look(struct wp_run *run, const struct wp_plug_verify_options *options,
	struct plug_seen *seen, struct wp_err *err);

struct plug;

/* one writer and the thread that keeps a segment ready for it */
struct plug_writer {
	struct plug *plug;
	uint16_t index;
	enum wp_workload workload;
	uint64_t base;
	struct wp_thread thread;
	struct wp_thread filler;
	struct wp_sem ready_sem;
	struct wp_sem taken_sem;
	struct wp_ledger_segment ready;
	struct wp_ledger_segment live[PLUG_LIVE_MAXIMUM]; /* oldest first; the filler's */
	size_t live_count;
	struct wp_payload *payload;
	struct wp_payload *fill_payload;
	uint8_t *pages; /* manifest.batch of them */
	struct wp_hist latency;
	atomic_ullong acked;
};

struct plug {
	struct wp_run *run;
	const struct wp_plug_options *options;
	enum wp_method method;
	struct plug_dir dir;
	struct plug_host host;
	struct wp_manifest manifest;
	struct wp_cycle_start start;
	uint8_t seed[WP_SEED_BYTES];
	struct wp_client *client; /* NULL: nobody is told */
	struct plug_writer *writers;
	size_t live_maximum; /* segments of one writer */
	atomic_bool is_stopping;
	atomic_bool is_blind_marked;
	atomic_int running;    /* threads */
	struct wp_mutex mutex; /* of error */
	struct wp_err error;   /* the first one; code WP_OK: none */
};

/* plug_writers_start - both threads of every writer; 0 or -code after a part of them. */
int plug_writers_start(struct plug *plug, struct wp_err *err);

/* plug_writers_stop - ask all to end and wait timeout_ns; false when some hang in the device. */
bool plug_writers_stop(struct plug *plug, int64_t timeout_ns);

/* plug_writers_release - after all have ended. */
void plug_writers_release(struct plug *plug);

/* plug_has_failed - the first error of any writer, copied. */
bool plug_has_failed(struct plug *plug, struct wp_err *err);

#endif
