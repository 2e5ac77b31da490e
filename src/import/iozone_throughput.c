/* SPDX-License-Identifier: PostgreSQL */
/*
 * iozone -t: a block of lines for each test. The children's sum is the figure; the parent's, and the
 * slowest and fastest child, stand in table "throughput".
 */
#include "import/iozone.h"

#include <ctype.h>

#define LINES 2 /* of a line that mail broke */

static const struct {
	const char *name;
	const char *test;
} kinds[] = {
	{ "initial writers", "write" },
	{ "rewriters", "overwrite" },
	{ "re-readers", "reread" },
	{ "readers", "read" },
	{ "reverse readers", "backward-read" },
	{ "stride readers", "stride-read" },
	{ "random readers", "random-read" },
	{ "random writers", "random-write" },
	{ "mixed workload", "mixed" },
	{ "pwrite writers", "pwrite" },
	{ "pread readers", "pread" },
	{ "fwriters", "fwrite" },
	{ "freaders", "fread" },
	{ "pwritev writers", "pwritev" },
	{ "preadv readers", "preadv" },
};

static const char children[] = "Children see throughput for";

/* one line: what it is about and its number, as text so that two readings can be compared */
struct line_text {
	char kind[48];
	char number[32];
	int64_t jobs;
};

bool wp_iozone_starts_throughput(const struct wp_import *in, size_t at)
{
	return at < in->line_count && strstr(in->lines[at].text, children);
}

static const char *kind_test(const char *kind)
{
	for (size_t i = 0; i < WP_COUNT(kinds); i++)
		if (strcmp(kinds[i].name, kind) == 0)
			return kinds[i].test;
	return NULL;
}

static bool is_unit(const char *text)
{
	static const char *const units[] = { "kB/sec", "KB/sec", "ops/sec", "kB", "KB",
		"microseconds/op" };

	for (size_t i = 0; i < WP_COUNT(units); i++)
		if (strcmp(text, units[i]) == 0)
			return true;
	return false;
}

/* "109333.84" and, of another locale, "109333,84": iozone prints two decimals. */
static bool read_number(const char **text, char *out, size_t size)
{
	size_t digits = strspn(*text, "0123456789");
	size_t length = digits;

	if (!digits || ((*text)[digits] != '.' && (*text)[digits] != ','))
		return false;
	length += 1 + strspn(*text + digits + 1, "0123456789");
	if (length != digits + 3 || length >= size)
		return false;
	(void)snprintf(out, size, "%.*s", (int)length, *text);
	out[digits] = '.';
	*text += length;
	return true;
}

/* "LEAD[ N KIND] = NUMBER UNIT"; ctx is LEAD. */
static bool parse_line(const char *text, const void *ctx, void *out)
{
	const char *lead = ctx;
	const char *at = strstr(text, lead);
	struct line_text *line = out;
	size_t length;

	if (!at)
		return false;
	at += strlen(lead);
	at += strspn(at, " ");
	if (isdigit((unsigned char)*at)) {
		line->jobs = strtoll(at, NULL, 10);
		at += strspn(at, "0123456789");
		at += strspn(at, " ");
	}
	length = strcspn(at, "=");
	if (!at[length] || length >= sizeof(line->kind))
		return false;
	(void)snprintf(line->kind, sizeof(line->kind), "%.*s", (int)length, at);
	while (length && line->kind[length - 1] == ' ')
		line->kind[--length] = '\0';
	at = strchr(at, '=') + 1;
	at += strspn(at, " ");
	if (!read_number(&at, line->number, sizeof(line->number)) || *at != ' ')
		return false;
	return is_unit(at + strspn(at, " "));
}

static size_t read_detail(const struct wp_import *in, size_t at, struct wp_iozone_detail *detail)
{
	const struct {
		const char *lead;
		double *value;
	} lines[] = {
		{ "Parent sees throughput for", &detail->parent },
		{ "Min throughput per", &detail->least },
		{ "Max throughput per", &detail->most },
		{ "Avg throughput per", &detail->mean },
		{ "Min xfer", &detail->least_kb },
	};
	struct line_text line;

	for (size_t i = 0; i < WP_COUNT(lines); i++) {
		size_t count;

		if (!strstr(in->lines[at].text, lines[i].lead))
			continue;
		count = wp_import_unwrap(
			in, at, LINES, parse_line, lines[i].lead, &line, sizeof(line), NULL);
		if (count)
			*lines[i].value = strtod(line.number, NULL);
		return count ? count : 1;
	}
	return 0;
}

/* "CPU Utilization: Wall time    4.044    CPU time    3.957    CPU utilization  97.85 %" */
static bool read_cpu(const char *text, struct wp_iozone_detail *detail)
{
	const char *at = strstr(text, "CPU utilization");
	const char *end;

	if (!at || !strstr(text, "CPU Utilization"))
		return false;
	at += strlen("CPU utilization");
	at += strspn(at, " =");
	(void)wp_import_number(at, &detail->cpu_percent, &end);
	return true;
}

static bool has_same_host(const struct wp_import *in, size_t a, size_t b)
{
	const char *one = in->lines[a].host;
	const char *two = in->lines[b].host;

	return (!one && !two) || (one && two && strcmp(one, two) == 0);
}

size_t wp_iozone_read_throughput(const struct wp_import *in, size_t at, struct wp_iozone *run)
{
	struct wp_iozone_detail detail = { -1, -1, -1, -1, -1, -1 };
	struct wp_iozone_figure *figure;
	struct line_text line;
	const char *test;
	size_t next = at;
	size_t count =
		wp_import_unwrap(in, at, LINES, parse_line, children, &line, sizeof(line), NULL);

	test = count ? kind_test(line.kind) : NULL;
	if (!test || line.jobs <= 0 || line.jobs > 1000000)
		return 0;
	for (next += count; next < in->line_count && has_same_host(in, at, next); next += count) {
		count = read_detail(in, next, &detail);
		if (!count && read_cpu(in->lines[next].text, &detail))
			count = 1;
		if (!count)
			break;
	}
	figure = wp_iozone_add(run, test, run->file_kb > 0 ? run->file_kb * line.jobs : -1,
		run->record_kb, strtod(line.number, NULL));
	run->is_unit_told = true;
	figure->jobs = line.jobs;
	figure->has_detail = true;
	figure->detail = detail;
	return next - at;
}
