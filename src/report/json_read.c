/* SPDX-License-Identifier: PostgreSQL */
/*
 * jansson checks the syntax; this file checks that the document says what a result says. The first
 * thing that is wrong is kept (reader.rc); after it every step is a no-op that yields harmless
 * values, so that the code below reads as the document is laid out.
 */
#include "json_place.h"
#include "number.h"
#include "walprobe/mem.h"
#include "walprobe/render.h"

#include <jansson.h>

/* Bounds on what a document may make us allocate; real ones stay far below. */
#define TABLE_LIMIT 1000
#define COLUMN_LIMIT 200

struct reader {
	const char *text;
	size_t length;
	const char *name;
	struct wp_err *err;
	struct wp_json_path path;
	int rc;
};

static void refuse(struct reader *r, const char *format, ...) WP_PRINTF(2, 3);

static void refuse(struct reader *r, const char *format, ...)
{
	char where[256];
	va_list args;
	char *what;
	size_t line;
	size_t column;

	if (r->rc)
		return;
	va_start(args, format);
	what = wp_xvasprintf(format, args);
	va_end(args);
	wp_json_place(r->text, r->length, &r->path, &line, &column);
	r->rc = wp_fail(r->err, WP_E_DATA, 0,
		"could not read \"%s\" as a result document: line %zu, column %zu: %s", r->name,
		line, column, what);
	if (r->path.depth)
		wp_err_detail(r->err, "The place in the document is %s.",
			wp_json_path_format(&r->path, where, sizeof(where)));
	free(what);
}

static void enter_key(struct reader *r, const char *key)
{
	assert(r->path.depth < WP_JSON_DEPTH);
	r->path.steps[r->path.depth++] = (struct wp_json_step){ .key = key };
}

static void enter_index(struct reader *r, size_t index)
{
	assert(r->path.depth < WP_JSON_DEPTH);
	r->path.steps[r->path.depth++] = (struct wp_json_step){ .index = index };
}

static void leave(struct reader *r)
{
	r->path.depth--;
}

static void want_object(struct reader *r, const json_t *value)
{
	if (!json_is_object(value))
		refuse(r, "an object is expected here");
}

/* The member, which must be there and may be null; NULL after a refusal. */
static const json_t *member(struct reader *r, const json_t *object, const char *key)
{
	const json_t *value = r->rc ? NULL : json_object_get(object, key);

	if (!value)
		refuse(r, "\"%.100s\" is missing", key);
	return value;
}

/* A member that is a string or null (NULL). */
static const char *text_or_null(struct reader *r, const json_t *object, const char *key)
{
	const json_t *value = member(r, object, key);

	if (!value || json_is_null(value))
		return NULL;
	enter_key(r, key);
	if (!json_is_string(value))
		refuse(r, "\"%s\" must be a string or null", key);
	leave(r);
	return json_string_value(value);
}

static const char *text(struct reader *r, const json_t *object, const char *key)
{
	const json_t *value = member(r, object, key);

	enter_key(r, key);
	if (value && !json_is_string(value))
		refuse(r, "\"%s\" must be a string", key);
	leave(r);
	return json_is_string(value) ? json_string_value(value) : "";
}

/* true, false or null as 1, 0, -1. */
static int tristate(struct reader *r, const json_t *object, const char *key)
{
	const json_t *value = member(r, object, key);

	if (!value || json_is_null(value))
		return -1;
	enter_key(r, key);
	if (!json_is_boolean(value))
		refuse(r, "\"%s\" must be true, false or null", key);
	leave(r);
	return json_is_true(value);
}

/* Call one() for every element of the array object[key], the path pointing at it. */
static void each(struct reader *r, const json_t *object, const char *key,
	void (*one)(struct reader *r, const json_t *value, void *argument), void *argument)
{
	const json_t *array = member(r, object, key);

	enter_key(r, key);
	if (!json_is_array(array))
		refuse(r, "\"%s\" must be an array", key);
	for (size_t i = 0; !r->rc && i < json_array_size(array); i++) {
		enter_index(r, i);
		one(r, json_array_get(array, i), argument);
		leave(r);
	}
	leave(r);
}

static void read_argument(struct reader *r, const json_t *value, void *argument)
{
	if (!json_is_string(value))
		refuse(r, "a word of \"argv\" must be a string");
	else
		wp_result_add_argument(argument, json_string_value(value));
}

static void read_environment(struct reader *r, const json_t *value, void *argument)
{
	const char *key;
	const char *fact;
	const char *source;

	want_object(r, value);
	key = text(r, value, "key");
	fact = text_or_null(r, value, "value");
	source = text_or_null(r, value, "source");
	if (!r->rc)
		wp_result_add_environment(argument, key, fact, source);
}

static void read_parameter(struct reader *r, const json_t *value, void *argument)
{
	char number[WP_NUMBER_SIZE];
	const char *fact = NULL;
	const json_t *given;
	const char *source;
	const char *key;
	enum wp_kind kind = WP_KIND_TEXT;

	want_object(r, value);
	key = text(r, value, "key");
	given = member(r, value, "value");
	source = text_or_null(r, value, "source");
	if (json_is_integer(given)) {
		kind = WP_KIND_INT;
		(void)snprintf(
			number, sizeof(number), "%" PRId64, (int64_t)json_integer_value(given));
		fact = number;
	} else if (json_is_real(given)) {
		kind = WP_KIND_REAL;
		fact = wp_number_real(json_real_value(given), number);
	} else if (json_is_string(given)) {
		fact = json_string_value(given);
	} else if (!json_is_null(given)) {
		enter_key(r, "value");
		refuse(r, "\"value\" must be a number, a string or null");
		leave(r);
	}
	if (!r->rc)
		wp_result_add_parameter(argument, key, fact, kind, source);
}

static void read_device(struct reader *r, const json_t *value, void *argument)
{
	const char *write_cache;
	const char *name;
	int is_rotational;
	int is_fua;

	want_object(r, value);
	name = text(r, value, "name");
	write_cache = text_or_null(r, value, "write_cache");
	is_fua = tristate(r, value, "fua");
	is_rotational = tristate(r, value, "rotational");
	if (!r->rc)
		wp_target_info_add_device(argument, name, write_cache, is_fua, is_rotational);
}

static void read_target(struct reader *r, const json_t *value, void *argument)
{
	struct wp_target_info *target;
	const char *mount_options;
	const char *fstype;
	const char *label;
	const char *path;

	want_object(r, value);
	label = text(r, value, "label");
	path = text_or_null(r, value, "path");
	fstype = text_or_null(r, value, "fstype");
	mount_options = text_or_null(r, value, "mount_options");
	if (r->rc)
		return;
	target = wp_result_add_target(argument, label);
	wp_target_info_set(target, path, fstype, mount_options);
	each(r, value, "device", read_device, target);
}

static void read_check(struct reader *r, const json_t *value, void *argument)
{
	const char *expected;
	const char *observed;
	const char *sentence;
	const char *target;
	const char *id;
	int status;

	want_object(r, value);
	id = text(r, value, "id");
	target = text_or_null(r, value, "target");
	status = wp_check_status_parse(text(r, value, "status"));
	expected = text_or_null(r, value, "expected");
	observed = text_or_null(r, value, "observed");
	sentence = text_or_null(r, value, "text");
	if (status < 0) {
		enter_key(r, "status");
		refuse(r, "\"status\" must be one of pass, fail, unknown, info");
		leave(r);
	}
	if (!r->rc)
		wp_result_add_check(argument, id, target, (enum wp_check_status)status, expected,
			observed, sentence);
}

/* ---- tables --------------------------------------------------------------------------------- */

struct columns {
	struct wp_column items[COLUMN_LIMIT]; /* strings borrowed from the JSON tree */
	size_t count;
};

static void check_key(struct reader *r, const struct columns *columns, const char *key)
{
	enter_key(r, "key");
	if (!*key || strcmp(key, "absent") == 0)
		refuse(r, "\"%s\" cannot be the key of a column", key);
	for (size_t i = 0; i < columns->count; i++)
		if (strcmp(columns->items[i].key, key) == 0)
			refuse(r, "two columns have the key \"%.100s\"", key);
	leave(r);
}

static void read_column(struct reader *r, const json_t *value, void *argument)
{
	struct columns *columns = argument;
	struct wp_column column;
	int kind;

	want_object(r, value);
	column.key = text(r, value, "key");
	column.label = text(r, value, "label");
	column.unit = text(r, value, "unit");
	kind = wp_kind_parse(text(r, value, "kind"));
	column.meaning = text(r, value, "meaning");
	if (kind < 0) {
		enter_key(r, "kind");
		refuse(r, "\"kind\" must be one of int, real, text");
		leave(r);
	}
	if (!r->rc)
		check_key(r, columns, column.key);
	if (columns->count == COLUMN_LIMIT)
		refuse(r, "a table may have %d columns", COLUMN_LIMIT);
	if (r->rc)
		return;
	column.kind = (enum wp_kind)kind;
	columns->items[columns->count++] = column;
}

/* The reason why row[key] is null; NULL when none is given. */
static const char *reason(struct reader *r, const json_t *row, const char *key)
{
	const json_t *reasons = json_object_get(row, "absent");
	const json_t *value = json_object_get(reasons, key);

	if (!reasons)
		return NULL;
	enter_key(r, "absent");
	if (!json_is_object(reasons))
		refuse(r, "\"absent\" must be an object");
	enter_key(r, key);
	if (value && !json_is_string(value))
		refuse(r, "the reason why \"%.100s\" is absent must be a string", key);
	leave(r);
	leave(r);
	return json_string_value(value);
}

static void read_cell(struct reader *r, const json_t *json_row, struct wp_row *row,
	const struct wp_column *column)
{
	const json_t *value = member(r, json_row, column->key);
	const char *why = reason(r, json_row, column->key);

	enter_key(r, column->key);
	if (r->rc) {
		/* refused already */
	} else if (json_is_null(value)) {
		wp_row_absent(row, column->key, why);
	} else if (why) {
		refuse(r, "\"%.100s\" has a value and a reason for having none", column->key);
	} else if (column->kind == WP_KIND_TEXT) {
		if (json_is_string(value))
			wp_row_text(row, column->key, json_string_value(value));
		else
			refuse(r, "\"%.100s\" must be a string or null", column->key);
	} else if (column->kind == WP_KIND_INT && json_is_integer(value)) {
		wp_row_int(row, column->key, json_integer_value(value));
	} else if (column->kind == WP_KIND_REAL && json_is_number(value)) {
		/* A whole number in a column of reals is one of them. */
		wp_row_real(row, column->key, json_number_value(value));
	} else {
		refuse(r, "\"%.100s\" must be %s or null", column->key,
			column->kind == WP_KIND_INT ? "an integer" : "a number");
	}
	leave(r);
}

static void read_row(struct reader *r, const json_t *value, void *argument)
{
	struct wp_table *table = argument;
	struct wp_row *row;

	want_object(r, value);
	if (r->rc)
		return;
	row = wp_table_add_row(table);
	for (size_t i = 0; !r->rc && i < table->column_count; i++)
		read_cell(r, value, row, &table->columns[i]);
}

static void read_table(struct reader *r, const json_t *value, void *argument)
{
	struct columns *columns = wp_xcalloc(1, sizeof(*columns));
	struct wp_result *result = argument;
	const char *title;
	const char *name;

	want_object(r, value);
	name = text(r, value, "name");
	title = text(r, value, "title");
	if (!r->rc && wp_result_find_table(result, name)) {
		enter_key(r, "name");
		refuse(r, "two tables have the name \"%.100s\"", name);
		leave(r);
	}
	if (result->table_count == TABLE_LIMIT)
		refuse(r, "a document may have %d tables", TABLE_LIMIT);
	each(r, value, "columns", read_column, columns);
	if (!r->rc && !columns->count)
		refuse(r, "table \"%.100s\" has no columns", name);
	if (!r->rc)
		each(r, value, "rows", read_row,
			wp_result_table(result, name, title, columns->items, columns->count));
	free(columns);
}

/* ---- the document --------------------------------------------------------------------------- */

static void check_format(struct reader *r, const json_t *root)
{
	const json_t *schema;

	want_object(r, root);
	if (strcmp(text(r, root, "format"), "walprobe") != 0) {
		enter_key(r, "format");
		refuse(r, "\"format\" must be \"walprobe\"");
		leave(r);
		wp_err_hint(r->err, "Give a document that a measuring command wrote with --save "
				    "or --format json.");
	}
	schema = member(r, root, "schema");
	enter_key(r, "schema");
	if (!json_is_integer(schema) || json_integer_value(schema) < 1)
		refuse(r, "\"schema\" must be an integer of 1 or more");
	if (!r->rc && json_integer_value(schema) > WP_RESULT_SCHEMA) {
		refuse(r, "schema %" PRId64 " is newer than this walprobe knows (%d)",
			(int64_t)json_integer_value(schema), WP_RESULT_SCHEMA);
		wp_err_hint(r->err, "Read it with the walprobe that wrote it, or a newer one.");
	}
	leave(r);
}

static struct wp_result *read_document(struct reader *r, const json_t *root)
{
	struct wp_result *result;
	const char *command;
	const char *started;
	const char *version;
	int is_complete;

	check_format(r, root);
	version = text(r, root, "version");
	command = text(r, root, "command");
	started = text_or_null(r, root, "started");
	is_complete = tristate(r, root, "complete");
	if (!r->rc && is_complete < 0)
		refuse(r, "\"complete\" must be true or false");
	if (r->rc)
		return NULL;
	result = wp_result_new(command);
	free(result->version);
	result->version = wp_xstrdup(version);
	result->started = wp_xstrdup(started);
	result->is_complete = is_complete;
	each(r, root, "argv", read_argument, result);
	each(r, root, "environment", read_environment, result);
	each(r, root, "parameters", read_parameter, result);
	each(r, root, "targets", read_target, result);
	each(r, root, "tables", read_table, result);
	each(r, root, "checks", read_check, result);
	return result;
}

int wp_result_read_json(const char *document, size_t length, const char *name,
	struct wp_result **out, struct wp_err *err)
{
	struct reader r = { .text = document, .length = length, .name = name, .err = err };
	struct wp_result *result;
	json_error_t where;
	json_t *root;

	if (length > WP_DOCUMENT_LIMIT_BYTES)
		return wp_fail(err, WP_E_DATA, 0,
			"could not read \"%s\" as a result document: it is longer than %zu bytes",
			name, WP_DOCUMENT_LIMIT_BYTES);
	root = json_loadb(document, length, JSON_REJECT_DUPLICATES, &where);
	if (!root)
		return wp_fail(err, WP_E_DATA, 0,
			"could not read \"%s\" as JSON: line %d, column %d: %s", name, where.line,
			where.column, where.text);
	result = read_document(&r, root);
	json_decref(root);
	if (r.rc) {
		wp_result_free(result);
		return r.rc;
	}
	*out = result;
	return 0;
}
