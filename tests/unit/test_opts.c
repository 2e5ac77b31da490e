/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"

#include "cli/commands.h"
#include "walprobe/mem.h"
#include "walprobe/opts.h"

struct params {
	struct wp_common common;
	int64_t clients;
	int64_t duration_ns;
	struct wp_texts files;
};

static const struct wp_opt own[] = {
	{ "clients", 'c', WP_OPT_INT, "NUM", offsetof(struct params, clients), "4", 1, 1000, NULL,
		"number of clients" },
	{ "duration", 'T', WP_OPT_DURATION_S, "DURATION", offsetof(struct params, duration_ns),
		NULL, 0, 100 * WP_NS_PER_S, NULL, "how long" },
	{ "file", 'f', WP_OPT_TEXTS, "FILE", offsetof(struct params, files), NULL, 0, 0, NULL,
		"script" },
	{ .name = NULL },
};

static const struct wp_opt *const tables[] = { wp_common_opts, wp_output_opts, own, NULL };

static const struct wp_default defaults[] = { { "time", "250ms" }, { NULL, NULL } };

static const struct wp_command command = {
	.name = "try",
	.operands = "TARGET...",
	.summary = "tries",
	.tables = tables,
	.defaults = defaults,
	.params_size = sizeof(struct params),
	.operands_minimum = 1,
	.operands_maximum = 3,
};

static int parse(const char *const *words, size_t count, struct params *params,
	const char **operands, size_t *operand_count, struct wp_err *err)
{
	memset(err, 0, sizeof(*err));
	return wp_opts_parse(&command, words, count, params, operands, operand_count, err);
}

static void options_and_operands_mix(void **state)
{
	static const char *const words[] = { "a", "--rounds=7", "-c3", "-qv", "-T", "30", "b", "-f",
		"x", "--file=y", "--", "-c" };
	const char *operands[WP_COUNT(words)];
	struct params params;
	struct wp_err err;
	size_t count;

	(void)state;
	assert_int_equal(parse(words, WP_COUNT(words), &params, operands, &count, &err), 0);
	assert_int_equal(params.common.rounds, 7);
	assert_int_equal(params.common.time_ns, 250 * WP_NS_PER_MS);
	assert_int_equal(params.clients, 3);
	assert_int_equal(params.duration_ns, 30 * WP_NS_PER_S);
	assert_true(params.common.is_quiet && params.common.is_verbose);
	assert_false(params.common.is_kept);
	assert_int_equal(count, 3);
	assert_string_equal(operands[2], "-c");
	assert_int_equal(params.files.count, 2);
	assert_string_equal(params.files.values[1], "y");
	wp_opts_release(&command, &params);
}

static void refusals_name_the_option_and_say_what_to_do(void **state)
{
	static const struct {
		const char *words[3];
		const char *message;
	} cases[] = {
		{ { "a", "--rounds=0", NULL }, "option --rounds: \"0\" is out of range" },
		{ { "a", "--rounds=ten", NULL }, "option --rounds: \"ten\" is not a whole number" },
		{ { "a", "--time=5", NULL }, "option --time: unit missing in \"5\"" },
		{ { "a", "--format=xml", NULL }, "option --format: \"xml\" is not one of" },
		{ { "a", "--quiet=yes", NULL }, "option --quiet takes no value" },
		{ { "a", "--nosuch", NULL }, "unknown option \"--nosuch\"" },
		{ { "a", "--round=3", NULL }, "unknown option \"--round=3\"" },
		{ { "a", "-Z", NULL }, "unknown option \"-Z\"" },
		{ { "a", "-c", NULL }, "option --clients needs a value" },
		{ { "-c3", NULL, NULL }, "walprobe try needs TARGET..." },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		const char *operands[3];
		struct params params;
		struct wp_err err;
		size_t given = 0;
		size_t count;

		while (given < 3 && cases[i].words[given])
			given++;
		assert_int_equal(
			parse(cases[i].words, given, &params, operands, &count, &err), -WP_E_USAGE);
		if (!strstr(err.message, cases[i].message))
			fail_msg("%s", err.message);
		wp_opts_release(&command, &params);
	}
}

static void parameters_of_the_report_are_typed_and_say_their_source(void **state)
{
	static const char *const words[] = { "a", "--rounds=7", "--save=x.json" };
	struct wp_result *result = wp_result_new("try");
	const char *operands[3];
	struct params params;
	struct wp_err err;
	size_t count;

	(void)state;
	assert_int_equal(parse(words, WP_COUNT(words), &params, operands, &count, &err), 0);
	wp_opts_record(&command, &params, result);
	assert_string_equal(wp_result_parameter(result, "rounds"), "7");
	assert_string_equal(wp_result_parameter(result, "time"), "250ms");
	assert_string_equal(wp_result_parameter(result, "keep"), "off");
	assert_null(wp_result_parameter(result, "save"));
	assert_string_equal(result->parameters[0].source, "option");
	assert_string_equal(result->parameters[1].source, "default");
	assert_int_equal(result->parameters[0].kind, WP_KIND_INT);
	wp_opts_release(&command, &params);
	wp_result_free(result);
}

static void every_command_keeps_the_promises_of_its_tables(void **state)
{
	char problem[256] = "";

	(void)state;
	for (size_t i = 0; wp_commands[i]; i++)
		if (!wp_opts_check(wp_commands[i], problem, sizeof(problem)))
			fail_msg("%s: %s", wp_commands[i]->name, problem);
}

static void help_fits_the_page_and_names_every_option(void **state)
{
	(void)state;
	for (size_t i = 0; wp_commands[i]; i++) {
		char *text = NULL;
		size_t size = 0;
		FILE *stream = open_memstream(&text, &size);

		wp_opts_help(wp_commands[i], stream);
		assert_int_equal(fclose(stream), 0);
		for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
			if (strcspn(line, "\n") > 100)
				fail_msg("%s: line too long: %.100s", wp_commands[i]->name, line);
		assert_non_null(strstr(text, "--"));
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_and_operands_mix),
		cmocka_unit_test(refusals_name_the_option_and_say_what_to_do),
		cmocka_unit_test(parameters_of_the_report_are_typed_and_say_their_source),
		cmocka_unit_test(every_command_keeps_the_promises_of_its_tables),
		cmocka_unit_test(help_fits_the_page_and_names_every_option),
	};

	return cmocka_run_group_tests_name("opts", tests, NULL, NULL);
}
