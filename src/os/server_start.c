/* SPDX-License-Identifier: PostgreSQL */
#include "os/child.h"
#include "walprobe/server_process.h"

#include <signal.h>
#include <sys/wait.h>

int wp_server_start(const struct wp_os *os, const struct wp_server_start *start, int64_t *pid,
	struct wp_err *err)
{
	struct wp_child_spec spec = { .path = start->program,
		.argv = start->argv,
		.user = start->user,
		.directory = start->data_directory,
		.death_signal = start->outlives_us ? 0 : SIGQUIT,
		.is_clean = true,
		.is_session = true };
	int log = wp_os_open(os, start->log, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW, 0600);
	pid_t child = 0;
	int rc;

	if (log < 0)
		return wp_fail(err, WP_E_SYS, -log, "could not open file \"%s\"", start->log);
	spec.out = spec.errors = log;
	/* With --keep its user goes on reading it; where nobody owns anything nothing is lost. */
	if (start->user->is_other)
		(void)wp_os_fchown(os, log, start->user->uid, start->user->gid);
	rc = wp_child_start(&spec, &child);
	(void)wp_os_close(os, log); /* nothing was written by us */
	if (rc)
		return wp_fail(err, WP_E_SYS, -rc, "could not run program \"%s\" as user \"%s\"",
			start->program, start->user->name);
	*pid = child;
	return 0;
}

bool wp_server_has_ended(int64_t pid, char *how, size_t size)
{
	int status = 0;
	pid_t got;

	do
		got = waitpid((pid_t)pid, &status, WNOHANG);
	while (got < 0 && errno == EINTR);
	if (got == 0)
		return false;
	if (got < 0)
		(void)snprintf(how, size, "nobody knows how");
	else if (WIFSIGNALED(status))
		(void)snprintf(how, size, "signal %d (%s)", WTERMSIG(status),
			sigdescr_np(WTERMSIG(status)));
	else
		(void)snprintf(how, size, "exit status %d", WEXITSTATUS(status));
	return true;
}
