/* SPDX-License-Identifier: PostgreSQL */
#include "probe/append.h"

#include "walprobe/change_point.h"
#include "walprobe/limits.h"
#include "walprobe/mem.h"
#include "walprobe/units.h"

#define SAMPLE_NS WP_NS_PER_S
#define FALL 0.8 /* a rate that loses less than a fifth is not called a fall */
#define FILES_BESIDE_CLIENTS 64

struct soak {
	struct wp_run *run;
	const struct wp_target *target;
	struct wp_wal_load load;
	int64_t duration_ns;
	double *rates;          /* one a sample; room for all */
	int64_t *written_bytes; /* at the end of each sample */
	size_t count;
	size_t capacity;
	int64_t last_ns;
	int64_t last_commits;
};

static const struct wp_column soak_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label of the target." },
	{ "method", "method", "", WP_KIND_TEXT, "wal_sync_method." },
	{ "clients", "clients", "", WP_KIND_INT, "Committers at work at once." },
	{ "elapsed_ns", "elapsed", "ns", WP_KIND_INT,
		"Time since the start, at the end of the row's second." },
	{ "commits_per_s", "commits/s", "1/s", WP_KIND_REAL,
		"Commits acknowledged in this second." },
	{ "written_bytes", "written", "bytes", WP_KIND_INT,
		"Bytes handed to the system since the start, pages written again included." },
};

static const struct wp_column change_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label of the target." },
	{ "method", "method", "", WP_KIND_TEXT, "wal_sync_method." },
	{ "clients", "clients", "", WP_KIND_INT, "Committers at work at once." },
	{ "fell_after_ns", "fell after", "ns", WP_KIND_INT,
		"Time after which the rate fell for good: a cache or burst credit used up." },
	{ "fell_after_bytes", "after bytes", "bytes", WP_KIND_INT,
		"Bytes handed to the system until then." },
	{ "before_per_s", "before", "1/s", WP_KIND_REAL, "Typical commits per second before." },
	{ "after_per_s", "after", "1/s", WP_KIND_REAL, "Typical commits per second after." },
};

static void sample(void *ctx, int64_t elapsed_ns, int64_t commits, int64_t written_bytes)
{
	struct soak *soak = ctx;
	int64_t step_ns = elapsed_ns - soak->last_ns;

	if (soak->count < soak->capacity) {
		soak->rates[soak->count] = (double)(commits - soak->last_commits) *
					   (double)WP_NS_PER_S / (double)step_ns;
		soak->written_bytes[soak->count++] = written_bytes;
	}
	soak->last_ns = elapsed_ns;
	soak->last_commits = commits;
	if (soak->run->progress)
		soak->run->progress(soak->run->ctx, soak->target->label, elapsed_ns,
			soak->duration_ns > elapsed_ns ? soak->duration_ns : elapsed_ns);
}

static void identify(const struct soak *soak, struct wp_row *row)
{
	wp_row_text(row, "target", soak->target->label);
	wp_row_text(row, "method", wp_method_name(soak->load.method));
	wp_row_int(row, "clients", soak->load.clients);
}

static void fill_series(const struct soak *soak)
{
	struct wp_table *table = wp_result_table(soak->run->result, "soak",
		"Commits in each second", soak_columns, WP_COUNT(soak_columns));

	for (size_t i = 0; i < soak->count; i++) {
		struct wp_row *row = wp_table_add_row(table);

		identify(soak, row);
		wp_row_int(row, "elapsed_ns", (int64_t)(i + 1) * SAMPLE_NS);
		wp_row_real(row, "commits_per_s", soak->rates[i]);
		wp_row_int(row, "written_bytes", soak->written_bytes[i]);
	}
}

static struct wp_row *add_change_row(const struct soak *soak)
{
	struct wp_table *table = wp_result_table(soak->run->result, "soak_change",
		"Where the rate falls", change_columns, WP_COUNT(change_columns));
	struct wp_row *row = wp_table_add_row(table);

	identify(soak, row);
	return row;
}

static void fill_no_change(const struct soak *soak, const char *reason)
{
	static const char *const keys[] = { "fell_after_ns", "fell_after_bytes", "before_per_s",
		"after_per_s" };
	struct wp_row *row = add_change_row(soak);

	for (size_t i = 0; i < WP_COUNT(keys); i++)
		wp_row_absent(row, keys[i], reason);
}

static void fill_change(const struct soak *soak)
{
	struct wp_change_point point = wp_change_point_find(soak->rates, soak->count, FALL);
	char size_text[32];
	char before[32];
	char after[32];
	struct wp_row *row;

	if (soak->count < WP_CHANGE_POINT_MINIMUM) {
		fill_no_change(soak, "fewer than 10 seconds were measured");
		return;
	}
	if (!point.is_found) {
		fill_no_change(soak, "the rate did not fall");
		return;
	}
	row = add_change_row(soak);
	wp_row_int(row, "fell_after_ns", (int64_t)point.index * SAMPLE_NS);
	wp_row_int(row, "fell_after_bytes", soak->written_bytes[point.index - 1]);
	wp_row_real(row, "before_per_s", point.before);
	wp_row_real(row, "after_per_s", point.after);
	wp_run_tell(soak->run, "note",
		"target \"%s\": the rate fell from %s to %s commits per second after %zu s and %s "
		"written: a cache or burst credit may be used up",
		soak->target->label, wp_format_3(point.before, before, sizeof(before)),
		wp_format_3(point.after, after, sizeof(after)), point.index,
		wp_format_size(soak->written_bytes[point.index - 1], size_text, sizeof(size_text)));
}

static int run_soak(struct soak *soak, struct ring *ring, struct wp_err *err)
{
	struct wp_wal_figures figures;
	struct wp_hist hist;
	struct wp_hist switches;
	int rc = append_ring_open(ring, err);

	if (rc)
		return rc;
	wp_hist_init(&hist);
	wp_hist_init(&switches);
	rc = append_run_loaded(
		ring, &soak->load, soak->duration_ns, &hist, &switches, &figures, err);
	wp_hist_release(&switches);
	wp_hist_release(&hist);
	return rc;
}

int wp_append_soak(struct wp_run *run, struct wp_target *target,
	const struct wp_append_options *options, int64_t duration_ns, struct wp_err *err)
{
	struct ring *ring = append_ring_new(run, target, options);
	struct soak soak = { .run = run,
		.target = target,
		.duration_ns = duration_ns,
		.load = ring->lap_load,
		.capacity = (size_t)(duration_ns / SAMPLE_NS) + 1 };
	struct wp_err own = { 0 };
	char *missing = NULL;
	int rc = wp_limit_open_files(soak.load.clients + FILES_BESIDE_CLIENTS, &own);

	soak.rates = wp_xcalloc(soak.capacity, sizeof(*soak.rates));
	soak.written_bytes = wp_xcalloc(soak.capacity, sizeof(*soak.written_bytes));
	soak.load.sample_ns = SAMPLE_NS;
	soak.load.sample = sample;
	soak.load.ctx = &soak;
	if (!rc)
		rc = append_missing(run, target, options, &missing, &own);
	if (!rc && !missing && append_first_method(options) < 0)
		missing = wp_xstrdup("none of the methods exists here");
	if (!rc && !missing)
		rc = run_soak(&soak, ring, &own);
	fill_series(&soak);
	if (missing || (rc && rc != -WP_E_STOPPED))
		fill_no_change(&soak, missing ? missing : own.message);
	else
		fill_change(&soak);
	if (rc && err)
		*err = own;
	append_ring_release(ring);
	free(missing);
	free(soak.rates);
	free(soak.written_bytes);
	return rc;
}
