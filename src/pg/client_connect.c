/* SPDX-License-Identifier: PostgreSQL */
#include "pg/loop_internal.h"
#include "walprobe/mem.h"

#include <ctype.h>

#define COMMAND_LIMIT_NS (60 * WP_NS_PER_S)
#define CONNECT_LIMIT_NS (10 * WP_NS_PER_S)

/* splitmix64's step: seeds of neighbours are not alike. */
static uint64_t mix(uint64_t seed, uint64_t stream)
{
	uint64_t z = seed + (stream + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	return z ^ (z >> 31);
}

int wp_client_init(
	struct wp_client *client, struct wp_loop_thread *thread, int64_t id, struct wp_err *err)
{
	const struct wp_loop *loop = thread->loop;
	uint64_t seed = loop->options->seed;

	client->thread = thread;
	client->id = id;
	client->prepared = wp_xcalloc(loop->workload->statement_total, sizeof(*client->prepared));
	wp_random_init(&client->random, mix(seed, (uint64_t)id));
	return wp_workload_vars(loop->workload, &client->vars, id, seed, err);
}

void wp_client_release(struct wp_client *client)
{
	wp_client_disconnect(client);
	PQclear(client->held);
	wp_vars_release(&client->vars);
	wp_text_release(&client->text);
	free(client->prepared);
}

void wp_client_disconnect(struct wp_client *client)
{
	if (!client->connection)
		return;
	if (client->is_watched)
		wp_poller_remove(&client->thread->poller, PQsocket(client->connection));
	PQclear(client->held);
	client->held = NULL;
	PQfinish(client->connection);
	client->connection = NULL;
	client->is_watched = client->is_writing = client->is_pipeline = false;
}

/* Within the measured part a connection may take no longer than the part itself. */
static int64_t connect_until(const struct wp_client *client, int64_t now_ns)
{
	const struct wp_loop_thread *thread = client->thread;
	const struct wp_conn *conn = thread->loop->options->conn;
	int64_t until_ns = now_ns + (conn->limit_ns ? conn->limit_ns : CONNECT_LIMIT_NS);

	if (thread->is_measured && thread->deadline_ns < INT64_MAX &&
		until_ns > thread->deadline_ns + WP_NS_PER_S)
		until_ns = thread->deadline_ns + WP_NS_PER_S;
	return until_ns;
}

int wp_client_connect(struct wp_client *client, struct wp_err *err)
{
	struct wp_loop_thread *thread = client->thread;
	const struct wp_os *os = thread->loop->os;
	int64_t begin_ns = wp_os_now_ns(os);
	int rc = wp_pg_connect(os, thread->loop->options->conn, connect_until(client, begin_ns),
		&client->connection, err);

	if (rc) {
		wp_err_prefix(err, "client %" PRId64 ": ", client->id);
		return rc;
	}
	memset(client->prepared, 0,
		thread->loop->workload->statement_total * sizeof(*client->prepared));
	client->last_words[0] = '\0';
	(void)PQsetNoticeReceiver(client->connection, wp_client_notice, client);
	rc = wp_poller_add(&thread->poller, PQsocket(client->connection), WP_POLL_READ, client);
	if (rc < 0)
		return wp_fail(err, WP_E_SYS, -rc, "could not watch the socket of client %" PRId64,
			client->id);
	client->is_watched = true;
	thread->connections++;
	thread->own_commits++; /* InitPostgres runs in a transaction */
	if (thread->is_measured)
		thread->reconnect_ns += wp_os_now_ns(os) - begin_ns;
	return 0;
}

/* A command of ours to its end; *result is to be cleared. */
static int await(struct wp_client *client, PGresult **result, struct wp_err *err)
{
	const struct wp_os *os = client->thread->loop->os;
	int64_t limit_ns = client->thread->loop->options->stall_limit_ns;
	int rc = wp_pg_finish_command(os, client->connection,
		wp_os_now_ns(os) + (limit_ns ? limit_ns : COMMAND_LIMIT_NS), result, err);

	if (rc)
		wp_err_prefix(err, "client %" PRId64 ": ", client->id);
	return rc;
}

static bool is_good(const PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);

	return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* The same where a refusal by the server does not matter: it leaves *is_refused. */
static int finish(struct wp_client *client, bool *is_refused, struct wp_err *err)
{
	PGresult *result = NULL;
	int rc = await(client, &result, err);

	*is_refused = !is_good(result);
	PQclear(result);
	return rc;
}

static int send_failed(const struct wp_client *client, struct wp_err *err)
{
	char message[400];

	return wp_fail(err, WP_E_SERVER, 0, "client %" PRId64 ": %s", client->id,
		wp_pg_message(client->connection, message, sizeof(message)));
}

static int send_prepare(struct wp_client *client, const struct wp_workload_script *script,
	const struct wp_command *command, struct wp_err *err)
{
	if (!PQsendPrepare(
		    client->connection, script->names[command->statement], command->text, 0, NULL))
		return send_failed(client, err);
	return 0;
}

int wp_client_prepare(
	struct wp_client *client, const struct wp_command *command, struct wp_err *err)
{
	const struct wp_workload_script *script = client->script;
	bool is_commit = PQtransactionStatus(client->connection) == PQTRANS_IDLE;
	PGresult *result = NULL;
	int rc = send_prepare(client, script, command, err);

	if (!rc)
		rc = await(client, &result, err);
	/* Executed after all it would only say that its transaction is aborted. */
	if (!rc && !is_good(result))
		rc = wp_client_refused(client, result, err);
	PQclear(result);
	if (rc)
		return rc;
	client->thread->own_commits += is_commit ? 1 : 0;
	client->prepared[script->first_flag + (size_t)command->statement] = true;
	return 0;
}

static int prepare_script(
	struct wp_client *client, const struct wp_workload_script *script, struct wp_err *err)
{
	for (size_t i = 0; i < script->script.count; i++) {
		const struct wp_command *command = &script->script.commands[i];
		bool is_refused = false;
		int rc;

		if (command->kind != WP_COMMAND_SQL)
			continue;
		rc = send_prepare(client, script, command, err);
		if (!rc)
			rc = finish(client, &is_refused, err);
		if (rc)
			return rc;
		client->thread->own_commits += is_refused ? 0 : 1;
		client->prepared[script->first_flag + (size_t)command->statement] = !is_refused;
	}
	return 0;
}

int wp_client_prepare_all(struct wp_client *client, struct wp_err *err)
{
	const struct wp_workload *workload = client->thread->loop->workload;
	int rc = 0;

	if (workload->protocol != WP_PROTOCOL_PREPARED)
		return 0;
	for (size_t i = 0; !rc && i < workload->count; i++)
		rc = prepare_script(client, &workload->scripts[i], err);
	return rc;
}

/* ---- the untimed first transaction ----------------------------------------------------------- */

static bool starts_with_word(const char *text, const char *word)
{
	size_t length = strlen(word);

	return strncasecmp(text, word, length) == 0 && !isalnum((unsigned char)text[length]) &&
	       text[length] != '_';
}

/* Statements that would end the transaction around them, or cannot run in one. */
static bool is_transaction_control(const char *text)
{
	static const char *const words[] = { "begin", "start", "commit", "end", "rollback", "abort",
		"prepare", "savepoint", "release", "set", "vacuum", "checkpoint", "create", "drop",
		"alter", "call", "do", "copy", "listen", "notify" };

	while (isspace((unsigned char)*text))
		text++;
	for (size_t i = 0; i < WP_COUNT(words); i++)
		if (starts_with_word(text, words[i]))
			return true;
	return false;
}

static int exec_text(
	struct wp_client *client, const char *text, bool *is_refused, struct wp_err *err)
{
	if (!PQsendQuery(client->connection, text))
		return send_failed(client, err);
	return finish(client, is_refused, err);
}

static int untimed_statement(
	struct wp_client *client, const struct wp_command *command, struct wp_err *err)
{
	const struct wp_workload_script *script = client->script;
	const char **values = client->thread->values;
	bool is_refused = false;
	int sent;

	if (client->thread->loop->workload->protocol == WP_PROTOCOL_SIMPLE)
		return exec_text(client,
			wp_command_text(command, &client->vars, &client->text, NULL), &is_refused,
			err);
	wp_command_params(command, &client->vars, values);
	if (client->prepared[script->first_flag + (size_t)command->statement])
		sent = PQsendQueryPrepared(client->connection, script->names[command->statement],
			(int)command->param_count, values, NULL, NULL, 0);
	else
		sent = PQsendQueryParams(client->connection, command->text,
			(int)command->param_count, NULL, values, NULL, NULL, 0);
	return sent ? finish(client, &is_refused, err) : send_failed(client, err);
}

static int untimed_script(struct wp_client *client, struct wp_err *err)
{
	struct wp_random random = client->random;
	const struct wp_script *script = &client->script->script;
	const struct wp_expr_env env = { .vars = &client->vars, .random = &random };
	struct wp_step step = { .next = 0 };
	int rc = 0;

	/* Only forwards, so it ends; what the server refuses it refuses again with the message. */
	for (size_t i = 0; !rc && i < script->count; i = step.next) {
		const struct wp_command *command = &script->commands[i];

		step.next = i + 1;
		if (command->kind == WP_COMMAND_SQL) {
			if (!is_transaction_control(command->text))
				rc = untimed_statement(client, command, err);
		} else if (wp_script_run_meta(script, i, &env, &step, NULL)) {
			break;
		}
	}
	return rc;
}

int wp_client_time_wal(struct wp_client *client, struct wp_err *err)
{
	bool is_refused = false;
	int rc = 0;

	if (PQserverVersion(client->connection) < 140000)
		return 0;
	rc = exec_text(client, "SET track_wal_io_timing = on", &is_refused, err);
	client->thread->own_commits += is_refused ? 0 : 1;
	client->thread->timed_clients += is_refused ? 0 : 1;
	return rc;
}

int wp_client_publish(struct wp_client *client, struct wp_err *err)
{
	bool is_refused = false;
	int rc = 0;

	if (PQserverVersion(client->connection) < 150000)
		return 0;
	rc = exec_text(client, "SELECT pg_catalog.pg_stat_force_next_flush()", &is_refused, err);
	client->thread->own_commits += is_refused ? 0 : 1;
	return rc;
}

int wp_client_untimed(struct wp_client *client, struct wp_err *err)
{
	const struct wp_loop *loop = client->thread->loop;
	bool is_refused;
	int rc = exec_text(client, "BEGIN", &is_refused, err);

	for (size_t i = 0; !rc && i < loop->workload->count; i++) {
		client->script = &loop->workload->scripts[i];
		if (client->script->weight)
			rc = untimed_script(client, err);
	}
	if (!rc)
		rc = exec_text(client, "ROLLBACK", &is_refused, err);
	/* Locks of the session's own would stay. */
	if (!rc && !wp_workload_is_builtin_only(loop->workload)) {
		rc = exec_text(
			client, "SELECT pg_catalog.pg_advisory_unlock_all()", &is_refused, err);
		client->thread->own_commits++;
	}
	client->script = NULL;
	wp_vars_release(&client->vars);
	return rc ? rc
		  : wp_workload_vars(
			    loop->workload, &client->vars, client->id, loop->options->seed, err);
}
