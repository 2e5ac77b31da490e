/* SPDX-License-Identifier: PostgreSQL */
#include "fake_os.h"
#include "harness.h"
#include "script_client.h"
#include "walprobe/mem.h"

#include <malloc.h>

/* ---- hostile input --------------------------------------------------------------------------- */

/* part repeated until it is length bytes long */
static char *repeat(const char *part, size_t length)
{
	char *text = wp_xcalloc(length + 1, 1);

	for (size_t i = 0; i < length; i++)
		text[i] = part[i % strlen(part)];
	return text;
}

static void a_megabyte_of_anything_is_parsed_or_refused(void **state)
{
	static const char *const parts[] = { "a", ";", "a;", "'", "\"", "$", "$a", "$$", "/*", "--",
		"(", ":a ", ":", "\\", "\\\n", "\\set a 1\n", "\\if 1\n", "\\set a 1+",
		"\\sleep 1 ", "\\set a (", "\xff", "\n", "create function begin ", "\\\\", "E'",
		":a;", "\\set a - ", "\\set a case when 1 then 1 ", "1:a,", "\\;", "\\gset ",
		"x\\gset\n" };
	const size_t length = 1024 * 1024;

	(void)state;
	for (size_t i = 0; i < WP_COUNT(parts); i++) {
		char *text = repeat(parts[i], length);

		for (int protocol = WP_PROTOCOL_SIMPLE; protocol <= WP_PROTOCOL_PREPARED;
			protocol += 2) {
			struct client client;
			struct wp_err err = { 0 };

			if (client_parse(&client, text, (enum wp_protocol)protocol, &err) < 0)
				assert_true(err.message[0]);
			else
				assert_true(client.script.count > 0);
			client_release(&client);
		}
		free(text);
	}
}

static void ten_thousand_statements_keep_their_numbers(void **state)
{
	char *text = repeat("SELECT :a;\n", 10000 * strlen("SELECT :a;\n"));
	struct client client;

	(void)state;
	assert_int_equal(client_parse(&client, text, WP_PROTOCOL_PREPARED, NULL), 0);
	assert_int_equal(client.script.count, 10000);
	assert_int_equal(client.script.commands[9999].line, 10000);
	assert_int_equal(client.script.commands[9999].statement, 9999);
	assert_string_equal(client.script.commands[9999].text, "SELECT $1;");
	free(text);
	client_release(&client);
}

static void every_byte_value_is_text_but_zero(void **state)
{
	struct client client = { 0 };
	struct wp_err err = { 0 };

	(void)state;
	for (int byte = 0; byte < 256; byte++) {
		char text[] = { 'a', '\n', (char)byte, 'b', ';' };
		int result = wp_script_parse(CLIENT_SCRIPT_NAME, text, sizeof(text),
			WP_PROTOCOL_SIMPLE, &client.symbols, &client.script, &err);

		/* quotes are open, a parenthesis too, and \b is no command */
		if (byte == 0 || byte == '\'' || byte == '"' || byte == '(' || byte == '\\')
			assert_int_equal(result, -WP_E_USAGE);
		else
			assert_int_equal(result, 0);
		if (byte == 0)
			assert_string_equal(err.message, "x.sql:2: script holds a zero byte");
		wp_script_release(&client.script);
	}
	wp_symbols_release(&client.symbols);
}

static void limits_are_errors(void **state)
{
	char *long_text = repeat("a ", WP_SCRIPT_BYTES_MAX + 1);
	char *many = repeat("a;", 2 * (WP_SCRIPT_COMMANDS_MAX + 1));
	char *params = repeat(":a ", 3 * (WP_SCRIPT_PARAMS_MAX + 1));
	struct client client;
	struct wp_err err = { 0 };

	(void)state;
	assert_int_equal(client_parse(&client, long_text, WP_PROTOCOL_SIMPLE, &err), -WP_E_USAGE);
	assert_string_equal(err.message, "x.sql: script is longer than 16777216 bytes");
	client_release(&client);
	assert_int_equal(client_parse(&client, many, WP_PROTOCOL_SIMPLE, &err), -WP_E_USAGE);
	assert_string_equal(err.message, "x.sql: too many commands in script, maximum is 100000");
	client_release(&client);
	assert_int_equal(client_parse(&client, params, WP_PROTOCOL_PREPARED, &err), -WP_E_USAGE);
	assert_string_equal(
		err.message, "x.sql:1: statement has too many arguments, maximum is 255");
	client_release(&client);
	assert_int_equal(client_parse(&client, params, WP_PROTOCOL_SIMPLE, &err), 0);
	client_release(&client);
	params[3 * WP_SCRIPT_PARAMS_MAX] = '\0';
	assert_int_equal(client_parse(&client, params, WP_PROTOCOL_PREPARED, &err), 0);
	assert_int_equal(client.script.commands[0].param_count, 255);
	client_release(&client);
	free(long_text);
	free(many);
	free(params);
}

static void long_lines_are_shown_around_the_fault(void **state)
{
	char *line = repeat("1 + ", 100000);
	char *text = wp_xasprintf("\\set a %s; + 1", line);
	struct client client;
	struct wp_err err = { 0 };

	(void)state;
	assert_int_equal(client_parse(&client, text, WP_PROTOCOL_SIMPLE, &err), -WP_E_USAGE);
	assert_non_null(strstr(err.detail, "1 + 1 + ; + 1\n"));
	assert_non_null(strstr(err.detail, "^ error found here"));
	free(line);
	free(text);
	client_release(&client);
}

/* ---- files and built-in scripts -------------------------------------------------------------- */

static void files_are_loaded_or_named(void **state)
{
	const char *dir = scratch_dir();
	char *path = wp_xasprintf("%s/s.sql", dir);
	struct wp_symbols symbols = { 0 };
	struct wp_script script = { 0 };
	struct wp_err err = { 0 };
	struct fake_os fake;
	FILE *file = fopen(path, "w");

	(void)state;
	assert_non_null(file);
	fputs("SELECT 1;\n", file);
	fclose(file);
	fake_os_init(&fake);
	assert_int_equal(
		wp_script_load(&fake.os, path, WP_PROTOCOL_SIMPLE, &symbols, &script, &err), 0);
	assert_string_equal(script.commands[0].text, "SELECT 1;");
	wp_script_release(&script);

	fake_os_arm(&fake, "read", 1, EIO);
	assert_int_equal(
		wp_script_load(&fake.os, path, WP_PROTOCOL_SIMPLE, &symbols, &script, &err),
		-WP_E_SYS);
	assert_non_null(strstr(err.message, path));
	assert_int_equal(atomic_load(&fake.open_count), 0);

	assert_int_equal(wp_script_load(wp_os_linux(), "no-such-file", WP_PROTOCOL_SIMPLE, &symbols,
				 &script, &err),
		-WP_E_USAGE);
	assert_string_equal(
		err.message, "could not open file \"no-such-file\": No such file or directory");
	assert_int_equal(script.count, 0);
	free(path);
	wp_symbols_release(&symbols);
	scratch_dir_remove(dir);
}

static void builtin_scripts_parse_under_every_protocol(void **state)
{
	static const int32_t statements[] = { 7, 5, 1, 1 };
	size_t count;
	const struct wp_builtin *builtins = wp_builtins(&count);

	(void)state;
	assert_int_equal(count, WP_COUNT(statements));
	for (size_t i = 0; i < count; i++) {
		for (int protocol = 0; protocol <= WP_PROTOCOL_PREPARED; protocol++) {
			struct client client;
			char out[2000];

			assert_int_equal(client_parse(&client, builtins[i].text,
						 (enum wp_protocol)protocol, NULL),
				0);
			assert_int_equal(client.script.statement_count, statements[i]);
			client_run(&client, out, sizeof(out));
			assert_null(strstr(out, "error"));
			assert_null(strchr(out, ':'));
			client_release(&client);
		}
	}
}

static void builtin_scripts_are_found_by_a_unique_beginning(void **state)
{
	static const struct {
		const char *name;
		const char *found; /* NULL: message */
		const char *message;
	} rows[] = {
		{ "tpcb-like", "tpcb-like", NULL },
		{ "t", "tpcb-like", NULL },
		{ "se", "select-only", NULL },
		{ "si", "simple-update", NULL },
		{ "c", "commit-only", NULL },
		{ "s", NULL, "ambiguous builtin name: 2 builtin scripts found for prefix \"s\"" },
		{ "", NULL, "ambiguous builtin name: 4 builtin scripts found for prefix \"\"" },
		{ "nosuch", NULL, "no builtin script found for name \"nosuch\"" },
		{ "tpcb-like2", NULL, "no builtin script found for name \"tpcb-like2\"" },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(rows); i++) {
		const struct wp_builtin *builtin = NULL;
		struct wp_err err = { 0 };
		int result = wp_builtin_find(rows[i].name, strlen(rows[i].name), &builtin, &err);

		assert_int_equal(result, rows[i].found ? 0 : -WP_E_USAGE);
		if (rows[i].found)
			assert_string_equal(builtin->name, rows[i].found);
		else
			assert_string_equal(err.message, rows[i].message);
	}
}

static void weights_follow_the_last_at_sign(void **state)
{
	static const struct {
		const char *option;
		size_t name_length;
		int32_t weight;
		const char *message;
	} rows[] = {
		{ "a", 1, 1, NULL },
		{ "a@5", 1, 5, NULL },
		{ "a@b@0", 3, 0, NULL },
		{ "a@2147483647", 1, 2147483647, NULL },
		{ "a@one", 0, 0, "invalid weight specification: @one" },
		{ "a@", 0, 0, "invalid weight specification: @" },
		{ "a@1x", 0, 0, "invalid weight specification: @1x" },
		{ "a@-1", 0, 0, "weight specification out of range (0 .. 2147483647): -1" },
		{ "a@2147483648", 0, 0,
			"weight specification out of range (0 .. 2147483647): 2147483648" },
	};

	(void)state;
	for (size_t i = 0; i < WP_COUNT(rows); i++) {
		struct wp_err err = { 0 };
		size_t name_length;
		int32_t weight;
		int result = wp_script_split_weight(rows[i].option, &name_length, &weight, &err);

		if (rows[i].message) {
			assert_int_equal(result, -WP_E_USAGE);
			assert_string_equal(err.message, rows[i].message);
		} else {
			assert_int_equal(result, 0);
			assert_int_equal(name_length, rows[i].name_length);
			assert_int_equal(weight, rows[i].weight);
		}
	}
}

static void transactions_allocate_nothing_once_warm(void **state)
{
	size_t count;
	const struct wp_builtin *builtins = wp_builtins(&count);
	const char *values[WP_SCRIPT_PARAMS_MAX];
	char out[2000];

	(void)state;
	for (int protocol = 0; protocol <= WP_PROTOCOL_PREPARED; protocol++) {
		struct client client;
		struct mallinfo2 before;

		assert_int_equal(
			client_parse(&client, builtins[0].text, (enum wp_protocol)protocol, NULL),
			0);
		client_run(&client, out, sizeof(out));
		before = mallinfo2();
		for (int i = 0; i < 1000; i++) {
			client_run(&client, out, sizeof(out));
			wp_command_params(&client.script.commands[5], &client.vars, values);
		}
		assert_int_equal(mallinfo2().uordblks, before.uordblks);
		client_release(&client);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_megabyte_of_anything_is_parsed_or_refused),
		cmocka_unit_test(ten_thousand_statements_keep_their_numbers),
		cmocka_unit_test(every_byte_value_is_text_but_zero),
		cmocka_unit_test(limits_are_errors),
		cmocka_unit_test(long_lines_are_shown_around_the_fault),
		cmocka_unit_test(files_are_loaded_or_named),
		cmocka_unit_test(builtin_scripts_parse_under_every_protocol),
		cmocka_unit_test(builtin_scripts_are_found_by_a_unique_beginning),
		cmocka_unit_test(weights_follow_the_last_at_sign),
		cmocka_unit_test(transactions_allocate_nothing_once_warm),
	};

	return cmocka_run_group_tests_name("script input", tests, NULL, NULL);
}
