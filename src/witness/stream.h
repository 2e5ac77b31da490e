/* SPDX-License-Identifier: PostgreSQL */
/*
 * stream.h - bytes between target and witness: plain, or through TLS 1.3.
 *
 * TLS takes its key from the shared key (an external PSK with a fresh Diffie-Hellman exchange), so
 * that there are no certificates to keep. The frames inside are authenticated all the same: TLS
 * only adds that nobody on the way can read host names and paths.
 * Threads: no; a stream belongs to one thread, a struct wp_tls may be shared by those of one thread.
 */
#ifndef WALPROBE_WITNESS_STREAM_H
#define WALPROBE_WITNESS_STREAM_H

#include "walprobe/secret.h"

struct wp_tls;
struct ssl_st;

struct wp_stream {
	int fd;              /* -1: closed */
	struct ssl_st *ssl;  /* NULL: plain */
	const char *problem; /* static text, after -EPROTO: why TLS failed */
	bool has_wrong_key;  /* the reason is the key */
};

/* wp_tls_new - what all connections of one side share; free with wp_tls_free(). */
struct wp_tls *wp_tls_new(const struct wp_key *key, bool is_witness);

/* wp_tls_free - accepts NULL; its streams are closed before. */
void wp_tls_free(struct wp_tls *tls);

/* wp_stream_open - take over a connected socket; tls NULL: plain. */
void wp_stream_open(struct wp_stream *stream, int fd, const struct wp_tls *tls);

/* wp_stream_close - accepts one that is closed. */
void wp_stream_close(struct wp_stream *stream);

/*
 * wp_stream_receive - what has arrived.
 *
 * may_read  false: only what was taken from the socket before.
 * Returns: bytes, 0 at the end, or -errno (-EAGAIN: nothing yet; -EPROTO: see problem).
 */
int64_t wp_stream_receive(struct wp_stream *stream, void *buffer, size_t length, bool may_read);

/* wp_stream_send - as much as goes without waiting: bytes taken, or -errno (-EAGAIN: none). */
int64_t wp_stream_send(struct wp_stream *stream, const void *buffer, size_t length);

/* wp_stream_wants_write - whether to wait for the socket to be writable, given that the owner has
 * more to send or not. */
bool wp_stream_wants_write(const struct wp_stream *stream, bool has_more);

#endif
