/* SPDX-License-Identifier: PostgreSQL */
/*
 * The order is that of a reader in a hurry: what ran and whether it is complete, what is unsafe,
 * what to do, how sure that is; then the figures and what they were taken on.
 */
#include "cells.h"
#include "grid.h"
#include "number.h"
#include "utf8.h"
#include "views.h"
#include "walprobe/mem.h"
#include "walprobe/render.h"
#include "wrap.h"

#define LIMIT 100
#define INDENT 2

#define BOLD "\033[1m"
#define RED_BOLD "\033[1;31m"
#define GREEN "\033[32m"
#define YELLOW "\033[33m"

/* Tables that hold the answer come first, and raw rounds only when asked for. */
static const char *const answers[] = { "changes", "recommendation", "ramp", "summary", "comparison",
	"comparison_across" };
static const char raw[] = "rounds";

struct text {
	const struct wp_result *result;
	const struct wp_render_options *options;
	FILE *stream;
};

/* A line (or more) of its own in a colour, which ends before the line does. */
static void put_line(const struct text *t, const char *colour, const char *line)
{
	bool is_coloured = t->options && t->options->is_colored;
	char *clean = wp_utf8_clean(line);
	struct wp_lines lines;

	wp_wrap(clean, LIMIT, &lines);
	for (size_t i = 0; i < lines.count; i++)
		fprintf(t->stream, "%s%s%s\n", is_coloured ? colour : "", lines.lines[i],
			is_coloured ? "\033[0m" : "");
	wp_lines_release(&lines);
	free(clean);
}

static void put_title(const struct text *t, const char *colour, const char *title)
{
	putc('\n', t->stream);
	put_line(t, colour, title);
}

/* ---- head ------------------------------------------------------------------------------------ */

static bool is_plain_word(const char *word)
{
	return *word && !word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
					   "0123456789_-+=:,./@%^")];
}

/* word as a shell takes it; the caller frees. */
static char *quote(const char *word)
{
	char *out;
	size_t used = 0;

	if (is_plain_word(word))
		return wp_xstrdup(word);
	/* A quote becomes four characters. */
	out = wp_xcalloc(strlen(word) * 4 + 3, 1);
	out[used++] = '\'';
	for (; *word; word++) {
		if (*word == '\'') {
			memcpy(out + used, "'\\''", 4);
			used += 4;
		} else {
			out[used++] = *word;
		}
	}
	out[used] = '\'';
	return out;
}

/* The command line, ready to be given to a shell again; the caller frees. */
static char *command_line(const struct wp_result *result)
{
	char *line = wp_xstrdup("");

	for (size_t i = 0; i < result->argc; i++) {
		char *word = quote(result->argv[i]);
		char *longer = wp_xasprintf("%s%s%s", line, i ? " " : "", word);

		free(word);
		free(line);
		line = longer;
	}
	return line;
}

static const char *environment(const struct wp_result *result, const char *key)
{
	for (size_t i = 0; i < result->environment_count; i++)
		if (strcmp(result->environment[i].key, key) == 0)
			return result->environment[i].value;
	return NULL;
}

static void put_head(const struct text *t)
{
	const struct wp_result *result = t->result;
	const char *kernel = environment(result, "kernel");
	/* Also commands that measure nothing have the parameter. */
	const char *rounds =
		wp_result_find_table(result, raw) ? wp_result_parameter(result, "rounds") : NULL;
	char *words = command_line(result);
	char *line = wp_xasprintf("walprobe %s", result->command);

	put_line(t, BOLD, line);
	free(line);
	if (!result->is_complete)
		put_line(t, RED_BOLD,
			"INCOMPLETE: stopped before the end; this is what was measured until then");
	line = wp_xasprintf("%s%s%swalprobe %s%s%s%s%s", result->started ? result->started : "",
		result->started ? ", " : "", result->is_complete ? "complete, " : "",
		result->version ? result->version : "?", kernel ? ", kernel " : "",
		kernel ? kernel : "", rounds ? ", rounds: " : "", rounds ? rounds : "");
	wp_wrap_print(t->stream, LIMIT, INDENT, "", line);
	if (*words)
		wp_wrap_print(t->stream, LIMIT, INDENT, "", words);
	free(line);
	free(words);
}

/* ---- checks ---------------------------------------------------------------------------------- */

static const char *const status_words[] = {
	[WP_CHECK_PASS] = "PASS",
	[WP_CHECK_FAIL] = "FAIL",
	[WP_CHECK_UNKNOWN] = "UNKNOWN",
	[WP_CHECK_INFO] = "INFO",
};

static const char *status_colour(const char *word)
{
	if (strcmp(word, status_words[WP_CHECK_FAIL]) == 0)
		return RED_BOLD;
	if (strcmp(word, status_words[WP_CHECK_UNKNOWN]) == 0)
		return YELLOW;
	return strcmp(word, status_words[WP_CHECK_PASS]) == 0 ? GREEN : NULL;
}

static bool shows_details(const struct text *t)
{
	return t->options && t->options->is_verbose;
}

static bool is_command(const struct text *t, const char *name)
{
	return t->result->command && strcmp(t->result->command, name) == 0;
}

/* What a failed check expected and saw belongs to its sentence; the caller frees. */
static char *check_sentence(const struct wp_check *check)
{
	bool has_both = check->status == WP_CHECK_FAIL && check->expected && check->observed;

	return wp_xasprintf("%s%s%s%s%s%s", check->text ? check->text : "",
		has_both ? " (expected " : "", has_both ? check->expected : "",
		has_both ? ", observed " : "", has_both ? check->observed : "",
		has_both ? ")" : "");
}

static bool is_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Two targets of which the same is said. */
static bool says_the_same(const struct wp_check *a, const struct wp_check *b)
{
	return a->status == b->status && strcmp(a->id, b->id) == 0 && is_equal(a->text, b->text) &&
	       (a->status != WP_CHECK_FAIL ||
		       (is_equal(a->expected, b->expected) && is_equal(a->observed, b->observed)));
}

static bool is_said_before(const struct wp_result *result, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (says_the_same(&result->checks[i], &result->checks[index]))
			return true;
	return false;
}

/* A sentence is said once, with all targets that it is about; the caller frees. */
static char *targets_of(const struct wp_result *result, size_t index)
{
	char *targets = wp_xstrdup("");
	size_t count = 0;

	for (size_t i = index; i < result->check_count; i++) {
		const struct wp_check *check = &result->checks[i];

		if (!check->target || !says_the_same(check, &result->checks[index]))
			continue;
		wp_join(&targets, ", ", check->target);
		count++;
	}
	if (count < 3 || count != result->target_count)
		return targets;
	free(targets);
	return wp_xstrdup("all");
}

static void add_checks(
	const struct wp_result *result, enum wp_check_status status, struct wp_grid *grid)
{
	for (size_t i = 0; i < result->check_count; i++) {
		const struct wp_check *check = &result->checks[i];
		char *sentence;
		char *targets;
		size_t row;

		if (check->status != status || is_said_before(result, i))
			continue;
		row = wp_grid_add_row(grid);
		sentence = check_sentence(check);
		targets = targets_of(result, i);
		wp_grid_set(grid, row, 0, status_words[status]);
		wp_grid_set(grid, row, 1, check->id);
		wp_grid_set(grid, row, 2, targets);
		wp_grid_set(grid, row, 3, sentence);
		free(targets);
		free(sentence);
	}
}

static void put_checks(const struct text *t, const char *colour, const char *title,
	const enum wp_check_status *statuses, size_t count)
{
	struct wp_grid grid = { .key_count = 1, .is_headless = true };

	grid.colour = t->options && t->options->is_colored ? status_colour : NULL;
	for (size_t i = 0; i < 4; i++)
		wp_grid_add_column(&grid, "", WP_ALIGN_LEFT);
	for (size_t i = 0; i < count; i++)
		add_checks(t->result, statuses[i], &grid);
	if (grid.row_count) {
		put_title(t, colour, title);
		wp_grid_print(&grid, LIMIT, INDENT, t->stream);
	}
	wp_grid_release(&grid);
}

static void put_failed_checks(const struct text *t)
{
	static const enum wp_check_status failed[] = { WP_CHECK_FAIL };

	put_checks(t, RED_BOLD, "NOT SAFE: failed checks", failed, WP_COUNT(failed));
}

static size_t count_passed(const struct wp_result *result)
{
	size_t count = 0;

	for (size_t i = 0; i < result->check_count; i++)
		count += result->checks[i].status == WP_CHECK_PASS;
	return count;
}

/* What passed matters to who asked for the inspection; elsewhere it is in the way of the rest. */
static void put_other_checks(const struct text *t)
{
	static const enum wp_check_status others[] = { WP_CHECK_UNKNOWN, WP_CHECK_INFO,
		WP_CHECK_PASS };
	bool has_all = shows_details(t) || is_command(t, "inspect");
	char line[64];

	put_checks(t, BOLD,
		wp_result_has_failed_check(t->result) ? "Other checks" : "Checks (none failed)",
		others, has_all ? WP_COUNT(others) : WP_COUNT(others) - 1);
	if (has_all || !count_passed(t->result))
		return;
	(void)snprintf(line, sizeof(line), "%zu more checks passed; -v shows them",
		count_passed(t->result));
	wp_wrap_print(t->stream, LIMIT, INDENT, "", line);
}

/* ---- targets --------------------------------------------------------------------------------- */

static void add_line(struct wp_grid *grid, const char *label, const char *text)
{
	size_t row = wp_grid_add_row(grid);

	wp_grid_set(grid, row, 0, label);
	wp_grid_set(grid, row, 1, text);
}

static void add_device(struct wp_grid *grid, const struct wp_device *device, bool is_first)
{
	static const char *const fua[] = { "FUA unknown", "no FUA", "FUA" };
	static const char *const kinds[] = { "", ", not rotational", ", rotational" };
	char *text = wp_xasprintf("%s %s: write cache %s, %s%s", is_first ? "on" : "  below it",
		device->name, device->write_cache ? device->write_cache : "unknown",
		fua[(device->is_fua > 0) + (device->is_fua >= 0)],
		kinds[(device->is_rotational > 0) + (device->is_rotational >= 0)]);

	add_line(grid, "", text);
	free(text);
}

/* A published run: there is no path, and what is told of it may be little. */
static void add_published(struct wp_grid *grid, const struct wp_target_info *target)
{
	char *text = wp_xasprintf("%s%s%s",
		target->fstype ? target->fstype : "the file system is not told",
		target->mount_options ? ", mounted " : "",
		target->mount_options ? target->mount_options : "");

	add_line(grid, target->label, text);
	free(text);
}

static void add_target(struct wp_grid *grid, const struct wp_target_info *target)
{
	char *text;

	if (!target->path) {
		add_line(grid, target->label, "not measured; why is said with the figures");
		return;
	}
	text = wp_xasprintf(
		"%s at %s", target->fstype ? target->fstype : "unknown file system", target->path);
	add_line(grid, target->label, text);
	free(text);
	if (target->mount_options) {
		text = wp_xasprintf("mounted %s", target->mount_options);
		add_line(grid, "", text);
		free(text);
	}
	for (size_t i = 0; i < target->device_count; i++)
		add_device(grid, &target->devices[i], i == 0);
}

static void put_targets(const struct text *t)
{
	struct wp_grid grid = { .key_count = 1, .is_headless = true };

	if (!t->result->target_count)
		return;
	wp_grid_add_column(&grid, "", WP_ALIGN_LEFT);
	wp_grid_add_column(&grid, "", WP_ALIGN_LEFT);
	for (size_t i = 0; i < t->result->target_count; i++)
		if (is_command(t, "import"))
			add_published(&grid, t->result->targets[i]);
		else
			add_target(&grid, t->result->targets[i]);
	put_title(t, BOLD, "Targets");
	wp_grid_print(&grid, LIMIT, INDENT, t->stream);
	wp_grid_release(&grid);
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Tables behind the answer: shown by -v, and by the command whose answer they are. */
static bool is_detail(const struct text *t, const char *name)
{
	static const struct {
		const char *table;
		const char *command; /* that shows it all the same; NULL: none */
	} details[] = {
		{ "inspect", "inspect" },
		{ "flush", "inspect" },
		{ "append_first_lap", "append" },
		{ "methods", NULL },
		{ "server", NULL },
		{ "scripts", NULL },
	};

	for (size_t i = 0; i < WP_COUNT(details); i++)
		if (strcmp(details[i].table, name) == 0)
			return !shows_details(t) &&
			       !(details[i].command && is_command(t, details[i].command));
	return false;
}

static bool is_answer(const char *name)
{
	for (size_t i = 0; i < WP_COUNT(answers); i++)
		if (strcmp(answers[i], name) == 0)
			return true;
	return false;
}

static void put_table(const struct text *t, const struct wp_table *table)
{
	if (!table)
		return;
	put_title(t, BOLD, table->title && *table->title ? table->title : table->name);
	if (table->row_count)
		wp_view_print(t->result, table, shows_details(t), LIMIT, t->stream);
	else
		wp_wrap_print(t->stream, LIMIT, INDENT, "", "nothing to show");
}

/* A ramp's own table has the same figures, clients down and targets across. */
static bool is_said_by_ramp(const struct text *t, const char *name)
{
	return strcmp(name, "summary") == 0 && wp_result_find_table(t->result, "ramp");
}

static void put_answers(const struct text *t)
{
	for (size_t i = 0; i < WP_COUNT(answers); i++)
		if (!is_said_by_ramp(t, answers[i]))
			put_table(t, wp_result_find_table(t->result, answers[i]));
}

static void put_figures(const struct text *t)
{
	for (size_t i = 0; i < t->result->table_count; i++) {
		const struct wp_table *table = t->result->tables[i];

		if (!is_answer(table->name) && strcmp(table->name, raw) != 0 &&
			!is_detail(t, table->name))
			put_table(t, table);
	}
}

/* ---- what only -v shows ----------------------------------------------------------------------- */

static void put_facts(
	const struct text *t, const char *title, const struct wp_fact *facts, size_t count)
{
	struct wp_grid grid = { .key_count = 1, .is_headless = true };

	if (!count)
		return;
	for (size_t i = 0; i < 3; i++)
		wp_grid_add_column(&grid, "", WP_ALIGN_LEFT);
	for (size_t i = 0; i < count; i++) {
		size_t row = wp_grid_add_row(&grid);
		char number[WP_NUMBER_SIZE];
		bool is_number;
		const char *value = wp_number_fact(&facts[i], number, &is_number);

		wp_grid_set(&grid, row, 0, facts[i].key);
		wp_grid_set(&grid, row, 1, value ? value : "-");
		wp_grid_set(&grid, row, 2, facts[i].source);
	}
	put_title(t, BOLD, title);
	wp_grid_print(&grid, LIMIT, INDENT, t->stream);
	wp_grid_release(&grid);
}

void wp_render_text(
	const struct wp_result *result, const struct wp_render_options *options, FILE *stream)
{
	const struct text t = { result, options, stream };

	put_head(&t);
	put_failed_checks(&t);
	put_answers(&t);
	put_other_checks(&t);
	put_figures(&t);
	put_targets(&t);
	if (shows_details(&t)) {
		put_facts(&t, "Parameters", result->parameters, result->parameter_count);
		put_facts(&t, "Environment", result->environment, result->environment_count);
		put_table(&t, wp_result_find_table(result, raw));
	}
}
