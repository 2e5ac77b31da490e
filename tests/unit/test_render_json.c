/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "report/number.h"
#include "sample_result.h"

#include <float.h>
#include <jansson.h>

static struct wp_result *read_back(const char *json)
{
	struct wp_result *result = NULL;
	struct wp_err err = { 0 };

	if (wp_result_read_json(json, strlen(json), "sample", &result, &err) != 0)
		fail_msg("%s", err.message);
	return result;
}

static void the_document_looks_like_this(void **state)
{
	struct wp_result *result = sample_stopped();
	char *json = sample_render(result, wp_render_json, false, false);

	(void)state;
	sample_golden("stopped.json", json);
	free(json);
	wp_result_free(result);
}

static void odd_content_looks_like_this(void **state)
{
	struct wp_result *result = sample_odd();
	char *json = sample_render(result, wp_render_json, false, false);

	(void)state;
	sample_golden("odd.json", json);
	free(json);
	wp_result_free(result);
}

/* Every renderer must give the same bytes before and after the document went through JSON. */
static void a_document_read_back_renders_to_the_same_bytes(void **state)
{
	static wp_render_fn *const renderers[] = { wp_render_json, wp_render_text, wp_render_csv };
	struct wp_result *results[] = { sample_compare(), sample_stopped(), sample_odd(),
		wp_result_new("empty") };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(results); i++) {
		char *json = sample_render(results[i], wp_render_json, false, false);
		struct wp_result *again = read_back(json);

		for (size_t j = 0; j < WP_COUNT(renderers); j++) {
			char *before = sample_render(results[i], renderers[j], true, true);
			char *after = sample_render(again, renderers[j], true, true);

			assert_string_equal(before, after);
			free(after);
			free(before);
		}
		wp_result_free(again);
		free(json);
		wp_result_free(results[i]);
	}
}

static void cells_keep_their_state_value_and_reason(void **state)
{
	struct wp_result *result = sample_odd();
	char *json = sample_render(result, wp_render_json, false, false);
	struct wp_result *again = read_back(json);
	const struct wp_table *before = wp_result_find_table(result, "odd,\n\"table\"");
	const struct wp_table *after = wp_result_find_table(again, "odd,\n\"table\"");

	(void)state;
	assert_non_null(before);
	assert_non_null(after);
	assert_int_equal(before->row_count, after->row_count);
	for (size_t i = 0; i < before->row_count; i++) {
		/* Column 0 holds bytes that are no UTF-8, which JSON cannot keep. */
		for (size_t j = 1; j < before->column_count; j++) {
			const struct wp_cell *old = &before->rows[i]->cells[j];
			const struct wp_cell *new = &after->rows[i]->cells[j];

			assert_int_equal(old->state, new->state);
			assert_true(old->integer == new->integer);
			assert_memory_equal(&old->real, &new->real, sizeof(old->real));
			assert_true(!old->text == !new->text);
		}
	}
	wp_result_free(again);
	free(json);
	wp_result_free(result);
}

static void jansson_agrees_that_it_is_json(void **state)
{
	static const char *const keys[] = { "format", "schema", "version", "command", "argv",
		"started", "complete", "environment", "parameters", "targets", "tables", "checks" };
	struct wp_result *result = sample_odd();
	char *json = sample_render(result, wp_render_json, false, false);
	json_t *root = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
	const json_t *parameter;
	const char *key;
	json_t *value;
	size_t i = 0;

	(void)state;
	assert_non_null(root);
	json_object_foreach(root, key, value)
	{
		assert_true(i < WP_COUNT(keys));
		assert_string_equal(key, keys[i++]);
	}
	assert_int_equal(i, WP_COUNT(keys));
	parameter = json_array_get(json_object_get(root, "parameters"), 0);
	assert_int_equal(json_integer_value(json_object_get(parameter, "value")), 7);
	json_decref(root);
	free(json);
	wp_result_free(result);
}

static void reals_are_written_in_the_shortest_exact_form(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{ 0, "0.0" },
		{ -0.0, "-0.0" },
		{ 0.1, "0.1" },
		{ 6383.3, "6383.3" },
		{ 6000, "6000.0" },
		{ 1.0 / 3, "0.3333333333333333" },
		{ 1e22, "1e+22" },
		{ DBL_MAX, "1.7976931348623157e+308" },
		{ 4.9406564584124654e-324, "4.94065645841247e-324" },
	};
	char text[WP_NUMBER_SIZE];

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		assert_string_equal(wp_number_real(cases[i].value, text), cases[i].text);
		assert_true(strtod(text, NULL) == cases[i].value);
	}
}

static void formats_have_names(void **state)
{
	(void)state;
	assert_ptr_equal(wp_renderer("text"), wp_render_text);
	assert_ptr_equal(wp_renderer("json"), wp_render_json);
	assert_ptr_equal(wp_renderer("csv"), wp_render_csv);
	assert_null(wp_renderer("xml"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_document_looks_like_this),
		cmocka_unit_test(odd_content_looks_like_this),
		cmocka_unit_test(a_document_read_back_renders_to_the_same_bytes),
		cmocka_unit_test(cells_keep_their_state_value_and_reason),
		cmocka_unit_test(jansson_agrees_that_it_is_json),
		cmocka_unit_test(reals_are_written_in_the_shortest_exact_form),
		cmocka_unit_test(formats_have_names),
	};

	return cmocka_run_group_tests_name("render_json", tests, NULL, NULL);
}
