/* SPDX-License-Identifier: PostgreSQL */
/*
 * Output as mail and people leave it: a figure that is read is one that the clean output has, or it
 * is absent; it is never another number.
 */
#include "harness.h"
#include "import_case.h"
#include "walprobe/mem.h"

#include <math.h>

#define WIDTH 72

static const char *const files[] = { "24-pgbench-71-diff-ext2-fat/mail.txt",
	"25-pgbench-13-plain/pgbench.txt", "26-pgbench-18-warmup-and-runs/bench100.md",
	"29-pgbench-10-script-statistics/pgbench.txt",
	"34-pgbench-16-weighted-mixed-olap/pgbench.txt",
	"35-pgbench-multi-C-glued-line/pgbench.txt",
	"36-pgbench-aborted-no-tps-yugabyte/pgbench.txt",
	"40-pgbench-93-more-padded-lines/pgbench.txt",
	"42-pgbench-8x-date-hostname-time-wrapper/pgbench.txt",
	"42-pgbench-8x-date-hostname-time-wrapper/pgbench-french-9x.txt",
	"43-pgbench-clients-1000-on-scale-10/pgbench.txt",
	"44-pgtestfsync-macos-writethrough/imac-sata.txt",
	"44-pgtestfsync-macos-writethrough/mbp16.txt",
	"45-pgtestfsync-na-star-no-direct-io/gist.txt",
	"46-pgtestfsync-four-devices-one-host/hdd-wd2002fyps.txt",
	"46-pgtestfsync-four-devices-one-host/nvme-970evoplus.txt",
	"47-pgtestfsync-fdatasync-13x-fsync-ssd/gist.txt",
	"49-pgtestfsync-91-ops-only-2298/pgtestfsync.txt",
	"51-pgtestfsync-36k-ops-vm-suspicious/issue.txt",
	"54-pgtestfsync-consumer-nvme-open-datasync-slower/page.txt",
	"57-fio-313-error-lines-before-json/fio.txt",
	"58-fio-316-text-fdatasync-slow-cluster/fio.txt",
	"58-fio-316-text-fdatasync-slow-cluster/fio-gp2.txt",
	"59-fio-327-etcd-perf-json-elided/etcd-perf.txt",
	"60-fio-2210-json-usec-duplicate-keys/fio-2.2.10.json",
	"78-impossible-commit-rate-laptop-1292-vs-27/pgbench.txt",
	"79-pgtestfsync-91-honest-10k-raid1-ext3/pgtestfsync.txt" };

/* ---- comparing --------------------------------------------------------------------------------- */

/* Where a run was found and what stands above it may change, and so may a script's text. */
static bool is_free(const char *key)
{
	static const char *const keys[] = { "target", "section", "command", "script",
		"latency_from", "mean_from", "ranked", "connections", "direct", "job" };

	for (size_t i = 0; i < WP_COUNT(keys); i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

static bool is_same(const struct wp_cell *a, const struct wp_cell *b)
{
	if (a->state != b->state)
		return false;
	if (a->state == WP_CELL_INT)
		return a->integer == b->integer;
	if (a->state == WP_CELL_REAL)
		return !(a->real < b->real) && !(a->real > b->real);
	return strcmp(a->text, b->text) == 0 || strstr(a->text, "order unknown");
}

/* Every figure of row is one of clean. */
static bool is_part_of(const struct wp_row *row, const struct wp_row *clean)
{
	for (size_t i = 0; i < row->table->column_count; i++)
		if (row->cells[i].state != WP_CELL_ABSENT && !is_free(row->table->columns[i].key) &&
			!is_same(&row->cells[i], &clean->cells[i]))
			return false;
	return true;
}

static void print_row(const struct wp_row *row)
{
	for (size_t i = 0; i < row->table->column_count; i++) {
		double value = wp_row_get_number(row, row->table->columns[i].key);

		if (isfinite(value))
			print_error("%s=%.9g ", row->table->columns[i].key, value);
		else if (row->cells[i].state == WP_CELL_TEXT)
			print_error("%s=%s ", row->table->columns[i].key, row->cells[i].text);
	}
	print_error("\n");
}

static size_t figures_in(const struct wp_result *result)
{
	static const char *const tables[] = { "ramp", "scripts", "statements", "progress", "sync",
		"io" };
	size_t count = 0;

	for (size_t t = 0; t < WP_COUNT(tables); t++)
		for (size_t i = 0; i < case_rows(result, tables[t]); i++) {
			const struct wp_row *row = case_nth(result, tables[t], i);

			for (size_t c = 0; c < row->table->column_count; c++)
				count += row->cells[c].state == WP_CELL_INT ||
							 row->cells[c].state == WP_CELL_REAL
						 ? 1
						 : 0;
		}
	return count;
}

static void expect_part(const struct wp_result *dirty, const struct wp_result *clean,
	const char *file, const char *variant)
{
	static const char *const tables[] = { "ramp", "scripts", "statements", "progress", "sync",
		"io" };

	for (size_t t = 0; t < WP_COUNT(tables); t++)
		for (size_t i = 0; i < case_rows(dirty, tables[t]); i++) {
			const struct wp_row *row = case_nth(dirty, tables[t], i);
			bool is_found = false;

			for (size_t j = 0; !is_found && j < case_rows(clean, tables[t]); j++)
				is_found = is_part_of(row, case_nth(clean, tables[t], j));
			if (is_found)
				continue;
			print_row(row);
			fail_msg("%s, %s: another figure in table %s", file, variant, tables[t]);
		}
}

/* ---- how output becomes dirty ------------------------------------------------------------------ */

struct text {
	char *bytes;
	size_t length;
};

static void put(struct text *text, const char *bytes, size_t length)
{
	text->bytes = wp_xreallocarray(text->bytes, text->length + length + 1, 1);
	memcpy(text->bytes + text->length, bytes, length);
	text->length += length;
	text->bytes[text->length] = '\0';
}

/* Each line between before and after. */
static char *framed(const char *clean, const char *before, const char *after)
{
	struct text text = { .bytes = NULL };

	while (*clean) {
		size_t length = strcspn(clean, "\n");

		put(&text, before, strlen(before));
		put(&text, clean, length);
		put(&text, after, strlen(after));
		clean += length + (clean[length] ? 1 : 0);
	}
	return text.bytes;
}

/* Broken at the last blank before the width, or, is_hard, right there, as some mailers do. */
static char *wrapped(const char *clean, size_t width, bool is_hard)
{
	struct text text = { .bytes = NULL };

	while (*clean) {
		size_t length = strcspn(clean, "\n");
		size_t cut = length;

		if (length > width) {
			cut = width;
			while (!is_hard && cut > 0 && clean[cut] != ' ')
				cut--;
			cut = cut ? cut : width;
		}
		put(&text, clean, cut);
		put(&text, "\n", 1);
		clean += cut;
		if (cut < length)
			clean += !is_hard && *clean == ' ' ? 1 : 0;
		else
			clean += *clean ? 1 : 0;
	}
	return text.bytes;
}

/* Runs of blanks become one, as on a page of the web. */
static char *collapsed(const char *clean)
{
	char *out = wp_xstrdup(clean);
	size_t used = 0;

	for (const char *at = clean; *at; at++)
		if (*at != ' ' || used == 0 || out[used - 1] != ' ')
			out[used++] = *at;
	out[used] = '\0';
	return out;
}

/* As mailers encode it, with soft breaks. */
static char *quoted_printable(const char *clean)
{
	struct text text = { .bytes = NULL };
	size_t column = 0;

	for (; *clean; clean++) {
		char code[8];

		if (column >= WIDTH && *clean != '\n') {
			put(&text, "=\n", 2);
			column = 0;
		}
		if (*clean == '=' || (unsigned char)*clean > 126)
			(void)snprintf(
				code, sizeof(code), "=%02X", (unsigned)(unsigned char)*clean);
		else
			(void)snprintf(code, sizeof(code), "%c", *clean);
		put(&text, code, strlen(code));
		column = *clean == '\n' ? 0 : column + strlen(code);
	}
	return text.bytes;
}

static void try_dirty(const struct wp_result *clean, const char *file, const char *variant,
	char *text, bool is_all)
{
	struct wp_result *dirty = case_text("dirty", text);

	expect_part(dirty, clean, file, variant);
	if (is_all && figures_in(dirty) != figures_in(clean))
		fail_msg("%s, %s: %zu figures and not %zu", file, variant, figures_in(dirty),
			figures_in(clean));
	wp_result_free(dirty);
	free(text);
}

static void line_ends_quotes_and_blanks_change_nothing(void **state)
{
	(void)state;
	for (size_t i = 0; i < WP_COUNT(files); i++) {
		char *text = case_read(files[i]);
		struct wp_result *clean = case_text("dirty", text);

		assert_true(figures_in(clean) > 0);
		try_dirty(clean, files[i], "CRLF", framed(text, "", "\r\n"), true);
		try_dirty(clean, files[i], "quoted", framed(text, "> ", "\n"), true);
		try_dirty(clean, files[i], "quoted twice", framed(text, "> > ", "\n"), true);
		try_dirty(clean, files[i], "trailing blanks", framed(text, "", "   \n"), true);
		try_dirty(
			clean, files[i], "colours", framed(text, "\033[1;32m", "\033[0m\n"), true);
		try_dirty(clean, files[i], "quoted-printable", quoted_printable(text), true);
		try_dirty(clean, files[i], "collapsed", collapsed(text), false);
		wp_result_free(clean);
		free(text);
	}
}

static void wrapping_leaves_no_other_figure(void **state)
{
	(void)state;
	for (size_t i = 0; i < WP_COUNT(files); i++) {
		char *text = case_read(files[i]);
		struct wp_result *clean = case_text("dirty", text);
		char *quoted;

		try_dirty(clean, files[i], "wrapped at 72", wrapped(text, WIDTH, false), false);
		try_dirty(clean, files[i], "cut at 72", wrapped(text, WIDTH, true), false);
		quoted = framed(text, "> ", "\n");
		try_dirty(clean, files[i], "quoted, then wrapped", wrapped(quoted, WIDTH, false),
			false);
		free(quoted);
		for (size_t width = 20; width < 100; width += 3) {
			try_dirty(clean, files[i], "wrapped", wrapped(text, width, false), false);
			try_dirty(clean, files[i], "cut", wrapped(text, width, true), false);
		}
		wp_result_free(clean);
		free(text);
	}
}

static void ends_cut_at_any_line_leave_no_other_figure(void **state)
{
	(void)state;
	for (size_t i = 0; i < WP_COUNT(files); i++) {
		char *text = case_read(files[i]);
		struct wp_result *clean = case_text("dirty", text);

		for (const char *at = text; *at; at += strcspn(at, "\n") + 1) {
			size_t rest = strlen(at);

			try_dirty(clean, files[i], "end cut",
				wp_xstrndup(text, (size_t)(at - text)), false);
			try_dirty(clean, files[i], "begin cut", wp_xstrndup(at, rest), false);
			if (strcspn(at, "\n") == rest)
				break;
		}
		wp_result_free(clean);
		free(text);
	}
}

static void try_ends(const struct wp_result *clean, const char *file, const char *narrow)
{
	for (const char *at = narrow; *at; at += strcspn(at, "\n") + 1) {
		try_dirty(clean, file, "cut, end cut", wp_xstrndup(narrow, (size_t)(at - narrow)),
			false);
		try_dirty(clean, file, "cut, begin cut", wp_xstrdup(at), false);
	}
}

static void wrapped_ends_cut_at_any_line_leave_no_other_figure(void **state)
{
	static const size_t widths[] = { 37, 58, 66, WIDTH };

	(void)state;
	for (size_t i = 0; i < WP_COUNT(files); i++) {
		char *text = case_read(files[i]);
		struct wp_result *clean = case_text("dirty", text);

		/* JSON of hundreds of lines has too many ends for every width */
		for (size_t j = strlen(text) < 3000 ? 0 : WP_COUNT(widths) - 1;
			j < WP_COUNT(widths); j++) {
			char *narrow = wrapped(text, widths[j], true);

			try_ends(clean, files[i], narrow);
			free(narrow);
		}
		wp_result_free(clean);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_ends_quotes_and_blanks_change_nothing),
		cmocka_unit_test(wrapping_leaves_no_other_figure),
		cmocka_unit_test(ends_cut_at_any_line_leave_no_other_figure),
		cmocka_unit_test(wrapped_ends_cut_at_any_line_leave_no_other_figure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
