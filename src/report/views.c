/* SPDX-License-Identifier: PostgreSQL */
#include "views.h"
#include "cluster_text.h"
#include "plan.h"
#include "prose.h"
#include "ramp_text.h"
#include "walprobe/mem.h"
#include "wrap.h"

#define INDENT 2
#define KEY_LIMIT 4
#define ROWS_MOST 24

enum column_flag {
	KEY = 1,     /* repeated where blocks are stacked */
	FOLDED = 2,  /* told once above the table when all rows say the same */
	BREAK = 4,   /* a second block starts here when one is not enough */
	YES_NO = 8,  /* 1 and 0 are words */
	HIDDEN = 16, /* a text that says what other columns say, or what is said above */
};

struct view_column {
	const char *key;
	const char *high;    /* upper end of an interval that starts at key; NULL: a single value */
	const char *heading; /* without the unit of times and sizes; NULL: the column's label */
	unsigned flags;
};

struct view {
	const char *table;
	const struct view_column *columns;
	size_t count;
};

static const struct view_column sync_columns[] = {
	{ "target", NULL, NULL, KEY },
	{ "method", NULL, NULL, KEY },
	{ "variant", NULL, NULL, KEY | FOLDED },
	{ "ops_per_s", NULL, "ops/s", 0 },
	{ "ci_low", "ci_high", "95% CI", 0 },
	{ "p50_ns", NULL, "p50", 0 },
	{ "p99_ns", NULL, "p99", 0 },
	{ "p999_ns", NULL, "p99.9", 0 },
	{ "max_ns", NULL, "max", 0 },
	{ "flushes_per_op", NULL, "flush/op", 0 },
};

static const struct view_column append_columns[] = {
	{ "target", NULL, NULL, KEY },
	{ "method", NULL, NULL, KEY | FOLDED },
	{ "recycle", NULL, NULL, KEY | FOLDED },
	{ "clients", NULL, NULL, KEY },
	{ "commits_per_s", NULL, "commits /s", 0 },
	{ "ci_low", "ci_high", "95% CI", 0 },
	{ "p50_ns", NULL, "p50", 0 },
	{ "p99_ns", NULL, "p99", 0 },
	{ "max_ns", NULL, "max", 0 },
	{ "commits_per_sync", NULL, "commits /sync", BREAK },
	{ "flushes_per_sync", NULL, "flush /sync", 0 },
	{ "recycled", NULL, "re- cycled", 0 },
	{ "switch_p50_ns", NULL, "switch p50", 0 },
	{ "switch_max_ns", NULL, "switch max", 0 },
};

static const struct view_column io_columns[] = {
	{ "target", NULL, NULL, KEY },
	{ "test", NULL, NULL, KEY },
	{ "file_bytes", NULL, NULL, FOLDED },
	{ "record_bytes", NULL, NULL, KEY },
	{ "bytes_per_s", NULL, "MB/s", 0 },
	{ "ops_per_s", NULL, "ops/s", 0 },
	{ "ci_low", "ci_high", "95% CI", 0 },
	{ "p50_ns", NULL, "p50", 0 },
	{ "p99_ns", NULL, "p99", 0 },
	{ "max_ns", NULL, "max", 0 },
	{ "cpu_percent", NULL, "CPU %", BREAK },
	{ "cached", NULL, NULL, 0 },
	{ "cache", NULL, NULL, FOLDED },
	{ "device_read_bytes", NULL, "device read", 0 },
	{ "device_written_bytes", NULL, "device written", 0 },
	{ "device_flushes", NULL, "flushes", 0 },
};

static const struct view_column methods_columns[] = {
	{ "target", NULL, NULL, KEY },
	{ "table", NULL, "measured by", KEY | FOLDED },
	{ "variant", NULL, NULL, KEY | FOLDED },
	{ "clients", NULL, NULL, KEY },
	{ "a", NULL, NULL, KEY },
	{ "b", NULL, NULL, KEY },
	{ "ratio", NULL, "a / b", 0 },
	{ "ci_low", "ci_high", "95% CI", 0 },
	{ "verdict", NULL, "a is", 0 },
	{ "sentence", NULL, NULL, HIDDEN },
};

static const struct view_column inspect_columns[] = {
	{ "target", NULL, NULL, KEY },
	{ "layer", NULL, NULL, KEY },
	{ "kind", NULL, NULL, 0 },
	{ "below", NULL, "lies on", 0 },
	{ "write_cache", NULL, "write cache", 0 },
	{ "device_cache", NULL, "device says", 0 },
	{ "fua", NULL, "FUA", YES_NO },
	{ "rotational", NULL, "rotates", YES_NO },
	{ "counted", NULL, "flushes counted", YES_NO },
	{ "model", NULL, NULL, 0 },
	{ "alias", NULL, "name", 0 },
	{ "backing_file", NULL, "file", 0 },
	{ "scheduler", NULL, NULL, HIDDEN },
};

static const struct view_column flush_columns[] = {
	{ "target", NULL, NULL, KEY },
	{ "workload", NULL, NULL, KEY },
	{ "method", NULL, NULL, KEY },
	{ "flushes_per_op", NULL, "flush/op", 0 },
	{ "background_flushes", NULL, "by others", 0 },
	{ "conclusive", NULL, "sure", YES_NO },
	{ "p50_ns", NULL, "p50", 0 },
	{ "ops_per_s", NULL, "ops/s", 0 },
	{ "devices", NULL, "flushes by device", 0 },
};

static const struct view_column ramp_columns[] = {
	{ "target", NULL, NULL, KEY },
	{ "clients", NULL, NULL, KEY },
	{ "protocol", NULL, NULL, KEY | FOLDED },
	{ "tps_excluding", NULL, "tps", 0 },
	{ "ci_low", "ci_high", "95% CI", 0 },
	{ "tps_including", NULL, "tps incl. connect", 0 },
	{ "p50_ns", NULL, "p50", 0 },
	{ "p99_ns", NULL, "p99", 0 },
	{ "max_stall_ns", NULL, "stall", 0 },
	{ "failed", NULL, NULL, 0 },
	{ "commits_per_sync", NULL, "commits /sync", BREAK },
	{ "wal_sync_mean_ns", NULL, "wal sync", 0 },
	{ "wal_bytes_per_transaction", NULL, "wal /tx", 0 },
	{ "wal_fpi_per_transaction", NULL, "images /tx", 0 },
	{ "flushes_per_sync", NULL, "flush /sync", 0 },
	{ "client_cpu_ns_per_transaction", NULL, "client CPU", 0 },
	{ "server_cpu_ns_per_transaction", NULL, "server CPU", 0 },
	{ "connect_ns", NULL, "connect", 0 },
	{ "ranked", NULL, NULL, FOLDED | HIDDEN },
	{ "steady", NULL, NULL, HIDDEN },
};

static const struct view_column statement_columns[] = {
	{ "target", NULL, NULL, KEY | FOLDED },
	{ "clients", NULL, NULL, KEY },
	{ "script", NULL, NULL, KEY | FOLDED },
	{ "number", NULL, NULL, 0 },
	{ "mean_ns", NULL, "mean", 0 },
	{ "failures", NULL, NULL, 0 },
	{ "command", NULL, NULL, 0 },
};

static const struct view_column runs_columns[] = {
	{ "target", NULL, NULL, KEY },
	{ "tool", NULL, NULL, FOLDED },
	{ "version", NULL, NULL, 0 },
	{ "machine", NULL, NULL, FOLDED },
	{ "input", NULL, NULL, FOLDED },
	{ "line", NULL, NULL, 0 },
	{ "started", NULL, NULL, 0 },
	{ "settings", NULL, NULL, FOLDED },
	{ "title", NULL, NULL, 0 },
	{ "command", NULL, NULL, HIDDEN },
};

static const struct view_column unknown_columns[] = {
	{ "input", NULL, NULL, KEY | FOLDED },
	{ "line", NULL, NULL, 0 },
	{ "text", NULL, NULL, 0 },
};

static const struct view views[] = {
	{ "runs", runs_columns, WP_COUNT(runs_columns) },
	{ "not_understood", unknown_columns, WP_COUNT(unknown_columns) },
	{ "ramp", ramp_columns, WP_COUNT(ramp_columns) },
	{ "statements", statement_columns, WP_COUNT(statement_columns) },
	{ "sync", sync_columns, WP_COUNT(sync_columns) },
	{ "append", append_columns, WP_COUNT(append_columns) },
	{ "io", io_columns, WP_COUNT(io_columns) },
	{ "methods", methods_columns, WP_COUNT(methods_columns) },
	{ "inspect", inspect_columns, WP_COUNT(inspect_columns) },
	{ "flush", flush_columns, WP_COUNT(flush_columns) },
};

static bool is_constant(const struct wp_table *table, size_t column)
{
	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_cell *cell = &table->rows[i]->cells[column];

		if (cell->state != WP_CELL_TEXT ||
			strcmp(cell->text, table->rows[0]->cells[column].text) != 0)
			return false;
	}
	return table->row_count > 1;
}

static void plan_add(
	struct wp_plan *plan, size_t column, int high, const char *heading, unsigned flags)
{
	plan->items = wp_xreallocarray(plan->items, plan->count + 1, sizeof(*plan->items));
	plan->items[plan->count++] = (struct wp_plan_item){
		.column = column,
		.high = high,
		.heading = heading,
		.flags = flags,
	};
	/* Keys lead; a text further right is a column as others. */
	if ((flags & KEY) && plan->key_count + 1 == plan->count && plan->key_count < KEY_LIMIT)
		plan->key_count++;
}

static bool has_view_column(const struct view *view, const char *key)
{
	for (size_t i = 0; i < view->count; i++)
		if (strcmp(view->columns[i].key, key) == 0)
			return true;
	return false;
}

/* Texts that the view does not know, but which tell rows apart. */
static void plan_unknown_texts(
	struct wp_plan *plan, const struct view *view, const struct wp_table *table)
{
	for (size_t j = 0; j < table->column_count; j++)
		if (table->columns[j].kind == WP_KIND_TEXT && !is_constant(table, j) &&
			!has_view_column(view, table->columns[j].key))
			plan_add(plan, j, -1, NULL, 0);
}

static void plan_view(
	struct wp_plan *plan, const struct view *view, const struct wp_table *table, char **folded)
{
	for (size_t i = 0; i < view->count; i++) {
		const struct view_column *wanted = &view->columns[i];
		int column = wp_table_column(table, wanted->key);
		int high = wanted->high ? wp_table_column(table, wanted->high) : -1;

		if (column < 0 || (wanted->high && high < 0) || wanted->flags == HIDDEN)
			continue;
		if ((wanted->flags & FOLDED) && is_constant(table, (size_t)column)) {
			wp_join(folded, ", ", wanted->heading ? wanted->heading : wanted->key);
			wp_join(folded, ": ", table->rows[0]->cells[column].text);
			continue;
		}
		if (!(wanted->flags & HIDDEN))
			plan_add(plan, (size_t)column, high, wanted->heading, wanted->flags);
	}
	plan_unknown_texts(plan, view, table);
}

static void plan_all(struct wp_plan *plan, const struct wp_table *table)
{
	for (size_t j = 0; j < table->column_count; j++)
		plan_add(plan, j, -1, NULL, table->columns[j].kind == WP_KIND_TEXT ? KEY : 0);
}

/* All times of a table in one unit where that is readable; else, and for sizes, by column. */
static void pick_scales(struct wp_plan *plan, const struct wp_table *table)
{
	size_t *times = wp_xcalloc(plan->count, sizeof(*times));
	struct wp_scale together = { .is_each = true };
	size_t count = 0;

	for (size_t i = 0; i < plan->count; i++)
		if (wp_column_has_unit(table, plan->items[i].column, "ns"))
			times[count++] = plan->items[i].column;
	if (count)
		together = wp_scale_pick(table, times, count);
	for (size_t i = 0; i < plan->count; i++) {
		struct wp_plan_item *item = &plan->items[i];

		item->scale = !together.is_each && wp_column_has_unit(table, item->column, "ns")
				      ? together
				      : wp_scale_pick(table, &item->column, 1);
	}
	free(times);
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text);
	size_t end_length = strlen(end);

	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* "p50 ms", "write kB"; rates say "/s" in their label, and a unit is never said twice. */
static char *heading_of(const struct wp_plan_item *item, const struct wp_table *table)
{
	const struct wp_column *column = &table->columns[item->column];
	const char *label = item->heading ? item->heading : column->label;

	if (!label || !*label)
		label = column->key;
	if (!*item->scale.unit || strcmp(item->scale.unit, "1/s") == 0 ||
		(!item->scale.is_duration && !item->scale.is_size &&
			(item->heading || ends_with(label, item->scale.unit))))
		return wp_xstrdup(label);
	return wp_xasprintf("%s %s", label, item->scale.unit);
}

static enum wp_align align_of(const struct wp_plan_item *item, const struct wp_table *table)
{
	if (table->columns[item->column].kind == WP_KIND_TEXT)
		return WP_ALIGN_LEFT;
	if (item->flags & YES_NO)
		return WP_ALIGN_LEFT;
	return item->high >= 0 || item->scale.is_each ? WP_ALIGN_RIGHT : WP_ALIGN_POINT;
}

static const char *format_item(const struct wp_plan_item *item, const struct wp_row *row,
	struct wp_notes *notes, char *out)
{
	const struct wp_cell *cell = &row->cells[item->column];

	if (item->high >= 0)
		return wp_cell_interval(cell, &row->cells[item->high], &item->scale, notes, out);
	if ((item->flags & YES_NO) && cell->state == WP_CELL_INT)
		return cell->integer ? "yes" : "no";
	return wp_cell_format(cell, &item->scale, notes, out);
}

static void fill_row(struct wp_grid *grid, const struct wp_plan *plan, const struct wp_row *row,
	struct wp_notes *notes)
{
	size_t at = wp_grid_add_row(grid);

	for (size_t i = 0; i < plan->count; i++) {
		char text[WP_CELL_SIZE];

		wp_grid_set(grid, at, i, format_item(&plan->items[i], row, notes, text));
	}
}

static void fill_plan(struct wp_plan *plan, const struct wp_table *table, struct wp_shown *shown)
{
	wp_plan_drop_empty(plan, table);
	pick_scales(plan, table);
	shown->grid.key_count = plan->key_count;
	for (size_t i = 0; i < plan->count; i++) {
		char *heading = heading_of(&plan->items[i], table);

		wp_grid_add_column(&shown->grid, heading, align_of(&plan->items[i], table));
		shown->grid.columns[i].is_break = plan->items[i].flags & BREAK;
		free(heading);
	}
	for (size_t i = 0; i < table->row_count; i++)
		if (!wp_missing_reason(plan, table->rows[i]))
			fill_row(&shown->grid, plan, table->rows[i], &shown->notes);
	for (size_t i = 0; i < table->row_count; i++)
		if (wp_missing_reason(plan, table->rows[i]))
			wp_missing_tell(plan, table, i, shown);
}

void wp_view_fill(const struct wp_result *result, const struct wp_table *table, bool has_all,
	struct wp_shown *shown)
{
	struct wp_plan plan = { .is_published =
					result->command && strcmp(result->command, "import") == 0 };

	*shown = (struct wp_shown){ .folded = wp_xstrdup("") };
	if (wp_prose_fill(result, table, has_all, shown))
		return;
	for (size_t i = 0; i < WP_COUNT(views); i++)
		if (strcmp(views[i].table, table->name) == 0)
			plan_view(&plan, &views[i], table, &shown->folded);
	if (!plan.count)
		plan_all(&plan, table);
	fill_plan(&plan, table, shown);
	free(plan.items);
}

/* Steps of several targets have been shown clients down, targets across. */
static bool leaves_out(const struct wp_table *table, bool has_all, size_t limit, FILE *stream)
{
	size_t target = (size_t)wp_table_column(table, "target");

	if (has_all || strcmp(table->name, "ramp") != 0 || table->row_count <= ROWS_MOST ||
		is_constant(table, target))
		return false;
	wp_wrap_print(stream, limit, INDENT, "",
		"-v shows each step with its interval, and what the server counted in it");
	return true;
}

void wp_view_print(const struct wp_result *result, const struct wp_table *table, bool has_all,
	size_t limit, FILE *stream)
{
	struct wp_shown shown;

	if (strcmp(table->name, "recommendation") == 0) {
		wp_recommendation_print(table, limit, stream);
		return;
	}
	if (strcmp(table->name, "cluster") == 0) {
		wp_cluster_print(table, limit, stream);
		return;
	}
	if (strcmp(table->name, "ramp") == 0)
		wp_ramp_print_across(result, table, limit, stream);
	if (leaves_out(table, has_all, limit, stream))
		return;
	wp_view_fill(result, table, has_all, &shown);
	if (*shown.folded)
		wp_wrap_print(stream, limit, INDENT, "", shown.folded);
	if (shown.grid.row_count)
		wp_grid_print(&shown.grid, limit, INDENT, stream);
	wp_notes_print(&shown.notes, limit, INDENT, stream);
	for (size_t i = 0; i < shown.line_count; i++)
		wp_wrap_print(stream, limit, INDENT, shown.lines[i].lead, shown.lines[i].text);
	wp_shown_release(&shown);
}
