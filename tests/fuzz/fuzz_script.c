/* SPDX-License-Identifier: PostgreSQL */
/*
 * fuzz_script - libFuzzer target: any bytes as a script, and what parses is run.
 *
 * The first byte chooses the protocol. Beyond what the sanitizers see, it checks that a command
 * never leads out of the script and that statements keep their parameters in bounds.
 */
#include "walprobe/script.h"

#define STEPS_MAX 2000

struct client {
	struct wp_vars vars;
	struct wp_text text;
	struct wp_random random;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count_debug(void *arg, const struct wp_value *value)
{
	char text[WP_VALUE_TEXT_SIZE];

	*(size_t *)arg += wp_value_format(value, text);
}

static void render(const struct wp_command *command, struct client *client)
{
	const char *values[WP_SCRIPT_PARAMS_MAX];
	size_t length;
	const char *text = wp_command_text(command, &client->vars, &client->text, &length);

	if (strlen(text) != length || command->param_count > WP_SCRIPT_PARAMS_MAX)
		abort();
	wp_command_params(command, &client->vars, values);
	/* what comes back from the server is a text of any kind, here the statement's own */
	if (command->store != WP_STORE_NONE)
		(void)wp_vars_set_text(&client->vars, "gset", command->prefix, "x", text, NULL);
}

static void run(
	const struct wp_script *script, const struct wp_expr_env *env, struct client *client)
{
	size_t index = 0;

	for (int steps = 0; steps < STEPS_MAX && index < script->count; steps++) {
		const struct wp_command *command = &script->commands[index];
		struct wp_step step = { .next = index + 1 };
		struct wp_err err;

		if (command->kind == WP_COMMAND_SQL)
			render(command, client);
		else if (wp_script_run_meta(script, index, env, &step, &err) < 0)
			step.next = index + 1; /* a client would stop; look at the rest as well */
		if (step.next <= index || step.next > script->count || step.sleep_ns < 0)
			abort();
		index = step.next;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wp_symbols symbols = { 0 };
	struct wp_script script = { 0 };
	struct client client = { 0 };
	struct wp_err err;
	size_t debugged = 0;
	struct wp_expr_env env = { .vars = &client.vars,
		.random = &client.random,
		.debug = count_debug,
		.debug_arg = &debugged };

	if (size == 0)
		return 0;
	(void)wp_symbols_define(&symbols, "t", 1);
	if (wp_script_parse("fuzz.sql", (const char *)data + 1, size - 1, data[0] % 3, &symbols,
		    &script, &err) == 0) {
		wp_random_init(&client.random, size);
		wp_vars_init(&client.vars, &symbols);
		(void)wp_vars_define(&client.vars, "t=-9223372036854775808", NULL);
		wp_vars_set_default(&client.vars, "default_seed", 1);
		run(&script, &env, &client);
		run(&script, &env, &client);
	}
	wp_text_release(&client.text);
	wp_vars_release(&client.vars);
	wp_script_release(&script);
	wp_symbols_release(&symbols);
	return 0;
}
