/* SPDX-License-Identifier: PostgreSQL */
/*
 * record.h - the records of the power-cut test: sectors of 512 bytes that say what and where they
 * are.
 *
 * Floor: witness (may include base, os, stats). A page is one record; each of its sectors carries
 * the whole stamp, because a shorn write ends at a multiple of 512 bytes, and the stamp also tells
 * what the old half was. The payload is a key stream (AES-128-CTR) of the run's seed: it cannot be
 * compressed or deduplicated by a drive, and is made again for comparison.
 *
 *   off size field                            off size field
 *    0   4   "WPS1"                            24   8   seq, per writer, never reset
 *    4   1   version                           32   8   own position in the file, in bytes
 *    5   1   sector index                      40   4   physical segment
 *    6   1   sectors per page                  44   4   generation of the physical segment
 *    7   1   kind                              48   8   horizon
 *    8   8   run id, its first 8 bytes         56   4   CRC32C of bytes 0..55
 *   16   2   writer   18  2  cycle             60   4   CRC32C of bytes 0..59 and the payload
 *   20   4   segment number                    64 448   payload
 *
 * Horizon: one other writer (upper 16 bits) and the sequence (lower 48) up to which it had been
 * acknowledged before this record was issued; the writers take turns. A record that survived thus
 * proves, from the disk alone, that records of another writer must have survived. (A common ticket
 * number would need a word that all writers share, and a record that is gone takes its ticket with
 * it, so that nobody could tell whether it was below the horizon.)
 * Threads: a struct wp_payload belongs to one thread; the rest has no state.
 */
#ifndef WALPROBE_RECORD_H
#define WALPROBE_RECORD_H

#include "walprobe/base.h"

#define WP_SECTOR_BYTES 512
#define WP_SECTOR_PAYLOAD_BYTES 448
#define WP_RECORD_SECTORS_MAXIMUM 128 /* 64 kB */
#define WP_RUN_ID_BYTES 16
#define WP_SEED_BYTES 32

enum wp_record_kind {
	WP_RECORD_PREFILL = 1, /* what a segment holds before its first record */
	WP_RECORD_DATA = 2,
	WP_RECORD_COLD = 3, /* written once, in the first cycle */
};

/* what a sector says about itself; sector and sectors are set by wp_record_build() */
struct wp_stamp {
	uint8_t sector;
	uint8_t sectors;
	uint8_t kind;
	uint64_t run;
	uint16_t writer;
	uint16_t cycle;
	uint32_t segno;
	uint64_t seq;
	uint64_t position; /* of the page */
	uint32_t physical;
	uint32_t generation;
	uint64_t horizon;
};

enum wp_sector_state {
	WP_SECTOR_EXPECTED, /* what was acknowledged */
	WP_SECTOR_ZERO,
	WP_SECTOR_PREFILL,    /* this segment before the record was written */
	WP_SECTOR_STALE,      /* older generation of this segment, or of something removed */
	WP_SECTOR_FOREIGN,    /* same run, but says that it belongs elsewhere */
	WP_SECTOR_OTHER_RUN,  /* an earlier run's or cycle's */
	WP_SECTOR_FLIPPED,    /* the expected one but for some bits */
	WP_SECTOR_GARBAGE,    /* nothing that we ever wrote */
	WP_SECTOR_UNREADABLE, /* set by the reader */
};

struct wp_payload;

/* wp_payload_new - the source of payloads of a run; free with wp_payload_free(). */
struct wp_payload *wp_payload_new(const uint8_t seed[WP_SEED_BYTES]);

/* wp_payload_free - accepts NULL. */
void wp_payload_free(struct wp_payload *payload);

/* wp_record_build - a whole page of sectors * 512 bytes for stamp. */
void wp_record_build(
	struct wp_payload *payload, const struct wp_stamp *stamp, size_t sectors, uint8_t *page);

/*
 * wp_record_read - what a sector says about itself.
 *
 * Returns: true with *stamp when magic, version and header checksum are right.
 */
bool wp_record_read(const uint8_t sector[WP_SECTOR_BYTES], struct wp_stamp *stamp);

/*
 * wp_record_compare - how the sector that was found differs from the one that expected describes.
 *
 * expected   with sector and sectors set; its horizon is not compared (what is found says it).
 * found      receives what the sector says about itself, zeroed when it says nothing.
 * bits       receives the number of bits that differ when the state is WP_SECTOR_FLIPPED.
 * Returns: the state; WP_SECTOR_STALE only for an older generation of this physical segment, other
 * things of the same run are WP_SECTOR_FOREIGN: whether they are strays is for the caller to say.
 */
enum wp_sector_state wp_record_compare(struct wp_payload *payload, const struct wp_stamp *expected,
	const uint8_t sector[WP_SECTOR_BYTES], struct wp_stamp *found, unsigned *bits);

/* wp_horizon - writer and its acknowledged sequence as one number, and its parts. */
static inline uint64_t wp_horizon(uint16_t writer, uint64_t seq)
{
	return (uint64_t)writer << 48 | (seq & UINT64_C(0xffffffffffff));
}

/* wp_horizon_writer - the writer that is cited. */
static inline uint16_t wp_horizon_writer(uint64_t horizon)
{
	return (uint16_t)(horizon >> 48);
}

/* wp_horizon_seq - the sequence up to which it had been acknowledged. */
static inline uint64_t wp_horizon_seq(uint64_t horizon)
{
	return horizon & UINT64_C(0xffffffffffff);
}

#endif
