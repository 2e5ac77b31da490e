/* SPDX-License-Identifier: PostgreSQL */
/* What figures of sync calls say about the device, and which method they speak for. */
#include "import/judge.h"
#include "walprobe/mem.h"

#include <math.h>

#define SLOWER 1.5       /* ratios from which one method is called slower */
#define HALVES 1.6       /* a second write costs as much as the first */
#define COSTS_LITTLE 1.3 /* it costs little */
#define SAME 1.05
#define NOISE 1.10
#define NOT_FLUSHED 5.0 /* by which fsync_writethrough is slower where fsync does not flush */
#define FREE 1.25       /* a sync that costs no more than this over a write alone */
#define FASTEST_DISK_PER_S 260.0
#define TAIL 50.0
#define SLOW_NS 100e6

static double rate_of(
	const struct wp_import *in, const char *target, const char *method, const char *variant)
{
	const struct wp_table *table = wp_result_find_table(in->result, "sync");

	for (size_t i = 0; table && i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];

		if (strcmp(wp_row_get_text(row, "target"), target) == 0 &&
			strcmp(wp_row_get_text(row, "method"), method) == 0 &&
			strcmp(wp_row_get_text(row, "variant"), variant) == 0)
			return wp_row_get_number(row, "ops_per_s");
	}
	return (double)NAN;
}

/* One 8 kB write with each method, a second; NaN where absent. */
struct rates {
	double open_datasync, fdatasync, fsync, fsync_writethrough, open_sync;
	double unsynced;
};

static struct rates rates_of(const struct wp_import *in, const char *target)
{
	struct rates rates = {
		.open_datasync = rate_of(in, target, "open_datasync", "overwrite"),
		.fdatasync = rate_of(in, target, "fdatasync", "overwrite"),
		.fsync = rate_of(in, target, "fsync", "overwrite"),
		.fsync_writethrough = rate_of(in, target, "fsync_writethrough", "overwrite"),
		.open_sync = rate_of(in, target, "open_sync", "overwrite"),
		.unsynced = rate_of(in, target, "", "unsynced"),
	};

	return rates;
}

static void add(struct wp_import *in, const char *id, const char *target,
	enum wp_check_status status, const char *expected, char *observed, const char *text)
{
	wp_result_add_check(in->result, id, target, status, expected, observed, text);
	free(observed);
}

/* ---- does it flush? ---------------------------------------------------------------------------- */

/* Systems that have fsync_writethrough do not flush the drive with fsync. */
static bool judge_flushes(struct wp_import *in, const char *target, const struct rates *rates)
{
	if (!(rates->fsync > NOT_FLUSHED * rates->fsync_writethrough))
		return false;
	add(in, "flush-sent", target, WP_CHECK_FAIL, "fsync as slow as fsync_writethrough",
		wp_xasprintf("fsync %.0f/s, fsync_writethrough %.1f/s", rates->fsync,
			rates->fsync_writethrough),
		"on this system fsync, fdatasync and the open_ methods leave the data in the "
		"drive's cache, as their rates show: only fsync_writethrough is safe at a power "
		"failure; set wal_sync_method to it, however fast the others look");
	return true;
}

/* How fast a disk turns whose revolutions a second are just above the rate; 0 for none. */
static double rpm_of(double rate)
{
	static const double rpms[] = { 5400, 7200, 10000, 15000 };

	for (size_t i = 0; i < WP_COUNT(rpms); i++)
		if (rate <= rpms[i] / 60 * 1.02 && rate >= rpms[i] / 60 * 0.85)
			return rpms[i];
	return 0;
}

static void judge_disk(struct wp_import *in, const char *target, double rate)
{
	double rpm = rpm_of(rate);

	if (rpm > 0)
		add(in, "rate-plausible", target, WP_CHECK_PASS,
			"no more flushes a second than revolutions",
			wp_xasprintf("%.1f/s: %.0f %% of the revolutions of a disk of %.0f rpm",
				rate, 100 * rate / (rpm / 60), rpm),
			"one revolution for each flush: an honest disk without a write cache that "
			"holds data back; a controller's cache with a battery would lift the rate");
	else
		add(in, "rate-plausible", target, WP_CHECK_PASS,
			"no more flushes a second than revolutions",
			wp_xasprintf(
				"%.1f/s: %.1f revolutions at 7,200 rpm for each", rate, 120 / rate),
			"as slow as a rotating disk that flushes and writes its file system's "
			"journal as well: nothing speaks against it");
}

static void judge_plausible(struct wp_import *in, const char *target, const struct rates *rates)
{
	double rate = isfinite(rates->fdatasync) ? rates->fdatasync : rates->fsync;

	if (!isfinite(rate))
		rate = fmax(rates->open_datasync, rates->open_sync);
	if (!isfinite(rate))
		return;
	if (rates->unsynced < FREE * rate) {
		add(in, "rate-plausible", target, WP_CHECK_UNKNOWN,
			"a sync that takes longer than a write alone",
			wp_xasprintf("%.0f/s with a sync, %.0f/s without", rate, rates->unsynced),
			"the sync costs next to nothing: it may not reach the device at all; do "
			"not trust it before walprobe plug has shown what survives");
		return;
	}
	if (rate <= FASTEST_DISK_PER_S) {
		judge_disk(in, target, rate);
		return;
	}
	add(in, "rate-plausible", target, WP_CHECK_UNKNOWN,
		"no more flushes a second than revolutions, on a rotating disk",
		wp_xasprintf("%.0f/s, %.0f us each", rate, 1e6 / rate),
		"faster than any rotating disk: flash, a protected cache, or a hypervisor or "
		"drive that ignores flushes; the figures cannot tell: ask what the device is and "
		"what its write cache does (lsblk, walprobe inspect)");
}

/* ---- which method? ----------------------------------------------------------------------------- */

static void judge_methods(struct wp_import *in, const char *target, const struct rates *rates)
{
	double one_direct = rates->open_datasync;
	double two_direct = rate_of(in, target, "open_datasync", "two-writes");
	double two = rate_of(in, target, "fdatasync", "two-writes");

	if (rates->fsync > 0 && rates->fdatasync > SLOWER * rates->fsync)
		add(in, "fsync-slower", target, WP_CHECK_INFO, "fsync about as fast as fdatasync",
			wp_xasprintf(
				"fdatasync is %.2f times as fast", rates->fdatasync / rates->fsync),
			"fsync also writes the file's times through the journal: keep "
			"wal_sync_method = fdatasync, and recycle WAL segments, as files that grow "
			"fall to the rate of fsync");
	if (one_direct > 0 && rates->fdatasync > SLOWER * one_direct)
		add(in, "open-datasync-slower", target, WP_CHECK_INFO,
			"open_datasync about as fast as fdatasync",
			wp_xasprintf(
				"fdatasync is %.2f times as fast", rates->fdatasync / one_direct),
			"this device is slow with writes that must be durable one by one (FUA), as "
			"flash without power-loss protection is: fdatasync is right here; the "
			"order "
			"in which the methods are printed is no order of speed");
	if (one_direct > HALVES * two_direct && rates->fdatasync < COSTS_LITTLE * two)
		add(in, "two-writes", target, WP_CHECK_INFO, "a second write that costs little",
			wp_xasprintf("open_datasync %.1f/s and %.1f/s, fdatasync %.1f/s and %.1f/s",
				one_direct, two_direct, rates->fdatasync, two),
			"with open_datasync every write waits for the device, with fdatasync one "
			"flush does for all: commits of more than one page want fdatasync");
}

static void judge_same(struct wp_import *in, const char *target, const struct rates *rates)
{
	const double all[] = { rates->open_datasync, rates->fdatasync, rates->fsync,
		rates->open_sync };
	double least = (double)INFINITY;
	double most = 0;
	size_t count = 0;

	for (size_t i = 0; i < WP_COUNT(all); i++) {
		if (!isfinite(all[i]))
			continue;
		least = fmin(least, all[i]);
		most = fmax(most, all[i]);
		count++;
	}
	if (count >= 3 && most < SAME * least)
		add(in, "methods-alike", target, WP_CHECK_INFO, NULL,
			wp_xasprintf("%.1f/s to %.1f/s", least, most),
			"all methods take the same time: keep the default of wal_sync_method");
}

/* pg_test_fsync measures two 8 kB writes with open_sync twice, in two of its sections. */
static void judge_noise(struct wp_import *in, const char *target)
{
	double one = rate_of(in, target, "open_sync", "two-writes");
	double other = rate_of(in, target, "open_sync", "2x8kB");
	double ratio = fmax(one, other) / fmin(one, other);

	if (ratio > NOISE)
		add(in, "sync-noise", target, WP_CHECK_INFO, "the same work at the same rate",
			wp_xasprintf(
				"two 8 kB writes with open_sync: %.1f/s and %.1f/s", one, other),
			"the same work was measured twice and differs by that much: smaller "
			"differences between methods mean nothing here");
}

static const char *settings_of(const struct wp_import *in, const char *target)
{
	const struct wp_table *runs = wp_result_find_table(in->result, "runs");

	for (size_t i = 0; runs && i < runs->row_count; i++)
		if (strcmp(wp_row_get_text(runs->rows[i], "target"), target) == 0)
			return wp_row_get_text(runs->rows[i], "settings");
	return "";
}

/* pg_test_fsync 9.0 and 9.1 count operations, so that fast devices are done at once. */
static void judge_length(struct wp_import *in, const char *target, const struct rates *rates)
{
	const char *settings = settings_of(in, target);
	double count = strtod(settings, NULL);
	double seconds = count / fmax(rates->fdatasync, rates->fsync);

	if (strstr(settings, "operations per test") && seconds < 2)
		add(in, "sync-short", target, WP_CHECK_INFO, "a test of 5 s",
			wp_xasprintf("%s: %.2f s", settings, seconds),
			"each test was over so soon that its figure is noisy: newer versions of "
			"pg_test_fsync run for 5 s");
}

/* ---- times of the sync call alone -------------------------------------------------------------- */

static void judge_tail(struct wp_import *in, const struct wp_row *row)
{
	const char *target = wp_row_get_text(row, "target");
	double p50 = wp_row_get_number(row, "p50_ns");
	double p99 = wp_row_get_number(row, "p99_ns");

	if (p99 > TAIL * p50)
		add(in, "sync-tail", target, WP_CHECK_INFO, "a p99 of a few medians",
			wp_xasprintf("p50 %.1f ms, p99 %.1f ms", p50 / 1e6, p99 / 1e6),
			"the median is fine and the tail is not: the storage stalls (a network, "
			"other load, replication), which no flush of a disk does; switching fsync "
			"off is no cure, it loses commits");
	else if (p99 > SLOW_NS)
		add(in, "sync-tail", target, WP_CHECK_INFO, "a p99 of some milliseconds",
			wp_xasprintf("p99 %.1f ms", p99 / 1e6),
			"one sync in a hundred takes that long: a rotating disk that other load "
			"shares; give the log a device of its own, best flash");
}

static void judge_parts(struct wp_import *in, const struct wp_row *row, bool is_first)
{
	const char *target = wp_row_get_text(row, "target");

	if (is_first && isfinite(wp_row_get_number(row, "mean_ns")))
		wp_import_check(in, "sync-apart", target, WP_CHECK_INFO,
			"fio tells the time of the write and of the sync apart: a commit waits for "
			"both, and the percentiles of the sum cannot be had; the write alone, "
			"which "
			"table io shows, is no commit latency");
	judge_tail(in, row);
}

void wp_judge_sync(struct wp_import *in, const char *target)
{
	const struct wp_table *table = wp_result_find_table(in->result, "sync");
	struct rates rates = rates_of(in, target);
	bool is_first = true;

	for (size_t i = 0; table && i < table->row_count; i++)
		if (strcmp(wp_row_get_text(table->rows[i], "target"), target) == 0 &&
			strcmp(wp_row_get_text(table->rows[i], "variant"), "sync-only") == 0) {
			judge_parts(in, table->rows[i], is_first);
			is_first = false;
		}
	/* methods that are not safe are not advised */
	if (!judge_flushes(in, target, &rates)) {
		judge_plausible(in, target, &rates);
		judge_methods(in, target, &rates);
		judge_same(in, target, &rates);
	}
	judge_noise(in, target);
	judge_length(in, target, &rates);
}
