/* SPDX-License-Identifier: PostgreSQL */
/*
 * link.h - one authenticated connection of a target to its witness.
 *
 * Threads: no; a link belongs to one thread.
 */
#ifndef WALPROBE_WITNESS_LINK_H
#define WALPROBE_WITNESS_LINK_H

#include "walprobe/client.h"
#include "walprobe/frame.h"
#include "witness/stream.h"

struct wp_link {
	const struct wp_os *os;
	const char *where;       /* borrowed, for messages */
	struct wp_stream stream; /* fd -1: closed */
	struct wp_tls *tls;      /* NULL: plain */
	struct wp_frame_reader reader;
	struct wp_channel in;
	struct wp_channel out;
	uint8_t *bytes; /* to send */
	size_t used;
	size_t sent;
	size_t capacity;
	char machine[64]; /* of the witness */
};

/* wp_link_open - connect and show each other that both know the key, within timeout_ns. 0, or
 * -WP_E_SYS, -WP_E_SERVER, -WP_E_USAGE; closed after a failure. */
int wp_link_open(struct wp_link *link, const struct wp_os *os, const struct wp_access *access,
	int64_t timeout_ns, struct wp_err *err);

/* wp_link_close - accepts one that is closed or zeroed with fd -1. */
void wp_link_close(struct wp_link *link);

/* wp_link_send - queue one frame; returns its counter. */
uint64_t wp_link_send(
	struct wp_link *link, enum wp_frame_type type, const void *body, size_t length);

/* wp_link_push - send what is queued as far as it goes; -errno when the connection is broken, or
 * the witness takes nothing any more. */
int wp_link_push(struct wp_link *link);

/*
 * wp_link_next - the next frame, waiting at most timeout_ns for it while what is queued is sent.
 *
 * Returns: 1 with *frame; 0 after the timeout; -WP_E_SYS or -WP_E_SERVER (a REFUSE frame, or one
 * that is not authentic).
 */
int wp_link_next(
	struct wp_link *link, int64_t timeout_ns, struct wp_frame *frame, struct wp_err *err);

#endif
