/* SPDX-License-Identifier: PostgreSQL */
#include "witness_server.h"
#include "harness.h"
#include "walprobe/mem.h"

const struct wp_cut_plan *cut_plan;
bool uses_tls;
const struct wp_key key = { .bytes = { 1, 2, 3 }, .length = 32 };
const struct wp_key wrong_key = { .bytes = { 9 }, .length = 32 };

static void take_log(void *ctx, const char *kind, const char *text)
{
	struct server *server = ctx;
	size_t used;

	wp_mutex_lock(&server->mutex);
	used = strlen(server->log);
	(void)snprintf(server->log + used, sizeof(server->log) - used, "%s: %s\n", kind, text);
	wp_mutex_unlock(&server->mutex);
}

bool has_logged(struct server *server, const char *text)
{
	bool is_there;

	wp_mutex_lock(&server->mutex);
	is_there = strstr(server->log, text) != NULL;
	wp_mutex_unlock(&server->mutex);
	return is_there;
}

static void serve(void *argument)
{
	struct server *server = argument;
	int rc = 0;

	while (!rc && !atomic_load(&server->is_ending))
		rc = wp_witness_step(server->witness, 5 * WP_NS_PER_MS, NULL);
	atomic_store(&server->step_rc, rc);
}

void start(struct server *server, const struct wp_os *os, const char *dir, const char *where)
{
	struct wp_witness_options options = { .listen = where,
		.store = dir,
		.machine = "witness-machine",
		.is_tls = uses_tls,
		.cuts = cut_plan,
		.log = take_log,
		.ctx = server };
	struct wp_err err = { 0 };

	memset(server, 0, sizeof(*server));
	server->os = os;
	server->dir = dir;
	server->is_tls = uses_tls;
	wp_mutex_init(&server->mutex);
	if (wp_witness_open(&server->witness, os, &options, &key, &err) != 0)
		fail_msg("%s", err.message);
	(void)snprintf(server->address, sizeof(server->address), "%s",
		wp_witness_address(server->witness));
	assert_int_equal(wp_thread_start(&server->thread, serve, server, 0, NULL), 0);
}

void stop(struct server *server)
{
	atomic_store(&server->is_ending, true);
	wp_thread_join(&server->thread);
	wp_witness_close(server->witness);
	server->witness = NULL;
}

/* The real system, whose disk can be told to fail while the witness is at work. */
atomic_int write_errno;
atomic_int sync_errno;

static int64_t failing_pwrite(void *ctx, int fd, const void *buffer, size_t length, int64_t offset)
{
	(void)ctx;
	if (atomic_load(&write_errno))
		return -atomic_load(&write_errno);
	return wp_os_pwrite(wp_os_linux(), fd, buffer, length, offset);
}

static int failing_fdatasync(void *ctx, int fd)
{
	(void)ctx;
	if (atomic_load(&sync_errno))
		return -atomic_load(&sync_errno);
	return wp_os_fdatasync(wp_os_linux(), fd);
}

const struct wp_os *failing_os(void)
{
	static struct wp_os_ops ops;
	static struct wp_os os;

	ops = *wp_os_linux()->ops;
	ops.pwrite = failing_pwrite;
	ops.fdatasync = failing_fdatasync;
	os = (struct wp_os){ .ops = &ops };
	atomic_store(&write_errno, 0);
	atomic_store(&sync_errno, 0);
	return &os;
}

void wait_for(bool (*is_so)(void *argument), void *argument, const char *what)
{
	const struct wp_os *os = wp_os_linux();
	int64_t until_ns = wp_os_now_ns(os) + LONG_NS;

	while (!is_so(argument)) {
		if (wp_os_now_ns(os) > until_ns)
			fail_msg("waited in vain: %s", what);
		(void)wp_os_sleep_ns(os, 2 * WP_NS_PER_MS);
	}
}

void make_target(struct target *target, uint8_t number)
{
	memset(target, 0, sizeof(*target));
	target->manifest =
		(struct wp_manifest){ .page_bytes = 8192, .slots = 64, .batch = 1, .writers = 2 };
	target->manifest.run[0] = number;
	target->manifest.run[15] = 1;
	(void)snprintf(target->manifest.machine, sizeof(target->manifest.machine), "m%d", number);
	(void)snprintf(target->manifest.path, sizeof(target->manifest.path), "/srv/%d", number);
	target->start = (struct wp_cycle_start){ .cycle = 1,
		.instance = { number },
		.boot_id = "boot",
		.power_cycles = -1,
		.unsafe_shutdowns = -1 };
}

int connect_with(struct target *target, const struct server *server, const struct wp_key *its_key,
	struct wp_err *err)
{
	const struct wp_client_options options = { .access = { target->where, its_key,
							   server->is_tls },
		.manifest = &target->manifest,
		.start = &target->start };

	memcpy(target->where, server->address, sizeof(target->where));
	return wp_client_start(&target->client, wp_os_linux(), &options, err);
}

void connect_target(struct target *target, const struct server *server)
{
	struct wp_err err = { 0 };

	if (connect_with(target, server, &key, &err) != 0)
		fail_msg("%s", err.message);
}

void say_segment(struct target *target, uint32_t segno)
{
	const struct wp_ledger_segment segment = { .segno = segno,
		.physical = segno,
		.slots = 64,
		.first_seq = (segno - 1) * 64 + 1,
		.cycle = 1 };
	uint8_t bytes[128];
	struct wp_put put = { .bytes = bytes, .size = sizeof(bytes) };

	wp_entry_segment(&put, target->manifest.run, &segment);
	target->ticket = wp_client_say(target->client, &put);
}

bool is_durable(void *argument)
{
	struct target *target = argument;

	return wp_client_is_durable(target->client, target->ticket);
}

bool is_armed(void *argument)
{
	return wp_client_is_armed(((struct target *)argument)->client);
}

bool is_blind(void *argument)
{
	return wp_client_is_blind(((struct target *)argument)->client);
}

bool sees_again(void *argument)
{
	return !is_blind(argument);
}

void ask(const struct server *server, const struct target *target, struct wp_testimony *answer)
{
	const struct wp_access access = { server->address, &key, server->is_tls };
	struct wp_err err = { 0 };

	if (wp_client_ask(wp_os_linux(), &access, target->manifest.run, "", "", answer, &err) != 0)
		fail_msg("%s", err.message);
}

/* What the witness knows must be what was acknowledged, no less after an answer. */
void expect_acked(
	const struct server *server, const struct target *target, uint64_t first, uint64_t second)
{
	struct wp_testimony answer;

	ask(server, target, &answer);
	assert_int_equal(answer.ledger.count, 1);
	assert_int_equal(answer.ledger.runs[0]->acked[0], first);
	assert_int_equal(answer.ledger.runs[0]->acked[1], second);
	wp_testimony_release(&answer);
}
