/* SPDX-License-Identifier: PostgreSQL */
/*
 * fio's normal output of 2.x and 3.x: one block a job, from its "err=" line to where another
 * begins. Times of a block are in the unit that its own heading names; rates are rounded by fio.
 * Source: fio 2.2.10 to 3.36, stat.c, show_thread_status_normal().
 */
#include "import/fio_rows.h"
#include "import/place.h"
#include "walprobe/mem.h"

#include <ctype.h>
#include <math.h>

#define WINDOW_LINES 600
#define GAP 12
#define HEAD_LINES 200

enum part {
	PART_NONE,
	PART_DIRECTION,
	PART_SYNC,
};

struct parse {
	struct fio_job job;
	struct fio_direction *direction;
	struct fio_latency *latency; /* that the percentile rows which follow belong to */
	double unit_ns;
	enum part part;
	const char *first;
	const char *last;
	bool is_over;
};

/* ---- numbers --------------------------------------------------------------------------------- */

/* "5729.7k" or "12": fio shortens large ones by thousands. Returns the end, NULL for no number.
 * terminator  NULL: whatever is no letter. */
static const char *short_number(const char *at, const char *terminator, double *out)
{
	static const struct {
		const char *unit;
		double factor;
	} units[] = { { "", 1 }, { "k", 1e3 }, { "K", 1e3 }, { "M", 1e6 }, { "m", 1e6 },
		{ "G", 1e9 } };

	for (size_t i = 0; i < WP_COUNT(units); i++) {
		char *after = terminator ? wp_xasprintf("%s%s", units[i].unit, terminator) : NULL;
		struct scan_number number = scan_number(at,
			after ? after
			: i   ? units[i].unit
			      : NULL,
			SCAN_ANY_DECIMALS);

		free(after);
		if (number.state != SCAN_SURE ||
			(!terminator && isalpha((unsigned char)*number.end)))
			continue;
		*out = number.value * units[i].factor;
		return number.end;
	}
	return NULL;
}

/* "(usec)" behind a heading: ns of its unit, or 0. */
static const char *unit_of(const char *at, double *unit_ns)
{
	const char *end;

	if ((end = scan_words(at, "~(usec)")))
		*unit_ns = 1e3;
	else if ((end = scan_words(at, "~(msec)")))
		*unit_ns = 1e6;
	else if ((end = scan_words(at, "~(nsec)")))
		*unit_ns = 1;
	return end;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* "name: (groupid=0, jobs=1): err= 0: pid=2589: ..." */
static const char *take_job(struct parse *parse, const struct scan_text *text, const char *at)
{
	const char *jobs = scan_words(at, ": (groupid=");
	struct scan_number group;
	struct scan_number count;
	struct scan_number error;
	const char *name = at;

	if (!jobs)
		return NULL;
	group = scan_number(jobs, ",~jobs=", 0);
	if (group.state != SCAN_SURE)
		return NULL;
	count = scan_number(group.end, ")~:~err=", 0);
	if (count.state != SCAN_SURE)
		return NULL;
	error = scan_number(count.end, "~:", 0);
	if (error.state != SCAN_SURE)
		return NULL;
	if (parse->first) {
		parse->is_over = true;
		return NULL;
	}
	while (name > text->text && name[-1] != '\n')
		name--;
	parse->job.name = wp_xstrndup(name, (size_t)(at - name));
	parse->job.jobs = count.value;
	parse->job.error = error.integer;
	return error.end;
}

/* 3.x says KiB/s; 2.x KB/s, and means the same. */
static void set_bytes_per_s(struct fio_direction *direction, const char *at)
{
	static const struct {
		const char *unit;
		double bytes;
	} units[] = { { "B/s", 1 }, { "KiB/s|KB/s", 1024 }, { "MiB/s|MB/s", 1024.0 * 1024 },
		{ "GiB/s|GB/s", 1024.0 * 1024 * 1024 } };

	for (size_t i = 0; i < WP_COUNT(units); i++) {
		struct scan_number number = scan_number(at, units[i].unit, SCAN_ANY_DECIMALS);

		if (number.state == SCAN_SURE)
			direction->bytes_per_s = number.value * units[i].bytes;
	}
}

static const char *take_rates(struct fio_direction *direction, const char *begin)
{
	const char *line_end = begin + strcspn(begin, "\n");
	const char *iops = scan_find(begin, line_end, "IOPS=|iops=");
	const char *bandwidth = scan_find(begin, line_end, "BW=|bw=");
	const char *time = scan_find(begin, line_end, "runt=");
	double value;

	if (!iops || !bandwidth)
		return NULL;
	if (short_number(iops + 5, NULL, &value))
		direction->ops_per_s = value;
	set_bytes_per_s(direction, bandwidth + 3);
	/* "(21.0MiB/170299msec)" or "runt=600008msec" */
	for (const char *at = time ? time + 5 : bandwidth; at && at < line_end; at++) {
		struct scan_number number;

		if (*at == '/' || (time && at == time + 5)) {
			number = scan_number(at + (*at == '/' ? 1 : 0), "msec", 0);
			if (number.state == SCAN_SURE)
				direction->elapsed_ns = number.value * 1e6;
		}
	}
	return direction->ops_per_s >= 0 ? line_end : NULL;
}

static const char *take_direction(struct parse *parse, const struct scan_text *text, const char *at)
{
	static const char *const names[] = { "read", "write", "trim" };

	if (at > text->text && isalnum((unsigned char)at[-1]))
		return NULL;
	for (size_t i = 0; i < WP_COUNT(names); i++) {
		char pattern[48];
		struct fio_direction *direction;
		const char *end;

		(void)snprintf(pattern, sizeof(pattern), "%s~:~IOPS=|%s~:~io=", names[i], names[i]);
		if (!scan_words(at, pattern))
			continue;
		for (size_t j = 0; j < parse->job.direction_count; j++)
			if (strcmp(parse->job.directions[j].name, names[i]) == 0) {
				parse->is_over = true;
				return NULL;
			}
		direction = fio_job_direction(&parse->job, names[i]);
		end = direction ? take_rates(direction, at) : NULL;
		if (!end) {
			parse->job.direction_count -= direction ? 1 : 0;
			return NULL;
		}
		parse->direction = direction;
		parse->part = PART_DIRECTION;
		parse->latency = NULL;
		return end;
	}
	return NULL;
}

static const char *take_moments(struct fio_latency *latency, const char *at, double unit_ns)
{
	struct fio_latency read;
	static const struct {
		const char *before;
		const char *after;
		size_t offset;
	} parts[] = {
		{ "~:~min=", "~,", offsetof(struct fio_latency, min_ns) },
		{ "~max=", "~,", offsetof(struct fio_latency, max_ns) },
		{ "~avg=", "~,", offsetof(struct fio_latency, mean_ns) },
		{ "~stdev=", NULL, offsetof(struct fio_latency, stddev_ns) },
	};

	fio_latency_init(&read);
	for (size_t i = 0; i < WP_COUNT(parts); i++) {
		const char *from = scan_words(at, parts[i].before);
		double value = 0;
		const char *end = from ? short_number(from, parts[i].after, &value) : NULL;

		if (!end && i < 3)
			return NULL;
		if (!end)
			break;
		*(double *)(void *)((char *)&read + parts[i].offset) = value * unit_ns;
		at = end;
	}
	latency->min_ns = read.min_ns;
	latency->max_ns = read.max_ns;
	latency->mean_ns = read.mean_ns;
	latency->stddev_ns = read.stddev_ns;
	return at;
}

/* "clat (usec): min=..." of the direction, "sync (usec): min=..." of the syncs. */
static const char *take_latency(struct parse *parse, const struct scan_text *text, const char *at)
{
	bool is_sync = strncmp(at, "sync", 4) == 0;
	const char *end = scan_words(at, is_sync ? "sync" : "clat");
	struct fio_latency *latency;
	double unit_ns = 0;

	if (!end || (at > text->text && isalnum((unsigned char)at[-1])))
		return NULL;
	end = unit_of(end, &unit_ns);
	latency = is_sync ? &parse->job.sync : parse->direction ? &parse->direction->latency : NULL;
	if (!end || !latency || latency->mean_ns >= 0)
		return NULL;
	end = take_moments(latency, end, unit_ns);
	if (!end)
		return NULL;
	parse->part = is_sync ? PART_SYNC : PART_DIRECTION;
	if (!is_sync)
		parse->direction->latency_of = "completion";
	return end;
}

static const char *take_percentile_heading(struct parse *parse, const char *at)
{
	const char *end = scan_words(at, "clat percentiles|sync percentiles");
	double unit_ns = 0;

	if (!end || !(end = unit_of(end, &unit_ns)))
		return NULL;
	parse->latency = *at == 's'         ? &parse->job.sync
			 : parse->direction ? &parse->direction->latency
					    : NULL;
	parse->unit_ns = unit_ns;
	return end;
}

/* "99.90th=[2021655]" */
static const char *take_percentile(struct parse *parse, const char *at)
{
	struct scan_number percent;
	const char *end;
	double value;
	int index;

	if (!parse->latency || !isdigit((unsigned char)*at) || isdigit((unsigned char)at[-1]) ||
		at[-1] == '.')
		return NULL;
	percent = scan_number(at, "th=[", 2);
	if (percent.state != SCAN_SURE)
		return NULL;
	end = short_number(percent.end, "~]", &value);
	if (!end)
		return NULL;
	index = fio_percentile(percent.value);
	if (index >= 0 && parse->latency->percentiles_ns[index] < 0)
		parse->latency->percentiles_ns[index] = value * parse->unit_ns;
	return end;
}

/* "issued rwts: total=0,10029,0,0 short=..."; 2.x: "issued : total=r=0/w=9374944/d=0" */
static const char *take_issued(struct parse *parse, const char *at)
{
	static const char *const names[] = { "read", "write", "trim" };
	const char *from = scan_words(at, "issued rwts~:~total=|issued rwt~:~total=");
	struct scan_number number = { .end = from };
	double counts[3];

	if (!from)
		return NULL;
	for (size_t i = 0; i < WP_COUNT(counts); i++) {
		number = scan_number(number.end, i < 2 ? "," : ",|~short", 0);
		if (number.state != SCAN_SURE)
			return from;
		counts[i] = number.value;
	}
	for (size_t i = 0; i < parse->job.direction_count; i++)
		for (size_t j = 0; j < WP_COUNT(names); j++)
			if (strcmp(parse->job.directions[i].name, names[j]) == 0)
				parse->job.directions[i].ops =
					parse->job.directions[i].latency.count = counts[j];
	return number.end;
}

static const char *take_cpu(struct parse *parse, const char *at)
{
	const char *from = scan_words(at, "cpu~:~usr=");
	struct scan_number user;
	struct scan_number system;

	if (!from)
		return NULL;
	user = scan_number(from, "%,~sys=", 2);
	if (user.state != SCAN_SURE)
		return from;
	system = scan_number(user.end, "%", 2);
	if (system.state == SCAN_SURE)
		parse->job.cpu_percent = user.value + system.value;
	return system.end;
}

/* ---- a job ----------------------------------------------------------------------------------- */

static const char *take_any(struct parse *parse, const struct scan_text *text, const char *at)
{
	const char *end = NULL;

	switch (*at) {
	case ':':
		return take_job(parse, text, at);
	case 'r':
	case 'w':
	case 't':
		return take_direction(parse, text, at);
	case 'c':
		end = take_cpu(parse, at);
		end = end ? end : take_percentile_heading(parse, at);
		return end ? end : take_latency(parse, text, at);
	case 's':
		end = take_percentile_heading(parse, at);
		return end ? end : take_latency(parse, text, at);
	case 'i':
		return take_issued(parse, at);
	case 'l':
		/* the distribution over buckets ends the percentiles */
		if (scan_words(at, "lat (") && !isalpha((unsigned char)at[-1]))
			parse->latency = NULL;
		return NULL;
	case 'R':
		if (scan_words(at, "Run status group"))
			parse->is_over = true;
		return NULL;
	default:
		return at > text->text ? take_percentile(parse, at) : NULL;
	}
}

static void parse_text(const struct scan_text *text, struct parse *parse)
{
	const char *at = text->text;
	int gap = 0;

	fio_job_init(&parse->job);
	while (*at && !parse->is_over) {
		const char *end = take_any(parse, text, at);

		if (end) {
			parse->first = parse->first ? parse->first : at;
			parse->last = end;
			gap = 0;
			at = end;
		} else if (*at++ == '\n' && *at != '\n' &&
			   (++gap > GAP || strncmp(at, "...", 3) == 0)) {
			break;
		}
	}
}

/* "mytest: (g=0): rw=write, bs=(R) 2300B-2300B, (W) 2300B-2300B, ..., ioengine=sync, iodepth=1" */
static void read_head(struct wp_import *in, size_t at, struct fio_job *job)
{
	char *pattern = wp_xasprintf("%s: (g=", job->name);

	for (size_t i = 0; i < HEAD_LINES && at > 0; i++) {
		struct wp_import_line *line = &in->lines[--at];
		const char *rw = strstr(line->text, pattern) ? strstr(line->text, "rw=") : NULL;
		const char *bs =
			rw ? strstr(rw, job->rw && strstr(job->rw, "read") ? "(R) " : "(W) ")
			   : NULL;

		if (!rw)
			continue;
		job->rw = wp_xstrndup(rw + 3, strcspn(rw + 3, ", "));
		if (bs) {
			struct scan_number bytes = scan_number(bs + 4, "B-", 0);

			if (bytes.state == SCAN_SURE)
				job->record_bytes = bytes.value;
		}
		line->is_taken = true;
		break;
	}
	free(pattern);
}

/* --fdatasync=1 of the command line, or of the job file printed above. */
static void read_command(struct wp_import *in, size_t at, struct fio_job *job)
{
	for (size_t i = 0; i < HEAD_LINES && at > 0; i++) {
		struct wp_import_line *line = &in->lines[--at];
		const char *text = line->text;

		if (strncmp(text, "fio-", 4) == 0 && !job->version)
			job->version = wp_xstrdup(text);
		if (!strstr(text, "fio ") || !strstr(text, " --"))
			continue;
		if (strstr(text, "--fdatasync=1") && !strstr(text, "--fdatasync=1"
								   "0"))
			job->sync_name = wp_xstrdup("fdatasync");
		else if (strstr(text, "--fsync=1") && !strstr(text, "--fsync=1"
								    "0"))
			job->sync_name = wp_xstrdup("fsync");
		job->is_direct = strstr(text, "--direct=1") != NULL;
		line->is_taken = true;
		break;
	}
}

static bool starts(const char *line)
{
	return scan_find(line, line + strlen(line),
		       ": (groupid=|read~:~IOPS=|write~:~IOPS=|read~:~io=|write~:~io=") != NULL;
}

static void settle(struct wp_import *in, size_t at, struct parse *parse)
{
	struct fio_job *job = &parse->job;

	if (job->name) {
		read_head(in, at, job);
		read_command(in, at, job);
	}
	/* each write is followed by one sync, so that there are as many */
	for (size_t i = 0; i < job->direction_count; i++)
		if (job->sync_name && job->sync.mean_ns > 0 &&
			strcmp(job->directions[i].name, "write") == 0)
			job->sync.count = job->directions[i].ops;
}

/* What fio says around its jobs, before and after. */
static void take_prose(struct wp_import *in, size_t from, size_t to)
{
	static const char words[] =
		"Starting 1 process|Starting 1 thread|Laying out IO file|Jobs: |"
		"latency~:~target=|Run status group|READ: bw=|WRITE: bw=|"
		"TRIM: bw=|Disk stats (|: ios=|fio-2|fio-3";

	for (size_t i = from; i < to && i < in->line_count; i++) {
		const char *line = in->lines[i].text + strspn(in->lines[i].text, " ");
		struct scan_number processes = { .state = SCAN_NONE };

		if (strncmp(line, "Starting ", 9) == 0)
			processes = scan_number(line + 9, " processes| threads", 0);
		if (processes.state == SCAN_SURE || scan_words(line, words) ||
			strstr(line, "Laying out IO file") || strstr(line, ": ios="))
			in->lines[i].is_taken = true;
	}
}

static size_t take(struct wp_import *in, size_t at)
{
	struct scan_text text;
	struct parse parse = { .part = PART_NONE };
	struct wp_import_run about = { .tool = "fio" };
	size_t lines = 0;

	if (!starts(in->lines[at].text))
		return 0;
	text = scan_text_lines(in, at, WINDOW_LINES);
	parse_text(&text, &parse);
	if (parse.job.direction_count) {
		settle(in, at, &parse);
		lines = scan_line(&text, parse.last - 1) + 1;
		scan_take(in, &text, parse.first, parse.last);
		about.version = parse.job.version;
		about.line_count = lines;
		fio_add_rows(in, &parse.job, place_add(in, at, &about));
		take_prose(in, at > HEAD_LINES ? at - HEAD_LINES : 0, at + lines + GAP);
	}
	fio_job_release(&parse.job);
	scan_text_release(&text);
	return lines;
}

const struct wp_importer wp_import_fio_text = {
	.name = "fio-text",
	.title = "fio's normal output of 2.x and 3.x",
	.take = take,
};
