/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "sample_result.h"
#include "walprobe/mem.h"

/* A document that is right; each refusal replaces one piece of it. */
static const char good[] =
	"{\"format\": \"walprobe\", \"schema\": 1, \"version\": \"0.1.0\",\n"
	" \"command\": \"sync\", \"argv\": [\"walprobe\"], \"started\": null, \"complete\": true,\n"
	" \"environment\": [{\"key\": \"kernel\", \"value\": \"6.1\", \"source\": \"uname\"}],\n"
	" \"parameters\": [{\"key\": \"rounds\", \"value\": 10, \"source\": \"default\"}],\n"
	" \"targets\": [{\"label\": \"é\", \"path\": null, \"fstype\": null,\n"
	"  \"mount_options\": null, \"device\": [{\"name\": \"sda\", \"write_cache\": null,\n"
	"   \"fua\": false, \"rotational\": null}]}],\n"
	" \"tables\": [{\"name\": \"sync\", \"title\": \"Sync\", \"columns\": [\n"
	"   {\"key\": \"t\", \"label\": \"t\", \"unit\": \"\", \"kind\": \"text\", \"meaning\": "
	"\"\"},\n"
	"   {\"key\": \"i\", \"label\": \"i\", \"unit\": \"\", \"kind\": \"int\", \"meaning\": "
	"\"\"},\n"
	"   {\"key\": \"r\", \"label\": \"r\", \"unit\": \"\", \"kind\": \"real\", \"meaning\": "
	"\"\"}],\n"
	"  \"rows\": [{\"t\": \"x\", \"i\": 1, \"r\": null, \"absent\": {\"r\": \"why\"}}]}],\n"
	" \"checks\": [{\"id\": \"c\", \"target\": \"é\", \"status\": \"pass\",\n"
	"   \"expected\": null, \"observed\": null, \"text\": \"fine\"}]}\n";

/* The good document with the first old replaced by new; the caller frees. */
static char *changed(const char *old, const char *new)
{
	const char *at = strstr(good, old);

	assert_non_null(at);
	return wp_xasprintf("%.*s%s%s", (int)(at - good), good, new, at + strlen(old));
}

static void a_right_document_is_taken(void **state)
{
	struct wp_result *result = NULL;
	struct wp_err err = { 0 };

	(void)state;
	assert_int_equal(wp_result_read_json(good, strlen(good), "x", &result, &err), 0);
	assert_string_equal(result->command, "sync");
	assert_string_equal(wp_result_parameter(result, "rounds"), "10");
	assert_int_equal(result->targets[0]->devices[0].is_fua, 0);
	assert_int_equal(result->targets[0]->devices[0].is_rotational, -1);
	assert_string_equal(wp_row_cell(result->tables[0]->rows[0], "r")->text, "why");
	wp_result_free(result);
}

static void unknown_keys_are_passed_over(void **state)
{
	static const char *const changes[][2] = {
		{ "\"schema\": 1", "\"schema\": 1, \"later\": [{}]" },
		{ "\"i\": 1", "\"i\": 1, \"later\": {\"a\": 1}" },
		{ "{\"r\": \"why\"}", "{\"r\": \"why\", \"later\": \"x\"}" },
		{ "\"id\": \"c\"", "\"id\": \"c\", \"later\": 1.5" },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(changes); i++) {
		char *json = changed(changes[i][0], changes[i][1]);
		struct wp_result *result = NULL;

		assert_int_equal(wp_result_read_json(json, strlen(json), "x", &result, NULL), 0);
		wp_result_free(result);
		free(json);
	}
}

static const struct {
	const char *old;
	const char *new;
	const char *message; /* part of it, with the place */
} refusals[] = {
	{ "\"schema\": 1", "\"schema\": 2", "line 1, column 34: schema 2 is newer" },
	{ "\"schema\": 1", "\"schema\": 0", "column 34: \"schema\" must be an integer of 1" },
	{ "\"schema\": 1", "\"schema\": 1.5", "\"schema\" must be an integer" },
	{ "\"walprobe\"", "\"fio\"", "line 1, column 12: \"format\" must be \"walprobe\"" },
	{ "\"format\"", "\"form\"", "line 1, column 1: \"format\" is missing" },
	{ "\"version\"", "\"v\"", "\"version\" is missing" },
	{ "\"sync\"", "3", "line 2, column 13: \"command\" must be a string" },
	{ "\"complete\": true", "\"complete\": null", "\"complete\" must be true or false" },
	{ "\"complete\": true", "\"complete\": 1", "\"complete\" must be true, false" },
	{ "\"started\": null", "\"started\": 5", "\"started\" must be a string or null" },
	{ "[\"walprobe\"]", "[\"walprobe\", 3]", "column 42: a word of \"argv\" must be a string" },
	{ "[\"walprobe\"]", "{}", "\"argv\" must be an array" },
	{ "\"value\": 10", "\"value\": true", "\"value\" must be a number, a string or null" },
	{ "\"value\": \"6.1\"", "\"value\": 6.1", "\"value\" must be a string or null" },
	{ "{\"key\": \"rounds\"", "3, {\"key\": \"rounds\"",
		"line 4, column 17: an object is expected" },
	{ "\"path\"", "\"paht\"", "line 5, column 14: \"path\" is missing" },
	{ "\"fua\": false", "\"fua\": 0", "\"fua\" must be true, false or null" },
	{ "\"name\": \"sda\"", "\"name\": null", "\"name\" must be a string" },
	{ "\"path\": null", "\"path\": []",
		"line 5, column 37: \"path\" must be a string or null" },
	{ "\"key\": \"i\"", "\"key\": \"t\"",
		"line 10, column 12: two columns have the key \"t\"" },
	{ "\"key\": \"i\"", "\"key\": \"absent\"", "\"absent\" cannot be the key" },
	{ "\"key\": \"i\"", "\"key\": \"\"", "\"\" cannot be the key of a column" },
	{ "\"kind\": \"int\"", "\"kind\": \"bool\"", "\"kind\" must be one of int, real, text" },
	{ "\"kind\": \"int\"", "\"kin\": \"int\"", "line 10, column 4: \"kind\" is missing" },
	{ "\"i\": 1", "\"i\": 1.5", "\"i\" must be an integer or null" },
	{ "\"i\": 1", "\"i\": \"1\"", "\"i\" must be an integer or null" },
	{ "\"i\": 1", "\"j\": 1", "line 12, column 12: \"i\" is missing" },
	{ "\"i\": 1", "\"i\": 99999999999999999999", "too big integer" },
	{ "\"t\": \"x\"", "\"t\": 1", "\"t\" must be a string or null" },
	{ "\"r\": null", "\"r\": true", "\"r\" has a value and a reason" },
	{ "\"r\": null", "\"r\": 1e999", "real number overflow" },
	{ "\"r\": \"why\"", "\"r\": 1", "the reason why \"r\" is absent must be a string" },
	{ "{\"r\": \"why\"}", "3", "\"absent\" must be an object" },
	{ "\"tables\": [",
		"\"tables\": [{\"name\": \"sync\", \"title\": \"\", \"columns\": "
		"[{\"key\": \"t\", \"label\": \"t\", \"unit\": \"\", \"kind\": "
		"\"text\", \"meaning\": \"\"}], \"rows\": []}, ",
		"two tables have the name \"sync\"" },
	{ "\"columns\": [", "\"columns\": [], \"more\": [", "has no columns" },
	{ "\"status\": \"pass\"", "\"status\": \"good\"", "must be one of pass, fail, unknown" },
	{ "\"text\": \"fine\"", "\"text\": \"fine\", \"text\": \"x\"", "duplicate object key" },
	{ "\"text\": \"fine\"", "\"text\": \"\xFF\"", "unable to decode byte 0xff" },
	{ "\"text\": \"fine\"", "\"text\": \"\\u0000\"", "\\u0000 is not allowed" },
	{ "\"text\": \"fine\"}]}\n", "\"text\": \"fine\"}]", "line 14" },
	{ "\"text\": \"fine\"}]}\n", "\"text\": \"fine\"}]} x", "end of file expected" },
	{ "\"text\": \"fine\"}]}\n", "\"text\": \"fine\"}}}", "line 14" },
};

static void wrong_documents_are_refused_with_the_place(void **state)
{
	int failures = 0;

	(void)state;
	for (size_t i = 0; i < WP_COUNT(refusals); i++) {
		char *json = changed(refusals[i].old, refusals[i].new);
		struct wp_result *result = NULL;
		struct wp_err err = { 0 };
		int rc = wp_result_read_json(json, strlen(json), "my.json", &result, &err);

		if (rc != -WP_E_DATA || !strstr(err.message, refusals[i].message) ||
			!strstr(err.message, "\"my.json\"")) {
			print_error("%s: %d, \"%s\"\n", refusals[i].message, rc, err.message);
			failures++;
		}
		assert_null(result);
		free(json);
	}
	assert_int_equal(failures, 0);
}

static void a_later_schema_is_refused_with_a_hint(void **state)
{
	char *json = changed("\"schema\": 1", "\"schema\": 2");
	struct wp_result *result = NULL;
	struct wp_err err = { 0 };

	(void)state;
	assert_int_equal(wp_result_read_json(json, strlen(json), "x", &result, &err), -WP_E_DATA);
	assert_true(err.hint[0]);
	free(json);
}

static void what_is_no_document_is_refused(void **state)
{
	static const char *const texts[] = { "", "{}", "[]", "3", "null", "\"walprobe\"", "{",
		"Compare 5000ms", "\xEF\xBB\xBF{}" };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(texts); i++) {
		struct wp_result *result = NULL;
		struct wp_err err = { 0 };

		assert_int_equal(
			wp_result_read_json(texts[i], strlen(texts[i]), "x", &result, &err),
			-WP_E_DATA);
		assert_true(err.message[0]);
	}
}

static void a_document_cut_anywhere_is_refused(void **state)
{
	/* The last byte is the line feed, which may be missing. */
	(void)state;
	for (size_t length = 0; length + 1 < strlen(good); length++) {
		char *copy = wp_xstrndup(good, length);
		struct wp_result *result = NULL;

		assert_int_equal(wp_result_read_json(copy, length, "x", &result, NULL), -WP_E_DATA);
		free(copy);
	}
}

static void a_document_that_is_too_long_is_refused_unread(void **state)
{
	struct wp_result *result = NULL;
	struct wp_err err = { 0 };

	(void)state;
	assert_int_equal(wp_result_read_json("{}", SIZE_MAX, "x", &result, &err), -WP_E_DATA);
	assert_non_null(strstr(err.message, "longer than"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_right_document_is_taken),
		cmocka_unit_test(unknown_keys_are_passed_over),
		cmocka_unit_test(wrong_documents_are_refused_with_the_place),
		cmocka_unit_test(a_later_schema_is_refused_with_a_hint),
		cmocka_unit_test(what_is_no_document_is_refused),
		cmocka_unit_test(a_document_cut_anywhere_is_refused),
		cmocka_unit_test(a_document_that_is_too_long_is_refused_unread),
	};

	return cmocka_run_group_tests_name("json_read", tests, NULL, NULL);
}
