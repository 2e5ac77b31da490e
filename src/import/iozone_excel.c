/* SPDX-License-Identifier: PostgreSQL */
/*
 * iozone -R: one block of quoted headings for each test, in a triangle, because a record is not
 * larger than its file. Unlike the text table it says nothing about unit and options.
 */
#include "import/iozone.h"

#define RECORDS 16
#define LINES 4 /* of a row that mail broke */

static const struct {
	const char *name;
	const char *test;
} reports[] = {
	{ "Writer", "write" },
	{ "Re-writer", "overwrite" },
	{ "Reader", "read" },
	{ "Re-Reader", "reread" },
	{ "Random read", "random-read" },
	{ "Random write", "random-write" },
	{ "Backward read", "backward-read" },
	{ "Record rewrite", "record-rewrite" },
	{ "Stride read", "stride-read" },
	{ "Fwrite", "fwrite" },
	{ "Re-Fwrite", "frewrite" },
	{ "Fread", "fread" },
	{ "Re-Fread", "freread" },
	{ "Pwrite", "pwrite" },
	{ "Re-Pwrite", "repwrite" },
	{ "Pread", "pread" },
	{ "Re-Pread", "repread" },
};

struct records {
	int64_t kb[RECORDS];
	size_t count;
};

struct excel_row {
	int64_t file_kb;
	int64_t values[RECORDS];
	size_t count;
};

/* Test of "\"Writer report\"", NULL when text is no such heading. */
static const char *report_test(const char *text)
{
	text += strspn(text, " ");
	if (*text++ != '"')
		return NULL;
	for (size_t i = 0; i < WP_COUNT(reports); i++) {
		size_t length = strlen(reports[i].name);

		if (strncmp(text, reports[i].name, length) == 0 &&
			strcmp(text + length, " report\"") == 0)
			return reports[i].test;
	}
	return NULL;
}

bool wp_iozone_starts_excel(const struct wp_import *in, size_t at)
{
	return at < in->line_count && report_test(in->lines[at].text) != NULL;
}

static bool read_whole(const char **text, int64_t *out)
{
	size_t digits = strspn(*text, "0123456789");

	if (!digits || digits > 14)
		return false;
	*out = strtoll(*text, NULL, 10);
	*text += digits;
	return true;
}

static bool read_quoted(const char **text, int64_t *out)
{
	if (**text != '"')
		return false;
	(*text)++;
	return read_whole(text, out) && *(*text)++ == '"';
}

/* "4"  "8"  "16" ... rising */
static bool parse_records(const char *text, const void *ctx, void *out)
{
	struct records *records = out;

	(void)ctx;
	for (;;) {
		int64_t kb;

		text += strspn(text, " ");
		if (!*text)
			return records->count > 0;
		if (records->count == RECORDS || !read_quoted(&text, &kb) || kb <= 0 ||
			(records->count && kb <= records->kb[records->count - 1]))
			return false;
		records->kb[records->count++] = kb;
	}
}

static size_t fitting(const struct records *records, int64_t file_kb)
{
	size_t count = 0;

	while (count < records->count && records->kb[count] <= file_kb)
		count++;
	return count;
}

/* As many values as there are records no larger than the file, or it is not clear which they are. */
static bool parse_row(const char *text, const void *ctx, void *out)
{
	const struct records *records = ctx;
	struct excel_row *row = out;

	text += strspn(text, " ");
	if (!read_quoted(&text, &row->file_kb))
		return false;
	for (;;) {
		if (*text && *text != ' ')
			return false;
		text += strspn(text, " ");
		if (!*text)
			return row->count > 0 && row->count == fitting(records, row->file_kb);
		if (row->count == RECORDS || !read_whole(&text, &row->values[row->count++]))
			return false;
	}
}

/* A row whose values cannot be given to records. */
static bool parse_lost_row(const char *text, int64_t *file_kb)
{
	text += strspn(text, " ");
	return read_quoted(&text, file_kb) && strspn(text, "0123456789 ") == strlen(text);
}

static const struct wp_iozone_figure *find(
	const struct wp_iozone *run, const char *test, int64_t file_kb, int64_t record_kb)
{
	for (size_t i = 0; i < run->count; i++) {
		const struct wp_iozone_figure *figure = &run->figures[i];

		if (figure->file_kb == file_kb && figure->record_kb == record_kb &&
			strcmp(figure->test, test) == 0)
			return figure;
	}
	return NULL;
}

static void add(
	struct wp_iozone *run, const char *test, int64_t file_kb, int64_t record_kb, int64_t value)
{
	const struct wp_iozone_figure *known =
		run->has_table ? find(run, test, file_kb, record_kb) : NULL;

	if (known && !known->reason) {
		run->differing += (int64_t)known->value != value;
		return;
	}
	if (value) /* 0 is what iozone writes for a record size that it left out */
		(void)wp_iozone_add(run, test, file_kb, record_kb, (double)value);
}

static void add_row(struct wp_iozone *run, const char *test, const struct records *records,
	const struct excel_row *row)
{
	for (size_t i = 0; i < row->count; i++)
		add(run, test, row->file_kb, records->kb[i], row->values[i]);
}

static void add_lost_row(
	struct wp_iozone *run, const char *test, const struct records *records, int64_t file_kb)
{
	for (size_t i = 0; !run->has_table && i < fitting(records, file_kb); i++)
		wp_iozone_add(run, test, file_kb, records->kb[i], 0)->reason =
			"the row is cut, or has not as many values as records fit in the file";
}

size_t wp_iozone_read_excel(const struct wp_import *in, size_t at, struct wp_iozone *run)
{
	const char *test = report_test(in->lines[at].text);
	struct records records;
	size_t next = at + 1;
	size_t count;

	if (next >= in->line_count)
		return 1;
	count = wp_import_unwrap(
		in, next, LINES, parse_records, NULL, &records, sizeof(records), NULL);
	for (next += count; next < in->line_count && !wp_import_is_blank(in, next); next += count) {
		struct excel_row row;
		int64_t file_kb;

		count = wp_import_unwrap(
			in, next, LINES, parse_row, &records, &row, sizeof(row), NULL);
		if (count) {
			add_row(run, test, &records, &row);
		} else if (parse_lost_row(in->lines[next].text, &file_kb)) {
			add_lost_row(run, test, &records, file_kb);
			count = 1;
		} else {
			break;
		}
	}
	return next - at;
}
