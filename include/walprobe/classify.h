/* SPDX-License-Identifier: PostgreSQL */
/*
 * classify.h - from what was acknowledged and what is on disk to a verdict.
 *
 * Floor: witness (may include base, os, stats). Pure: it is handed names, sizes and pages, and
 * reads nothing itself. Every page of the live segments is shown to it, also those that were not
 * acknowledged: what stands there may be a stray that belongs elsewhere.
 *
 * A record counts as acknowledged when the witness knows it, or when something that survived says
 * so: a record of a later batch of the same writer (issued after the sync of this one returned), or
 * another writer's record whose horizon covers it. All others are in flight and never counted
 * against the disk, whatever became of them.
 *
 *   F1 lost tail         lost                    F7  shorter file        lost, shortened
 *   F2 hole              lost, reordered         F8  stale after recycle lost, stale
 *   F3 torn, shorn       torn                    F9  whole rollback      lost; kinds say so
 *   F4 flipped bits      flipped                 F10 not mountable       lost, missing_names
 *   F5 misdirected       misdirected             F11 cold damage         cold
 *   F6 missing name      lost, missing_names     F12 unreadable          unreadable
 * Threads: no.
 */
#ifndef WALPROBE_CLASSIFY_H
#define WALPROBE_CLASSIFY_H

#include "walprobe/ledger.h"

enum wp_cut_rule {
	WP_CUT_BOOT,     /* another boot id than when the cycle began */
	WP_CUT_DEVICE,   /* and the drive's own power counters moved */
	WP_CUT_ASSERTED, /* the operator says so */
};

/* records acknowledged in the last second that make a cut effective */
#define WP_EFFECTIVE_RECORDS 20

struct wp_classifier;

/* what is known about the cut, apart from the journal */
struct wp_cut_facts {
	enum wp_cut_rule rule;
	char boot_id[64];
	int64_t power_cycles;     /* of the drive now; -1: unknown */
	int64_t unsafe_shutdowns; /* likewise */
	bool is_live;             /* the writers are still connected */
	bool has_directory;       /* the run's directory is there */
	bool is_mounted;          /* the file system that held it is mounted where it was */
	bool has_marker;          /* the run's marker is there and names this run */
	bool was_blind;           /* the marker of blindness is there */
	bool is_hung;             /* a read did not return in time: the device may still answer */
	bool is_same_host;        /* the witness runs on the target's machine */
};

struct wp_judgement {
	enum wp_survival verdict;
	struct wp_fault_counts counts;
	char kinds[256];   /* names of the faults found, comma separated; "" for none */
	char reason[512];  /* why it cannot be told; what was found otherwise */
	int64_t cuts;      /* effective cuts of this run without loss, this one included */
	double p_upper_95; /* NaN unless the verdict is no loss, in all cycles of the run */
	int64_t exposures[WP_EXPOSURES]; /* -1: unknown */
	uint64_t first_lost; /* sequence of the first and last lost record of first_writer */
	uint64_t last_lost;
	uint16_t first_writer;
	/* how long before the last word the oldest damaged or lost record had been acknowledged, at
	 * least; -1: not known */
	int64_t age_ns;
};

/* wp_classify_new - for the current cycle of run; both are borrowed. Free with wp_classify_free(). */
struct wp_classifier *wp_classify_new(const struct wp_ledger_run *run, struct wp_payload *payload);

/* wp_classify_free - accepts NULL. */
void wp_classify_free(struct wp_classifier *classifier);

/* wp_classify_expected - the stamp of a record of a live segment, for its writer and for tests. */
void wp_classify_expected(const struct wp_manifest *manifest,
	const struct wp_ledger_segment *segment, uint32_t slot, struct wp_stamp *out);

/* wp_classify_found - the file of a segment is there. Without it the name counts as missing. For
 * workload create, once for each record's file. */
void wp_classify_found(struct wp_classifier *classifier, size_t segment, uint32_t slot);

/*
 * wp_classify_page - one page of a segment of run->segments. Pages beyond the end of the file are
 * not shown; they count as shortened.
 *
 * page        page_bytes of it.
 * unreadable  bit n: sector n could not be read; NULL: all could.
 */
void wp_classify_page(struct wp_classifier *classifier, size_t segment, uint32_t slot,
	const uint8_t *page, const bool *unreadable);

/* wp_classify_judge - all was shown: count, and say what it means. */
void wp_classify_judge(struct wp_classifier *classifier, const struct wp_cut_facts *facts,
	struct wp_judgement *out);

/* wp_cut_rule_name - "boot", "device", "asserted". */
const char *wp_cut_rule_name(enum wp_cut_rule rule);

/* wp_upper_bound_95 - the greatest chance of a loss per cut that n cuts without one leave
 * possible, at 95 %: 1 - 0.05^(1/n). */
double wp_upper_bound_95(int64_t cuts);

#endif
