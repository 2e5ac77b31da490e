/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/net.h"
#include "walprobe/poller.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 512

static int no_address(const char *where, struct wp_err *err)
{
	(void)wp_fail(err, WP_E_USAGE, 0, "\"%s\" is no HOST:PORT", where);
	wp_err_hint(err, "Write it as db-witness:5499, 192.0.2.1:5499 or [2001:db8::1]:5499.");
	return -WP_E_USAGE;
}

static bool is_port(const char *text)
{
	size_t digits = strspn(text, "0123456789");

	return digits > 0 && digits < 6 && !text[digits] && strtol(text, NULL, 10) <= 65535;
}

int wp_net_split(const char *where, char *host, char *port, size_t size, struct wp_err *err)
{
	const char *colon = strrchr(where, ':');
	size_t length = colon ? (size_t)(colon - where) : 0;
	bool is_bracketed = length >= 2 && where[0] == '[' && where[length - 1] == ']';

	if (!colon || length >= size || !is_port(colon + 1))
		return no_address(where, err);
	if (!is_bracketed && memchr(where, ':', length))
		return no_address(where, err);
	if (is_bracketed)
		(void)snprintf(host, size, "%.*s", (int)length - 2, where + 1);
	else
		(void)snprintf(host, size, "%.*s", (int)length, where);
	(void)snprintf(port, size, "%s", colon + 1);
	return 0;
}

static int look_up(const char *where, bool is_listener, struct addrinfo **found, struct wp_err *err)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = is_listener ? AI_PASSIVE : AI_ADDRCONFIG };
	char host[256];
	char port[256];
	int rc = wp_net_split(where, host, port, sizeof(host), err);

	if (rc)
		return rc;
	rc = getaddrinfo(host[0] ? host : NULL, port, &hints, found);
	if (rc == EAI_SYSTEM)
		return wp_fail(err, WP_E_SYS, errno, "could not look up \"%s\"", where);
	if (rc)
		return wp_fail(
			err, WP_E_SYS, 0, "could not look up \"%s\": %s", where, gai_strerror(rc));
	return 0;
}

static int open_socket(const struct addrinfo *address)
{
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
		address->ai_protocol);

	return fd < 0 ? -errno : fd;
}

/* Without these a connection works all the same, later or longer. */
static void tune(int fd)
{
	const int on = 1;
	const int idle_s = 30;

	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
}

static int listen_at(const struct addrinfo *address)
{
	const int on = 1;
	int fd = open_socket(address);
	int rc;

	if (fd < 0)
		return fd;
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	rc = bind(fd, address->ai_addr, address->ai_addrlen);
	if (!rc)
		rc = listen(fd, BACKLOG);
	if (!rc)
		return fd;
	rc = -errno;
	wp_net_close(fd);
	return rc;
}

int wp_net_listen(const char *where, struct wp_err *err)
{
	struct addrinfo *found = NULL;
	int rc = look_up(where, true, &found, err);
	int fd = -EADDRNOTAVAIL;

	if (rc)
		return rc;
	for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
		fd = listen_at(at);
	freeaddrinfo(found);
	if (fd >= 0)
		return fd;
	(void)wp_fail(err, WP_E_SYS, -fd, "could not listen at \"%s\"", where);
	wp_err_hint(err, "Use an address of this host and a port that is free.");
	return -WP_E_SYS;
}

static int finish_connect(int fd, int64_t timeout_ns)
{
	int sys_errno = 0;
	socklen_t length = sizeof(sys_errno);
	int ready = wp_poll_one(fd, WP_POLL_WRITE, timeout_ns);

	if (ready <= 0)
		return ready < 0 ? ready : -ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &sys_errno, &length) < 0)
		return -errno;
	return -sys_errno;
}

static int connect_to(const struct addrinfo *address, int64_t timeout_ns)
{
	int fd = open_socket(address);
	int rc;

	if (fd < 0)
		return fd;
	tune(fd);
	rc = connect(fd, address->ai_addr, address->ai_addrlen) < 0 ? -errno : 0;
	if (rc == -EINPROGRESS)
		rc = finish_connect(fd, timeout_ns);
	if (!rc)
		return fd;
	wp_net_close(fd);
	return rc;
}

int wp_net_connect(const char *where, int64_t timeout_ns, struct wp_err *err)
{
	struct addrinfo *found = NULL;
	int rc = look_up(where, false, &found, err);
	int fd = -EADDRNOTAVAIL;

	if (rc)
		return rc;
	for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
		fd = connect_to(at, timeout_ns);
	freeaddrinfo(found);
	if (fd >= 0)
		return fd;
	(void)wp_fail(err, WP_E_SYS, -fd, "could not connect to \"%s\"", where);
	wp_err_hint(err, "Look whether the witness runs there, and whether a firewall is between.");
	return -WP_E_SYS;
}

int wp_net_accept(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return -errno;
	tune(fd);
	return fd;
}

int64_t wp_net_receive(int socket, void *buffer, size_t length)
{
	ssize_t got;

	do
		got = recv(socket, buffer, length, 0);
	while (got < 0 && errno == EINTR);
	return got < 0 ? -errno : (int64_t)got;
}

int64_t wp_net_send(int socket, const void *buffer, size_t length)
{
	ssize_t sent;

	do
		sent = send(socket, buffer, length, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : (int64_t)sent;
}

void wp_net_close(int socket)
{
	if (socket >= 0)
		(void)close(socket); /* what matters was acknowledged by the other side's words */
}

const char *wp_net_name(int socket, bool is_peer, char out[WP_NET_NAME_BYTES])
{
	struct sockaddr_storage address = { 0 };
	struct sockaddr *any = (struct sockaddr *)&address;
	socklen_t length = sizeof(address);
	char host[64];
	char port[8];
	int rc = is_peer ? getpeername(socket, any, &length) : getsockname(socket, any, &length);

	if (rc < 0 || getnameinfo(any, length, host, sizeof(host), port, sizeof(port),
			      NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		(void)snprintf(out, WP_NET_NAME_BYTES, "unknown");
	else
		(void)snprintf(out, WP_NET_NAME_BYTES, strchr(host, ':') ? "[%s]:%s" : "%s:%s",
			host, port);
	return out;
}
