/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/proc.h"

#include "os/child.h"
#include "walprobe/mem.h"
#include "walprobe/stop.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define POLL_MS 20
#define GRACE_NS WP_NS_PER_S
#define MORE_PATHS "/usr/sbin:/sbin"

struct stream {
	int fd; /* -1: closed */
	char *text;
	size_t used;
};

struct child {
	pid_t pid;
	int wait_status;
	bool has_ended;
	struct stream streams[2]; /* stdout, stderr */
	size_t room;              /* of each */
	bool is_cut;
};

static char *find_in(const struct wp_os *os, const char *paths, const char *program)
{
	while (*paths) {
		size_t length = strcspn(paths, ":");
		char *path = wp_xasprintf(
			"%.*s/%s", length ? (int)length : 1, length ? paths : ".", program);
		struct stat info;

		if (wp_os_stat(os, path, &info) == 0 && S_ISREG(info.st_mode) &&
			wp_os_access(os, path, X_OK) == 0)
			return path;
		free(path);
		paths += length + (paths[length] == ':');
	}
	return NULL;
}

int wp_proc_find(const struct wp_os *os, const char *program, const char *package, char **path,
	struct wp_err *err)
{
	const char *paths = getenv("PATH");
	char *found = NULL;

	if (strchr(program, '/')) {
		if (wp_os_access(os, program, X_OK) == 0)
			found = wp_xstrdup(program);
	} else {
		found = paths ? find_in(os, paths, program) : NULL;
		if (!found)
			found = find_in(os, MORE_PATHS, program);
	}
	if (found) {
		*path = found;
		return 0;
	}
	(void)wp_fail(err, WP_E_UNSUPPORTED, 0, "program \"%s\" not found", program);
	if (package)
		wp_err_hint(err, "Install the Debian package %s.", package);
	return -WP_E_UNSUPPORTED;
}

static void close_if_open(int *fd)
{
	if (*fd >= 0)
		(void)close(*fd); /* a pipe end: nothing can be lost */
	*fd = -1;
}

/* Pipes for stdout and stderr. Both or none. */
static int open_pipes(int pipes[2][2])
{
	if (pipe2(pipes[0], O_CLOEXEC) < 0)
		return -errno;
	if (pipe2(pipes[1], O_CLOEXEC) < 0) {
		int sys_errno = errno;

		close_if_open(&pipes[0][0]);
		close_if_open(&pipes[0][1]);
		return -sys_errno;
	}
	return 0;
}

/* A file in memory with the text, to be read from its start: whole before the child runs, so that
 * neither side waits for the other. Returns a descriptor, 0 for no text, or -errno. */
static int open_input(const char *text)
{
	size_t length = text ? strlen(text) : 0;
	size_t used = 0;
	int fd;

	if (!text)
		return 0;
	fd = memfd_create("walprobe-input", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (used < length) {
		ssize_t written = pwrite(fd, text + used, length - used, (off_t)used);

		if (written < 0 && errno != EINTR) {
			int sys_errno = errno;

			(void)close(fd); /* memory: nothing can be lost */
			return -sys_errno;
		}
		used += written > 0 ? (size_t)written : 0;
	}
	return fd;
}

static int start(const char *path, const char *const *argv, const struct wp_proc_options *options,
	struct child *child)
{
	struct wp_child_spec spec = { .path = path,
		.argv = argv,
		.user = options->user,
		.directory = options->directory,
		.is_clean = options->is_clean,
		.death_signal = SIGKILL };
	int pipes[2][2];
	int in = open_input(options->input);
	int rc = in < 0 ? in : open_pipes(pipes);

	if (rc) {
		if (in > 0)
			close_if_open(&in);
		return rc;
	}
	spec.in = in;
	spec.out = pipes[0][1];
	spec.errors = pipes[1][1];
	rc = wp_child_start(&spec, &child->pid);
	if (in > 0)
		close_if_open(&in);
	for (int i = 0; i < 2; i++) {
		close_if_open(&pipes[i][1]);
		if (rc)
			close_if_open(&pipes[i][0]);
		else
			(void)fcntl(pipes[i][0], F_SETFL, O_NONBLOCK); /* cannot fail on a pipe */
		child->streams[i].fd = pipes[i][0];
	}
	return rc;
}

/* Take what can be read now. */
static void drain(struct child *child, struct stream *stream)
{
	char dropped[4096];
	ssize_t got = 1;

	while (stream->fd >= 0 && got > 0) {
		size_t room = child->room - stream->used;

		got = read(stream->fd, room ? stream->text + stream->used : dropped,
			room ? room : sizeof(dropped));
		if (got > 0 && room)
			stream->used += (size_t)got;
		else if (got > 0)
			child->is_cut = true;
		else if (got == 0 || (errno != EAGAIN && errno != EINTR))
			close_if_open(&stream->fd);
	}
}

/* Look whether it ended, without forgetting it: its process group must still be ours to end. */
static void look(struct child *child)
{
	siginfo_t info = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		info.si_pid == child->pid)
		child->has_ended = true;
}

static void wait_a_little(struct child *child)
{
	struct pollfd polled[2];

	for (int i = 0; i < 2; i++)
		polled[i] = (struct pollfd){ .fd = child->streams[i].fd, .events = POLLIN };
	(void)poll(polled, 2, POLL_MS); /* interrupted or not, all is looked at again */
	for (int i = 0; i < 2; i++)
		drain(child, &child->streams[i]);
	look(child);
}

static int watch(const struct wp_os *os, struct child *child, const char *program,
	const struct wp_proc_options *options, struct wp_err *err)
{
	int64_t begin_ns = wp_os_now_ns(os);

	while (!child->has_ended) {
		wait_a_little(child);
		if (child->has_ended)
			break;
		if (!options->ignores_stop && wp_stop_requested())
			return wp_stop_fail(err);
		if (options->limit_ns && wp_os_now_ns(os) - begin_ns >= options->limit_ns)
			return wp_fail(err, WP_E_SYS, 0,
				"program \"%s\" did not end within %" PRId64 " s", program,
				(options->limit_ns + WP_NS_PER_S - 1) / WP_NS_PER_S);
	}
	return 0;
}

/* End the whole group, then take the child's status. */
static void finish(const struct wp_os *os, struct child *child)
{
	int64_t begin_ns = wp_os_now_ns(os);

	if (!child->has_ended)
		(void)kill(-child->pid, SIGTERM); /* gone already is as well */
	while (!child->has_ended && wp_os_now_ns(os) - begin_ns < GRACE_NS)
		wait_a_little(child);
	(void)kill(-child->pid, SIGKILL);
	while (waitpid(child->pid, &child->wait_status, 0) < 0 && errno == EINTR)
		;
	for (int i = 0; i < 2; i++) {
		drain(child, &child->streams[i]);
		close_if_open(&child->streams[i].fd);
	}
}

int wp_proc_run(const struct wp_os *os, const char *const *argv,
	const struct wp_proc_options *options, struct wp_proc_output *output, struct wp_err *err)
{
	struct child child = { .streams = { { .fd = -1 }, { .fd = -1 } } };
	char *path = NULL;
	int rc = wp_proc_find(os, argv[0], options->package, &path, err);

	if (rc)
		return rc;
	child.room = options->output_bytes ? options->output_bytes : WP_PROC_OUTPUT_BYTES;
	for (int i = 0; i < 2; i++)
		child.streams[i].text = wp_xcalloc(child.room + 1, 1);
	rc = start(path, argv, options, &child);
	if (rc) {
		rc = wp_fail(err, WP_E_SYS, -rc, "could not run program \"%s\"", path);
	} else {
		rc = watch(os, &child, argv[0], options, err);
		finish(os, &child);
	}
	free(path);
	if (rc) {
		free(child.streams[0].text);
		free(child.streams[1].text);
		return rc;
	}
	output->exit_status = WIFEXITED(child.wait_status) ? WEXITSTATUS(child.wait_status) : -1;
	output->signal = WIFSIGNALED(child.wait_status) ? WTERMSIG(child.wait_status) : 0;
	output->out = child.streams[0].text;
	output->out_bytes = child.streams[0].used;
	output->errors = child.streams[1].text;
	output->is_cut = child.is_cut;
	return 0;
}

/* Copy the first line of text that is not empty: programs explain their options after it. */
static bool first_line(const char *text, char *line, size_t size)
{
	size_t length;

	text += strspn(text, " \t\r\n");
	length = strcspn(text, "\r\n");
	(void)snprintf(line, size, "%.*s", (int)length, text);
	return length > 0;
}

int wp_proc_check(const char *program, const struct wp_proc_output *output, struct wp_err *err)
{
	char line[400];

	if (output->exit_status == 0)
		return 0;
	if (output->signal)
		(void)wp_fail(err, WP_E_SYS, 0, "program \"%s\" was ended by signal %d (%s)",
			program, output->signal, sigdescr_np(output->signal));
	else
		(void)wp_fail(err, WP_E_SYS, 0, "program \"%s\" failed with exit status %d",
			program, output->exit_status);
	if (first_line(output->errors, line, sizeof(line)) ||
		first_line(output->out, line, sizeof(line)))
		wp_err_detail(err, "%s", line);
	return -WP_E_SYS;
}

void wp_proc_output_release(struct wp_proc_output *output)
{
	free(output->out);
	free(output->errors);
	memset(output, 0, sizeof(*output));
}
