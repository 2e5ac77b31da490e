/* SPDX-License-Identifier: PostgreSQL */
/*
 * The writer is ours and not jansson's, because jansson prints all reals of a document with one
 * number of digits (17 for an exact round trip, so 6383.3 becomes 6383.3000000000002), refuses
 * strings that are not UTF-8 (a path may be any bytes), and cannot put one row on one line, which
 * keeps saved documents readable and their differences small. Tests read it back with jansson.
 */
#include "number.h"
#include "utf8.h"
#include "walprobe/render.h"

static void put_string(FILE *stream, const char *text)
{
	static const char letters[] = "btnvfr"; /* of \x08 to \x0d */
	char bytes[4];
	uint32_t code;

	putc('"', stream);
	while (*text) {
		text += wp_utf8_next(text, &code);
		if (code == '"' || code == '\\')
			fprintf(stream, "\\%c", (int)code);
		else if (code >= 0x08 && code <= 0x0D && code != 0x0B)
			fprintf(stream, "\\%c", letters[code - 0x08]);
		else if (code < 0x20)
			fprintf(stream, "\\u%04x", (unsigned)code);
		else
			(void)fwrite(bytes, 1, wp_utf8_put(code, bytes), stream);
	}
	putc('"', stream);
}

static void put_value(FILE *stream, const char *text)
{
	if (text)
		put_string(stream, text);
	else
		fputs("null", stream);
}

/* One member of an object on one line; lead is "{" for the first. */
static void put_member(FILE *stream, const char *lead, const char *key, const char *text)
{
	fprintf(stream, "%s\"%s\": ", lead, key);
	put_value(stream, text);
}

static const char *separator(size_t i, size_t count)
{
	return i + 1 < count ? ",\n" : "\n";
}

static void put_fact(FILE *stream, const struct wp_fact *fact)
{
	char number[WP_NUMBER_SIZE];
	bool is_number;
	const char *value = wp_number_fact(fact, number, &is_number);

	put_member(stream, "    {", "key", fact->key);
	fputs(", \"value\": ", stream);
	if (is_number)
		fputs(value, stream);
	else
		put_value(stream, value);
	put_member(stream, ", ", "source", fact->source);
	putc('}', stream);
}

static void put_facts(FILE *stream, const char *name, const struct wp_fact *facts, size_t count)
{
	fprintf(stream, "  \"%s\": [\n", name);
	for (size_t i = 0; i < count; i++) {
		put_fact(stream, &facts[i]);
		fputs(separator(i, count), stream);
	}
	fputs("  ],\n", stream);
}

static const char *tristate(int value)
{
	return value < 0 ? "null" : value ? "true" : "false";
}

static void put_target(FILE *stream, const struct wp_target_info *target)
{
	put_member(stream, "    {", "label", target->label);
	put_member(stream, ", ", "path", target->path);
	put_member(stream, ", ", "fstype", target->fstype);
	put_member(stream, ", ", "mount_options", target->mount_options);
	fputs(", \"device\": [", stream);
	for (size_t i = 0; i < target->device_count; i++) {
		const struct wp_device *device = &target->devices[i];

		put_member(stream, i ? ", {" : "{", "name", device->name);
		put_member(stream, ", ", "write_cache", device->write_cache);
		fprintf(stream, ", \"fua\": %s, \"rotational\": %s}", tristate(device->is_fua),
			tristate(device->is_rotational));
	}
	fputs("]}", stream);
}

static void put_cell(FILE *stream, const struct wp_cell *cell)
{
	char number[WP_NUMBER_SIZE];

	switch (cell->state) {
	case WP_CELL_ABSENT:
		fputs("null", stream);
		break;
	case WP_CELL_INT:
		fprintf(stream, "%" PRId64, cell->integer);
		break;
	case WP_CELL_REAL:
		fputs(wp_number_real(cell->real, number), stream);
		break;
	case WP_CELL_TEXT:
		put_string(stream, cell->text);
		break;
	}
}

static void put_reasons(FILE *stream, const struct wp_row *row)
{
	const char *lead = ", \"absent\": {";

	for (size_t i = 0; i < row->table->column_count; i++) {
		const struct wp_cell *cell = &row->cells[i];

		if (cell->state != WP_CELL_ABSENT || !cell->text)
			continue;
		fputs(lead, stream);
		put_string(stream, row->table->columns[i].key);
		fputs(": ", stream);
		put_string(stream, cell->text);
		lead = ", ";
	}
	if (strcmp(lead, ", ") == 0)
		putc('}', stream);
}

static void put_row(FILE *stream, const struct wp_row *row)
{
	fputs("        {", stream);
	for (size_t i = 0; i < row->table->column_count; i++) {
		fputs(i ? ", " : "", stream);
		put_string(stream, row->table->columns[i].key);
		fputs(": ", stream);
		put_cell(stream, &row->cells[i]);
	}
	put_reasons(stream, row);
	putc('}', stream);
}

static void put_column(FILE *stream, const struct wp_column *column)
{
	put_member(stream, "        {", "key", column->key);
	put_member(stream, ", ", "label", column->label ? column->label : "");
	put_member(stream, ", ", "unit", column->unit ? column->unit : "");
	put_member(stream, ", ", "kind", wp_kind_name(column->kind));
	put_member(stream, ", ", "meaning", column->meaning ? column->meaning : "");
	putc('}', stream);
}

static void put_table(FILE *stream, const struct wp_table *table)
{
	put_member(stream, "    {\n      ", "name", table->name);
	put_member(stream, ",\n      ", "title", table->title ? table->title : "");
	fputs(",\n      \"columns\": [\n", stream);
	for (size_t i = 0; i < table->column_count; i++) {
		put_column(stream, &table->columns[i]);
		fputs(separator(i, table->column_count), stream);
	}
	fputs("      ],\n      \"rows\": [\n", stream);
	for (size_t i = 0; i < table->row_count; i++) {
		put_row(stream, table->rows[i]);
		fputs(separator(i, table->row_count), stream);
	}
	fputs("      ]\n    }", stream);
}

static void put_check(FILE *stream, const struct wp_check *check)
{
	put_member(stream, "    {", "id", check->id);
	put_member(stream, ", ", "target", check->target);
	put_member(stream, ", ", "status", wp_check_status_name(check->status));
	put_member(stream, ", ", "expected", check->expected);
	put_member(stream, ", ", "observed", check->observed);
	put_member(stream, ", ", "text", check->text);
	putc('}', stream);
}

static void put_head(FILE *stream, const struct wp_result *result)
{
	fprintf(stream, "{\n  \"format\": \"walprobe\",\n  \"schema\": %d", WP_RESULT_SCHEMA);
	put_member(stream, ",\n  ", "version", result->version);
	put_member(stream, ",\n  ", "command", result->command);
	fputs(",\n  \"argv\": [", stream);
	for (size_t i = 0; i < result->argc; i++) {
		fputs(i ? ", " : "", stream);
		put_string(stream, result->argv[i]);
	}
	put_member(stream, "],\n  ", "started", result->started);
	fprintf(stream, ",\n  \"complete\": %s,\n", result->is_complete ? "true" : "false");
}

void wp_render_json(
	const struct wp_result *result, const struct wp_render_options *options, FILE *stream)
{
	(void)options;
	put_head(stream, result);
	put_facts(stream, "environment", result->environment, result->environment_count);
	put_facts(stream, "parameters", result->parameters, result->parameter_count);
	fputs("  \"targets\": [\n", stream);
	for (size_t i = 0; i < result->target_count; i++) {
		put_target(stream, result->targets[i]);
		fputs(separator(i, result->target_count), stream);
	}
	fputs("  ],\n  \"tables\": [\n", stream);
	for (size_t i = 0; i < result->table_count; i++) {
		put_table(stream, result->tables[i]);
		fputs(separator(i, result->table_count), stream);
	}
	fputs("  ],\n  \"checks\": [\n", stream);
	for (size_t i = 0; i < result->check_count; i++) {
		put_check(stream, &result->checks[i]);
		fputs(separator(i, result->check_count), stream);
	}
	fputs("  ]\n}\n", stream);
}
