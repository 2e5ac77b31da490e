/* SPDX-License-Identifier: PostgreSQL */
/*
 * many_targets.c - many targets at once on one witness, without disks, for
 * tests/integration/witness_many.sh.
 *
 *   many_targets HOST:PORT KEYFILE COUNT MILLISECONDS
 *
 * Each target has four writers, announces segments and gives them up. Prints "ready" when all are
 * connected, works for the time given, and prints "durable" when the witness has all of it. Then it
 * waits for a line on its standard input, asks the witness for each run, and prints
 * "targets=N acknowledged=N lost=N".
 */
#include "walprobe/client.h"
#include "walprobe/mem.h"
#include "walprobe/thread.h"

#define WRITERS 4
#define SLOTS 64
#define LIVE 8
#define TURN_NS (10 * WP_NS_PER_MS)
#define LONG_NS (60 * WP_NS_PER_S)

struct target {
	struct wp_client *client;
	struct wp_manifest manifest;
	struct wp_cycle_start start;
	uint64_t seq;
	uint32_t segno;
	uint64_t ticket;
	struct wp_thread thread;
};

static struct wp_access access_to;

static _Noreturn void die(const char *what, const struct wp_err *err)
{
	(void)fprintf(stderr, "%s: %s\n", what, err->message);
	exit(3);
}

/* Each on a thread: every connection waits until its beginning is durable. */
static void connect_target(void *argument)
{
	struct target *target = argument;
	uint8_t number;
	struct wp_client_options options = {
		.access = access_to, .manifest = &target->manifest, .start = &target->start
	};
	struct wp_err err = { 0 };

	target->manifest = (struct wp_manifest){ .page_bytes = 8192,
		.slots = SLOTS,
		.batch = 1,
		.writers = WRITERS,
		.method = "fdatasync" };
	wp_secret_fill(target->manifest.run, sizeof(target->manifest.run));
	number = target->manifest.run[0];
	(void)snprintf(target->manifest.host, sizeof(target->manifest.host), "host%d", number);
	(void)snprintf(target->manifest.path, sizeof(target->manifest.path), "/srv/%d", number);
	target->start = (struct wp_cycle_start){ .cycle = 1, .boot_id = "boot" };
	if (wp_client_start(&target->client, wp_os_linux(), &options, &err) != 0)
		die("connect", &err);
}

static void say_segment(struct target *target, uint16_t writer, uint32_t segno, bool is_drop)
{
	const struct wp_ledger_segment segment = { .writer = writer,
		.segno = segno,
		.physical = segno,
		.generation = 1,
		.first_seq = (uint64_t)(segno - 1) * SLOTS + 1,
		.slots = SLOTS,
		.cycle = 1 };
	uint8_t bytes[128];
	struct wp_put put = { .bytes = bytes, .size = sizeof(bytes) };

	if (is_drop)
		wp_entry_drop(&put, target->manifest.run, writer, segno);
	else
		wp_entry_segment(&put, target->manifest.run, &segment);
	target->ticket = wp_client_say(target->client, &put);
}

static void work(struct target *target)
{
	if (wp_client_is_blind(target->client))
		return;
	if (target->seq / SLOTS >= target->segno) {
		target->segno++;
		for (uint16_t i = 0; i < WRITERS; i++) {
			say_segment(target, i, target->segno, false);
			if (target->segno > LIVE)
				say_segment(target, i, target->segno - LIVE, true);
		}
	}
	target->seq += 5;
	for (uint16_t i = 0; i < WRITERS; i++)
		wp_client_acked(target->client, i, target->seq);
}

static void wait_durable(const struct target *target)
{
	int64_t until_ns = wp_os_now_ns(wp_os_linux()) + LONG_NS;

	while (!wp_client_is_durable(target->client, target->ticket)) {
		if (wp_os_now_ns(wp_os_linux()) > until_ns) {
			(void)fputs("not durable in time\n", stderr);
			exit(1);
		}
		(void)wp_os_sleep_ns(wp_os_linux(), TURN_NS / 2);
	}
}

/* What is acknowledged goes out behind the words of the same turn: the second word proves it. */
static void settle(struct target *targets, size_t count)
{
	for (int turn = 0; turn < 2; turn++) {
		for (size_t i = 0; i < count; i++)
			say_segment(&targets[i], 0, targets[i].segno + 1, false);
		for (size_t i = 0; i < count; i++)
			wait_durable(&targets[i]);
	}
}

static bool is_known(const struct target *target)
{
	struct wp_testimony known;
	struct wp_err err = { 0 };
	bool is_all;

	if (wp_client_ask(wp_os_linux(), &access_to, target->manifest.run, "", "", &known, &err) !=
		0)
		die("ask", &err);
	is_all = known.ledger.count == 1;
	for (size_t i = 0; is_all && i < WRITERS; i++)
		is_all = known.ledger.runs[0]->acked[i] == target->seq;
	wp_testimony_release(&known);
	return is_all;
}

int main(int argc, char **argv)
{
	static struct wp_key key;
	const struct wp_os *os = wp_os_linux();
	struct wp_err err = { 0 };
	struct target *targets;
	size_t count = argc == 5 ? strtoul(argv[3], NULL, 10) : 0;
	int64_t until_ns;
	uint64_t total = 0;
	size_t lost = 0;

	if (!count)
		return 2;
	if (wp_key_load(os, argv[2], &key, &err) != 0)
		die("key", &err);
	access_to = (struct wp_access){ .where = argv[1], .key = &key };
	targets = wp_xcalloc(count, sizeof(*targets));
	for (size_t i = 0; i < count; i++)
		if (wp_thread_start(&targets[i].thread, connect_target, &targets[i], 0, &err) != 0)
			die("thread", &err);
	for (size_t i = 0; i < count; i++)
		wp_thread_join(&targets[i].thread);
	(void)puts("ready");
	(void)fflush(stdout);
	until_ns = wp_os_now_ns(os) + strtol(argv[4], NULL, 10) * WP_NS_PER_MS;
	while (wp_os_now_ns(os) < until_ns) {
		for (size_t i = 0; i < count; i++)
			work(&targets[i]);
		(void)wp_os_sleep_ns(os, TURN_NS);
	}
	settle(targets, count);
	(void)puts("durable");
	(void)fflush(stdout);
	(void)getchar();
	for (size_t i = 0; i < count; i++) {
		total += WRITERS * targets[i].seq;
		lost += !is_known(&targets[i]);
	}
	printf("targets=%zu acknowledged=%" PRIu64 " lost=%zu\n", count, total, lost);
	return lost ? 1 : 0;
}
