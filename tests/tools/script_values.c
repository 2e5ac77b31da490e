/* SPDX-License-Identifier: PostgreSQL */
/*
 * script_values - run a script once without a server, for comparison with pgbench.
 *
 *	script_values [-M PROTOCOL] [-D NAME=VALUE]... FILE
 *
 * Prints what debug() gives as pgbench prints it, and the statements as "sql: ..." with their
 * parameters. Exit 0; 1 when the script cannot be read; 2 when a command fails.
 */
#include "walprobe/script.h"

#include <float.h>

#define RANDOM_SEED 5432
#define DEFAULT_SEED 20010711

struct run {
	struct wp_symbols symbols;
	struct wp_script script;
	struct wp_vars vars;
	struct wp_text text;
	struct wp_random random;
	size_t index;
};

static void show_debug(void *arg, const struct wp_value *value)
{
	const struct run *run = arg;
	char text[WP_VALUE_TEXT_SIZE];

	(void)wp_value_format(value, text);
	printf("debug(script=0,command=%zu): ", run->index + 1);
	if (value->type == WP_VALUE_NULL)
		printf("null\n");
	else
		printf("%s %s\n", wp_value_type_name(value->type), text);
}

static void show_statement(struct run *run, const struct wp_command *command)
{
	const char *values[WP_SCRIPT_PARAMS_MAX];

	printf("sql: %s", wp_command_text(command, &run->vars, &run->text, NULL));
	wp_command_params(command, &run->vars, values);
	for (size_t i = 0; i < command->param_count; i++)
		printf(" [%s]", values[i] ? values[i] : "(none)");
	printf("\n");
}

static int run_script(struct run *run, struct wp_err *err)
{
	struct wp_expr_env env = {
		.vars = &run->vars, .random = &run->random, .debug = show_debug, .debug_arg = run
	};

	while (run->index < run->script.count) {
		const struct wp_command *command = &run->script.commands[run->index];
		struct wp_step step = { .next = run->index + 1 };

		if (command->kind == WP_COMMAND_SQL)
			show_statement(run, command);
		else if (wp_script_run_meta(&run->script, run->index, &env, &step, err) < 0)
			return 2;
		run->index = step.next;
	}
	return 0;
}

static int define_all(struct run *run, char **definitions, int count, struct wp_err *err)
{
	wp_vars_init(&run->vars, &run->symbols);
	for (int i = 0; i < count; i++)
		if (wp_vars_define(&run->vars, definitions[i], err) < 0)
			return 1;
	wp_vars_set_default(&run->vars, "scale", 1);
	wp_vars_set_default(&run->vars, "client_id", 0);
	wp_vars_set_default(&run->vars, "random_seed", RANDOM_SEED);
	wp_vars_set_default(&run->vars, "default_seed", DEFAULT_SEED);
	return 0;
}

static enum wp_protocol protocol_of(const char *word)
{
	if (strcmp(word, "extended") == 0)
		return WP_PROTOCOL_EXTENDED;
	return strcmp(word, "prepared") == 0 ? WP_PROTOCOL_PREPARED : WP_PROTOCOL_SIMPLE;
}

int main(int argc, char **argv)
{
	enum wp_protocol protocol = WP_PROTOCOL_SIMPLE;
	struct wp_err err = { 0 };
	struct run run = { 0 };
	int definitions = 0;
	int status = 1;
	int at;

	for (at = 1; at + 2 < argc; at += 2) {
		if (strcmp(argv[at], "-M") == 0) {
			protocol = protocol_of(argv[at + 1]);
		} else {
			char *definition = argv[at + 1];
			const char *equals = strchr(definition, '=');

			(void)wp_symbols_define(&run.symbols, definition,
				equals ? (size_t)(equals - definition) : strlen(definition));
			argv[++definitions] = definition;
		}
	}
	if (at >= argc)
		return 1;
	wp_random_init(&run.random, RANDOM_SEED);
	if (wp_script_load(wp_os_linux(), argv[at], protocol, &run.symbols, &run.script, &err) ==
		0) {
		status = define_all(&run, argv + 1, definitions, &err);
		if (status == 0)
			status = run_script(&run, &err);
	}
	if (status > 0) {
		fflush(stdout);
		wp_err_print(&err, "error", stderr);
	}
	wp_text_release(&run.text);
	wp_vars_release(&run.vars);
	wp_script_release(&run.script);
	wp_symbols_release(&run.symbols);
	return status;
}
