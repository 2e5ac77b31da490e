/* SPDX-License-Identifier: PostgreSQL */
/*
 * fio's JSON of 2.x (microseconds, kilobytes) and 3.x, with whatever stands around it. Keys that
 * come twice and line ends within strings are let pass; a document that does not end is refused,
 * and only what stands before the gap is told.
 * Source: fio 2.2.10 to 3.36, stat.c, show_thread_status_json(); HOWTO, "JSON output".
 */
#include "import/fio_rows.h"
#include "import/place.h"
#include "walprobe/mem.h"

#include <jansson.h>

#define DOCUMENT_LINES 1000000
#define EARLY_LINES 200
#define MESSAGES_MAX 200

static double number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : FIO_ABSENT;
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static double scaled(double value, double unit)
{
	return value < 0 ? FIO_ABSENT : value * unit;
}

static void read_latency(const json_t *object, double unit_ns, struct fio_latency *latency)
{
	json_t *table = json_object_get(object, "percentile");
	const char *key;
	json_t *value;

	latency->min_ns = scaled(number_of(object, "min"), unit_ns);
	latency->mean_ns = scaled(number_of(object, "mean"), unit_ns);
	latency->stddev_ns = scaled(number_of(object, "stddev"), unit_ns);
	latency->max_ns = scaled(number_of(object, "max"), unit_ns);
	json_object_foreach(table, key, value)
	{
		int index = fio_percentile(strtod(key, NULL));

		if (index >= 0 && json_is_number(value))
			latency->percentiles_ns[index] = json_number_value(value) * unit_ns;
	}
}

static void read_direction(struct fio_job *job, const json_t *entry, const char *name)
{
	static const struct {
		const char *key;
		const char *of;
		double unit_ns;
	} kinds[] = {
		{ "clat_ns", "completion", 1 },
		{ "clat", "completion", 1e3 },
		{ "lat_ns", "total", 1 },
		{ "lat", "total", 1e3 },
	};
	const json_t *object = json_object_get(entry, name);
	struct fio_direction *direction;
	double bytes;

	if (!json_is_object(object))
		return;
	direction = fio_job_direction(job, name);
	if (!direction)
		return;
	bytes = number_of(object, "bw_bytes");
	direction->bytes_per_s = bytes >= 0 ? bytes : scaled(number_of(object, "bw"), 1024);
	direction->ops_per_s = number_of(object, "iops");
	direction->ops = number_of(object, "total_ios");
	direction->elapsed_ns = scaled(number_of(object, "runtime"), 1e6);
	for (size_t i = 0; i < WP_COUNT(kinds); i++) {
		const json_t *latency = json_object_get(object, kinds[i].key);

		if (!(number_of(latency, "max") > 0))
			continue;
		read_latency(latency, kinds[i].unit_ns, &direction->latency);
		direction->latency_of = kinds[i].of;
		break;
	}
	for (size_t i = 2; i < WP_COUNT(kinds); i++) {
		double mean = number_of(json_object_get(object, kinds[i].key), "mean");

		if (mean > 0)
			direction->total_ns = mean * kinds[i].unit_ns;
	}
	direction->latency.count = direction->ops;
}

/* An option of the job, or of all jobs. */
static const char *option(const json_t *document, const json_t *entry, const char *key)
{
	const char *own = text_of(json_object_get(entry, "job options"), key);

	return own ? own : text_of(json_object_get(document, "global options"), key);
}

static bool is_on(const char *value)
{
	return value && strcmp(value, "0") != 0;
}

static double size_option(const json_t *document, const json_t *entry, const char *key)
{
	const char *value = option(document, entry, key);

	return value ? fio_size_bytes(value) : FIO_ABSENT;
}

static double count_option(const json_t *document, const json_t *entry, const char *key)
{
	const char *value = option(document, entry, key);
	char *end;
	double count = value ? strtod(value, &end) : FIO_ABSENT;

	return value && end != value && *end == '\0' ? count : FIO_ABSENT;
}

/* Without group_reporting every job has an entry of its own. */
static double jobs_of(const json_t *document, const json_t *entry)
{
	double count = count_option(document, entry, "numjobs");

	if (!json_object_get(entry, "job options") && !json_object_get(document, "global options"))
		return FIO_ABSENT;
	return count > 0 && option(document, entry, "group_reporting") ? count : 1;
}

static void read_options(struct fio_job *job, const json_t *document, const json_t *entry)
{
	const char *rw = option(document, entry, "rw");
	const char *fdatasync = option(document, entry, "fdatasync");
	const char *fsync = option(document, entry, "fsync");

	rw = rw ? rw : option(document, entry, "readwrite");
	job->rw = wp_xstrdup(rw);
	if (fdatasync && strcmp(fdatasync, "1") == 0 && !is_on(fsync))
		job->sync_name = wp_xstrdup("fdatasync");
	else if (fsync && strcmp(fsync, "1") == 0 && !is_on(fdatasync))
		job->sync_name = wp_xstrdup("fsync");
	job->record_bytes = size_option(document, entry, "bs");
	job->file_bytes = size_option(document, entry, "size");
	job->jobs = jobs_of(document, entry);
	job->depth = count_option(document, entry, "iodepth");
	job->is_direct = is_on(option(document, entry, "direct"));
}

/* The total of syncs is 0 in some versions although there are times: N counts. */
static void read_sync(struct fio_job *job, const json_t *entry)
{
	const json_t *sync = json_object_get(entry, "sync");
	const json_t *latency = json_object_get(sync, "lat_ns");
	double count = number_of(latency, "N");

	if (!json_is_object(latency))
		return;
	read_latency(latency, 1, &job->sync);
	if (!(count > 0))
		count = number_of(sync, "total_ios");
	job->sync.count = count > 0 || !(job->sync.max_ns > 0) ? count : FIO_ABSENT;
}

static void add_job(
	struct wp_import *in, const json_t *document, const json_t *entry, const char *target)
{
	double depth = number_of(entry, "latency_depth");
	double user = number_of(entry, "usr_cpu");
	double system = number_of(entry, "sys_cpu");
	struct fio_job job;

	fio_job_init(&job);
	read_options(&job, document, entry);
	job.name = wp_xstrdup(text_of(entry, "jobname"));
	job.version = wp_xstrdup(text_of(document, "fio version"));
	job.error = (int64_t)number_of(entry, "error");
	job.error = job.error < 0 ? 0 : job.error;
	if (depth > 0)
		job.depth = depth;
	if (user >= 0 && system >= 0)
		job.cpu_percent = user + system;
	read_direction(&job, entry, "read");
	read_direction(&job, entry, "write");
	read_direction(&job, entry, "trim");
	read_sync(&job, entry);
	fio_add_rows(in, &job, target);
	fio_job_release(&job);
}

/* Client and server runs have "client_stats", whose last entry adds all up. */
static void add_document(struct wp_import *in, const json_t *document, size_t at, size_t count)
{
	const json_t *jobs = json_object_get(document, "jobs");
	struct wp_import_run about = { .tool = "fio",
		.version = text_of(document, "fio version"),
		.started = text_of(document, "time"),
		.machine = text_of(document, "hostname"),
		.line_count = count };
	const char *target = place_add(in, at, &about);
	const json_t *entry;
	size_t i;

	if (!json_is_array(jobs))
		jobs = json_object_get(document, "client_stats");
	json_array_foreach(jobs, i, entry)
	{
		const char *name = text_of(entry, "jobname");

		if (!name || strcmp(name, "All clients") != 0)
			add_job(in, document, entry, target);
	}
}

/* ---- where the document is ------------------------------------------------------------------- */

/* A document's braces, followed from line to line. */
struct braces {
	bool is_string;
	bool is_escaped;
	size_t depth;
};

/* Index behind the closing brace, or 0; line ends within strings become blanks. */
static size_t follow(struct braces *braces, char *text, bool is_mending)
{
	for (size_t i = 0; text[i]; i++) {
		char c = text[i];

		if (braces->is_escaped) {
			braces->is_escaped = false;
		} else if (braces->is_string && c == '\\') {
			braces->is_escaped = true;
		} else if (c == '"') {
			braces->is_string = !braces->is_string;
		} else if (braces->is_string) {
			if (is_mending && c == '\n')
				text[i] = ' ';
		} else if (c == '{') {
			braces->depth++;
		} else if (c == '}' && --braces->depth == 0) {
			return i + 1;
		}
	}
	return 0;
}

/* Lines from at to the one that closes the document, or as many as may belong to it. */
static size_t document_lines(const struct wp_import *in, size_t at, size_t column)
{
	struct braces braces = { .depth = 0 };

	for (size_t i = at; i < in->line_count; i++)
		if (follow(&braces, in->lines[i].text + (i == at ? column : 0), false) ||
			i - at > DOCUMENT_LINES)
			return i + 1 - at;
	return in->line_count - at;
}

/* A line with a brace, and fio's first key right behind it. */
static const char *opening(const struct wp_import *in, size_t at)
{
	const char *brace = strchr(in->lines[at].text, '{');
	size_t next = at;
	const char *rest;

	if (!brace)
		return NULL;
	rest = brace + 1;
	for (;;) {
		rest += strspn(rest, " \t");
		if (*rest || next + 1 >= in->line_count || next > at + 3)
			break;
		rest = in->lines[++next].text;
	}
	return strncmp(rest, "\"fio version\"", 13) == 0 ? brace : NULL;
}

/* Messages of fio stand before its JSON on the same stream. */
static bool is_message(const char *line)
{
	return strncmp(line, "fio: ", 5) == 0 && strstr(line, "err");
}

static size_t messages(const struct wp_import *in, size_t at)
{
	size_t count = 0;

	while (at + count < in->line_count && count < MESSAGES_MAX &&
		(is_message(in->lines[at + count].text) || !*in->lines[at + count].text))
		count++;
	return count;
}

static void add_messages(struct wp_import *in, size_t at, size_t count, const char *target)
{
	for (size_t i = at; i < at + count; i++) {
		if (!*in->lines[i].text)
			continue;
		in->lines[i].is_taken = true;
		wp_result_add_check(in->result, "fio-message", target, WP_CHECK_INFO, NULL,
			in->lines[i].text, "fio printed an error before its results");
	}
}

static const char *last_target(const struct wp_import *in)
{
	return in->result->targets[in->result->target_count - 1]->label;
}

/* ---- a document with a gap ------------------------------------------------------------------- */

/* "99th percentile of fsync is 692060160 ns", as the wrapper of etcd's check prints it. */
static double wrapper_p99(struct wp_import *in, size_t at, size_t *last)
{
	for (size_t i = at; i < in->line_count && i < at + EARLY_LINES; i++) {
		const char *line = in->lines[i].text;
		const char *found = scan_find(line, line + strlen(line),
			"INFO~:~99th percentile of fsync is |INFO~:~99th percentile of the fsync "
			"is ");
		struct scan_number number;

		if (i > at && opening(in, i))
			break;
		if (!found)
			continue;
		found = scan_words(found, "INFO~:~99th percentile of fsync is |INFO~:~99th "
					  "percentile of the fsync is ");
		number = scan_number(found, "~ns", 0);
		if (number.state != SCAN_SURE)
			break;
		in->lines[i].is_taken = true;
		*last = i;
		return number.value;
	}
	return FIO_ABSENT;
}

/* "key" : "value" before the gap, or NULL; the caller frees. What is found may end behind it. */
static char *early_option(const char *text, const char *end, const char *key)
{
	char *pattern = wp_xasprintf("\"%s\"~:~\"", key);
	const char *at = scan_find(text, end, pattern);
	const char *value = at ? scan_words(at, pattern) : NULL;

	free(pattern);
	return value && value < end && memchr(value, '"', (size_t)(end - value))
		       ? wp_xstrndup(value, strcspn(value, "\"\n"))
		       : NULL;
}

static void read_early(struct fio_job *job, const char *text, const char *end)
{
	char *fdatasync = early_option(text, end, "fdatasync");
	char *record = early_option(text, end, "bs");
	char *size = early_option(text, end, "size");

	job->version = early_option(text, end, "fio version");
	job->rw = early_option(text, end, "rw");
	if (fdatasync && strcmp(fdatasync, "1") == 0)
		job->sync_name = wp_xstrdup("fdatasync");
	job->record_bytes = record ? fio_size_bytes(record) : FIO_ABSENT;
	job->file_bytes = size ? fio_size_bytes(size) : FIO_ABSENT;
	free(fdatasync);
	free(record);
	free(size);
}

/* What cannot be read is said with its place; the wrapper's own line still tells the p99. */
static size_t refuse(struct wp_import *in, const struct scan_text *text, const char *begin,
	const json_error_t *error)
{
	size_t first = text->indexes[0];
	size_t left = (size_t)(text->text + text->length - begin);
	const char *gap = begin + (error->position > 0 && (size_t)error->position < left
						  ? (size_t)error->position
						  : left);
	size_t broken = text->indexes[scan_line(text, gap - 1)];
	struct wp_import_run about = { .tool = "fio", .line_count = broken - first + 1 };
	const char *target;
	size_t last = broken;
	struct fio_job job;
	char observed[240];

	fio_job_init(&job);
	read_early(&job, begin, text->text + text->starts[broken - first]);
	about.version = job.version;
	target = place_add(in, first, &about);
	job.sync.percentiles_ns[FIO_P99] = wrapper_p99(in, broken, &last);
	fio_add_rows(in, &job, target);
	fio_job_release(&job);
	(void)snprintf(
		observed, sizeof(observed), "line %zu: %s", in->lines[broken].number, error->text);
	wp_result_add_check(in->result, "fio-incomplete", target, WP_CHECK_UNKNOWN,
		"a whole JSON document", observed,
		"the JSON is cut or shortened here, so that its figures were not read; get the "
		"whole file from whoever ran fio");
	for (size_t i = first; i < broken; i++)
		in->lines[i].is_taken = true;
	return last + 1 - first;
}

static size_t take_document(struct wp_import *in, size_t at, size_t column)
{
	struct scan_text text = scan_text_lines(in, at, document_lines(in, at, column));
	struct braces braces = { .depth = 0 };
	char *begin = text.text + column;
	size_t length = follow(&braces, begin, true);
	size_t lines = text.count;
	json_error_t error = { .position = 0 };
	json_t *document = json_loadb(begin, length ? length : strlen(begin),
		JSON_DECODE_INT_AS_REAL | JSON_DISABLE_EOF_CHECK, &error);

	if (document && length) {
		scan_take(in, &text, begin, begin + length);
		add_document(in, document, at, lines);
	} else {
		size_t refused = refuse(in, &text, begin, &error);

		lines = length && lines > refused ? lines : refused;
	}
	json_decref(document);
	scan_text_release(&text);
	return lines;
}

static size_t take(struct wp_import *in, size_t at)
{
	size_t before = is_message(in->lines[at].text) ? messages(in, at) : 0;
	const char *brace = at + before < in->line_count ? opening(in, at + before) : NULL;
	size_t lines;

	if (!brace)
		return 0;
	lines = take_document(in, at + before, (size_t)(brace - in->lines[at + before].text));
	add_messages(in, at, before, last_target(in));
	return before + lines;
}

const struct wp_importer wp_import_fio_json = {
	.name = "fio-json",
	.title = "fio's JSON of 2.x and 3.x",
	.take = take,
};
