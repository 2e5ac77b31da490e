/* SPDX-License-Identifier: PostgreSQL */
#include "script_internal.h"
#include "walprobe/mem.h"

#include <strings.h>

/* words of a command that are looked at: its name and three arguments, one too many for any */
#define WORDS_MAX 4

enum arguments {
	ARGS_EXPRESSION, /* a variable before it for \set */
	ARGS_NONE,
	ARGS_SLEEP,
	ARGS_STORE,
	ARGS_REFUSED,
};

struct meta {
	const char *name;
	enum arguments arguments;
	enum wp_command_kind kind;
	enum wp_command_store store;
};

/* the command being read */
struct line {
	struct script_place place;
	const struct meta *meta;
	struct script_word words[WORDS_MAX];
	size_t count;
};

static const struct meta metas[] = {
	{ "set", ARGS_EXPRESSION, WP_COMMAND_SET, WP_STORE_NONE },
	{ "if", ARGS_EXPRESSION, WP_COMMAND_IF, WP_STORE_NONE },
	{ "elif", ARGS_EXPRESSION, WP_COMMAND_ELIF, WP_STORE_NONE },
	{ "else", ARGS_NONE, WP_COMMAND_ELSE, WP_STORE_NONE },
	{ "endif", ARGS_NONE, WP_COMMAND_ENDIF, WP_STORE_NONE },
	{ "sleep", ARGS_SLEEP, WP_COMMAND_SLEEP, WP_STORE_NONE },
	{ "gset", ARGS_STORE, WP_COMMAND_SQL, WP_STORE_GSET },
	{ "aset", ARGS_STORE, WP_COMMAND_SQL, WP_STORE_ASET },
	{ "startpipeline", ARGS_NONE, WP_COMMAND_STARTPIPELINE, WP_STORE_NONE },
	{ "syncpipeline", ARGS_NONE, WP_COMMAND_SYNCPIPELINE, WP_STORE_NONE },
	{ "endpipeline", ARGS_NONE, WP_COMMAND_ENDPIPELINE, WP_STORE_NONE },
	{ "setshell", ARGS_REFUSED, WP_COMMAND_SET, WP_STORE_NONE },
	{ "shell", ARGS_REFUSED, WP_COMMAND_SET, WP_STORE_NONE },
};

static const char *word_text(const struct script_parser *parser, const struct script_word *word)
{
	return parser->reader.text + word->at;
}

static bool is_word(
	const struct script_parser *parser, const struct script_word *word, const char *text)
{
	return strlen(text) == word->length &&
	       strncasecmp(word_text(parser, word), text, word->length) == 0;
}

static const struct meta *find_meta(
	const struct script_parser *parser, const struct script_word *word)
{
	for (size_t i = 0; i < WP_COUNT(metas); i++)
		if (is_word(parser, word, metas[i].name))
			return &metas[i];
	return NULL;
}

static int fail_line(struct script_parser *parser, const struct line *line, const char *message)
{
	return wp_script_fail(parser, &line->place, SIZE_MAX, message, NULL, 0);
}

/* The fault is about a word, and marked at its beginning. */
static int fail_word(struct script_parser *parser, const struct line *line,
	const struct script_word *word, const char *message)
{
	return wp_script_fail(
		parser, &line->place, word->at, message, word_text(parser, word), word->length);
}

/* The new command with what all have. */
static struct wp_command *add_command(struct script_parser *parser, const struct line *line)
{
	struct wp_command *command = wp_script_add(parser, line->meta->kind);
	size_t length = line->place.end - line->place.start;

	if (!command)
		return NULL;
	command->line = wp_script_line(&parser->reader, line->place.start);
	command->title = wp_xstrndup(parser->reader.text + line->place.start, length);
	return command;
}

/* ---- \set, \if, \elif ------------------------------------------------------------------------ */

static int add_expression(struct script_parser *parser, struct line *line)
{
	struct script_reader *reader = &parser->reader;
	const struct script_word *variable = NULL;
	struct wp_expr_fault fault;
	struct wp_expr expr = { 0 };
	struct wp_command *command;
	size_t start;
	size_t used;

	if (line->meta->kind == WP_COMMAND_SET) {
		if (!wp_script_scan_word(reader, &line->words[1]))
			return fail_line(parser, line, "missing argument");
		variable = &line->words[1];
		if (wp_name_length(word_text(parser, variable), variable->length) !=
			variable->length)
			return fail_word(parser, line, variable, "invalid variable name");
	}
	start = reader->next;
	if (wp_expr_compile(reader->text + start, reader->length - start, parser->symbols, &expr,
		    &used, &fault) < 0)
		return wp_script_fail(parser, &line->place, start + fault.at, fault.message,
			fault.more[0] ? fault.more : NULL, strlen(fault.more));
	reader->next = start + used;
	command = add_command(parser, line);
	if (!command) {
		wp_expr_release(&expr);
		return -WP_E_USAGE;
	}
	command->expr = expr;
	if (variable)
		command->slot = wp_symbols_define(
			parser->symbols, word_text(parser, variable), variable->length);
	return 0;
}

/* ---- \sleep ---------------------------------------------------------------------------------- */

static bool find_unit(
	const struct script_parser *parser, const struct script_word *word, int64_t *unit_ns)
{
	if (is_word(parser, word, "us"))
		*unit_ns = WP_NS_PER_US;
	else if (is_word(parser, word, "ms"))
		*unit_ns = WP_NS_PER_MS;
	else if (is_word(parser, word, "s"))
		*unit_ns = WP_NS_PER_S;
	else
		return false;
	return true;
}

/* Length of the sign and the digits at the start of a word, 0 without digits. */
static size_t number_length(const char *text, size_t length)
{
	size_t sign = length > 0 && (text[0] == '+' || text[0] == '-');
	size_t end = sign;

	while (end < length && text[end] >= '0' && text[end] <= '9')
		end++;
	return end > sign ? end : 0;
}

/* "10", or "10ms" whose unit then becomes the second argument. */
static int split_number(struct script_parser *parser, struct line *line, int64_t *count)
{
	struct script_word *word = &line->words[1];
	const char *text = word_text(parser, word);
	size_t length = number_length(text, word->length);
	char *copy;

	if (length == 0 || (length < word->length && line->count == 3))
		return fail_word(parser, line, word, "invalid sleep time, must be an integer");
	if (length < word->length) {
		line->words[2] = (struct script_word){ .at = word->at + length,
			.length = word->length - length };
		line->count = 3;
	}
	copy = wp_xstrndup(text, length);
	errno = 0;
	*count = strtoll(copy, NULL, 10);
	free(copy);
	if (errno == ERANGE)
		return fail_word(parser, line, word, "sleep time is out of range");
	return 0;
}

static int add_sleep(struct script_parser *parser, struct line *line)
{
	const struct script_word *word = &line->words[1];
	int64_t unit_ns = WP_NS_PER_S;
	int64_t count = 0;
	int64_t product;
	bool is_variable;
	struct wp_command *command;
	int result = 0;

	if (line->count < 2)
		return fail_line(parser, line, "missing argument");
	if (line->count > 3)
		return wp_script_fail(
			parser, &line->place, line->words[3].at, "too many arguments", NULL, 0);
	is_variable = word_text(parser, word)[0] == ':';
	if (!is_variable)
		result = split_number(parser, line, &count);
	if (result < 0)
		return result;
	if (line->count == 3 && !find_unit(parser, &line->words[2], &unit_ns))
		return fail_word(parser, line, &line->words[2],
			"unrecognized time unit, must be us, ms or s");
	if (__builtin_mul_overflow(count, unit_ns, &product))
		return fail_word(parser, line, word, "sleep time is out of range");
	command = add_command(parser, line);
	if (!command)
		return -WP_E_USAGE;
	command->sleep_count = count;
	command->sleep_unit_ns = unit_ns;
	if (is_variable)
		command->slot = wp_symbols_add(
			parser->symbols, word_text(parser, word) + 1, word->length - 1);
	return 0;
}

/* ---- \gset, \aset and the rest --------------------------------------------------------------- */

/* The command belongs to the statement before it and takes no place of its own. */
static int add_store(struct script_parser *parser, struct line *line)
{
	struct wp_script *script = parser->script;
	struct script_place place = { .start = line->place.start };
	struct wp_command *last = NULL;
	const char *message = line->meta->store == WP_STORE_GSET
				      ? "\\gset must follow an SQL command"
				      : "\\aset must follow an SQL command";

	if (line->count > 2)
		return fail_line(parser, line, "too many arguments");
	if (script->count > 0)
		last = &script->commands[script->count - 1];
	if (!last)
		return wp_script_fail(parser, &place, SIZE_MAX, message, NULL, 0);
	if (last->kind != WP_COMMAND_SQL || last->prefix)
		return wp_script_fail(
			parser, &place, SIZE_MAX, message, last->title, strlen(last->title));
	last->store = line->meta->store;
	if (line->count == 2)
		last->prefix =
			wp_xstrndup(word_text(parser, &line->words[1]), line->words[1].length);
	else
		last->prefix = wp_xstrdup("");
	return 0;
}

static int refuse(struct script_parser *parser, const struct line *line)
{
	int result = fail_line(parser, line, "shell commands are not run");

	wp_err_hint(parser->err, "A shell started inside a transaction would be what is measured. "
				 "Pass values with -D name=value, or compute them with \\set.");
	return result;
}

static int add_plain(struct script_parser *parser, struct line *line)
{
	if (line->count != 1)
		return fail_line(parser, line, "unexpected argument");
	return add_command(parser, line) ? 0 : -WP_E_USAGE;
}

/* All words of the line; those behind WORDS_MAX are only counted. */
static void read_words(struct script_parser *parser, struct line *line)
{
	struct script_word word;

	while (wp_script_scan_word(&parser->reader, &word)) {
		if (line->count < WORDS_MAX)
			line->words[line->count] = word;
		line->count++;
	}
}

/* End of the command as it is shown, without line ends. */
static size_t trimmed_end(const struct script_parser *parser, size_t start)
{
	size_t end = wp_script_line_end(&parser->reader, start);

	while (end > start && parser->reader.text[end - 1] == '\r')
		end--;
	return end;
}

int wp_script_add_meta(struct script_parser *parser)
{
	struct script_reader *reader = &parser->reader;
	struct line line = { .place = { .start = reader->next - 1 } };

	/* a backslash alone is nothing */
	if (!wp_script_scan_word(reader, &line.words[0]))
		return 0;
	line.count = 1;
	line.place.command = line.words[0];
	line.place.end = trimmed_end(parser, line.words[0].at);
	line.meta = find_meta(parser, &line.words[0]);
	if (line.meta && line.meta->arguments == ARGS_EXPRESSION)
		return add_expression(parser, &line);
	read_words(parser, &line);
	if (!line.meta)
		return fail_line(parser, &line, "invalid command");
	switch (line.meta->arguments) {
	case ARGS_SLEEP:
		return add_sleep(parser, &line);
	case ARGS_STORE:
		return add_store(parser, &line);
	case ARGS_REFUSED:
		return refuse(parser, &line);
	default:
		return add_plain(parser, &line);
	}
}
