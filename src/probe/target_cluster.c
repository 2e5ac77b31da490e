/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/target_cluster.h"

#include "walprobe/leftovers.h"
#include "walprobe/mem.h"

#define CHECK_ID "fsync-reaches-file"

static const struct wp_column columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Target that holds the server's pg_wal." },
	{ "setting", "setting", "", WP_KIND_TEXT, "Name of the configuration setting." },
	{ "value", "value", "", WP_KIND_TEXT, "Value that the running server shows." },
	{ "source", "source", "", WP_KIND_TEXT,
		"walprobe (chosen so that WAL is the bottleneck), --set, or the server's "
		"default." },
};

static const char *const sources[] = {
	[WP_CLUSTER_CHOSEN] = "walprobe",
	[WP_CLUSTER_ASKED] = "--set",
	[WP_CLUSTER_SERVER] = "default",
};

int wp_cluster_plan_prepare(struct wp_run *run, struct wp_cluster_plan *plan, struct wp_err *err)
{
	int rc = wp_cluster_check_settings(plan->settings, plan->setting_count, err);

	if (!rc)
		rc = wp_user_find(run->os, plan->run_as, &plan->user, err);
	if (!rc)
		rc = wp_pg_binaries_find(run->os, plan->bindir, &plan->user, &plan->binaries, err);
	if (!rc)
		rc = wp_cluster_base(run->os, &plan->user, plan->base, &plan->place, err);
	if (rc)
		return rc;
	plan->shared_buffers_bytes = wp_cluster_buffer_bytes(run->os);
	wp_run_tell(run, "detail", "PostgreSQL %s in \"%s\", as user \"%s\", data in \"%s\"",
		plan->binaries.version, plan->binaries.directory, plan->user.name, plan->place);
	return 0;
}

void wp_cluster_plan_fit(struct wp_run *run, struct wp_cluster_plan *plan,
	const struct wp_target *targets, size_t count)
{
	plan->wal_bytes = 0;
	for (size_t i = 0; i < count; i++) {
		int64_t bytes = targets[i].is_open
					? wp_cluster_wal_bytes(run->os, targets[i].dir, NULL)
					: -1;

		if (bytes > 0 && (!plan->wal_bytes || bytes < plan->wal_bytes))
			plan->wal_bytes = bytes;
	}
}

static void tell_kept(struct wp_run *run, const struct wp_cluster_plan *plan,
	const struct wp_target *target, const struct wp_cluster *cluster)
{
	wp_run_tell(run, "note",
		"the server in \"%s\" stays: reach it with %s; stop and remove it with \"walprobe "
		"cleanup %s %s\"",
		cluster->data_directory, cluster->psql, plan->place, wp_target_place(target->spec));
}

/* FUSE lets nobody in but who mounted it, whatever the modes say. */
static void hint_fuse(const struct wp_target *target, struct wp_err *err)
{
	const char *fstype = target->stack.fstype;

	if (err && err->sys_errno == EACCES && fstype && strncmp(fstype, "fuse", 4) == 0)
		wp_err_hint(err, "A FUSE file system lets other users in when it is mounted with "
				 "the option allow_other.");
}

int wp_target_cluster(struct wp_run *run, const struct wp_cluster_plan *plan,
	const struct wp_target *target, struct wp_cluster **out, struct wp_err *err)
{
	const struct wp_cluster_options options = { .binaries = &plan->binaries,
		.user = &plan->user,
		.base = plan->place,
		.wal = target->dir,
		.is_whole = plan->is_whole,
		.is_kept = run->is_kept,
		.settings = plan->settings,
		.setting_count = plan->setting_count,
		.clients_most = plan->clients_most,
		.wal_bytes = plan->wal_bytes,
		.shared_buffers_bytes = plan->shared_buffers_bytes,
		.seed = run->seed };
	const char *lost = wp_stack_sync_lost(&target->stack);
	int64_t room = wp_cluster_wal_bytes(run->os, target->dir, err);
	int rc = room < 0 ? (int)room : wp_cluster_create(run->registry, &options, out, err);

	if (rc) {
		hint_fuse(target, err);
		if (rc != -WP_E_STOPPED)
			wp_err_prefix(err, "target \"%s\": ", target->label);
		return rc;
	}
	if (lost)
		wp_run_tell(run, "warning", "target \"%s\": fsync does not reach the file: %s",
			target->label, lost);
	if (run->is_kept)
		tell_kept(run, plan, target, *out);
	return 0;
}

static void fill_table(
	struct wp_run *run, const struct wp_target *target, const struct wp_cluster *cluster)
{
	struct wp_table *table = wp_result_table(run->result, "cluster",
		"Settings of the throwaway servers", columns, WP_COUNT(columns));

	for (size_t i = 0; i < cluster->setting_count; i++) {
		const struct wp_cluster_setting *setting = &cluster->settings[i];
		struct wp_row *row = wp_table_add_row(table);

		wp_row_text(row, "target", target->label);
		wp_row_text(row, "setting", setting->name);
		wp_row_text(row, "source", sources[setting->origin]);
		if (setting->shown)
			wp_row_text(row, "value", setting->shown);
		else
			wp_row_absent(row, "value", "this version lacks it");
	}
}

static void fail_check(struct wp_run *run, const struct wp_target *target, const char *observed)
{
	wp_result_add_check(run->result, CHECK_ID, target->label, WP_CHECK_FAIL,
		"fsync() of pg_wal reaches its file", observed,
		"fsync does not reach the file: nothing that was committed here is safe, and the "
		"figures say nothing about the disk");
}

bool wp_target_cluster_record(
	struct wp_run *run, const struct wp_target *target, const struct wp_cluster *cluster)
{
	const char *lost = wp_stack_sync_lost(&target->stack);

	fill_table(run, target, cluster);
	if (lost)
		fail_check(run, target, lost);
	return !lost;
}

void wp_cluster_plan_release(struct wp_cluster_plan *plan)
{
	wp_user_release(&plan->user);
	wp_pg_binaries_release(&plan->binaries);
	free(plan->place);
	plan->place = NULL;
}
