/* SPDX-License-Identifier: PostgreSQL */
/*
 * rig_expect.c - what a verdict has to say after a disk that lies was cut.
 *
 *   rig_expect MAP SLOTS BATCH UNSURE SEGMENT...
 *
 * MAP is what the disk did (rig_lie.h), SEGMENT the run's files as they are now on the file system
 * ("wp.0001.00000003", whose records are known from writer, number and SLOTS, in cycle 1). Prints
 * lines "KIND MINIMUM MAXIMUM", numbers of records, and "outside 0 N", sectors lied about outside of
 * these files. BATCH records are made durable by one sync; one of them counts when a later batch of
 * its writer was seen, for that was issued after this one had been acknowledged. Of the last batch
 * nobody knows, hence two numbers; where segments are given up, of the UNSURE first ones of each
 * writer neither.
 */
#include "rig_lie.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITERS_MAXIMUM 256
#define EXTENTS 64

enum kind {
	JUDGED,
	LOST,
	HOLES,
	STALE,
	TORN,
	FLIPPED,
	MISDIRECTED,
	KINDS
};

static const char *const kind_names[KINDS] = { "judged", "lost", "reordered", "stale", "torn",
	"flipped", "misdirected" };

/* a sector of a record that is to be judged */
struct found {
	uint64_t seq;
	uint32_t event;
	uint16_t writer;
	uint8_t state;
	bool is_used;
};

static struct {
	const struct rig_place *map;
	size_t places;
	uint64_t slots;
	uint64_t batch;
	uint64_t unsure;
	unsigned char *is_ours; /* by place: within the files */
	struct found *found;
	size_t found_count;
	uint32_t *hits; /* events of strays that stand */
	size_t hit_count;
	uint64_t last[WRITERS_MAXIMUM];     /* sequence seen */
	uint64_t lowest[WRITERS_MAXIMUM];   /* segment */
	uint64_t survivor[WRITERS_MAXIMUM]; /* highest whole one that must be seen */
	long minimum[KINDS];
	long maximum[KINDS];
} all;

static void die(const char *call, const char *name)
{
	fprintf(stderr, "rig_expect: could not %s \"%s\": %s\n", call, name, strerror(errno));
	exit(2);
}

static void *must(void *memory)
{
	if (!memory)
		die("get", "memory");
	return memory;
}

static void open_map(const char *name)
{
	struct stat info;
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	void *map;

	if (fd < 0 || fstat(fd, &info) != 0)
		die("open", name);
	map = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		die("map", name);
	(void)close(fd); /* the mapping stays */
	all.map = map;
	all.places = (size_t)info.st_size / sizeof(struct rig_place);
	all.is_ours = must(calloc(all.places, 1));
	all.found = must(calloc(all.places, sizeof(*all.found)));
	all.hits = must(calloc(all.places, sizeof(*all.hits)));
}

/* One sector of a segment whose records are first..last of writer. */
static void take_place(size_t index, unsigned writer, uint64_t first, uint64_t last)
{
	const struct rig_place *place = &all.map[index];

	all.is_ours[index] = 1;
	if (place->state == RIG_NOTHING || place->writer >= WRITERS_MAXIMUM)
		return;
	if (place->state == RIG_HIT)
		all.hits[all.hit_count++] = place->event;
	/* Of what a recycled segment was before, nothing is judged. */
	if (place->writer != writer || place->seq < first || place->seq > last)
		return;
	all.found[all.found_count++] = (struct found){ place->seq, place->event, place->writer,
		place->state, place->is_used };
	if (place->seq > all.last[writer])
		all.last[writer] = place->seq;
}

static void take_extents(const char *name, int fd, unsigned writer, uint64_t segno)
{
	struct fiemap *request =
		must(calloc(1, sizeof(*request) + EXTENTS * sizeof(struct fiemap_extent)));
	uint64_t first = (segno - 1) * all.slots + 1;
	bool is_last = false;

	while (!is_last) {
		request->fm_length = FIEMAP_MAX_OFFSET - request->fm_start;
		request->fm_extent_count = EXTENTS;
		request->fm_flags = FIEMAP_FLAG_SYNC;
		if (ioctl(fd, FS_IOC_FIEMAP, request) != 0)
			die("get the extents of", name);
		if (request->fm_mapped_extents == 0)
			break;
		for (uint32_t i = 0; i < request->fm_mapped_extents; i++) {
			const struct fiemap_extent *extent = &request->fm_extents[i];
			size_t from = extent->fe_physical / RIG_SECTOR_BYTES;
			size_t end = from + extent->fe_length / RIG_SECTOR_BYTES;

			for (size_t at = from; at < end && at < all.places; at++)
				take_place(at, writer, first, first + all.slots - 1);
			is_last = extent->fe_flags & FIEMAP_EXTENT_LAST;
			request->fm_start = extent->fe_logical + extent->fe_length;
		}
	}
	free(request);
}

static void take_segment(const char *name)
{
	const char *base = strrchr(name, '/');
	unsigned writer;
	uint64_t segno;
	int fd;

	if (sscanf(base ? base + 1 : name, "wp.%u.%" SCNu64, &writer, &segno) != 2 ||
		writer >= WRITERS_MAXIMUM || segno == 0) {
		errno = EINVAL;
		die("make sense of", name);
	}
	if (!all.lowest[writer] || segno < all.lowest[writer])
		all.lowest[writer] = segno;
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("open", name);
	take_extents(name, fd, writer, segno);
	(void)close(fd); /* read only */
}

static int compare_found(const void *left, const void *right)
{
	const struct found *a = left;
	const struct found *b = right;

	if (a->writer != b->writer)
		return a->writer < b->writer ? -1 : 1;
	return a->seq == b->seq ? 0 : a->seq < b->seq ? -1 : 1;
}

static int compare_events(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left;
	uint32_t b = *(const uint32_t *)right;

	return a == b ? 0 : a < b ? -1 : 1;
}

static bool is_standing(uint32_t event)
{
	return bsearch(&event, all.hits, all.hit_count, sizeof(event), compare_events);
}

/* What became of the record of count sectors; JUDGED: it is whole. */
static enum kind fate_of(const struct found *record, size_t count)
{
	size_t gone = 0;
	bool is_flipped = false;

	for (size_t i = 0; i < count; i++) {
		switch ((enum rig_state)record[i].state) {
		case RIG_HIT:
			return MISDIRECTED;
		case RIG_ASTRAY:
			/* Where the stray was overwritten, nothing shows that there was one. */
			if (is_standing(record[i].event))
				return MISDIRECTED;
			gone++;
			break;
		case RIG_PENDING:
		case RIG_LOST:
			gone++;
			break;
		case RIG_FLIPPED:
			is_flipped = true;
			break;
		default:
			break;
		}
	}
	if (is_flipped)
		return FLIPPED;
	if (gone == 0)
		return JUDGED;
	return gone == count ? LOST : TORN;
}

static size_t sectors_of(size_t at)
{
	size_t count = 1;

	while (at + count < all.found_count &&
		compare_found(&all.found[at], &all.found[at + count]) == 0)
		count++;
	return count;
}

static uint64_t first_of_batch(uint64_t seq)
{
	return seq > 0 ? seq - (seq - 1) % all.batch : 0;
}

/* Of the last batch the file may not have its end: what stands there on the disk is seen by nobody. */
static void find_survivors(void)
{
	for (size_t at = 0; at < all.found_count; at += sectors_of(at)) {
		const struct found *record = &all.found[at];

		if (record->seq < first_of_batch(all.last[record->writer]) &&
			fate_of(record, sectors_of(at)) == JUDGED)
			all.survivor[record->writer] = record->seq;
	}
}

static bool is_all_used(const struct found *record, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!record[i].is_used)
			return false;
	return true;
}

static void add(enum kind kind, const struct found *record)
{
	uint64_t sure = (all.lowest[record->writer] - 1 + all.unsure) * all.slots;

	if (record->seq > sure && record->seq < first_of_batch(all.last[record->writer]))
		all.minimum[kind]++;
	all.maximum[kind]++;
}

static void count_records(void)
{
	for (size_t at = 0; at < all.found_count; at += sectors_of(at)) {
		const struct found *record = &all.found[at];
		enum kind fate = fate_of(record, sectors_of(at));

		add(JUDGED, record);
		if (fate != JUDGED)
			add(fate, record);
		if (fate == LOST && is_all_used(record, sectors_of(at)))
			add(STALE, record);
		if (fate == LOST && record->seq < first_of_batch(all.survivor[record->writer]))
			add(HOLES, record);
	}
	/* Records of other writers may prove more holes. */
	all.maximum[HOLES] = all.maximum[LOST];
}

static long count_outside(void)
{
	long outside = 0;

	for (size_t i = 0; i < all.places; i++)
		if (!all.is_ours[i] && all.map[i].state > RIG_TRUE)
			outside++;
	return outside;
}

int main(int argc, char **argv)
{
	if (argc < 6) {
		fputs("usage: rig_expect MAP SLOTS BATCH UNSURE SEGMENT...\n", stderr);
		return 2;
	}
	open_map(argv[1]);
	all.slots = strtoull(argv[2], NULL, 10);
	all.batch = strtoull(argv[3], NULL, 10);
	all.unsure = strtoull(argv[4], NULL, 10);
	for (int i = 5; i < argc; i++)
		take_segment(argv[i]);
	qsort(all.found, all.found_count, sizeof(*all.found), compare_found);
	qsort(all.hits, all.hit_count, sizeof(*all.hits), compare_events);
	find_survivors();
	count_records();
	for (int kind = 0; kind < KINDS; kind++)
		printf("%s %ld %ld\n", kind_names[kind], all.minimum[kind], all.maximum[kind]);
	printf("outside 0 %ld\n", count_outside());
	return 0;
}
