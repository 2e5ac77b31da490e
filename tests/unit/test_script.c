/* SPDX-License-Identifier: PostgreSQL */
#include "harness.h"
#include "script_client.h"

static void check_runs(const char *const (*rows)[2], size_t count, enum wp_protocol protocol)
{
	for (size_t i = 0; i < count; i++) {
		struct client client;
		struct wp_err err = { 0 };
		char out[2000];

		if (client_parse(&client, rows[i][0], protocol, &err) < 0)
			fail_msg("%s", err.message);
		client_run(&client, out, sizeof(out));
		assert_string_equal(out, rows[i][1]);
		client_release(&client);
	}
}

/* ---- statements ------------------------------------------------------------------------------ */

static void statements_end_where_psql_ends_them(void **state)
{
	static const char *const rows[][2] = {
		{ "SELECT 1; SELECT 2;", "SELECT 1;|SELECT 2;|" },
		{ "SELECT 1", "SELECT 1|" },
		{ "-- a; b\nSELECT 1 -- c; d\n+ 2;\n-- end", "SELECT 1 -- c; d\n+ 2;|" },
		{ "/* a; /* b; */ c; */ SELECT 1;", "/* a; /* b; */ c; */ SELECT 1;|" },
		{ "SELECT 'a;''b;' ; x", "SELECT 'a;''b;' ;|x|" },
		{ "SELECT 'a\\'; x", "SELECT 'a\\';|x|" },
		{ "SELECT E'a\\';b'; x", "SELECT E'a\\';b';|x|" },
		{ "SELECT E'a'\n 'b\\';c'; x", "SELECT E'a'\n 'b\\';c';|x|" },
		{ "SELECT E'a' 'b\\'; x", "SELECT E'a' 'b\\';|x|" },
		{ "SELECT tablE'a\\'; x", "SELECT tablE'a\\';|x|" },
		{ "SELECT \"a;\"\"b;\"; x", "SELECT \"a;\"\"b;\";|x|" },
		{ "SELECT $$a;$x$;$$; x", "SELECT $$a;$x$;$$;|x|" },
		{ "SELECT $x$a;$$;$x$; x", "SELECT $x$a;$$;$x$;|x|" },
		{ "SELECT a$$ ; x", "SELECT a$$ ;|x|" },
		{ "SELECT $1; x", "SELECT $1;|x|" },
		{ "SELECT (1; 2); x", "SELECT (1; 2);|x|" },
		{ "SELECT 1) ; x", "SELECT 1) ;|x|" },
		{ "SELECT 1 \\; SELECT 2 ; x", "SELECT 1 ; SELECT 2 ;|x|" },
		{ "SELECT 1\\set v 2\nSELECT 3", "SELECT 1|SELECT 3|" },
		{ ";;", ";|;|" },
		{ "\\\nSELECT 1", "SELECT 1|" },
		{ "CREATE FUNCTION f() BEGIN ATOMIC SELECT CASE 1 END; SELECT 2; END; x",
			"CREATE FUNCTION f() BEGIN ATOMIC SELECT CASE 1 END; SELECT 2; END;|x|" },
		{ "create or replace procedure f() begin atomic 1; end; x",
			"create or replace procedure f() begin atomic 1; end;|x|" },
		{ "BEGIN; END;", "BEGIN;|END;|" },
		{ "\xff\xfe \x01;\x7f", "\xff\xfe \x01;|\x7f|" },
	};

	(void)state;
	check_runs(rows, WP_COUNT(rows), WP_PROTOCOL_SIMPLE);
}

static void variables_are_replaced_under_the_simple_protocol(void **state)
{
	static const char *const rows[][2] = {
		{ "\\set a 5\nSELECT :a, :a;", "SELECT 5, 5;|" },
		{ "\\set a 5\nSELECT x::a, :::a, :b, 'a:5', '12:34:56', :;",
			"SELECT x::a, :::a, :b, 'a:5', '12:34:56', :;|" },
		{ "\\set a 5\nSELECT ':a';", "SELECT '5';|" },
		{ "\\set a 5\nSELECT :a::int, a:ab, a:a", "SELECT 5::int, a:ab, a5|" },
		{ "\\set a_1 1.5\n\\set \xc3\xa9 true\nSELECT :a_1, :\xc3\xa9, :a_1-:a_1",
			"SELECT 1.5, true, 1.5-1.5|" },
		{ "\\set a null\nSELECT :a\\set a 1\n", "SELECT NULL|" },
		{ "SELECT :scale", "SELECT 1|" },
	};

	(void)state;
	check_runs(rows, WP_COUNT(rows), WP_PROTOCOL_SIMPLE);
}

static void variables_become_parameters_under_the_extended_protocols(void **state)
{
	static const char *const rows[][2] = {
		{ "\\set a 5\nSELECT :a, :a, :b;", "SELECT $1, $2, $3;|" },
		{ "SELECT x::a, :::a, :a::int", "SELECT x::a, :::a, $1::int|" },
		{ "SELECT '{\"a\":true}', \":a\", $$:a$$, E'\\':a' -- :a\n/* :a */ , :a",
			"SELECT '{\"a\":true}', \":a\", $$:a$$, E'\\':a' -- :a\n/* :a */ , $1|" },
		{ "SELECT :a+:b", "SELECT $1+$2|" },
	};

	(void)state;
	check_runs(rows, WP_COUNT(rows), WP_PROTOCOL_EXTENDED);
	check_runs(rows, WP_COUNT(rows), WP_PROTOCOL_PREPARED);
}

static void parameters_are_texts_in_the_order_of_the_statement(void **state)
{
	struct client client;
	const char *values[4];
	char out[100];

	(void)state;
	assert_int_equal(client_parse(&client, "\\set a 5\n\\set n null\nSELECT :a, :none, :n, :a",
				 WP_PROTOCOL_PREPARED, NULL),
		0);
	client_run(&client, out, sizeof(out));
	assert_int_equal(client.script.commands[2].param_count, 4);
	wp_command_params(&client.script.commands[2], &client.vars, values);
	assert_string_equal(values[0], "5");
	assert_null(values[1]);
	assert_string_equal(values[2], "NULL");
	assert_string_equal(values[3], "5");
	client_release(&client);
}

static void commands_know_their_lines_and_titles(void **state)
{
	struct client client;

	(void)state;
	assert_int_equal(
		client_parse(&client, "-- c\n\nSELECT 1\n + 2;\n\\set a \\\n 1\nSELECT 3 \\gset p_",
			WP_PROTOCOL_SIMPLE, NULL),
		0);
	assert_int_equal(client.script.count, 3);
	assert_int_equal(client.script.statement_count, 2);
	assert_int_equal(client.script.commands[0].line, 3);
	assert_string_equal(client.script.commands[0].title, "SELECT 1");
	assert_int_equal(client.script.commands[1].line, 5);
	assert_string_equal(client.script.commands[1].title, "\\set a \\\n 1");
	assert_int_equal(client.script.commands[2].line, 7);
	assert_int_equal(client.script.commands[2].statement, 1);
	assert_int_equal(client.script.commands[2].store, WP_STORE_GSET);
	assert_string_equal(client.script.commands[2].prefix, "p_");
	client_release(&client);
}

/* ---- backslash commands ---------------------------------------------------------------------- */

static void conditions_choose_one_branch(void **state)
{
	static const char *const rows[][2] = {
		{ "\\if 1\na\\else\nb\\endif\nc", "a|c|" },
		{ "\\if 0\na\\else\nb\\endif\nc", "b|c|" },
		{ "\\if null\na\\endif\nc", "c|" },
		{ "\\if 0\na\\elif 1\nb\\elif 1\nc\\else\nd\\endif\ne", "b|e|" },
		{ "\\if 0\na\\elif 0\nb\\elif 0.5\nc\\else\nd\\endif\ne", "c|e|" },
		{ "\\if 0\na\\elif 0\nb\\else\nd\\endif\ne", "d|e|" },
		{ "\\if 1\na\\elif 1/0\nb\\endif\ne", "a|e|" },
		{ "\\if 1\n\\if 0\na\\else\nb\\endif\nc\\else\n\\if 1\nd\\endif\n\\endif\ne",
			"b|c|e|" },
		{ "\\if 0\n\\if 1\na\\endif\n\\else\n\\if 1\nd\\endif\n\\endif", "d|" },
		{ "\\if 1\n\\endif", "" },
		{ "\\if 1/0\n\\endif", "error: division by zero" },
		{ "\\if 0\n\\elif :x\n\\endif", "error: undefined variable \"x\"" },
	};

	(void)state;
	check_runs(rows, WP_COUNT(rows), WP_PROTOCOL_SIMPLE);
}

static void sleeps_are_counted_in_their_units(void **state)
{
	static const char *const rows[][2] = {
		{ "\\sleep 2", "<2000000000>" },
		{ "\\sleep 2 s", "<2000000000>" },
		{ "\\sleep 3ms", "<3000000>" },
		{ "\\sleep 4 US", "<4000>" },
		{ "\\sleep 0", "" },
		{ "\\sleep -5", "" },
		{ "\\set v 1.9\n\\sleep :v ms", "<1000000>" },
		{ "\\sleep :v ms", "error: sleep: undefined variable \"v\"" },
		{ "\\set v true\n\\sleep :v ms",
			"error: sleep: invalid sleep time \"true\" for variable \"v\"" },
		{ "\\set v 9223372036854775807\n\\sleep :v",
			"error: sleep: sleep time is out of range" },
	};

	(void)state;
	check_runs(rows, WP_COUNT(rows), WP_PROTOCOL_SIMPLE);
}

/* script, message, detail */
static const struct {
	const char *text;
	const char *message;
	const char *detail;
} bad_scripts[] = {
	{ "", "empty command list for script \"x.sql\"", "" },
	{ " -- only a comment\n", "empty command list for script \"x.sql\"", "" },
	{ "\n\\set i 1 +\n", "x.sql:2: syntax error in command \"set\"",
		"The line is:\n\\set i 1 +\n          ^ error found here" },
	{ "\\set i 1 +", "x.sql:1: syntax error in command \"set\"",
		"The line is:\n\\set i 1 +\n         ^ error found here" },
	{ "\\set\ti ;", "x.sql:1: unexpected character (;) in command \"set\"",
		"The line is:\n\\set\ti ;\n    \t  ^ error found here" },
	{ "\\set i 1 \\\n + ; \n", "x.sql:1: unexpected character (;) in command \"set\"",
		"The line is:\n + ; \n   ^ error found here" },
	{ "\\set i \xc3\xa9(1)\n",
		"x.sql:1: unexpected function name (\xc3\xa9) in command \"set\"",
		"The line is:\n\\set i \xc3\xa9(1)\n        ^ error found here" },
	{ "\\set", "x.sql:1: missing argument in command \"set\"", "The line is:\n\\set" },
	{ "\\set . 1", "x.sql:1: invalid variable name (.) in command \"set\"",
		"The line is:\n\\set . 1\n     ^ error found here" },
	{ "\\set 1x 1", "x.sql:1: invalid variable name (1x) in command \"set\"",
		"The line is:\n\\set 1x 1\n     ^ error found here" },
	{ "\\if\n\\endif", "x.sql:1: syntax error in command \"if\"",
		"The line is:\n\\if\n   ^ error found here" },
	{ "\\sleep", "x.sql:1: missing argument in command \"sleep\"", "The line is:\n\\sleep" },
	{ "\\sleep 1 week",
		"x.sql:1: unrecognized time unit, must be us, ms or s (week) in command "
		"\"sleep\"",
		"The line is:\n\\sleep 1 week\n         ^ error found here" },
	{ "\\sleep 1week",
		"x.sql:1: unrecognized time unit, must be us, ms or s (week) in command "
		"\"sleep\"",
		"The line is:\n\\sleep 1week\n        ^ error found here" },
	{ "\\sleep a", "x.sql:1: invalid sleep time, must be an integer (a) in command \"sleep\"",
		"The line is:\n\\sleep a\n       ^ error found here" },
	{ "\\sleep 1 ms x", "x.sql:1: too many arguments in command \"sleep\"",
		"The line is:\n\\sleep 1 ms x\n            ^ error found here" },
	{ "\\sleep 99999999999999999999",
		"x.sql:1: sleep time is out of range (99999999999999999999) in command "
		"\"sleep\"",
		"The line is:\n\\sleep 99999999999999999999\n       ^ error found here" },
	{ "\\nosuch a", "x.sql:1: invalid command in command \"nosuch\"",
		"The line is:\n\\nosuch a" },
	{ "select 1;\n\\shell rm x", "x.sql:2: shell commands are not run in command \"shell\"",
		"The line is:\n\\shell rm x" },
	{ "\\setshell v echo 1", "x.sql:1: shell commands are not run in command \"setshell\"",
		"The line is:\n\\setshell v echo 1" },
	{ "\\if 1\n\\else x\n\\endif", "x.sql:2: unexpected argument in command \"else\"",
		"The line is:\n\\else x" },
	{ "\\gset", "x.sql:1: \\gset must follow an SQL command", "" },
	{ "\\set i 1\n\\aset", "x.sql:2: \\aset must follow an SQL command (\\set i 1)", "" },
	{ "SELECT 1 \\gset\n\\gset", "x.sql:2: \\gset must follow an SQL command (SELECT 1 )", "" },
	{ "SELECT 1 \\gset a b", "x.sql:1: too many arguments in command \"gset\"",
		"The line is:\n\\gset a b" },
	{ "SELECT 1;\nSELECT 'a\n;", "x.sql:2: quoted string is not closed", "" },
	{ "SELECT \"a;", "x.sql:1: quoted identifier is not closed", "" },
	{ "\nSELECT $a$ $$;", "x.sql:2: dollar-quoted string is not closed", "" },
	{ "/* /* */", "x.sql:1: comment is not closed", "" },
	{ "SELECT 1;\nSELECT (\n(1);\n\\set a 1\nSELECT 2;", "x.sql:2: parenthesis is not closed",
		"" },
};

static void bad_scripts_are_refused_with_line_and_place(void **state)
{
	(void)state;
	for (size_t i = 0; i < WP_COUNT(bad_scripts); i++) {
		struct client client;
		struct wp_err err = { 0 };

		assert_int_equal(
			client_parse(&client, bad_scripts[i].text, WP_PROTOCOL_SIMPLE, &err),
			-WP_E_USAGE);
		assert_string_equal(err.message, bad_scripts[i].message);
		assert_string_equal(err.detail, bad_scripts[i].detail);
		assert_int_equal(client.script.count, 0);
		client_release(&client);
	}
}

static void conditions_must_be_balanced(void **state)
{
	static const char *const rows[][2] = {
		{ "\\if 1", "command 2: \\if without matching \\endif" },
		{ "a;\\elif 1\n", "command 2: \\elif without matching \\if" },
		{ "\\else\n", "command 1: \\else without matching \\if" },
		{ "\\endif\n", "command 1: \\endif without matching \\if" },
		{ "\\if 1\n\\else\n\\elif 0\n\\endif", "command 3: \\elif after \\else" },
		{ "\\if 1\n\\else\n\\else\n\\endif", "command 3: \\else after \\else" },
		{ "\\if 1\n\\endif\n\\endif\n", "command 3: \\endif without matching \\if" },
	};
	char message[200];

	(void)state;
	for (size_t i = 0; i < WP_COUNT(rows); i++) {
		struct client client;
		struct wp_err err = { 0 };

		assert_int_equal(
			client_parse(&client, rows[i][0], WP_PROTOCOL_SIMPLE, &err), -WP_E_USAGE);
		(void)snprintf(message, sizeof(message), "condition error in script \"x.sql\" %s",
			rows[i][1]);
		assert_string_equal(err.message, message);
		client_release(&client);
	}
}

static void pipelines_that_must_fail_are_refused(void **state)
{
	static const struct {
		const char *text;
		const char *message; /* NULL: fine */
	} rows[] = {
		{ "\\startpipeline\na;\\syncpipeline\nb;\\endpipeline\nc \\gset", NULL },
		{ "\\startpipeline\n\\endpipeline\n\\startpipeline\n\\endpipeline", NULL },
		{ "\\if :x\n\\startpipeline\n\\else\n\\startpipeline\n\\endif\n\\endpipeline",
			NULL },
		{ "\\if :x\n\\startpipeline\n\\endif\na;\n\\if :x\n\\endpipeline\n\\endif", NULL },
		{ "\\startpipeline\n\\startpipeline\n",
			"x.sql:2: already in pipeline mode in command \"startpipeline\"" },
		{ "a;\n\\endpipeline\n",
			"x.sql:2: not in pipeline mode in command \"endpipeline\"" },
		{ "\\syncpipeline\n", "x.sql:1: not in pipeline mode in command \"syncpipeline\"" },
		{ "\\startpipeline\na \\gset\n\\endpipeline",
			"x.sql:2: \\gset is not allowed in pipeline mode" },
		{ "\\startpipeline\na \\aset\n\\endpipeline",
			"x.sql:2: \\aset is not allowed in pipeline mode" },
		{ "\\startpipeline\na;", "x.sql: end of script reached with pipeline open" },
		{ "\\startpipeline\n\\if 1\n\\endpipeline\n\\else\n\\endpipeline\n\\endif\n"
		  "\\endpipeline",
			"x.sql:7: not in pipeline mode in command \"endpipeline\"" },
	};
	struct client client;
	struct wp_err err = { 0 };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(rows); i++) {
		int result = client_parse(&client, rows[i].text, WP_PROTOCOL_PREPARED, &err);

		assert_int_equal(result, rows[i].message ? -WP_E_USAGE : 0);
		if (rows[i].message)
			assert_string_equal(err.message, rows[i].message);
		client_release(&client);
	}
	assert_int_equal(
		client_parse(&client, rows[0].text, WP_PROTOCOL_SIMPLE, &err), -WP_E_USAGE);
	assert_string_equal(
		err.message, "x.sql:1: cannot use pipeline mode with the simple query protocol");
	client_release(&client);
}

static void a_known_variable_within_quotes_needs_the_simple_protocol(void **state)
{
	static const char text[] = "\\set a 1\nSELECT ':a', :a";
	struct client client;
	struct wp_err err = { 0 };

	(void)state;
	assert_int_equal(client_parse(&client, text, WP_PROTOCOL_PREPARED, &err), -WP_E_USAGE);
	assert_string_equal(err.message,
		"x.sql:2: variable within quotes, where a parameter cannot stand (:a)");
	assert_true(err.hint[0]);
	client_release(&client);
	assert_int_equal(client_parse(&client, text, WP_PROTOCOL_SIMPLE, &err), 0);
	client_release(&client);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statements_end_where_psql_ends_them),
		cmocka_unit_test(variables_are_replaced_under_the_simple_protocol),
		cmocka_unit_test(variables_become_parameters_under_the_extended_protocols),
		cmocka_unit_test(parameters_are_texts_in_the_order_of_the_statement),
		cmocka_unit_test(commands_know_their_lines_and_titles),
		cmocka_unit_test(conditions_choose_one_branch),
		cmocka_unit_test(sleeps_are_counted_in_their_units),
		cmocka_unit_test(bad_scripts_are_refused_with_line_and_place),
		cmocka_unit_test(conditions_must_be_balanced),
		cmocka_unit_test(pipelines_that_must_fail_are_refused),
		cmocka_unit_test(a_known_variable_within_quotes_needs_the_simple_protocol),
	};

	return cmocka_run_group_tests_name("script", tests, NULL, NULL);
}
