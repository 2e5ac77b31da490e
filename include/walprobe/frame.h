/* SPDX-License-Identifier: PostgreSQL */
/*
 * frame.h - the messages between target and witness, authenticated one after the other.
 *
 * Floor: witness (may include base, os, stats).
 *
 *   u32 length of what follows | u8 type | u64 counter | body | 16 bytes of HMAC-SHA256
 *
 * Little endian. The code covers the code of the frame before it in the same direction and this
 * frame from its length on, under a key derived from the shared key, both sides' nonces and the
 * direction: a frame that was changed, repeated, left out, moved or taken from another session
 * does not check. Before both nonces are known, HELLO is authenticated under a key of the client's
 * nonce alone, which only serves to tell a wrong key at once, and REFUSE not at all.
 * Threads: no; a channel and its reader belong to one thread.
 */
#ifndef WALPROBE_FRAME_H
#define WALPROBE_FRAME_H

#include "walprobe/secret.h"

#define WP_FRAME_HEADER_BYTES 13 /* length, type, counter */
#define WP_FRAME_MAC_BYTES 16
#define WP_FRAME_BODY_MAXIMUM 65536
#define WP_FRAME_HELLO_MAXIMUM 256 /* longest body from a peer that has not proved itself */
#define WP_NONCE_BYTES 32
#define WP_PROTOCOL 1

enum wp_frame_type {
	WP_FRAME_HELLO = 1,     /* client: protocol u16, nonce */
	WP_FRAME_CHALLENGE = 2, /* witness: protocol u16, nonce, machine id text */
	WP_FRAME_REFUSE = 3,    /* witness: reason text; the connection ends */
	WP_FRAME_ENTRY = 4,     /* client: one entry of the ledger */
	WP_FRAME_ACK = 5,       /* witness: u64 counter; all frames up to it are durable */
	WP_FRAME_NACK = 6,      /* witness: reason text; nothing is acknowledged for now */
	WP_FRAME_ASK = 7,       /* client: run id, or zeros and machine id and path texts */
	WP_FRAME_STATE = 8,     /* witness: entries of the run, each u32 length and bytes */
	WP_FRAME_STATE_END =
		9, /* witness: u8 found, u8 is live, i64 ns since last heard, machine id */
};

/* one direction of one connection */
struct wp_channel {
	struct wp_mac *mac; /* NULL: not authenticated yet */
	uint8_t last[WP_FRAME_MAC_BYTES];
	uint64_t counter; /* of the next frame */
};

struct wp_frame {
	uint8_t type;
	uint64_t counter;
	const uint8_t *body; /* borrowed from the reader until the next call */
	size_t length;
};

/* bytes as they arrive; memory grows with what has arrived, never with what a length announces */
struct wp_frame_reader {
	uint8_t *bytes;
	size_t used;
	size_t capacity;
	size_t taken;      /* of used: given out as frames */
	size_t body_limit; /* a frame that announces a longer body is malformed */
};

/* wp_channel_open - from now on frames are authenticated under key; frees an earlier state. */
void wp_channel_open(struct wp_channel *channel, const uint8_t key[WP_MAC_BYTES]);

/* wp_channel_release - accepts a zeroed struct. */
void wp_channel_release(struct wp_channel *channel);

/* wp_session_keys - keys of the two directions from the shared key and both nonces. */
void wp_session_keys(const struct wp_key *key, const uint8_t client_nonce[WP_NONCE_BYTES],
	const uint8_t witness_nonce[WP_NONCE_BYTES], uint8_t to_witness[WP_MAC_BYTES],
	uint8_t to_client[WP_MAC_BYTES]);

/* wp_frame_size - bytes of a frame with a body of this length. */
static inline size_t wp_frame_size(size_t body_length)
{
	return WP_FRAME_HEADER_BYTES + body_length + WP_FRAME_MAC_BYTES;
}

/*
 * wp_frame_build - write one frame into out, which has room for wp_frame_size(length).
 *
 * Returns: its size. The channel's counter goes on.
 */
size_t wp_frame_build(struct wp_channel *channel, enum wp_frame_type type, const void *body,
	size_t length, uint8_t *out);

/* wp_frame_reader_init - empty, with a limit for bodies. */
void wp_frame_reader_init(struct wp_frame_reader *reader, size_t body_limit);

/* wp_frame_reader_release - accepts a zeroed struct. */
void wp_frame_reader_release(struct wp_frame_reader *reader);

/*
 * wp_frame_room - where the next bytes may be received.
 *
 * size     receives how many; never 0 after wp_frame_next() returned 0.
 * Returns: the place; tell wp_frame_arrived() how many came.
 */
uint8_t *wp_frame_room(struct wp_frame_reader *reader, size_t *size);

/* wp_frame_arrived - length bytes were put where wp_frame_room() said. */
void wp_frame_arrived(struct wp_frame_reader *reader, size_t length);

/*
 * wp_frame_next - the next whole frame.
 *
 * channel  the direction that it comes from. NULL takes the frame without a look at its code.
 * problem  receives a static text when the frame is malformed or not authentic.
 * Returns: 1 with *frame; 0 when more bytes are needed; -1 with *problem: the connection is of no
 * further use.
 */
int wp_frame_next(struct wp_frame_reader *reader, struct wp_channel *channel,
	struct wp_frame *frame, const char **problem);

#endif
