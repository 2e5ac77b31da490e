/* SPDX-License-Identifier: PostgreSQL */
#include "plan.h"
#include "walprobe/mem.h"
#include "wrap.h"

bool wp_column_has_unit(const struct wp_table *table, size_t column, const char *unit)
{
	return table->columns[column].unit && strcmp(table->columns[column].unit, unit) == 0;
}

/* ---- rows without any figure: one line says why, instead of a row of dashes ------------------- */

/* What was measured; what is known beforehand (clients, bytes of a write) is no figure. */
static bool is_figure(const struct wp_table *table, size_t column)
{
	return table->columns[column].kind == WP_KIND_REAL ||
	       wp_column_has_unit(table, column, "ns");
}

static bool has_figures(const struct wp_plan *plan, const struct wp_table *table)
{
	for (size_t i = 0; i < plan->count; i++)
		if (is_figure(table, plan->items[i].column))
			return true;
	return false;
}

const char *wp_missing_reason(const struct wp_plan *plan, const struct wp_row *row)
{
	bool is_measured = has_figures(plan, row->table);
	const char *reason = NULL;
	size_t count = 0;

	for (size_t i = is_measured ? 0 : 1; i < plan->count; i++) {
		size_t column = plan->items[i].column;
		const struct wp_cell *cell = &row->cells[column];

		if (is_measured && !is_figure(row->table, column))
			continue;
		if (cell->state != WP_CELL_ABSENT || !cell->text ||
			(reason && strcmp(reason, cell->text) != 0))
			return NULL;
		reason = cell->text;
		count++;
	}
	/* Where a row is about one figure, as a round is, its dash says no less. */
	return count > 1 ? reason : NULL;
}

static bool is_same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* True when no row of the target has figures, all for this reason. */
static bool is_missing_target(const struct wp_plan *plan, const struct wp_table *table,
	const char *target, const char *reason)
{
	for (size_t i = 0; i < table->row_count; i++)
		if (is_same(wp_row_get_text(table->rows[i], "target"), target) &&
			!is_same(wp_missing_reason(plan, table->rows[i]), reason))
			return false;
	return *target;
}

/* "f2fs", or where other rows of it have figures "ext4 fsync_writethrough"; the caller frees. */
static char *missing_name(const struct wp_plan *plan, const struct wp_row *row, const char *reason)
{
	static const struct wp_scale plain = { .factor = 1, .unit = "" };
	const char *target = wp_row_get_text(row, "target");
	struct wp_notes notes = { 0 };
	char text[WP_CELL_SIZE];
	char *name;

	if (is_missing_target(plan, row->table, target, reason))
		return wp_xstrdup(target);
	name = wp_xstrdup("");
	for (size_t i = 0; i < plan->key_count; i++)
		wp_join(&name, " ",
			wp_cell_format(&row->cells[plan->items[i].column], &plain, &notes, text));
	wp_notes_release(&notes);
	return name;
}

void wp_missing_tell(const struct wp_plan *plan, const struct wp_table *table, size_t first,
	struct wp_shown *shown)
{
	const char *reason = wp_missing_reason(plan, table->rows[first]);
	char *last = wp_xstrdup("");
	char *names = wp_xstrdup("");

	for (size_t i = 0; i < first; i++)
		if (is_same(wp_missing_reason(plan, table->rows[i]), reason))
			reason = NULL;
	for (size_t i = first; reason && i < table->row_count; i++) {
		char *name;

		if (!is_same(wp_missing_reason(plan, table->rows[i]), reason))
			continue;
		name = missing_name(plan, table->rows[i], reason);
		if (strcmp(name, last) != 0)
			wp_join(&names, ", ", name);
		free(last);
		last = name;
	}
	wp_join(&names, ": ", reason ? reason : "");
	if (reason)
		wp_shown_add_line(shown, "not measured: ", names);
	free(names);
	free(last);
}

/* A column in which nothing is and nothing was to be (or, of published figures, was told), in any row
 * that is shown. */
static bool is_empty(const struct wp_plan *plan, const struct wp_table *table, size_t item)
{
	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_cell *cell = &table->rows[i]->cells[plan->items[item].column];

		if (!wp_missing_reason(plan, table->rows[i]) &&
			(cell->state != WP_CELL_ABSENT || (cell->text && !plan->is_published)))
			return false;
	}
	return true;
}

static bool has_shown_row(const struct wp_plan *plan, const struct wp_table *table)
{
	for (size_t i = 0; i < table->row_count; i++)
		if (!wp_missing_reason(plan, table->rows[i]))
			return true;
	return false;
}

void wp_plan_drop_empty(struct wp_plan *plan, const struct wp_table *table)
{
	size_t keys = plan->key_count;
	size_t kept = 0;
	bool *is_dropped;

	/* Whether a row is missing is seen from the columns: they must not all go. */
	if (!has_shown_row(plan, table))
		return;
	is_dropped = wp_xcalloc(plan->count, sizeof(*is_dropped));
	for (size_t i = 1; i < plan->count; i++)
		is_dropped[i] = is_empty(plan, table, i);
	for (size_t i = 0; i < plan->count; i++) {
		if (is_dropped[i])
			plan->key_count -= i < keys;
		else
			plan->items[kept++] = plan->items[i];
	}
	plan->count = kept;
	free(is_dropped);
}
