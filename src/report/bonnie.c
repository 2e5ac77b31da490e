/* SPDX-License-Identifier: PostgreSQL */
/*
 * bonnie++'s CSV, for scripts that people have: one line for each target, file size and record
 * size, without a heading. What was not measured is an empty field, as bonnie++ leaves it; there
 * are no "+++++". Source: bonnie++ 1.03 (bonnie++.cpp, WriteReport) and 2.00, whose rows call
 * themselves format 1.98 and have the two fields of the seekers.
 */
#include "io_rows.h"
#include "walprobe/mem.h"
#include "walprobe/render.h"

#include <math.h>

#define KB 1024.0
#define MB (1024.0 * 1024.0)

struct line {
	const struct wp_result *result;
	const struct wp_table *table;
	struct wp_io_key key;
	FILE *stream;
};

/* bonnie++ does not quote: what would break the line is replaced. */
static void put_name(const struct line *line)
{
	for (const char *c = line->key.target; *c; c++)
		putc(*c == ',' || (unsigned char)*c < ' ' ? '_' : *c, line->stream);
}

static void put_size(const struct line *line)
{
	double megabytes = ceil(line->key.file_bytes / MB);

	if (!isfinite(megabytes))
		return;
	if (fmod(megabytes, 1024) == 0)
		fprintf(line->stream, "%.0fG", megabytes / 1024);
	else
		fprintf(line->stream, "%.0fM", megabytes);
}

static void put_cpu(const struct line *line, const struct wp_row *row)
{
	double cpu = row ? wp_row_get_number(row, "cpu_percent") : (double)NAN;

	putc(',', line->stream);
	if (isfinite(cpu))
		fprintf(line->stream, "%.0f", cpu);
}

/* First of the two tests that was measured. */
static const struct wp_row *find(const struct line *line, const char *test, const char *other)
{
	const struct wp_row *row = wp_io_find(line->table, &line->key, test);

	return row || !other ? row : wp_io_find(line->table, &line->key, other);
}

static void put_rate(const struct line *line, const char *test, const char *other)
{
	const struct wp_row *row = find(line, test, other);
	double rate = row ? wp_row_get_number(row, "bytes_per_s") : (double)NAN;

	putc(',', line->stream);
	if (isfinite(rate))
		fprintf(line->stream, "%.0f", rate / KB);
	put_cpu(line, row);
}

static void put_count(const struct line *line, const char *test)
{
	const struct wp_row *row = find(line, test, NULL);
	double rate = row ? wp_row_get_number(row, "ops_per_s") : (double)NAN;

	putc(',', line->stream);
	if (isfinite(rate))
		fprintf(line->stream, strcmp(test, "seeks") == 0 && rate < 1000 ? "%.1f" : "%.0f",
			rate);
	put_cpu(line, row);
}

/* As bonnie++ writes a time: the longest of the test, whole units. */
static void put_latency(const struct line *line, const char *test, const char *other)
{
	const struct wp_row *row = find(line, test, other);
	double longest_us = row ? wp_row_get_number(row, "max_ns") / 1000 : (double)NAN;

	putc(',', line->stream);
	if (!isfinite(longest_us))
		return;
	if (longest_us < 1e5)
		fprintf(line->stream, "%.0fus", floor(longest_us));
	else if (longest_us < 1e8)
		fprintf(line->stream, "%.0fms", floor(longest_us / 1000));
	else
		fprintf(line->stream, "%.0fs", floor(longest_us / 1e6));
}

static const char *const small_tests[] = { "create-seq", "stat-seq", "delete-seq", "create-random",
	"stat-random", "delete-random" };

static bool has_small(const struct line *line)
{
	for (size_t i = 0; i < WP_COUNT(small_tests); i++)
		if (find(line, small_tests[i], NULL))
			return true;
	return false;
}

/* The parts of --files N[:max:min:dirs]; NULL where there is none. The caller frees parts[0]. */
static void split_files(const struct line *line, const char *parts[4])
{
	const char *text = wp_result_parameter(line->result, "files");
	char *rest = wp_xstrdup(text && has_small(line) ? text : "");

	for (size_t i = 0; i < 4; i++)
		parts[i] = rest ? strsep(&rest, ":") : NULL;
}

static void put_small(const struct line *line)
{
	for (size_t i = 0; i < WP_COUNT(small_tests); i++)
		put_count(line, small_tests[i]);
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

/* 50 fields */
static void put_200(const struct line *line)
{
	const struct wp_row *seeks = find(line, "seeks", NULL);
	const char *seekers = wp_result_parameter(line->result, "seekers");
	const char *jobs = wp_result_parameter(line->result, "jobs");
	const char *seed = wp_result_parameter(line->result, "seed");
	const char *parts[4];

	fputs("1.98,2.00a,", line->stream);
	put_name(line);
	fprintf(line->stream, ",%s,%s,", jobs ? jobs : "1", or_empty(seed));
	put_size(line);
	putc(',', line->stream);
	if (isfinite(line->key.record_bytes))
		fprintf(line->stream, line->key.record_bytes >= KB ? "%.0fk" : "%.0f",
			line->key.record_bytes / (line->key.record_bytes >= KB ? KB : 1));
	putc(',', line->stream);
	if (seeks)
		fprintf(line->stream, "%.0f", wp_row_get_number(seeks, "ops"));
	fprintf(line->stream, ",%s", or_empty(seeks ? seekers : NULL));
	put_rate(line, "write1", "putc");
	put_rate(line, "write", NULL);
	put_rate(line, "rewrite", NULL);
	put_rate(line, "read1", "getc");
	put_rate(line, "read", NULL);
	put_count(line, "seeks");
	split_files(line, parts);
	/* bonnie++ 2.00 leaves the chunk's field empty and puts the directories after it. */
	fprintf(line->stream, ",%s,%s,%s,,%s", or_empty(parts[0]), or_empty(parts[1]),
		or_empty(parts[2]), or_empty(parts[3]));
	free((void *)(uintptr_t)parts[0]);
	put_small(line);
	put_latency(line, "write1", "putc");
	put_latency(line, "write", NULL);
	put_latency(line, "rewrite", NULL);
	put_latency(line, "read1", "getc");
	put_latency(line, "read", NULL);
	put_latency(line, "seeks", NULL);
	for (size_t i = 0; i < WP_COUNT(small_tests); i++)
		put_latency(line, small_tests[i], NULL);
	putc('\n', line->stream);
}

/* 27 fields */
static void put_103(const struct line *line)
{
	const char *parts[4];

	put_name(line);
	putc(',', line->stream);
	put_size(line);
	if (isfinite(line->key.record_bytes) && line->key.record_bytes >= KB)
		fprintf(line->stream, ":%.0fk", line->key.record_bytes / KB);
	put_rate(line, "putc", "write1");
	put_rate(line, "write", NULL);
	put_rate(line, "rewrite", NULL);
	put_rate(line, "getc", "read1");
	put_rate(line, "read", NULL);
	put_count(line, "seeks");
	split_files(line, parts);
	fprintf(line->stream, ",%s", or_empty(parts[0]));
	if (parts[1])
		fprintf(line->stream, ":%s:%s", parts[1], parts[2] ? parts[2] : "0");
	if (parts[3])
		fprintf(line->stream, "/%s", parts[3]);
	free((void *)(uintptr_t)parts[0]);
	put_small(line);
	putc('\n', line->stream);
}

static void put_lines(
	const struct wp_result *result, FILE *stream, void (*put)(const struct line *line))
{
	struct line line = { .result = result, .stream = stream };
	struct wp_io_key *keys;
	size_t count;

	line.table = wp_result_find_table(result, "io");
	if (!line.table)
		return;
	count = wp_io_keys(line.table, &keys);
	for (size_t i = 0; i < count; i++) {
		line.key = keys[i];
		put(&line);
	}
	free(keys);
}

void wp_render_bonnie_200(
	const struct wp_result *result, const struct wp_render_options *options, FILE *stream)
{
	(void)options;
	put_lines(result, stream, put_200);
}

void wp_render_bonnie_103(
	const struct wp_result *result, const struct wp_render_options *options, FILE *stream)
{
	(void)options;
	put_lines(result, stream, put_103);
}
