/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/import.h"
#include "import/clean.h"
#include "import/judge.h"
#include "walprobe/mem.h"

#include <ctype.h>

#define LISTED 1000 /* lines that are listed; the rest is counted */
#define SHOWN 100   /* bytes of a line that was not understood */

const struct wp_importer *const wp_importers[] = {
	&wp_import_bonnie,
	&wp_import_bonnie_csv,
	&wp_import_iozone,
	&wp_import_diskchecker,
	&wp_import_pgbench,
	&wp_import_pgbench_log,
	&wp_import_pg_test_fsync,
	&wp_import_fio_json,
	&wp_import_fio_text,
	NULL,
};

const char *const wp_importer_names[] = {
	"bonnie",
	"bonnie-csv",
	"iozone",
	"diskchecker",
	"pgbench",
	"pgbench-log",
	"pg_test_fsync",
	"fio-json",
	"fio-text",
	NULL,
};

struct wp_import_reader {
	struct wp_import in;
	char *text; /* what was not given away yet */
	size_t length;
	size_t room;
	const struct wp_importer *importer; /* of a stream */
	void *stream;
	bool is_decided;     /* whether it is a stream */
	size_t first_target; /* of this input */
};

struct wp_import_reader *wp_import_open(
	struct wp_result *result, const char *name, const struct wp_import_words *words)
{
	struct wp_import_reader *reader = wp_xcalloc(1, sizeof(*reader));

	reader->in.name = name;
	reader->in.words = words;
	reader->in.result = result;
	reader->first_target = result->target_count;
	return reader;
}

/* ---- lines that were not understood ------------------------------------------------------------ */

static const struct wp_column unknown_columns[] = {
	{ "input", "input", "", WP_KIND_TEXT, "File that the line is in." },
	{ "line", "line", "", WP_KIND_INT, "Its number, from 1." },
	{ "text", "text", "", WP_KIND_TEXT, "What it says, cut where it is long." },
};

static void add_unknown(struct wp_import *in, size_t number, const char *text)
{
	struct wp_table *table = wp_result_table(in->result, "not_understood",
		"Lines that were not understood", unknown_columns, WP_COUNT(unknown_columns));
	struct wp_row *row = wp_table_add_row(table);

	wp_row_text(row, "input", in->name);
	wp_row_int(row, "line", (int64_t)number);
	wp_row_text(row, "text", text);
}

void wp_import_not_understood(struct wp_import *in, size_t number, const char *text)
{
	size_t length = strlen(text);
	char *shown;

	if (++in->unknown_count > LISTED) {
		in->unknown_last = number;
		return;
	}
	if (length > SHOWN) {
		length = SHOWN;
		/* not within a character */
		while (length && ((unsigned char)text[length] & 0xC0) == 0x80)
			length--;
	}
	shown = wp_xasprintf("%.*s%s", (int)length, text, text[length] ? "..." : "");
	add_unknown(in, number, shown);
	free(shown);
}

static void tell_rest(struct wp_import *in)
{
	char *text;

	if (in->unknown_count <= LISTED)
		return;
	text = wp_xasprintf("(the last of %zu more lines)", in->unknown_count - LISTED);
	add_unknown(in, in->unknown_last, text);
	free(text);
}

/* Rules and dots are not worth a line. */
static bool has_words(const char *text)
{
	while (*text && !isalnum((unsigned char)*text))
		text++;
	return *text != '\0';
}

static void list_unknown(struct wp_import *in)
{
	for (size_t i = 0; i < in->line_count; i++)
		if (!in->lines[i].is_taken && has_words(in->lines[i].text))
			wp_import_not_understood(in, in->lines[i].number, in->lines[i].text);
}

/* ---- text ------------------------------------------------------------------------------------- */

static bool is_wanted(const struct wp_import *in, const struct wp_importer *importer)
{
	return !in->words || !in->words->format || strcmp(in->words->format, importer->name) == 0;
}

static size_t take(struct wp_import *in, size_t at)
{
	for (size_t i = 0; wp_importers[i]; i++) {
		size_t count;

		if (!wp_importers[i]->take || !is_wanted(in, wp_importers[i]))
			continue;
		count = wp_importers[i]->take(in, at);
		if (count)
			return count;
	}
	return 0;
}

static void import_text(struct wp_import_reader *reader)
{
	struct wp_import *in = &reader->in;
	const struct wp_table *io = wp_result_find_table(in->result, "io");
	size_t first_row = io ? io->row_count : 0;

	wp_clean_lines(in, reader->text, reader->length);
	for (size_t at = 0; at < in->line_count;) {
		size_t count = take(in, at);

		at += count ? count : 1;
	}
	wp_judge_machines(in, first_row);
	if (in->runs)
		list_unknown(in);
	wp_clean_release(in);
}

/* ---- streams ----------------------------------------------------------------------------------- */

/* Up to and with the last line's end in text; all of it when there is none. */
static size_t whole_lines(const char *text, size_t length)
{
	const char *end = memrchr(text, '\n', length);

	return end ? (size_t)(end - text) + 1 : length;
}

static void decide(struct wp_import_reader *reader)
{
	size_t length = whole_lines(reader->text, reader->length);

	reader->is_decided = true;
	for (size_t i = 0; wp_importers[i]; i++) {
		const struct wp_importer *importer = wp_importers[i];

		if (!importer->is_stream || !is_wanted(&reader->in, importer) ||
			!importer->is_stream(reader->text, length))
			continue;
		reader->importer = importer;
		reader->stream = importer->open(&reader->in);
		return;
	}
}

/* Gives all whole lines away, at the end of the input the rest as well. */
static void give(struct wp_import_reader *reader, bool is_end)
{
	size_t length = is_end ? reader->length : whole_lines(reader->text, reader->length);

	if (!length)
		return;
	reader->importer->feed(reader->stream, reader->text, length);
	reader->length -= length;
	memmove(reader->text, reader->text + length, reader->length);
}

int wp_import_feed(
	struct wp_import_reader *reader, const char *data, size_t length, struct wp_err *err)
{
	if (!reader->importer && reader->length + length > WP_IMPORT_LIMIT_BYTES) {
		(void)wp_fail(err, WP_E_DATA, 0, "\"%s\" is longer than %zu MB", reader->in.name,
			WP_IMPORT_LIMIT_BYTES >> 20);
		wp_err_hint(err, "Give the part of it that a tool printed.");
		return -WP_E_DATA;
	}
	if (reader->length + length > reader->room) {
		reader->room = 2 * (reader->length + length);
		reader->text = wp_xreallocarray(reader->text, reader->room, 1);
	}
	if (length)
		memcpy(reader->text + reader->length, data, length);
	reader->length += length;
	if (!reader->is_decided && reader->length >= WP_IMPORT_HEAD_BYTES)
		decide(reader);
	if (reader->importer)
		give(reader, false);
	return 0;
}

/* ---- the end ----------------------------------------------------------------------------------- */

static bool has_document(const struct wp_import_reader *reader)
{
	static const char mark[] = "\"format\": \"walprobe\"";
	size_t length = reader->length < 200 ? reader->length : 200;

	return reader->text && memmem(reader->text, length, mark, strlen(mark));
}

static int nothing(const struct wp_import_reader *reader, struct wp_err *err)
{
	const char *format = reader->in.words ? reader->in.words->format : NULL;

	(void)wp_fail(err, WP_E_DATA, 0, "nothing in \"%s\" was understood%s%s", reader->in.name,
		format ? " as output of " : "", format ? format : "");
	if (has_document(reader))
		wp_err_hint(err, "This is a document of walprobe; walprobe report prints it.");
	else
		wp_err_hint(err, "Output of bonnie++, iozone, pgbench, pg_test_fsync, fio and "
				 "diskchecker.pl is understood; give it as it was printed.");
	return -WP_E_DATA;
}

static void judge_figures(struct wp_import_reader *reader)
{
	const struct wp_result *result = reader->in.result;

	for (size_t i = reader->first_target; i < result->target_count; i++) {
		wp_judge_ramp(&reader->in, result->targets[i]->label);
		wp_judge_sync(&reader->in, result->targets[i]->label);
	}
}

int wp_import_close(struct wp_import_reader *reader, bool is_whole, struct wp_err *err)
{
	int rc = 0;

	if (is_whole && !reader->is_decided && reader->length)
		decide(reader);
	if (reader->importer) {
		if (is_whole)
			give(reader, true);
		reader->importer->close(reader->stream);
	} else if (is_whole && reader->length) {
		import_text(reader);
	}
	tell_rest(&reader->in);
	judge_figures(reader);
	if (is_whole && !reader->in.runs)
		rc = nothing(reader, err);
	free(reader->text);
	free(reader);
	return rc;
}
