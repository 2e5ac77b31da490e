/* SPDX-License-Identifier: PostgreSQL */
/*
 * Every case as mail, editors and web pages leave it: the same figures, or none, but never others.
 *
 * Where nothing is lost, the rows must be the same. Where lines are broken, blanks collapsed or the
 * end is cut off, each run that is found must be one of the original's: its rows are rows of that
 * run in the same order, with the same figure in every cell that has one.
 */
#include "import_input.h"
#include "walprobe/mem.h"

static size_t width = 72; /* of a line that mail leaves whole */

/* One line for each file. */
static const struct {
	const char *name;
	bool is_growing; /* its figures are sums up to its end: a part of it has others */
} cases[] = {
	{ "01-bonnie-103-mailwrapped-6fs/input-list-archive.txt", false },
	{ "01-bonnie-103-mailwrapped-6fs/input-webforum-copy.txt", false },
	{ "02-bonnie-csv-mixed-196-and-103/bonnie.csv", false },
	{ "06-bonnie-103-fast-mode-3-kernels/bonnie-fast.txt", false },
	{ "07-bonnie-103-quoted-reply/mail-excerpt.txt", false },
	{ "08-bonnie-103-two-runs-same-host/mail-excerpt.txt", false },
	{ "10-bonnie-200-no-csv-odirect-4k/mail-excerpt.txt", false },
	{ "11-bonnie-194-text-small-box/bonnie.txt", false },
	{ "13-bonnie-classic-beside-bonniepp/forum-excerpt.txt", false },
	{ "14-iozone-3434-auto-cached/iozone.out", false },
	{ "15-iozone-excel-report-only/iozone-excel.txt", false },
	{ "16-iozone-3327-auto-163rows/xfs1.iozone", false },
	{ "18-iozone-four-filesystems-blog/blog-tables.txt", false },
	{ "21-iozone-throughput-nfs-close/mail-excerpt.txt", false },
	{ "23-iozone-pdsh-prefixed-10-nodes/pdsh.txt", false },
	{ "37-diskchecker-create-and-clean-verify/create.txt", true },
	{ "37-diskchecker-create-and-clean-verify/verify.txt", false },
};

static const char *const figure_tables[] = { "io", "sync", "ramp", "verdict", "throughput" };

/* ---- what happens to text ---------------------------------------------------------------------- */

struct text {
	char *bytes;
	size_t length;
	size_t room;
};

static void put(struct text *out, const char *bytes, size_t length)
{
	if (out->length + length + 1 > out->room) {
		out->room = 2 * (out->length + length + 1);
		out->bytes = wp_xreallocarray(out->bytes, out->room, 1);
	}
	memcpy(out->bytes + out->length, bytes, length);
	out->length += length;
	out->bytes[out->length] = '\0';
}

static void put_line(struct text *out, const char *line, size_t length)
{
	put(out, line, length);
	put(out, "\n", 1);
}

static void with_crlf(const char *line, size_t length, struct text *out)
{
	put(out, line, length);
	put_line(out, "\r", 1);
}

static void with_quotes(const char *line, size_t length, struct text *out)
{
	put(out, "> ", 2);
	put_line(out, line, length);
}

static void with_deep_quotes(const char *line, size_t length, struct text *out)
{
	put(out, ">> > ", 5);
	put_line(out, line, length);
}

static void with_trailing_blanks(const char *line, size_t length, struct text *out)
{
	put(out, line, length);
	put_line(out, "  \t ", 4);
}

static void with_colours(const char *line, size_t length, struct text *out)
{
	put(out, "\033[1;32m", 7);
	put(out, line, length);
	put_line(out, "\033[0m", 4);
}

/* At the last blank before the margin; a longer word where it is full. */
static void wrapped(const char *line, size_t length, struct text *out)
{
	while (length > width) {
		size_t at = width;

		while (at && line[at] != ' ')
			at--;
		if (strspn(line, " ") >= at)
			at = 0;
		put_line(out, line, at ? at : width);
		line += at ? at + 1 : width;
		length -= at ? at + 1 : width;
	}
	put_line(out, line, length);
}

static void broken(const char *line, size_t length, struct text *out)
{
	for (; length > width; line += width, length -= width)
		put_line(out, line, width);
	put_line(out, line, length);
}

static void quoted_and_wrapped(const char *line, size_t length, struct text *out)
{
	struct text quoted = { 0 };

	put(&quoted, "> ", 2);
	put(&quoted, line, length);
	wrapped(quoted.bytes, quoted.length, out);
	free(quoted.bytes);
}

static void collapsed(const char *line, size_t length, struct text *out)
{
	for (size_t i = 0; i < length; i++)
		if (line[i] != ' ' || (i && line[i - 1] != ' '))
			put(out, line + i, 1);
	put(out, "\n", 1);
}

static void quoted_printable(const char *line, size_t length, struct text *out)
{
	size_t column = 0;

	for (size_t i = 0; i < length; i++) {
		char code[4];
		bool is_plain = line[i] != '=' && (unsigned char)line[i] < 127;

		if (column >= 72) {
			put_line(out, "=", 1);
			column = 0;
		}
		(void)snprintf(code, sizeof(code), "=%02X", (unsigned)(unsigned char)line[i]);
		put(out, is_plain ? line + i : code, is_plain ? 1 : 3);
		column += is_plain ? 1 : 3;
	}
	put(out, "\n", 1);
}

static char *transform(const char *text, void (*fn)(const char *, size_t, struct text *))
{
	struct text out = { 0 };

	put(&out, "", 0);
	while (*text) {
		size_t length = strcspn(text, "\n");

		fn(text, length, &out);
		text += length + (text[length] == '\n');
	}
	return out.bytes;
}

/* ---- comparing --------------------------------------------------------------------------------- */

static bool is_number(const struct wp_cell *cell)
{
	return cell->state == WP_CELL_INT || cell->state == WP_CELL_REAL;
}

static double number(const struct wp_cell *cell)
{
	return cell->state == WP_CELL_INT ? (double)cell->integer : cell->real;
}

/* What row says, original says as well. */
static bool is_part_of(const struct wp_row *row, const struct wp_row *original)
{
	for (size_t i = 0; i < row->table->column_count; i++) {
		const struct wp_column *column = &row->table->columns[i];
		const struct wp_cell *own = &row->cells[i];
		const struct wp_cell *other = &original->cells[i];

		if (strcmp(column->key, "target") == 0)
			continue;
		if (is_number(own) && (!is_number(other) || number(own) < number(other) ||
					      number(own) > number(other)))
			return false;
		if (own->state == WP_CELL_TEXT && strcmp(column->key, "cached") != 0 &&
			strcmp(column->key, "verdict") != 0 &&
			(other->state != WP_CELL_TEXT || strcmp(own->text, other->text) != 0))
			return false;
		if (own->state == WP_CELL_ABSENT && !own->text)
			fail_msg("column %s is absent without a reason", column->key);
	}
	return true;
}

static size_t next_row(const struct wp_table *table, size_t from, const char *target)
{
	while (table && from < table->row_count &&
		strcmp(wp_row_get_text(table->rows[from], "target"), target) != 0)
		from++;
	return table ? from : 0;
}

/* The rows of target a are, in order, among those of target b in the original. */
static bool is_run_of(const struct wp_result *result, const char *a,
	const struct wp_result *original, const char *b)
{
	for (size_t i = 0; i < WP_COUNT(figure_tables); i++) {
		const struct wp_table *table = wp_result_find_table(result, figure_tables[i]);
		const struct wp_table *from = wp_result_find_table(original, figure_tables[i]);
		size_t at = next_row(from, 0, b);

		for (size_t row = next_row(table, 0, a); table && row < table->row_count;
			row = next_row(table, row + 1, a)) {
			while (from && at < from->row_count &&
				!is_part_of(table->rows[row], from->rows[at]))
				at = next_row(from, at + 1, b);
			if (!from || at == from->row_count)
				return false;
			at = next_row(from, at + 1, b);
		}
	}
	return true;
}

static bool has_figure(const struct wp_result *result, const char *target)
{
	for (size_t i = 0; i < WP_COUNT(figure_tables); i++) {
		const struct wp_table *table = wp_result_find_table(result, figure_tables[i]);

		if (table && next_row(table, 0, target) < table->row_count)
			return true;
	}
	return false;
}

static void check_part(const struct wp_result *result, const struct wp_result *original,
	const char *name, const char *how, const char *text)
{
	for (size_t i = 0; result && i < result->target_count; i++) {
		const char *label = result->targets[i]->label;
		bool is_found = !has_figure(result, label);

		for (size_t j = 0; !is_found && j < original->target_count; j++)
			is_found = is_run_of(result, label, original, original->targets[j]->label);
		if (!is_found)
			fail_msg("%s, %s: \"%s\" is no run of the original; the text:\n%s", name,
				how, label, text);
	}
}

static void check_same(const struct wp_result *result, const struct wp_result *original,
	const char *name, const char *how)
{
	if (!result)
		fail_msg("%s, %s: nothing was understood", name, how);
	for (size_t i = 0; i < WP_COUNT(figure_tables); i++) {
		const struct wp_table *table = wp_result_find_table(result, figure_tables[i]);
		const struct wp_table *from = wp_result_find_table(original, figure_tables[i]);

		if (!table != !from || (table && table->row_count != from->row_count))
			fail_msg("%s, %s: other rows in %s", name, how, figure_tables[i]);
		for (size_t j = 0; table && j < table->row_count; j++)
			if (!is_part_of(table->rows[j], from->rows[j]) ||
				!is_part_of(from->rows[j], table->rows[j]))
				fail_msg("%s, %s: row %zu of %s differs", name, how, j,
					figure_tables[i]);
	}
}

/* ---- the tests --------------------------------------------------------------------------------- */

static void nothing_is_lost_by(const char *how, void (*fn)(const char *, size_t, struct text *))
{
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		char *text = import_read(cases[i].name);
		char *dirty = transform(text, fn);
		struct wp_result *original = import_text(text);
		struct wp_result *result = import_text(dirty);

		check_same(result, original, cases[i].name, how);
		wp_result_free(result);
		wp_result_free(original);
		free(dirty);
		free(text);
	}
}

static void no_other_figure_comes_from(
	const char *how, void (*fn)(const char *, size_t, struct text *))
{
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		char *text = import_read(cases[i].name);
		char *dirty = transform(text, fn);
		struct wp_result *original = import_text(text);
		struct wp_result *result = import_text(dirty);

		check_part(result, original, cases[i].name, how, dirty);
		wp_result_free(result);
		wp_result_free(original);
		free(dirty);
		free(text);
	}
}

static void line_ends_of_windows_change_nothing(void **state)
{
	(void)state;
	nothing_is_lost_by("CRLF", with_crlf);
}

static void marks_of_quoting_change_nothing(void **state)
{
	(void)state;
	nothing_is_lost_by("quoted", with_quotes);
	nothing_is_lost_by("quoted twice", with_deep_quotes);
}

static void trailing_blanks_change_nothing(void **state)
{
	(void)state;
	nothing_is_lost_by("trailing blanks", with_trailing_blanks);
}

static void colours_change_nothing(void **state)
{
	(void)state;
	nothing_is_lost_by("colours", with_colours);
}

static void quoted_printable_changes_nothing(void **state)
{
	(void)state;
	nothing_is_lost_by("quoted-printable", quoted_printable);
}

static void broken_lines_give_the_same_figures_or_none(void **state)
{
	(void)state;
	no_other_figure_comes_from("wrapped at blanks", wrapped);
	no_other_figure_comes_from("broken at column 72", broken);
	no_other_figure_comes_from("quoted, then wrapped", quoted_and_wrapped);
}

static void lines_broken_elsewhere_give_the_same_figures_or_none(void **state)
{
	(void)state;
	for (width = 53; width < 100; width += 5) {
		no_other_figure_comes_from("wrapped at blanks", wrapped);
		no_other_figure_comes_from("broken", broken);
	}
	width = 72;
}

static void collapsed_blanks_give_the_same_figures_or_none(void **state)
{
	(void)state;
	no_other_figure_comes_from("collapsed blanks", collapsed);
}

/* Cut after every so many lines. */
static void check_cut(const char *name, const char *text, const struct wp_result *original,
	bool is_begun, size_t every)
{
	size_t line = 0;

	for (const char *at = strchr(text, '\n'); at; at = strchr(at + 1, '\n')) {
		char *head;
		struct wp_result *result;

		if (++line % every)
			continue;
		head = wp_xstrndup(text, (size_t)(at + 1 - text));
		result = import_text(head);
		check_part(result, original, name, "cut after a line", head);
		wp_result_free(result);
		result = is_begun ? import_text(at + 1) : NULL;
		check_part(result, original, name, "begun after a line", at + 1);
		wp_result_free(result);
		free(head);
	}
}

static void a_cut_end_or_beginning_gives_the_same_figures_or_none(void **state)
{
	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		char *text = import_read(cases[i].name);
		struct wp_result *original = import_text(text);

		if (!cases[i].is_growing)
			check_cut(cases[i].name, text, original, true, 1);
		wp_result_free(original);
		free(text);
	}
}

/* Where lines are broken at blanks, none ends within a figure. */
static void wrapped_lines_that_are_cut_give_the_same_figures_or_none(void **state)
{
	(void)state;
	for (size_t i = 0; i < WP_COUNT(cases); i++) {
		char *text = import_read(cases[i].name);
		char *dirty = transform(text, wrapped);
		struct wp_result *original = import_text(text);

		if (!cases[i].is_growing)
			check_cut(cases[i].name, dirty, original, false, 5);
		wp_result_free(original);
		free(dirty);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_ends_of_windows_change_nothing),
		cmocka_unit_test(marks_of_quoting_change_nothing),
		cmocka_unit_test(trailing_blanks_change_nothing),
		cmocka_unit_test(colours_change_nothing),
		cmocka_unit_test(quoted_printable_changes_nothing),
		cmocka_unit_test(broken_lines_give_the_same_figures_or_none),
		cmocka_unit_test(lines_broken_elsewhere_give_the_same_figures_or_none),
		cmocka_unit_test(collapsed_blanks_give_the_same_figures_or_none),
		cmocka_unit_test(a_cut_end_or_beginning_gives_the_same_figures_or_none),
		cmocka_unit_test(wrapped_lines_that_are_cut_give_the_same_figures_or_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
