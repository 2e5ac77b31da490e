/* SPDX-License-Identifier: PostgreSQL */
#include "cli/commands.h"
#include "cli/opts_iter.h"

#define HELP_INDENT 30
#define HELP_WIDTH 98

/* True when name is "WORD something". */
static bool is_in_group(const char *name, const char *word)
{
	size_t length = strlen(word);

	return strncmp(name, word, length) == 0 && name[length] == ' ';
}

static const struct wp_command *find_one(const char *name)
{
	for (size_t i = 0; wp_commands[i]; i++)
		if (strcmp(wp_commands[i]->name, name) == 0)
			return wp_commands[i];
	return NULL;
}

const struct wp_command *wp_command_find(const char *const *words, size_t count, size_t *used)
{
	const struct wp_command *command;
	char name[64];

	*used = 0;
	if (count == 0)
		return NULL;
	command = strchr(words[0], ' ') ? NULL : find_one(words[0]);
	if (command) {
		*used = 1;
		return command;
	}
	for (size_t i = 0; wp_commands[i]; i++)
		if (is_in_group(wp_commands[i]->name, words[0]))
			*used = 1;
	if (!*used || count < 2)
		return NULL;
	(void)snprintf(name, sizeof(name), "%s %s", words[0], words[1]);
	command = find_one(name);
	*used = command ? 2 : 1;
	return command;
}

/* Write text from column at, breaking lines before HELP_WIDTH and indenting what follows. */
/* A word, or so much of one that is wider than the page as ends behind a bar. */
static size_t word_length(const char *text, size_t width)
{
	size_t length = strcspn(text, " ");
	size_t at = width;

	if (length <= width)
		return length;
	while (at && text[at - 1] != '|')
		at--;
	return at ? at : length;
}

static void wrap(FILE *stream, size_t at, size_t indent, const char *text)
{
	while (*text) {
		size_t word = word_length(text, HELP_WIDTH - indent);

		if (at > indent && at + word > HELP_WIDTH) {
			fprintf(stream, "\n%*s", (int)indent, "");
			at = indent;
		}
		fprintf(stream, "%.*s", (int)word, text);
		at += word;
		text += word;
		if (*text == ' ') {
			text++;
			if (at + 1 + word_length(text, HELP_WIDTH - indent) <= HELP_WIDTH)
				fputc(' ', stream);
			at++;
		}
	}
	fputc('\n', stream);
}

static void option_words(const struct wp_opt *opt, char *out, size_t size)
{
	char letter[8] = "    ";

	if (opt->letter)
		(void)snprintf(letter, sizeof(letter), "-%c, ", opt->letter);
	(void)snprintf(out, size, "  %s--%s%s%s", letter, opt->name, opt->argument ? "=" : "",
		opt->argument ? opt->argument : "");
}

/* More choices than this are a list in which a line may break. */
#define CHOICES_UNBROKEN 7

/* "help (a|b|c; default x)" */
static void option_help(
	const struct wp_command *command, const struct wp_opt *opt, char *out, size_t size)
{
	const char *standard = wp_opt_standard(command, opt);
	const char *const *choices = wp_opt_choices(command, opt);
	size_t count = 0;
	size_t used;

	while (choices && choices[count])
		count++;
	(void)snprintf(out, size, "%s", opt->help);
	used = strlen(out);
	if (!choices && !standard)
		return;
	(void)snprintf(out + used, size - used, " (");
	for (size_t i = 0; choices && choices[i]; i++) {
		used = strlen(out);
		(void)snprintf(out + used, size - used, "%s%s",
			!i                         ? ""
			: count > CHOICES_UNBROKEN ? ", "
						   : "|",
			choices[i]);
	}
	used = strlen(out);
	if (standard)
		(void)snprintf(
			out + used, size - used, "%sdefault %s", choices ? "; " : "", standard);
	used = strlen(out);
	(void)snprintf(out + used, size - used, ")");
}

static void print_option(FILE *stream, const char *words, const char *help)
{
	size_t used = strlen(words);

	fputs(words, stream);
	if (used + 2 > HELP_INDENT) {
		fputc('\n', stream);
		used = 0;
	}
	fprintf(stream, "%*s", (int)(HELP_INDENT - used), "");
	wrap(stream, HELP_INDENT, HELP_INDENT, help);
}

void wp_opts_help(const struct wp_command *command, FILE *stream)
{
	char words[128];
	char help[512];

	fprintf(stream, "walprobe %s: ", command->name);
	wrap(stream, strlen(command->name) + 11, 2, command->summary);
	fprintf(stream, "\nUsage:\n  walprobe %s [OPTION]... %s\n\nOptions:\n", command->name,
		command->operands);
	for (struct wp_opt_iter it = wp_opt_first(command); it.opt; wp_opt_next(&it)) {
		option_words(it.opt, words, sizeof(words));
		option_help(command, it.opt, help, sizeof(help));
		print_option(stream, words, help);
	}
	print_option(stream, "  -?, --help", "show this help, then exit");
	if (command->epilogue)
		fprintf(stream, "\n%s", command->epilogue);
}

void wp_commands_group_help(const char *word, FILE *stream)
{
	char words[96];

	fprintf(stream, "Usage:\n  walprobe %s COMMAND [OPTION]... [TARGET]\n\nCommands:\n", word);
	for (size_t i = 0; wp_commands[i]; i++) {
		if (!is_in_group(wp_commands[i]->name, word))
			continue;
		(void)snprintf(words, sizeof(words), "  %s %s", wp_commands[i]->name,
			wp_commands[i]->operands);
		print_option(stream, words, wp_commands[i]->summary);
	}
	fprintf(stream, "\nTry \"walprobe %s COMMAND --help\".\n", word);
}

void wp_commands_help(FILE *stream)
{
	fputs("walprobe finds out where pg_wal should live, what a place really promises, and "
	      "what\n"
	      "clients get there.\n\n"
	      "Usage:\n  walprobe COMMAND [OPTION]... [TARGET]...\n\nCommands:\n",
		stream);
	for (size_t i = 0; wp_commands[i]; i++) {
		char words[64];

		(void)snprintf(words, sizeof(words), "  %s %s", wp_commands[i]->name,
			wp_commands[i]->operands);
		print_option(stream, words, wp_commands[i]->summary);
	}
	fputs("\nOptions:\n", stream);
	print_option(stream, "  -?, --help", "show this help, then exit; also after a command");
	print_option(stream, "  -V, --version", "show the version, then exit");
	fputs("\nA target is [LABEL=]DIRECTORY or [LABEL=]image:FSTYPE[:key=value]..., a scratch "
	      "file\n"
	      "system in a loop-mounted image (root only; keys size, mount, mkfs, on).\n\n"
	      "Exit status: 0 done; 1 a check failed; 2 bad command line; 3 work could not be "
	      "done;\n"
	      "4 cannot tell; 130, 143 stopped by SIGINT, SIGTERM.\n",
		stream);
}

static void roff(FILE *stream, const char *text)
{
	bool is_line_start = true;

	for (; *text; text++) {
		if (is_line_start && (*text == '.' || *text == '\''))
			fputs("\\&", stream);
		if (*text == '\\')
			fputs("\\e", stream);
		else if (*text == '-')
			fputs("\\-", stream);
		else
			fputc(*text, stream);
		is_line_start = *text == '\n';
	}
}

static void man_option(FILE *stream, const struct wp_command *command, const struct wp_opt *opt)
{
	char help[512];

	fputs(".TP\n", stream);
	if (opt->letter)
		fprintf(stream, "\\fB\\-%c\\fR, ", opt->letter);
	fputs("\\fB\\-\\-", stream);
	roff(stream, opt->name);
	fputs("\\fR", stream);
	if (opt->argument)
		fprintf(stream, "=\\fI%s\\fR", opt->argument);
	fputc('\n', stream);
	option_help(command, opt, help, sizeof(help));
	roff(stream, help);
	fputs(".\n", stream);
}

static void man_command(FILE *stream, const struct wp_command *command)
{
	fprintf(stream, ".SS walprobe %s %s\n", command->name, command->operands);
	roff(stream, command->summary);
	fputs(".\n", stream);
	for (struct wp_opt_iter it = wp_opt_first(command); it.opt; wp_opt_next(&it))
		man_option(stream, command, it.opt);
	if (command->epilogue) {
		fputs(".PP\n.nf\n", stream);
		roff(stream, command->epilogue);
		fputs(".fi\n", stream);
	}
}

void wp_commands_man(FILE *stream)
{
	fputs(".TH WALPROBE 1 \"\" \"walprobe " WP_VERSION "\" \"walprobe\"\n"
	      ".SH NAME\nwalprobe \\- which storage should pg_wal live on, and does it keep what "
	      "fsync "
	      "promised\n.SH SYNOPSIS\n.B walprobe\n\\fICOMMAND\\fR [\\fIOPTION\\fR]... "
	      "[\\fITARGET\\fR]...\n.SH COMMANDS\n",
		stream);
	for (size_t i = 0; wp_commands[i]; i++)
		man_command(stream, wp_commands[i]);
	fputs(".SH TARGETS\nA target is [\\fILABEL\\fR=]\\fIWHERE\\fR. A \\fIWHERE\\fR that starts "
	      "with "
	      "/ or . is never split at =. It is a directory, in which a fresh subdirectory is "
	      "made "
	      "and removed, or image:\\fIFSTYPE\\fR[:key=value]..., a scratch file system in a "
	      "loop\\-mounted image (root only). Keys: size (1GB), mount (mount options), mkfs "
	      "(options), on (the directory that holds the image).\n"
	      ".SH EXIT STATUS\n0 done, no check failed; 1 done, a check failed; 2 the command "
	      "line "
	      "is wrong; 3 work could not be done; 4 cannot tell; 130 and 143 stopped by SIGINT "
	      "and "
	      "SIGTERM.\n",
		stream);
}

/* First words of names, each once; or the second words of those of a group. */
static void complete_names(FILE *stream, const char *group)
{
	const char *last = "";
	size_t last_length = 0;

	for (size_t i = 0; wp_commands[i]; i++) {
		const char *name = wp_commands[i]->name;
		size_t length = strcspn(name, " ");

		if (group && is_in_group(name, group))
			fprintf(stream, "%s ", name + length + 1);
		if (!group && (length != last_length || strncmp(name, last, length) != 0))
			fprintf(stream, "%.*s ", (int)length, name);
		last = name;
		last_length = length;
	}
}

static void complete_groups(FILE *stream)
{
	const char *last = "";

	fputs("\tlocal command=${COMP_WORDS[1]}\n", stream);
	for (size_t i = 0; wp_commands[i]; i++) {
		const char *name = wp_commands[i]->name;
		char group[64];

		size_t length = strcspn(name, " ");

		if (!name[length] || length >= sizeof(group))
			continue;
		memcpy(group, name, length);
		group[length] = '\0';
		if (is_in_group(last, group))
			continue;
		last = name;
		fprintf(stream,
			"\tif [ \"$command\" = %s ]; then\n"
			"\t\tif [ \"$COMP_CWORD\" -eq 2 ]; then\n"
			"\t\t\tCOMPREPLY=($(compgen -W '",
			group);
		complete_names(stream, group);
		fputs("--help' -- \"$cur\"))\n\t\t\treturn\n\t\tfi\n"
		      "\t\tcommand=\"$command ${COMP_WORDS[2]}\"\n\tfi\n",
			stream);
	}
}

void wp_commands_completion(FILE *stream)
{
	fputs("# bash completion for walprobe, made from its option tables\n_walprobe()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} words=\n\tCOMPREPLY=()\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\tCOMPREPLY=($(compgen -W '",
		stream);
	complete_names(stream, NULL);
	fputs("--help --version' -- \"$cur\"))\n\t\treturn\n\tfi\n", stream);
	complete_groups(stream);
	fputs("\tcase $command in\n", stream);
	for (size_t i = 0; wp_commands[i]; i++) {
		fprintf(stream, "\t'%s') words='", wp_commands[i]->name);
		for (struct wp_opt_iter it = wp_opt_first(wp_commands[i]); it.opt; wp_opt_next(&it))
			fprintf(stream, "--%s%s ", it.opt->name, it.opt->argument ? "=" : "");
		fputs("--help' ;;\n", stream);
	}
	fputs("\tesac\n\tcase $cur in\n\t-*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
	      "\t*) COMPREPLY=($(compgen -f -W 'image:ext4 image:xfs image:btrfs' -- \"$cur\")) "
	      ";;\n"
	      "\tesac\n\t[ \"${COMPREPLY[0]%=}\" = \"${COMPREPLY[0]}\" ] || compopt -o nospace\n}\n"
	      "complete -o filenames -F _walprobe walprobe\n",
		stream);
}
