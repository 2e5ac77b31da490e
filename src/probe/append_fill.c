/* SPDX-License-Identifier: PostgreSQL */
#include "probe/append.h"

#include "walprobe/units.h"

#include <math.h>

#define P99_SAMPLES 100
#define P999_SAMPLES 1000

#define LATENCY_COLUMNS                                                                            \
	{ "p50_ns", "p50", "ns", WP_KIND_INT, "Half of the commits took at most this long." },     \
		{ "p99_ns", "p99", "ns", WP_KIND_INT, "99 % took at most this long." },            \
		{ "p999_ns", "p99.9", "ns", WP_KIND_INT, "99.9 % took at most this long." },       \
	{                                                                                          \
		"max_ns", "max", "ns", WP_KIND_INT, "The longest commit."                          \
	}

static const struct wp_column columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label of the target." },
	{ "method", "method", "", WP_KIND_TEXT, "wal_sync_method." },
	{ "recycle", "recycle", "", WP_KIND_TEXT,
		"How an old segment gets a new name; none: removed, and a new one created." },
	{ "clients", "clients", "", WP_KIND_INT, "Committers at work at once." },
	{ "commits_per_s", "commits/s", "1/s", WP_KIND_REAL,
		"Commits acknowledged per second, middle of the rounds." },
	{ "ci_low", "95% low", "1/s", WP_KIND_REAL, "Lower end of the 95 % interval." },
	{ "ci_high", "high", "1/s", WP_KIND_REAL, "Upper end of the 95 % interval." },
	LATENCY_COLUMNS,
	{ "commits_per_sync", "commits/sync", "", WP_KIND_REAL,
		"Commits that one synchronous write made durable, on average." },
	{ "syncs", "syncs", "", WP_KIND_INT,
		"Syncs of the WAL, or with open_datasync and open_sync its writes." },
	{ "flushes_per_sync", "flushes/sync", "", WP_KIND_REAL,
		"FLUSH requests at the device per sync, those of recycling included on both "
		"sides." },
	{ "bytes_per_commit", "bytes/commit", "bytes", WP_KIND_REAL,
		"WAL per commit, page headers and padding included." },
	{ "segments", "segments", "", WP_KIND_INT, "Segments finished in the measured time." },
	{ "recycled", "recycled", "", WP_KIND_INT,
		"Old segments that got a new name in the measured time." },
	{ "switch_p50_ns", "switch p50", "ns", WP_KIND_INT,
		"Typical time that all commits stood still at a segment's end." },
	{ "switch_max_ns", "switch max", "ns", WP_KIND_INT,
		"Longest time that all commits stood still at a segment's end." },
	{ "steady", "steady", "", WP_KIND_TEXT,
		"Whether the last five rounds lie within 20 % and without a trend of 10 %." },
};

static const struct wp_column lap_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label of the target." },
	{ "method", "method", "", WP_KIND_TEXT, "wal_sync_method." },
	{ "init", "init", "", WP_KIND_TEXT,
		"zero: new segments are filled with zeros; sparse: one byte at the end." },
	{ "clients", "clients", "", WP_KIND_INT, "Committers at work at once." },
	{ "commits_per_s", "commits/s", "1/s", WP_KIND_REAL,
		"Commits acknowledged per second between the stalls of segment creation." },
	LATENCY_COLUMNS,
	{ "commits_per_sync", "commits/sync", "", WP_KIND_REAL,
		"Commits that one synchronous write made durable, on average." },
	{ "created", "created", "", WP_KIND_INT, "Segments created while commits waited." },
	{ "switch_p50_ns", "create p50", "ns", WP_KIND_INT,
		"Typical time that all commits stood still while a segment was created." },
	{ "switch_max_ns", "create max", "ns", WP_KIND_INT,
		"Longest time that all commits stood still while a segment was created." },
};

static bool is_ours(const struct wp_measure *measure)
{
	return strcmp(measure->table, "append") == 0;
}

/* The rounds that count, added up. */
static void sum_rounds(
	const struct wp_measure *measure, struct wp_wal_figures *sum, struct wp_hist *switches)
{
	const struct series *series = measure->self;

	memset(sum, 0, sizeof(*sum));
	for (size_t i = 0; i < series->note_count && i < (size_t)measure->round_count; i++) {
		if (!isfinite(measure->values[i]))
			continue;
		wp_wal_figures_add(sum, &series->notes[i].figures);
		if (switches && series->notes[i].switches.counts)
			wp_hist_merge(switches, &series->notes[i].switches);
	}
}

/* A steady state that never came to recycle is none. */
static void settle(struct wp_measure *measure)
{
	const struct series *series = measure->self;
	bool is_recycling = series->ring->options.recycle != WP_RECYCLE_NONE;
	struct wp_wal_figures sum;
	char text[32];

	if (series->ring->options.beside)
		measure->flushes_unknown = "the writes of --beside flush too";
	if (measure->absent || measure->round_count == 0)
		return;
	sum_rounds(measure, &sum, NULL);
	if (sum.commits == 0 || (is_recycling ? sum.recycled : sum.created) > 0)
		return;
	wp_measure_set_absent(measure,
		"no segment was %s in the %s measured; measure longer (--time) or in smaller "
		"segments (--segment-size)",
		is_recycling ? "recycled" : "created",
		wp_format_duration(sum.elapsed_ns, text, sizeof(text)));
}

static void fill_switches(struct wp_row *row, const struct wp_hist *switches)
{
	if (switches->count > 0) {
		wp_row_int(row, "switch_p50_ns", wp_hist_quantile_ns(switches, 0.5));
		wp_row_int(row, "switch_max_ns", switches->max_ns);
	} else {
		wp_row_absent(row, "switch_p50_ns", "no segment ended");
		wp_row_absent(row, "switch_max_ns", "no segment ended");
	}
}

static void fill_commits_per_sync(struct wp_row *row, const struct wp_wal_figures *sum)
{
	if (sum->counts.syncs > 0)
		wp_row_real(
			row, "commits_per_sync", (double)sum->commits / (double)sum->counts.syncs);
	else
		wp_row_absent(row, "commits_per_sync", "nothing was synced");
}

static void fill_absent(const struct wp_measure *measure, struct wp_row *row)
{
	static const char *const keys[] = { "commits_per_sync", "syncs", "bytes_per_commit",
		"segments", "recycled", "switch_p50_ns", "switch_max_ns" };

	for (size_t i = 0; i < WP_COUNT(keys); i++)
		wp_row_absent(row, keys[i], measure->absent);
}

static void fill_measured(const struct wp_measure *measure, struct wp_row *row)
{
	struct wp_wal_figures sum;
	struct wp_hist switches;

	wp_hist_init(&switches);
	sum_rounds(measure, &sum, &switches);
	fill_commits_per_sync(row, &sum);
	wp_row_int(row, "syncs", sum.counts.syncs);
	wp_row_int(row, "segments", sum.counts.segment_ends);
	wp_row_int(row, "recycled", sum.recycled);
	if (sum.commits > 0)
		wp_row_real(row, "bytes_per_commit", (double)sum.wal_bytes / (double)sum.commits);
	fill_switches(row, &switches);
	wp_hist_release(&switches);
}

static void fill_row(struct wp_run *run, const struct wp_measure *measure)
{
	const struct series *series = measure->self;
	struct wp_table *table = wp_result_table(run->result, "append",
		"Commits by the model of pg_wal, on recycled segments", columns, WP_COUNT(columns));
	struct wp_row *row = wp_table_add_row(table);

	wp_measure_fill_row(measure, row);
	wp_row_text(row, "recycle", wp_recycle_name(series->ring->options.recycle));
	if (measure->absent)
		fill_absent(measure, row);
	else
		fill_measured(measure, row);
}

static void fill_quantile(
	struct wp_row *row, const char *key, const struct wp_hist *hist, double q, int64_t samples)
{
	char reason[64];

	(void)snprintf(reason, sizeof(reason), "fewer than %" PRId64 " samples", samples);
	if (hist->count >= samples)
		wp_row_int(row, key, wp_hist_quantile_ns(hist, q));
	else
		wp_row_absent(row, key, reason);
}

static void fill_lap(struct wp_run *run, const struct ring *ring)
{
	struct wp_table *table = wp_result_table(run->result, "append_first_lap",
		"First lap: segments are created while commits wait", lap_columns,
		WP_COUNT(lap_columns));
	struct wp_row *row = wp_table_add_row(table);
	int64_t between_ns = ring->lap.elapsed_ns - ring->lap_switches.sum_ns;

	wp_row_text(row, "target", ring->target->label);
	wp_row_text(row, "method", wp_method_name(ring->lap_load.method));
	wp_row_text(row, "init", ring->options.is_sparse ? "sparse" : "zero");
	wp_row_int(row, "clients", ring->lap_load.clients);
	if (between_ns > 0)
		wp_row_real(row, "commits_per_s",
			(double)ring->lap.commits * (double)WP_NS_PER_S / (double)between_ns);
	fill_quantile(row, "p50_ns", &ring->lap_hist, 0.5, 1);
	fill_quantile(row, "p99_ns", &ring->lap_hist, 0.99, P99_SAMPLES);
	fill_quantile(row, "p999_ns", &ring->lap_hist, 0.999, P999_SAMPLES);
	wp_row_int(row, "max_ns", ring->lap_hist.max_ns);
	fill_commits_per_sync(row, &ring->lap);
	wp_row_int(row, "created", ring->lap.created);
	fill_switches(row, &ring->lap_switches);
}

void wp_append_fill(struct wp_run *run, struct wp_measures *measures)
{
	const struct ring *last = NULL;

	for (size_t i = 0; i < measures->count; i++)
		if (is_ours(measures->items[i]))
			settle(measures->items[i]);
	for (size_t i = 0; i < measures->count; i++)
		if (is_ours(measures->items[i]) && !measures->items[i]->is_twin)
			fill_row(run, measures->items[i]);
	/* All measures of a ring follow each other. */
	for (size_t i = 0; i < measures->count; i++) {
		const struct series *series = measures->items[i]->self;

		if (!is_ours(measures->items[i]) || measures->items[i]->is_twin ||
			series->ring == last)
			continue;
		last = series->ring;
		if (last->has_lap)
			fill_lap(run, last);
	}
}
