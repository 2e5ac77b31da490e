/* SPDX-License-Identifier: PostgreSQL */
/*
 * net.h - stream sockets; the only door to <sys/socket.h>.
 *
 * Floor: os (may include base). All sockets are non-blocking and close on exec; wait for them with
 * poller.h. TCP_NODELAY is set, since what is sent are small messages that must not wait.
 * Threads: yes; one socket belongs to one thread at a time.
 */
#ifndef WALPROBE_NET_H
#define WALPROBE_NET_H

#include "walprobe/err.h"

#define WP_NET_NAME_BYTES 80

/*
 * wp_net_split - "HOST:PORT", "[IPV6]:PORT" or ":PORT" into its parts, each into size bytes.
 *
 * Returns: 0, or -WP_E_USAGE when there is no port or it is no number of 0 to 65535.
 */
int wp_net_split(const char *where, char *host, char *port, size_t size, struct wp_err *err);

/*
 * wp_net_listen - listen at HOST:PORT; an empty host means every address, port 0 any free port.
 *
 * Returns: the socket, or -code naming the address.
 */
int wp_net_listen(const char *where, struct wp_err *err);

/*
 * wp_net_connect - connect to HOST:PORT within timeout_ns, trying each address that the name has.
 *
 * Returns: the socket, or -WP_E_SYS naming the place, or -WP_E_USAGE.
 */
int wp_net_connect(const char *where, int64_t timeout_ns, struct wp_err *err);

/* wp_net_accept - the next connection of a listening socket, or -errno (-EAGAIN: none). */
int wp_net_accept(int listener);

/* wp_net_receive - what has arrived: bytes read, 0 at the end, -errno (-EAGAIN: nothing yet). */
int64_t wp_net_receive(int socket, void *buffer, size_t length);

/* wp_net_send - as much as goes without waiting: bytes taken, or -errno (-EAGAIN: none). */
int64_t wp_net_send(int socket, const void *buffer, size_t length);

/* wp_net_close - close; nothing is lost that the peer did not acknowledge in its own words. */
void wp_net_close(int socket);

/* wp_net_name - own (is_peer false) or the peer's "address:port" into out; returns out. */
const char *wp_net_name(int socket, bool is_peer, char out[WP_NET_NAME_BYTES]);

#endif
