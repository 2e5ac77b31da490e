/* SPDX-License-Identifier: PostgreSQL */
/*
 * PQcancel() waits for the server without an end, so the backends are cancelled by a statement on a
 * connection of its own, whose waits all end.
 */
#include "pg/loop_internal.h"
#include "walprobe/mem.h"

static char *cancel_statement(const struct wp_loop_thread *thread)
{
	size_t size = 128 + (size_t)thread->client_count * 24;
	char *text = wp_xcalloc(1, size);
	size_t used = (size_t)snprintf(
		text, size, "SELECT pg_catalog.pg_cancel_backend(pid) FROM pg_catalog.unnest('{");
	bool is_first = true;

	for (int64_t i = 0; i < thread->client_count; i++) {
		const struct wp_client *client = &thread->clients[i];

		if (!client->connection ||
			(client->state != WP_CLIENT_WAITING && client->state != WP_CLIENT_ROLLBACK))
			continue;
		used += (size_t)snprintf(text + used, size - used, "%s%d", is_first ? "" : ",",
			PQbackendPID(client->connection));
		is_first = false;
	}
	(void)snprintf(text + used, size - used, "}'::integer[]) AS pid");
	if (is_first) {
		free(text);
		return NULL;
	}
	return text;
}

void wp_thread_cancel_all(struct wp_loop_thread *thread, int64_t limit_ns)
{
	const struct wp_os *os = thread->loop->os;
	int64_t until_ns = wp_os_now_ns(os) + limit_ns;
	char *text = cancel_statement(thread);
	PGconn *connection = NULL;
	PGresult *result = NULL;

	/* Whatever fails here, the connections are closed next. */
	if (text &&
		wp_pg_connect(os, thread->loop->options->conn, until_ns, &connection, NULL) == 0 &&
		PQsendQuery(connection, text))
		(void)wp_pg_finish_command(os, connection, until_ns, &result, NULL);
	PQclear(result);
	PQfinish(connection);
	free(text);
}
