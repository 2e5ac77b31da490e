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

int main(int argc, char **argv)
{
	const struct wp_command *command;
	int status;

	wp_host_guard_descriptors();
	wp_stop_install();
	if (argc < 2)
		return usage_error("a command is missing", "");
	if (answer_about_self(argv[1], &status))
		return status;
	command = wp_command_find(argv[1]);
	if (!command)
		return usage_error("unknown command ", argv[1]);
	return wp_run_command(command, (const char *const *)argv, (size_t)argc);
}
