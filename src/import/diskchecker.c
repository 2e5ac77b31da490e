/* SPDX-License-Identifier: PostgreSQL */
/*
 * diskchecker.pl: "create" writes random pages of 16 kB with fsync and tells a witness, until power
 * is cut; "verify" then looks for them. Source: diskchecker.pl (Brad Fitzpatrick, 2005).
 */
#include "walprobe/import.h"
#include "walprobe/mem.h"

#define PAGE_BYTES 16384
#define LINES 2 /* of a line that mail broke */

/* one line of create: what it says, in this order */
struct progress {
	int64_t seconds;
	double coverage_percent;
	int64_t megabytes;
	int64_t writes;
	int64_t rate_per_s;
};

static bool parse_progress(const char *text, const void *ctx, void *out)
{
	struct progress *progress = out;
	int end = 0;

	(void)ctx;
	text += strspn(text, " ");
	/* %d and %f take more than diskchecker prints: signs, "nan". */
	if (strspn(text, "diskcheckr:unisecovaf MBwt(),;/0123456789.%g") != strlen(text))
		return false;
	return sscanf(text,
		       "diskchecker: running %18" SCNd64 " sec, %18lf%% coverage of %18" SCNd64
		       " MB (%18" SCNd64 " writes; %18" SCNd64 "/s)%n",
		       &progress->seconds, &progress->coverage_percent, &progress->megabytes,
		       &progress->writes, &progress->rate_per_s, &end) == 5 &&
	       end && !text[end];
}

/* "verifying: 81.77%" */
static bool parse_verifying(const char *text, double *percent)
{
	int end = 0;

	text += strspn(text, " ");
	if (strspn(text, "verifying: .%0123456789") != strlen(text))
		return false;
	return sscanf(text, "verifying: %18lf%%%n", percent, &end) == 1 && end && !text[end];
}

static bool parse_total(const char *text, int64_t *errors)
{
	int end = 0;

	text += strspn(text, " ");
	if (strspn(text, "Total errors: 0123456789") != strlen(text))
		return false;
	return sscanf(text, "Total errors: %18" SCNd64 "%n", errors, &end) == 1 && end &&
	       !text[end];
}

/* ---- the command ------------------------------------------------------------------------------- */

static bool is_command(const char *text)
{
	return strstr(text, "diskchecker.pl") && strstr(text, "-s ");
}

/* The name of the test file: the word after create or verify. The caller frees; NULL: none. */
static char *file_of(const char *command)
{
	static const char *const modes[] = { " create ", " verify " };

	for (size_t i = 0; command && i < WP_COUNT(modes); i++) {
		const char *at = strstr(command, modes[i]);

		if (!at)
			continue;
		at += strlen(modes[i]);
		at += strspn(at, " ");
		return wp_xstrndup(at, strcspn(at, " "));
	}
	return NULL;
}

/* "nodeB" of "root@nodeB:/data#"; the caller frees; NULL: none. */
static char *machine_of(const char *text)
{
	const char *at = strchr(text, '@');
	size_t length = at ? strcspn(at + 1, ":# $") : 0;

	return length && at[1 + length] == ':' ? wp_xstrndup(at + 1, length) : NULL;
}

static const char *add_run(struct wp_import *in, size_t at, size_t count, bool has_command)
{
	const char *text = has_command ? in->lines[at].text : "";
	char *machine = machine_of(text);
	const struct wp_import_run run = { .tool = "diskchecker.pl",
		.machine = machine ? machine : in->lines[at].host,
		.command = has_command ? wp_import_command(text) : NULL,
		.line = in->lines[at].number,
		.line_count = count };
	const char *label = wp_import_add_run(in, &run);

	free(machine);
	return label;
}

/* ---- create ------------------------------------------------------------------------------------ */

static void add_create(struct wp_import *in, const char *label, const struct progress *last)
{
	struct wp_row *row = wp_import_row(wp_import_sync_table(in), label);

	wp_row_text(row, "method", "fsync");
	wp_row_text(row, "variant", "random pages");
	wp_row_int(row, "write_bytes", PAGE_BYTES);
	wp_row_int(row, "writes_per_op", 1);
	wp_row_int(row, "ops", last->writes);
	/* The rate that it prints is this quotient without its fraction. */
	if (last->seconds > 0)
		wp_row_real(row, "ops_per_s", (double)last->rate_per_s);
	else
		wp_row_absent(row, "ops_per_s", "the run was shorter than a second");
	wp_import_absent_rest(row, "diskchecker.pl does not tell it");
	wp_import_check(in, "imported", label, WP_CHECK_INFO,
		"diskchecker.pl wrote %" PRId64 " pages of 16 kB in %" PRId64
		" s, %.2f %% of a file "
		"of %" PRId64 " MB; its rate is the average from the start, and only verify after "
		"the power cut says what was kept",
		last->writes, last->seconds, last->coverage_percent, last->megabytes);
}

static size_t take_create(struct wp_import *in, size_t at, bool has_command)
{
	struct progress last = { 0 };
	size_t next = at + (has_command ? 1 : 0);
	size_t end = next;
	const char *label;

	while (next < in->line_count && strstr(in->lines[next].text, "diskchecker:")) {
		struct progress progress;
		size_t count = wp_import_unwrap(
			in, next, LINES, parse_progress, NULL, &progress, sizeof(progress), NULL);

		if (!count)
			break;
		/* Time goes on within a run. */
		if (progress.seconds < last.seconds)
			break;
		last = progress;
		next += count;
		end = next;
	}
	if (end == at + (has_command ? 1 : 0))
		return 0;
	label = add_run(in, at, end - at, has_command);
	add_create(in, label, &last);
	wp_import_mark(in, at, end - at);
	return end - at;
}

/* ---- verify ------------------------------------------------------------------------------------ */

static void add_verdict(struct wp_import *in, const char *label, const char *command,
	double percent, int64_t errors)
{
	struct wp_row *row = wp_import_row(wp_import_verdict_table(in), label);
	char *file = file_of(command);
	bool is_known = errors >= 0 && (errors > 0 || percent >= 100);

	if (file)
		wp_row_text(row, "run", file);
	wp_row_int(row, "cycle", 1);
	wp_row_text(row, "verdict", !is_known ? "cannot tell" : errors ? "lies" : "no loss");
	if (errors >= 0)
		wp_row_int(row, "lost", errors);
	else
		wp_row_absent(row, "lost", "the output ends before the number of errors");
	wp_import_absent_rest(row, "diskchecker.pl does not tell it");
	if (!is_known)
		wp_import_check(in, "data-survived", label, WP_CHECK_UNKNOWN,
			"verify was not finished, or its output is cut: what was kept is not "
			"known");
	else if (errors)
		wp_import_check(in, "data-survived", label, WP_CHECK_FAIL,
			"%" PRId64 " pages that fsync had promised were gone after the power cut: "
			"nothing that matters may lie there",
			errors);
	else
		wp_import_check(in, "data-survived", label, WP_CHECK_PASS,
			"no acknowledged write was lost in this run; one power cut does not show "
			"that "
			"none ever will be");
	free(file);
}

static bool is_about_errors(const char *text)
{
	return strstr(text, "Error at page") || strstr(text, "Histogram of seconds") ||
	       strstr(text, "seconds before end");
}

static size_t take_verify(struct wp_import *in, size_t at, bool has_command)
{
	size_t next = at + (has_command ? 1 : 0);
	size_t first = next;
	int64_t errors = -1;
	double percent = -1;
	const char *label;

	while (next < in->line_count && errors < 0) {
		const char *text = in->lines[next].text;

		if (!parse_total(text, &errors) && !parse_verifying(text, &percent) &&
			!is_about_errors(text))
			break;
		next++;
	}
	if (next == first || (percent < 0 && errors < 0))
		return 0;
	label = add_run(in, at, next - at, has_command);
	add_verdict(in, label, has_command ? in->lines[at].text : NULL, percent, errors);
	wp_import_mark(in, at, next - at);
	return next - at;
}

static size_t take(struct wp_import *in, size_t at)
{
	bool has_command = is_command(in->lines[at].text);
	size_t count = take_create(in, at, has_command);

	return count ? count : take_verify(in, at, has_command);
}

const struct wp_importer wp_import_diskchecker = {
	.name = "diskchecker",
	.title = "diskchecker.pl, create and verify",
	.take = take,
};
