/* SPDX-License-Identifier: PostgreSQL */
/*
 * fuzz_import.c - whatever text is imported is read within bounds; every figure is finite and not
 * negative, and what is absent has a reason. The first byte chooses an importer, or all.
 */
#include "walprobe/import.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const figure_tables[] = { "io", "sync", "ramp", "verdict", "throughput", "runs",
	"scripts", "statements", "progress" };

static void check_cell(const struct wp_row *row, size_t column)
{
	const struct wp_cell *cell = &row->cells[column];
	bool is_bad = (cell->state == WP_CELL_ABSENT && !cell->text) ||
		      (cell->state == WP_CELL_INT && cell->integer < 0) ||
		      (cell->state == WP_CELL_REAL && !(isfinite(cell->real) && cell->real >= 0));

	if (!is_bad)
		return;
	fprintf(stderr, "table %s, column %s: %s\n", row->table->name,
		row->table->columns[column].key,
		cell->state == WP_CELL_ABSENT ? "absent without a reason" : "no figure");
	abort();
}

static void check(const struct wp_result *result)
{
	for (size_t i = 0; i < WP_COUNT(figure_tables); i++) {
		const struct wp_table *table = wp_result_find_table(result, figure_tables[i]);

		for (size_t row = 0; table && row < table->row_count; row++)
			for (size_t column = 0; column < table->column_count; column++)
				check_cell(table->rows[row], column);
	}
	for (size_t i = 0; i < result->check_count; i++)
		if (!result->checks[i].text || !result->checks[i].text[0])
			abort();
}

static const char *choose(uint8_t byte)
{
	size_t count = 0;

	while (wp_importer_names[count])
		count++;
	return byte < count ? wp_importer_names[byte] : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct wp_import_words words = { .format = size ? choose(data[0]) : NULL };
	struct wp_result *result = wp_result_new("import");
	struct wp_import_reader *reader = wp_import_open(result, "fuzz", &words);
	size_t skip = words.format ? 1 : 0;
	struct wp_err err = { 0 };
	int rc = 0;

	if (size > skip)
		rc = wp_import_feed(reader, (const char *)data + skip, size - skip, &err);
	if (!rc)
		rc = wp_import_close(reader, true, &err);
	else
		(void)wp_import_close(reader, false, NULL); /* nothing was imported */
	if (rc && !err.message[0])
		abort();
	check(result);
	wp_result_free(result);
	return 0;
}
