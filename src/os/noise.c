/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/mem.h"
#include "walprobe/noise.h"
#include "walprobe/units.h"

#include <math.h>

/* /proc/stat's lines of cores come first; the rest may be cut. */
#define STAT_LIMIT (256 * 1024)
#define SMALL_LIMIT 4096
#define SECTOR_BYTES 512 /* the unit of these counters, whatever the device's */

/* Whole numbers from text, at most capacity; returns how many there were up to the line's end. */
static size_t read_numbers(const char *text, int64_t *out, size_t capacity)
{
	size_t count = 0;

	while (count < capacity) {
		char *end;
		long long value;

		text += strspn(text, " \t");
		if (*text == '\n' || *text == '\0')
			break;
		errno = 0;
		value = strtoll(text, &end, 10);
		if (end == text || errno)
			break;
		out[count++] = value;
		text = end;
	}
	return count;
}

static int64_t count_cores(const char *text)
{
	int64_t cores = 0;

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, "cpu", 3) != 0)
			break;
		if (line[3] >= '0' && line[3] <= '9')
			cores++;
	}
	return cores;
}

void wp_noise_parse_cpu(const char *text, struct wp_noise_cpu *out)
{
	int64_t fields[8] = { 0 }; /* user nice system idle iowait irq softirq steal */

	memset(out, 0, sizeof(*out));
	if (strncmp(text, "cpu ", 4) != 0 || read_numbers(text + 4, fields, WP_COUNT(fields)) < 8)
		return;
	out->user = fields[0] + fields[1];
	out->system = fields[2] + fields[5] + fields[6];
	out->steal = fields[7];
	for (size_t i = 0; i < WP_COUNT(fields); i++)
		out->total += fields[i];
	out->cores = count_cores(text);
	out->is_known = out->cores > 0;
}

void wp_noise_parse_own(const char *text, struct wp_noise_own *out)
{
	/* Fields 4 to 17 follow the state, a letter, which follows the name's last parenthesis. */
	const char *name_end = strrchr(text, ')');
	int64_t fields[14];

	memset(out, 0, sizeof(*out));
	if (!name_end || strlen(name_end) < 4 ||
		read_numbers(name_end + 3, fields, WP_COUNT(fields)) < WP_COUNT(fields))
		return;
	out->user = fields[10] + fields[12];
	out->system = fields[11] + fields[13];
	out->is_known = true;
}

bool wp_noise_parse_disk(const char *text, struct wp_noise_disk *out)
{
	int64_t fields[17] = { 0 };

	if (read_numbers(text, fields, WP_COUNT(fields)) < 11)
		return false;
	out->requests += fields[0] + fields[4] + fields[11] + fields[15];
	out->bytes += (fields[2] + fields[6]) * SECTOR_BYTES;
	return true;
}

void wp_noise_parse_stall(const char *text, struct wp_noise_stall *out)
{
	const char *total = strncmp(text, "some ", 5) == 0 ? strstr(text, "total=") : NULL;

	out->is_known = total && read_numbers(total + strlen("total="), &out->total_us, 1) == 1;
	if (!out->is_known)
		out->total_us = 0;
}

/* The text of a file, or an empty one, which no parser accepts; the caller frees. */
static char *read_or_empty(const struct wp_os *os, const char *path, size_t limit)
{
	int unread; /* whatever the reason, the source is unknown */
	char *text = wp_os_read_text(os, path, limit, &unread);

	return text ? text : wp_xstrdup("");
}

static void read_stall(const struct wp_os *os, const char *path, struct wp_noise_stall *out)
{
	char *text = read_or_empty(os, path, SMALL_LIMIT);

	wp_noise_parse_stall(text, out);
	free(text);
}

void wp_noise_read(const struct wp_os *os, struct wp_noise_snapshot *out)
{
	char *text = read_or_empty(os, "/proc/stat", STAT_LIMIT);

	wp_noise_parse_cpu(text, &out->cpu);
	free(text);
	text = read_or_empty(os, "/proc/self/stat", SMALL_LIMIT);
	wp_noise_parse_own(text, &out->own);
	free(text);
	read_stall(os, "/proc/pressure/cpu", &out->cpu_stall);
	read_stall(os, "/proc/pressure/io", &out->io_stall);
	out->at_ns = wp_os_now_ns(os);
}

void wp_noise_read_disks(
	const struct wp_os *os, const char *const *names, size_t count, struct wp_noise_disk *out)
{
	memset(out, 0, sizeof(*out));
	out->is_known = count > 0;
	for (size_t i = 0; i < count; i++) {
		char *path = wp_xasprintf("/sys/block/%s/stat", names[i]);
		char *text = read_or_empty(os, path, SMALL_LIMIT);

		if (!wp_noise_parse_disk(text, out))
			out->is_known = false;
		free(text);
		free(path);
	}
}

static double not_negative(double value)
{
	return value > 0 ? value : 0;
}

static double share_of_time(
	const struct wp_noise_stall *before, const struct wp_noise_stall *after, int64_t elapsed_ns)
{
	if (!before->is_known || !after->is_known || elapsed_ns <= 0)
		return (double)NAN;
	return not_negative((double)(after->total_us - before->total_us) * (double)WP_NS_PER_US /
			    (double)elapsed_ns);
}

struct wp_noise wp_noise_between(
	const struct wp_noise_snapshot *before, const struct wp_noise_snapshot *after)
{
	int64_t elapsed_ns = after->at_ns - before->at_ns;
	double total = (double)(after->cpu.total - before->cpu.total);
	struct wp_noise noise = {
		.foreign_cpu = (double)NAN,
		.foreign_system = (double)NAN,
		.steal = (double)NAN,
		.foreign_io = (double)NAN,
		.cpu_stall = share_of_time(&before->cpu_stall, &after->cpu_stall, elapsed_ns),
		.io_stall = share_of_time(&before->io_stall, &after->io_stall, elapsed_ns),
	};

	if (!before->cpu.is_known || !after->cpu.is_known || total <= 0)
		return noise;
	noise.steal = not_negative((double)(after->cpu.steal - before->cpu.steal) / total);
	if (before->own.is_known && after->own.is_known) {
		/* Ticks that one core had in this time; needs no clock rate. */
		double of_one_core = total / (double)after->cpu.cores;
		int64_t user =
			after->cpu.user - before->cpu.user - (after->own.user - before->own.user);
		int64_t system = after->cpu.system - before->cpu.system -
				 (after->own.system - before->own.system);

		noise.foreign_cpu = not_negative((double)user / of_one_core);
		noise.foreign_system = not_negative((double)system / of_one_core);
	}
	return noise;
}

void wp_noise_disk_add(struct wp_noise_disk *sum, const struct wp_noise_disk *before,
	const struct wp_noise_disk *after)
{
	if (!before->is_known || !after->is_known)
		sum->is_known = false;
	sum->requests += after->requests - before->requests;
	sum->bytes += after->bytes - before->bytes;
}

static double share_of_rate(int64_t busy, int64_t busy_ns, int64_t idle, int64_t idle_ns)
{
	double busy_rate = (double)busy / (double)busy_ns;
	double idle_rate = (double)idle / (double)idle_ns;

	if (idle <= 0)
		return 0;
	return busy_rate > idle_rate ? idle_rate / busy_rate : 1;
}

double wp_noise_foreign_io(const struct wp_noise_disk *busy, int64_t busy_ns,
	const struct wp_noise_disk *idle, int64_t idle_ns)
{
	double requests;
	double bytes;

	if (!busy->is_known || !idle->is_known || busy_ns <= 0 || idle_ns <= 0)
		return (double)NAN;
	if (idle->requests < WP_NOISE_IDLE_REQUESTS)
		return 0;
	requests = share_of_rate(busy->requests, busy_ns, idle->requests, idle_ns);
	bytes = share_of_rate(busy->bytes, busy_ns, idle->bytes, idle_ns);
	return requests > bytes ? requests : bytes;
}

double wp_noise_score(const struct wp_noise *noise, char *reason, size_t size)
{
	const struct {
		double value;
		double limit;
		const char *name;
		const char *of;
	} guards[] = {
		{ noise->foreign_cpu, WP_NOISE_FOREIGN_CPU_LIMIT, "foreign CPU", " of a core" },
		{ noise->steal, WP_NOISE_STEAL_LIMIT, "steal", "" },
		{ noise->foreign_io, WP_NOISE_FOREIGN_IO_LIMIT, "foreign I/O", "" },
	};
	double worst = 0;
	char percent[32];

	if (size)
		reason[0] = '\0';
	for (size_t i = 0; i < WP_COUNT(guards); i++) {
		double score = guards[i].value / guards[i].limit;

		/* False for NaN too: what is unknown exceeds nothing. */
		if (!(score > worst))
			continue;
		worst = score;
		if (worst > 1)
			(void)snprintf(reason, size, "%s %s%%%s", guards[i].name,
				wp_format_3(guards[i].value * 100, percent, sizeof(percent)),
				guards[i].of);
	}
	return worst;
}
