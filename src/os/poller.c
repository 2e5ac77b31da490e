/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/poller.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static int control(
	struct wp_poller *poller, int operation, int socket, unsigned interest, void *owner)
{
	struct epoll_event event = { .events = 0 };

	if (interest & WP_POLL_READ)
		event.events |= EPOLLIN;
	if (interest & WP_POLL_WRITE)
		event.events |= EPOLLOUT;
	event.data.ptr = owner;
	return epoll_ctl(poller->fd, operation, socket, &event) < 0 ? -errno : 0;
}

void wp_poller_close(struct wp_poller *poller)
{
	if (poller->fd < 0)
		return;
	(void)close(poller->fd); /* neither holds data */
	(void)close(poller->wake_fd);
	poller->fd = poller->wake_fd = -1;
}

int wp_poller_open(struct wp_poller *poller, struct wp_err *err)
{
	int rc;

	poller->is_millisecond = false;
	poller->wake_fd = -1;
	poller->fd = epoll_create1(EPOLL_CLOEXEC);
	if (poller->fd < 0)
		return wp_fail(err, WP_E_SYS, errno, "could not wait for sockets with epoll");
	poller->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	rc = poller->wake_fd < 0
		     ? -errno
		     : control(poller, EPOLL_CTL_ADD, poller->wake_fd, WP_POLL_READ, NULL);
	if (rc < 0) {
		wp_poller_close(poller);
		return wp_fail(err, WP_E_SYS, -rc, "could not make an event descriptor");
	}
	return 0;
}

void wp_poller_wake(struct wp_poller *poller)
{
	uint64_t one = 1;

	/* A counter that is full wakes as well. */
	if (write(poller->wake_fd, &one, sizeof(one)) < 0)
		return;
}

static void drain_wake(struct wp_poller *poller)
{
	uint64_t count;

	/* Only -EAGAIN can happen, when there was nothing left. */
	if (read(poller->wake_fd, &count, sizeof(count)) < 0)
		return;
}

int wp_poller_add(struct wp_poller *poller, int socket, unsigned interest, void *owner)
{
	return control(poller, EPOLL_CTL_ADD, socket, interest, owner);
}

int wp_poller_change(struct wp_poller *poller, int socket, unsigned interest, void *owner)
{
	return control(poller, EPOLL_CTL_MOD, socket, interest, owner);
}

void wp_poller_remove(struct wp_poller *poller, int socket)
{
	(void)control(poller, EPOLL_CTL_DEL, socket, 0, NULL); /* gone already: nothing to do */
}

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){ .tv_sec = ns / WP_NS_PER_S, .tv_nsec = ns % WP_NS_PER_S };
}

/* Rounded up: a timer that is not due yet must not make the caller spin. */
static int milliseconds_of(int64_t ns)
{
	int64_t ms = (ns + WP_NS_PER_MS - 1) / WP_NS_PER_MS;

	return ms > INT32_MAX ? INT32_MAX : (int)ms;
}

static int wait_raw(struct wp_poller *poller, int64_t timeout_ns, struct epoll_event *raw)
{
	struct timespec timeout = timespec_of(timeout_ns);
	int count;

	if (timeout_ns < 0)
		return epoll_wait(poller->fd, raw, WP_POLLER_BATCH, -1);
	if (!poller->is_millisecond) {
		count = epoll_pwait2(poller->fd, raw, WP_POLLER_BATCH, &timeout, NULL);
		if (count >= 0 || errno != ENOSYS)
			return count;
		poller->is_millisecond = true;
	}
	return epoll_wait(poller->fd, raw, WP_POLLER_BATCH, milliseconds_of(timeout_ns));
}

int wp_poller_wait(struct wp_poller *poller, int64_t timeout_ns, struct wp_poll_event *events)
{
	struct epoll_event raw[WP_POLLER_BATCH];
	int count = wait_raw(poller, timeout_ns, raw);

	if (count < 0)
		return errno == EINTR ? 0 : -errno;
	for (int i = 0; i < count; i++) {
		events[i].owner = raw[i].data.ptr;
		events[i].ready = 0;
		if (!events[i].owner)
			drain_wake(poller);
		if (raw[i].events & (EPOLLIN | EPOLLERR | EPOLLHUP))
			events[i].ready |= WP_POLL_READ;
		if (raw[i].events & (EPOLLOUT | EPOLLERR | EPOLLHUP))
			events[i].ready |= WP_POLL_WRITE;
	}
	return count;
}

int wp_poll_one(int socket, unsigned interest, int64_t timeout_ns)
{
	struct pollfd one = { .fd = socket };
	int ready = 0;
	int count;

	if (interest & WP_POLL_READ)
		one.events |= POLLIN;
	if (interest & WP_POLL_WRITE)
		one.events |= POLLOUT;
	count = poll(&one, 1, timeout_ns < 0 ? 0 : milliseconds_of(timeout_ns));
	if (count < 0)
		return errno == EINTR ? 0 : -errno;
	if (one.revents & (POLLIN | POLLERR | POLLHUP | POLLNVAL))
		ready |= WP_POLL_READ;
	if (one.revents & (POLLOUT | POLLERR | POLLHUP | POLLNVAL))
		ready |= WP_POLL_WRITE;
	return ready;
}
