/* SPDX-License-Identifier: PostgreSQL */
/*
 * A witness and its peers over the loopback interface of one process; the witness is served by a
 * thread of its own.
 */
#include "fake_os.h"
#include "harness.h"
#include "walprobe/client.h"
#include "walprobe/mem.h"
#include "walprobe/net.h"
#include "walprobe/poller.h"
#include "walprobe/thread.h"
#include "walprobe/witness.h"

#include <stdatomic.h>

#define LONG_NS (20 * WP_NS_PER_S) /* nothing here takes so long; a test that waits it out fails */

struct server {
	const struct wp_os *os;
	const char *dir;
	char address[WP_NET_NAME_BYTES];
	struct wp_witness *witness;
	struct wp_thread thread;
	atomic_bool is_ending;
	atomic_int step_rc;
	struct wp_mutex mutex;
	char log[65536];
};

static const struct wp_key key = { .bytes = { 1, 2, 3 }, .length = 32 };
static const struct wp_key wrong_key = { .bytes = { 9 }, .length = 32 };

static void take_log(void *ctx, const char *kind, const char *text)
{
	struct server *server = ctx;
	size_t used;

	wp_mutex_lock(&server->mutex);
	used = strlen(server->log);
	(void)snprintf(server->log + used, sizeof(server->log) - used, "%s: %s\n", kind, text);
	wp_mutex_unlock(&server->mutex);
}

static bool has_logged(struct server *server, const char *text)
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

static void start(struct server *server, const struct wp_os *os, const char *dir, const char *where)
{
	struct wp_witness_options options = { .listen = where,
		.store = dir,
		.machine = "witness-machine",
		.log = take_log,
		.ctx = server };
	struct wp_err err = { 0 };

	memset(server, 0, sizeof(*server));
	server->os = os;
	server->dir = dir;
	wp_mutex_init(&server->mutex);
	if (wp_witness_open(&server->witness, os, &options, &key, &err) != 0)
		fail_msg("%s", err.message);
	(void)snprintf(server->address, sizeof(server->address), "%s",
		wp_witness_address(server->witness));
	assert_int_equal(wp_thread_start(&server->thread, serve, server, 0, NULL), 0);
}

static void stop(struct server *server)
{
	atomic_store(&server->is_ending, true);
	wp_thread_join(&server->thread);
	wp_witness_close(server->witness);
	server->witness = NULL;
}

/* The real system, whose disk can be told to fail while the witness is at work. */
static atomic_int write_errno;
static atomic_int sync_errno;

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

static const struct wp_os *failing_os(void)
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

static void wait_for(bool (*is_so)(void *argument), void *argument, const char *what)
{
	const struct wp_os *os = wp_os_linux();
	int64_t until_ns = wp_os_now_ns(os) + LONG_NS;

	while (!is_so(argument)) {
		if (wp_os_now_ns(os) > until_ns)
			fail_msg("waited in vain: %s", what);
		(void)wp_os_sleep_ns(os, 2 * WP_NS_PER_MS);
	}
}

/* a target */
struct target {
	struct wp_manifest manifest;
	struct wp_cycle_start start;
	char where[WP_NET_NAME_BYTES];
	struct wp_client *client;
	uint64_t ticket;
};

static void make_target(struct target *target, uint8_t number)
{
	memset(target, 0, sizeof(*target));
	target->manifest = (struct wp_manifest){ .page_bytes = 8192, .slots = 64, .writers = 2 };
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

static int connect_with(struct target *target, const struct server *server,
	const struct wp_key *its_key, struct wp_err *err)
{
	const struct wp_client_options options = { .where = target->where,
		.key = its_key,
		.manifest = &target->manifest,
		.start = &target->start };

	memcpy(target->where, server->address, sizeof(target->where));
	return wp_client_start(&target->client, wp_os_linux(), &options, err);
}

static void connect_target(struct target *target, const struct server *server)
{
	struct wp_err err = { 0 };

	if (connect_with(target, server, &key, &err) != 0)
		fail_msg("%s", err.message);
}

static void say_segment(struct target *target, uint32_t segno)
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

static bool is_durable(void *argument)
{
	struct target *target = argument;

	return wp_client_is_durable(target->client, target->ticket);
}

static bool is_armed(void *argument)
{
	return wp_client_is_armed(((struct target *)argument)->client);
}

static bool is_blind(void *argument)
{
	return wp_client_is_blind(((struct target *)argument)->client);
}

static bool sees_again(void *argument)
{
	return !is_blind(argument);
}

static void ask(
	const struct server *server, const struct target *target, struct wp_testimony *answer)
{
	struct wp_err err = { 0 };

	if (wp_client_ask(wp_os_linux(), server->address, &key, target->manifest.run, "", "",
		    answer, &err) != 0)
		fail_msg("%s", err.message);
}

/* What the witness knows must be what was acknowledged, no less after an answer. */
static void expect_acked(
	const struct server *server, const struct target *target, uint64_t first, uint64_t second)
{
	struct wp_testimony answer;

	ask(server, target, &answer);
	assert_int_equal(answer.ledger.count, 1);
	assert_int_equal(answer.ledger.runs[0]->acked[0], first);
	assert_int_equal(answer.ledger.runs[0]->acked[1], second);
	wp_testimony_release(&answer);
}

static void a_run_is_witnessed_and_told_of(void **state)
{
	const char *dir = scratch_dir();
	struct wp_testimony answer;
	struct server server;
	struct target target;

	(void)state;
	start(&server, wp_os_linux(), dir, "127.0.0.1:0");
	make_target(&target, 1);
	connect_target(&target, &server);
	assert_string_equal(wp_client_witness_machine(target.client), "witness-machine");
	say_segment(&target, 1);
	wp_client_acked(target.client, 0, 5);
	wait_for(is_durable, &target, "segment");
	assert_false(is_armed(&target));
	wp_client_acked(target.client, 1, 3);
	wait_for(is_armed, &target, "armed");
	expect_acked(&server, &target, 5, 3);
	ask(&server, &target, &answer);
	assert_true(answer.is_live);
	assert_int_equal(answer.ledger.runs[0]->segment_count, 1);
	wp_testimony_release(&answer);
	assert_true(wp_client_end(target.client, LONG_NS));
	stop(&server);
	scratch_dir_remove(dir);
}

static void a_run_is_found_by_machine_and_path(void **state)
{
	const char *dir = scratch_dir();
	struct wp_testimony answer;
	struct server server;
	struct target target;

	(void)state;
	start(&server, wp_os_linux(), dir, "127.0.0.1:0");
	make_target(&target, 7);
	connect_target(&target, &server);
	assert_int_equal(wp_client_ask(wp_os_linux(), server.address, &key, NULL, "m7", "/srv/7",
				 &answer, NULL),
		0);
	assert_int_equal(answer.ledger.count, 1);
	wp_testimony_release(&answer);
	assert_int_equal(wp_client_ask(wp_os_linux(), server.address, &key, NULL, "m7", "/other",
				 &answer, NULL),
		0);
	assert_int_equal(answer.ledger.count, 0);
	wp_testimony_release(&answer);
	assert_true(wp_client_end(target.client, LONG_NS));
	stop(&server);
	scratch_dir_remove(dir);
}

static void refusals_are_told_and_logged(void **state)
{
	const char *dir = scratch_dir();
	struct server server;
	struct target target;
	struct target other;
	struct wp_err err = { 0 };

	(void)state;
	start(&server, wp_os_linux(), dir, "127.0.0.1:0");
	make_target(&target, 1);
	assert_int_equal(connect_with(&target, &server, &wrong_key, &err), -WP_E_SERVER);
	assert_non_null(strstr(err.message, "wrong key"));
	assert_true(has_logged(&server, "refused: a wrong key"));
	connect_target(&target, &server);
	make_target(&other, 1);
	assert_int_equal(connect_with(&other, &server, &key, &err), -WP_E_SERVER);
	assert_true(has_logged(&server, "refused: a second session of a run"));
	assert_true(wp_client_end(target.client, LONG_NS));
	make_target(&other, 1);
	other.manifest.slots = 128;
	assert_int_equal(connect_with(&other, &server, &key, &err), -WP_E_SERVER);
	assert_true(has_logged(&server, "refused: another manifest"));
	make_target(&other, 1);
	other.start.instance[3] = 77;
	assert_int_equal(connect_with(&other, &server, &key, &err), -WP_E_SERVER);
	assert_true(has_logged(&server, "refused: a cycle that another process has begun"));
	stop(&server);
	scratch_dir_remove(dir);
}

static int raw_peer(const struct server *server)
{
	int fd = wp_net_connect(server->address, LONG_NS, NULL);

	assert_true(fd >= 0);
	return fd;
}

struct waiting {
	struct server *server;
	const char *text;
};

static bool logged(void *argument)
{
	struct waiting *waiting = argument;

	return has_logged(waiting->server, waiting->text);
}

static void peers_that_misbehave_harm_no_other(void **state)
{
	static const uint8_t oversized[4] = { 0xff, 0xff, 0xff, 0x7f };
	static const uint8_t malformed[4] = { 1, 0, 0, 0 };
	const char *dir = scratch_dir();
	struct waiting waiting;
	struct server server;
	struct target target;
	uint8_t garbage[4096];
	int silent;
	int half;
	int fd;

	(void)state;
	start(&server, wp_os_linux(), dir, "127.0.0.1:0");
	make_target(&target, 1);
	connect_target(&target, &server);
	waiting.server = &server;
	silent = raw_peer(&server);
	half = raw_peer(&server);
	assert_int_equal(wp_net_send(half, "\x40\x00", 2), 2);
	fd = raw_peer(&server);
	assert_int_equal(wp_net_send(fd, oversized, 4), 4);
	waiting.text = "refused: an oversized frame";
	wait_for(logged, &waiting, waiting.text);
	wp_net_close(fd);
	fd = raw_peer(&server);
	assert_int_equal(wp_net_send(fd, malformed, 4), 4);
	waiting.text = "refused: a malformed frame";
	wait_for(logged, &waiting, waiting.text);
	wp_net_close(fd);
	for (int i = 0; i < 20; i++) {
		memset(garbage, i, sizeof(garbage));
		fd = raw_peer(&server);
		(void)wp_net_send(fd, garbage, sizeof(garbage)); /* it may hang up meanwhile */
		wp_net_close(fd);
	}
	say_segment(&target, 1);
	wp_client_acked(target.client, 0, 9);
	wp_client_acked(target.client, 1, 9);
	wait_for(is_durable, &target, "segment");
	wait_for(is_armed, &target, "armed");
	assert_false(is_blind(&target));
	expect_acked(&server, &target, 9, 9);
	wp_net_close(half);
	wp_net_close(silent);
	assert_true(wp_client_end(target.client, LONG_NS));
	stop(&server);
	scratch_dir_remove(dir);
}

static void nothing_acknowledged_is_lost_over_a_restart(void **state)
{
	const char *dir = scratch_dir();
	char where[WP_NET_NAME_BYTES];
	struct server server;
	struct target target;

	(void)state;
	start(&server, wp_os_linux(), dir, "127.0.0.1:0");
	memcpy(where, server.address, sizeof(where));
	make_target(&target, 1);
	connect_target(&target, &server);
	say_segment(&target, 1);
	wp_client_acked(target.client, 0, 5);
	wp_client_acked(target.client, 1, 6);
	wait_for(is_durable, &target, "segment");
	stop(&server);
	wait_for(is_blind, &target, "blind");
	say_segment(&target, 2);
	wp_client_acked(target.client, 0, 50);
	start(&server, wp_os_linux(), dir, where);
	wait_for(is_durable, &target, "segment said in the meantime");
	wait_for(sees_again, &target, "sight");
	assert_true(wp_client_blind_ns(target.client) > 0);
	wait_for(is_armed, &target, "armed");
	expect_acked(&server, &target, 50, 6);
	assert_true(wp_client_end(target.client, LONG_NS));
	stop(&server);
	scratch_dir_remove(dir);
}

static void a_full_disk_makes_targets_pause_and_loses_nothing(void **state)
{
	const char *dir = scratch_dir();
	struct server server;
	struct target target;

	(void)state;
	start(&server, failing_os(), dir, "127.0.0.1:0");
	make_target(&target, 1);
	connect_target(&target, &server);
	atomic_store(&write_errno, ENOSPC);
	say_segment(&target, 1);
	wp_client_acked(target.client, 0, 5);
	wp_client_acked(target.client, 1, 6);
	wait_for(is_blind, &target, "blind");
	assert_false(is_durable(&target));
	assert_true(has_logged(&server, "nothing is acknowledged"));
	atomic_store(&write_errno, 0);
	wait_for(is_durable, &target, "space");
	wait_for(is_armed, &target, "armed");
	expect_acked(&server, &target, 5, 6);
	assert_true(wp_client_end(target.client, LONG_NS));
	stop(&server);
	scratch_dir_remove(dir);
}

static void a_witness_whose_sync_fails_ends(void **state)
{
	const char *dir = scratch_dir();
	struct server server;
	struct target target;

	(void)state;
	start(&server, failing_os(), dir, "127.0.0.1:0");
	make_target(&target, 1);
	connect_target(&target, &server);
	atomic_store(&sync_errno, EIO);
	say_segment(&target, 1);
	wp_thread_join(&server.thread);
	assert_int_equal(atomic_load(&server.step_rc), -WP_E_SYS);
	assert_false(is_durable(&target));
	assert_false(wp_client_end(target.client, 10 * WP_NS_PER_MS));
	stop(&server);
	scratch_dir_remove(dir);
}

static bool is_cut(void *argument)
{
	struct waiting *waiting = argument;

	return has_logged(waiting->server, "silent, with 40 records");
}

static void silence_is_noted_as_a_candidate_for_a_cut(void **state)
{
	const char *dir = scratch_dir();
	struct wp_testimony answer;
	struct waiting waiting;
	struct server server;
	struct target target;

	(void)state;
	start(&server, wp_os_linux(), dir, "127.0.0.1:0");
	waiting.server = &server;
	make_target(&target, 1);
	connect_target(&target, &server);
	say_segment(&target, 1);
	wait_for(is_durable, &target, "segment");
	wp_client_acked(target.client, 0, 30);
	wp_client_acked(target.client, 1, 10);
	wait_for(is_armed, &target, "armed");
	assert_true(wp_client_end(target.client, LONG_NS));
	wait_for(is_cut, &waiting, "silence");
	ask(&server, &target, &answer);
	assert_true(answer.ledger.runs[0]->is_cut);
	assert_false(answer.is_live);
	assert_int_equal(answer.ledger.runs[0]->exposures[2], 40);
	wp_testimony_release(&answer);
	stop(&server);
	scratch_dir_remove(dir);
}

static void many_targets_are_served_at_once(void **state)
{
	enum {
		COUNT = 40
	};
	struct target *targets = wp_xcalloc(COUNT, sizeof(*targets));
	const char *dir = scratch_dir();
	struct server server;

	(void)state;
	start(&server, wp_os_linux(), dir, "127.0.0.1:0");
	for (uint8_t i = 0; i < COUNT; i++) {
		make_target(&targets[i], (uint8_t)(i + 1));
		connect_target(&targets[i], &server);
		say_segment(&targets[i], 1);
		wp_client_acked(targets[i].client, 0, (uint64_t)i + 1);
		wp_client_acked(targets[i].client, 1, (uint64_t)i + 2);
	}
	for (uint8_t i = 0; i < COUNT; i++) {
		wait_for(is_durable, &targets[i], "segment");
		wait_for(is_armed, &targets[i], "armed");
		expect_acked(&server, &targets[i], (uint64_t)i + 1, (uint64_t)i + 2);
		assert_true(wp_client_end(targets[i].client, LONG_NS));
	}
	stop(&server);
	free(targets);
	scratch_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_run_is_witnessed_and_told_of),
		cmocka_unit_test(a_run_is_found_by_machine_and_path),
		cmocka_unit_test(refusals_are_told_and_logged),
		cmocka_unit_test(peers_that_misbehave_harm_no_other),
		cmocka_unit_test(nothing_acknowledged_is_lost_over_a_restart),
		cmocka_unit_test(a_full_disk_makes_targets_pause_and_loses_nothing),
		cmocka_unit_test(a_witness_whose_sync_fails_ends),
		cmocka_unit_test(silence_is_noted_as_a_candidate_for_a_cut),
		cmocka_unit_test(many_targets_are_served_at_once),
	};

	return cmocka_run_group_tests_name("witness", tests, NULL, NULL);
}
