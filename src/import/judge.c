/* SPDX-License-Identifier: PostgreSQL */
#include "import/judge.h"

#include <math.h>
#include <strings.h>

#define LEAST_MACHINES 5
#define SAME_RATIO 1.01

static bool has_option(const char *options, const char *wanted)
{
	size_t length = strlen(wanted);

	while (options && *options) {
		size_t own = strcspn(options, ",");

		if (own == length && strncmp(options, wanted, length) == 0)
			return true;
		options += own + (options[own] == ',');
	}
	return false;
}

static bool says_cache_on(const char *title)
{
	static const char *const words[] = { "cache enabled", "caches enabled", "cache on",
		"caches on", "cache is on" };

	for (size_t i = 0; title && i < WP_COUNT(words); i++)
		if (strcasestr(title, words[i]))
			return true;
	return false;
}

void wp_judge_words(
	struct wp_import *in, const char *label, const char *title, const char *mount_options)
{
	if (has_option(mount_options, "nobarrier") || has_option(mount_options, "barrier=0"))
		wp_import_check(in, "barriers", label, WP_CHECK_FAIL,
			"mounted with %s: no flush reaches the disks, so that commits are lost "
			"when "
			"power fails and a volatile cache is on; its figures cannot be set beside "
			"those of a safe mount",
			has_option(mount_options, "nobarrier") ? "nobarrier" : "barrier=0");
	if (has_option(mount_options, "data=writeback"))
		wp_import_check(in, "mount-options", label, WP_CHECK_INFO,
			"mounted with data=writeback: after a crash a file may hold old blocks "
			"where "
			"its data had not been written; what was synced is not touched by that");
	if (says_cache_on(title))
		wp_import_check(in, "write-cache", label, WP_CHECK_FAIL,
			"the disks' own write caches were on: a controller's battery does not keep "
			"what is in them, so that without flushes that reach the disks this is "
			"basically fsync = off");
}

/* ---- machines ---------------------------------------------------------------------------------- */

static bool is_same_kind(const struct wp_row *a, const struct wp_row *b)
{
	double one = wp_row_get_number(a, "record_bytes");
	double two = wp_row_get_number(b, "record_bytes");

	return strcmp(wp_row_get_text(a, "test"), wp_row_get_text(b, "test")) == 0 &&
	       ((isnan(one) && isnan(two)) || !(one < two || one > two));
}

static bool is_first_of_kind(const struct wp_table *table, size_t first, size_t row)
{
	for (size_t i = first; i < row; i++)
		if (is_same_kind(table->rows[i], table->rows[row]))
			return false;
	return true;
}

static void judge_kind(struct wp_import *in, const struct wp_table *table, size_t row)
{
	double least = (double)INFINITY;
	double most = 0;
	size_t count = 0;

	for (size_t i = row; i < table->row_count; i++) {
		double rate = wp_row_get_number(table->rows[i], "bytes_per_s");

		if (!isfinite(rate) || !is_same_kind(table->rows[i], table->rows[row]))
			continue;
		least = fmin(least, rate);
		most = fmax(most, rate);
		count++;
	}
	if (count >= LEAST_MACHINES && most < SAME_RATIO * least)
		wp_import_check(in, "rate-plausible", NULL, WP_CHECK_INFO,
			"%s: %zu runs lie within %.2f %% of each other (%.0f to %.0f MB/s); disks "
			"differ more than that, so this is a limit set for all of them, as a cloud "
			"volume has, and no property of a disk",
			wp_row_get_text(table->rows[row], "test"), count, 100 * (most / least - 1),
			least / 1e6, most / 1e6);
}

void wp_judge_machines(struct wp_import *in, size_t first_row)
{
	const struct wp_table *table = wp_result_find_table(in->result, "io");

	/* Figures of one machine do not count; many rows are a table and no fleet. */
	if (!table || in->runs < LEAST_MACHINES || table->row_count - first_row > 4096)
		return;
	for (size_t i = first_row; i < table->row_count; i++)
		if (is_first_of_kind(table, first_row, i))
			judge_kind(in, table, i);
}
