/* SPDX-License-Identifier: PostgreSQL */
/*
 * ledger.h - what a witness knows of its runs, as the sum of entries.
 *
 * Floor: witness (may include base, os, stats). One encoding serves the wire, the journal and the
 * answer to a verifier: an entry is u8 type, the run id, and a body. Applying entries is pure, and
 * applying one again changes nothing, so that a target may repeat all of them after it lost its
 * connection. Losing entries at the end only makes the ledger know less was acknowledged; what
 * takes a promise back (DROP) is durable here before the target acts on it.
 * Threads: no.
 */
#ifndef WALPROBE_LEDGER_H
#define WALPROBE_LEDGER_H

#include "walprobe/record.h"
#include "walprobe/wire.h"

#define WP_WRITERS_MAXIMUM 256
#define WP_WRITER_COLD 0xffff
#define WP_SEGMENTS_MAXIMUM 65536
#define WP_RUNS_MAXIMUM 100000
#define WP_ENTRY_MAXIMUM 16384
#define WP_MARKS 24
#define WP_EXPOSURES 3 /* records acknowledged in the last 10, 100, 1000 ms */

enum wp_workload {
	WP_WORKLOAD_APPEND,   /* the file grows with every record */
	WP_WORKLOAD_PREALLOC, /* into a file of zeros, as a new WAL segment */
	WP_WORKLOAD_RECYCLE,  /* into a file that was another segment before */
	WP_WORKLOAD_CREATE,   /* a file for each record */
	WP_WORKLOAD_COUNT,
};

enum wp_entry_type {
	WP_ENTRY_RUN = 1,      /* manifest */
	WP_ENTRY_MARKER = 2,   /* the run's marker file is durable on the target */
	WP_ENTRY_CYCLE = 3,    /* struct wp_cycle_start */
	WP_ENTRY_SEGMENT = 4,  /* struct wp_ledger_segment: its name is durable on the target */
	WP_ENTRY_DROP = 5,     /* u16 writer, u32 segment: will be removed or recycled */
	WP_ENTRY_ACKED = 6,    /* u16 n, n times u64 sequence, 3 exposures, i64 wall ns */
	WP_ENTRY_FAILED = 7,   /* u32 errno of the first failure */
	WP_ENTRY_STOPPED = 8,  /* the writers ended in good order: no cut can follow */
	WP_ENTRY_CUT = 9,      /* the target fell silent; 3 exposures, u8 was closed */
	WP_ENTRY_RESULT = 10,  /* struct wp_cycle_result */
	WP_ENTRY_DAMAGED = 11, /* the journal lost something in the middle */
};

/* what a run is; never changes */
struct wp_manifest {
	uint8_t run[WP_RUN_ID_BYTES];
	uint32_t page_bytes;
	uint32_t slots; /* records of a segment; a multiple of batch */
	uint16_t batch; /* records that are written before one sync acknowledges them */
	uint16_t writers;
	uint8_t workloads[WP_WRITERS_MAXIMUM]; /* enum wp_workload of each writer */
	uint32_t cold_slots;
	char method[32];
	char machine[64]; /* machine id */
	char product[64]; /* DMI product UUID */
	char host[256];
	char path[WP_WIRE_TEXT_BYTES]; /* absolute, of the target directory */
	char mount_point[WP_WIRE_TEXT_BYTES];
	char fstype[64];
	char stack[WP_WIRE_TEXT_BYTES]; /* layers under it, for people */
	char started[32];
};

/* what a cycle of writing begins with */
struct wp_cycle_start {
	uint16_t cycle;                    /* from 1 */
	uint8_t instance[WP_RUN_ID_BYTES]; /* of the writing process */
	char boot_id[64];
	int64_t power_cycles;               /* of the drive; -1: unknown */
	int64_t unsafe_shutdowns;           /* of the drive; -1: unknown */
	uint64_t bases[WP_WRITERS_MAXIMUM]; /* the first record of a writer is one above its base */
};

struct wp_ledger_segment {
	uint16_t writer; /* WP_WRITER_COLD: the cold area */
	uint32_t segno;
	uint32_t physical;
	uint32_t generation;
	uint64_t first_seq;
	uint32_t slots;
	uint16_t cycle; /* in which it was announced */
};

enum wp_survival {
	WP_SURVIVAL_CANNOT_TELL,
	WP_SURVIVAL_NO_LOSS,
	WP_SURVIVAL_LIES,
};

/* numbers of records, apart from the last two; a record that is not there counts as lost whatever
 * else can be said of it, one that is there and damaged under its kind only */
struct wp_fault_counts {
	int64_t acknowledged;
	int64_t judged;
	int64_t lost;
	int64_t torn;
	int64_t flipped;
	int64_t misdirected;
	int64_t reordered;     /* of lost: a later one survived */
	int64_t stale;         /* of lost: older content of the place is there */
	int64_t shortened;     /* of lost: beyond the end of the file */
	int64_t unreadable;    /* of the cold area, too */
	int64_t cold;          /* damaged in the cold area */
	int64_t in_flight;     /* on disk, but not acknowledged */
	int64_t missing_names; /* files; their records are of lost */
};
#define WP_FAULT_COUNTS (sizeof(struct wp_fault_counts) / sizeof(int64_t))

struct wp_cycle_result {
	uint16_t cycle;
	uint8_t verdict; /* enum wp_survival */
	uint8_t cut;     /* enum wp_cut_rule of classify.h */
	struct wp_fault_counts counts;
};

/* what had been acknowledged at a moment of the witness's clock */
struct wp_ledger_mark {
	int64_t wall_ns;
	uint64_t acked[]; /* manifest.writers of them */
};

struct wp_ledger_run {
	struct wp_manifest manifest;
	struct wp_cycle_start start; /* start.cycle is 0 before the first cycle */
	uint64_t *acked;             /* manifest.writers of them */
	struct wp_ledger_segment *segments;
	size_t segment_count;
	size_t segment_capacity;
	bool has_marker;
	bool is_stopped;
	bool is_cut;
	bool was_closed; /* the connection ended: something there still closed it */
	bool is_damaged;
	int failed_errno;
	int64_t exposures[WP_EXPOSURES]; /* -1: unknown */
	int64_t heard_wall_ns;           /* time of day of the last word; 0: none */
	/* of this cycle, oldest first; the farther back, the wider apart */
	struct wp_ledger_mark *marks[WP_MARKS];
	size_t mark_count;
	struct wp_cycle_result *results;
	size_t result_count;
};

struct wp_ledger {
	struct wp_ledger_run **runs; /* in the order of their beginning */
	size_t count;
};

typedef int wp_entry_fn(void *ctx, const uint8_t *entry, size_t length);

/* wp_ledger_release - free all; accepts a zeroed struct. */
void wp_ledger_release(struct wp_ledger *ledger);

/*
 * wp_ledger_apply - take one entry in.
 *
 * run      receives the run that it belongs to; NULL allowed.
 * problem  receives a static text when the entry is refused.
 * Returns: true when it was taken (or said nothing new); the ledger is unchanged otherwise.
 */
bool wp_ledger_apply(struct wp_ledger *ledger, const uint8_t *entry, size_t length,
	struct wp_ledger_run **run, const char **problem);

/* wp_ledger_find - the run with this id, or NULL. */
struct wp_ledger_run *wp_ledger_find(
	const struct wp_ledger *ledger, const uint8_t run[WP_RUN_ID_BYTES]);

/* wp_ledger_newest - of the runs of this machine and path the newest whose last cycle is not
 * judged yet, else the newest; NULL when there is none. */
struct wp_ledger_run *wp_ledger_newest(
	const struct wp_ledger *ledger, const char *machine, const char *path);

/* wp_ledger_result - the judgement of a cycle, or NULL. */
const struct wp_cycle_result *wp_ledger_result(const struct wp_ledger_run *run, uint16_t cycle);

/* wp_ledger_total - records acknowledged in this cycle, of all writers. */
uint64_t wp_ledger_total(const struct wp_ledger_run *run);

/* wp_ledger_mark - remember what is acknowledged now; a clock that went back begins anew. */
void wp_ledger_mark(struct wp_ledger_run *run, int64_t wall_ns);

/*
 * wp_ledger_age_ns - how long before the last word a record had been acknowledged, at least.
 *
 * Returns: ns, or -1 when it was not acknowledged, or no moment is known.
 */
int64_t wp_ledger_age_ns(const struct wp_ledger_run *run, uint16_t writer, uint64_t seq);

/* wp_ledger_write - the entries that make up one run, each handed to write; the first result that
 * is not 0 ends it and is returned. */
int wp_ledger_write(const struct wp_ledger_run *run, wp_entry_fn *write, void *ctx);

/* The entries; each is written into put, which is full when it had no room. */
void wp_entry_begin(struct wp_put *put, enum wp_entry_type type, const uint8_t *run);
void wp_entry_run(struct wp_put *put, const struct wp_manifest *manifest);
void wp_entry_cycle(struct wp_put *put, const uint8_t *run, const struct wp_cycle_start *start,
	uint16_t writers);
void wp_entry_segment(
	struct wp_put *put, const uint8_t *run, const struct wp_ledger_segment *segment);
void wp_entry_drop(struct wp_put *put, const uint8_t *run, uint16_t writer, uint32_t segno);
void wp_entry_acked(struct wp_put *put, const uint8_t *run, const uint64_t *acked, uint16_t writers,
	const int64_t exposures[WP_EXPOSURES], int64_t wall_ns);
void wp_entry_failed(struct wp_put *put, const uint8_t *run, int sys_errno);
void wp_entry_cut(struct wp_put *put, const uint8_t *run, const int64_t exposures[WP_EXPOSURES],
	bool was_closed);
void wp_entry_result(struct wp_put *put, const uint8_t *run, const struct wp_cycle_result *result);

/* wp_workload_name - "append", "prealloc", "recycle", "create". */
const char *wp_workload_name(enum wp_workload workload);

/* wp_survival_name - "cannot tell", "no loss", "lies". */
const char *wp_survival_name(enum wp_survival verdict);

/* wp_run_id_text - 32 hexadecimal digits into out; returns out. */
const char *wp_run_id_text(const uint8_t run[WP_RUN_ID_BYTES], char out[2 * WP_RUN_ID_BYTES + 1]);

/* wp_run_id_parse - back; false when text is no run id. */
bool wp_run_id_parse(const char *text, uint8_t run[WP_RUN_ID_BYTES]);

/* wp_run_id_number - the first 8 bytes, as sectors carry it. */
uint64_t wp_run_id_number(const uint8_t run[WP_RUN_ID_BYTES]);

#endif
