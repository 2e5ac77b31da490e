/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "walprobe/frame.h"
#include "walprobe/mem.h"
#include "walprobe/random.h"
#include "walprobe/wire.h"

#define FRAMES 3

/* one direction with both its ends, and what went over the wire */
struct line {
	struct wp_channel sender;
	struct wp_channel receiver;
	struct wp_frame_reader reader;
	uint8_t wire[4096];
	size_t sizes[FRAMES];
	size_t used;
};

static void open_line(struct line *line)
{
	static const uint8_t key[WP_MAC_BYTES] = { 9 };
	static const char *const bodies[FRAMES] = { "one", "", "and the third" };

	memset(line, 0, sizeof(*line));
	wp_channel_open(&line->sender, key);
	wp_channel_open(&line->receiver, key);
	wp_frame_reader_init(&line->reader, 1024);
	for (size_t i = 0; i < FRAMES; i++) {
		line->sizes[i] = wp_frame_build(&line->sender, WP_FRAME_ENTRY, bodies[i],
			strlen(bodies[i]), line->wire + line->used);
		line->used += line->sizes[i];
	}
}

static void close_line(struct line *line)
{
	wp_channel_release(&line->sender);
	wp_channel_release(&line->receiver);
	wp_frame_reader_release(&line->reader);
}

static void feed(struct line *line, const uint8_t *bytes, size_t length)
{
	while (length) {
		size_t size;
		uint8_t *room = wp_frame_room(&line->reader, &size);

		size = size < length ? size : length;
		memcpy(room, bytes, size);
		wp_frame_arrived(&line->reader, size);
		bytes += size;
		length -= size;
	}
}

/* Frames that are taken before something is refused, or nothing is left. */
static size_t take_all(struct line *line, const char **problem)
{
	struct wp_frame frame;
	size_t count = 0;
	int rc;

	*problem = NULL;
	while ((rc = wp_frame_next(&line->reader, &line->receiver, &frame, problem)) > 0)
		count++;
	assert_int_equal(rc < 0, *problem != NULL);
	return count;
}

static void frames_arrive_whole_however_they_are_cut(void **state)
{
	(void)state;
	for (size_t step = 1; step < 100; step++) {
		const char *problem;
		struct line line;
		size_t count = 0;

		open_line(&line);
		for (size_t at = 0; at < line.used; at += step) {
			size_t left = line.used - at;

			feed(&line, line.wire + at, left < step ? left : step);
			count += take_all(&line, &problem);
			assert_null(problem);
		}
		assert_int_equal(count, FRAMES);
		close_line(&line);
	}
}

static void every_changed_byte_is_refused(void **state)
{
	(void)state;
	for (size_t at = 0; at < 200; at++) {
		const char *problem;
		struct line line;
		size_t count;

		open_line(&line);
		if (at >= line.used) {
			close_line(&line);
			break;
		}
		line.wire[at] ^= 0x10;
		feed(&line, line.wire, line.used);
		count = take_all(&line, &problem);
		/* A length that grew may also wait for bytes that never come. */
		assert_true(count < FRAMES);
		close_line(&line);
	}
}

static void a_frame_that_is_lost_repeated_or_moved_is_refused(void **state)
{
	static const size_t orders[][FRAMES] = { { 1, 2, 2 }, { 0, 2, 2 }, { 0, 0, 1 }, { 2, 1, 0 },
		{ 1, 0, 2 } };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(orders); i++) {
		const char *problem;
		struct line line;
		size_t starts[FRAMES] = { 0 };

		open_line(&line);
		for (size_t k = 1; k < FRAMES; k++)
			starts[k] = starts[k - 1] + line.sizes[k - 1];
		for (size_t k = 0; k < FRAMES; k++)
			feed(&line, line.wire + starts[orders[i][k]], line.sizes[orders[i][k]]);
		assert_true(take_all(&line, &problem) < 2);
		assert_non_null(problem);
		close_line(&line);
	}
}

static void a_frame_of_another_session_or_direction_is_refused(void **state)
{
	const struct wp_key key = { .bytes = { 5 }, .length = 16 };
	const struct wp_key other_key = { .bytes = { 6 }, .length = 16 };
	const uint8_t nonces[3][WP_NONCE_BYTES] = { { 1 }, { 2 }, { 3 } };
	uint8_t right[2][WP_MAC_BYTES];
	uint8_t wrong[2][WP_MAC_BYTES];

	(void)state;
	wp_session_keys(&key, nonces[0], nonces[1], right[0], right[1]);
	assert_memory_not_equal(right[0], right[1], WP_MAC_BYTES);
	wp_session_keys(&key, nonces[0], nonces[2], wrong[0], wrong[1]);
	assert_memory_not_equal(right[0], wrong[0], WP_MAC_BYTES);
	wp_session_keys(&key, nonces[2], nonces[1], wrong[0], wrong[1]);
	assert_memory_not_equal(right[0], wrong[0], WP_MAC_BYTES);
	wp_session_keys(&other_key, nonces[0], nonces[1], wrong[0], wrong[1]);
	assert_memory_not_equal(right[0], wrong[0], WP_MAC_BYTES);
}

static void a_length_costs_no_memory_before_its_bytes_come(void **state)
{
	struct wp_frame_reader reader;
	struct wp_frame frame;
	const char *problem;
	uint8_t length[4];
	struct wp_put put = { .bytes = length, .size = sizeof(length) };
	uint8_t *room;
	size_t size;

	(void)state;
	wp_put_number(&put, WP_FRAME_BODY_MAXIMUM, 4);
	wp_frame_reader_init(&reader, WP_FRAME_BODY_MAXIMUM);
	room = wp_frame_room(&reader, &size);
	memcpy(room, length, sizeof(length));
	wp_frame_arrived(&reader, sizeof(length));
	assert_int_equal(wp_frame_next(&reader, NULL, &frame, &problem), 0);
	(void)wp_frame_room(&reader, &size);
	assert_true(reader.capacity <= 8192);
	wp_frame_reader_release(&reader);
}

static void an_oversized_or_impossible_length_is_refused_at_once(void **state)
{
	static const uint32_t lengths[] = { 0, 1, 24, 1024 + 26, UINT32_MAX };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(lengths); i++) {
		const char *problem;
		struct line line;
		uint8_t bytes[4];
		struct wp_put put = { .bytes = bytes, .size = sizeof(bytes) };

		open_line(&line);
		wp_put_number(&put, lengths[i], 4);
		feed(&line, bytes, sizeof(bytes));
		assert_int_equal(take_all(&line, &problem), 0);
		assert_non_null(problem);
		close_line(&line);
	}
}

static void random_bytes_are_never_taken(void **state)
{
	struct wp_random random;

	(void)state;
	wp_random_init(&random, 1);
	for (int i = 0; i < 2000; i++) {
		const char *problem;
		struct line line;
		uint8_t bytes[300];

		open_line(&line);
		wp_random_fill(&random, bytes, sizeof(bytes));
		if (i % 2)
			memset(bytes + 1, 0, 3); /* a length that is possible */
		feed(&line, bytes, sizeof(bytes));
		assert_int_equal(take_all(&line, &problem), 0);
		close_line(&line);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_arrive_whole_however_they_are_cut),
		cmocka_unit_test(every_changed_byte_is_refused),
		cmocka_unit_test(a_frame_that_is_lost_repeated_or_moved_is_refused),
		cmocka_unit_test(a_frame_of_another_session_or_direction_is_refused),
		cmocka_unit_test(a_length_costs_no_memory_before_its_bytes_come),
		cmocka_unit_test(an_oversized_or_impossible_length_is_refused_at_once),
		cmocka_unit_test(random_bytes_are_never_taken),
	};

	return cmocka_run_group_tests_name("frame", tests, NULL, NULL);
}
