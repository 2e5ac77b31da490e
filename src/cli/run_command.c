/* SPDX-License-Identifier: PostgreSQL */
#include "cli/run_command.h"
#include "cli/output.h"
#include "walprobe/environment.h"
#include "walprobe/host.h"
#include "walprobe/mem.h"
#include "walprobe/run.h"
#include "walprobe/stop.h"

/* everything of one invocation */
struct session {
	const struct wp_command *command;
	void *params;
	const char **operands;
	size_t operand_count;
	struct wp_output output;
	struct wp_run run;
};

static bool asks_for_help(const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(words[i], "--") == 0)
			return false;
		if (strcmp(words[i], "--help") == 0 || strcmp(words[i], "-?") == 0)
			return true;
	}
	return false;
}

static int print_help(const struct wp_command *command)
{
	struct wp_err err = { 0 };

	wp_opts_help(command, stdout);
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	(void)wp_fail(&err, WP_E_SYS, errno, "could not write to standard output");
	wp_err_print(&err, "error", stderr);
	return wp_code_exit_status(err.code);
}

static void begin_result(struct session *session, const char *const *argv, size_t argc)
{
	char now[32];

	session->run.result = wp_result_new(session->command->name);
	for (size_t i = 0; i < argc; i++)
		wp_result_add_argument(session->run.result, argv[i]);
	wp_host_utc(now, sizeof(now));
	session->run.result->started = wp_xstrdup(now);
	wp_environment_describe(session->run.os, session->run.result);
	wp_opts_record(session->command, session->params, session->run.result);
}

static void begin_run(struct session *session)
{
	const struct wp_common *common = session->params;

	session->run.os = wp_os_linux();
	session->run.registry = wp_registry_new(session->run.os);
	session->run.seed = (uint64_t)common->seed;
	session->run.rounds = common->rounds;
	session->run.time_ns = common->time_ns;
	session->run.warmup_ns = common->warmup_ns;
	session->run.is_kept = common->is_kept;
	session->run.is_forced = common->is_forced;
	session->run.tell = wp_output_tell;
	session->run.progress = wp_output_progress;
	session->run.ctx = &session->output;
}

static void tell_kept(void *ctx, const char *what, const char *name)
{
	struct session *session = ctx;

	wp_run_tell(&session->run, "note", "kept %s \"%s\"", what, name);
}

/* Everything made goes away before anything is printed: printing may block for ever. */
static int undo(struct session *session, struct wp_err *err)
{
	const struct wp_common *common = session->params;

	if (common->is_kept) {
		wp_registry_keep_all(session->run.registry, tell_kept, session);
		return 0;
	}
	return wp_registry_undo_all(session->run.registry, err);
}

static int worse(int status, int other)
{
	static const int order[] = { 0, 4, 1, 2, 3, 143, 130 };
	int at = 0;
	int other_at = 0;

	for (int i = 0; i < (int)WP_COUNT(order); i++) {
		at = order[i] == status ? i : at;
		other_at = order[i] == other ? i : other_at;
	}
	return other_at > at ? other : status;
}

static int report_error(struct session *session, const struct wp_err *err)
{
	struct wp_err told = *err;

	wp_output_end_progress(&session->output);
	if (err->code == WP_E_USAGE && !err->hint[0] && !err->detail[0])
		wp_err_hint(&told, "Try \"walprobe %s --help\".", session->command->name);
	if (err->code != WP_E_STOPPED)
		wp_err_print(&told, "error", stderr);
	return err->code == WP_E_STOPPED ? 0 : wp_code_exit_status(err->code);
}

/* On a disk that died, that something could not be removed follows from what was told already. */
static int report_undo_error(struct session *session, const struct wp_err *err, int status)
{
	wp_output_end_progress(&session->output);
	wp_err_print(err, status ? "warning" : "error", stderr);
	return wp_code_exit_status(err->code);
}

static bool has_figure(const struct wp_table *table)
{
	for (size_t i = 0; i < table->row_count; i++)
		for (size_t j = 0; j < table->column_count; j++)
			if (table->rows[i]->cells[j].state == WP_CELL_REAL)
				return true;
	return false;
}

/* Work that failed for every target was told; a document of reasons alone would say it again, and
 * overwrite an older one that has figures. */
static bool is_worth_writing(const struct session *session, int rc)
{
	const struct wp_result *result = session->run.result;

	if (rc == 0 && session->run.problem_count == 0)
		return true;
	if (rc != 0 && rc != -WP_E_STOPPED)
		return false;
	for (size_t i = 0; i < result->table_count; i++)
		if (has_figure(result->tables[i]))
			return true;
	return result->check_count > 0;
}

static int checks_status(const struct session *session)
{
	const struct wp_result *result = session->run.result;

	if (session->run.is_worse)
		return 1;
	if (session->command->is_reprint)
		return 0;
	if (wp_result_has_failed_check(result))
		return 1;
	for (size_t i = 0; session->run.is_strict && i < result->check_count; i++)
		if (result->checks[i].status == WP_CHECK_UNKNOWN)
			return 4;
	return 0;
}

static int execute(struct session *session)
{
	struct wp_err err = { 0 };
	int status = 0;
	int rc;

	rc = session->command->execute(
		&session->run, session->params, session->operands, session->operand_count, &err);
	if (wp_stop_requested() && !session->command->is_reprint)
		session->run.result->is_complete = false;
	if (rc)
		status = report_error(session, &err);
	if (session->run.problem_count)
		status = worse(status, 3);
	if (undo(session, &err) != 0)
		status = worse(status, report_undo_error(session, &err, status));
	wp_output_end_progress(&session->output);
	if (is_worth_writing(session, rc)) {
		if (!session->command->is_silent &&
			wp_output_write(&session->output, session->run.result, &err) != 0)
			status = worse(status, report_error(session, &err));
	} else {
		wp_output_abandon(&session->output);
	}
	status = worse(status, checks_status(session));
	return worse(status, wp_stop_exit_status());
}

static int prepare(struct session *session, const char *const *words, size_t count)
{
	struct wp_err err = { 0 };
	int rc;

	rc = wp_opts_parse(session->command, words, count, session->params, session->operands,
		&session->operand_count, &err);
	if (!rc) {
		begin_run(session);
		rc = wp_output_open(&session->output, session->run.os, session->params, &err);
	}
	if (rc) {
		wp_err_print(&err, "error", stderr);
		return wp_code_exit_status(err.code);
	}
	return 0;
}

int wp_run_command(
	const struct wp_command *command, const char *const *argv, size_t argc, size_t first)
{
	struct session session = { .command = command };
	int status;

	if (asks_for_help(argv + first, argc - first))
		return print_help(command);
	session.params = wp_xcalloc(1, command->params_size);
	session.operands = wp_xcalloc(argc, sizeof(*session.operands));
	status = prepare(&session, argv + first, argc - first);
	if (!status) {
		begin_result(&session, argv, argc);
		status = execute(&session);
	}
	wp_result_free(session.run.result);
	wp_registry_free(session.run.registry);
	wp_opts_release(command, session.params);
	free(session.operands);
	free(session.params);
	return status;
}
