/* SPDX-License-Identifier: PostgreSQL */
#include "cli/measure_targets.h"

#include "walprobe/inspect.h"
#include "walprobe/leftovers.h"
#include "walprobe/mem.h"
#include "walprobe/units.h"

#define LONG_RUN_NS (10 * WP_NS_PER_S)

static bool has_image(const struct wp_target_specs *specs)
{
	for (size_t i = 0; i < specs->count; i++)
		if (specs->items[i].is_image)
			return true;
	return false;
}

/* With --keep the mounts must outlive us, and be seen from outside. */
static void hide_mounts(struct wp_run *run, const struct wp_target_specs *specs)
{
	struct wp_err err;

	if (run->is_kept || !has_image(specs))
		return;
	if (wp_target_private_mounts(&err))
		wp_run_tell(run, "detail", "mounts are visible to others: %s", err.message);
}

/* A target that failed before its inspection has an entry all the same. */
static void add_entry(struct wp_run *run, const struct wp_target *target)
{
	for (size_t i = 0; i < run->result->target_count; i++)
		if (strcmp(run->result->targets[i]->label, target->label) == 0)
			return;
	(void)wp_result_add_target(run->result, target->label);
}

static void set_failed(struct wp_run *run, struct wp_target *target, const struct wp_err *failure)
{
	target->is_open = false;
	if (!target->absent)
		target->absent = wp_xstrdup(failure->message);
	add_entry(run, target);
	wp_run_problem(run, failure);
}

static int open_one(struct wp_run *run, const struct wp_target_spec *spec,
	const struct wp_target_options *options, struct wp_target *target, struct wp_err *err)
{
	struct wp_err failure = { 0 };
	int rc = wp_target_open(run->os, run->registry, spec, options, target, &failure);

	/* Even a target that failed has a label, for its rows. */
	target->spec = spec;
	target->label = spec->label;
	if (!rc && target->absent)
		wp_run_tell(run, "note", "target \"%s\": %s", target->label, target->absent);
	if (!rc && target->note)
		wp_run_tell(run, "note", "target \"%s\": %s", target->label, target->note);
	if (!rc)
		rc = wp_inspect_target(run, target, true, &failure);
	if (rc == -WP_E_STOPPED && err)
		*err = failure;
	else if (rc && rc != -WP_E_STOPPED)
		set_failed(run, target, &failure);
	return rc == -WP_E_STOPPED ? rc : 0;
}

int wp_measure_targets_open(struct wp_run *run, const char *const *words, size_t count,
	int64_t needed_bytes, struct wp_measure_targets *out, struct wp_err *err)
{
	return wp_measure_targets_open_on(run, words, count, needed_bytes, NULL, out, err);
}

int wp_measure_targets_open_on(struct wp_run *run, const char *const *words, size_t count,
	int64_t needed_bytes, const char *mounts_on, struct wp_measure_targets *out,
	struct wp_err *err)
{
	const struct wp_target_options options = { .needed_bytes = needed_bytes,
		.is_forced = run->is_forced,
		.is_kept = run->is_kept,
		.mounts_on = mounts_on };
	int rc;

	memset(out, 0, sizeof(*out));
	rc = wp_targets_parse(words, count, &out->specs, err);
	if (rc)
		return rc;
	wp_leftovers_tell(run, &out->specs);
	hide_mounts(run, &out->specs);
	out->count = out->specs.count;
	out->items = wp_xcalloc(out->count, sizeof(*out->items));
	for (size_t i = 0; !rc && i < out->count; i++) {
		rc = open_one(run, &out->specs.items[i], &options, &out->items[i], err);
		out->open_count += out->items[i].is_open;
	}
	return rc;
}

void wp_measure_targets_fail(struct wp_run *run, struct wp_measure_targets *targets, size_t index,
	const struct wp_err *failure)
{
	if (targets->items[index].is_open)
		targets->open_count--;
	set_failed(run, &targets->items[index], failure);
}

int wp_measure_targets_none(
	const struct wp_run *run, const struct wp_measure_targets *targets, struct wp_err *err)
{
	const struct wp_target *first = targets->count ? &targets->items[0] : NULL;

	if (targets->open_count > 0 || run->problem_count > 0)
		return 0;
	(void)wp_fail(err, WP_E_UNSUPPORTED, 0, "no target could be measured");
	if (first && first->absent)
		wp_err_detail(err, "\"%s\": %s.", first->label, first->absent);
	wp_err_hint(err, "Name a directory, or another file system in image:FSTYPE.");
	return -WP_E_UNSUPPORTED;
}

void wp_measure_targets_tell_duration(struct wp_run *run, const struct wp_measures *measures)
{
	int64_t expected_ns = wp_rounds_expected_ns(run, measures);
	char text[32];

	if (expected_ns > LONG_RUN_NS)
		wp_run_tell(run, "note", "this will take about %s",
			wp_format_duration(expected_ns, text, sizeof(text)));
}

void wp_measure_targets_release(struct wp_measure_targets *targets)
{
	for (size_t i = 0; i < targets->count; i++)
		wp_target_release(&targets->items[i]);
	free(targets->items);
	wp_targets_release(&targets->specs);
	memset(targets, 0, sizeof(*targets));
}
