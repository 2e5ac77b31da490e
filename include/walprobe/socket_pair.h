/* SPDX-License-Identifier: PostgreSQL */
/*
 * socket_pair.h - a pair of connected stream sockets in this process, as between a client and its
 * backend on a Unix socket.
 *
 * Floor: os (may include base). Both ends are non-blocking; what is to be waited for is waited for
 * with a poller. Messages are small and of one length, so that one call takes a whole one.
 * Threads: yes, one per end.
 */
#ifndef WALPROBE_SOCKET_PAIR_H
#define WALPROBE_SOCKET_PAIR_H

#include "walprobe/err.h"

/* wp_socket_pair_open - two connected sockets into ends; 0, or -WP_E_SYS. */
int wp_socket_pair_open(int ends[2], struct wp_err *err);

/* wp_socket_pair_close - close one end; accepts -1. */
void wp_socket_pair_close(int end);

/*
 * wp_socket_pair_send - one message.
 *
 * Returns: 0, or -errno; a full socket is -EAGAIN, and nothing was sent then.
 */
int wp_socket_pair_send(int end, const void *message, size_t length);

/*
 * wp_socket_pair_receive - one message, if one is there.
 *
 * Returns: the bytes received, 0 once the other end is closed, -EAGAIN when there is nothing yet,
 * or -errno.
 */
int64_t wp_socket_pair_receive(int end, void *message, size_t length);

#endif
