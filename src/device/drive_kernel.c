/* SPDX-License-Identifier: PostgreSQL */
/*
 * drive_kernel.c - what the kernel says of drives: its log, files of sysfs that somebody printed,
 * and the table of lsds.
 */
#include "raid.h"

static enum wp_answer cache_words(const char *text)
{
	if (raid_says(text, "write back"))
		return WP_YES;
	if (raid_says(text, "write through"))
		return WP_NO;
	return WP_UNSAID;
}

/* "sd 0:3:110:0: [sda] Write cache: disabled, read cache: enabled, doesn't support DPO or FUA" */
static bool read_log(struct wp_cache_facts *facts, const char *line)
{
	const char *at = strstr(line, "] Write cache: ");
	const char *start = at;
	const char *value;
	char *name;

	while (start && start > line && start[-1] != '[')
		start--;
	if (!at || start == line || at - start > 32)
		return false;
	value = at + strlen("] Write cache: ");
	if (!raid_says(value, "enabled") && !raid_says(value, "disabled"))
		return false;
	name = wp_xstrndup(start, (size_t)(at - start));
	(void)raid_statement(
		facts, name, "kernel log", raid_says(value, "enabled") ? WP_YES : WP_NO);
	free(name);
	return true;
}

/* "/sys/block/NAME/...": the name, or NULL. */
static char *name_in_path(const char *path)
{
	static const char *const before[] = { "/sys/block/", "/sys/class/block/" };

	for (size_t i = 0; i < WP_COUNT(before); i++) {
		const char *at = strstr(path, before[i]);

		if (at) {
			at += strlen(before[i]);
			return wp_xstrndup(at, strcspn(at, "/ "));
		}
	}
	return NULL;
}

/* "cat .../cache_type" is what the drive reported, "cat .../queue/write_cache" what the kernel
 * believes; the answer is the next line. */
static bool read_printed(
	struct wp_cache_facts *facts, const struct raid_text *text, size_t i, const char *device)
{
	const char *path = raid_command(text->whole[i], "cat");
	bool is_kernel = path && strstr(path, "/queue/write_cache");
	struct wp_drive_statement *statement;
	enum wp_answer answer;
	char *name;

	if (!path || i + 1 >= text->count || (!is_kernel && !strstr(path, "/cache_type")))
		return false;
	answer = cache_words(text->lines[i + 1]);
	if (answer == WP_UNSAID)
		return false;
	name = name_in_path(path);
	statement = raid_statement(facts, name ? name : device,
		is_kernel ? "queue/write_cache" : "cache_type", answer);
	statement->is_kernel_view = is_kernel;
	free(name);
	return true;
}

/* The row of a table whose heading has DEVNAME first and WCACHE somewhere. */
static bool read_row(struct wp_cache_facts *facts, const char *line, size_t column)
{
	size_t name_length = strcspn(line, " ");
	struct wp_drive_statement *statement;
	enum wp_answer answer;
	char *name;

	if (column == 0 || strlen(line) <= column || name_length == 0 || name_length > 32)
		return false;
	answer = cache_words(line + column);
	if (answer == WP_UNSAID)
		return false;
	name = wp_xstrndup(line, name_length);
	statement = raid_statement(facts, name, "queue/write_cache", answer);
	statement->is_kernel_view = true;
	free(name);
	return true;
}

/* The device that commands before a line were about. */
static void follow_device(const char *whole, char **device)
{
	static const char *const programs[] = { "hdparm", "sdparm", "smartctl", "nvme" };

	for (size_t i = 0; i < WP_COUNT(programs); i++) {
		const char *rest = raid_command(whole, programs[i]);
		const char *at = rest ? strstr(rest, "/dev/") : NULL;

		if (at)
			raid_keep_device(device, at);
	}
}

size_t drive_read_kernel(
	struct wp_cache_facts *facts, const struct raid_text *text, const char *device)
{
	char *now = NULL;
	size_t understood = 0;
	size_t column = 0;

	raid_keep(&now, device);
	for (size_t i = 0; i < text->count; i++) {
		const char *line = text->lines[i];

		follow_device(text->whole[i], &now);
		if (strncmp(line, "DEVNAME ", 8) == 0 && strstr(line, " WCACHE"))
			column = (size_t)(strstr(line, " WCACHE") - line) + 1;
		else if (line[0] == '\0')
			column = 0;
		understood += read_log(facts, line) || read_printed(facts, text, i, now) ||
			      read_row(facts, line, column);
	}
	free(now);
	return understood;
}
