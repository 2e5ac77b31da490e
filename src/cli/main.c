/* SPDX-License-Identifier: PostgreSQL */
#include "cli/commands.h"
#include "cli/run_command.h"
#include "walprobe/host.h"
#include "walprobe/stop.h"

static int finish_stdout(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	fprintf(stderr, "walprobe: error: could not write to standard output: %s\n",
		wp_errno_text(errno));
	return 3;
}

static int usage_error(const char *what, const char *word)
{
	fprintf(stderr, "walprobe: error: %s%s\nwalprobe: hint: Try \"walprobe --help\".\n", what,
		word);
	return 2;
}

/* Words that make walprobe speak of itself. True when word was one, with *status set. */
static bool answer_about_self(const char *word, int *status)
{
	if (strcmp(word, "--help") == 0 || strcmp(word, "-?") == 0 || strcmp(word, "help") == 0)
		wp_commands_help(stdout);
	else if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		puts("walprobe " WP_VERSION);
	else if (strcmp(word, "--print-man") == 0)
		wp_commands_man(stdout);
	else if (strcmp(word, "--print-completion") == 0)
		wp_commands_completion(stdout);
	else
		return false;
	*status = finish_stdout();
	return true;
}

/* The first word begins commands of two words, and the second is none of theirs. */
static int answer_about_group(const char *const *words, size_t count)
{
	if (count > 1 && (strcmp(words[1], "--help") == 0 || strcmp(words[1], "-?") == 0)) {
		wp_commands_group_help(words[0], stdout);
		return finish_stdout();
	}
	fprintf(stderr, "walprobe: error: %s%s%s%s\nwalprobe: hint: Try \"walprobe %s --help\".\n",
		count > 1 ? "unknown command " : "a command is missing after ", words[0],
		count > 1 ? " " : "", count > 1 ? words[1] : "", words[0]);
	return 2;
}

int main(int argc, char **argv)
{
	const char *const *words = (const char *const *)argv;
	const struct wp_command *command;
	size_t used;
	int status;

	wp_host_guard_descriptors();
	wp_stop_install();
	if (argc < 2)
		return usage_error("a command is missing", "");
	if (answer_about_self(argv[1], &status))
		return status;
	command = wp_command_find(words + 1, (size_t)argc - 1, &used);
	if (command)
		return wp_run_command(command, words, (size_t)argc, 1 + used);
	if (used)
		return answer_about_group(words + 1, (size_t)argc - 1);
	return usage_error("unknown command ", argv[1]);
}
