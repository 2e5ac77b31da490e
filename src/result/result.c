/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/mem.h"
#include "walprobe/result.h"

#include <math.h>

struct wp_result *wp_result_new(const char *command)
{
	struct wp_result *result = wp_xcalloc(1, sizeof(*result));

	result->version = wp_xstrdup(WP_VERSION);
	result->command = wp_xstrdup(command);
	result->is_complete = true;
	return result;
}

static void free_facts(struct wp_fact *facts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(facts[i].key);
		free(facts[i].value);
		free(facts[i].source);
	}
	free(facts);
}

static void free_target(struct wp_target_info *target)
{
	for (size_t i = 0; i < target->device_count; i++) {
		free(target->devices[i].name);
		free(target->devices[i].write_cache);
	}
	free(target->devices);
	free(target->label);
	free(target->path);
	free(target->fstype);
	free(target->mount_options);
	free(target);
}

static void free_column(struct wp_column *column)
{
	/* The table owns the copies behind these const pointers. */
	free((void *)(uintptr_t)column->key);
	free((void *)(uintptr_t)column->label);
	free((void *)(uintptr_t)column->unit);
	free((void *)(uintptr_t)column->meaning);
}

static void free_table(struct wp_table *table)
{
	for (size_t i = 0; i < table->row_count; i++) {
		for (size_t j = 0; j < table->column_count; j++)
			free(table->rows[i]->cells[j].text);
		free(table->rows[i]->cells);
		free(table->rows[i]);
	}
	for (size_t j = 0; j < table->column_count; j++)
		free_column(&table->columns[j]);
	free(table->rows);
	free(table->columns);
	free(table->name);
	free(table->title);
	free(table);
}

static void free_checks(struct wp_check *checks, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(checks[i].id);
		free(checks[i].target);
		free(checks[i].expected);
		free(checks[i].observed);
		free(checks[i].text);
	}
	free(checks);
}

void wp_result_free(struct wp_result *result)
{
	if (!result)
		return;
	for (size_t i = 0; i < result->argc; i++)
		free(result->argv[i]);
	for (size_t i = 0; i < result->target_count; i++)
		free_target(result->targets[i]);
	for (size_t i = 0; i < result->table_count; i++)
		free_table(result->tables[i]);
	free_facts(result->environment, result->environment_count);
	free_facts(result->parameters, result->parameter_count);
	free_checks(result->checks, result->check_count);
	free(result->argv);
	free(result->targets);
	free(result->tables);
	free(result->version);
	free(result->command);
	free(result->started);
	free(result);
}

/* One more element at the end of an array; returns it zeroed. */
static void *grow(void *array_pointer, size_t *count, size_t size)
{
	void *array;
	char *element;

	memcpy(&array, array_pointer, sizeof(array));
	array = wp_xreallocarray(array, *count + 1, size);
	memcpy(array_pointer, &array, sizeof(array));
	element = (char *)array + *count * size;
	memset(element, 0, size);
	(*count)++;
	return element;
}

void wp_result_add_argument(struct wp_result *result, const char *word)
{
	char **slot = grow(&result->argv, &result->argc, sizeof(*slot));

	*slot = wp_xstrdup(word);
}

static void add_fact(struct wp_fact **facts, size_t *count, const char *key, const char *value,
	enum wp_kind kind, const char *source)
{
	struct wp_fact *fact = grow(facts, count, sizeof(*fact));

	fact->key = wp_xstrdup(key);
	fact->value = wp_xstrdup(value);
	fact->source = wp_xstrdup(source);
	fact->kind = kind;
}

void wp_result_add_environment(
	struct wp_result *result, const char *key, const char *value, const char *source)
{
	add_fact(
		&result->environment, &result->environment_count, key, value, WP_KIND_TEXT, source);
}

void wp_result_add_parameter(struct wp_result *result, const char *key, const char *value,
	enum wp_kind kind, const char *source)
{
	add_fact(&result->parameters, &result->parameter_count, key, value, kind, source);
}

void wp_result_set_parameter(struct wp_result *result, const char *key, const char *value,
	enum wp_kind kind, const char *source)
{
	for (size_t i = 0; i < result->parameter_count; i++) {
		struct wp_fact *fact = &result->parameters[i];

		if (strcmp(fact->key, key) != 0)
			continue;
		free(fact->value);
		free(fact->source);
		fact->value = wp_xstrdup(value);
		fact->source = wp_xstrdup(source);
		fact->kind = kind;
		return;
	}
	wp_result_add_parameter(result, key, value, kind, source);
}

const char *wp_result_parameter(const struct wp_result *result, const char *key)
{
	for (size_t i = 0; i < result->parameter_count; i++)
		if (strcmp(result->parameters[i].key, key) == 0)
			return result->parameters[i].value;
	return NULL;
}

struct wp_target_info *wp_result_add_target(struct wp_result *result, const char *label)
{
	struct wp_target_info **slot = grow(&result->targets, &result->target_count, sizeof(*slot));

	*slot = wp_xcalloc(1, sizeof(**slot));
	(*slot)->label = wp_xstrdup(label);
	return *slot;
}

void wp_target_info_set(struct wp_target_info *target, const char *path, const char *fstype,
	const char *mount_options)
{
	free(target->path);
	free(target->fstype);
	free(target->mount_options);
	target->path = wp_xstrdup(path);
	target->fstype = wp_xstrdup(fstype);
	target->mount_options = wp_xstrdup(mount_options);
}

void wp_target_info_add_device(struct wp_target_info *target, const char *name,
	const char *write_cache, int is_fua, int is_rotational)
{
	struct wp_device *device = grow(&target->devices, &target->device_count, sizeof(*device));

	device->name = wp_xstrdup(name);
	device->write_cache = wp_xstrdup(write_cache);
	device->is_fua = is_fua;
	device->is_rotational = is_rotational;
}

static struct wp_column copy_column(const struct wp_column *column)
{
	return (struct wp_column){
		.key = wp_xstrdup(column->key),
		.label = wp_xstrdup(column->label),
		.unit = wp_xstrdup(column->unit),
		.kind = column->kind,
		.meaning = wp_xstrdup(column->meaning),
	};
}

struct wp_table *wp_result_table(struct wp_result *result, const char *name, const char *title,
	const struct wp_column *columns, size_t column_count)
{
	struct wp_table **slot;
	struct wp_table *table;

	for (size_t i = 0; i < result->table_count; i++)
		if (strcmp(result->tables[i]->name, name) == 0)
			return result->tables[i];
	table = wp_xcalloc(1, sizeof(*table));
	slot = grow(&result->tables, &result->table_count, sizeof(*slot));
	*slot = table;
	table->name = wp_xstrdup(name);
	table->title = wp_xstrdup(title);
	table->columns = wp_xcalloc(column_count, sizeof(*table->columns));
	table->column_count = column_count;
	for (size_t i = 0; i < column_count; i++)
		table->columns[i] = copy_column(&columns[i]);
	return table;
}

const struct wp_table *wp_result_find_table(const struct wp_result *result, const char *name)
{
	for (size_t i = 0; i < result->table_count; i++)
		if (strcmp(result->tables[i]->name, name) == 0)
			return result->tables[i];
	return NULL;
}

struct wp_row *wp_table_add_row(struct wp_table *table)
{
	struct wp_row **slot = grow(&table->rows, &table->row_count, sizeof(*slot));

	*slot = wp_xcalloc(1, sizeof(**slot));
	(*slot)->table = table;
	(*slot)->cells = wp_xcalloc(table->column_count, sizeof(*(*slot)->cells));
	return *slot;
}

int wp_table_column(const struct wp_table *table, const char *key)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (strcmp(table->columns[i].key, key) == 0)
			return (int)i;
	return -1;
}

/* A document with a cell of another kind than its column's could not be read back. */
static struct wp_cell *clear_cell(struct wp_row *row, const char *key, enum wp_kind kind)
{
	int column = wp_table_column(row->table, key);
	struct wp_cell *cell;

	assert(column >= 0 && row->table->columns[column].kind == kind);
	(void)kind;
	cell = &row->cells[column];
	free(cell->text);
	memset(cell, 0, sizeof(*cell));
	return cell;
}

void wp_row_int(struct wp_row *row, const char *key, int64_t value)
{
	struct wp_cell *cell = clear_cell(row, key, WP_KIND_INT);

	cell->state = WP_CELL_INT;
	cell->integer = value;
}

void wp_row_real(struct wp_row *row, const char *key, double value)
{
	struct wp_cell *cell = clear_cell(row, key, WP_KIND_REAL);

	if (!isfinite(value))
		return;
	cell->state = WP_CELL_REAL;
	cell->real = value;
}

void wp_row_text(struct wp_row *row, const char *key, const char *value)
{
	struct wp_cell *cell = clear_cell(row, key, WP_KIND_TEXT);

	if (!value)
		return;
	cell->state = WP_CELL_TEXT;
	cell->text = wp_xstrdup(value);
}

void wp_row_absent(struct wp_row *row, const char *key, const char *reason)
{
	int column = wp_table_column(row->table, key);

	assert(column >= 0);
	clear_cell(row, key, row->table->columns[column].kind)->text = wp_xstrdup(reason);
}

const struct wp_cell *wp_row_cell(const struct wp_row *row, const char *key)
{
	static const struct wp_cell nothing = { .state = WP_CELL_ABSENT };
	int column = wp_table_column(row->table, key);

	return column < 0 ? &nothing : &row->cells[column];
}

const char *wp_row_get_text(const struct wp_row *row, const char *key)
{
	const struct wp_cell *cell = wp_row_cell(row, key);

	return cell->state == WP_CELL_TEXT ? cell->text : "";
}

double wp_row_get_number(const struct wp_row *row, const char *key)
{
	const struct wp_cell *cell = wp_row_cell(row, key);

	if (cell->state == WP_CELL_INT)
		return (double)cell->integer;
	return cell->state == WP_CELL_REAL ? cell->real : (double)NAN;
}

void wp_result_add_check(struct wp_result *result, const char *id, const char *target,
	enum wp_check_status status, const char *expected, const char *observed, const char *text)
{
	struct wp_check *check = grow(&result->checks, &result->check_count, sizeof(*check));

	check->id = wp_xstrdup(id);
	check->target = wp_xstrdup(target);
	check->status = status;
	check->expected = wp_xstrdup(expected);
	check->observed = wp_xstrdup(observed);
	check->text = wp_xstrdup(text);
}

bool wp_result_has_failed_check(const struct wp_result *result)
{
	for (size_t i = 0; i < result->check_count; i++)
		if (result->checks[i].status == WP_CHECK_FAIL)
			return true;
	return false;
}

static const char *const status_names[] = { "pass", "fail", "unknown", "info" };
static const char *const kind_names[] = { "int", "real", "text" };

static int find_name(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return (int)i;
	return -1;
}

const char *wp_check_status_name(enum wp_check_status status)
{
	return status_names[status];
}

int wp_check_status_parse(const char *name)
{
	return find_name(status_names, WP_COUNT(status_names), name);
}

const char *wp_kind_name(enum wp_kind kind)
{
	return kind_names[kind];
}

int wp_kind_parse(const char *name)
{
	return find_name(kind_names, WP_COUNT(kind_names), name);
}
