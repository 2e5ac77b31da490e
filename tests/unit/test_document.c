/* SPDX-License-Identifier: PostgreSQL */
#include "fake_os.h"
#include "harness.h"
#include "sample_result.h"
#include "walprobe/document.h"
#include "walprobe/mem.h"
#include "walprobe/stop.h"

static void write_file(const char *path, const char *text)
{
	FILE *stream = fopen(path, "wb");

	assert_non_null(stream);
	assert_int_equal(fwrite(text, 1, strlen(text), stream), strlen(text));
	assert_int_equal(fclose(stream), 0);
}

/* A saved document in dir; the caller frees the path. */
static char *save_sample(const char *dir)
{
	struct wp_result *result = sample_compare();
	char *json = sample_render(result, wp_render_json, false, false);
	char *path = wp_xasprintf("%s/saved.json", dir);

	write_file(path, json);
	free(json);
	wp_result_free(result);
	return path;
}

static void a_saved_document_renders_as_the_run_did(void **state)
{
	const char *dir = scratch_dir();
	char *path = save_sample(dir);
	struct wp_result *result = NULL;
	struct wp_err err = { 0 };
	char *text;

	(void)state;
	assert_int_equal(wp_document_read(wp_os_linux(), path, &result, &err), 0);
	text = sample_render(result, wp_render_text, false, false);
	sample_golden("compare.txt", text);
	free(text);
	wp_result_free(result);
	free(path);
	scratch_dir_remove(dir);
}

static void every_failing_call_names_the_file_and_leaves_nothing_open(void **state)
{
	const char *dir = scratch_dir();
	char *path = save_sample(dir);
	int64_t n = 1;

	(void)state;
	for (;; n++) {
		struct wp_result *result = NULL;
		struct wp_err err = { 0 };
		struct fake_os fake;
		int rc;

		fake_os_init(&fake);
		fake_os_arm(&fake, NULL, n, EIO);
		rc = wp_document_read(&fake.os, path, &result, &err);
		assert_int_equal(fake.open_count, 0);
		/* A file that was only read loses nothing when it cannot be closed. */
		if (!fake.failures || strcmp(fake.last_failed, "close") == 0) {
			assert_int_equal(rc, 0);
			wp_result_free(result);
			if (!fake.failures)
				break;
			continue;
		}
		assert_int_equal(rc, -WP_E_SYS);
		assert_non_null(strstr(err.message, path));
		assert_non_null(strstr(err.message, "Input/output error"));
		assert_null(result);
	}
	assert_true(n > 3);
	free(path);
	scratch_dir_remove(dir);
}

static void a_signal_ends_the_wait_for_a_document(void **state)
{
	const char *dir = scratch_dir();
	char *path = save_sample(dir);
	struct wp_result *result = NULL;
	struct wp_err err = { 0 };
	struct fake_os fake;

	(void)state;
	fake_os_init(&fake);
	fake_os_arm(&fake, "read", 1, EINTR);
	assert_int_equal(wp_document_read(&fake.os, path, &result, &err), 0);
	wp_result_free(result);
	fake_os_arm(&fake, "read", 1, EINTR);
	wp_stop_raise(2);
	assert_int_equal(wp_document_read(&fake.os, path, &result, &err), -WP_E_STOPPED);
	wp_stop_reset();
	assert_int_equal(fake.open_count, 0);
	free(path);
	scratch_dir_remove(dir);
}

static void what_is_no_document_is_refused_by_name(void **state)
{
	const char *dir = scratch_dir();
	char *path = wp_xasprintf("%s/other.json", dir);
	struct wp_result *result = NULL;
	struct wp_err err = { 0 };

	(void)state;
	write_file(path, "{\"fio version\": \"fio-3.33\"}");
	assert_int_equal(wp_document_read(wp_os_linux(), path, &result, &err), -WP_E_DATA);
	assert_non_null(strstr(err.message, path));
	assert_int_equal(wp_document_read(wp_os_linux(), dir, &result, &err), -WP_E_SYS);
	assert_non_null(strstr(err.message, "Is a directory"));
	free(path);
	scratch_dir_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_saved_document_renders_as_the_run_did),
		cmocka_unit_test(every_failing_call_names_the_file_and_leaves_nothing_open),
		cmocka_unit_test(a_signal_ends_the_wait_for_a_document),
		cmocka_unit_test(what_is_no_document_is_refused_by_name),
	};

	return cmocka_run_group_tests_name("document", tests, NULL, NULL);
}
