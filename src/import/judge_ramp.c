/* SPDX-License-Identifier: PostgreSQL */
/* What runs of pgbench cannot say, although they print a figure. */
#include "import/judge.h"
#include "walprobe/mem.h"

#include <math.h>
#include <strings.h>

#define SHORT_NS (10 * WP_NS_PER_S)
#define CONNECT_SHARE 0.05
#define LOCK_SHARE 0.5
#define DECLINE 0.7
#define DECLINE_POINTS 5
/* revolutions a second of 7,200 and 15,000 per minute */
#define USUAL_DISK_PER_S 120.0
#define FASTEST_DISK_PER_S 250.0

static bool has_word(const struct wp_row *row, const char *key, const char *word)
{
	return strcasestr(wp_row_get_text(row, key), word) != NULL;
}

/* ---- rules of one row -------------------------------------------------------------------------- */

static double elapsed_ns(const struct wp_row *row)
{
	double elapsed = wp_row_get_number(row, "elapsed_ns");
	double transactions = wp_row_get_number(row, "transactions");
	double tps = wp_row_get_number(row, "tps_excluding");

	if (isfinite(elapsed))
		return elapsed;
	if (isfinite(transactions) && tps > 0)
		return transactions / tps * 1e9;
	return wp_row_get_number(row, "duration_ns");
}

static bool is_short(const struct wp_row *row)
{
	return elapsed_ns(row) < 0.99 * SHORT_NS;
}

/* Only this transaction writes one of as many rows as the scale. */
static bool is_crowded(const struct wp_row *row)
{
	return wp_row_get_number(row, "clients") > wp_row_get_number(row, "scale") &&
	       has_word(row, "script", "TPC-B");
}

static bool is_reconnecting(const struct wp_row *row)
{
	return has_word(row, "connections", "one for each");
}

static bool is_connecting_long(const struct wp_row *row)
{
	double including = wp_row_get_number(row, "tps_including");
	double excluding = wp_row_get_number(row, "tps_excluding");
	double connect = wp_row_get_number(row, "connect_ns");

	if (is_reconnecting(row))
		return false;
	if (isfinite(including) && isfinite(excluding))
		return including < (1 - CONNECT_SHARE) * excluding;
	return connect > CONNECT_SHARE * elapsed_ns(row);
}

static bool is_read_only(const struct wp_row *row)
{
	return has_word(row, "script", "select only");
}

static bool is_warm_up(const struct wp_row *row)
{
	return has_word(row, "section", "warm");
}

static bool is_aborted(const struct wp_row *row)
{
	return has_word(row, "ranked", "aborted");
}

static bool is_mixed(const struct wp_row *row)
{
	return strcmp(wp_row_get_text(row, "script"), "multiple scripts") == 0;
}

static const struct rule {
	const char *id;
	bool (*applies)(const struct wp_row *row);
	enum wp_check_status status;
	const char *expected;
	const char *text;
} rules[] = {
	{ "ramp-aborted", is_aborted, WP_CHECK_UNKNOWN, "a run that came to its end",
		"the run was aborted: what it printed is no result; look at the server's messages "
		"above it, and run it again" },
	{ "ramp-short", is_short, WP_CHECK_INFO, "at least 10 s",
		"the run was so short that one checkpoint or one slow flush moves the figure: it "
		"is very noisy; compare runs of a minute and more, several of each" },
	{ "ramp-scale", is_crowded, WP_CHECK_INFO, "a scale of at least the clients",
		"more clients than branches: they wait for each other's rows and not for the log, "
		"so that this does not measure pg_wal; load with a scale of at least the clients" },
	{ "ramp-connect", is_connecting_long, WP_CHECK_INFO, "connecting takes little of a run",
		"connecting took more than a twentieth of the run: the figure that includes it "
		"says little about the log; take the one without, or run longer" },
	{ "ramp-reconnect", is_reconnecting, WP_CHECK_INFO, "connections that last",
		"every transaction made a connection of its own (-C): that is what the figure "
		"measures, and \"excluding connections\" means nothing there" },
	{ "ramp-read-only", is_read_only, WP_CHECK_INFO, "transactions that write",
		"the transactions only read: no commit waits for the log, so that this is no "
		"figure of pg_wal and not comparable with TPC-B" },
	{ "ramp-warm-up", is_warm_up, WP_CHECK_INFO, "runs after the warm-up",
		"a warm-up fills caches: leave it out of comparisons and means" },
	{ "ramp-mixed", is_mixed, WP_CHECK_INFO, "one script",
		"latency and rate of all scripts together are those of no transaction: compare "
		"script by script; their counts may add up to a few less than the total" },
};

static bool is_of(const struct wp_row *row, const char *target)
{
	return strcmp(wp_row_get_text(row, "target"), target) == 0;
}

/* "at 1, 2 and 4 clients": the steps that a rule is about. */
static char *steps_of(const struct wp_table *table, const char *target, const struct rule *rule)
{
	char *steps = NULL;

	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];
		double clients = wp_row_get_number(row, "clients");
		char *longer;

		if (!is_of(row, target) || !rule->applies(row))
			continue;
		longer = isfinite(clients) ? wp_xasprintf("%s%s%.0f", steps ? steps : "at ",
						     steps ? ", " : "", clients)
					   : wp_xstrdup(steps ? steps : "");
		free(steps);
		steps = longer;
	}
	return steps;
}

static void apply(struct wp_import *in, const struct wp_table *table, const char *target,
	const struct rule *rule)
{
	char *steps = steps_of(table, target, rule);
	char *observed;

	if (!steps)
		return;
	observed =
		*steps ? wp_xasprintf("%s client%s", steps, strcmp(steps, "at 1") == 0 ? "" : "s")
		       : NULL;
	wp_result_add_check(
		in->result, rule->id, target, rule->status, rule->expected, observed, rule->text);
	free(observed);
	free(steps);
}

/* ---- can a disk do that? ----------------------------------------------------------------------- */

static bool is_committing(const struct wp_row *row)
{
	const char *script = wp_row_get_text(row, "script");

	return !is_reconnecting(row) && !is_aborted(row) &&
	       (!*script || has_word(row, "script", "TPC-B") ||
		       has_word(row, "script", "simple update") ||
		       has_word(row, "script", "Update only"));
}

/* The step with the most flushes a second, were all clients to share each. */
static const struct wp_row *hardest(const struct wp_table *table, const char *target, double *out)
{
	const struct wp_row *found = NULL;

	*out = 0;
	for (size_t i = 0; i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];
		double each =
			wp_row_get_number(row, "tps_excluding") / wp_row_get_number(row, "clients");

		if (is_of(row, target) && is_committing(row) && each > *out && isfinite(each)) {
			*out = each;
			found = row;
		}
	}
	return found;
}

static void judge_rate(struct wp_import *in, const struct wp_table *table, const char *target)
{
	double flushes;
	const struct wp_row *row = hardest(table, target, &flushes);
	enum wp_check_status status = WP_CHECK_PASS;
	const char *text = "a rotating disk that flushes can do this, where clients share flushes";
	double clients = row ? wp_row_get_number(row, "clients") : 0;
	char observed[160];

	if (!row)
		return;
	(void)snprintf(observed, sizeof(observed),
		"%.0f commits/s, %.0f client%s: %.0f flushes/s or more, a revolution each at %.0f "
		"rpm",
		wp_row_get_number(row, "tps_excluding"), clients, clients > 1 ? "s" : "", flushes,
		flushes * 60);
	if (flushes > FASTEST_DISK_PER_S) {
		status = WP_CHECK_UNKNOWN;
		text = "no single rotating disk can do this even where all clients share each "
		       "flush: it is flash, a controller's protected cache, or a cache that is "
		       "not flushed (on macOS only fsync_writethrough flushes it); ask what the "
		       "device is and what its cache does";
	} else if (flushes > USUAL_DISK_PER_S) {
		status = WP_CHECK_INFO;
		text = "more than a disk of 7,200 rpm can do even where all clients share each "
		       "flush; one of 15,000 rpm may: ask what the device is";
	}
	wp_result_add_check(in->result, "rate-plausible", target, status,
		"no more flushes a second than revolutions, on a rotating disk", observed, text);
}

/* FAT has no journal and few metadata, which is why it is fast. */
static void judge_fat(struct wp_import *in, const char *target)
{
	for (size_t i = 0; i < in->result->target_count; i++) {
		const struct wp_target_info *info = in->result->targets[i];

		if (strcmp(info->label, target) != 0 || !info->fstype ||
			(strcmp(info->fstype, "fat") != 0 && strcmp(info->fstype, "vfat") != 0))
			continue;
		wp_result_add_check(in->result, "file-system", target, WP_CHECK_INFO,
			"a file system that survives a power failure", info->fstype,
			"FAT writes next to no metadata with a commit, and that makes it fast; it "
			"has "
			"no journal and no hard links, so that this speed is not that of a safe "
			"place for pg_wal");
	}
}

/* ---- statements and time ----------------------------------------------------------------------- */

struct shares {
	double all_ns;
	double locked_ns;
	double commit_ns; /* NaN: none was seen */
};

static struct shares shares_of(const struct wp_import *in, const char *target)
{
	const struct wp_table *table = wp_result_find_table(in->result, "statements");
	struct shares shares = { 0, 0, (double)NAN };

	for (size_t i = 0; table && i < table->row_count; i++) {
		const struct wp_row *row = table->rows[i];
		double mean = wp_row_get_number(row, "mean_ns");

		if (!is_of(row, target) || !isfinite(mean))
			continue;
		shares.all_ns += mean;
		if (has_word(row, "command", "UPDATE pgbench_tellers") ||
			has_word(row, "command", "UPDATE pgbench_branches"))
			shares.locked_ns += mean;
		if (strncasecmp(wp_row_get_text(row, "command"), "END", 3) == 0 ||
			strncasecmp(wp_row_get_text(row, "command"), "COMMIT", 6) == 0)
			shares.commit_ns = mean;
	}
	return shares;
}

static bool judge_locks(struct wp_import *in, const char *target)
{
	struct shares shares = shares_of(in, target);
	char observed[160];

	if (!(shares.locked_ns > LOCK_SHARE * shares.all_ns) || !isfinite(shares.commit_ns))
		return false;
	(void)snprintf(observed, sizeof(observed),
		"%.0f %% of the time in tellers and branches, commit %.1f ms of %.1f ms",
		100 * shares.locked_ns / shares.all_ns, shares.commit_ns / 1e6,
		shares.all_ns / 1e6);
	wp_result_add_check(in->result, "ramp-locks", target, WP_CHECK_INFO,
		"most of the time in the commit", observed,
		"transactions wait for rows that others have locked, and hardly for the log: the "
		"rate is that of the locks; take a larger scale, or simple-update");
	return true;
}

static void judge_decline(struct wp_import *in, const char *target, bool is_locked)
{
	const struct wp_table *table = wp_result_find_table(in->result, "progress");
	double first = (double)NAN;
	double last = (double)NAN;
	size_t points = 0;
	char observed[96];

	for (size_t i = 0; table && i < table->row_count; i++) {
		double tps = wp_row_get_number(table->rows[i], "tps");

		if (!is_of(table->rows[i], target) || !isfinite(tps))
			continue;
		first = points++ ? first : tps;
		last = tps;
	}
	if (points < DECLINE_POINTS || !(last < DECLINE * first))
		return;
	(void)snprintf(observed, sizeof(observed), "%.0f at first, %.0f at last", first, last);
	wp_result_add_check(in->result, "ramp-decline", target, WP_CHECK_INFO, "a steady rate",
		observed,
		is_locked ? "the rate sinks while transactions queue for few rows, whose dead "
			    "versions pile up: that is no disk that becomes slower"
			  : "the rate sinks during the run: look at checkpoints, at a cache of "
			    "the device that is full, and at vacuum, before it is called steady");
}

void wp_judge_ramp(struct wp_import *in, const char *target)
{
	const struct wp_table *table = wp_result_find_table(in->result, "ramp");
	bool is_any = false;

	for (size_t i = 0; table && i < table->row_count; i++)
		is_any = is_any || is_of(table->rows[i], target);
	if (!is_any)
		return;
	for (size_t i = 0; i < WP_COUNT(rules); i++)
		apply(in, table, target, &rules[i]);
	judge_rate(in, table, target);
	judge_fat(in, target);
	judge_decline(in, target, judge_locks(in, target));
}
