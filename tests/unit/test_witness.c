/* SPDX-License-Identifier: PostgreSQL */
/*
 * A witness and its peers over the loopback interface of one process; the witness is served by a
 * thread of its own.
 */
#include "fake_os.h"
#include "harness.h"
#include "walprobe/mem.h"
#include "witness_server.h"

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
	struct wp_access access = { NULL, &key, false };
	struct wp_testimony answer;
	struct server server;
	struct target target;

	(void)state;
	start(&server, wp_os_linux(), dir, "127.0.0.1:0");
	make_target(&target, 7);
	connect_target(&target, &server);
	access.where = server.address;
	assert_int_equal(
		wp_client_ask(wp_os_linux(), &access, NULL, "m7", "/srv/7", &answer, NULL), 0);
	assert_int_equal(answer.ledger.count, 1);
	wp_testimony_release(&answer);
	assert_int_equal(
		wp_client_ask(wp_os_linux(), &access, NULL, "m7", "/other", &answer, NULL), 0);
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

/* TLS tells its peer by itself, before the witness can write its line. */
static void expect_logged(struct server *server, const char *text)
{
	struct waiting waiting = { server, text };

	wait_for(logged, &waiting, text);
}

static void peers_that_misbehave_harm_no_other(void **state)
{
	static const uint8_t oversized[4] = { 0xff, 0xff, 0xff, 0x7f };
	static const uint8_t malformed[4] = { 1, 0, 0, 0 };
	const char *dir = scratch_dir();
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
	silent = raw_peer(&server);
	half = raw_peer(&server);
	assert_int_equal(wp_net_send(half, "\x40\x00", 2), 2);
	fd = raw_peer(&server);
	assert_int_equal(wp_net_send(fd, oversized, 4), 4);
	expect_logged(&server, "refused: an oversized frame");
	wp_net_close(fd);
	fd = raw_peer(&server);
	assert_int_equal(wp_net_send(fd, malformed, 4), 4);
	expect_logged(&server, "refused: a malformed frame");
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

	return has_logged(waiting->server, "hung up, with 40 records");
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

static int use_tls(void **state)
{
	(void)state;
	uses_tls = true;
	return 0;
}

static void who_speaks_tls_and_who_does_not_do_not_understand_each_other(void **state)
{
	const char *dir = scratch_dir();
	struct server server;
	struct target target;
	struct wp_err err = { 0 };

	(void)state;
	start(&server, wp_os_linux(), dir, "127.0.0.1:0");
	make_target(&target, 1);
	server.is_tls = false;
	assert_int_not_equal(connect_with(&target, &server, &key, &err), 0);
	assert_non_null(strstr(err.hint, "--tls"));
	expect_logged(&server, "refused: what is not TLS");
	stop(&server);
	uses_tls = false;
	start(&server, wp_os_linux(), dir, "127.0.0.1:0");
	server.is_tls = true;
	assert_int_not_equal(connect_with(&target, &server, &key, &err), 0);
	assert_non_null(strstr(err.hint, "--tls"));
	expect_logged(&server, "refused: ");
	stop(&server);
	uses_tls = true;
	scratch_dir_remove(dir);
}

static void a_wrong_key_is_refused_by_tls(void **state)
{
	const char *dir = scratch_dir();
	struct server server;
	struct target target;
	struct wp_err err = { 0 };

	(void)state;
	start(&server, wp_os_linux(), dir, "127.0.0.1:0");
	make_target(&target, 1);
	assert_int_equal(connect_with(&target, &server, &wrong_key, &err), -WP_E_SERVER);
	assert_non_null(strstr(err.message, "wrong key"));
	expect_logged(&server, "refused: a wrong key");
	stop(&server);
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

	const struct CMUnitTest tls_tests[] = {
		cmocka_unit_test(a_run_is_witnessed_and_told_of),
		cmocka_unit_test(who_speaks_tls_and_who_does_not_do_not_understand_each_other),
		cmocka_unit_test(a_wrong_key_is_refused_by_tls),
		cmocka_unit_test(nothing_acknowledged_is_lost_over_a_restart),
		cmocka_unit_test(a_full_disk_makes_targets_pause_and_loses_nothing),
		cmocka_unit_test(silence_is_noted_as_a_candidate_for_a_cut),
		cmocka_unit_test(many_targets_are_served_at_once),
	};
	int failed = cmocka_run_group_tests_name("witness", tests, NULL, NULL);

	return failed + cmocka_run_group_tests_name("witness with TLS", tls_tests, use_tls, NULL);
}
