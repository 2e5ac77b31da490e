/* SPDX-License-Identifier: PostgreSQL */
#include "pg/loop_internal.h"

static const struct wp_command *current(const struct wp_client *client)
{
	return client->state == WP_CLIENT_WAITING && client->script &&
			       client->at < client->script->script.count
		       ? &client->script->script.commands[client->at]
		       : NULL;
}

static int broken(const struct wp_client *client, const char *what, struct wp_err *err)
{
	const struct wp_command *command = current(client);

	if (command)
		return wp_fail(err, WP_E_SERVER, 0,
			"client %" PRId64 " ended in line %d of script \"%s\": %s", client->id,
			(int)command->line, client->script->script.name, what);
	return wp_fail(err, WP_E_SERVER, 0, "client %" PRId64 " ended: %s", client->id, what);
}

static enum wp_failure failure_of(const struct wp_client *client, const char *sqlstate)
{
	if (!sqlstate)
		return WP_FAILURE_NONE;
	if (strcmp(sqlstate, "40001") == 0)
		return WP_FAILURE_SERIALIZATION;
	if (strcmp(sqlstate, "40P01") == 0)
		return WP_FAILURE_DEADLOCK;
	if (strcmp(sqlstate, "57014") == 0 && client->thread->is_cancelled)
		return WP_FAILURE_CANCELLED;
	return WP_FAILURE_NONE;
}

/* How much an error tells of why a step ended: the end of a connection nothing. */
static int rank_of(const char *sqlstate)
{
	if (!sqlstate || strncmp(sqlstate, "57P", 3) == 0 || strncmp(sqlstate, "08", 2) == 0)
		return 0;
	return strcmp(sqlstate, "53100") == 0 || strcmp(sqlstate, "58030") == 0 ? 2 : 1;
}

static void hint_for(const char *sqlstate, struct wp_err *err)
{
	if (!sqlstate)
		wp_err_hint(err, "Look at the server's log.");
	else if (strcmp(sqlstate, "42501") == 0)
		wp_err_hint(err, "Grant it to this role, or connect as the tables' owner.");
	else if (strcmp(sqlstate, "42P01") == 0 || strcmp(sqlstate, "42703") == 0)
		wp_err_hint(err, "Make pgbench's tables with \"walprobe ramp -i\".");
	else if (strcmp(sqlstate, "26000") == 0 || strcmp(sqlstate, "08P01") == 0)
		wp_err_hint(err, "A connection pooler between may not keep prepared statements: "
				 "try -M extended, or connect to the server itself.");
	else if (strcmp(sqlstate, "53100") == 0)
		wp_err_hint(err, "A file system of the server is full: make room there, or lower "
				 "max_wal_size, and see in the server's log which one.");
	else if (strcmp(sqlstate, "57014") == 0)
		wp_err_hint(err, "Look at statement_timeout of this role and database.");
}

/* ---- the end of a connection ----------------------------------------------------------------- */

/* What the server said to a client that asked nothing, mostly why it is sent away. */
void wp_client_notice(void *client_argument, const PGresult *notice)
{
	struct wp_client *client = client_argument;
	const char *severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
	const char *sqlstate = PQresultErrorField(notice, PG_DIAG_SQLSTATE);

	if (!severity || (strcmp(severity, "FATAL") != 0 && strcmp(severity, "PANIC") != 0))
		return;
	(void)snprintf(
		client->last_words, sizeof(client->last_words), "%s", PQresultErrorMessage(notice));
	(void)wp_pg_one_line(client->last_words);
	client->loss_rank = rank_of(sqlstate);
}

/* The server's last message may still lie unread in libpq's buffer behind the error of the call. */
static void hear_last_words(struct wp_client *client)
{
	int left = WP_SCRIPT_PARAMS_MAX; /* more results than this are not of interest */
	PGresult *result;

	if (PQstatus(client->connection) != CONNECTION_BAD)
		return;
	while (left-- > 0 && (result = PQgetResult(client->connection))) {
		if (PQresultErrorField(result, PG_DIAG_SQLSTATE))
			wp_client_notice(client, result);
		PQclear(result);
	}
}

int wp_client_fail_connection(struct wp_client *client, struct wp_err *err)
{
	char message[512];

	(void)wp_pg_message(client->connection, message, sizeof(message));
	hear_last_words(client);
	return wp_fail(err, WP_E_SERVER, 0, "client %" PRId64 " lost its connection: %s",
		client->id, client->last_words[0] ? client->last_words : message);
}

/* ---- answers --------------------------------------------------------------------------------- */

int wp_client_refused(struct wp_client *client, const PGresult *result, struct wp_err *err)
{
	const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	char message[512];

	(void)snprintf(message, sizeof(message), "%s", PQresultErrorMessage(result));
	(void)broken(client, wp_pg_one_line(message), err);
	hint_for(sqlstate, err);
	client->loss_rank = rank_of(sqlstate);
	return -WP_E_SERVER;
}

static enum wp_answer take_error(
	struct wp_client *client, const PGresult *result, struct wp_err *err)
{
	const char *sqlstate = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	enum wp_failure failure = failure_of(client, sqlstate);

	if (failure != WP_FAILURE_NONE) {
		client->failure = failure;
		return WP_ANSWER_PENDING;
	}
	(void)wp_client_refused(client, result, err);
	return WP_ANSWER_LOST;
}

static int store_row(struct wp_client *client, const PGresult *result, int row, const char *context,
	struct wp_err *err)
{
	const struct wp_command *command = current(client);
	int rc = 0;

	for (int i = 0; !rc && i < PQnfields(result); i++)
		rc = wp_vars_set_text(&client->vars, context, command->prefix, PQfname(result, i),
			PQgetvalue(result, row, i), err);
	if (rc)
		wp_err_prefix(err,
			"client %" PRId64 " ended in line %d of script \"%s\": ", client->id,
			(int)command->line, client->script->script.name);
	return rc;
}

/* The last result of a \gset statement: exactly one row. */
static enum wp_answer finish_gset(struct wp_client *client, struct wp_err *err)
{
	PGresult *held = client->held;
	int rows = PQntuples(held);
	char what[64];
	int rc;

	client->held = NULL;
	if (client->failure != WP_FAILURE_NONE) {
		PQclear(held);
		return WP_ANSWER_DONE;
	}
	(void)snprintf(what, sizeof(what), "expected one row, got %d", rows);
	if (rows != 1)
		rc = broken(client, what, err);
	else
		rc = store_row(client, held, 0, "gset", err);
	PQclear(held);
	return rc ? WP_ANSWER_LOST : WP_ANSWER_DONE;
}

static enum wp_answer take_rows(struct wp_client *client, PGresult **result, struct wp_err *err)
{
	const struct wp_command *command = current(client);

	if (!command || client->is_pipeline || client->failure != WP_FAILURE_NONE)
		return WP_ANSWER_PENDING;
	if (command->store == WP_STORE_GSET) {
		PQclear(client->held);
		client->held = *result;
		*result = NULL;
	} else if (command->store == WP_STORE_ASET && PQntuples(*result) > 0) {
		if (store_row(client, *result, PQntuples(*result) - 1, "aset", err))
			return WP_ANSWER_LOST;
	}
	return WP_ANSWER_PENDING;
}

static enum wp_answer take_result(struct wp_client *client, PGresult *result, struct wp_err *err)
{
	enum wp_answer answer = WP_ANSWER_PENDING;

	switch (PQresultStatus(result)) {
	case PGRES_TUPLES_OK:
	case PGRES_COMMAND_OK:
	case PGRES_EMPTY_QUERY:
		answer = take_rows(client, &result, err);
		break;
	case PGRES_PIPELINE_ABORTED:
		break; /* what failed before it has been seen */
	case PGRES_PIPELINE_SYNC:
		if (--client->pending_syncs == 0)
			answer = WP_ANSWER_DONE;
		break;
	case PGRES_COPY_IN:
	case PGRES_COPY_OUT:
	case PGRES_COPY_BOTH:
		(void)broken(client, "COPY is not supported in scripts", err);
		answer = WP_ANSWER_LOST;
		break;
	default:
		answer = take_error(client, result, err);
		break;
	}
	PQclear(result);
	return answer;
}

enum wp_answer wp_client_answer(struct wp_client *client, struct wp_err *err)
{
	PGconn *connection = client->connection;
	enum wp_answer answer = WP_ANSWER_PENDING;

	while (answer == WP_ANSWER_PENDING && !PQisBusy(connection)) {
		PGresult *result = PQgetResult(connection);

		if (result)
			answer = take_result(client, result, err);
		else if (client->held)
			answer = finish_gset(client, err);
		else if (!client->is_pipeline)
			answer = WP_ANSWER_DONE;
	}
	return answer;
}
