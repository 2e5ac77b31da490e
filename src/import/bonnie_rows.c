/* SPDX-License-Identifier: PostgreSQL */
#include "import/bonnie.h"
#include "walprobe/mem.h"

#include <ctype.h>
#include <math.h>

#define KB 1024.0
#define LEAST_SAME 3 /* figures that must agree before two runs are called the same */

static const char not_run[] = "the test was not run";
static const char too_short[] =
	"bonnie++ shows +++++: the test was too short to be measured (below half a second)";
static const char no_record[] = "the size of a chunk is not told";

static const char *const tests[WP_BONNIE_TESTS] = { "putc", "write", "rewrite", "getc", "read",
	"seeks", "create-seq", "stat-seq", "delete-seq", "create-random", "stat-random",
	"delete-random" };

void wp_bonnie_begin(struct wp_bonnie_run *run)
{
	memset(run, 0, sizeof(*run));
	run->file_bytes = -1;
	run->record_bytes = -1;
	run->seeks = -1;
	for (size_t i = 0; i < WP_BONNIE_TESTS; i++)
		run->figures[i].longest_ns = -1;
}

struct wp_bonnie_value wp_bonnie_value(const char *field)
{
	struct wp_bonnie_value value = { .state = WP_BONNIE_LOST,
		.reason = "the figure cannot be read" };
	const char *end;

	if (!*field)
		value.state = WP_BONNIE_NOT_RUN;
	else if (strspn(field, "+") == strlen(field))
		value.state = WP_BONNIE_TOO_SHORT;
	else if (wp_import_number(field, &value.value, &end) && !*end)
		value.state = WP_BONNIE_GIVEN;
	return value;
}

/* "16k", "4096" and so on; -1 when text begins with none. */
static int64_t read_bytes(const char *text, const char **end)
{
	int64_t bytes = 0;

	if (!isdigit((unsigned char)*text))
		return -1;
	for (; isdigit((unsigned char)*text); text++) {
		if (bytes > INT64_C(1) << 40)
			return -1;
		bytes = 10 * bytes + (*text - '0');
	}
	if (*text == 'k') {
		bytes *= 1024;
		text++;
	}
	*end = text;
	return bytes;
}

bool wp_bonnie_size(struct wp_bonnie_run *run, const char *text)
{
	const char *end;
	int64_t number = read_bytes(text, &end);
	int64_t chunk;

	if (number < 0 || number > INT64_C(1) << 30 || end[-1] == 'k')
		return false;
	if (*end == 'G' || *end == 'M')
		number *= *end++ == 'G' ? 1024 : 1;
	if (*end && *end != ':')
		return false;
	if (*end && end[1] && end[1] != ':') {
		chunk = read_bytes(end + 1, &end);
		if (chunk <= 0 || (*end && *end != ':'))
			return false;
		run->record_bytes = chunk;
	}
	run->file_bytes = number * (INT64_C(1) << 20);
	return true;
}

int64_t wp_bonnie_latency_ns(const char *text)
{
	double number;
	const char *end;

	if (!wp_import_number(text, &number, &end) || number > 1e9)
		return -1;
	if (strcmp(end, "us") == 0)
		return (int64_t)(number * WP_NS_PER_US);
	if (strcmp(end, "ms") == 0)
		return (int64_t)(number * WP_NS_PER_MS);
	return strcmp(end, "s") == 0 ? (int64_t)(number * WP_NS_PER_S) : -1;
}

static const char *test_name(const struct wp_bonnie_run *run, size_t i)
{
	if (i == 0)
		return run->is_charwise ? "putc" : "write1";
	if (i == 3)
		return run->is_charwise ? "getc" : "read1";
	return tests[i];
}

const char *wp_bonnie_differ(const struct wp_bonnie_run *a, const struct wp_bonnie_run *b)
{
	for (size_t i = 0; i < WP_BONNIE_TESTS; i++) {
		const struct wp_bonnie_value *one = &a->figures[i].rate;
		const struct wp_bonnie_value *two = &b->figures[i].rate;

		if (one->state == WP_BONNIE_GIVEN && two->state == WP_BONNIE_GIVEN &&
			fabs(one->value - two->value) > 0)
			return test_name(b, i);
	}
	return NULL;
}

/* ---- rows -------------------------------------------------------------------------------------- */

static const char *reason_of(const struct wp_bonnie_value *value)
{
	if (value->state == WP_BONNIE_TOO_SHORT)
		return too_short;
	return value->state == WP_BONNIE_NOT_RUN ? not_run : value->reason;
}

static void put_big(struct wp_row *row, const struct wp_bonnie_run *run, size_t i)
{
	const struct wp_bonnie_value *rate = &run->figures[i].rate;
	int64_t record = i == 0 || i == 3 ? 1 : run->record_bytes;

	if (run->file_bytes >= 0)
		wp_row_int(row, "file_bytes", run->file_bytes);
	else
		wp_row_absent(row, "file_bytes", "the size is not told");
	if (record > 0)
		wp_row_int(row, "record_bytes", record);
	else
		wp_row_absent(row, "record_bytes", no_record);
	if (i == 5) {
		wp_row_absent(row, "bytes_per_s", "a seek in ten also writes its record back");
		wp_row_real(row, "ops_per_s", rate->value);
		if (run->seeks >= 0)
			wp_row_int(row, "ops", run->seeks);
		return;
	}
	wp_row_real(row, "bytes_per_s", rate->value * KB);
	if (record > 0)
		wp_row_real(row, "ops_per_s", rate->value * KB / (double)record);
	else
		wp_row_absent(row, "ops_per_s", no_record);
}

static void put_row(
	struct wp_table *table, const char *label, const struct wp_bonnie_run *run, size_t i)
{
	const struct wp_bonnie_figure *figure = &run->figures[i];
	struct wp_row *row = wp_import_row(table, label);
	bool is_given = figure->rate.state == WP_BONNIE_GIVEN;

	wp_row_text(row, "test", test_name(run, i));
	if (i < WP_BONNIE_IO)
		put_big(row, run, i);
	else
		wp_row_real(row, "ops_per_s", figure->rate.value);
	if (!is_given) {
		wp_row_absent(row, "ops_per_s", reason_of(&figure->rate));
		if (i < WP_BONNIE_IO)
			wp_row_absent(row, "bytes_per_s", reason_of(&figure->rate));
	}
	if (figure->cpu.state == WP_BONNIE_GIVEN)
		wp_row_real(row, "cpu_percent", figure->cpu.value);
	else
		wp_row_absent(row, "cpu_percent", reason_of(&figure->cpu));
	if (figure->longest_ns >= 0)
		wp_row_int(row, "max_ns", figure->longest_ns);
	else if (figure->rate.state == WP_BONNIE_NOT_RUN)
		wp_row_absent(row, "max_ns", not_run);
	wp_import_absent_rest(row, "bonnie++ does not tell it");
}

static bool is_any_run(const struct wp_bonnie_run *run, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (run->figures[i].rate.state != WP_BONNIE_NOT_RUN)
			return true;
	return false;
}

/* ---- the same run again ------------------------------------------------------------------------ */

static const struct wp_row *find_row(
	const struct wp_table *table, const char *label, const char *test)
{
	for (size_t i = 0; i < table->row_count; i++)
		if (strcmp(wp_row_get_text(table->rows[i], "target"), label) == 0 &&
			strcmp(wp_row_get_text(table->rows[i], "test"), test) == 0)
			return table->rows[i];
	return NULL;
}

/* Every figure of run stands in the rows of label already. */
static bool is_same(
	const struct wp_table *table, const char *label, const struct wp_bonnie_run *run)
{
	int same = 0;

	for (size_t i = 0; i < WP_BONNIE_TESTS; i++) {
		const struct wp_row *row = find_row(table, label, test_name(run, i));
		const struct wp_bonnie_value *rate = &run->figures[i].rate;
		bool is_bytes = i < 5;
		double own;

		if (rate->state != WP_BONNIE_GIVEN)
			continue;
		if (!row)
			return false;
		own = wp_row_get_number(row, is_bytes ? "bytes_per_s" : "ops_per_s");
		if (!(fabs(own - rate->value * (is_bytes ? KB : 1)) <= 0))
			return false;
		same++;
	}
	return same >= LEAST_SAME;
}

/* Row of table "runs" of a run of this input with the same figures; NULL: none. */
static const struct wp_row *find_same(const struct wp_import *in, const struct wp_bonnie_run *run)
{
	const struct wp_table *runs = wp_result_find_table(in->result, "runs");
	const struct wp_table *io = wp_result_find_table(in->result, "io");

	for (size_t i = 0; runs && io && i < runs->row_count; i++)
		if (strcmp(wp_row_get_text(runs->rows[i], "input"), in->name) == 0 &&
			is_same(io, wp_row_get_text(runs->rows[i], "target"), run))
			return runs->rows[i];
	return NULL;
}

/* ---- checks ------------------------------------------------------------------------------------ */

static bool has_test(struct wp_import *in, const char *test)
{
	const struct wp_table *table = wp_import_io_table(in);

	for (size_t i = 0; i < table->row_count; i++)
		if (strcmp(wp_row_get_text(table->rows[i], "test"), test) == 0)
			return true;
	return false;
}

static void check_charwise(struct wp_import *in, const char *label, const struct wp_bonnie_run *run)
{
	if (has_test(in, run->is_charwise ? "write1" : "putc"))
		wp_import_check(in, "comparable", label, WP_CHECK_INFO,
			"bonnie++ up to 1.03 and later ones measure different things byte by byte "
			"(putc through a buffer, and a system call for each byte); their figures "
			"have names of their own and are not compared");
}

/* A clock that ticks shows in round figures. */
static void check_ticks(struct wp_import *in, const char *label, const struct wp_bonnie_run *run)
{
	int round = 0;
	int all = 0;

	for (size_t i = 0; i < WP_BONNIE_TESTS; i++) {
		int64_t ns = run->figures[i].longest_ns;

		if (ns <= 0 || ns >= 100 * WP_NS_PER_MS)
			continue;
		all++;
		round += ns % (4 * WP_NS_PER_MS) == 0 || ns % (10 * WP_NS_PER_MS) == 0;
	}
	if (round >= 3 && 4 * round >= 3 * all)
		wp_import_check(in, "resolution", label, WP_CHECK_INFO,
			"most of the short latencies are multiples of a timer's tick (4 or 10 ms): "
			"that is the clock's resolution, and no figure of the disk");
}

static void check_rewrite(struct wp_import *in, const char *label, const struct wp_bonnie_run *run)
{
	const struct wp_bonnie_value *write = &run->figures[1].rate;
	const struct wp_bonnie_value *rewrite = &run->figures[2].rate;

	if (write->state == WP_BONNIE_GIVEN && rewrite->state == WP_BONNIE_GIVEN &&
		rewrite->value > 2 * write->value)
		wp_import_check(in, "rate-plausible", label, WP_CHECK_INFO,
			"rewriting was %.1f times as fast as writing: allocating space for each "
			"chunk, and not the disk, was the limit",
			rewrite->value / write->value);
}

static void check_cached(struct wp_import *in, const char *label, const struct wp_bonnie_run *run)
{
	static const size_t blocks[] = { 1, 4 };

	for (size_t i = 0; i < WP_COUNT(blocks); i++) {
		const struct wp_bonnie_value *rate = &run->figures[blocks[i]].rate;

		if (rate->state != WP_BONNIE_GIVEN || rate->value * KB < 3e9)
			continue;
		wp_import_check(in, "cached", label, WP_CHECK_INFO,
			"%s with %.1f GB/s is a figure of the page cache: the file (%" PRId64
			" MB) fits in memory",
			tests[blocks[i]], rate->value * KB / 1e9, run->file_bytes >> 20);
	}
}

/* +++++ in most cells: the run was too small for the machine. */
static void check_short(struct wp_import *in, const char *label, const struct wp_bonnie_run *run)
{
	int too_short_count = 0;

	for (size_t i = 0; i < WP_BONNIE_TESTS; i++)
		too_short_count += run->figures[i].rate.state == WP_BONNIE_TOO_SHORT;
	if (too_short_count > WP_BONNIE_TESTS / 2)
		wp_import_check(in, "too-short", label, WP_CHECK_INFO,
			"%d of 12 tests took less than half a second and have no figure: the files "
			"(-s) "
			"were too small for the memory, or too few (-n)",
			too_short_count);
}

/* -r makes bonnie++ believe that the machine has less memory than it has. */
static void check_memory(struct wp_import *in, const char *label, const char *command)
{
	const char *at = command ? strstr(command, " -r") : NULL;

	if (at && (isdigit((unsigned char)at[3]) || at[3] == ' '))
		wp_import_check(in, "cached", label, WP_CHECK_INFO,
			"bonnie++ was told with -r how much memory there is; where the machine has "
			"more, "
			"the files fit in it and the figures are the page cache's");
}

/* ---- adding ------------------------------------------------------------------------------------ */

static char *settings(const struct wp_bonnie_run *run)
{
	return wp_xasprintf("%s%s%s%s%s", run->files[0] ? "files " : "", run->files,
		run->concurrency[0] ? "; concurrency " : "", run->concurrency,
		run->is_classic || !run->is_charwise
			? ""
			: "; written data is not synced within the time");
}

static const char *add_run(struct wp_import *in, size_t at, size_t count,
	const struct wp_bonnie_run *run, const struct wp_import_heading *heading)
{
	char *words = settings(run);
	const char *sentence = strncmp(words, "; ", 2) == 0 ? words + 2 : words;
	const struct wp_import_run out = { .tool = run->is_classic ? "bonnie" : "bonnie++",
		.version = run->version,
		.machine = run->name,
		.title = heading->title,
		.fstype = heading->fstype,
		.mount_options = heading->mount_options,
		.command = heading->command,
		.settings = sentence,
		.line = in->lines[at].number,
		.line_count = count };
	const char *label = wp_import_add_run(in, &out);

	free(words);
	return label;
}

/* Told again in a reply, or copied from another run? Only the second is a run. */
static bool is_told_already(struct wp_import *in, size_t at,
	const struct wp_import_heading *heading, const struct wp_row *same)
{
	const char *title = wp_row_get_text(same, "title");

	if (heading->title && *title && strcmp(heading->title, title) != 0)
		return false;
	wp_import_check(in, "imported", wp_row_get_text(same, "target"), WP_CHECK_INFO,
		"line %zu of \"%s\" repeats the run of line %.0f; it was imported once",
		in->lines[at].number, in->name, wp_row_get_number(same, "line"));
	return true;
}

void wp_bonnie_add(struct wp_import *in, size_t at, size_t count, const struct wp_bonnie_run *run)
{
	const struct wp_row *same = find_same(in, run);
	struct wp_table *table = wp_import_io_table(in);
	struct wp_import_heading heading;
	const char *label;

	(void)wp_import_heading(in, at, "bonnie", &heading);
	if (same && is_told_already(in, at, &heading, same)) {
		wp_import_heading_release(&heading);
		return;
	}
	label = add_run(in, at, count, run, &heading);
	if (same)
		wp_import_check(in, "imported", label, WP_CHECK_UNKNOWN,
			"all figures are those of \"%s\": one of the two was copied from the other",
			wp_row_get_text(same, "target"));
	if (run->differing)
		wp_import_check(in, "imported", label, WP_CHECK_INFO,
			"table and CSV of the run differ in %s; the CSV was taken", run->differing);
	check_charwise(in, label, run);
	for (size_t i = 0; i < WP_BONNIE_TESTS; i++)
		if (i < WP_BONNIE_IO ? is_any_run(run, 0, WP_BONNIE_IO)
				     : run->has_files && is_any_run(run, 6, 12))
			put_row(table, label, run, i);
	check_ticks(in, label, run);
	check_rewrite(in, label, run);
	check_cached(in, label, run);
	check_short(in, label, run);
	check_memory(in, label, heading.command);
	wp_import_heading_release(&heading);
}
