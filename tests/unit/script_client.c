/* SPDX-License-Identifier: PostgreSQL */
#include "script_client.h"
#include "harness.h"

int client_parse(
	struct client *client, const char *text, enum wp_protocol protocol, struct wp_err *err)
{
	int result;

	memset(client, 0, sizeof(*client));
	(void)wp_symbols_define(&client->symbols, "scale", 5);
	result = wp_script_parse(CLIENT_SCRIPT_NAME, text, strlen(text), protocol, &client->symbols,
		&client->script, err);
	wp_vars_init(&client->vars, &client->symbols);
	wp_vars_set_default(&client->vars, "scale", 1);
	wp_random_init(&client->random, 1);
	client->env = (struct wp_expr_env){ .vars = &client->vars, .random = &client->random };
	return result;
}

void client_release(struct client *client)
{
	wp_text_release(&client->text);
	wp_vars_release(&client->vars);
	wp_script_release(&client->script);
	wp_symbols_release(&client->symbols);
}

void client_run(struct client *client, char *out, size_t size)
{
	size_t used = 0;
	size_t index = 0;

	out[0] = '\0';
	while (index < client->script.count) {
		const struct wp_command *command = &client->script.commands[index];
		struct wp_step step = { .next = index + 1 };
		struct wp_err err = { 0 };

		if (command->kind == WP_COMMAND_SQL)
			used += (size_t)snprintf(out + used, size - used, "%s|",
				wp_command_text(command, &client->vars, &client->text, NULL));
		else if (wp_script_run_meta(&client->script, index, &client->env, &step, &err) <
			 0) {
			(void)snprintf(out + used, size - used, "error: %s", err.message);
			return;
		}
		if (step.sleep_ns > 0)
			used += (size_t)snprintf(
				out + used, size - used, "<%" PRId64 ">", step.sleep_ns);
		assert_in_range(step.next, index + 1, client->script.count);
		index = step.next;
	}
}
