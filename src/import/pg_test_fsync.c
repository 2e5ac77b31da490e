/* SPDX-License-Identifier: PostgreSQL */
/*
 * pg_test_fsync's output of 9.0 to 18, also translated, flattened into one line or cut.
 *
 * The same labels stand in two sections, so that a figure counts only below the heading of its
 * section. Rate and time of a line say the same thing twice: where they contradict each other, a
 * digit was lost, and both are left out.
 * Source: PostgreSQL, src/bin/pg_test_fsync/pg_test_fsync.c.
 */
#include "import/place.h"
#include "import/scan.h"
#include "walprobe/mem.h"

#include <ctype.h>
#include <math.h>

#define WINDOW_LINES 400
#define GAP 12
#define ENTRIES_MAX 40

enum section {
	SECTION_NONE,
	SECTION_ONE,
	SECTION_TWO,
	SECTION_SIZES,
	SECTION_DESCRIPTORS,
	SECTION_UNSYNCED,
};

static const struct label {
	enum section section;
	const char *pattern;
	const char *method;
	const char *variant;
	int64_t write_bytes;
	int64_t writes;
} labels[] = {
	{ SECTION_ONE, "open_datasync ", "open_datasync", "overwrite", 8192, 1 },
	{ SECTION_ONE, "fdatasync ", "fdatasync", "overwrite", 8192, 1 },
	{ SECTION_ONE, "fsync_writethrough ", "fsync_writethrough", "overwrite", 8192, 1 },
	{ SECTION_ONE, "fsync ", "fsync", "overwrite", 8192, 1 },
	{ SECTION_ONE, "open_sync ", "open_sync", "overwrite", 8192, 1 },
	{ SECTION_TWO, "open_datasync ", "open_datasync", "two-writes", 8192, 2 },
	{ SECTION_TWO, "fdatasync ", "fdatasync", "two-writes", 8192, 2 },
	{ SECTION_TWO, "fsync_writethrough ", "fsync_writethrough", "two-writes", 8192, 2 },
	{ SECTION_TWO, "fsync ", "fsync", "two-writes", 8192, 2 },
	{ SECTION_TWO, "open_sync ", "open_sync", "two-writes", 8192, 2 },
	{ SECTION_SIZES, "16kB open_sync write ", "open_sync", "1x16kB", 16384, 1 },
	{ SECTION_SIZES, "8kB open_sync writes ", "open_sync", "2x8kB", 8192, 2 },
	{ SECTION_SIZES, "4kB open_sync writes ", "open_sync", "4x4kB", 4096, 4 },
	{ SECTION_SIZES, "2kB open_sync writes ", "open_sync", "8x2kB", 2048, 8 },
	{ SECTION_SIZES, "1kB open_sync writes ", "open_sync", "16x1kB", 1024, 16 },
	{ SECTION_DESCRIPTORS, "write, fsync, close ", "fsync", "same-fd", 8192, 1 },
	{ SECTION_DESCRIPTORS, "write, close, fsync ", "fsync", "other-fd", 8192, 1 },
	{ SECTION_UNSYNCED, "write ", NULL, "unsynced", 8192, 1 },
};

struct entry {
	const struct label *label;
	enum {
		ENTRY_VALUE,
		ENTRY_NO_METHOD,
		ENTRY_NO_DIRECT,
		ENTRY_BROKEN
	} kind;
	double ops_per_s;
	double usecs; /* NaN: not printed */
};

struct run {
	struct entry entries[ENTRIES_MAX];
	size_t count;
	enum section section;
	const char *direct; /* "yes", "no", NULL: not told */
	char *length;       /* "5 seconds per test" */
	const char *first;
	const char *last;
	bool is_over;
};

/* ---- words ----------------------------------------------------------------------------------- */

static bool is_word_start(const struct scan_text *text, const char *at)
{
	return at == text->text || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
}

/* A translated heading ends in a colon and keeps "8kB"; sections come in order. */
static enum section translated(const char *at, enum section before)
{
	const char *end = at + strcspn(at, "\n");
	const char *size = scan_find(at, end, "8kB|8 kB|16kB|16 kB");

	/* English headings are known; the rest of one that was broken is no other language */
	if (scan_find(at, end, "8kB write"))
		return SECTION_NONE;
	while (end > at && end[-1] == ' ')
		end--;
	if (end == at || end[-1] != ':' || before == SECTION_UNSYNCED)
		return SECTION_NONE;
	if (scan_find(at, end, "open_sync"))
		return before == SECTION_TWO ? SECTION_SIZES : SECTION_NONE;
	if (scan_find(at, end, "fsync") && before == SECTION_SIZES)
		return SECTION_DESCRIPTORS;
	if (!size)
		return SECTION_NONE;
	if (before == SECTION_NONE)
		return SECTION_ONE;
	if (before == SECTION_ONE)
		return SECTION_TWO;
	return before == SECTION_DESCRIPTORS ? SECTION_UNSYNCED : SECTION_NONE;
}

static const char *take_section(struct run *run, const struct scan_text *text, const char *at)
{
	static const struct {
		enum section section;
		const char *pattern;
	} headings[] = {
		{ SECTION_ONE, "Compare file sync methods using one |Compare file sync methods "
			       "with one " },
		{ SECTION_TWO, "Compare file sync methods using two |Compare file sync methods "
			       "with two " },
		{ SECTION_SIZES, "Compare open_sync with different " },
		{ SECTION_DESCRIPTORS, "Test if fsync on non-write " },
		{ SECTION_UNSYNCED, "Non-Sync'ed |Non-sync'ed |Non-sync\xe2\x80\x99"
				    "ed |Non-Sync\xe2\x80\x99"
				    "ed " },
	};
	enum section section = SECTION_NONE;
	const char *end = NULL;

	for (size_t i = 0; i < WP_COUNT(headings) && !end; i++) {
		end = scan_words(at, headings[i].pattern);
		section = headings[i].section;
	}
	if (!end && (at == text->text || at[-1] == '\n')) {
		section = translated(at, run->section);
		end = section ? at + strcspn(at, "\n") : NULL;
	}
	if (!end)
		return NULL;
	if (section <= run->section) {
		run->is_over = true;
		return NULL;
	}
	run->section = section;
	return end;
}

static const char *take_preamble(struct run *run, const char *at)
{
	const char *end =
		scan_words(at, "O_DIRECT supported on this |F_NOCACHE supported on this ");
	struct scan_number number;

	if (end || (end = scan_words(at, "Direct I/O is not supported "))) {
		if (run->section) {
			run->is_over = true;
			return NULL;
		}
		run->direct = *at == 'O' ? "yes" : "no";
		return end;
	}
	if (!isdigit((unsigned char)*at))
		return NULL;
	number = scan_number(at, " seconds per test| second per test| operations per test", 0);
	if (number.state != SCAN_SURE)
		return NULL;
	if (run->section || run->length) {
		run->is_over = true;
		return NULL;
	}
	run->length = wp_xstrndup(at, (size_t)(number.end - at));
	for (char *c = run->length; *c; c++)
		*c = *c == '\n' ? ' ' : *c;
	return number.end;
}

/* ---- figures --------------------------------------------------------------------------------- */

/* "ops/sec", or what a translation has for it; the word may be broken at its slash. */
static const char *unit_end(const char *at)
{
	const char *slash;

	while (*at == ' ' || *at == '\t' || *at == '\n')
		at++;
	slash = at + strcspn(at, "/ \t\n");
	if (slash == at || *slash != '/' || slash - at > 16 || isdigit((unsigned char)*at))
		return NULL;
	at = slash + 1;
	while (*at == '\n')
		at++;
	if (!*at || isdigit((unsigned char)*at) || *at == ' ')
		return NULL;
	while (*at && !strchr(" \t\n", *at) && !isdigit((unsigned char)*at))
		at++;
	return at;
}

/* A number with three decimals before a unit, a line end within it undone. */
static const char *figure(const char *at, int decimals, double *out)
{
	struct scan_number number = scan_number(at, "~", decimals);
	const char *end = number.state == SCAN_SURE ? unit_end(number.end) : NULL;

	if (!end) {
		/* as if the tool's own unit followed, so that a broken number is joined */
		number = scan_number(
			at, decimals ? "~ops/|~Op" : "~usec|~us/|~\xc2\xb5s/", decimals);
		end = number.state == SCAN_SURE ? number.end + strcspn(number.end, " \t\n") : NULL;
	}
	if (end)
		*out = number.value;
	return end;
}

/* The printed time is rounded to whole microseconds, the rate to a thousandth. */
static bool contradict(const struct entry *entry)
{
	double usecs = 1e6 / entry->ops_per_s;

	return isfinite(entry->usecs) && fabs(usecs - entry->usecs) > 1 + usecs * 0.002;
}

static const char *take_figures(struct entry *entry, const char *at)
{
	const char *end = scan_words(at, "~n/a*");
	const char *next;

	entry->usecs = (double)NAN;
	if (end) {
		entry->kind = ENTRY_NO_DIRECT;
		return end;
	}
	if ((end = scan_words(at, "~n/a"))) {
		entry->kind = ENTRY_NO_METHOD;
		return end;
	}
	end = figure(at, 3, &entry->ops_per_s);
	if (!end)
		return NULL;
	entry->kind = ENTRY_VALUE;
	next = figure(end, 0, &entry->usecs);
	if (!next)
		entry->usecs = (double)NAN;
	if (!(entry->ops_per_s > 0) || contradict(entry))
		entry->kind = ENTRY_BROKEN;
	return next ? next : end;
}

static bool is_there(const struct run *run, const struct label *label)
{
	for (size_t i = 0; i < run->count; i++)
		if (run->entries[i].label == label)
			return true;
	return false;
}

static const char *take_label(struct run *run, const struct scan_text *text, const char *at)
{
	if (!is_word_start(text, at))
		return NULL;
	for (size_t i = 0; i < WP_COUNT(labels); i++) {
		struct entry entry = { .label = &labels[i] };
		const char *end;

		if (labels[i].section != run->section)
			continue;
		end = scan_words(at, labels[i].pattern);
		end = end ? take_figures(&entry, end) : NULL;
		if (!end)
			continue;
		if (is_there(run, &labels[i])) {
			run->is_over = true;
			return NULL;
		}
		run->entries[run->count++] = entry;
		return end;
	}
	return NULL;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static const char *parse(const struct scan_text *text, const char *at, struct run *run)
{
	int gap = 0;

	memset(run, 0, sizeof(*run));
	for (; *at;) {
		const char *end = take_section(run, text, at);

		if (!end && !run->is_over)
			end = take_preamble(run, at);
		if (!end && !run->is_over && run->section)
			end = take_label(run, text, at);
		if (run->is_over)
			break;
		if (end) {
			run->first = run->first ? run->first : at;
			run->last = end;
			gap = 0;
			at = end;
			continue;
		}
		if (*at++ == '\n' && run->first && *at != '\n' && ++gap > GAP)
			break;
	}
	return at;
}

/* Only versions that count operations print no time of one; elsewhere it was lost. */
static void set_mean(struct wp_row *row, const struct entry *entry, bool is_timeless)
{
	if (isfinite(entry->usecs)) {
		wp_row_int(row, "mean_ns", llround(entry->usecs * 1e3));
		wp_row_text(row, "mean_from", "printed");
	} else if (is_timeless) {
		wp_row_int(row, "mean_ns", llround(1e9 / entry->ops_per_s));
		wp_row_text(row, "mean_from", "derived");
	} else {
		wp_row_absent(row, "mean_ns", "the end of the line is missing");
	}
}

static void set_sync(struct wp_row *row, const struct entry *entry, bool is_timeless)
{
	static const char broken[] =
		"rate and time of the line contradict each other: it is broken";

	switch (entry->kind) {
	case ENTRY_VALUE:
		wp_row_real(row, "ops_per_s", entry->ops_per_s);
		set_mean(row, entry, is_timeless);
		return;
	case ENTRY_NO_METHOD:
		wp_import_absent_rest(row, "n/a: the platform does not have this method");
		return;
	case ENTRY_NO_DIRECT:
		wp_import_absent_rest(row,
			"n/a*: this file system refused O_DIRECT; a server that does not use it "
			"may still use the method");
		return;
	case ENTRY_BROKEN:
		wp_row_absent(row, "ops_per_s", broken);
		wp_row_absent(row, "mean_ns", broken);
		return;
	}
}

static void add_row(
	struct wp_import *in, const struct run *run, const struct entry *entry, const char *target)
{
	const struct label *label = entry->label;
	bool is_open = label->method && strncmp(label->method, "open_", 5) == 0;
	struct wp_row *row = wp_import_row(wp_import_sync_table(in), target);

	if (label->method)
		wp_row_text(row, "method", label->method);
	else
		wp_row_absent(row, "method", "nothing is synced");
	wp_row_text(row, "variant", label->variant);
	wp_row_int(row, "write_bytes", label->write_bytes);
	wp_row_int(row, "writes_per_op", label->writes);
	if (!run->direct)
		wp_row_absent(row, "direct", "the output does not tell");
	else
		wp_row_text(
			row, "direct", is_open && strcmp(run->direct, "yes") == 0 ? "yes" : "no");
	wp_row_text(row, "ranked", "yes");
	set_sync(row, entry, run->length && strstr(run->length, "operations"));
	wp_import_absent_rest(row, "pg_test_fsync prints a mean only");
}

static void add_run(struct wp_import *in, const struct scan_text *text, const struct run *run)
{
	size_t first = text->indexes[scan_line(text, run->first)];
	size_t last = text->indexes[scan_line(text, run->last - 1)];
	struct wp_import_run about = {
		.tool = "pg_test_fsync", .settings = run->length, .line_count = last - first + 1
	};
	const char *target = place_add(in, first, &about);

	for (size_t i = 0; i < run->count; i++)
		add_row(in, run, &run->entries[i], target);
	scan_take(in, text, run->first, run->last);
}

/* Headings wrap, and footnotes stand between the sections: all of it was understood. */
static void take_prose(struct wp_import *in, size_t at, size_t count)
{
	static const char words[] =
		"(in wal_sync_method|(in \"wal_sync_method|is Linux's default|(This is designed|"
		"open_sync sizes.)|write sizes.)|in different write|(If the times are|descriptor.)|"
		"on a different|* This file system|I/O, e.g.";

	for (size_t i = at; i < at + count; i++) {
		const char *line = in->lines[i].text;

		if (scan_find(line, line + strlen(line), words))
			in->lines[i].is_taken = true;
	}
}

static bool starts(const char *line)
{
	return scan_find(line, line + strlen(line),
		       "Compare file sync methods|seconds per test|second per test|operations per "
		       "test|O_DIRECT supported|F_NOCACHE supported|Direct I/O is not|Compare "
		       "open_sync with|Test if fsync on|Non-Sync'ed|Non-sync'ed|8kB|8 kB") != NULL;
}

static size_t take(struct wp_import *in, size_t at)
{
	struct scan_text text;
	const char *from;
	size_t lines = 0;

	if (!starts(in->lines[at].text))
		return 0;
	text = scan_text_lines(in, at, WINDOW_LINES);
	for (from = text.text; *from;) {
		struct run run;
		const char *next = parse(&text, from, &run);

		if (run.count) {
			add_run(in, &text, &run);
			lines = scan_line(&text, run.last - 1) + 1;
		}
		free(run.length);
		/* flattened output may hold the next run on the same line */
		if (!run.count || next == from || scan_line(&text, next) >= lines)
			break;
		from = next;
	}
	scan_text_release(&text);
	if (lines)
		take_prose(in, at, lines);
	return lines;
}

const struct wp_importer wp_import_pg_test_fsync = {
	.name = "pg_test_fsync",
	.title = "pg_test_fsync's output of 9.0 and newer",
	.take = take,
};
