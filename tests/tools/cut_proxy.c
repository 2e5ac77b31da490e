/* SPDX-License-Identifier: PostgreSQL */
/*
 * cut_proxy.c - a Unix socket in front of another one, whose connections can be cut.
 *
 *   cut_proxy LISTEN TARGET
 *
 * Each connection is a process of its own, a child in the order of their connecting: SIGKILL for it
 * closes both sockets, SIGSTOP makes it a network that passes nothing on. Ends with its parent.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void check(int rc, const char *call)
{
	if (rc >= 0)
		return;
	perror(call);
	exit(1);
}

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(address.sun_path)) {
		fprintf(stderr, "cut_proxy: \"%s\" is too long\n", path);
		exit(1);
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	return address;
}

/* What is there of from goes to to; false at an end. */
static int pass(int from, int to)
{
	char bytes[65536];
	ssize_t got = read(from, bytes, sizeof(bytes));
	ssize_t done = 0;

	if (got <= 0)
		return 0;
	while (done < got) {
		ssize_t put = write(to, bytes + done, (size_t)(got - done));

		if (put < 0)
			return 0;
		done += put;
	}
	return 1;
}

static void serve(int client, const struct sockaddr_un *target)
{
	int server = socket(AF_UNIX, SOCK_STREAM, 0);
	struct pollfd fds[2] = { { .fd = client, .events = POLLIN },
		{ .fd = server, .events = POLLIN } };

	check(server, "socket");
	check(prctl(PR_SET_PDEATHSIG, SIGKILL), "prctl");
	check(connect(server, (const struct sockaddr *)target, sizeof(*target)), "connect");
	while (poll(fds, 2, -1) > 0) {
		if (fds[0].revents && !pass(client, server))
			break;
		if (fds[1].revents && !pass(server, client))
			break;
	}
	exit(0);
}

int main(int argc, char **argv)
{
	struct sockaddr_un own;
	struct sockaddr_un target;
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);

	if (argc != 3) {
		fprintf(stderr, "usage: cut_proxy LISTEN TARGET\n");
		return 2;
	}
	own = address_of(argv[1]);
	target = address_of(argv[2]);
	check(listener, "socket");
	check(prctl(PR_SET_PDEATHSIG, SIGKILL), "prctl");
	(void)signal(SIGCHLD, SIG_IGN);
	(void)signal(SIGPIPE, SIG_IGN);
	check(bind(listener, (const struct sockaddr *)&own, sizeof(own)), "bind");
	check(listen(listener, 128), "listen");
	for (;;) {
		int client = accept(listener, NULL, NULL);
		pid_t child;

		if (client < 0 && errno == EINTR)
			continue;
		check(client, "accept");
		child = fork();
		check(child, "fork");
		if (child == 0) {
			close(listener);
			serve(client, &target);
		}
		close(client);
	}
}
