/* SPDX-License-Identifier: PostgreSQL */
#include "io_rows.h"

#include "walprobe/mem.h"

#include <math.h>

static bool is_test(const struct wp_row *row, const char *test)
{
	return strcmp(wp_row_get_text(row, "test"), test) == 0;
}

static bool is_one_of(const struct wp_row *row, const char *const *tests)
{
	for (size_t i = 0; tests[i]; i++)
		if (is_test(row, tests[i]))
			return true;
	return false;
}

static bool is_bytewise(const struct wp_row *row)
{
	static const char *const tests[] = { "putc", "getc", "write1", "read1", NULL };

	return is_one_of(row, tests);
}

static bool has_own_record(const struct wp_row *row)
{
	static const char *const tests[] = { "recovery", "archive", NULL };

	return is_bytewise(row) || is_one_of(row, tests);
}

static bool is_equal(double a, double b)
{
	return (isnan(a) && isnan(b)) || a == b;
}

static bool is_known(const struct wp_io_key *keys, size_t count, const struct wp_io_key *key)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(keys[i].target, key->target) == 0 &&
			is_equal(keys[i].file_bytes, key->file_bytes) &&
			is_equal(keys[i].record_bytes, key->record_bytes))
			return true;
	return false;
}

static bool has_target(const struct wp_io_key *keys, size_t count, const char *target)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(keys[i].target, target) == 0)
			return true;
	return false;
}

static struct wp_io_key key_of(const struct wp_row *row)
{
	return (struct wp_io_key){ wp_row_get_text(row, "target"),
		wp_row_get_number(row, "file_bytes"), wp_row_get_number(row, "record_bytes") };
}

size_t wp_io_keys(const struct wp_table *table, struct wp_io_key **keys)
{
	struct wp_io_key *found = wp_xcalloc(table->row_count, sizeof(*found));
	size_t count = 0;

	for (size_t i = 0; i < table->row_count; i++) {
		struct wp_io_key key = key_of(table->rows[i]);

		if (isfinite(key.file_bytes) && !has_own_record(table->rows[i]) &&
			!is_known(found, count, &key))
			found[count++] = key;
	}
	/* Targets of which only other tests were made. */
	for (size_t i = 0; i < table->row_count; i++) {
		struct wp_io_key key = key_of(table->rows[i]);

		if (has_target(found, count, key.target))
			continue;
		key.record_bytes = (double)NAN;
		found[count++] = key;
	}
	*keys = found;
	return count;
}

/* A published figure may have bytes alone, where the record size is not told. */
static bool has_figure(const struct wp_row *row)
{
	return isfinite(wp_row_get_number(row, "ops_per_s")) ||
	       isfinite(wp_row_get_number(row, "bytes_per_s"));
}

const struct wp_row *wp_io_find(
	const struct wp_table *table, const struct wp_io_key *key, const char *test)
{
	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];
		struct wp_io_key own = key_of(row);

		if (!is_test(row, test) || strcmp(own.target, key->target) != 0 || !has_figure(row))
			continue;
		if (isnan(own.file_bytes))
			return row;
		if (is_equal(own.file_bytes, key->file_bytes) &&
			(is_bytewise(row) || is_equal(own.record_bytes, key->record_bytes)))
			return row;
	}
	return NULL;
}
