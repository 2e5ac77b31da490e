/* SPDX-License-Identifier: PostgreSQL */
#include "pg/cluster_internal.h"

#include "walprobe/mem.h"

#include <strings.h>

#define SEGMENT_BYTES (INT64_C(16) << 20)
#define SETTING_NAME_MOST 128
#define SPARE_CONNECTIONS 5 /* for us, beside the clients; reserved ones are among them */
#define STANDARD_CLIENTS 100

/* What makes the WAL the bottleneck, and keeps the server to itself. */
static const struct {
	const char *name;
	const char *value;
	int since; /* major version that has it; 0: all */
} chosen[] = {
	{ "listen_addresses", "", 0 },
	{ "unix_socket_permissions", "0700", 0 },
	{ "fsync", "on", 0 },
	{ "synchronous_commit", "on", 0 },
	{ "full_page_writes", "on", 0 },
	{ "checkpoint_timeout", "1h", 0 },
	{ "autovacuum", "off", 0 },
	{ "max_wal_senders", "0", 0 },
	{ "huge_pages", "off", 0 },
	/* In files below the data directory, which go away with it even after a kill. */
	{ "dynamic_shared_memory_type", "mmap", 0 },
	{ "restart_after_crash", "off", 0 },
	{ "track_wal_io_timing", "on", 14 },
	{ "logging_collector", "off", 0 },
	{ "log_destination", "stderr", 0 },
	{ "log_checkpoints", "on", 0 },
	{ "cluster_name", "walprobe", 0 },
};

/* Not set by us, but a reader of the figures wants to know them. */
static const char *const read_only[] = { "wal_sync_method", "wal_level", "wal_buffers",
	"wal_segment_size", "wal_compression", "wal_init_zero", "wal_recycle", "commit_delay",
	"commit_siblings", "checkpoint_completion_target", "data_checksums", "debug_io_direct" };

/* Where it lies and how it is reached is ours to say. */
static const char *const forbidden[] = { "data_directory", "config_file", "hba_file", "ident_file",
	"external_pid_file", "listen_addresses", "port", "unix_socket_directories",
	"unix_socket_group", "unix_socket_permissions", "logging_collector", "log_destination",
	"dynamic_shared_memory_type", "restart_after_crash", "include", "include_dir",
	"include_if_exists", NULL };

static bool is_name(const char *text, size_t length)
{
	static const char first[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";

	if (length == 0 || length > SETTING_NAME_MOST || !strchr(first, text[0]))
		return false;
	for (size_t i = 1; i < length; i++)
		if (!strchr(first, text[i]) && !(text[i] >= '0' && text[i] <= '9') &&
			text[i] != '.')
			return false;
	return text[length - 1] != '.';
}

static int check_setting(const char *word, struct wp_err *err)
{
	size_t length = strcspn(word, "=");

	if (word[length] != '=' || !is_name(word, length)) {
		(void)wp_fail(err, WP_E_USAGE, 0,
			"\"%s\" is no setting of PostgreSQL in the form name=value", word);
		wp_err_hint(err, "As in --set wal_sync_method=open_datasync.");
		return -WP_E_USAGE;
	}
	if (strpbrk(word + length, "\n\r"))
		return wp_fail(err, WP_E_USAGE, 0, "the value of setting \"%.*s\" has a line break",
			(int)length, word);
	for (size_t i = 0; forbidden[i]; i++)
		if (strlen(forbidden[i]) == length && strncasecmp(word, forbidden[i], length) == 0)
			return wp_fail(err, WP_E_USAGE, 0,
				"setting \"%s\" of a throwaway server cannot be chosen",
				forbidden[i]);
	return 0;
}

int wp_cluster_check_settings(const char *const *settings, size_t count, struct wp_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++)
		rc = check_setting(settings[i], err);
	return rc;
}

/* Source: guc-file.l, DeescapeQuotedString(): quotes are doubled, backslashes escape. */
char *wp_cluster_quote(const char *value)
{
	char *quoted = wp_xcalloc(strlen(value) * 2 + 3, 1);
	char *to = quoted;

	*to++ = '\'';
	for (; *value; value++) {
		if (*value == '\'' || *value == '\\')
			*to++ = *value;
		*to++ = *value;
	}
	*to = '\'';
	return quoted;
}

static struct wp_cluster_setting *find(struct wp_cluster *cluster, const char *name)
{
	for (size_t i = 0; i < cluster->setting_count; i++)
		if (strcasecmp(cluster->settings[i].name, name) == 0)
			return &cluster->settings[i];
	return NULL;
}

/* value NULL: only to be read */
static void put(struct wp_cluster *cluster, const char *name, const char *value,
	enum wp_cluster_origin origin)
{
	struct wp_cluster_setting *setting = find(cluster, name);

	if (setting && !value)
		return;
	if (!setting) {
		cluster->settings = wp_xreallocarray(
			cluster->settings, cluster->setting_count + 1, sizeof(*cluster->settings));
		setting = &cluster->settings[cluster->setting_count++];
		memset(setting, 0, sizeof(*setting));
		setting->name = wp_xstrdup(name);
	}
	free(setting->value);
	setting->value = wp_xstrdup(value);
	setting->origin = origin;
}

static void put_number(
	struct wp_cluster *cluster, const char *name, int64_t value, const char *unit)
{
	char text[40];

	(void)snprintf(text, sizeof(text), "%" PRId64 "%s", value, unit);
	put(cluster, name, text, WP_CLUSTER_CHOSEN);
}

static void put_sizes(struct wp_cluster *cluster, int64_t wal_bytes, int64_t buffer_bytes)
{
	int64_t least = wal_bytes / 4 / SEGMENT_BYTES * SEGMENT_BYTES;

	put_number(cluster, "shared_buffers", buffer_bytes >> 20, "MB");
	put_number(cluster, "max_wal_size", wal_bytes >> 20, "MB");
	/* What has been recycled stays, as on a server that has run for a while. */
	put_number(cluster, "min_wal_size",
		(least > 2 * SEGMENT_BYTES ? least : 2 * SEGMENT_BYTES) >> 20, "MB");
}

void wp_cluster_settle(struct wp_cluster *cluster, const struct wp_cluster_options *options,
	int64_t wal_bytes, int64_t buffer_bytes)
{
	int64_t clients = options->clients_most ? options->clients_most : STANDARD_CLIENTS;

	for (size_t i = 0; i < WP_COUNT(chosen); i++)
		if (chosen[i].since <= cluster->binaries->major)
			put(cluster, chosen[i].name, chosen[i].value, WP_CLUSTER_CHOSEN);
	put(cluster, "unix_socket_directories", cluster->socket_directory, WP_CLUSTER_CHOSEN);
	put_number(cluster, "port", cluster->port, "");
	put_number(cluster, "max_connections", clients + SPARE_CONNECTIONS, "");
	put_sizes(cluster, wal_bytes, buffer_bytes);
	for (size_t i = 0; i < options->setting_count; i++) {
		const char *word = options->settings[i];
		char *name = wp_xstrndup(word, strcspn(word, "="));

		for (char *at = name; *at; at++)
			if (*at >= 'A' && *at <= 'Z')
				*at = (char)(*at - 'A' + 'a');
		put(cluster, name, word + strlen(name) + 1, WP_CLUSTER_ASKED);
		free(name);
	}
	for (size_t i = 0; i < WP_COUNT(read_only); i++)
		put(cluster, read_only[i], NULL, WP_CLUSTER_SERVER);
}

static char *conf_text(const struct wp_cluster *cluster)
{
	char *text = wp_xstrdup("# written by walprobe for a throwaway server\n");

	for (size_t i = 0; i < cluster->setting_count; i++) {
		const struct wp_cluster_setting *setting = &cluster->settings[i];
		char *quoted;
		char *more;

		if (!setting->value)
			continue;
		quoted = wp_cluster_quote(setting->value);
		more = wp_xasprintf("%s%s = %s%s\n", text, setting->name, quoted,
			setting->origin == WP_CLUSTER_ASKED ? " # asked for" : "");
		free(quoted);
		free(text);
		text = more;
	}
	return text;
}

/* In the directory open as fd, whose owner may be somebody else: nothing is followed. */
static int write_in(const struct wp_cluster *cluster, int fd, const char *text)
{
	const struct wp_os *os = wp_registry_os(cluster->registry);
	char path[64];
	int closed;
	int file;
	int rc;

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d/postgresql.conf", fd);
	rc = wp_os_unlink(os, path);
	if (rc && rc != -ENOENT)
		return rc;
	file = wp_os_open(os, path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
	if (file < 0)
		return file;
	rc = wp_os_write_all(os, file, text, strlen(text), 0);
	if (!rc && cluster->user->is_other)
		rc = wp_os_fchown(os, file, cluster->user->uid, cluster->user->gid);
	closed = wp_os_close(os, file);
	return rc ? rc : closed;
}

int wp_cluster_write_conf(const struct wp_cluster *cluster, struct wp_err *err)
{
	const struct wp_os *os = wp_registry_os(cluster->registry);
	char *text = conf_text(cluster);
	int fd = wp_os_open(os, cluster->data_directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW, 0);
	int rc = fd < 0 ? fd : write_in(cluster, fd, text);

	if (fd >= 0)
		(void)wp_os_close(os, fd); /* read only: nothing can be lost */
	free(text);
	return rc ? wp_fail(err, WP_E_SYS, -rc, "could not write file \"%s/postgresql.conf\"",
			    cluster->data_directory)
		  : 0;
}

const char *wp_cluster_setting(const struct wp_cluster *cluster, const char *name)
{
	for (size_t i = 0; i < cluster->setting_count; i++)
		if (strcasecmp(cluster->settings[i].name, name) == 0)
			return cluster->settings[i].shown;
	return NULL;
}
