/* SPDX-License-Identifier: PostgreSQL */
#include "script_internal.h"
#include "walprobe/mem.h"

#define TITLE_BYTES 127

/*
 * Length of the variable reference at offset, its colon included; 0 when there is none, and then
 * *colons is the length of the run of colons there (a cast, as in ::int, is never a variable).
 */
static size_t reference_length(const char *text, size_t length, size_t offset, size_t *colons)
{
	size_t name = wp_name_length(text + offset + 1, length - offset - 1);

	*colons = 0;
	if (name > 0)
		return name + 1;
	while (offset + *colons < length && text[offset + *colons] == ':')
		++*colons;
	return 0;
}

/* ---- simple protocol: pieces ----------------------------------------------------------------- */

struct piece_list {
	struct wp_piece *pieces;
	size_t count;
	size_t capacity;
};

static void add_piece(struct piece_list *list, size_t offset, size_t length, int32_t slot)
{
	if (length == 0)
		return;
	if (list->count == list->capacity) {
		list->capacity = list->capacity ? list->capacity * 2 : 8;
		list->pieces =
			wp_xreallocarray(list->pieces, list->capacity, sizeof(*list->pieces));
	}
	list->pieces[list->count++] =
		(struct wp_piece){ .offset = offset, .length = length, .slot = slot };
}

static void cut_pieces(struct script_parser *parser, struct wp_command *command)
{
	const struct script_sql *sql = &parser->reader.sql;
	struct piece_list list = { 0 };
	size_t done = 0;
	size_t at = 0;

	while (at < sql->length) {
		size_t colons = 1;
		size_t length = 0;

		if (sql->bytes[at] == ':')
			length = reference_length(sql->bytes, sql->length, at, &colons);
		if (length > 0) {
			add_piece(&list, done, at - done, -1);
			add_piece(&list, at, length,
				wp_symbols_add(parser->symbols, sql->bytes + at + 1, length - 1));
			done = at + length;
		}
		at += length > 0 ? length : colons;
	}
	command->text = wp_xstrndup(sql->bytes, sql->length);
	command->length = sql->length;
	if (list.count == 0)
		return;
	add_piece(&list, done, sql->length - done, -1);
	command->pieces = list.pieces;
	command->piece_count = list.count;
}

/* ---- extended protocols: parameters ---------------------------------------------------------- */

static int refuse_reference(struct script_parser *parser, const char *message, const char *more,
	size_t length, const char *hint)
{
	struct script_place place = { .start = parser->reader.sql.start };
	int result = wp_script_fail(parser, &place, SIZE_MAX, message, more, length);

	wp_err_hint(parser->err, "%s", hint);
	return result;
}

/* A reference within quotes is text, unless it names what is known to be a variable. */
static int check_quoted(struct script_parser *parser, const char *reference, size_t length)
{
	char *name = wp_xstrndup(reference + 1, length - 1);
	int32_t slot = wp_symbols_find(parser->symbols, NULL, name);

	free(name);
	if (slot < 0 || !parser->symbols->assigned[slot])
		return 0;
	return refuse_reference(parser, "variable within quotes, where a parameter cannot stand",
		reference, length, "Take it out of the quotes, or use the simple protocol.");
}

static int add_param(struct script_parser *parser, struct wp_command *command,
	const char *reference, size_t length)
{
	if (command->param_count == WP_SCRIPT_PARAMS_MAX)
		return refuse_reference(parser, "statement has too many arguments, maximum is 255",
			NULL, 0, "Use fewer variables in one statement, or the simple protocol.");
	command->params[command->param_count++] =
		wp_symbols_add(parser->symbols, reference + 1, length - 1);
	return 0;
}

/* Write the statement with $1 ... for its references; text has room for that. */
static int number_params(struct script_parser *parser, struct wp_command *command)
{
	const struct script_sql *sql = &parser->reader.sql;
	size_t at = 0;

	while (at < sql->length) {
		const char *here = sql->bytes + at;
		size_t plain = 1;
		size_t length = 0;
		int result = 0;

		if (*here == ':')
			length = reference_length(sql->bytes, sql->length, at, &plain);
		if (length > 0 && sql->is_quoted[at]) {
			result = check_quoted(parser, here, length);
			plain = length;
			length = 0;
		} else if (length > 0) {
			result = add_param(parser, command, here, length);
			command->length += (size_t)snprintf(
				command->text + command->length, 8, "$%zu", command->param_count);
		}
		if (result < 0)
			return result;
		if (length == 0) {
			memcpy(command->text + command->length, here, plain);
			command->length += plain;
		}
		at += length > 0 ? length : plain;
	}
	command->text[command->length] = '\0';
	return 0;
}

static int make_params(struct script_parser *parser, struct wp_command *command)
{
	/* ":a" becomes "$255" at worst */
	size_t size = parser->reader.sql.length + 2 * WP_SCRIPT_PARAMS_MAX + 8;
	int result;

	command->text = wp_xcalloc(size, 1);
	command->params = wp_xcalloc(WP_SCRIPT_PARAMS_MAX, sizeof(*command->params));
	result = number_params(parser, command);
	command->text = wp_xreallocarray(command->text, command->length + 1, 1);
	if (command->param_count > 0) {
		command->params = wp_xreallocarray(
			command->params, command->param_count, sizeof(*command->params));
	} else {
		free(command->params);
		command->params = NULL;
	}
	return result;
}

int wp_script_add_statement(struct script_parser *parser)
{
	const struct script_sql *sql = &parser->reader.sql;
	struct wp_command *command;
	size_t title = 0;

	/* the scanner collects nothing before the first word, so any byte is a statement */
	if (sql->length == 0)
		return 0;
	command = wp_script_add(parser, WP_COMMAND_SQL);
	if (!command)
		return -WP_E_USAGE;
	command->line = wp_script_line(&parser->reader, sql->start);
	command->statement = parser->script->statement_count++;
	while (title < sql->length && title < TITLE_BYTES && sql->bytes[title] != '\n' &&
		sql->bytes[title] != '\r')
		title++;
	command->title = wp_xstrndup(sql->bytes, title);
	if (parser->script->protocol != WP_PROTOCOL_SIMPLE)
		return make_params(parser, command);
	cut_pieces(parser, command);
	return 0;
}
