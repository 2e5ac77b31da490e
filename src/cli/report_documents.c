/* SPDX-License-Identifier: PostgreSQL */
#include "cli/report_documents.h"
#include "walprobe/compare_parts.h"
#include "walprobe/document.h"
#include "walprobe/mem.h"

static int read_parts(const struct wp_os *os, const char *const *files, size_t count,
	struct wp_part *parts, struct wp_err *err)
{
	for (size_t i = 0; i < count; i++) {
		int rc;

		parts[i].file = files[i];
		rc = wp_document_read(os, files[i], &parts[i].result, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* The result that was read or made takes the place of the run's own. */
static void take(struct wp_run *run, struct wp_result *result)
{
	wp_result_free(run->result);
	run->result = result;
}

static void combine(struct wp_run *run, struct wp_part *parts, size_t count, double margin)
{
	struct wp_result *result;

	wp_parts_label(parts, count);
	result = wp_parts_combine(parts, count);
	wp_compare_parts(parts, count, margin, result);
	take(run, result);
}

static void tell_changes(struct wp_run *run, const struct wp_changes *changes)
{
	if (!changes->compared)
		wp_run_tell(run, "warning",
			"nothing in the two documents can be compared: no measurement of the same "
			"target under the same conditions is in both");
	run->is_worse = changes->slower || changes->failing;
	if (run->is_worse)
		wp_run_tell(run, "warning",
			"slower than the baseline beyond the interval: %zu of %zu measurements; "
			"checks that fail now and did not before: %zu",
			changes->slower, changes->compared, changes->failing);
}

static void compare_baseline(struct wp_run *run, struct wp_part *parts, double margin)
{
	struct wp_changes changes =
		wp_compare_baseline(&parts[0], &parts[1], margin, parts[1].result);

	tell_changes(run, &changes);
	take(run, parts[1].result);
	parts[1].result = NULL;
}

static int check_words(size_t count, const char *baseline, struct wp_err *err)
{
	int rc = 0;

	if (baseline && count != 1)
		rc = wp_fail(err, WP_E_USAGE, 0,
			"--baseline compares with one document, not with %zu", count);
	else if (!count)
		rc = wp_fail(err, WP_E_USAGE, 0, "a document is missing");
	if (rc)
		wp_err_hint(err, "Give files that --save or --format json wrote, or - for the "
				 "standard input.");
	return rc;
}

int wp_report_documents(struct wp_run *run, const char *const *files, size_t count,
	const char *baseline, double margin, struct wp_err *err)
{
	size_t before = baseline ? 1 : 0;
	struct wp_part *parts;
	int rc = check_words(count, baseline, err);

	if (rc)
		return rc;
	parts = wp_xcalloc(count + before, sizeof(*parts));
	if (baseline)
		rc = read_parts(run->os, &baseline, 1, parts, err);
	if (!rc)
		rc = read_parts(run->os, files, count, parts + before, err);
	if (!rc && baseline) {
		compare_baseline(run, parts, margin);
	} else if (!rc && count == 1) {
		take(run, parts[0].result);
		parts[0].result = NULL;
	} else if (!rc) {
		combine(run, parts, count, margin);
	}
	wp_parts_release(parts, count + before);
	free(parts);
	return rc;
}
