/* SPDX-License-Identifier: PostgreSQL */
#include "cli/commands.h"
#include "walprobe/leftovers.h"
#include "walprobe/opts.h"
#include "walprobe/server_process.h"

struct params {
	struct wp_common common;
};

static const struct wp_column columns[] = {
	{ "path", "removed", "", WP_KIND_TEXT, "Directory that was removed, with all in it." },
	{ "reason", "why", "", WP_KIND_TEXT,
		"How it is known that the run that made it has ended." },
};

static struct wp_table *table_of(struct wp_run *run)
{
	return wp_result_table(run->result, "cleanup", "Left over from earlier runs, and removed",
		columns, WP_COUNT(columns));
}

static void remove_all(struct wp_run *run, const struct wp_leftovers *found)
{
	/* A server in one may hold a mount in another busy. One that stays is told of below. */
	for (size_t i = 0; i < found->count; i++)
		(void)wp_server_stop(run->os, found->items[i].path, false);
	for (size_t i = 0; i < found->count; i++) {
		const struct wp_leftover *leftover = &found->items[i];
		struct wp_err err = { 0 };
		struct wp_row *row;

		if (wp_leftover_remove(run->os, leftover, &err) != 0) {
			wp_run_problem(run, &err);
			continue;
		}
		wp_run_tell(run, "note", "removed \"%s\" (%s)", leftover->path, leftover->reason);
		row = wp_table_add_row(table_of(run));
		wp_row_text(row, "path", leftover->path);
		wp_row_text(row, "reason", leftover->reason);
	}
}

/* The place itself may be what was left, or hold it. */
static int clean_place(struct wp_run *run, const char *place, struct wp_err *err)
{
	struct wp_leftovers found = { NULL, 0 };
	int rc = wp_leftover_look(run->os, place, &found, err);

	if (!rc && !found.count)
		rc = wp_leftovers_find(run->os, place, &found, err);
	if (!rc)
		remove_all(run, &found);
	wp_leftovers_release(&found);
	return rc;
}

/* Where runs usually lie; a place that is missing or closed to us holds nothing of ours. */
static void clean_usual_places(struct wp_run *run)
{
	const char *temporary = getenv("TMPDIR");
	const char *const places[] = { ".", temporary && *temporary ? temporary : "/tmp",
		"/dev/shm" };

	for (size_t i = 0; i < WP_COUNT(places); i++)
		(void)clean_place(run, places[i], NULL);
}

static void clean_targets(struct wp_run *run, const struct wp_target_specs *specs)
{
	for (size_t i = 0; i < specs->count; i++) {
		struct wp_err err = { 0 };

		if (clean_place(run, wp_target_place(&specs->items[i]), &err) != 0)
			wp_run_problem(run, &err);
	}
}

static int execute(struct wp_run *run, const void *params, const char *const *operands,
	size_t operand_count, struct wp_err *err)
{
	struct wp_target_specs specs = { NULL, 0 };
	int rc;

	(void)params;
	if (!operand_count) {
		clean_usual_places(run);
	} else {
		rc = wp_targets_parse(operands, operand_count, &specs, err);
		if (rc)
			return rc;
		clean_targets(run, &specs);
		wp_targets_release(&specs);
	}
	if (!table_of(run)->row_count && !run->problem_count)
		wp_run_tell(run, "note", "nothing was left over");
	return 0;
}

static const struct wp_opt *const tables[] = { wp_output_opts, NULL };

const struct wp_command wp_cmd_cleanup = {
	.name = "cleanup",
	.operands = "[TARGET...]",
	.summary = "remove what a killed run left",
	.epilogue =
		"Looks in each TARGET (and, for an image, where it lies), by default in the\n"
		"current directory, $TMPDIR or /tmp, and /dev/shm. Removes the directories that\n"
		"walprobe marked as its own and whose process is gone; never one by its name\n"
		"alone, and never one of a run that is still going on.\n",
	.tables = tables,
	.params_size = sizeof(struct params),
	.operands_maximum = 1000,
	.execute = execute,
};
