/* SPDX-License-Identifier: PostgreSQL */
/*
 * fuzz_frame.c - whatever arrives at a witness: the reader of frames, with and without a key, and
 * the ledger behind it. What the ledger takes must come out again and be taken by another one.
 *
 * The first byte says how: bit 0 with a key, whose codes are then made right, so that what lies
 * behind them is reached; the other bits are the size of the pieces in which the rest arrives.
 * Behind the codes, a piece with its highest bit set is made into an entry of a run that the
 * ledger knows, so that not only its type is ever looked at. How many frames there were is printed
 * at the end.
 */
#include "walprobe/frame.h"
#include "walprobe/ledger.h"
#include "walprobe/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const uint8_t key[WP_MAC_BYTES] = { 1 };

static const uint8_t known_run[WP_RUN_ID_BYTES] = { 1, 2, 3 };
static uint64_t frame_count;

static void print_count(void)
{
	(void)fprintf(stderr, "stat::number_of_frames:         %" PRIu64 "\n", frame_count);
}

/* A run of two writers in its first cycle. */
static void begin_run(struct wp_ledger *ledger)
{
	static const struct wp_cycle_start start = { .cycle = 1, .bases = { 0, 100 } };
	static struct wp_manifest manifest = {
		.page_bytes = 8192, .slots = 64, .batch = 1, .writers = 2, .method = "fdatasync"
	};
	uint8_t bytes[WP_ENTRY_MAXIMUM];
	struct wp_put put = { .bytes = bytes, .size = sizeof(bytes) };
	const char *problem;

	memcpy(manifest.run, known_run, sizeof(known_run));
	wp_entry_run(&put, &manifest);
	if (!wp_ledger_apply(ledger, bytes, put.used, NULL, &problem))
		abort();
	put.used = 0;
	wp_entry_cycle(&put, known_run, &start, manifest.writers);
	if (!wp_ledger_apply(ledger, bytes, put.used, NULL, &problem))
		abort();
}

/* The body of a frame from a piece of the input: as it is, or with the run's id put in. */
static size_t make_body(const uint8_t *data, size_t length, bool is_of_run, uint8_t *out)
{
	if (!is_of_run || !length) {
		memcpy(out, data, length);
		return length;
	}
	out[0] = (uint8_t)(1 + data[0] % 12);
	memcpy(out + 1, known_run, sizeof(known_run));
	memcpy(out + 1 + sizeof(known_run), data + 1, length - 1);
	return length + sizeof(known_run);
}

static int copy_entry(void *ctx, const uint8_t *entry, size_t length)
{
	const char *problem;

	if (!wp_ledger_apply(ctx, entry, length, NULL, &problem))
		abort();
	return 0;
}

static void check_ledger(const struct wp_ledger *ledger)
{
	struct wp_ledger again = { NULL, 0 };

	for (size_t i = 0; i < ledger->count; i++)
		if (wp_ledger_write(ledger->runs[i], copy_entry, &again) != 0)
			abort();
	if (again.count != ledger->count)
		abort();
	for (size_t i = 0; i < again.count; i++)
		if (wp_ledger_total(again.runs[i]) != wp_ledger_total(ledger->runs[i]) ||
			again.runs[i]->segment_count != ledger->runs[i]->segment_count)
			abort();
	wp_ledger_release(&again);
}

/* Pieces of the input as bodies of frames that are authentic. */
static void take_bodies(const uint8_t *data, size_t size)
{
	struct wp_ledger ledger = { NULL, 0 };
	struct wp_channel sender = { 0 };
	struct wp_channel receiver = { 0 };
	struct wp_frame_reader reader;

	wp_channel_open(&sender, key);
	wp_channel_open(&receiver, key);
	wp_frame_reader_init(&reader, WP_FRAME_BODY_MAXIMUM);
	begin_run(&ledger);
	while (size >= 2) {
		size_t length = data[0] | (size_t)(data[1] & 0x7f) << 8;
		bool is_of_run = data[1] & 0x80;
		uint8_t body[0x8000 + WP_RUN_ID_BYTES];
		struct wp_frame frame;
		const char *problem;
		uint8_t *bytes;
		size_t room;
		size_t sent = 0;
		size_t whole;

		data += 2;
		size -= 2;
		length = length < size ? length : size;
		bytes = wp_xcalloc(1, wp_frame_size(sizeof(body)));
		whole = wp_frame_build(&sender, WP_FRAME_ENTRY, body,
			make_body(data, length, is_of_run, body), bytes);
		frame_count++;
		while (sent < whole) {
			uint8_t *place = wp_frame_room(&reader, &room);

			room = room < whole - sent ? room : whole - sent;
			memcpy(place, bytes + sent, room);
			wp_frame_arrived(&reader, room);
			sent += room;
			if (sent < whole &&
				wp_frame_next(&reader, &receiver, &frame, &problem) != 0)
				abort();
		}
		if (wp_frame_next(&reader, &receiver, &frame, &problem) != 1)
			abort();
		(void)wp_ledger_apply(&ledger, frame.body, frame.length, NULL, &problem);
		free(bytes);
		data += length;
		size -= length;
	}
	check_ledger(&ledger);
	wp_ledger_release(&ledger);
	wp_frame_reader_release(&reader);
	wp_channel_release(&sender);
	wp_channel_release(&receiver);
}

/* The input as it is: nothing of it may be taken under a key, and memory must follow what came. */
static void take_raw(const uint8_t *data, size_t size, size_t step, bool has_key)
{
	struct wp_channel receiver = { 0 };
	struct wp_frame_reader reader;
	struct wp_frame frame;
	const char *problem = NULL;
	int rc = 0;

	frame_count++;
	if (has_key)
		wp_channel_open(&receiver, key);
	wp_frame_reader_init(&reader, WP_FRAME_HELLO_MAXIMUM);
	while (size && rc >= 0) {
		size_t room;
		uint8_t *place = wp_frame_room(&reader, &room);

		room = room < step ? room : step;
		room = room < size ? room : size;
		memcpy(place, data, room);
		wp_frame_arrived(&reader, room);
		data += room;
		size -= room;
		while ((rc = wp_frame_next(&reader, has_key ? &receiver : NULL, &frame, &problem)) >
			0)
			if (has_key || frame.length > WP_FRAME_HELLO_MAXIMUM)
				abort();
		if (reader.capacity > wp_frame_size(WP_FRAME_HELLO_MAXIMUM))
			abort();
	}
	if (rc < 0 && !problem)
		abort();
	wp_frame_reader_release(&reader);
	wp_channel_release(&receiver);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool was_here;

	if (!was_here)
		was_here = atexit(print_count) == 0;
	if (!size)
		return 0;
	take_raw(data + 1, size - 1, 1 + data[0] / 4U, data[0] & 2);
	if (data[0] & 1)
		take_bodies(data + 1, size - 1);
	return 0;
}
