/* SPDX-License-Identifier: PostgreSQL */
/* What published figures are found to say. */
#include "harness.h"
#include "import_case.h"
#include "walprobe/mem.h"

struct expected {
	const char *file;
	const char *id;
	int status; /* -1: there is no such check */
	const char *observed;
	const char *text;
};

static const struct expected cases[] = {
	{ "24-pgbench-71-diff-ext2-fat/mail.txt", "ramp-short", WP_CHECK_INFO, "1, 2, 3", "noisy" },
	{ "24-pgbench-71-diff-ext2-fat/mail.txt", "file-system", WP_CHECK_INFO, "fat", "metadata" },
	{ "25-pgbench-13-plain/pgbench.txt", "rate-plausible", -1, NULL, NULL },
	{ "26-pgbench-18-warmup-and-runs/bench100.md", "ramp-warm-up", WP_CHECK_INFO, "32",
		"leave it out" },
	{ "29-pgbench-10-script-statistics/pgbench.txt", "ramp-scale", WP_CHECK_INFO, "100",
		"scale" },
	{ "29-pgbench-10-script-statistics/pgbench.txt", "ramp-locks", WP_CHECK_INFO,
		"88 % of the time in tellers and branches, commit 2.1 ms of 26.6 ms", "locks" },
	{ "34-pgbench-16-weighted-mixed-olap/pgbench.txt", "ramp-mixed", WP_CHECK_INFO, "30",
		"script by script" },
	{ "35-pgbench-multi-C-glued-line/pgbench.txt", "ramp-reconnect", WP_CHECK_INFO, "20",
		"connection" },
	{ "36-pgbench-aborted-no-tps-yugabyte/pgbench.txt", "ramp-aborted", WP_CHECK_UNKNOWN, NULL,
		"aborted" },
	{ "36-pgbench-aborted-no-tps-yugabyte/pgbench.txt", "ramp-read-only", WP_CHECK_INFO, "50",
		"not comparable with TPC-B" },
	{ "40-pgbench-93-more-padded-lines/pgbench.txt", "rate-plausible", WP_CHECK_UNKNOWN,
		"625 commits/s, 1 client: 625 flushes/s", "ask what the device is" },
	{ "42-pgbench-8x-date-hostname-time-wrapper/pgbench-french-9x.txt", "ramp-short",
		WP_CHECK_INFO, "10", "short" },
	{ "42-pgbench-8x-date-hostname-time-wrapper/pgbench-french-9x.txt", "ramp-connect",
		WP_CHECK_INFO, "10", "connecting" },
	{ "43-pgbench-clients-1000-on-scale-10/pgbench.txt", "ramp-decline", WP_CHECK_INFO,
		"4419 at first, 2008 at last", "no disk that becomes slower" },
	{ "43-pgbench-clients-1000-on-scale-10/pgbench.txt", "ramp-locks", WP_CHECK_INFO,
		"98 % of the time", "locks" },
	{ "78-impossible-commit-rate-laptop-1292-vs-27/pgbench.txt", "rate-plausible",
		WP_CHECK_UNKNOWN, "323 flushes/s or more, a revolution each at 19384 rpm",
		"no single rotating disk" },
	{ "44-pgtestfsync-macos-writethrough/mbp16.txt", "flush-sent", WP_CHECK_FAIL,
		"fsync_writethrough 41.5/s", "only fsync_writethrough is safe" },
	{ "44-pgtestfsync-macos-writethrough/mbp16.txt", "methods-alike", -1, NULL, NULL },
	{ "45-pgtestfsync-na-star-no-direct-io/gist.txt", "rate-plausible", WP_CHECK_PASS,
		"2.8 revolutions", "nothing speaks against it" },
	{ "46-pgtestfsync-four-devices-one-host/hdd-wd2002fyps.txt", "rate-plausible",
		WP_CHECK_PASS, "91 % of the revolutions of a disk of 5400 rpm", "honest" },
	{ "46-pgtestfsync-four-devices-one-host/hdd-wd2002fyps.txt", "fsync-slower", WP_CHECK_INFO,
		"3.91", "fdatasync" },
	{ "46-pgtestfsync-four-devices-one-host/hdd-wd2002fyps.txt", "two-writes", WP_CHECK_INFO,
		"38.5/s", "fdatasync" },
	{ "46-pgtestfsync-four-devices-one-host/nvme-optane900p.txt", "rate-plausible",
		WP_CHECK_UNKNOWN, "33763/s", "cannot tell" },
	{ "47-pgtestfsync-fdatasync-13x-fsync-ssd/gist.txt", "fsync-slower", WP_CHECK_INFO, "12.97",
		"recycle" },
	{ "49-pgtestfsync-91-ops-only-2298/pgtestfsync.txt", "sync-short", WP_CHECK_INFO, "0.87 s",
		"noisy" },
	{ "51-pgtestfsync-36k-ops-vm-suspicious/issue.txt", "rate-plausible", WP_CHECK_UNKNOWN,
		"29260/s, 34 us", "write cache" },
	{ "54-pgtestfsync-consumer-nvme-open-datasync-slower/page.txt", "open-datasync-slower",
		WP_CHECK_INFO, "2.44", "no order of speed" },
	{ "57-fio-313-error-lines-before-json/fio.txt", "fio-error", WP_CHECK_FAIL, "error 42",
		"left out" },
	{ "58-fio-316-text-fdatasync-slow-cluster/fio.txt", "sync-tail", WP_CHECK_INFO,
		"p50 2.1 ms, p99 299.9 ms", "no cure" },
	{ "58-fio-316-text-fdatasync-slow-cluster/fio.txt", "sync-apart", WP_CHECK_INFO, NULL,
		"no commit latency" },
	{ "58-fio-316-text-fdatasync-slow-cluster/fio-gp2.txt", "sync-tail", -1, NULL, NULL },
	{ "59-fio-327-etcd-perf-json-elided/etcd-perf.txt", "sync-tail", WP_CHECK_INFO,
		"p99 692.1 ms", "rotating disk" },
	{ "60-fio-2210-json-usec-duplicate-keys/fio-2.2.10.json", "fio-jobs", WP_CHECK_INFO,
		"127.8 requests under way, depth 32", "several jobs" },
	{ "79-pgtestfsync-91-honest-10k-raid1-ext3/pgtestfsync.txt", "rate-plausible",
		WP_CHECK_PASS, "96 % of the revolutions of a disk of 10000 rpm", "battery" },
	{ "79-pgtestfsync-91-honest-10k-raid1-ext3/pgtestfsync.txt", "methods-alike", WP_CHECK_INFO,
		"159.7/s to 162.8/s", "keep the default" },
};

static void every_case_is_read_as_its_figures_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		const struct expected *expected = &cases[i];
		struct wp_result *result = case_file(expected->file);
		const struct wp_check *check = case_check(result, expected->id);

		if ((check != NULL) != (expected->status >= 0))
			fail_msg("%s: check %s is %sthere", expected->file, expected->id,
				check ? "" : "not ");
		if (check && (int)check->status != expected->status)
			fail_msg("%s: %s has another status", expected->file, expected->id);
		if (check && expected->observed && !strstr(check->observed, expected->observed))
			fail_msg("%s: %s: %s", expected->file, expected->id, check->observed);
		if (check && !strstr(check->text, expected->text))
			fail_msg("%s: %s: %s", expected->file, expected->id, check->text);
		wp_result_free(result);
	}
}

static struct wp_result *run_of(int clients, const char *tps)
{
	char *text = wp_xasprintf("transaction type: TPC-B (sort of)\nscaling factor: 100\n"
				  "number of clients: %d\nduration: 60 s\n"
				  "number of transactions actually processed: 24000\n"
				  "tps = %s (including connections establishing)\n"
				  "tps = %s (excluding connections establishing)\n",
		clients, tps, tps);
	struct wp_result *result = case_text("run", text);

	free(text);
	return result;
}

static void group_commit_is_not_called_impossible(void **state)
{
	static const struct {
		const char *tps;
		enum wp_check_status status;
	} rates[] = { { "27.000000", WP_CHECK_PASS }, { "400.000000", WP_CHECK_PASS },
		{ "900.000000", WP_CHECK_INFO }, { "1292.258304", WP_CHECK_UNKNOWN } };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(rates); i++) {
		struct wp_result *result = run_of(4, rates[i].tps);

		assert_int_equal(case_check(result, "rate-plausible")->status, rates[i].status);
		wp_result_free(result);
	}
}

static void the_first_run_after_loading_is_pointed_out(void **state)
{
	struct wp_result *result = case_text("load",
		"$ pgbench -i -s 10 test\ngenerating data (client-side)...\nvacuuming...\n"
		"creating primary keys...\ndone in 1.31 s.\n$ pgbench -c 1 -T 60 test\n"
		"pgbench (15.4)\ntransaction type: <builtin: TPC-B (sort of)>\nscaling factor: 10\n"
		"number of clients: 1\nduration: 60 s\n"
		"number of transactions actually processed: 6000\n"
		"tps = 100.000000 (without initial connection time)\n");

	(void)state;
	assert_int_equal(case_rows(result, "ramp"), 1);
	assert_non_null(case_check(result, "ramp-after-load"));
	wp_result_free(result);
}

static void the_same_work_measured_twice_shows_the_noise(void **state)
{
	struct wp_result *result = case_text("noise",
		"Compare file sync methods using one 8kB write:\n"
		"        fdatasync                          1416.766 ops/sec     706 usecs/op\n"
		"Compare file sync methods using two 8kB writes:\n"
		"        open_sync                           446.000 ops/sec    2242 usecs/op\n"
		"Compare open_sync with different write sizes:\n"
		"         2 *  8kB open_sync writes          114.000 ops/sec    8772 usecs/op\n");

	(void)state;
	assert_non_null(case_check(result, "sync-noise"));
	wp_result_free(result);
}

static void reads_faster_than_any_device_are_the_page_cache(void **state)
{
	static const char form[] =
		"a: (groupid=0, jobs=1): err= 0: pid=1: Tue Dec  1 03:47:58 2026\n"
		"  read: IOPS=%d, BW=%dMiB/s (1MB/s)(85MiB/2002msec)\n";
	char text[256];
	struct wp_result *result;

	(void)state;
	(void)snprintf(text, sizeof(text), form, 200, 20000);
	result = case_text("fio", text);
	assert_non_null(case_check(result, "cached"));
	assert_string_equal(wp_row_get_text(case_nth(result, "io", 0), "cached"), "yes");
	wp_result_free(result);

	(void)snprintf(text, sizeof(text), form, 200, 200);
	result = case_text("fio", text);
	assert_null(case_check(result, "cached"));
	case_expect_absent(case_nth(result, "io", 0), "cached");
	wp_result_free(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_case_is_read_as_its_figures_say),
		cmocka_unit_test(group_commit_is_not_called_impossible),
		cmocka_unit_test(the_first_run_after_loading_is_pointed_out),
		cmocka_unit_test(the_same_work_measured_twice_shows_the_noise),
		cmocka_unit_test(reads_faster_than_any_device_are_the_page_cache),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
