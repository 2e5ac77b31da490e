/* SPDX-License-Identifier: PostgreSQL */
#include "script_internal.h"
#include "walprobe/mem.h"

#define SHOWN_BYTES 150 /* of a line in a message */
#define WEIGHT_MARK '@'

/* ---- messages -------------------------------------------------------------------------------- */

/* Copy what can be shown of a byte; false for the inner bytes of a UTF-8 character. */
static bool show_byte(char c, char *out)
{
	*out = ((unsigned char)c >= ' ' && c != 0x7f) || c == '\t' ? c : ' ';
	return ((unsigned char)c & 0xc0) != 0x80;
}

/*
 * The line of text that holds at, cut around it when it is long, and under it a mark. Without a
 * mark at is SIZE_MAX and the beginning of the command is shown.
 */
static void show_line(struct script_parser *parser, const struct script_place *place, size_t at)
{
	const char *text = parser->reader.text;
	size_t marked = at == SIZE_MAX ? place->start : at;
	size_t start = place->start;
	size_t end;
	char line[SHOWN_BYTES + 1];
	char padding[SHOWN_BYTES + 1];
	size_t length = 0;
	size_t column = 0;

	for (size_t i = place->start; i < marked; i++)
		if (text[i] == '\n')
			start = i + 1;
	if (marked - start > SHOWN_BYTES / 2)
		start = marked - SHOWN_BYTES / 2;
	for (end = start; end < place->end && text[end] != '\n' && length < SHOWN_BYTES; end++) {
		bool has_width = show_byte(text[end], &line[length++]);

		if (end < marked && has_width)
			padding[column++] = text[end] == '\t' ? '\t' : ' ';
	}
	line[length] = '\0';
	padding[column] = '\0';
	if (at == SIZE_MAX)
		wp_err_detail(parser->err, "The line is:\n%s", line);
	else
		wp_err_detail(parser->err, "The line is:\n%s\n%s^ error found here", line, padding);
}

int wp_script_fail(struct script_parser *parser, const struct script_place *place, size_t at,
	const char *message, const char *more, size_t length)
{
	const char *text = parser->reader.text;
	int32_t line = wp_script_line(&parser->reader, place->start);
	int shown = length < SHOWN_BYTES ? (int)length : SHOWN_BYTES;
	char about[SHOWN_BYTES + 16] = "";
	char command[SHOWN_BYTES + 32] = "";
	int result;

	if (more)
		(void)snprintf(about, sizeof(about), " (%.*s%s)", shown, more,
			length > SHOWN_BYTES ? "..." : "");
	if (place->command.length > 0)
		(void)snprintf(command, sizeof(command), " in command \"%.*s\"",
			place->command.length < 64 ? (int)place->command.length : 64,
			text + place->command.at);
	result = wp_fail(parser->err, WP_E_USAGE, 0, "%.200s:%d: %s%s%s", parser->script->name,
		line, message, about, command);
	if (place->end > place->start)
		show_line(parser, place, at);
	return result;
}

/* ---- the script ------------------------------------------------------------------------------ */

struct wp_command *wp_script_add(struct script_parser *parser, enum wp_command_kind kind)
{
	struct wp_script *script = parser->script;
	struct wp_command *command;

	if (script->count == WP_SCRIPT_COMMANDS_MAX) {
		(void)wp_fail(parser->err, WP_E_USAGE, 0,
			"%.200s: too many commands in script, maximum is %d", script->name,
			WP_SCRIPT_COMMANDS_MAX);
		return NULL;
	}
	if (script->count == script->capacity) {
		script->capacity = script->capacity ? script->capacity * 2 : 16;
		script->commands = wp_xreallocarray(
			script->commands, script->capacity, sizeof(*script->commands));
	}
	command = &script->commands[script->count++];
	memset(command, 0, sizeof(*command));
	command->kind = kind;
	command->slot = -1;
	return command;
}

static int parse_commands(struct script_parser *parser)
{
	struct script_reader *reader = &parser->reader;
	enum script_end end;
	int result;

	do {
		end = wp_script_scan_sql(reader);
		if (end == SCRIPT_OPEN) {
			struct script_place place = { .start = reader->open_at };

			return wp_script_fail(parser, &place, SIZE_MAX, reader->open, NULL, 0);
		}
		result = wp_script_add_statement(parser);
		if (result == 0 && end == SCRIPT_BACKSLASH)
			result = wp_script_add_meta(parser);
	} while (result == 0 && end != SCRIPT_END);
	return result;
}

static int check_bytes(struct script_parser *parser)
{
	struct script_reader *reader = &parser->reader;
	const char *zero = memchr(reader->text, '\0', reader->length);

	if (reader->length > WP_SCRIPT_BYTES_MAX)
		return wp_fail(parser->err, WP_E_USAGE, 0, "%.200s: script is longer than %d bytes",
			parser->script->name, WP_SCRIPT_BYTES_MAX);
	if (zero) {
		struct script_place place = { .start = (size_t)(zero - reader->text) };

		return wp_script_fail(
			parser, &place, SIZE_MAX, "script holds a zero byte", NULL, 0);
	}
	return 0;
}

int wp_script_parse(const char *name, const char *text, size_t length, enum wp_protocol protocol,
	struct wp_symbols *symbols, struct wp_script *script, struct wp_err *err)
{
	struct script_parser parser = {
		.reader = { .text = text, .length = length, .line = 1 },
		.script = script,
		.symbols = symbols,
		.err = err,
	};
	int result;

	script->name = wp_xstrdup(name);
	script->protocol = protocol;
	result = check_bytes(&parser);
	if (result == 0)
		result = parse_commands(&parser);
	if (result == 0 && script->count == 0)
		result = wp_fail(
			err, WP_E_USAGE, 0, "empty command list for script \"%.200s\"", name);
	if (result == 0)
		result = wp_script_check(script, err);
	if (result < 0)
		wp_script_release(script);
	free(parser.reader.sql.bytes);
	free(parser.reader.sql.is_quoted);
	return result;
}

static int read_all(const struct wp_os *os, int fd, char *text, size_t size, size_t *length)
{
	*length = 0;
	while (*length < size) {
		int64_t got = wp_os_read(os, fd, text + *length, size - *length);

		if (got < 0)
			return (int)got;
		if (got == 0)
			break;
		*length += (size_t)got;
	}
	return 0;
}

int wp_script_load(const struct wp_os *os, const char *path, enum wp_protocol protocol,
	struct wp_symbols *symbols, struct wp_script *script, struct wp_err *err)
{
	/* one byte more, to see that a file is too long */
	const size_t size = WP_SCRIPT_BYTES_MAX + 1;
	char *text = NULL;
	size_t length;
	int result;
	const char *opened = strcmp(path, "-") == 0 ? "/dev/stdin" : path;
	int fd = wp_os_open(os, opened, O_RDONLY | O_CLOEXEC, 0);

	if (fd < 0)
		return wp_fail(err, WP_E_USAGE, -fd, "could not open file \"%.300s\"", path);
	text = wp_xcalloc(size, 1);
	result = read_all(os, fd, text, size, &length);
	(void)wp_os_close(os, fd); /* read only: nothing can be lost */
	if (result < 0)
		result = wp_fail(err, WP_E_SYS, -result, "could not read file \"%.300s\"", path);
	else
		result = wp_script_parse(path, text, length, protocol, symbols, script, err);
	free(text);
	return result;
}

static void release_command(struct wp_command *command)
{
	free(command->title);
	free(command->text);
	free(command->pieces);
	free(command->params);
	free(command->prefix);
	wp_expr_release(&command->expr);
}

void wp_script_release(struct wp_script *script)
{
	for (size_t i = 0; i < script->count; i++)
		release_command(&script->commands[i]);
	free(script->commands);
	free(script->name);
	memset(script, 0, sizeof(*script));
}

int wp_script_split_weight(
	const char *option, size_t *name_length, int32_t *weight, struct wp_err *err)
{
	const char *mark = strrchr(option, WEIGHT_MARK);
	char *end;
	long long number;

	*name_length = mark ? (size_t)(mark - option) : strlen(option);
	*weight = 1;
	if (!mark)
		return 0;
	errno = 0;
	number = strtoll(mark + 1, &end, 10);
	if (errno || end == mark + 1 || *end)
		return wp_fail(err, WP_E_USAGE, 0, "invalid weight specification: %.200s", mark);
	if (number < 0 || number > WP_SCRIPT_WEIGHT_MAX)
		return wp_fail(err, WP_E_USAGE, 0,
			"weight specification out of range (0 .. %d): %lld", WP_SCRIPT_WEIGHT_MAX,
			number);
	*weight = (int32_t)number;
	return 0;
}
