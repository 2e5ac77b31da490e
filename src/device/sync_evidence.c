/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/sync_evidence.h"

#include "walprobe/mem.h"
#include "walprobe/proc.h"

#define MAPS_BYTES ((size_t)1 << 20)
#define ZFS_LIMIT_NS (10 * WP_NS_PER_S)

/* The word in a text's line that begins at text, "" at its end. */
static size_t word_length(const char *text)
{
	return strcspn(text, " \t\n");
}

char *wp_maps_sync_dropper(const char *maps)
{
	static const char *const libraries[] = { "libeatmydata", "libnosync", "libfsyncoff",
		"libnofsync" };

	for (size_t i = 0; i < WP_COUNT(libraries); i++) {
		const char *at = strstr(maps, libraries[i]);

		if (at && at > maps && at[-1] == '/')
			return wp_xstrndup(at, word_length(at));
	}
	return NULL;
}

enum wp_zfs_sync wp_zfs_sync_parse(const char *text)
{
	static const struct {
		const char *word;
		enum wp_zfs_sync sync;
	} words[] = { { "standard", WP_ZFS_SYNC_STANDARD }, { "always", WP_ZFS_SYNC_ALWAYS },
		{ "disabled", WP_ZFS_SYNC_DISABLED } };
	bool is_bare = !strstr(text, "sync");

	/* "disabled", or "tank/pg  sync  disabled  local" */
	while (*text) {
		size_t length;
		bool is_key;

		text += strspn(text, " \t\r\n");
		length = strcspn(text, " \t\r\n");
		is_key = length == 4 && strncmp(text, "sync", 4) == 0;
		if (is_key) {
			text += length;
			text += strspn(text, " \t\r\n");
			length = strcspn(text, " \t\r\n");
		}
		for (size_t i = 0; (is_key || is_bare) && i < WP_COUNT(words); i++)
			if (length == strlen(words[i].word) &&
				strncmp(text, words[i].word, length) == 0)
				return words[i].sync;
		text += length;
	}
	return WP_ZFS_SYNC_UNKNOWN;
}

/* The line of mountstats that begins the mount, or NULL. */
static const char *find_mount(const char *text, const char *mount_point)
{
	size_t length = strlen(mount_point);

	for (const char *at = strstr(text, "device "); at; at = strstr(at + 1, "device ")) {
		const char *end = at + strcspn(at, "\n");
		const char *on = strstr(at, " mounted on ");

		if ((at != text && at[-1] != '\n') || !on || on > end)
			continue;
		on += strlen(" mounted on ");
		if (strncmp(on, mount_point, length) == 0 && on[length] == ' ')
			return end;
	}
	return NULL;
}

/* First figure behind "KEY:" at the start of a line before end; -1 when it is not there. */
static int64_t first_figure(const char *text, const char *end, const char *key)
{
	for (const char *at = strstr(text, key); at && at < end; at = strstr(at + 1, key)) {
		const char *before = at;
		long long number;

		while (before > text && (before[-1] == ' ' || before[-1] == '\t'))
			before--;
		if (before > text && before[-1] == '\n' && at[strlen(key)] == ':' &&
			sscanf(at + strlen(key) + 1, "%lld", &number) == 1)
			return number;
	}
	return -1;
}

bool wp_nfs_counts_parse(const char *text, const char *mount_point, struct wp_nfs_counts *out)
{
	const char *at = find_mount(text, mount_point);
	const char *end = at ? strstr(at, "\ndevice ") : NULL;

	if (!at)
		return false;
	if (!end)
		end = at + strlen(at);
	out->writes = first_figure(at, end, "WRITE");
	out->commits = first_figure(at, end, "COMMIT");
	return out->writes >= 0;
}

/* "/srv/pg  client(rw,async,wdelay,...)" */
bool wp_nfs_export_is_async(const char *text, const char *path)
{
	size_t length = strlen(path);

	while (*text) {
		size_t line = strcspn(text, "\n");

		if (line > length && strncmp(text, path, length) == 0 &&
			(text[length] == ' ' || text[length] == '\t')) {
			char *options = wp_xstrndup(text + length, line - length);
			bool is_async = strstr(options, "(async,") || strstr(options, ",async,") ||
					strstr(options, ",async)") || strstr(options, "(async)");

			free(options);
			if (is_async)
				return true;
		}
		text += line + (text[line] == '\n');
	}
	return false;
}

static void add(char **slot, char *text)
{
	char *longer = *slot ? wp_xasprintf("%s; %s", *slot, text) : wp_xstrdup(text);

	free(text);
	free(*slot);
	*slot = longer;
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);

	return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

/* A server process's data directory, which is its working directory; NULL for other programs. */
static char *data_directory(const struct wp_os *os, const char *proc, const char *pid)
{
	char *exe = wp_xasprintf("%s/%s/exe", proc, pid);
	char *cwd = wp_xasprintf("%s/%s/cwd", proc, pid);
	char *program = NULL;
	char *directory = NULL;

	if (wp_os_realpath(os, exe, &program) == 0 &&
		(ends_with(program, "/postgres") || ends_with(program, "/postmaster")))
		(void)wp_os_realpath(os, cwd, &directory); /* gone or not ours: NULL stays */
	free(program);
	free(exe);
	free(cwd);
	return directory;
}

/* The postmaster's children have the same libraries; it alone is named in its pid file. */
static bool is_postmaster(const struct wp_os *os, const char *directory, const char *pid)
{
	char *path = wp_xasprintf("%s/postmaster.pid", directory);
	int sys_errno;
	char *text = wp_os_read_text(os, path, 4096, &sys_errno);
	size_t length = text ? strcspn(text, "\n") : 0;
	bool is_it = text && strlen(pid) == length && strncmp(text, pid, length) == 0;

	free(text);
	free(path);
	return is_it;
}

static bool is_under(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	while (length > 0 && directory[length - 1] == '/')
		length--;
	return strncmp(path, directory, length) == 0 && (path[length] == '/' || !path[length]);
}

static bool has_its_wal_here(
	const struct wp_os *os, const char *directory, const struct wp_stack *stack)
{
	static const char *const names[] = { "pg_wal", "pg_xlog" };
	bool is_here = false;

	for (size_t i = 0; stack->mount_point && i < WP_COUNT(names) && !is_here; i++) {
		char *path = wp_xasprintf("%s/%s", directory, names[i]);
		char *real = NULL;

		if (wp_os_realpath(os, path, &real) == 0)
			is_here = is_under(real, stack->mount_point);
		free(real);
		free(path);
	}
	return is_here;
}

static void look_at_process(const struct wp_os *os, const char *proc, const char *pid,
	const struct wp_stack *stack, struct wp_sync_evidence *out)
{
	char *directory = data_directory(os, proc, pid);
	char *path = wp_xasprintf("%s/%s/maps", proc, pid);
	char *library = NULL;

	if (directory && is_postmaster(os, directory, pid) &&
		has_its_wal_here(os, directory, stack)) {
		int sys_errno;
		char *maps = wp_os_read_text(os, path, MAPS_BYTES, &sys_errno);

		library = maps ? wp_maps_sync_dropper(maps) : NULL;
		free(maps);
	}
	if (library)
		add(&out->dropped,
			wp_xasprintf("the server of %s (process %s) runs with %s, which makes "
				     "fsync do nothing",
				directory, pid, library));
	free(library);
	free(path);
	free(directory);
}

static void look_at_servers(const struct wp_os *os, const char *proc, const struct wp_stack *stack,
	struct wp_sync_evidence *out)
{
	struct wp_names names = { 0 };

	if (wp_os_list(os, proc, &names) < 0)
		return;
	for (size_t i = 0; i < names.count; i++)
		if (names.names[i][strspn(names.names[i], "0123456789")] == '\0')
			look_at_process(os, proc, names.names[i], stack, out);
	wp_names_release(&names);
}

static void look_at_zfs(
	const struct wp_os *os, const struct wp_stack *stack, struct wp_sync_evidence *out)
{
	const struct wp_proc_options options = { .limit_ns = ZFS_LIMIT_NS };
	const char *const argv[] = { "zfs", "get", "-H", "-o", "value", "sync", stack->source,
		NULL };
	struct wp_proc_output output = { 0 };
	enum wp_zfs_sync sync = WP_ZFS_SYNC_UNKNOWN;

	if (wp_proc_run(os, argv, &options, &output, NULL) == 0 && output.exit_status == 0)
		sync = wp_zfs_sync_parse(output.out);
	wp_proc_output_release(&output);
	if (sync == WP_ZFS_SYNC_DISABLED)
		add(&out->dropped,
			wp_xasprintf("ZFS %s has sync=disabled, so fsync waits for nothing",
				stack->source));
	else if (sync == WP_ZFS_SYNC_UNKNOWN)
		add(&out->source,
			wp_xasprintf("whether ZFS %s has sync=disabled could not be asked (zfs get "
				     "sync %s)",
				stack->source, stack->source));
}

static void look_at_nfs(
	const struct wp_os *os, const struct wp_stack *stack, struct wp_sync_evidence *out)
{
	static const char *const here[] = { "localhost:", "127.0.0.1:", "[::1]:" };
	char *table = NULL;
	int sys_errno;

	if (wp_stack_has_option(stack, "async"))
		add(&out->source, wp_xstrdup("it is mounted with async"));
	for (size_t i = 0; i < WP_COUNT(here); i++) {
		size_t length = strlen(here[i]);

		if (strncmp(stack->source, here[i], length) != 0)
			continue;
		table = wp_os_read_text(os, "/var/lib/nfs/etab", MAPS_BYTES, &sys_errno);
		if (table && wp_nfs_export_is_async(table, stack->source + length))
			add(&out->dropped,
				wp_xasprintf("the NFS export %s is async: the server answers "
					     "before anything is on its disk",
					stack->source));
		free(table);
		return;
	}
	add(&out->source,
		wp_xasprintf("whether the server exports %s with async shows only there (exportfs "
			     "-v)",
			stack->source));
}

void wp_sync_evidence_find(const struct wp_os *os, const char *proc, const struct wp_stack *stack,
	struct wp_sync_evidence *out)
{
	memset(out, 0, sizeof(*out));
	look_at_servers(os, proc ? proc : "/proc", stack, out);
	if (!stack->fstype || !stack->source)
		return;
	if (strcmp(stack->fstype, "zfs") == 0)
		look_at_zfs(os, stack, out);
	else if (strcmp(stack->fstype, "nfs") == 0 || strcmp(stack->fstype, "nfs4") == 0)
		look_at_nfs(os, stack, out);
}

void wp_sync_evidence_release(struct wp_sync_evidence *evidence)
{
	free(evidence->dropped);
	free(evidence->source);
	memset(evidence, 0, sizeof(*evidence));
}
