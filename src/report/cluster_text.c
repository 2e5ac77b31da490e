/* SPDX-License-Identifier: PostgreSQL */
#include "cluster_text.h"
#include "walprobe/mem.h"
#include "wrap.h"

#define INDENT 2

/* Where a server is and how it speaks: nothing of it bears on the figures. */
static const char *const unsaid[] = { "listen_addresses", "unix_socket_permissions",
	"unix_socket_directories", "port", "dynamic_shared_memory_type", "restart_after_crash",
	"logging_collector", "log_destination", "log_checkpoints", "cluster_name",
	"max_wal_senders" };

static const struct {
	const char *source;
	const char *lead;
} lists[] = {
	{ "--set", "asked for by --set: " },
	{ "walprobe", "chosen, so that WAL is what limits the speed: " },
	{ "default", "the server's defaults: " },
};

static bool is_said(const char *setting)
{
	for (size_t i = 0; i < WP_COUNT(unsaid); i++)
		if (strcmp(unsaid[i], setting) == 0)
			return false;
	return true;
}

static bool is_same(const struct wp_row *a, const struct wp_row *b, const char *key)
{
	return strcmp(wp_row_get_text(a, key), wp_row_get_text(b, key)) == 0;
}

static bool has_value(const struct wp_row *row)
{
	return wp_row_cell(row, "value")->state == WP_CELL_TEXT;
}

/* Rows of one setting with one value and source are one item: that of the first of them. */
static bool is_first(const struct wp_table *table, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (is_same(table->rows[i], table->rows[index], "setting") &&
			is_same(table->rows[i], table->rows[index], "value") &&
			is_same(table->rows[i], table->rows[index], "source"))
			return false;
	return true;
}

/* "a, b" of the targets that share the item, "" where all that have the setting do; the caller
 * frees. */
static char *targets_of(const struct wp_table *table, size_t index)
{
	const struct wp_row *row = table->rows[index];
	char *targets = wp_xstrdup("");
	bool is_shared = true;

	for (size_t i = 0; i < table->row_count; i++) {
		if (!is_same(table->rows[i], row, "setting"))
			continue;
		if (is_same(table->rows[i], row, "value"))
			wp_join(&targets, ", ", wp_row_get_text(table->rows[i], "target"));
		else
			is_shared = false;
	}
	if (!is_shared)
		return targets;
	free(targets);
	return wp_xstrdup("");
}

static void add_item(char **list, const struct wp_table *table, size_t index)
{
	const struct wp_row *row = table->rows[index];
	const char *value = wp_row_get_text(row, "value");
	char *targets = targets_of(table, index);
	char *item = wp_xasprintf("%s = %s%s%s%s", wp_row_get_text(row, "setting"),
		*value ? value : "''", *targets ? " (" : "", targets, *targets ? ")" : "");

	wp_join(list, ", ", item);
	free(item);
	free(targets);
}

void wp_cluster_print(const struct wp_table *table, size_t limit, FILE *stream)
{
	for (size_t i = 0; i < WP_COUNT(lists); i++) {
		char *list = wp_xstrdup("");

		for (size_t j = 0; j < table->row_count; j++)
			if (strcmp(wp_row_get_text(table->rows[j], "source"), lists[i].source) ==
					0 &&
				is_said(wp_row_get_text(table->rows[j], "setting")) &&
				has_value(table->rows[j]) && is_first(table, j))
				add_item(&list, table, j);
		if (*list)
			wp_wrap_print(stream, limit, INDENT, lists[i].lead, list);
		free(list);
	}
}
