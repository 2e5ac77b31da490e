/* SPDX-License-Identifier: PostgreSQL */
#include "os/child.h"

#include "walprobe/mem.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* what the child needs after fork, where nothing may be allocated any more */
struct ready {
	const struct wp_child_spec *spec;
	char **words;
	char **environment;
	pid_t parent;
	int tell_fd;
};

static bool begins(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* Our own LC_ALL and TZ take the place of these; PG* would reach into the server's programs. */
static bool is_dropped(const char *variable, bool is_clean)
{
	if (begins(variable, "LC_ALL="))
		return true;
	return is_clean &&
	       (begins(variable, "PG") || begins(variable, "LC_") || begins(variable, "LANG") ||
		       begins(variable, "TZ=") || begins(variable, "LD_PRELOAD=") ||
		       begins(variable, "LD_AUDIT="));
}

static char **make_environment(bool is_clean)
{
	static char locale[] = "LC_ALL=C";
	static char zone[] = "TZ=UTC";
	size_t count = 0;
	size_t used = 0;
	char **copy;

	while (environ[count])
		count++;
	copy = wp_xcalloc(count + 3, sizeof(*copy));
	for (size_t i = 0; i < count; i++)
		if (!is_dropped(environ[i], is_clean))
			copy[used++] = environ[i];
	copy[used++] = locale;
	if (is_clean)
		copy[used] = zone;
	return copy;
}

static char **copy_words(const char *const *argv)
{
	size_t count = 0;
	char **words;

	while (argv[count])
		count++;
	words = wp_xcalloc(count + 1, sizeof(*words));
	for (size_t i = 0; i < count; i++)
		words[i] = wp_xstrdup(argv[i]);
	return words;
}

static void die(int tell_fd)
{
	int sys_errno = errno;
	ssize_t told = write(tell_fd, &sys_errno, sizeof(sys_errno));

	(void)told; /* the parent is gone: nobody to tell */
	_exit(127);
}

static void default_signals(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t none;

	(void)sigemptyset(&none);
	(void)sigaction(SIGPIPE, &action, NULL); /* cannot fail for this number */
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Only then: changing the user takes the wish for a death signal back. */
static int follow_parent(const struct ready *ready)
{
	if (!ready->spec->death_signal)
		return 0;
	if (prctl(PR_SET_PDEATHSIG, ready->spec->death_signal) < 0)
		return -1;
	if (getppid() != ready->parent)
		_exit(127); /* it died before we asked to die with it */
	return 0;
}

/* In the child, after fork: only calls that are safe there. */
static void become(const struct ready *ready)
{
	const struct wp_child_spec *spec = ready->spec;
	int in;

	default_signals();
	if (spec->is_session ? setsid() < 0 : setpgid(0, 0) < 0)
		die(ready->tell_fd);
	if (spec->user && wp_user_become(spec->user) < 0)
		die(ready->tell_fd);
	if (spec->is_session)
		(void)umask(077); /* cannot fail */
	if ((spec->directory && chdir(spec->directory) < 0) || follow_parent(ready) < 0)
		die(ready->tell_fd);
	in = spec->in ? spec->in : open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (in < 0 || dup2(in, 0) < 0 || dup2(spec->out, 1) < 0 || dup2(spec->errors, 2) < 0)
		die(ready->tell_fd);
	(void)execve(spec->path, ready->words, ready->environment);
	die(ready->tell_fd);
}

/* errno of the child's failed exec, or 0 once it runs the program. */
static int wait_for_exec(int fd)
{
	int sys_errno = 0;
	ssize_t got;

	do
		got = read(fd, &sys_errno, sizeof(sys_errno));
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(sys_errno) ? sys_errno : 0;
}

static int fork_and_wait(struct ready *ready, pid_t *pid)
{
	int tell[2];
	pid_t child;
	int rc = 0;

	if (pipe2(tell, O_CLOEXEC) < 0)
		return -errno;
	ready->tell_fd = tell[1];
	child = fork();
	if (child == 0)
		become(ready);
	if (child < 0)
		rc = -errno;
	(void)close(tell[1]); /* pipe ends: nothing can be lost */
	if (!rc) {
		rc = -wait_for_exec(tell[0]);
		if (rc)
			(void)waitpid(child, NULL, 0);
	}
	(void)close(tell[0]);
	if (!rc)
		*pid = child;
	return rc;
}

int wp_child_start(const struct wp_child_spec *spec, pid_t *pid)
{
	struct sigaction children = { .sa_handler = SIG_DFL };
	struct ready ready = { .spec = spec, .parent = getpid() };
	int rc;

	/* Inherited as ignored, it would make exit statuses vanish. */
	(void)sigemptyset(&children.sa_mask);
	(void)sigaction(SIGCHLD, &children, NULL); /* cannot fail for this number */
	ready.words = copy_words(spec->argv);
	ready.environment = make_environment(spec->is_clean);
	rc = fork_and_wait(&ready, pid);
	for (size_t i = 0; ready.words[i]; i++)
		free(ready.words[i]);
	free(ready.words);
	free(ready.environment);
	return rc;
}
