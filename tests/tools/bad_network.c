/* SPDX-License-Identifier: PostgreSQL */
/*
 * bad_network.c - a network between targets and a witness that loses, delays, repeats, reorders and
 * damages frames, stalls, and hangs up: for tests/integration/witness_storm.sh.
 *
 *   bad_network HOST:PORT SEED
 *
 * Prints the address at which it listens. What is under way when one side closes still arrives at
 * the other, perhaps after the target has connected anew. SIGUSR1 ends the bad weather, SIGTERM the
 * program, which then prints how often it did what.
 */
#include "walprobe/mem.h"
#include "walprobe/net.h"
#include "walprobe/os.h"
#include "walprobe/random.h"

#include <poll.h>
#include <signal.h>

#define CONNECTIONS 64
#define BUFFER_BYTES 131072

enum trick {
	TRICK_LOSE,
	TRICK_REPEAT,
	TRICK_REORDER,
	TRICK_DAMAGE,
	TRICK_DELAY,
	TRICK_STALL,
	TRICK_HANG_UP,
	TRICK_COUNT,
};

static const char *const trick_names[] = { "lost", "repeated", "reordered", "damaged", "delayed",
	"stalled", "hung_up" };
/* one frame in so many */
static const uint64_t odds[] = { 60, 60, 60, 120, 10, 150, 100 };

struct packet {
	struct packet *next;
	int64_t due_ns;
	size_t length;
	uint8_t bytes[];
};

/* one direction of a connection */
struct lane {
	int from;
	int to;
	bool is_over; /* nothing more comes */
	uint8_t *bytes;
	size_t used;
	size_t frames;
	int64_t last_due_ns;
	struct packet *first; /* by due time */
};

struct connection {
	struct lane lanes[2];
	bool is_open;
};

static struct connection connections[CONNECTIONS];
static struct wp_random weather;
static size_t counts[TRICK_COUNT];
static volatile sig_atomic_t is_calm;
static volatile sig_atomic_t is_ending;

static void on_signal(int number)
{
	if (number == SIGUSR1)
		is_calm = 1;
	else
		is_ending = 1;
}

static int64_t now_ns(void)
{
	return wp_os_now_ns(wp_os_linux());
}

static bool plays(const struct lane *lane, enum trick trick)
{
	/* Without a start in peace no run would ever begin. */
	if (is_calm || lane->frames < 6 || wp_random_below(&weather, odds[trick]) != 0)
		return false;
	counts[trick]++;
	return true;
}

static void put_packet(struct lane *lane, const uint8_t *bytes, size_t length, int64_t due_ns)
{
	struct packet *packet = wp_xcalloc(1, sizeof(*packet) + length);
	struct packet **place = &lane->first;

	packet->due_ns = due_ns;
	packet->length = length;
	memcpy(packet->bytes, bytes, length);
	while (*place && (*place)->due_ns <= due_ns)
		place = &(*place)->next;
	packet->next = *place;
	*place = packet;
}

static int64_t some_ms(uint64_t least, uint64_t most)
{
	return (int64_t)(least + wp_random_below(&weather, most - least + 1)) * WP_NS_PER_MS;
}

static void take_frame(struct lane *lane, uint8_t *bytes, size_t length)
{
	int64_t due_ns = now_ns();

	lane->frames++;
	if (plays(lane, TRICK_LOSE))
		return;
	if (plays(lane, TRICK_DELAY))
		due_ns += some_ms(1, 400);
	if (plays(lane, TRICK_STALL))
		due_ns += some_ms(1000, 3000);
	if (due_ns < lane->last_due_ns)
		due_ns = lane->last_due_ns;
	if (plays(lane, TRICK_REORDER))
		due_ns += some_ms(20, 200);
	else
		lane->last_due_ns = due_ns;
	if (plays(lane, TRICK_DAMAGE))
		bytes[wp_random_below(&weather, length)] ^=
			(uint8_t)(1U << wp_random_below(&weather, 8));
	put_packet(lane, bytes, length, due_ns);
	if (plays(lane, TRICK_REPEAT))
		put_packet(lane, bytes, length, due_ns + some_ms(0, 300));
	if (plays(lane, TRICK_HANG_UP))
		lane->is_over = true;
}

static void take_frames(struct lane *lane)
{
	size_t at = 0;

	while (lane->used - at >= 4) {
		size_t length = 4 + (lane->bytes[at] | (size_t)lane->bytes[at + 1] << 8 |
					    (size_t)lane->bytes[at + 2] << 16);

		if (length > lane->used - at)
			break;
		take_frame(lane, lane->bytes + at, length);
		at += length;
	}
	lane->used -= at;
	memmove(lane->bytes, lane->bytes + at, lane->used);
}

static void receive(struct lane *lane)
{
	int64_t got =
		wp_net_receive(lane->from, lane->bytes + lane->used, BUFFER_BYTES - lane->used);

	if (got == -EAGAIN)
		return;
	if (got <= 0)
		lane->is_over = true;
	else
		lane->used += (size_t)got;
	take_frames(lane);
}

static void deliver(struct lane *lane)
{
	while (lane->first && lane->first->due_ns <= now_ns()) {
		struct packet *packet = lane->first;
		int64_t sent = wp_net_send(lane->to, packet->bytes, packet->length);

		if (sent == -EAGAIN)
			return;
		lane->first = packet->next;
		if (sent < 0)
			lane->is_over = true;
		else if ((size_t)sent < packet->length)
			put_packet(lane, packet->bytes + sent, packet->length - (size_t)sent, 0);
		free(packet);
	}
}

static void look_for_end(struct connection *connection)
{
	struct lane *lanes = connection->lanes;

	/* The end of one direction is that of both, once all under way towards the witness is there. */
	if ((!lanes[0].is_over && !lanes[1].is_over) || lanes[0].first)
		return;
	for (size_t i = 0; i < 2; i++) {
		wp_net_close(lanes[i].from);
		free(lanes[i].bytes);
		while (lanes[i].first) {
			struct packet *packet = lanes[i].first;

			lanes[i].first = packet->next;
			free(packet);
		}
	}
	memset(connection, 0, sizeof(*connection));
}

static void accept_one(int listener, const char *where)
{
	int fd = wp_net_accept(listener);
	int other;

	if (fd < 0)
		return;
	other = wp_net_connect(where, WP_NS_PER_S, NULL);
	for (size_t i = 0; other >= 0 && i < CONNECTIONS; i++) {
		struct connection *connection = &connections[i];

		if (connection->is_open)
			continue;
		connection->is_open = true;
		connection->lanes[0] = (struct lane){ .from = fd, .to = other };
		connection->lanes[1] = (struct lane){ .from = other, .to = fd };
		for (size_t j = 0; j < 2; j++)
			connection->lanes[j].bytes = wp_xcalloc(1, BUFFER_BYTES);
		return;
	}
	wp_net_close(fd);
	wp_net_close(other);
}

static void turn(int listener, const char *where)
{
	struct pollfd ready[1 + 2 * CONNECTIONS] = { { .fd = listener, .events = POLLIN } };
	struct lane *owners[1 + 2 * CONNECTIONS] = { NULL };
	nfds_t count = 1;

	for (size_t i = 0; i < CONNECTIONS; i++) {
		for (size_t j = 0; connections[i].is_open && j < 2; j++) {
			struct lane *lane = &connections[i].lanes[j];

			deliver(lane);
			if (lane->is_over)
				continue;
			owners[count] = lane;
			ready[count++] = (struct pollfd){ .fd = lane->from, .events = POLLIN };
		}
		if (connections[i].is_open)
			look_for_end(&connections[i]);
	}
	if (poll(ready, count, 1) <= 0)
		return;
	for (nfds_t i = 1; i < count; i++)
		if (ready[i].revents && owners[i]->bytes)
			receive(owners[i]);
	if (ready[0].revents)
		accept_one(listener, where);
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = on_signal };
	char name[WP_NET_NAME_BYTES];
	int listener;

	if (argc != 3)
		return 2;
	wp_random_init(&weather, strtoull(argv[2], NULL, 10));
	if (sigaction(SIGUSR1, &action, NULL) != 0 || sigaction(SIGTERM, &action, NULL) != 0)
		return 3;
	listener = wp_net_listen("127.0.0.1:0", NULL);
	if (listener < 0)
		return 3;
	puts(wp_net_name(listener, false, name));
	(void)fflush(stdout);
	while (!is_ending)
		turn(listener, argv[1]);
	for (size_t i = 0; i < TRICK_COUNT; i++)
		printf("%s=%zu ", trick_names[i], counts[i]);
	puts("");
	return fflush(stdout) == 0 ? 0 : 3;
}
