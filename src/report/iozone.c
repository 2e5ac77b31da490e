/* SPDX-License-Identifier: PostgreSQL */
/*
 * iozone's table, for scripts that people have: one for each target, in the columns of iozone 3.489,
 * kB/s in whole numbers; what was not measured is blank, as iozone leaves it.
 */
#include "io_rows.h"
#include "utf8.h"
#include "walprobe/mem.h"
#include "walprobe/render.h"

#include <math.h>

#define KB 1024.0

/* the test behind a column (NULL: iozone has it, we do not), and the column's width */
static const struct {
	const char *test;
	int width;
} columns[] = {
	{ "write", 9 },
	{ "overwrite", 9 },
	{ "read", 9 },
	{ "reread", 9 },
	{ "random-read", 9 },
	{ "random-write", 9 },
	{ "backward-read", 9 },
	{ NULL, 10 },
	{ "stride-read", 10 },
};

static void put_head(const struct wp_result *result, const char *target, FILE *stream)
{
	static const struct {
		const char *key;
		const char *value; /* in the parameters */
		const char *text;  /* as iozone says it */
	} modes[] = {
		{ "sync", "o_sync", "SYNC Mode." },
		{ "sync", "o_dsync", "O_DSYNC Mode." },
		{ "timed", "fsync,close", "Include close in write timing" },
		{ "timed", "close", "Include close in write timing" },
		{ "timed", "fsync,close", "Include fsync in write timing" },
		{ "timed", "fsync", "Include fsync in write timing" },
		{ "direct", "on", "O_DIRECT feature enabled" },
	};
	char *clean = wp_utf8_clean(target);

	fprintf(stream, "\tIozone-like table of walprobe %s, target: %s\n\n",
		result->version ? result->version : "", clean);
	free(clean);
	for (size_t i = 0; i < WP_COUNT(modes); i++) {
		const char *value = wp_result_parameter(result, modes[i].key);

		if (value && strcmp(value, modes[i].value) == 0)
			fprintf(stream, "\t%s\n", modes[i].text);
	}
	fputs("\tOutput is in kBytes/sec\n"
	      "\tTime Resolution = 0.000001 seconds.\n"
	      "\tStride size set to 17 * record size.\n",
		stream);
	fprintf(stream, "%69s%9s%9s%10s%10s\n", "random", "random", "bkwd", "record", "stride");
	fprintf(stream, "%16s%8s%9s%9s%9s%9s%9s%9s%9s%10s%10s\n", "kB", "reclen", "write",
		"rewrite", "read", "reread", "read", "write", "read", "rewrite", "read");
}

static void put_line(const struct wp_table *table, const struct wp_io_key *key, FILE *stream)
{
	char line[256];
	size_t used;

	(void)snprintf(line, sizeof(line), "%16.0f%8.0f", ceil(key->file_bytes / KB),
		ceil(key->record_bytes / KB));
	for (size_t i = 0; i < WP_COUNT(columns); i++) {
		const struct wp_row *row =
			columns[i].test ? wp_io_find(table, key, columns[i].test) : NULL;
		char value[32] = "";

		if (row)
			(void)snprintf(value, sizeof(value), "%.0f",
				wp_row_get_number(row, "bytes_per_s") / KB);
		used = strlen(line);
		(void)snprintf(
			line + used, sizeof(line) - used, " %*s", columns[i].width - 1, value);
	}
	used = strlen(line);
	while (used && line[used - 1] == ' ')
		line[--used] = '\0';
	fprintf(stream, "%s\n", line);
}

void wp_render_iozone(
	const struct wp_result *result, const struct wp_render_options *options, FILE *stream)
{
	const struct wp_table *table = wp_result_find_table(result, "io");
	const char *target = NULL;
	struct wp_io_key *keys;
	size_t count;

	(void)options;
	if (!table)
		return;
	count = wp_io_keys(table, &keys);
	for (size_t i = 0; i < count; i++) {
		if (!isfinite(keys[i].file_bytes) || !isfinite(keys[i].record_bytes))
			continue;
		if (!target || strcmp(target, keys[i].target) != 0) {
			fputs(target ? "\niozone test complete.\n\n" : "", stream);
			target = keys[i].target;
			put_head(result, target, stream);
		}
		put_line(table, &keys[i], stream);
	}
	fputs(target ? "\niozone test complete.\n" : "", stream);
	free(keys);
}
