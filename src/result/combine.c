/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/combine.h"
#include "walprobe/mem.h"

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

const char *wp_part_environment(const struct wp_part *part, const char *key)
{
	const struct wp_result *result = part->result;

	if (is_same(result->command, "import"))
		return NULL;
	for (size_t i = 0; i < result->environment_count; i++)
		if (strcmp(result->environment[i].key, key) == 0)
			return result->environment[i].value;
	return NULL;
}

void wp_parts_release(struct wp_part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		wp_result_free(parts[i].result);
		free(parts[i].name);
		parts[i] = (struct wp_part){ 0 };
	}
}

/* ---- names ----------------------------------------------------------------------------------- */

/* "db1" of "/srv/db1.json"; the caller frees. */
static char *stem(const char *file)
{
	const char *base = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
	size_t length = strlen(base);

	if (length > 5 && strcmp(base + length - 5, ".json") == 0)
		length -= 5;
	if (strcmp(base, "-") == 0)
		return wp_xstrdup("standard input");
	return wp_xstrndup(base, length);
}

static bool are_hosts_distinct(const struct wp_part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *host = wp_part_environment(&parts[i], "host");

		if (!host || !*host)
			return false;
		for (size_t k = 0; k < i; k++)
			if (is_same(host, wp_part_environment(&parts[k], "host")))
				return false;
	}
	return true;
}

static bool is_name_taken(const struct wp_part *parts, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (is_same(parts[i].name, name))
			return true;
	return false;
}

static void name_parts(struct wp_part *parts, size_t count)
{
	bool has_hosts = are_hosts_distinct(parts, count);

	for (size_t i = 0; i < count; i++) {
		char *plain = has_hosts ? wp_xstrdup(wp_part_environment(&parts[i], "host"))
					: stem(parts[i].file);
		char *name = wp_xstrdup(plain);

		for (size_t n = 2; is_name_taken(parts, i, name); n++) {
			free(name);
			name = wp_xasprintf("%s#%zu", plain, n);
		}
		free(plain);
		parts[i].name = name;
	}
}

/* ---- labels ---------------------------------------------------------------------------------- */

static bool has_label(const struct wp_result *result, const char *label)
{
	for (size_t i = 0; i < result->target_count; i++)
		if (is_same(result->targets[i]->label, label))
			return true;
	return false;
}

static bool do_labels_collide(const struct wp_part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < i; k++)
			for (size_t t = 0; t < parts[i].result->target_count; t++)
				if (has_label(parts[k].result, parts[i].result->targets[t]->label))
					return true;
	return false;
}

static void prefix(char **text, const char *name)
{
	char *longer = wp_xasprintf("%s: %s", name, *text);

	free(*text);
	*text = longer;
}

static void prefix_column(const struct wp_result *result, const struct wp_table *table,
	const char *key, const char *name)
{
	int column = wp_table_column(table, key);

	for (size_t i = 0; column >= 0 && i < table->row_count; i++) {
		struct wp_cell *cell = &table->rows[i]->cells[column];

		if (cell->state == WP_CELL_TEXT && has_label(result, cell->text))
			prefix(&cell->text, name);
	}
}

/* A sentence that was written with the old labels would contradict its row. */
static void drop_sentences(const struct wp_table *table)
{
	int column = wp_table_column(table, "sentence");

	for (size_t i = 0; column >= 0 && i < table->row_count; i++)
		if (table->rows[i]->cells[column].state == WP_CELL_TEXT)
			wp_row_absent(table->rows[i], "sentence",
				"the targets have other labels in the combined document");
}

static void relabel(struct wp_part *part)
{
	struct wp_result *result = part->result;

	for (size_t i = 0; i < result->table_count; i++) {
		const struct wp_table *table = result->tables[i];

		prefix_column(result, table, "target", part->name);
		if (strcmp(table->name, "comparison") != 0)
			continue;
		prefix_column(result, table, "a", part->name);
		prefix_column(result, table, "b", part->name);
		drop_sentences(table);
	}
	for (size_t i = 0; i < result->check_count; i++)
		if (has_label(result, result->checks[i].target))
			prefix(&result->checks[i].target, part->name);
	/* Last: it is by them that labels are known. */
	for (size_t i = 0; i < result->target_count; i++)
		prefix(&result->targets[i]->label, part->name);
}

void wp_parts_label(struct wp_part *parts, size_t count)
{
	name_parts(parts, count);
	if (!do_labels_collide(parts, count))
		return;
	for (size_t i = 0; i < count; i++)
		relabel(&parts[i]);
}

/* ---- facts ----------------------------------------------------------------------------------- */

static const struct wp_fact *find_fact(const struct wp_fact *facts, size_t count, const char *key)
{
	for (size_t i = 0; i < count; i++)
		if (is_same(facts[i].key, key))
			return &facts[i];
	return NULL;
}

/* the facts of one kind (environment or parameters) of a part */
struct facts {
	const struct wp_fact *items;
	size_t count;
};

static struct facts facts_of(const struct wp_part *part, bool is_environment)
{
	const struct wp_result *result = part->result;

	/* What the importing machine is says nothing of the figures. */
	if (is_same(result->command, "import"))
		return (struct facts){ 0 };
	return is_environment ? (struct facts){ result->environment, result->environment_count }
			      : (struct facts){ result->parameters, result->parameter_count };
}

/* True when every part that has any facts says the same. */
static bool is_agreed(
	const struct wp_part *parts, size_t count, const struct wp_fact *fact, bool is_environment)
{
	for (size_t i = 0; i < count; i++) {
		struct facts facts = facts_of(&parts[i], is_environment);
		const struct wp_fact *other = find_fact(facts.items, facts.count, fact->key);

		if (facts.count && (!other || !is_same(other->value, fact->value)))
			return false;
	}
	return true;
}

static void add_fact(
	struct wp_result *out, const struct wp_fact *fact, const char *name, bool is_environment)
{
	char *key = name ? wp_xasprintf("%s: %s", name, fact->key) : wp_xstrdup(fact->key);

	if (is_environment)
		wp_result_add_environment(out, key, fact->value, fact->source);
	else
		wp_result_add_parameter(out, key, fact->value, fact->kind, fact->source);
	free(key);
}

static void combine_facts(
	struct wp_result *out, const struct wp_part *parts, size_t count, bool is_environment)
{
	for (size_t i = 0; i < count; i++) {
		struct facts facts = facts_of(&parts[i], is_environment);

		for (size_t k = 0; k < facts.count; k++) {
			const struct wp_fact *fact = &facts.items[k];
			bool is_told = is_environment ? find_fact(out->environment,
								out->environment_count, fact->key)
						      : find_fact(out->parameters,
								out->parameter_count, fact->key);

			if (!is_agreed(parts, count, fact, is_environment))
				add_fact(out, fact, parts[i].name, is_environment);
			else if (!is_told)
				add_fact(out, fact, NULL, is_environment);
		}
	}
}

/* ---- tables ---------------------------------------------------------------------------------- */

static enum wp_kind common_kind(enum wp_kind a, enum wp_kind b)
{
	if (a == b)
		return a;
	return a == WP_KIND_TEXT || b == WP_KIND_TEXT ? WP_KIND_TEXT : WP_KIND_REAL;
}

struct columns {
	struct wp_column *items; /* what they point to is borrowed */
	size_t count;
};

static void add_column(struct columns *columns, const struct wp_column *column)
{
	for (size_t i = 0; i < columns->count; i++) {
		if (strcmp(columns->items[i].key, column->key) != 0)
			continue;
		columns->items[i].kind = common_kind(columns->items[i].kind, column->kind);
		return;
	}
	columns->items =
		wp_xreallocarray(columns->items, columns->count + 1, sizeof(*columns->items));
	columns->items[columns->count++] = *column;
}

static const struct wp_column document_column = { "document", "document", "", WP_KIND_TEXT,
	"Name of the document." };

static bool names_no_target(const struct wp_table *table)
{
	return wp_table_column(table, "target") < 0 && strcmp(table->name, "comparison") != 0;
}

static void collect_columns(
	const struct wp_part *parts, size_t count, const char *name, struct columns *columns)
{
	for (size_t i = 0; i < count; i++) {
		const struct wp_table *table = wp_result_find_table(parts[i].result, name);

		if (!table)
			continue;
		if (names_no_target(table))
			add_column(columns, &document_column);
		for (size_t k = 0; k < table->column_count; k++)
			add_column(columns, &table->columns[k]);
	}
}

static void copy_number(
	struct wp_row *row, const struct wp_column *column, const struct wp_cell *cell)
{
	bool is_int = cell->state == WP_CELL_INT;
	char *text;

	switch (column->kind) {
	case WP_KIND_INT:
		wp_row_int(row, column->key, cell->integer);
		break;
	case WP_KIND_REAL:
		wp_row_real(row, column->key, is_int ? (double)cell->integer : cell->real);
		break;
	case WP_KIND_TEXT:
		text = is_int ? wp_xasprintf("%" PRId64, cell->integer)
			      : wp_xasprintf("%.17g", cell->real);
		wp_row_text(row, column->key, text);
		free(text);
		break;
	}
}

static void copy_row(struct wp_table *to, const struct wp_row *from, const char *name)
{
	const struct wp_table *table = from->table;
	struct wp_row *row = wp_table_add_row(to);

	if (names_no_target(table) && wp_table_column(table, "document") < 0)
		wp_row_text(row, "document", name);
	for (size_t i = 0; i < table->column_count; i++) {
		const struct wp_cell *cell = &from->cells[i];
		const struct wp_column *column =
			&to->columns[wp_table_column(to, table->columns[i].key)];

		if (cell->state == WP_CELL_TEXT)
			wp_row_text(row, column->key, cell->text);
		else if (cell->state == WP_CELL_ABSENT)
			wp_row_absent(row, column->key, cell->text);
		else
			copy_number(row, column, cell);
	}
}

static void combine_table(struct wp_result *out, const struct wp_part *parts, size_t count,
	const struct wp_table *first)
{
	struct columns columns = { 0 };
	struct wp_table *table;

	collect_columns(parts, count, first->name, &columns);
	table = wp_result_table(out, first->name, first->title, columns.items, columns.count);
	for (size_t i = 0; i < count; i++) {
		const struct wp_table *from = wp_result_find_table(parts[i].result, first->name);

		for (size_t k = 0; from && k < from->row_count; k++)
			copy_row(table, from->rows[k], parts[i].name);
	}
	free(columns.items);
}

static void combine_tables(struct wp_result *out, const struct wp_part *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < parts[i].result->table_count; k++) {
			const struct wp_table *table = parts[i].result->tables[k];

			if (strcmp(table->name, "recommendation") != 0 &&
				!wp_result_find_table(out, table->name))
				combine_table(out, parts, count, table);
		}
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void add_documents(struct wp_result *out, const struct wp_part *parts, size_t count)
{
	static const struct wp_column columns[] = {
		{ "document", "document", "", WP_KIND_TEXT, "Name of the document." },
		{ "command", "command", "", WP_KIND_TEXT, "Command that made it." },
		{ "started", "started", "", WP_KIND_TEXT, "When that began, UTC." },
		{ "complete", "complete", "", WP_KIND_TEXT,
			"Whether it ran to its end: yes or no." },
		{ "host", "host", "", WP_KIND_TEXT, "Machine that was measured." },
		{ "kernel", "kernel", "", WP_KIND_TEXT, "Its kernel." },
		{ "version", "walprobe", "", WP_KIND_TEXT, "Version of walprobe that made it." },
	};
	struct wp_table *table = wp_result_table(
		out, "documents", "Documents put together here", columns, WP_COUNT(columns));

	for (size_t i = 0; i < count; i++) {
		const struct wp_result *result = parts[i].result;
		struct wp_row *row = wp_table_add_row(table);

		wp_row_text(row, "document", parts[i].name);
		wp_row_text(row, "command", result->command);
		wp_row_text(row, "started", result->started);
		wp_row_text(row, "complete", result->is_complete ? "yes" : "no");
		wp_row_text(row, "host", wp_part_environment(&parts[i], "host"));
		wp_row_text(row, "kernel", wp_part_environment(&parts[i], "kernel"));
		wp_row_text(row, "version", result->version);
	}
}

static void copy_target(struct wp_result *out, const struct wp_target_info *from)
{
	struct wp_target_info *to = wp_result_add_target(out, from->label);

	wp_target_info_set(to, from->path, from->fstype, from->mount_options);
	for (size_t i = 0; i < from->device_count; i++)
		wp_target_info_add_device(to, from->devices[i].name, from->devices[i].write_cache,
			from->devices[i].is_fua, from->devices[i].is_rotational);
}

static void copy_checks(struct wp_result *out, const struct wp_result *from)
{
	for (size_t i = 0; i < from->check_count; i++) {
		const struct wp_check *check = &from->checks[i];

		wp_result_add_check(out, check->id, check->target, check->status, check->expected,
			check->observed, check->text);
	}
}

struct wp_result *wp_parts_combine(const struct wp_part *parts, size_t count)
{
	struct wp_result *out = wp_result_new("report");

	wp_result_add_argument(out, "walprobe");
	wp_result_add_argument(out, "report");
	for (size_t i = 0; i < count; i++) {
		wp_result_add_argument(out, parts[i].file);
		out->is_complete = out->is_complete && parts[i].result->is_complete;
		for (size_t k = 0; k < parts[i].result->target_count; k++)
			copy_target(out, parts[i].result->targets[k]);
		copy_checks(out, parts[i].result);
	}
	combine_facts(out, parts, count, true);
	combine_facts(out, parts, count, false);
	add_documents(out, parts, count);
	combine_tables(out, parts, count);
	return out;
}
