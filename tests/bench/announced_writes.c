/* SPDX-License-Identifier: PostgreSQL */
/*
 * announced_writes - the protocol of diskchecker.pl without its perl: before each write the page is
 * announced to the witness and its "ok" is waited for; then the page is written and synced, and
 * that is told without waiting.
 *
 *   announced_writes listen             a witness of that protocol; prints its address
 *   announced_writes HOST:PORT DIR MS   writes for so long; prints acknowledged pages per second
 *
 * As diskchecker.pl does: one writer, pages of 16 KiB at random places of a file that grows
 * sparsely (500 MB), fsync after each.
 */
#include "walprobe/mem.h"
#include "walprobe/net.h"
#include "walprobe/os.h"
#include "walprobe/poller.h"
#include "walprobe/random.h"

#include <unistd.h>

#define PAGE_BYTES 16384
#define PAGES (500 * 64)
#define MESSAGE_BYTES 32
#define LONG_NS (10 * WP_NS_PER_S)

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(3);
}

/* A message of fixed length; false at the end. */
static bool receive(int socket, char *message)
{
	size_t got = 0;

	while (got < MESSAGE_BYTES) {
		int64_t more = wp_net_receive(socket, message + got, MESSAGE_BYTES - got);

		if (more == -EAGAIN)
			more = wp_poll_one(socket, WP_POLL_READ, LONG_NS) > 0 ? -EAGAIN : 0;
		if (more == -EAGAIN)
			continue;
		if (more <= 0)
			return false;
		got += (size_t)more;
	}
	return true;
}

static void send_message(int socket, const char *word, uint64_t page, uint64_t stamp)
{
	char message[MESSAGE_BYTES];

	memset(message, 0, sizeof(message));
	(void)snprintf(message, sizeof(message), "%s %" PRIu64 " %08" PRIx64, word, page, stamp);
	if (wp_net_send(socket, message, sizeof(message)) != MESSAGE_BYTES)
		die("send");
}

static int listen_for_one(void)
{
	static uint64_t stamps[PAGES];
	char name[WP_NET_NAME_BYTES];
	int listener = wp_net_listen("127.0.0.1:0", NULL);

	if (listener < 0)
		die("listen");
	(void)puts(wp_net_name(listener, false, name));
	(void)fflush(stdout);
	for (;;) {
		char message[MESSAGE_BYTES];
		int peer;

		if (wp_poll_one(listener, WP_POLL_READ, -1) <= 0)
			continue;
		peer = wp_net_accept(listener);
		while (peer >= 0 && receive(peer, message)) {
			uint64_t page = strtoull(message + 5, NULL, 10) % PAGES;

			stamps[page]++;
			if (strncmp(message, "pre ", 4) == 0)
				send_message(peer, "ok", page, stamps[page]);
		}
		wp_net_close(peer);
	}
}

static void write_page(int socket, int fd, uint8_t *buffer, struct wp_random *random)
{
	uint64_t page = wp_random_below(random, PAGES);
	uint64_t stamp = wp_random_below(random, UINT32_MAX);
	char answer[MESSAGE_BYTES];

	send_message(socket, "pre ", page, stamp);
	if (!receive(socket, answer))
		die("receive");
	memset(buffer, (int)stamp, PAGE_BYTES);
	if (pwrite(fd, buffer, PAGE_BYTES, (off_t)page * PAGE_BYTES) != PAGE_BYTES)
		die("pwrite");
	if (fsync(fd) != 0)
		die("fsync");
	send_message(socket, "post", page, stamp);
}

static int write_for(const char *where, const char *dir, int64_t duration_ns)
{
	const struct wp_os *os = wp_os_linux();
	char *path = wp_xasprintf("%s/announced", dir);
	uint8_t *buffer = wp_xaligned(4096, PAGE_BYTES);
	int socket = wp_net_connect(where, LONG_NS, NULL);
	int fd = wp_os_open(os, path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	int64_t begin_ns = wp_os_now_ns(os);
	struct wp_random random;
	uint64_t count = 0;

	if (socket < 0 || fd < 0)
		die(path);
	wp_random_init(&random, (uint64_t)begin_ns);
	for (; wp_os_now_ns(os) - begin_ns < duration_ns; count++)
		write_page(socket, fd, buffer, &random);
	printf("%.1f\n", (double)count * 1e9 / (double)(wp_os_now_ns(os) - begin_ns));
	if (unlink(path) != 0)
		die("unlink");
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "listen") == 0)
		return listen_for_one();
	if (argc != 4)
		return 2;
	return write_for(argv[1], argv[2], strtol(argv[3], NULL, 10) * WP_NS_PER_MS);
}
