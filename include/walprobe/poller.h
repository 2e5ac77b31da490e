/* SPDX-License-Identifier: PostgreSQL */
/*
 * poller.h - wait for many sockets in one thread; the only door to epoll and poll.
 *
 * Floor: os (may include base). Level-triggered: what is not read is reported again.
 * Threads: one poller per thread.
 */
#ifndef WALPROBE_POLLER_H
#define WALPROBE_POLLER_H

#include "walprobe/err.h"

#define WP_POLLER_BATCH 256

enum wp_poll_interest {
	WP_POLL_READ = 1,
	WP_POLL_WRITE = 2,
};

struct wp_poller {
	int fd;              /* epoll descriptor; -1: not open */
	int wake_fd;         /* eventfd */
	bool is_millisecond; /* the kernel knows no finer timeout */
};

/* one socket that is ready; the wake-up has no owner */
struct wp_poll_event {
	void *owner;
	unsigned ready; /* enum wp_poll_interest; errors and hangups count as both */
};

/* wp_poller_open - 0, or -WP_E_SYS. */
int wp_poller_open(struct wp_poller *poller, struct wp_err *err);

/* wp_poller_close - accepts a poller that is not open (fd -1). */
void wp_poller_close(struct wp_poller *poller);

/* wp_poller_add, wp_poller_change - watch a socket; owner comes back in its events. 0 or -errno. */
int wp_poller_add(struct wp_poller *poller, int socket, unsigned interest, void *owner);
int wp_poller_change(struct wp_poller *poller, int socket, unsigned interest, void *owner);

/* wp_poller_remove - no longer watch a socket; one that was closed needs no call. */
void wp_poller_remove(struct wp_poller *poller, int socket);

/*
 * wp_poller_wake - end a wait of another thread: it gets an event without an owner.
 *
 * A waiter without a timeout that is woken now and then costs less than a timer for every wait.
 * Threads: yes.
 */
void wp_poller_wake(struct wp_poller *poller);

/*
 * wp_poller_wait - wait at most timeout_ns (-1: without an end) for a socket to be ready.
 *
 * events   WP_POLLER_BATCH of them
 * Returns: the number of events, 0 after the timeout or a signal, -errno otherwise.
 */
int wp_poller_wait(struct wp_poller *poller, int64_t timeout_ns, struct wp_poll_event *events);

/*
 * wp_poll_one - wait at most timeout_ns for one socket.
 *
 * Returns: what is ready, 0 after the timeout or a signal, -errno otherwise.
 */
int wp_poll_one(int socket, unsigned interest, int64_t timeout_ns);

#endif
