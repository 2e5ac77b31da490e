/* SPDX-License-Identifier: PostgreSQL */
/*
 * One walk over the commands with a stack of open \if. Whether a pipeline is open is followed
 * through the branches as the set of what is possible: what must fail is refused here, what may
 * fail is left to the run.
 */
#include "script_internal.h"
#include "walprobe/mem.h"

#define PIPELINE_OFF 1u
#define PIPELINE_ON 2u

struct frame {
	size_t first;    /* the \if */
	size_t last;     /* the latest branch */
	unsigned before; /* pipeline at the \if */
	unsigned after;  /* at the end of the branches so far */
	bool has_else;
};

struct checker {
	struct wp_script *script;
	struct wp_err *err;
	struct frame *frames;
	size_t depth;
	size_t capacity;
	unsigned pipeline;
};

static int condition_error(struct checker *checker, size_t index, const char *message)
{
	const struct wp_script *script = checker->script;
	int result = wp_fail(checker->err, WP_E_USAGE, 0,
		"condition error in script \"%.200s\" command %zu: %s", script->name, index + 1,
		message);

	if (index < script->count)
		wp_err_detail(checker->err, "Line %d: %.150s", script->commands[index].line,
			script->commands[index].title);
	return result;
}

static void open_if(struct checker *checker, size_t index)
{
	if (checker->depth == checker->capacity) {
		checker->capacity = checker->capacity ? checker->capacity * 2 : 8;
		checker->frames = wp_xreallocarray(
			checker->frames, checker->capacity, sizeof(*checker->frames));
	}
	checker->frames[checker->depth++] =
		(struct frame){ .first = index, .last = index, .before = checker->pipeline };
}

static int next_branch(struct checker *checker, size_t index)
{
	bool is_else = checker->script->commands[index].kind == WP_COMMAND_ELSE;
	struct frame *frame;

	if (checker->depth == 0)
		return condition_error(checker, index,
			is_else ? "\\else without matching \\if" : "\\elif without matching \\if");
	frame = &checker->frames[checker->depth - 1];
	if (frame->has_else)
		return condition_error(
			checker, index, is_else ? "\\else after \\else" : "\\elif after \\else");
	checker->script->commands[frame->last].branch = index;
	frame->last = index;
	frame->has_else = is_else;
	frame->after |= checker->pipeline;
	checker->pipeline = frame->before;
	return 0;
}

static int close_if(struct checker *checker, size_t index)
{
	struct wp_command *commands = checker->script->commands;
	struct frame *frame;
	size_t branch;

	if (checker->depth == 0)
		return condition_error(checker, index, "\\endif without matching \\if");
	frame = &checker->frames[--checker->depth];
	commands[frame->last].branch = index;
	for (branch = frame->first; branch != index; branch = commands[branch].branch)
		commands[branch].endif = index;
	checker->pipeline |= frame->after;
	if (!frame->has_else)
		checker->pipeline |= frame->before;
	return 0;
}

static int pipeline_error(struct checker *checker, size_t index, const char *message)
{
	const struct wp_script *script = checker->script;
	const struct wp_command *command = &script->commands[index];
	int result = wp_fail(
		checker->err, WP_E_USAGE, 0, "%.200s:%d: %s", script->name, command->line, message);

	wp_err_detail(checker->err, "The line is:\n%.150s", command->title);
	return result;
}

static int start_pipeline(struct checker *checker, size_t index)
{
	int result;

	if (checker->script->protocol == WP_PROTOCOL_SIMPLE) {
		result = pipeline_error(
			checker, index, "cannot use pipeline mode with the simple query protocol");
		wp_err_hint(checker->err, "Use -M extended or -M prepared.");
		return result;
	}
	if (!(checker->pipeline & PIPELINE_OFF))
		return pipeline_error(
			checker, index, "already in pipeline mode in command \"startpipeline\"");
	checker->pipeline = PIPELINE_ON;
	return 0;
}

static int check_statement(struct checker *checker, size_t index)
{
	const struct wp_command *command = &checker->script->commands[index];

	if (command->store == WP_STORE_NONE || (checker->pipeline & PIPELINE_OFF))
		return 0;
	return pipeline_error(checker, index,
		command->store == WP_STORE_GSET ? "\\gset is not allowed in pipeline mode"
						: "\\aset is not allowed in pipeline mode");
}

static int check_command(struct checker *checker, size_t index)
{
	switch (checker->script->commands[index].kind) {
	case WP_COMMAND_SQL:
		return check_statement(checker, index);
	case WP_COMMAND_IF:
		open_if(checker, index);
		return 0;
	case WP_COMMAND_ELIF:
	case WP_COMMAND_ELSE:
		return next_branch(checker, index);
	case WP_COMMAND_ENDIF:
		return close_if(checker, index);
	case WP_COMMAND_STARTPIPELINE:
		return start_pipeline(checker, index);
	case WP_COMMAND_SYNCPIPELINE:
		if (!(checker->pipeline & PIPELINE_ON))
			return pipeline_error(
				checker, index, "not in pipeline mode in command \"syncpipeline\"");
		return 0;
	case WP_COMMAND_ENDPIPELINE:
		if (!(checker->pipeline & PIPELINE_ON))
			return pipeline_error(
				checker, index, "not in pipeline mode in command \"endpipeline\"");
		checker->pipeline = PIPELINE_OFF;
		return 0;
	case WP_COMMAND_SET:
	case WP_COMMAND_SLEEP:
		break;
	}
	return 0;
}

int wp_script_check(struct wp_script *script, struct wp_err *err)
{
	struct checker checker = { .script = script, .err = err, .pipeline = PIPELINE_OFF };
	int result = 0;

	for (size_t i = 0; result == 0 && i < script->count; i++)
		result = check_command(&checker, i);
	if (result == 0 && checker.depth > 0)
		result = condition_error(&checker, script->count, "\\if without matching \\endif");
	if (result == 0 && !(checker.pipeline & PIPELINE_OFF))
		result = wp_fail(err, WP_E_USAGE, 0,
			"%.200s: end of script reached with pipeline open", script->name);
	free(checker.frames);
	return result;
}
