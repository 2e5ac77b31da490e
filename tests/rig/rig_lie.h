/* SPDX-License-Identifier: PostgreSQL */
/*
 * rig_lie.h - a disk that lies about some writes, and a map of what it did.
 *
 * Only records of the power-cut test are lied about, known by what they begin with: "WPS1" and kind
 * 2, as walprobe/record.h has it. That hits our files' blocks and nothing else on every file system,
 * also where blocks are given to a file at the moment they are written (appends, btrfs), which a
 * list of extents made beforehand would miss. rig_expect.c compares with the extents afterwards.
 *
 *   fifo         records go to the disk one after the other, lie-rate a second; the rest is lost
 *   reorder      likewise, but in random order
 *   torn         of lie-percent of the records only the first or the second half is written
 *   shorn        likewise, the first three or seven eighths
 *   flip         in lie-percent of the records one to three bits change
 *   misdirected  lie-percent of the records go to the place of another one
 *   drop         lie-percent of the records are not written
 *
 * A client sees none of that until the disk has died: it reads what it wrote.
 *
 * The map is an array of struct rig_place, one for each 512 bytes of the disk, in a file that is
 * mapped and so is right even after SIGKILL: what ought to be at that place, and what became of it.
 * Threads: rig_lie_write() may be called by any.
 */
#ifndef RIG_LIE_H
#define RIG_LIE_H

#include <stdbool.h>
#include <stdint.h>

#define RIG_SECTOR_BYTES 512

enum rig_state {
	RIG_NOTHING, /* no record of ours was written here last */
	RIG_TRUE,    /* it is there */
	RIG_PENDING, /* waits in the cache that lies */
	RIG_LOST,    /* was left out */
	RIG_FLIPPED,
	RIG_ASTRAY, /* was written elsewhere, */
	RIG_HIT,    /* namely here, over this place's own */
};

struct rig_place {
	uint64_t seq;   /* of the record that the client wrote here last */
	uint32_t event; /* of the lie; the same for RIG_ASTRAY and RIG_HIT that belong together */
	uint16_t writer;
	uint8_t state;   /* enum rig_state */
	uint8_t sector;  /* of the record */
	uint8_t is_used; /* what is left when this one is not there is another record */
};

/* rig_lie_config - a parameter: 1 it was ours, 0 it was not, -1 after an error message. */
int rig_lie_config(const char *key, const char *value);

/* rig_lie_is_on - a kind of lie was asked for. */
bool rig_lie_is_on(void);

/* rig_lie_map_file - the file of the map, or NULL. */
const char *rig_lie_map_file(void);

/* rig_lie_start - with the mapped disk and map, after nbdkit has forked; 0 or -1. */
int rig_lie_start(unsigned char *disk, struct rig_place *map);

/* rig_lie_write - put data (NULL: zeros) on the disk, or not. */
void rig_lie_write(const void *data, uint32_t count, uint64_t offset);

/* rig_lie_stop - the cache writes nothing any more. */
void rig_lie_stop(void);

#endif
