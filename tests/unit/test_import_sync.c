/* SPDX-License-Identifier: PostgreSQL */
/* pg_test_fsync's and fio's outputs. */
#include "harness.h"
#include "import_case.h"

#include <math.h>

static const char *const methods[] = { "open_datasync", "fdatasync", "fsync", "fsync_writethrough",
	"open_sync" };

static const struct wp_row *find(
	const struct wp_result *result, const char *target, const char *method, const char *variant)
{
	const struct wp_table *table = wp_result_find_table(result, "sync");

	for (size_t i = 0; table && i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];

		if ((!target || strcmp(wp_row_get_text(row, "target"), target) == 0) &&
			strcmp(wp_row_get_text(row, "method"), method) == 0 &&
			strcmp(wp_row_get_text(row, "variant"), variant) == 0)
			return row;
	}
	fail_msg("no row for %s, %s", method, variant);
	return NULL;
}

/* Rates in the order of methods; NaN: absent. Times in microseconds, NULL: not looked at. */
static void expect(const struct wp_result *result, const char *variant, const double *rates,
	const double *usecs)
{
	for (size_t i = 0; i < WP_COUNT(methods); i++) {
		const struct wp_row *row = find(result, NULL, methods[i], variant);

		if (isnan(rates[i])) {
			case_expect_absent(row, "ops_per_s");
			case_expect_absent(row, "mean_ns");
			continue;
		}
		case_expect(row, "ops_per_s", rates[i]);
		if (usecs)
			case_expect(row, "mean_ns", usecs[i] * 1e3);
	}
}

static void output_of_macos_without_columns(void **state)
{
	static const double one[] = { 27492.613, 26373.551, 26449.921, 41.503, 27028.415 };
	static const double usecs[] = { 36, 38, 38, 24095, 37 };
	static const double two[] = { 12833.442, 22520.738, 22718.435, 39.467, 12263.507 };
	static const struct {
		const char *variant;
		double rate;
	} sizes[] = { { "1x16kB", 24691.753 }, { "2x8kB", 12787.775 }, { "4x4kB", 6507.818 },
		{ "8x2kB", 3205.598 }, { "16x1kB", 1617.759 } };
	static const double imac[] = { 15293.184, 15042.152, 15062.644, 87.954, 15060.335 };
	struct wp_result *result = case_file("44-pgtestfsync-macos-writethrough/mbp16.txt");

	(void)state;
	assert_int_equal(case_rows(result, "sync"), 18);
	expect(result, "overwrite", one, usecs);
	expect(result, "two-writes", two, NULL);
	for (size_t i = 0; i < WP_COUNT(sizes); i++)
		case_expect(find(result, NULL, "open_sync", sizes[i].variant), "ops_per_s",
			sizes[i].rate);
	case_expect(find(result, NULL, "fsync", "same-fd"), "ops_per_s", 9988.357);
	case_expect(find(result, NULL, "fsync", "other-fd"), "ops_per_s", 18553.995);
	case_expect(find(result, NULL, "", "unsynced"), "ops_per_s", 26806.255);
	wp_result_free(result);

	result = case_file("44-pgtestfsync-macos-writethrough/imac-sata.txt");
	expect(result, "overwrite", imac, NULL);
	wp_result_free(result);
}

static void methods_that_could_not_run_say_which_way(void **state)
{
	static const double one[] = { NAN, 42.349, 41.862, NAN, NAN };
	static const double two[] = { NAN, 35.389, 37.538, NAN, NAN };
	struct wp_result *result = case_file("45-pgtestfsync-na-star-no-direct-io/gist.txt");

	(void)state;
	assert_int_equal(case_rows(result, "sync"), 11);
	expect(result, "overwrite", one, NULL);
	expect(result, "two-writes", two, NULL);
	assert_non_null(strstr(
		wp_row_cell(find(result, NULL, "open_datasync", "overwrite"), "ops_per_s")->text,
		"O_DIRECT"));
	assert_non_null(strstr(
		wp_row_cell(find(result, NULL, "fsync_writethrough", "overwrite"), "ops_per_s")
			->text,
		"platform"));
	case_expect_absent(find(result, NULL, "open_sync", "1x16kB"), "ops_per_s");
	wp_result_free(result);
}

static void four_devices_of_one_host(void **state)
{
	static const struct {
		const char *name;
		double one[5];
	} files[] = { { "hdd-wd2002fyps.txt", { 81.276, 81.940, 20.966, NAN, 20.980 } },
		{ "raid5-4x-wd2002fyps.txt", { 89.503, 86.933, 30.719, NAN, 29.384 } },
		{ "nvme-970evoplus.txt", { 1435.065, 1416.766, 686.976, NAN, 689.974 } },
		{ "nvme-optane900p.txt", { 34040.623, 33762.892, 31874.647, NAN, 31882.292 } } };
	static const double two[] = { 38.486, 78.133, 20.033, NAN, 10.324 };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(files); i++) {
		char name[120];
		struct wp_result *result;

		(void)snprintf(name, sizeof(name), "46-pgtestfsync-four-devices-one-host/%s",
			files[i].name);
		result = case_file(name);
		expect(result, "overwrite", files[i].one, NULL);
		if (i == 0)
			expect(result, "two-writes", two, NULL);
		wp_result_free(result);
	}
}

static void a_gist_with_bars_at_its_line_ends(void **state)
{
	static const double one[] = { 1517.195, 1548.135, 119.319, NAN, 119.067 };
	static const double two[] = { 770.065, 1452.741, 118.800, NAN, 56.664 };
	struct wp_result *result = case_file("47-pgtestfsync-fdatasync-13x-fsync-ssd/gist.txt");

	(void)state;
	expect(result, "overwrite", one, NULL);
	expect(result, "two-writes", two, NULL);
	wp_result_free(result);
}

static void version_9_1_prints_no_times(void **state)
{
	static const double one[] = { 2298.045, 2297.712, 2005.606, NAN, 2005.871 };
	static const double two[] = { 1149.440, 2296.319, 1995.695, NAN, 1005.303 };
	struct wp_result *result = case_file("49-pgtestfsync-91-ops-only-2298/pgtestfsync.txt");
	const struct wp_row *row;

	(void)state;
	assert_int_equal(case_rows(result, "sync"), 18);
	expect(result, "overwrite", one, NULL);
	expect(result, "two-writes", two, NULL);
	row = find(result, NULL, "fdatasync", "overwrite");
	case_expect(row, "mean_ns", 435216);
	assert_string_equal(wp_row_get_text(row, "mean_from"), "derived");
	case_expect(find(result, NULL, "open_sync", "16x1kB"), "ops_per_s", 125.823);
	case_expect(find(result, NULL, "fsync", "same-fd"), "ops_per_s", 2009.378);
	case_expect(find(result, NULL, "fsync", "other-fd"), "ops_per_s", 1800.597);
	case_expect(find(result, NULL, "", "unsynced"), "ops_per_s", 155183.116);
	wp_result_free(result);
}

static void headings_broken_over_two_lines(void **state)
{
	static const double one[] = { 35915.892, 29260.122, 29845.096, NAN, 33848.051 };
	static const double usecs[] = { 28, 34, 34, 0, 30 };
	static const double two[] = { 18039.438, 29315.960, 27148.788, NAN, 16646.840 };
	static const double honest[] = { NAN, 159.689, 161.249, NAN, 162.821 };
	static const double honest_two[] = { NAN, 160.920, 161.076, NAN, 81.102 };
	struct wp_result *result = case_file("51-pgtestfsync-36k-ops-vm-suspicious/issue.txt");

	(void)state;
	expect(result, "overwrite", one, usecs);
	expect(result, "two-writes", two, NULL);
	case_expect(find(result, NULL, "open_sync", "1x16kB"), "ops_per_s", 31331.712);
	case_expect(find(result, NULL, "open_sync", "1x16kB"), "mean_ns", 32000);
	assert_int_equal(case_rows(result, "not_understood"), 0);
	wp_result_free(result);

	result = case_file("79-pgtestfsync-91-honest-10k-raid1-ext3/pgtestfsync.txt");
	expect(result, "overwrite", honest, NULL);
	expect(result, "two-writes", honest_two, NULL);
	case_expect(find(result, NULL, "open_sync", "1x16kB"), "ops_per_s", 163.539);
	wp_result_free(result);
}

static void everything_in_one_line(void **state)
{
	static const double one[] = { 249.578, 608.573, 177.431, NAN, 185.095 };
	static const double usecs[] = { 4007, 1643, 5636, 0, 5403 };
	struct wp_result *result =
		case_file("54-pgtestfsync-consumer-nvme-open-datasync-slower/page.txt");

	(void)state;
	assert_int_equal(case_rows(result, "sync"), 5);
	expect(result, "overwrite", one, usecs);
	wp_result_free(result);
}

static void rate_and_time_that_contradict_are_both_absent(void **state)
{
	struct wp_result *result = case_text("broken.txt",
		"Compare file sync methods using one 8kB write:\n"
		"        fdatasync                          1416.766 ops/sec     706 usecs/op\n"
		"        fsync                               86.976 ops/sec    1456 usecs/op\n");

	(void)state;
	case_expect(find(result, NULL, "fdatasync", "overwrite"), "mean_ns", 706000);
	case_expect_absent(find(result, NULL, "fsync", "overwrite"), "ops_per_s");
	case_expect_absent(find(result, NULL, "fsync", "overwrite"), "mean_ns");
	wp_result_free(result);
}

static void a_translated_output_is_told_by_the_order_of_its_sections(void **state)
{
	struct wp_result *result = case_text("de.txt",
		"5 Sekunden pro Test\n"
		"O_DIRECT wird auf dieser Plattform unterst\xc3\xbctzt.\n\n"
		"Vergleich von Datei-Sync-Methoden bei einem Schreibvorgang aus 8kB:\n"
		"        open_datasync                      1435,065 Op./s       697 "
		"\xc2\xb5s/Op.\n"
		"        fdatasync                          1416,766 Op./s       706 "
		"\xc2\xb5s/Op.\n\n"
		"Vergleich von Datei-Sync-Methoden bei zwei Schreibvorg\xc3\xa4ngen aus je 8kB:\n"
		"        open_datasync                       735,065 Op./s      1360 "
		"\xc2\xb5s/Op.\n");

	(void)state;
	case_expect(find(result, NULL, "open_datasync", "overwrite"), "ops_per_s", 1435.065);
	case_expect(find(result, NULL, "fdatasync", "overwrite"), "mean_ns", 706000);
	case_expect(find(result, NULL, "open_datasync", "two-writes"), "ops_per_s", 735.065);
	wp_result_free(result);
}

static void two_outputs_in_one_file_are_two_targets(void **state)
{
	char *text = case_read("46-pgtestfsync-four-devices-one-host/nvme-970evoplus.txt");
	char both[4096];
	struct wp_result *result;

	(void)state;
	(void)snprintf(both, sizeof(both), "%s\n%s", text, text);
	result = case_text("both.txt", both);
	assert_int_equal(case_rows(result, "sync"), 10);
	assert_int_equal(result->target_count, 2);
	case_expect(find(result, "both.txt#2", "fsync", "overwrite"), "ops_per_s", 686.976);
	free(text);
	wp_result_free(result);
}

/* ---- fio ------------------------------------------------------------------------------------- */

/* The value begins where what was cut away began, and its quote stands behind that. */
static void a_version_cut_out_of_fios_json_is_no_version(void **state)
{
	struct wp_result *result = case_text("fio",
		"\"Writert\"\n \n {\"fio version\" : \n        \"Record rewrite 40ter repor j  8");
	const struct wp_table *runs = wp_result_find_table(result, "runs");

	(void)state;
	for (size_t i = 0; runs && i < runs->row_count; i++)
		assert_string_equal(wp_row_get_text(runs->rows[i], "version"), "");
	wp_result_free(result);
}

static void fio_messages_before_the_json_mark_the_job_failed(void **state)
{
	struct wp_result *result = case_file("57-fio-313-error-lines-before-json/fio.txt");
	const struct wp_row *row = case_nth(result, "io", 0);

	(void)state;
	assert_int_equal(case_rows(result, "io"), 1);
	assert_int_equal(case_rows(result, "sync"), 0);
	assert_string_equal(wp_row_get_text(row, "job"), "fiotest");
	assert_string_equal(wp_row_get_text(row, "test"), "read");
	case_expect(row, "ops_per_s", 49501.318267);
	case_expect(row, "bytes_per_s", 202249835);
	case_expect(row, "ops", 131426);
	case_expect(row, "mean_ns", 5922037);
	case_expect(row, "p99_ns", 10420224);
	assert_non_null(strstr(wp_row_get_text(row, "ranked"), "failed"));
	assert_non_null(strstr(case_check(result, "fio-error")->observed, "42"));
	assert_non_null(
		strstr(case_check(result, "fio-message")->observed, "Illegal byte sequence"));
	assert_non_null(strstr(result->checks[2].observed, "Different Error"));
	wp_result_free(result);
}

static void fio_text_has_the_time_of_the_sync_apart(void **state)
{
	struct wp_result *result = case_file("58-fio-316-text-fdatasync-slow-cluster/fio.txt");
	const struct wp_row *row = case_nth(result, "io", 0);

	(void)state;
	assert_string_equal(wp_row_get_text(row, "test"), "write");
	case_expect(row, "ops_per_s", 58);
	case_expect(row, "ops", 10029);
	case_expect(row, "elapsed_ns", 170299e6);
	case_expect(row, "mean_ns", 53340);
	row = find(result, NULL, "fdatasync", "sync-only");
	case_expect(row, "min_ns", 399000);
	case_expect(row, "max_ns", 5729700000);
	case_expect(row, "mean_ns", 16924380);
	case_expect(row, "p50_ns", 2147000);
	case_expect(row, "p95_ns", 33424000);
	case_expect(row, "p99_ns", 299893000);
	case_expect(row, "p999_ns", 2021655000);
	wp_result_free(result);

	result = case_file("58-fio-316-text-fdatasync-slow-cluster/fio-gp2.txt");
	row = case_nth(result, "sync", 0);
	case_expect(row, "mean_ns", 1491470);
	case_expect(row, "p99_ns", 5145000);
	case_expect_absent(row, "method");
	wp_result_free(result);
}

static void fio_json_with_a_gap_is_refused_with_its_place(void **state)
{
	struct wp_result *result = case_file("59-fio-327-etcd-perf-json-elided/etcd-perf.txt");
	const struct wp_row *row = find(result, NULL, "fdatasync", "sync-only");

	(void)state;
	assert_int_equal(case_rows(result, "io"), 0);
	case_expect(row, "write_bytes", 8000);
	case_expect(row, "p99_ns", 692060160);
	case_expect_absent(row, "mean_ns");
	case_expect_absent(row, "p50_ns");
	case_expect_absent(row, "ops_per_s");
	assert_non_null(strstr(case_check(result, "fio-incomplete")->observed, "line 16"));
	wp_result_free(result);
}

static void fio_2_counts_in_microseconds_and_kilobytes(void **state)
{
	struct wp_result *result =
		case_file("60-fio-2210-json-usec-duplicate-keys/fio-2.2.10.json");
	const struct wp_row *row = case_nth(result, "io", 0);

	(void)state;
	assert_int_equal(case_rows(result, "io"), 1);
	assert_int_equal(case_rows(result, "sync"), 0);
	case_expect(row, "ops_per_s", 15624.70);
	case_expect(row, "bytes_per_s", 62499.0 * 1024);
	case_expect(row, "ops", 9374944);
	case_expect(row, "elapsed_ns", 600008e6);
	case_expect(row, "mean_ns", 8151190);
	case_expect(row, "p99_ns", 8640000);
	case_expect(row, "p999_ns", 14912000);
	case_expect(row, "p9999_ns", 150528000);
	case_expect(row, "depth", 32);
	case_expect_absent(row, "jobs");
	assert_string_equal(wp_row_get_text(case_nth(result, "runs", 0), "version"), "fio-2.2.10");
	wp_result_free(result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(output_of_macos_without_columns),
		cmocka_unit_test(methods_that_could_not_run_say_which_way),
		cmocka_unit_test(four_devices_of_one_host),
		cmocka_unit_test(a_gist_with_bars_at_its_line_ends),
		cmocka_unit_test(version_9_1_prints_no_times),
		cmocka_unit_test(headings_broken_over_two_lines),
		cmocka_unit_test(everything_in_one_line),
		cmocka_unit_test(rate_and_time_that_contradict_are_both_absent),
		cmocka_unit_test(a_translated_output_is_told_by_the_order_of_its_sections),
		cmocka_unit_test(two_outputs_in_one_file_are_two_targets),
		cmocka_unit_test(a_version_cut_out_of_fios_json_is_no_version),
		cmocka_unit_test(fio_messages_before_the_json_mark_the_job_failed),
		cmocka_unit_test(fio_text_has_the_time_of_the_sync_apart),
		cmocka_unit_test(fio_json_with_a_gap_is_refused_with_its_place),
		cmocka_unit_test(fio_2_counts_in_microseconds_and_kilobytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
