/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/mem.h"
#include "walprobe/script.h"

#define TEXT_FIRST_BYTES 1024

/* ---- statements ------------------------------------------------------------------------------ */

void wp_text_release(struct wp_text *text)
{
	free(text->bytes);
	memset(text, 0, sizeof(*text));
}

static void reserve(struct wp_text *text, size_t size)
{
	if (size <= text->capacity)
		return;
	if (text->capacity == 0)
		text->capacity = TEXT_FIRST_BYTES;
	while (text->capacity < size)
		text->capacity *= 2;
	text->bytes = wp_xreallocarray(text->bytes, text->capacity, 1);
}

const char *wp_command_text(const struct wp_command *command, struct wp_vars *vars,
	struct wp_text *buffer, size_t *length)
{
	size_t used = 0;

	if (command->piece_count == 0) {
		if (length)
			*length = command->length;
		return command->text;
	}
	for (size_t i = 0; i < command->piece_count; i++) {
		const struct wp_piece *piece = &command->pieces[i];
		size_t size = piece->length;
		const char *bytes = NULL;

		if (piece->slot >= 0)
			bytes = wp_vars_text(vars, piece->slot, &size);
		if (!bytes)
			bytes = command->text + piece->offset;
		reserve(buffer, used + size + 1);
		memcpy(buffer->bytes + used, bytes, size);
		used += size;
	}
	buffer->bytes[used] = '\0';
	if (length)
		*length = used;
	return buffer->bytes;
}

void wp_command_params(const struct wp_command *command, struct wp_vars *vars, const char **values)
{
	for (size_t i = 0; i < command->param_count; i++)
		values[i] = wp_vars_text(vars, command->params[i], NULL);
}

/* ---- backslash commands ---------------------------------------------------------------------- */

/* The number at the start of a variable's text, as the C library's atoi would read it. */
static int variable_sleep(const struct wp_command *command, const struct wp_expr_env *env,
	int64_t *count, struct wp_err *err)
{
	const char *name = env->vars->symbols->names[command->slot];
	const char *text = wp_vars_text(env->vars, command->slot, NULL);

	if (!text)
		return wp_fail(err, WP_E_DATA, 0, "sleep: undefined variable \"%s\"", name);
	errno = 0;
	*count = strtoll(text, NULL, 10);
	if (errno == ERANGE || (*count == 0 && (text[0] < '0' || text[0] > '9')))
		return wp_fail(err, WP_E_DATA, 0,
			"sleep: invalid sleep time \"%s\" for variable \"%s\"", text, name);
	return 0;
}

static int run_sleep(const struct wp_command *command, const struct wp_expr_env *env,
	struct wp_step *step, struct wp_err *err)
{
	int64_t count = command->sleep_count;
	int64_t duration_ns;
	int result = 0;

	if (command->slot >= 0)
		result = variable_sleep(command, env, &count, err);
	if (result < 0)
		return result;
	if (__builtin_mul_overflow(count, command->sleep_unit_ns, &duration_ns))
		return wp_fail(err, WP_E_DATA, 0, "sleep: sleep time is out of range");
	step->sleep_ns = duration_ns > 0 ? duration_ns : 0;
	return 0;
}

static int run_set(
	const struct wp_command *command, const struct wp_expr_env *env, struct wp_err *err)
{
	struct wp_value value;
	int result = wp_expr_eval(&command->expr, env, &value, err);

	if (result == 0)
		wp_vars_set(env->vars, command->slot, value);
	return result;
}

/* From the condition at index to the first command of the branch that is taken. */
static int choose_branch(const struct wp_script *script, size_t index,
	const struct wp_expr_env *env, struct wp_step *step, struct wp_err *err)
{
	const struct wp_command *command = &script->commands[index];

	while (command->kind == WP_COMMAND_IF || command->kind == WP_COMMAND_ELIF) {
		struct wp_value value;
		int result = wp_expr_eval(&command->expr, env, &value, err);

		if (result < 0)
			return result;
		if (wp_value_is_true(&value))
			break;
		index = command->branch;
		command = &script->commands[index];
	}
	step->next = index + 1;
	return 0;
}

int wp_script_run_meta(const struct wp_script *script, size_t index, const struct wp_expr_env *env,
	struct wp_step *step, struct wp_err *err)
{
	const struct wp_command *command = &script->commands[index];
	struct wp_step taken = { .next = index + 1 };
	int result = 0;

	switch (command->kind) {
	case WP_COMMAND_SET:
		result = run_set(command, env, err);
		break;
	case WP_COMMAND_SLEEP:
		result = run_sleep(command, env, &taken, err);
		break;
	case WP_COMMAND_IF:
		result = choose_branch(script, index, env, &taken, err);
		break;
	case WP_COMMAND_ELIF:
	case WP_COMMAND_ELSE:
		/* the end of the branch that was taken */
		taken.next = command->endif + 1;
		break;
	case WP_COMMAND_SQL:
	case WP_COMMAND_ENDIF:
	case WP_COMMAND_STARTPIPELINE:
	case WP_COMMAND_SYNCPIPELINE:
	case WP_COMMAND_ENDPIPELINE:
		break;
	}
	if (result == 0)
		*step = taken;
	return result;
}
