/* SPDX-License-Identifier: PostgreSQL */
#include "pg/loop_internal.h"

static int watch(struct wp_client *client, bool is_writing, struct wp_err *err)
{
	int rc;

	if (client->is_writing == is_writing)
		return 0;
	rc = wp_poller_change(&client->thread->poller, PQsocket(client->connection),
		is_writing ? WP_POLL_READ | WP_POLL_WRITE : WP_POLL_READ, client);
	if (rc < 0)
		return wp_fail(err, WP_E_SYS, -rc, "could not watch the socket of client %" PRId64,
			client->id);
	client->is_writing = is_writing;
	return 0;
}

int wp_client_flush(struct wp_client *client, struct wp_err *err)
{
	/* No system call where all was sent already, which is nearly always. */
	int pending = PQflush(client->connection);

	if (pending < 0)
		return wp_client_fail_connection(client, err);
	return pending || client->is_writing ? watch(client, pending > 0, err) : 0;
}

int wp_client_send_text(struct wp_client *client, const char *text, struct wp_err *err)
{
	if (!PQsendQuery(client->connection, text))
		return wp_client_fail_connection(client, err);
	return wp_client_flush(client, err);
}

static int send_prepared(
	struct wp_client *client, const struct wp_command *command, struct wp_err *err)
{
	const struct wp_workload_script *script = client->script;
	int rc = 0;

	if (!client->prepared[script->first_flag + (size_t)command->statement] &&
		!client->is_pipeline)
		rc = wp_client_prepare(client, command, err);
	if (rc)
		return rc;
	/* One that the server would not prepare tells why when it is executed. */
	if (!client->prepared[script->first_flag + (size_t)command->statement])
		return PQsendQueryParams(client->connection, command->text,
			       (int)command->param_count, NULL, client->thread->values, NULL, NULL,
			       0)
			       ? 0
			       : wp_client_fail_connection(client, err);
	if (!PQsendQueryPrepared(client->connection, script->names[command->statement],
		    (int)command->param_count, client->thread->values, NULL, NULL, 0))
		return wp_client_fail_connection(client, err);
	return 0;
}

static int send_command(
	struct wp_client *client, const struct wp_command *command, struct wp_err *err)
{
	enum wp_protocol protocol = client->thread->loop->workload->protocol;

	if (protocol == WP_PROTOCOL_SIMPLE)
		return PQsendQuery(client->connection,
			       wp_command_text(command, &client->vars, &client->text, NULL))
			       ? 0
			       : wp_client_fail_connection(client, err);
	wp_command_params(command, &client->vars, client->thread->values);
	if (protocol == WP_PROTOCOL_PREPARED)
		return send_prepared(client, command, err);
	return PQsendQueryParams(client->connection, command->text, (int)command->param_count, NULL,
		       client->thread->values, NULL, NULL, 0)
		       ? 0
		       : wp_client_fail_connection(client, err);
}

int wp_client_send(struct wp_client *client, const struct wp_command *command, struct wp_err *err)
{
	int rc = send_command(client, command, err);

	/* A pipeline is sent as a whole, by its end. */
	return rc || client->is_pipeline ? rc : wp_client_flush(client, err);
}

int wp_client_sync(struct wp_client *client, struct wp_err *err)
{
	if (!PQpipelineSync(client->connection))
		return wp_client_fail_connection(client, err);
	client->pending_syncs++;
	return wp_client_flush(client, err);
}
