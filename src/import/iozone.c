/* SPDX-License-Identifier: PostgreSQL */
#include "import/iozone.h"
#include "walprobe/mem.h"

#define PREAMBLE_LINES 100

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " ");
}

static bool starts_preamble(const char *text)
{
	text = skip_blanks(text);
	return strncmp(text, "Iozone: Performance Test", 24) == 0 ||
	       strncmp(text, "Iozone-like table of walprobe", 29) == 0;
}

static bool starts_part(const struct wp_import *in, size_t at)
{
	return wp_iozone_starts_table(in, at) || wp_iozone_starts_throughput(in, at) ||
	       wp_iozone_starts_excel(in, at);
}

struct wp_iozone_figure *wp_iozone_add(
	struct wp_iozone *run, const char *test, int64_t file_kb, int64_t record_kb, double value)
{
	struct wp_iozone_figure *figure;

	run->figures = wp_xreallocarray(run->figures, run->count + 1, sizeof(*run->figures));
	figure = &run->figures[run->count++];
	memset(figure, 0, sizeof(*figure));
	figure->test = test;
	figure->file_kb = file_kb;
	figure->record_kb = record_kb;
	figure->jobs = 1;
	figure->value = value;
	return figure;
}

/* ---- what it says about itself ----------------------------------------------------------------- */

static int64_t number_behind(const char *text, const char *lead)
{
	const char *at = strstr(text, lead);
	const char *end;
	double number;

	if (!at || !wp_import_number(skip_blanks(at + strlen(lead)), &number, &end) || number < 1 ||
		number > 1e15 ||
		(strncmp(end, " KB", 3) && strncmp(end, " kB", 3) && strncmp(end, " Kbyte", 6) &&
			strncmp(end, " kByte", 6)))
		return -1;
	return (int64_t)number;
}

/* "Record Size 128 KB", "File size set to 2097152 kB", "Each process writes a N Kbyte file in ..." */
static void read_sizes(const char *text, struct wp_iozone *run)
{
	static const struct {
		const char *lead;
		bool is_record;
	} leads[] = {
		{ "Record Size", true },
		{ "Record size set to", true },
		{ "File size set to", false },
		{ "Each process writes a", false },
		{ "Each thread writes a", false },
		{ "byte file in", true },
	};

	for (size_t i = 0; i < WP_COUNT(leads); i++) {
		int64_t kb = number_behind(text, leads[i].lead);

		if (kb > 0)
			*(leads[i].is_record ? &run->record_kb : &run->file_kb) = kb;
	}
}

static void read_modes(const char *text, struct wp_iozone *run)
{
	const struct {
		const char *words;
		bool *flag;
	} modes[] = {
		{ "Include fsync in write timing", &run->is_fsync_timed },
		{ "Include close in write timing", &run->is_close_timed },
		{ "SYNC Mode", &run->is_sync },
		{ "O_SYNC", &run->is_sync },
		{ "O_DIRECT feature enabled", &run->is_direct },
		{ "Output is in Kbytes/sec", &run->is_unit_told },
		{ "Output is in kBytes/sec", &run->is_unit_told },
	};

	for (size_t i = 0; i < WP_COUNT(modes); i++)
		if (strstr(text, modes[i].words))
			*modes[i].flag = true;
	if (strstr(text, "OPS Mode") || strstr(text, "operations per second"))
		run->unit = WP_IOZONE_OPS_PER_S;
	if (strstr(text, "Microseconds/op Mode") || strstr(text, "microseconds per operation"))
		run->unit = WP_IOZONE_US_PER_OP;
	run->is_unit_told |= run->unit != WP_IOZONE_KB_PER_S;
}

static void replace_text(char **out, const char *text)
{
	free(*out);
	*out = wp_xstrdup(skip_blanks(text));
}

/* Mail breaks long command lines; iozone indents all its own lines. */
static void read_command(const struct wp_import *in, size_t at, struct wp_iozone *run)
{
	const char *words = strstr(in->lines[at].text, "Command line used:");

	if (!words)
		return;
	replace_text(&run->command, words + strlen("Command line used:"));
	for (size_t i = at + 1; i < in->line_count && i < at + 4; i++) {
		char *longer;

		if (in->lines[i].text[0] == ' ' || !in->lines[i].text[0])
			break;
		longer = wp_xasprintf("%s %s", run->command, in->lines[i].text);
		free(run->command);
		run->command = longer;
	}
	run->is_remounted = strstr(run->command, " -U") != NULL;
}

static void read_line(const struct wp_import *in, size_t at, struct wp_iozone *run)
{
	const char *text = in->lines[at].text;
	const char *revision = strstr(text, "Version $Revision:");
	const char *began = strstr(text, "Run began:");
	const char *target = strstr(text, ", target: ");

	if (revision)
		(void)sscanf(revision, "Version $Revision: %15[0-9.]", run->version);
	if (began)
		replace_text(&run->started, began + strlen("Run began:"));
	if (target && starts_preamble(text))
		replace_text(&run->target, target + strlen(", target: "));
	read_sizes(text, run);
	read_modes(text, run);
	read_command(in, at, run);
}

/* Lines from at up to the first part; 0 when none follows. */
static size_t read_preamble(const struct wp_import *in, size_t at, struct wp_iozone *run)
{
	for (size_t i = at; i < in->line_count && i < at + PREAMBLE_LINES; i++) {
		if (i > at && (starts_part(in, i)))
			return i - at;
		if (i > at && starts_preamble(in->lines[i].text))
			return 0;
		read_line(in, i, run);
	}
	return 0;
}

/* ---- parts ------------------------------------------------------------------------------------- */

static bool is_trailer(const char *text)
{
	static const char *const leads[] = { "iozone test complete", "Excel output is below",
		"\"Throughput report", "\"Record size = ", "\"Output is in", "\"CPU utilization",
		"\"  " };

	text = skip_blanks(text);
	for (size_t i = 0; i < WP_COUNT(leads); i++)
		if (strncmp(text, leads[i], strlen(leads[i])) == 0)
			return true;
	return false;
}

static size_t read_part(const struct wp_import *in, size_t at, struct wp_iozone *run)
{
	if (wp_iozone_starts_table(in, at))
		return run->count ? 0 : wp_iozone_read_table(in, at, run);
	if (wp_iozone_starts_throughput(in, at))
		return wp_iozone_read_throughput(in, at, run);
	if (wp_iozone_starts_excel(in, at))
		return wp_iozone_read_excel(in, at, run);
	return is_trailer(in->lines[at].text) ? 1 : 0;
}

static bool is_other_host(const struct wp_import *in, size_t at, const char *host)
{
	const char *own = in->lines[at].host;

	return own != host && (!own || !host || strcmp(own, host) != 0);
}

/* All parts from at, blank lines between them passed over. Returns lines up to the last part. */
static size_t read_parts(const struct wp_import *in, size_t at, struct wp_iozone *run)
{
	size_t next = at;
	size_t end = at;
	bool is_complete = false;
	size_t count;

	while (next < in->line_count && !is_other_host(in, next, run->host)) {
		/* Behind the end of a run comes its Excel report, or another run. */
		if (is_complete && wp_iozone_starts_throughput(in, next))
			break;
		count = wp_import_is_blank(in, next) ? 1 : read_part(in, next, run);
		if (!count)
			break;
		next += count;
		if (!wp_import_is_blank(in, next - 1))
			end = next;
		is_complete |= strstr(in->lines[next - 1].text, "iozone test complete") != NULL;
	}
	return end - at;
}

static void release(struct wp_iozone *run)
{
	free(run->command);
	free(run->started);
	free(run->target);
	free(run->figures);
}

static size_t take(struct wp_import *in, size_t at)
{
	struct wp_iozone run = { .file_kb = -1, .record_kb = -1 };
	size_t before = 0;
	size_t count = 0;

	run.host = in->lines[at].host;
	if (starts_preamble(in->lines[at].text))
		before = read_preamble(in, at, &run);
	if (before || starts_part(in, at))
		count = read_parts(in, at + before, &run);
	if (run.count) {
		wp_iozone_fill(in, at, before + count, &run);
		wp_import_mark(in, at, before + count);
	}
	count = run.count ? before + count : 0;
	release(&run);
	return count;
}

const struct wp_importer wp_import_iozone = {
	.name = "iozone",
	.title = "tables, throughput mode and Excel reports of iozone 3",
	.take = take,
};
