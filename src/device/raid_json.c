/* SPDX-License-Identifier: PostgreSQL */
/* raid_json.c - the JSON documents in a text, with anything between them. */
#include "raid.h"

#include <jansson.h>

/* A text with more broken documents than this is no tool's output. */
#define FAILURES_MAX 8

/* The next "{" that begins a line, blanks aside. */
static const char *next_document(const char *at, const char *end)
{
	bool is_start = true;

	for (; at < end; at++) {
		if (*at == '{' && is_start)
			return at;
		is_start = *at == '\n' || *at == '\r' || (is_start && (*at == ' ' || *at == '\t'));
	}
	return NULL;
}

static bool is_ours(const char *at, const char *end)
{
	static const char *const words[] = { "\"Controllers\"", "\"smartctl\"", "\"vwc\"" };

	for (size_t i = 0; i < WP_COUNT(words); i++)
		if (memmem(at, (size_t)(end - at), words[i], strlen(words[i])))
			return true;
	return false;
}

/* What a line right before the document, "# nvme id-ctrl -o json /dev/nvme0", says it is about. */
static char *device_before(const char *text, const char *at, const char *standard)
{
	const char *end = at;
	const char *start;
	char *device = NULL;
	char *line;
	char *name;

	raid_keep(&device, standard);
	while (end > text && strchr(" \t\r\n", end[-1]))
		end--;
	start = end;
	while (start > text && start[-1] != '\n')
		start--;
	line = wp_xstrndup(start, (size_t)(end - start));
	name = strstr(line, "/dev/");
	if (name && (strstr(line, "nvme ") || strstr(line, "smartctl ")))
		raid_keep_device(&device, name);
	free(line);
	return device;
}

size_t raid_read_json(
	struct wp_cache_facts *facts, const char *text, size_t length, const char *device)
{
	const char *end = text + length;
	const char *at = text;
	size_t understood = 0;
	int failures = 0;

	while (failures < FAILURES_MAX && (at = next_document(at, end)) != NULL) {
		json_error_t error;
		char *about;
		json_t *root = json_loadb(at, (size_t)(end - at), JSON_DISABLE_EOF_CHECK, &error);

		if (!root || error.position <= 0) {
			facts->is_cut = facts->is_cut || is_ours(at, end);
			failures++;
			at++;
			json_decref(root);
			continue;
		}
		about = device_before(text, at, device);
		understood += json_object_get(root, "Controllers")
				      ? storcli_read_json(facts, root)
				      : drive_read_json(facts, root, about);
		free(about);
		at += error.position;
		json_decref(root);
	}
	return understood;
}
