/* SPDX-License-Identifier: PostgreSQL */
#include "grid.h"
#include "utf8.h"
#include "walprobe/mem.h"
#include "wrap.h"

#define GAP 2
/* A column of text is not made narrower than its longest part, unless that exceeds the second. */
#define NARROW 10
#define LONG_PART 24

void wp_grid_add_column(struct wp_grid *grid, const char *heading, enum wp_align align)
{
	assert(!grid->row_count);
	grid->columns =
		wp_xreallocarray(grid->columns, grid->column_count + 1, sizeof(*grid->columns));
	grid->columns[grid->column_count++] = (struct wp_grid_column){
		.heading = wp_utf8_clean(heading),
		.align = align,
	};
}

size_t wp_grid_add_row(struct wp_grid *grid)
{
	grid->cells = wp_xreallocarray(
		grid->cells, (grid->row_count + 1) * grid->column_count, sizeof(*grid->cells));
	memset(grid->cells + grid->row_count * grid->column_count, 0,
		grid->column_count * sizeof(*grid->cells));
	return grid->row_count++;
}

static char **cell(const struct wp_grid *grid, size_t row, size_t column)
{
	return &grid->cells[row * grid->column_count + column];
}

void wp_grid_set(struct wp_grid *grid, size_t row, size_t column, const char *text)
{
	char **slot = cell(grid, row, column);

	free(*slot);
	*slot = wp_utf8_clean(text);
}

void wp_grid_release(struct wp_grid *grid)
{
	for (size_t i = 0; i < grid->row_count * grid->column_count; i++)
		free(grid->cells[i]);
	for (size_t i = 0; i < grid->column_count; i++)
		free(grid->columns[i].heading);
	free(grid->cells);
	free(grid->columns);
	memset(grid, 0, sizeof(*grid));
}

/* ---- widths --------------------------------------------------------------------------------- */

/* Characters from the decimal point on; 0 for what is no number. */
static size_t fraction_length(const char *text)
{
	const char *point = strchr(text, '.');

	return text[strspn(text, "0123456789.-")] || !point ? 0 : strlen(point);
}

static bool is_number(const char *text)
{
	return *text && strcmp(text, "-") != 0 && !text[strspn(text, "0123456789.-")];
}

/* Pad numbers on the right until their points stand under each other. */
static void align_points(struct wp_grid *grid, size_t column)
{
	size_t longest = 0;

	for (size_t i = 0; i < grid->row_count; i++) {
		const char *text = *cell(grid, i, column);

		if (text && fraction_length(text) > longest)
			longest = fraction_length(text);
	}
	for (size_t i = 0; i < grid->row_count; i++) {
		char **slot = cell(grid, i, column);
		char *padded;

		if (!*slot || !is_number(*slot))
			continue;
		padded = wp_xasprintf("%s%*s", *slot, (int)(longest - fraction_length(*slot)), "");
		free(*slot);
		*slot = padded;
	}
}

/* Headings break at blanks only, so that "commits/s" stays one word. */
static size_t longest_word(const char *heading)
{
	size_t longest = 0;

	while (*heading) {
		size_t length = strcspn(heading, " ");
		char *word = wp_xstrndup(heading, length);
		size_t width = wp_utf8_width(word);

		if (width > longest)
			longest = width;
		free(word);
		heading += length;
		heading += strspn(heading, " ");
	}
	return longest;
}

/* The least width at which a heading takes two lines at most. */
static size_t two_line_width(const char *heading)
{
	size_t full = wp_utf8_width(heading);
	size_t width = longest_word(heading);
	size_t lines = 3;

	for (; width < full; width++) {
		struct wp_lines wrapped;

		wp_wrap(heading, width, &wrapped);
		lines = wrapped.count;
		wp_lines_release(&wrapped);
		if (lines <= 2)
			break;
	}
	return width;
}

static size_t widest_cell(
	const struct wp_grid *grid, size_t column, size_t (*measure)(const char *text))
{
	size_t widest = 1;

	for (size_t i = 0; i < grid->row_count; i++) {
		const char *text = *cell(grid, i, column);
		size_t width = text ? measure(text) : 0;

		if (width > widest)
			widest = width;
	}
	return widest;
}

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

static size_t natural_width(const struct wp_grid *grid, size_t column)
{
	size_t widest = widest_cell(grid, column, wp_utf8_width);
	const char *heading = grid->columns[column].heading;

	if (grid->is_headless)
		return widest;
	/* A few blanks between the figures are better than a second line of headings. */
	if (wp_utf8_width(heading) <= widest + 4)
		return larger(widest, wp_utf8_width(heading));
	return larger(widest, two_line_width(heading));
}

static size_t least_width(const struct wp_grid *grid, size_t column, size_t natural)
{
	bool is_text = grid->columns[column].align == WP_ALIGN_LEFT;
	size_t least = widest_cell(grid, column, is_text ? wp_wrap_longest_part : wp_utf8_width);

	if (!grid->is_headless)
		least = larger(least, longest_word(grid->columns[column].heading));
	if (is_text && least > LONG_PART)
		least = LONG_PART;
	if (is_text)
		least = larger(least, NARROW);
	return least < natural ? least : natural;
}

/* One block: the keys and the columns first..last-1. */
struct block {
	const struct wp_grid *grid;
	size_t keys;
	size_t first;
	size_t last;
};

static size_t block_count(const struct block *b)
{
	return b->keys + (b->last - b->first);
}

static size_t block_column(const struct block *b, size_t i)
{
	return i < b->keys ? i : b->first + (i - b->keys);
}

static size_t total(const struct block *b, const size_t *widths)
{
	size_t sum = 0;

	for (size_t i = 0; i < block_count(b); i++)
		sum += widths[block_column(b, i)] + (i ? GAP : 0);
	return sum;
}

/* Set the widths of the block's columns: natural, or the widest ones narrowed until all fit. */
static void fit(const struct block *b, const size_t *natural, const size_t *least, size_t limit)
{
	const struct wp_grid *grid = b->grid;
	size_t excess = total(b, natural);

	for (size_t i = 0; i < block_count(b); i++)
		grid->columns[block_column(b, i)].width = natural[block_column(b, i)];
	for (excess = excess > limit ? excess - limit : 0; excess; excess--) {
		struct wp_grid_column *widest = NULL;

		for (size_t i = 0; i < block_count(b); i++) {
			size_t j = block_column(b, i);
			struct wp_grid_column *column = &grid->columns[j];

			if (column->width > least[j] && (!widest || column->width > widest->width))
				widest = column;
		}
		if (!widest)
			break;
		widest->width--;
	}
}

/* ---- printing ------------------------------------------------------------------------------- */

/* Blanks are owed until something is printed after them, so that no line ends in blanks. */
struct line {
	FILE *stream;
	size_t owed;
};

static void put(
	struct line *line, const char *text, size_t width, enum wp_align align, const char *colour)
{
	size_t used = wp_utf8_width(text);
	size_t length = strlen(text);
	size_t trailing = 0;
	size_t pad = width > used ? width - used : 0;

	while (length && text[length - 1] == ' ') {
		length--;
		trailing++;
	}
	line->owed += align == WP_ALIGN_LEFT ? 0 : pad;
	if (length) {
		fprintf(line->stream, "%*s%s%.*s%s", (int)line->owed, "", colour ? colour : "",
			(int)length, text, colour ? "\033[0m" : "");
		line->owed = 0;
	}
	line->owed += trailing + (align == WP_ALIGN_LEFT ? pad : 0) + GAP;
}

/* The cells of one row (or the headings), each on as many lines as it needs. */
static void put_cells(const struct block *b, const char *const *texts, bool is_bottom_aligned,
	size_t indent, FILE *stream)
{
	size_t count = block_count(b);
	struct wp_lines *wrapped = wp_xcalloc(count, sizeof(*wrapped));
	size_t height = 0;

	for (size_t i = 0; i < count; i++) {
		const struct wp_grid_column *column = &b->grid->columns[block_column(b, i)];

		/* A padded number is as wide as its column: never wrapped, its blanks kept. */
		if (wp_utf8_width(texts[i]) <= column->width) {
			wrapped[i].lines = wp_xcalloc(1, sizeof(char *));
			wrapped[i].lines[0] = wp_xstrdup(texts[i]);
			wrapped[i].count = 1;
		} else {
			wp_wrap(texts[i], column->width, &wrapped[i]);
		}
		if (wrapped[i].count > height)
			height = wrapped[i].count;
	}
	for (size_t k = 0; k < height; k++) {
		struct line line = { stream, indent };

		for (size_t i = 0; i < count; i++) {
			const struct wp_grid_column *column = &b->grid->columns[block_column(b, i)];
			size_t skipped = is_bottom_aligned ? height - wrapped[i].count : 0;
			bool has_line = k >= skipped && k - skipped < wrapped[i].count;
			const char *text = has_line ? wrapped[i].lines[k - skipped] : "";
			bool is_coloured = i == 0 && b->grid->colour && !is_bottom_aligned;

			put(&line, text, column->width, column->align,
				is_coloured ? b->grid->colour(text) : NULL);
		}
		putc('\n', stream);
	}
	for (size_t i = 0; i < count; i++)
		wp_lines_release(&wrapped[i]);
	free(wrapped);
}

static void put_heading(const struct block *b, size_t indent, FILE *stream)
{
	static const char rule[] = "--------------------------------------------------"
				   "--------------------------------------------------";
	const char **texts = wp_xcalloc(block_count(b), sizeof(*texts));
	struct line line = { stream, indent };

	for (size_t i = 0; i < block_count(b); i++)
		texts[i] = b->grid->columns[block_column(b, i)].heading;
	put_cells(b, texts, true, indent, stream);
	for (size_t i = 0; i < block_count(b); i++) {
		size_t width = b->grid->columns[block_column(b, i)].width;

		if (width < sizeof(rule))
			put(&line, rule + (sizeof(rule) - 1 - width), width, WP_ALIGN_LEFT, NULL);
	}
	putc('\n', stream);
	free(texts);
}

static void put_block(const struct block *b, size_t indent, FILE *stream)
{
	const char **texts = wp_xcalloc(block_count(b), sizeof(*texts));

	if (!b->grid->is_headless)
		put_heading(b, indent, stream);
	for (size_t row = 0; row < b->grid->row_count; row++) {
		for (size_t i = 0; i < block_count(b); i++) {
			const char *text = *cell(b->grid, row, block_column(b, i));

			texts[i] = text ? text : "";
		}
		put_cells(b, texts, false, indent, stream);
	}
	free(texts);
}

/* Keys that leave no room for anything else are no use: then only the first is repeated. */
static size_t usable_keys(const struct wp_grid *grid, const size_t *least, size_t room)
{
	const struct block keys = { grid, grid->key_count, 0, 0 };

	return total(&keys, least) <= room * 6 / 10 ? grid->key_count : grid->key_count > 0;
}

void wp_grid_print(struct wp_grid *grid, size_t limit, size_t indent, FILE *stream)
{
	size_t *natural = wp_xcalloc(grid->column_count, sizeof(*natural));
	size_t *least = wp_xcalloc(grid->column_count, sizeof(*least));
	size_t room = limit - indent;
	struct block b = { grid, 0, 0, grid->column_count };

	for (size_t j = 0; j < grid->column_count; j++) {
		if (grid->columns[j].align == WP_ALIGN_POINT)
			align_points(grid, j);
		natural[j] = natural_width(grid, j);
		least[j] = least_width(grid, j, natural[j]);
		/* Beside one key at its least width there must be room for any column. */
		if (least[j] > room - LONG_PART - GAP)
			least[j] = room - LONG_PART - GAP;
		if (natural[j] > room)
			natural[j] = room;
	}
	if (total(&b, least) <= room) {
		fit(&b, natural, least, room);
		put_block(&b, indent, stream);
	} else {
		b.keys = usable_keys(grid, least, room);
		for (b.first = b.keys; b.first < grid->column_count; b.first = b.last) {
			b.last = b.first + 1;
			while (b.last < grid->column_count) {
				struct block wider = b;

				wider.last++;
				if (total(&wider, least) > room || grid->columns[b.last].is_break)
					break;
				b = wider;
			}
			if (b.first > b.keys)
				putc('\n', stream);
			fit(&b, natural, least, room);
			put_block(&b, indent, stream);
		}
	}
	free(least);
	free(natural);
}
