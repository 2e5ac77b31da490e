/* SPDX-License-Identifier: PostgreSQL */
/*
 * bonnie++'s CSV. The version is told by the first field and the number of fields: 1.00 to 1.03
 * have 27 and begin with the name; later ones begin with the version of the format and have 45 (an
 * early 1.9x), 48 (1.96, 1.97), 47 (1.96 without big files: a comma is missing) or 50 (1.98, 2.00:
 * the seekers). Source: bonnie++.cpp and bon_csv2html of 1.03, 1.96 and 2.00a.
 */
#include "import/bonnie.h"
#include "walprobe/mem.h"

#include <ctype.h>

#define FIELDS 50
#define FULL_LINE 50 /* a shorter line was not broken by mail */
#define BLANKS 2     /* blank lines within a row that was quoted */

/* where things are; 0 stands for nowhere but in name */
struct layout {
	size_t fields;
	size_t name;
	size_t size;
	size_t chunk;
	size_t concurrency;
	size_t seeks;
	size_t io;
	size_t files; /* number, and then largest, smallest, directories where they have fields */
	size_t directories;
	size_t tree;
	size_t latency;
};

static const struct layout layouts[] = {
	{ 27, 0, 1, 0, 0, 0, 2, 14, 0, 15, 0 },
	{ 45, 2, 3, 4, 0, 0, 5, 17, 20, 21, 33 },
	{ 47, 2, 5, 6, 3, 0, 7, 18, 22, 23, 35 },
	{ 48, 2, 5, 6, 3, 0, 7, 19, 23, 24, 36 },
	{ 50, 2, 5, 6, 3, 7, 9, 21, 25, 26, 38 },
};

/* ---- a row out of its pieces ------------------------------------------------------------------- */

static size_t count_commas(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == ',';
	return count;
}

static bool is_csv_text(const char *text)
{
	return strspn(text, "0123456789+-.,: /ukmsMGTlinky") == strlen(text);
}

/* "1.96,1.96,": a version of the format and one of the program. */
static bool starts_new(const char *text)
{
	size_t second;

	if (strncmp(text, "1.9", 3) != 0 || !isdigit((unsigned char)text[3]) || text[4] != ',')
		return false;
	second = strcspn(text + 5, ",");
	return second > 0 && second < 12 && isdigit((unsigned char)text[5]);
}

static bool starts_old(const char *text)
{
	const char *comma = strchr(text, ',');
	struct wp_bonnie_run run;
	char size[24];
	size_t length;

	if (!comma || comma - text >= (int)sizeof(run.name) || !is_csv_text(comma))
		return false;
	if (count_commas(text) == 26)
		return true;
	length = strcspn(comma + 1, ",");
	if (!comma[1 + length] || length >= sizeof(size))
		return false;
	(void)snprintf(size, sizeof(size), "%.*s", (int)length, comma + 1);
	wp_bonnie_begin(&run);
	return wp_bonnie_size(&run, size) && strpbrk(size, "MG");
}

static bool starts_row(const char *text)
{
	return starts_new(text) || starts_old(text);
}

/* Start of field number index in text, NULL when there are fewer. */
static const char *field_at(const char *text, size_t index)
{
	while (index-- && text)
		text = strchr(text, ',') ? strchr(text, ',') + 1 : NULL;
	return text;
}

static size_t expected_fields(const char *row)
{
	const char *field;

	if (!starts_new(row))
		return 27;
	if (row[3] == '8')
		return 50;
	field = field_at(row, 3);
	if (field && field[strspn(field, "0123456789")] == 'M')
		return 45;
	if (field && field[strspn(field, "0123456789")] == 'G')
		return 45;
	/* Without big files, the number of small ones comes one field early. */
	field = field_at(row, 5);
	if (field && *field == ',' && field_at(row, 18) && *field_at(row, 18) != ',')
		return 47;
	return 48;
}

static bool has_whole_end(const char *row, size_t fields)
{
	const char *last = field_at(row, fields - 1);

	if (fields > 27)
		return !*last || wp_bonnie_latency_ns(last) >= 0;
	return last[strspn(last, "+")] || !*last || strlen(last) >= 3;
}

/* What is left of a last number whose line was full: "10" and, on the next line, "0". */
static bool is_rest_of_number(const char *row, size_t fields, size_t last_length, const char *next)
{
	const char *last = field_at(row, fields - 1);
	size_t length = strlen(next);

	return fields == 27 && last_length >= FULL_LINE && isdigit((unsigned char)*last) &&
	       strlen(last) + length <= 3 && length && strspn(next, "0123456789") == length;
}

static bool wants_more(const char *row, size_t last_length, const char *next)
{
	size_t fields = expected_fields(row);
	size_t have = count_commas(row) + 1;

	if (have > fields)
		return false;
	if (have == fields && has_whole_end(row, fields))
		return is_rest_of_number(row, fields, last_length, next);
	return is_csv_text(next) && !starts_row(next);
}

/* Blanks are none of bonnie++'s, but in the name. */
static void append(char **row, const char *piece)
{
	size_t commas = count_commas(*row);
	size_t name = starts_new(*row) ? 2 : 0;
	size_t used = strlen(*row);

	*row = wp_xreallocarray(*row, used + strlen(piece) + 1, 1);
	for (; *piece; piece++) {
		commas += *piece == ',';
		if (*piece != ' ' || (commas == name && used && (*row)[used - 1] != ','))
			(*row)[used++] = *piece;
	}
	(*row)[used] = '\0';
}

/* The row that begins on line at; the caller frees *row. Returns the number of lines. */
static size_t gather(const struct wp_import *in, size_t at, char **row)
{
	size_t count = 1;

	*row = wp_xstrdup("");
	append(row, in->lines[at].text);
	for (;;) {
		size_t next = at + count;
		size_t blanks = 0;

		while (next < in->line_count && blanks < BLANKS && wp_import_is_blank(in, next)) {
			next++;
			blanks++;
		}
		if (wp_import_is_blank(in, next) ||
			!wants_more(
				*row, strlen(in->lines[at + count - 1].text), in->lines[next].text))
			return count;
		append(row, in->lines[next].text);
		count = next - at + 1;
	}
}

/* ---- fields ------------------------------------------------------------------------------------ */

struct row {
	char *fields[FIELDS + 1];
	size_t count;
	bool is_cut;
};

static void split(char *text, struct row *row)
{
	while (text && row->count < WP_COUNT(row->fields))
		row->fields[row->count++] = strsep(&text, ",");
}

static struct wp_bonnie_value value_at(const struct row *row, size_t index)
{
	static const struct wp_bonnie_value cut = { WP_BONNIE_LOST, 0,
		"the row is cut off before or within this figure" };

	if (index >= row->count || (row->is_cut && index + 1 == row->count))
		return cut;
	return wp_bonnie_value(row->fields[index]);
}

static const char *text_at(const struct row *row, size_t index)
{
	return index && index < row->count ? row->fields[index] : "";
}

static void read_files(
	const struct row *row, const struct layout *layout, struct wp_bonnie_run *run)
{
	const char *number = text_at(row, layout->files);
	const char *largest = text_at(row, layout->directories ? layout->files + 1 : 0);
	const char *smallest = text_at(row, layout->directories ? layout->files + 2 : 0);
	const char *directories = text_at(row, layout->directories);
	char *slash;

	if (*largest)
		(void)snprintf(run->files, sizeof(run->files), "%s:%s:%s%s%s", number, largest,
			smallest, *directories ? ":" : "", directories);
	else
		(void)snprintf(run->files, sizeof(run->files), "%s", number);
	slash = strchr(run->files, '/');
	if (slash)
		*slash = ':';
}

static void read_figures(
	const struct row *row, const struct layout *layout, struct wp_bonnie_run *run)
{
	for (size_t i = 0; i < WP_BONNIE_TESTS; i++) {
		struct wp_bonnie_figure *figure = &run->figures[i];
		size_t first = i < WP_BONNIE_IO ? layout->io + 2 * i
						: layout->tree + 2 * (i - WP_BONNIE_IO);

		figure->rate = value_at(row, first);
		figure->cpu = value_at(row, first + 1);
		if (layout->latency)
			figure->longest_ns =
				wp_bonnie_latency_ns(text_at(row, layout->latency + i));
		run->has_files |= i >= WP_BONNIE_IO && figure->rate.state != WP_BONNIE_NOT_RUN;
	}
}

static const struct layout *find_layout(size_t fields)
{
	for (size_t i = 0; i < WP_COUNT(layouts); i++)
		if (layouts[i].fields == fields)
			return &layouts[i];
	return NULL;
}

static bool has_figure(const struct wp_bonnie_run *run)
{
	for (size_t i = 0; i < WP_BONNIE_TESTS; i++)
		if (run->figures[i].rate.state == WP_BONNIE_GIVEN)
			return true;
	return false;
}

/* Sizes of file and chunk; false when what stands in their place is none. */
static bool read_sizes(
	const struct row *row, const struct layout *layout, bool is_new, struct wp_bonnie_run *run)
{
	const char *size = text_at(row, layout->size);
	char chunk[40];
	struct wp_bonnie_run scratch;

	if (*size && !wp_bonnie_size(run, size))
		return false;
	/* 1.03 writes the size of a chunk unless it is this. */
	if (!is_new && run->file_bytes >= 0 && run->record_bytes < 0)
		run->record_bytes = 8192;
	wp_bonnie_begin(&scratch);
	(void)snprintf(chunk, sizeof(chunk), "1M:%.20s", text_at(row, layout->chunk));
	if (wp_bonnie_size(&scratch, chunk) && scratch.record_bytes > 0)
		run->record_bytes = scratch.record_bytes;
	return true;
}

static void read_rest(const struct row *row, const struct layout *layout, struct wp_bonnie_run *run)
{
	const char *seeks = text_at(row, layout->seeks);

	if (*seeks && strspn(seeks, "0123456789") == strlen(seeks) && strlen(seeks) < 16)
		run->seeks = strtoll(seeks, NULL, 10);
	(void)snprintf(run->concurrency, sizeof(run->concurrency), "%s",
		text_at(row, layout->concurrency));
	read_files(row, layout, run);
	read_figures(row, layout, run);
}

static bool read_row(char *text, struct wp_bonnie_run *run)
{
	size_t fields = expected_fields(text);
	size_t have = count_commas(text) + 1;
	bool is_new = starts_new(text);
	const struct layout *layout = find_layout(have > fields && is_new ? have : fields);
	struct row row = { .is_cut = have < fields };

	if (!layout || have > layout->fields || have < 3)
		return false;
	split(text, &row);
	wp_bonnie_begin(run);
	(void)snprintf(run->name, sizeof(run->name), "%s", row.fields[layout->name]);
	(void)snprintf(run->version, sizeof(run->version), "%s", is_new ? row.fields[1] : "");
	run->is_charwise = !is_new;
	if (!read_sizes(&row, layout, is_new, run))
		return false;
	read_rest(&row, layout, run);
	return row.is_cut ? has_figure(run) : true;
}

size_t wp_bonnie_read_csv(const struct wp_import *in, size_t at, struct wp_bonnie_run *run)
{
	size_t count;
	char *text;

	if (wp_import_is_blank(in, at) || !starts_row(in->lines[at].text))
		return 0;
	count = gather(in, at, &text);
	if (!read_row(text, run))
		count = 0;
	free(text);
	return count;
}

/* The headings that -x prints; their names do not fit the rows of 1.98, so they are only skipped. */
static bool is_heading(const char *text)
{
	return strncmp(text, "format_version,bonnie_version,name,", 35) == 0 ||
	       strncmp(text, "name,file_size,putc,putc_cpu,", 29) == 0;
}

static size_t take(struct wp_import *in, size_t at)
{
	struct wp_bonnie_run run;
	size_t count;

	if (is_heading(in->lines[at].text)) {
		wp_import_mark(in, at, 1);
		return 1;
	}
	count = wp_bonnie_read_csv(in, at, &run);
	if (!count)
		return 0;
	wp_bonnie_add(in, at, count, &run);
	wp_import_mark(in, at, count);
	return count;
}

const struct wp_importer wp_import_bonnie_csv = {
	.name = "bonnie-csv",
	.title = "CSV of bonnie++ 1.0x, 1.9x and 2.00",
	.take = take,
};
