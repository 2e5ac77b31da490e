/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/socket_pair.h"

#include <sys/socket.h>
#include <unistd.h>

int wp_socket_pair_open(int ends[2], struct wp_err *err)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0)
		return 0;
	ends[0] = ends[1] = -1;
	return wp_fail(err, WP_E_SYS, errno, "could not make a pair of sockets");
}

void wp_socket_pair_close(int end)
{
	if (end >= 0)
		(void)close(end); /* holds no data that anybody needs */
}

int wp_socket_pair_send(int end, const void *message, size_t length)
{
	ssize_t sent;

	do
		sent = send(end, message, length, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	if (sent < 0)
		return -errno;
	return (size_t)sent == length ? 0 : -EMSGSIZE;
}

int64_t wp_socket_pair_receive(int end, void *message, size_t length)
{
	ssize_t received;

	do
		received = recv(end, message, length, 0);
	while (received < 0 && errno == EINTR);
	return received < 0 ? -errno : received;
}
