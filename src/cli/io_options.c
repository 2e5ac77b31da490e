/* SPDX-License-Identifier: PostgreSQL */
#include "cli/io_options.h"
#include "walprobe/units.h"

#define LEAST_RECORD INT64_C(1)
#define LEAST_FILE INT64_C(4096)
#define MOST_FILE (INT64_C(64) << 40)
#define TELL_FROM_NS (3 * WP_NS_PER_S)

const char *const wp_io_syncs[] = { "none", "fsync", "o_sync", "o_dsync", NULL };
const char *const wp_io_timeds[] = { "none", "fsync", "close", "fsync,close", NULL };

static enum wp_io_sync sync_of(const char *word)
{
	enum wp_io_sync sync = WP_IO_SYNC_NONE;

	while (strcmp(wp_io_syncs[sync], word) != 0)
		sync++; /* the option table has checked the word */
	return sync;
}

static int read_sizes(
	const struct wp_io_words *words, struct wp_io_options *options, struct wp_err *err)
{
	int rc = wp_io_parse_sizes(
		words->record_sizes, LEAST_RECORD, WP_IO_RECORD_MAXIMUM, &options->records, err);

	if (rc) {
		wp_err_prefix(err, "option --record-sizes: ");
		return rc;
	}
	if (strcmp(words->sizes, "auto") == 0)
		return 0;
	rc = wp_io_parse_sizes(words->sizes, LEAST_FILE, MOST_FILE, &options->files, err);
	if (rc)
		wp_err_prefix(err, "option --size: ");
	return rc;
}

int wp_io_options_read(
	const struct wp_io_words *words, struct wp_io_options *options, struct wp_err *err)
{
	const char *timed = words->timed;
	int rc;

	*options = (struct wp_io_options){ .is_cached = words->is_cached,
		.is_direct = words->is_direct,
		.sync = sync_of(words->sync),
		.is_sync_timed = strstr(timed, "fsync") != NULL,
		.is_close_timed = strstr(timed, "close") != NULL,
		.jobs = words->jobs,
		.seekers = words->seekers };
	rc = wp_io_parse_tests(words->tests, &options->tests, err);
	if (rc)
		wp_err_prefix(err, "option --tests: ");
	if (!rc)
		rc = read_sizes(words, options, err);
	if (!rc)
		rc = wp_io_parse_files(words->files, options, err);
	return rc ? rc : wp_io_check(options, err);
}

static int failed(struct wp_run *run, struct wp_measure_targets *targets, size_t index, int rc,
	struct wp_err *failure, struct wp_err *err)
{
	if (rc == -WP_E_STOPPED) {
		*err = *failure;
		return rc;
	}
	if (rc)
		wp_measure_targets_fail(run, targets, index, failure);
	return 0;
}

static void tell(struct wp_run *run, const struct wp_io_options *options, int64_t expected_ns)
{
	int64_t bytes = 0;
	char size[32];
	char time[32];

	for (size_t i = 0; i < options->files.count; i++)
		bytes = options->files.bytes[i] > bytes ? options->files.bytes[i] : bytes;
	if (expected_ns < TELL_FROM_NS)
		return;
	wp_run_tell(run, "note", "writing %s to each target first%s; this will take about %s",
		wp_format_size(bytes, size, sizeof(size)),
		options->beats_cache ? ", twice the memory, so that the page cache cannot hold it"
				     : "",
		wp_format_duration(expected_ns, time, sizeof(time)));
}

int wp_io_make_all(struct wp_run *run, struct wp_io_study *study, struct wp_io_options *options,
	struct wp_measure_targets *targets, struct wp_measures *measures, struct wp_err *err)
{
	int64_t expected_ns = 0;
	int rc = 0;

	for (size_t i = 0; !rc && i < targets->count; i++) {
		struct wp_err failure = { 0 };
		int64_t each_ns = 0;

		if (!targets->items[i].is_open)
			continue;
		rc = wp_io_make_probe(study, &targets->items[i], &each_ns, &failure);
		if (rc)
			wp_io_set_absent(measures, &targets->items[i], &failure);
		rc = failed(run, targets, i, rc, &failure, err);
		expected_ns += each_ns;
	}
	if (!rc)
		tell(run, options, expected_ns);
	for (size_t i = 0; !rc && i < targets->count; i++) {
		struct wp_err failure = { 0 };

		if (!targets->items[i].is_open)
			continue;
		rc = wp_io_make(study, &targets->items[i], measures, &failure);
		rc = failed(run, targets, i, rc, &failure, err);
	}
	return rc;
}
