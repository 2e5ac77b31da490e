/* SPDX-License-Identifier: PostgreSQL */
/* script_client.h - a script and one client that runs it without a server, for tests. */
#ifndef WALPROBE_SCRIPT_CLIENT_H
#define WALPROBE_SCRIPT_CLIENT_H

#include "walprobe/script.h"

/* what client_parse calls the script */
#define CLIENT_SCRIPT_NAME "x.sql"

struct client {
	struct wp_symbols symbols;
	struct wp_script script;
	struct wp_vars vars;
	struct wp_text text;
	struct wp_random random;
	struct wp_expr_env env;
};

/* client_parse - parse text and make a client with :scale 1; released also after a failure. */
int client_parse(
	struct client *client, const char *text, enum wp_protocol protocol, struct wp_err *err);

/* client_release - free both. */
void client_release(struct client *client);

/*
 * client_run - run the script once.
 *
 * out  receives the statements, each with "|" behind it, sleeps as "<ns>", and an error at the end
 */
void client_run(struct client *client, char *out, size_t size);

#endif
