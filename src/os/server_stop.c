/* SPDX-License-Identifier: PostgreSQL */
/*
 * Servers are found by the directory that their processes work in, and not by a process id that
 * was written down: so the same code stops a server of ours, one whose postmaster somebody killed,
 * and one that a dead run left.
 */
#include "os/process.h"
#include "walprobe/mem.h"
#include "walprobe/server_process.h"

#include <signal.h>
#include <sys/shm.h>
#include <sys/wait.h>

#define PROGRAM "postgres"
#define DELETED " (deleted)"
#define POLL_NS (10 * WP_NS_PER_MS)
#define WORDS_MOST 4096

struct member {
	int64_t pid;
	int64_t parent;
};

struct members {
	struct member *items;
	size_t count;
};

struct step {
	int signal;
	int64_t wait_ns;
};

/* Target of a link of /proc, with what marks a removed file cut off; NULL when it cannot be seen. */
static char *read_link(const struct wp_os *os, const char *pid, const char *name)
{
	char *path = wp_xasprintf("/proc/%s/%s", pid, name);
	char *target = NULL;
	size_t length;

	if (wp_os_readlink(os, path, &target) < 0)
		target = NULL;
	free(path);
	length = target ? strlen(target) : 0;
	if (length > strlen(DELETED) && strcmp(target + length - strlen(DELETED), DELETED) == 0)
		target[length - strlen(DELETED)] = '\0';
	return target;
}

static bool is_below(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	return strncmp(path, directory, length) == 0 &&
	       (path[length] == '\0' || path[length] == '/');
}

static bool is_postgres(const struct wp_os *os, const char *pid)
{
	char *program = read_link(os, pid, "exe");
	const char *name = program ? strrchr(program, '/') : NULL;
	bool is_so = name && strcmp(name + 1, PROGRAM) == 0;

	free(program);
	return is_so;
}

/* Its words hold -D and a directory that is the one or lies below it. */
static bool was_told(const struct wp_os *os, const char *pid, const char *directory)
{
	char *path = wp_xasprintf("/proc/%s/cmdline", pid);
	int sys_errno;
	char *words = wp_os_read_text(os, path, WORDS_MOST, &sys_errno);
	bool is_so = false;

	free(path);
	/* Words end in zero bytes; the buffer is zeroed, so an empty one is the end. */
	for (const char *word = words; word && *word && !is_so; word += strlen(word) + 1)
		is_so = strcmp(word, "-D") == 0 && word - words + 3 < WORDS_MOST &&
			is_below(word + 3, directory);
	free(words);
	return is_so;
}

static bool belongs(const struct wp_os *os, const char *pid, const char *directory)
{
	char *where;
	bool is_so;

	if (strspn(pid, "0123456789") != strlen(pid) || !is_postgres(os, pid))
		return false;
	where = read_link(os, pid, "cwd");
	is_so = where && is_below(where, directory);
	free(where);
	return is_so || was_told(os, pid, directory);
}

static int find_members(const struct wp_os *os, const char *directory, struct members *members)
{
	struct wp_names names = { NULL, 0 };
	int rc = wp_os_list(os, "/proc", &names);

	members->count = 0;
	for (size_t i = 0; rc == 0 && i < names.count; i++) {
		struct member *member;

		if (!belongs(os, names.names[i], directory))
			continue;
		members->items = wp_xreallocarray(
			members->items, members->count + 1, sizeof(*members->items));
		member = &members->items[members->count++];
		member->pid = strtoll(names.names[i], NULL, 10);
		member->parent = wp_process_parent(os, member->pid);
	}
	wp_names_release(&names);
	return rc;
}

/* The postmaster, and after its death each of its orphans. */
static bool is_top(const struct members *members, size_t index)
{
	for (size_t i = 0; i < members->count; i++)
		if (members->items[i].pid == members->items[index].parent)
			return false;
	return true;
}

static void send(const struct members *members, int number)
{
	for (size_t i = 0; i < members->count; i++) {
		pid_t pid = (pid_t)members->items[i].pid;

		/* One that has gone meanwhile is what we want. */
		if (number == SIGKILL || is_top(members, i))
			(void)kill(pid, number);
		(void)kill(pid, SIGCONT);
	}
}

/* Those that are our children must not stay as zombies; the others are not ours to wait for. */
static void reap(const struct members *members)
{
	for (size_t i = 0; i < members->count; i++)
		(void)waitpid((pid_t)members->items[i].pid, NULL, WNOHANG);
}

/* 0 when all are gone, -EBUSY when the time ran out. */
static int take_step(const struct wp_os *os, const char *directory, struct members *members,
	const struct step *step)
{
	int64_t begin_ns = wp_os_now_ns(os);
	struct members now = { NULL, 0 };
	int rc;

	send(members, step->signal);
	do {
		/* A signal may cut the pause short; stopping goes on all the same. */
		(void)wp_os_sleep_ns(os, POLL_NS);
		rc = find_members(os, directory, &now);
		reap(members);
	} while (rc == 0 && now.count && wp_os_now_ns(os) - begin_ns < step->wait_ns);
	if (rc == 0 && now.count)
		rc = -EBUSY;
	free(members->items);
	*members = now;
	return rc;
}

/* Lines of postmaster.pid: 1 process id, ..., 7 key and id of the shared memory. */
static bool read_segment(
	const struct wp_os *os, const char *data_directory, int64_t *key, int64_t *id)
{
	char *path = wp_xasprintf("%s/postmaster.pid", data_directory);
	int sys_errno;
	char *text = wp_os_read_text(os, path, 4095, &sys_errno);
	char *line = text;
	char *end = NULL;

	for (int i = 1; line && i < 7; i++) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	*key = *id = -1;
	if (line) {
		*key = strtoll(line, &end, 10);
		*id = end && *end == ' ' ? strtoll(end, NULL, 10) : -1;
	}
	free(path);
	free(text);
	return *key > 0 && *id >= 0 && *id <= INT32_MAX;
}

/* A clean end removes it; the kernel keeps it after a kill. Only one that nobody uses, that has
 * this very key and id, and that belongs to the owner of the data. */
static void remove_segment(const struct wp_os *os, const char *data_directory)
{
	struct shmid_ds segment;
	struct stat owner;
	int64_t key;
	int64_t id;

	if (!read_segment(os, data_directory, &key, &id) ||
		wp_os_lstat(os, data_directory, &owner) < 0 ||
		shmctl((int)id, IPC_STAT, &segment) < 0)
		return;
	if (segment.shm_nattch == 0 && segment.shm_perm.uid == owner.st_uid &&
		(uint32_t)segment.shm_perm.__key == (uint32_t)key)
		(void)shmctl((int)id, IPC_RMID, NULL); /* a few bytes that only we would miss */
}

int wp_server_stop(const struct wp_os *os, const char *directory, bool is_patient)
{
	static const struct step steps[] = { { SIGINT, 10 * WP_NS_PER_S },
		{ SIGQUIT, 5 * WP_NS_PER_S }, { SIGKILL, 5 * WP_NS_PER_S } };
	struct members members = { NULL, 0 };
	char *below = wp_xasprintf("%s/" WP_SERVER_DATA_NAME, directory);
	int rc = find_members(os, directory, &members);

	if (rc == 0 && members.count)
		rc = -EBUSY;
	for (size_t i = is_patient ? 0 : 1; rc == -EBUSY && i < WP_COUNT(steps); i++)
		rc = take_step(os, directory, &members, &steps[i]);
	if (rc == 0) {
		remove_segment(os, directory);
		remove_segment(os, below);
	}
	free(members.items);
	free(below);
	return rc;
}

int wp_server_undo(const struct wp_os *os, const char *name, void *argument)
{
	(void)argument;
	return wp_server_stop(os, name, true);
}
