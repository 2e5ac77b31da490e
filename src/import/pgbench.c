/* SPDX-License-Identifier: PostgreSQL */
/*
 * pgbench's text of every version from 7.1 to 18, also as a unified diff of two runs, whose lines
 * then are sorted into one text for each side.
 */
#include "import/pgbench_run.h"
#include "import/place.h"
#include "walprobe/mem.h"

#define WINDOW_LINES 200
#define LOAD_LINES 30

/* ---- what stands above a run ----------------------------------------------------------------- */

/* pgbench -i stands above, and no other run since. */
static bool is_after_load(const struct wp_import *in, size_t at)
{
	for (int i = 0; i < LOAD_LINES && at > 0; i++) {
		const struct wp_import_line *line = &in->lines[--at];

		if (strstr(line->text, "creating primary keys") ||
			strstr(line->text, "pgbench -i") ||
			strstr(line->text, "pgbench --initialize"))
			return true;
		if (line->is_taken)
			return false;
	}
	return false;
}

/* ---- labels ---------------------------------------------------------------------------------- */

static bool is_same_cell(const struct wp_row *row, const char *key, const char *value)
{
	return strcmp(wp_row_get_text(row, key), value ? value : "") == 0;
}

static bool is_of_input(const struct wp_import *in, const char *target)
{
	const struct wp_table *runs = wp_result_find_table(in->result, "runs");

	for (size_t i = 0; runs && i < runs->row_count; i++)
		if (is_same_cell(runs->rows[i], "target", target))
			return is_same_cell(runs->rows[i], "input", in->name);
	return false;
}

/* A row of the same file and kind, with other clients: this run is a further step of it. */
static const char *step_of(
	const struct wp_import *in, const struct pgbench_run *run, const char *section)
{
	const struct wp_table *table = wp_result_find_table(in->result, "ramp");
	const struct wp_row *last =
		table && table->row_count ? table->rows[table->row_count - 1] : NULL;
	const char *target = last ? wp_row_get_text(last, "target") : NULL;
	const struct pgbench_value *clients = &run->fields[PGBENCH_CLIENTS];

	bool is_limited = run->fields[PGBENCH_LAG_MS].state != SCAN_NONE;
	bool was_limited = last && wp_row_get_number(last, "schedule_lag_mean_ns") >= 0;

	if (!last || clients->state != SCAN_SURE || is_limited != was_limited ||
		!is_of_input(in, target) || !is_same_cell(last, "section", section) ||
		!is_same_cell(last, "protocol", run->mode) ||
		!(is_same_cell(last, "script", run->type) || !run->type ||
			is_same_cell(last, "script", NULL)))
		return NULL;
	for (size_t i = 0; i < table->row_count; i++)
		if (is_same_cell(table->rows[i], "target", target) &&
			!(wp_row_get_number(table->rows[i], "clients") < clients->value) &&
			!(wp_row_get_number(table->rows[i], "clients") > clients->value))
			return NULL;
	return target;
}

/* A new target; run knows its lines. */
static const char *target_of(struct wp_import *in, const struct pgbench_run *run, size_t first,
	size_t count, const char *section)
{
	const char *target = step_of(in, run, section);
	struct wp_import_run about = {
		.tool = "pgbench",
		.version = run->version,
		.command = run->command,
		.line_count = count,
	};

	if (!target)
		return place_add(in, first, &about);
	place_take_heading(in, first);
	in->runs++;
	return target;
}

/* ---- plain text ------------------------------------------------------------------------------ */

static void add_run(
	struct wp_import *in, const struct scan_text *text, const struct pgbench_run *run)
{
	size_t first = text->indexes[scan_line(text, run->first)];
	size_t last = text->indexes[scan_line(text, run->last - 1)];
	char *section = place_heading(in, first);
	struct pgbench_place place = {
		.target = target_of(in, run, first, last - first + 1, section),
		.section = section,
		.is_first_after_load = is_after_load(in, first),
	};

	pgbench_add_rows(in, run, &place);
	if (place.is_first_after_load)
		wp_result_add_check(in->result, "ramp-after-load", place.target, WP_CHECK_INFO,
			"the tables were used and checkpointed before",
			"pgbench -i stands directly above the run",
			"the first run after loading writes hint bits and page images that later "
			"runs "
			"do not: give it to warming up, and compare later ones");
	scan_take(in, text, run->first, run->last);
	free(section);
}

/* All runs that begin on the lines of the first one, as glued output has them. */
static size_t take_text(struct wp_import *in, size_t at, const struct scan_text *text, bool *is_cut)
{
	const char *from = text->text;
	size_t lines = 0;

	*is_cut = false;
	for (;;) {
		struct pgbench_run run;
		const char *next = pgbench_parse(text, from, &run);
		bool is_run = pgbench_is_run(&run);

		if (is_run && !*next && !text->is_end)
			*is_cut = true;
		if (is_run && !*is_cut) {
			add_run(in, text, &run);
			lines = text->indexes[scan_line(text, run.last - 1)] + 1 - at;
		}
		pgbench_run_release(&run);
		if (!is_run || *is_cut || !*next || scan_line(text, next) >= lines)
			return lines;
		from = next;
	}
}

static size_t take_plain(struct wp_import *in, size_t at)
{
	size_t window = WINDOW_LINES;
	bool is_cut;

	for (;; window *= 4) {
		struct scan_text text = scan_text_lines(in, at, window);
		size_t lines = take_text(in, at, &text, &is_cut);

		scan_text_release(&text);
		if (!is_cut)
			return lines;
	}
}

/* ---- unified diff ---------------------------------------------------------------------------- */

struct side {
	struct scan_text text;
	char *name;
};

/* "--- ext2.log<tab>Sat May  5" is about "ext2". */
static char *side_name(const char *line)
{
	const char *begin = line + 4;
	size_t length = strcspn(begin, " \t");
	const char *dot;

	for (size_t i = 0; i < length; i++)
		if (begin[i] == '/') {
			begin += i + 1;
			length -= i + 1;
			i = (size_t)-1;
		}
	dot = memrchr(begin, '.', length);
	if (dot && dot > begin)
		length = (size_t)(dot - begin);
	return wp_xstrndup(begin, length);
}

static bool is_diff_head(const struct wp_import *in, size_t at)
{
	return at + 2 < in->line_count && strncmp(in->lines[at].text, "--- ", 4) == 0 &&
	       in->lines[at].text[4] && strncmp(in->lines[at + 1].text, "+++ ", 4) == 0 &&
	       in->lines[at + 1].text[4] && strncmp(in->lines[at + 2].text, "@@ -", 4) == 0;
}

/* Lines of a diff up to the next one's head, or a line that stands behind its last hunk. */
static size_t split_diff(struct wp_import *in, size_t at, struct side sides[2])
{
	size_t end = at + 2;

	sides[0].name = side_name(in->lines[at].text);
	sides[1].name = side_name(in->lines[at + 1].text);
	for (; end < in->line_count && !is_diff_head(in, end); end++) {
		const char *line = in->lines[end].text;
		const char *hunk = strncmp(line, "@@ -", 4) == 0 ? strstr(line + 4, "@@") : NULL;
		bool is_old = *line == '-' && !hunk;
		bool is_new = *line == '+' && !hunk;

		if (hunk)
			line = hunk + 2;
		else if (is_old || is_new)
			line++;
		if (!is_new)
			scan_text_add(&sides[0].text, line, end);
		if (!is_old)
			scan_text_add(&sides[1].text, line, end);
	}
	return end - at;
}

static const char *side_target(struct wp_import *in, size_t at, const struct side *side)
{
	char *file_system = wp_import_fstype(side->name);
	struct wp_import_run run = {
		.tool = "pgbench",
		.title = side->name,
		.fstype = file_system,
		.line = in->lines[at].number,
		.line_count = side->text.count,
	};
	const char *target = wp_import_add_run(in, &run);

	free(file_system);
	return target;
}

/* Runs of one side. Returns the index of the last line of all. */
static size_t take_side(struct wp_import *in, size_t at, struct side *side, size_t *runs)
{
	const char *from = side->text.text ? side->text.text : "";
	const char *target = NULL;
	size_t last = 0;

	while (*from) {
		struct pgbench_run run;
		const char *next = pgbench_parse(&side->text, from, &run);

		if (pgbench_is_run(&run)) {
			struct pgbench_place place = { .section = NULL };

			if (target)
				in->runs++;
			else
				target = side_target(in, at, side);
			place.target = target;
			pgbench_add_rows(in, &run, &place);
			scan_take(in, &side->text, run.first, run.last);
			last = side->text.indexes[scan_line(&side->text, run.last - 1)];
			++*runs;
		}
		pgbench_run_release(&run);
		if (next == from)
			break;
		from = next;
	}
	return last;
}

static void release_side(struct side *side)
{
	scan_text_release(&side->text);
	free(side->name);
}

static bool has_run(const struct side *side)
{
	return side->text.text && scan_find(side->text.text, side->text.text + side->text.length,
					  "transaction type~:|tps~=~|number of clients~:") != NULL;
}

static size_t take_diff(struct wp_import *in, size_t at)
{
	struct side sides[2] = { { .name = NULL }, { .name = NULL } };
	size_t runs = 0;
	size_t last = 0;

	(void)split_diff(in, at, sides);
	if (has_run(&sides[0]) || has_run(&sides[1])) {
		size_t old_last = take_side(in, at, &sides[0], &runs);
		size_t new_last = take_side(in, at, &sides[1], &runs);

		last = old_last > new_last ? old_last : new_last;
	}
	release_side(&sides[0]);
	release_side(&sides[1]);
	if (!runs)
		return 0;
	in->lines[at].is_taken = in->lines[at + 1].is_taken = true;
	return last + 1 - at;
}

static size_t take(struct wp_import *in, size_t at)
{
	if (is_diff_head(in, at))
		return take_diff(in, at);
	if (!pgbench_starts(in->lines[at].text))
		return 0;
	return take_plain(in, at);
}

const struct wp_importer wp_import_pgbench = {
	.name = "pgbench",
	.title = "pgbench's text of 7.1 to 18, also a diff of two runs",
	.take = take,
};
