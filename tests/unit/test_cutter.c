/* SPDX-License-Identifier: PostgreSQL */
/*
 * Cuts that a witness makes by itself. The commands leave files; the target is a client that
 * acknowledges records as long as the "power" is on.
 */
#include "fake_os.h"
#include "harness.h"
#include "walprobe/mem.h"
#include "witness_server.h"

struct bench {
	const char *dir;
	struct wp_cut_plan plan;
	char cut[128];
	char on[128];
	struct server server;
	struct target target;
	uint64_t seq;
	size_t wanted;
};

static size_t size_of(const struct bench *bench, const char *name)
{
	char *path = wp_xasprintf("%s/%s", bench->dir, name);
	struct stat info;
	size_t size = stat(path, &info) == 0 ? (size_t)info.st_size : 0;

	free(path);
	return size;
}

static void begin(struct bench *bench, const char *host)
{
	memset(bench, 0, sizeof(*bench));
	bench->dir = scratch_dir();
	(void)snprintf(bench->cut, sizeof(bench->cut), "printf x >>%s/cut", bench->dir);
	(void)snprintf(bench->on, sizeof(bench->on), "printf x >>%s/on", bench->dir);
	bench->plan = (struct wp_cut_plan){ .host = host,
		.cut_command = bench->cut,
		.on_command = bench->on,
		.delay_ns = WP_NS_PER_MS,
		.off_ns = WP_NS_PER_MS,
		.cycles = 2 };
	make_target(&bench->target, 1);
	(void)snprintf(bench->target.manifest.host, sizeof(bench->target.manifest.host), "db1");
}

static void start_both(struct bench *bench)
{
	cut_plan = &bench->plan;
	start(&bench->server, wp_os_linux(), bench->dir, "127.0.0.1:0");
	connect_target(&bench->target, &bench->server);
}

static void end(struct bench *bench)
{
	assert_true(wp_client_end(bench->target.client, LONG_NS));
	stop(&bench->server);
	cut_plan = NULL;
	scratch_dir_remove(bench->dir);
}

/* Writes on, and looks whether the power was cut so often as wanted. */
static bool works_until_cut(void *argument)
{
	struct bench *bench = argument;

	bench->seq += 30;
	wp_client_acked(bench->target.client, 0, bench->seq);
	wp_client_acked(bench->target.client, 1, bench->seq);
	return size_of(bench, "cut") >= bench->wanted;
}

static bool is_on(void *argument)
{
	struct bench *bench = argument;

	return size_of(bench, "on") >= bench->wanted;
}

static bool has_ended(void *argument)
{
	return has_logged(&((struct bench *)argument)->server, "cuts are done");
}

static void power_is_cut_once_in_a_cycle_and_as_often_as_planned(void **state)
{
	struct bench bench;

	(void)state;
	begin(&bench, "db1");
	start_both(&bench);
	for (uint16_t cycle = 1; cycle <= 2; cycle++) {
		bench.target.start.cycle = cycle;
		bench.target.start.instance[1] = (uint8_t)(cycle - 1);
		for (size_t i = 0; i < 2; i++)
			bench.target.start.bases[i] = bench.seq;
		if (cycle > 1)
			connect_target(&bench.target, &bench.server);
		bench.wanted = cycle;
		wait_for(works_until_cut, &bench, "the cut");
		wait_for(is_on, &bench, "power");
		/* What still works in the same cycle is not cut again. */
		for (int i = 0; i < 50; i++) {
			(void)works_until_cut(&bench);
			(void)wp_os_sleep_ns(wp_os_linux(), WP_NS_PER_MS);
		}
		if (cycle == 1)
			assert_true(wp_client_end(bench.target.client, LONG_NS));
	}
	wait_for(has_ended, &bench, "the end");
	assert_int_equal(size_of(&bench, "cut"), 2);
	assert_int_equal(size_of(&bench, "on"), 2);
	assert_true(has_logged(&bench.server, "still speaks"));
	end(&bench);
}

static void the_power_of_another_host_is_not_cut(void **state)
{
	struct bench bench;

	(void)state;
	begin(&bench, "db2");
	start_both(&bench);
	bench.wanted = 1;
	for (int i = 0; i < 100; i++) {
		assert_false(works_until_cut(&bench));
		(void)wp_os_sleep_ns(wp_os_linux(), WP_NS_PER_MS);
	}
	assert_int_equal(size_of(&bench, "on"), 0);
	end(&bench);
}

static void a_command_that_fails_ends_the_cuts_with_the_power_on(void **state)
{
	struct bench bench;

	(void)state;
	begin(&bench, "db1");
	(void)snprintf(bench.cut, sizeof(bench.cut), "printf x >>%s/cut; exit 7", bench.dir);
	start_both(&bench);
	bench.wanted = 1;
	wait_for(works_until_cut, &bench, "the cut");
	wait_for(has_ended, &bench, "the end");
	assert_true(has_logged(&bench.server, "exit status 7"));
	assert_int_equal(size_of(&bench, "on"), 1);
	end(&bench);
}

static void a_witness_that_ends_puts_the_power_on_again(void **state)
{
	struct bench bench;

	(void)state;
	begin(&bench, "db1");
	bench.plan.off_ns = 3600 * WP_NS_PER_S;
	start_both(&bench);
	bench.wanted = 1;
	wait_for(works_until_cut, &bench, "the cut");
	assert_int_equal(size_of(&bench, "on"), 0);
	assert_true(wp_client_end(bench.target.client, LONG_NS));
	stop(&bench.server);
	assert_int_equal(size_of(&bench, "on"), 1);
	cut_plan = NULL;
	scratch_dir_remove(bench.dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(power_is_cut_once_in_a_cycle_and_as_often_as_planned),
		cmocka_unit_test(the_power_of_another_host_is_not_cut),
		cmocka_unit_test(a_command_that_fails_ends_the_cuts_with_the_power_on),
		cmocka_unit_test(a_witness_that_ends_puts_the_power_on_again),
	};

	return cmocka_run_group_tests_name("cutter", tests, NULL, NULL);
}
