/* SPDX-License-Identifier: PostgreSQL */
#define NBDKIT_API_VERSION 2
#include <nbdkit-plugin.h>

#include "rig_lie.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KIND_OFFSET 7
#define KIND_DATA 2
#define WRITER_OFFSET 16
#define SEQ_OFFSET 24
#define TICK_NS 5000000

enum mode {
	MODE_NONE,
	FIFO,
	REORDER,
	TORN,
	SHORN,
	FLIP,
	MISDIRECTED,
	DROP,
	MODE_COUNT
};

static const char *const mode_names[] = { "none", "fifo", "reorder", "torn", "shorn", "flip",
	"misdirected", "drop" };

/* sectors of one record: those of one write */
struct piece {
	const unsigned char *data;
	uint64_t first; /* sector of the disk */
	uint32_t sectors;
	uint32_t event;
};

/* a piece that waits, followed by its data */
struct waiting {
	struct piece piece;
	unsigned char data[];
};

static struct {
	enum mode mode;
	char *map_file;
	unsigned rate_per_s;
	unsigned percent;
	unsigned char *disk;
	struct rig_place *map;
	pthread_mutex_t mutex; /* of all that follows, and of what disk and map point to */
	uint64_t random;
	uint32_t events;
	struct waiting **queue;
	size_t queue_first;
	size_t queue_end;
	size_t queue_capacity;
	uint64_t *records; /* first sectors of all records so far */
	uint32_t record_count;
	uint32_t record_capacity;
	bool is_stopping;
	bool has_thread;
	pthread_t thread;
} lie = { .rate_per_s = 200, .percent = 2, .mutex = PTHREAD_MUTEX_INITIALIZER };

int rig_lie_config(const char *key, const char *value)
{
	if (strcmp(key, "lie") == 0) {
		for (int i = 0; i < MODE_COUNT; i++) {
			if (strcmp(value, mode_names[i]) != 0)
				continue;
			lie.mode = (enum mode)i;
			return 1;
		}
		nbdkit_error("lie=%s: there is no such lie", value);
		return -1;
	}
	if (strcmp(key, "map") == 0) {
		lie.map_file = nbdkit_absolute_path(value);
		return lie.map_file ? 1 : -1;
	}
	if (strcmp(key, "lie-rate") == 0)
		return nbdkit_parse_unsigned(key, value, &lie.rate_per_s) ? -1 : 1;
	if (strcmp(key, "lie-percent") == 0)
		return nbdkit_parse_unsigned(key, value, &lie.percent) ? -1 : 1;
	return 0;
}

bool rig_lie_is_on(void)
{
	return lie.mode != MODE_NONE;
}

const char *rig_lie_map_file(void)
{
	return lie.map_file;
}

/* xorshift64*: good enough to choose victims. */
static uint32_t random_below(uint32_t n)
{
	lie.random ^= lie.random >> 12;
	lie.random ^= lie.random << 25;
	lie.random ^= lie.random >> 27;
	return (uint32_t)((lie.random * UINT64_C(0x2545f4914f6cdd1d)) >> 32) % n;
}

static uint64_t get_number(const unsigned char *from, unsigned bytes)
{
	uint64_t number = 0;

	while (bytes-- > 0)
		number = number << 8 | from[bytes];
	return number;
}

static bool has_magic(const unsigned char *sector)
{
	return memcmp(sector, "WPS1", 4) == 0;
}

static bool is_record(const unsigned char *sector)
{
	return has_magic(sector) && sector[KIND_OFFSET] == KIND_DATA;
}

static bool is_same_record(const unsigned char *a, const unsigned char *b)
{
	return is_record(b) && memcmp(a + WRITER_OFFSET, b + WRITER_OFFSET, 2) == 0 &&
	       memcmp(a + SEQ_OFFSET, b + SEQ_OFFSET, 8) == 0;
}

static void put_sectors(const unsigned char *data, uint64_t first, uint32_t sectors)
{
	memcpy(lie.disk + first * RIG_SECTOR_BYTES, data, (size_t)sectors * RIG_SECTOR_BYTES);
}

static void set_states(
	uint64_t first, uint32_t sectors, uint32_t from, uint32_t to, enum rig_state state)
{
	for (uint32_t i = 0; i < sectors; i++)
		if (i >= from && i < to)
			lie.map[first + i].state = (uint8_t)state;
}

/* A record is there, whichever. */
static bool has_content(const struct rig_place *place)
{
	switch ((enum rig_state)place->state) {
	case RIG_TRUE:
	case RIG_FLIPPED:
	case RIG_HIT:
		return true;
	default:
		return place->is_used;
	}
}

/* What ought to be there from now on. */
static void enter(const struct piece *piece)
{
	for (uint32_t i = 0; i < piece->sectors; i++) {
		const unsigned char *sector = piece->data + (size_t)i * RIG_SECTOR_BYTES;
		struct rig_place *place = &lie.map[piece->first + i];

		*place = (struct rig_place){ .seq = get_number(sector + SEQ_OFFSET, 8),
			.event = piece->event,
			.writer = (uint16_t)get_number(sector + WRITER_OFFSET, 2),
			.state = RIG_TRUE,
			.sector = sector[5],
			.is_used = has_content(place) };
	}
}

static void remember(uint64_t first)
{
	if (lie.record_count == lie.record_capacity) {
		uint32_t capacity = lie.record_capacity ? 2 * lie.record_capacity : 1024;
		uint64_t *more = realloc(lie.records, capacity * sizeof(*more));

		if (!more)
			abort();
		lie.records = more;
		lie.record_capacity = capacity;
	}
	lie.records[lie.record_count++] = first;
}

static void enqueue(const struct piece *piece)
{
	size_t bytes = (size_t)piece->sectors * RIG_SECTOR_BYTES;
	struct waiting *waiting = malloc(sizeof(*waiting) + bytes);

	if (lie.queue_end == lie.queue_capacity) {
		lie.queue_capacity = lie.queue_capacity ? 2 * lie.queue_capacity : 1024;
		lie.queue = realloc(lie.queue, lie.queue_capacity * sizeof(struct waiting *));
	}
	if (!waiting || !lie.queue)
		abort();
	waiting->piece = *piece;
	memcpy(waiting->data, piece->data, bytes);
	waiting->piece.data = waiting->data;
	lie.queue[lie.queue_end++] = waiting;
	set_states(piece->first, piece->sectors, 0, piece->sectors, RIG_PENDING);
}

static void dequeue(void)
{
	struct waiting *waiting;
	const struct piece *piece;
	size_t chosen = lie.queue_first;

	if (lie.queue_first == lie.queue_end)
		return;
	if (lie.mode == REORDER)
		chosen += random_below((uint32_t)(lie.queue_end - lie.queue_first));
	waiting = lie.queue[chosen];
	lie.queue[chosen] = lie.queue[lie.queue_first++];
	piece = &waiting->piece;
	put_sectors(piece->data, piece->first, piece->sectors);
	for (uint32_t i = 0; i < piece->sectors; i++) {
		struct rig_place *place = &lie.map[piece->first + i];

		/* Something newer may wait for the same place. */
		if (place->event == piece->event)
			place->state = RIG_TRUE;
		else
			place->is_used = true;
	}
	free(waiting);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void *run_queue(void *unused)
{
	const struct timespec tick = { .tv_sec = 0, .tv_nsec = TICK_NS };
	int64_t begin_ns = now_ns();
	int64_t done = 0;
	bool is_stopping = false;

	(void)unused;
	while (!is_stopping) {
		int64_t due;

		(void)nanosleep(&tick, NULL);
		due = (now_ns() - begin_ns) / 1000 * lie.rate_per_s / 1000000;
		pthread_mutex_lock(&lie.mutex);
		for (; done < due; done++)
			dequeue();
		is_stopping = lie.is_stopping;
		pthread_mutex_unlock(&lie.mutex);
	}
	return NULL;
}

/* Only sectors from..to of the record are written. */
static void put_part(const struct piece *piece, uint32_t from, uint32_t to)
{
	set_states(piece->first, piece->sectors, 0, piece->sectors, RIG_LOST);
	set_states(piece->first, piece->sectors, from, to, RIG_TRUE);
	put_sectors(piece->data + (size_t)from * RIG_SECTOR_BYTES, piece->first + from, to - from);
}

static void put_flipped(const struct piece *piece)
{
	uint32_t chosen = random_below(piece->sectors);
	unsigned char *sector = lie.disk + (piece->first + chosen) * RIG_SECTOR_BYTES;

	put_sectors(piece->data, piece->first, piece->sectors);
	for (uint32_t bits = 1 + random_below(3); bits > 0; bits--)
		sector[random_below(RIG_SECTOR_BYTES)] ^= (unsigned char)(1U << random_below(8));
	/* The same bit twice is no lie. */
	if (memcmp(sector, piece->data + (size_t)chosen * RIG_SECTOR_BYTES, RIG_SECTOR_BYTES) != 0)
		lie.map[piece->first + chosen].state = RIG_FLIPPED;
}

/* A whole record of the same size that is where it belongs. */
static bool is_victim(const struct piece *piece, uint64_t first)
{
	const struct rig_place *victim = &lie.map[first];
	const struct rig_place *own = &lie.map[piece->first];

	for (uint32_t i = 0; i < piece->sectors; i++)
		if (victim[i].state != RIG_TRUE || victim[i].sector != own[i].sector ||
			victim[i].seq != victim[0].seq || victim[i].writer != victim[0].writer ||
			first + i == piece->first)
			return false;
	return true;
}

static void put_astray(const struct piece *piece)
{
	uint64_t first = lie.records[random_below(lie.record_count)];

	if (!is_victim(piece, first)) {
		put_sectors(piece->data, piece->first, piece->sectors);
		return;
	}
	put_sectors(piece->data, first, piece->sectors);
	set_states(piece->first, piece->sectors, 0, piece->sectors, RIG_ASTRAY);
	set_states(first, piece->sectors, 0, piece->sectors, RIG_HIT);
	for (uint32_t i = 0; i < piece->sectors; i++)
		lie.map[first + i].event = piece->event;
}

static void put_lying(const struct piece *piece)
{
	uint32_t half = piece->sectors / 2;

	switch (lie.mode) {
	case TORN:
		if (random_below(2))
			put_part(piece, 0, half);
		else
			put_part(piece, half, piece->sectors);
		break;
	case SHORN:
		put_part(piece, 0, piece->sectors * (random_below(2) ? 3 : 7) / 8);
		break;
	case FLIP:
		put_flipped(piece);
		break;
	case MISDIRECTED:
		put_astray(piece);
		break;
	default:
		set_states(piece->first, piece->sectors, 0, piece->sectors, RIG_LOST);
		break;
	}
}

static void put_record(struct piece *piece)
{
	piece->event = ++lie.events;
	enter(piece);
	remember(piece->first);
	if (lie.mode == FIFO || lie.mode == REORDER)
		enqueue(piece);
	else if (random_below(100) < lie.percent)
		put_lying(piece);
	else
		put_sectors(piece->data, piece->first, piece->sectors);
}

/* Prefill stands for what a recycled segment held before. */
static void put_honestly(const unsigned char *data, uint64_t first)
{
	unsigned char *at = lie.disk + first * RIG_SECTOR_BYTES;

	if (data)
		memcpy(at, data, RIG_SECTOR_BYTES);
	else
		memset(at, 0, RIG_SECTOR_BYTES);
	lie.map[first] = (struct rig_place){ .is_used = data && has_magic(data) };
}

void rig_lie_write(const void *data, uint32_t count, uint64_t offset)
{
	uint32_t sectors = count / RIG_SECTOR_BYTES;
	uint64_t first = offset / RIG_SECTOR_BYTES;

	pthread_mutex_lock(&lie.mutex);
	for (uint32_t i = 0; i < sectors;) {
		const unsigned char *sector =
			data ? (const unsigned char *)data + (size_t)i * RIG_SECTOR_BYTES : NULL;
		struct piece piece = { .data = sector, .first = first + i, .sectors = 1 };

		if (sector && is_record(sector)) {
			while (i + piece.sectors < sectors &&
				is_same_record(
					sector, sector + (size_t)piece.sectors * RIG_SECTOR_BYTES))
				piece.sectors++;
			put_record(&piece);
		} else {
			put_honestly(sector, first + i);
		}
		i += piece.sectors;
	}
	pthread_mutex_unlock(&lie.mutex);
}

int rig_lie_start(unsigned char *disk, struct rig_place *map)
{
	lie.disk = disk;
	lie.map = map;
	lie.random = (uint64_t)now_ns() | 1;
	if (lie.mode != FIFO && lie.mode != REORDER)
		return 0;
	lie.has_thread = pthread_create(&lie.thread, NULL, run_queue, NULL) == 0;
	if (!lie.has_thread)
		nbdkit_error("could not start a thread");
	return lie.has_thread ? 0 : -1;
}

void rig_lie_stop(void)
{
	if (lie.has_thread) {
		pthread_mutex_lock(&lie.mutex);
		lie.is_stopping = true;
		pthread_mutex_unlock(&lie.mutex);
		(void)pthread_join(lie.thread, NULL);
	}
	while (lie.queue_first < lie.queue_end)
		free(lie.queue[lie.queue_first++]);
	free(lie.queue);
	free(lie.records);
	free(lie.map_file);
}
