/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/frame.h"
#include "walprobe/mem.h"
#include "walprobe/wire.h"

#define GROWTH_BYTES 4096

void wp_channel_open(struct wp_channel *channel, const uint8_t key[WP_MAC_BYTES])
{
	wp_channel_release(channel);
	channel->mac = wp_mac_new(key);
}

void wp_channel_release(struct wp_channel *channel)
{
	wp_mac_free(channel->mac);
	memset(channel, 0, sizeof(*channel));
}

void wp_session_keys(const struct wp_key *key, const uint8_t client_nonce[WP_NONCE_BYTES],
	const uint8_t witness_nonce[WP_NONCE_BYTES], uint8_t to_witness[WP_MAC_BYTES],
	uint8_t to_client[WP_MAC_BYTES])
{
	wp_secret_derive(key, "walprobe target to witness", client_nonce, WP_NONCE_BYTES,
		witness_nonce, WP_NONCE_BYTES, to_witness);
	wp_secret_derive(key, "walprobe witness to target", client_nonce, WP_NONCE_BYTES,
		witness_nonce, WP_NONCE_BYTES, to_client);
}

/* The code of this frame; frame without the code itself. */
static void code_of(
	struct wp_channel *channel, const uint8_t *frame, size_t length, uint8_t out[WP_MAC_BYTES])
{
	if (channel->mac)
		wp_mac_two(channel->mac, channel->last, sizeof(channel->last), frame, length, out);
	else
		memset(out, 0, WP_MAC_BYTES);
}

size_t wp_frame_build(struct wp_channel *channel, enum wp_frame_type type, const void *body,
	size_t length, uint8_t *out)
{
	size_t size = wp_frame_size(length);
	struct wp_put put = { .bytes = out, .size = size };
	uint8_t code[WP_MAC_BYTES];

	assert(length <= WP_FRAME_BODY_MAXIMUM);
	wp_put_number(&put, size - 4, 4);
	wp_put_number(&put, type, 1);
	wp_put_number(&put, channel->counter++, 8);
	wp_put_bytes(&put, body, length);
	code_of(channel, out, put.used, code);
	wp_put_bytes(&put, code, WP_FRAME_MAC_BYTES);
	memcpy(channel->last, code, sizeof(channel->last));
	return size;
}

void wp_frame_reader_init(struct wp_frame_reader *reader, size_t body_limit)
{
	memset(reader, 0, sizeof(*reader));
	reader->body_limit = body_limit;
}

void wp_frame_reader_release(struct wp_frame_reader *reader)
{
	free(reader->bytes);
	memset(reader, 0, sizeof(*reader));
}

static void drop_taken(struct wp_frame_reader *reader)
{
	if (!reader->taken)
		return;
	reader->used -= reader->taken;
	memmove(reader->bytes, reader->bytes + reader->taken, reader->used);
	reader->taken = 0;
}

uint8_t *wp_frame_room(struct wp_frame_reader *reader, size_t *size)
{
	size_t limit = wp_frame_size(reader->body_limit);
	size_t wanted;

	drop_taken(reader);
	wanted = reader->used + GROWTH_BYTES < limit ? reader->used + GROWTH_BYTES : limit;
	if (wanted > reader->capacity) {
		/* Twice as much as has arrived at most, so that large frames are not copied often. */
		size_t grown = reader->used * 2 > wanted ? reader->used * 2 : wanted;

		reader->capacity = grown < limit ? grown : limit;
		reader->bytes = wp_xreallocarray(reader->bytes, reader->capacity, 1);
	}
	*size = reader->capacity - reader->used;
	return reader->bytes + reader->used;
}

void wp_frame_arrived(struct wp_frame_reader *reader, size_t length)
{
	assert(length <= reader->capacity - reader->used);
	reader->used += length;
}

static int refuse(const char **problem, const char *text)
{
	*problem = text;
	return -1;
}

static int check(struct wp_channel *channel, const struct wp_frame *frame, const uint8_t *start,
	size_t size, const char **problem)
{
	const uint8_t *their_code = start + size - WP_FRAME_MAC_BYTES;
	uint8_t code[WP_MAC_BYTES];

	code_of(channel, start, size - WP_FRAME_MAC_BYTES, code);
	if (!wp_secret_is_equal(code, their_code, WP_FRAME_MAC_BYTES))
		return refuse(problem, "a frame that is not authentic");
	if (frame->counter != channel->counter)
		return refuse(problem, "a frame out of order");
	channel->counter++;
	memcpy(channel->last, code, sizeof(channel->last));
	return 1;
}

int wp_frame_next(struct wp_frame_reader *reader, struct wp_channel *channel,
	struct wp_frame *frame, const char **problem)
{
	struct wp_get get = { .size = reader->used - reader->taken };
	const uint8_t *start;
	uint64_t length;
	size_t size;

	if (get.size < 4)
		return 0;
	start = reader->bytes + reader->taken;
	get.bytes = start;
	length = wp_get_number(&get, 4);
	if (length < wp_frame_size(0) - 4)
		return refuse(problem, "a malformed frame");
	if (length > wp_frame_size(reader->body_limit) - 4)
		return refuse(problem, "an oversized frame");
	size = (size_t)length + 4;
	if (get.size < size)
		return 0;
	frame->type = (uint8_t)wp_get_number(&get, 1);
	frame->counter = wp_get_number(&get, 8);
	frame->body = start + WP_FRAME_HEADER_BYTES;
	frame->length = size - wp_frame_size(0);
	reader->taken += size;
	return channel ? check(channel, frame, start, size, problem) : 1;
}
