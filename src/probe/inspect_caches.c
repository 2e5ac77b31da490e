/* SPDX-License-Identifier: PostgreSQL */
/* inspect_caches.c - tables of what controllers and drives said. */
#include "inspect_tables.h"

#include "walprobe/mem.h"

#define NOT_SAID "the output does not say"

static const struct wp_column controller_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label of the target." },
	{ "controller", "controller", "", WP_KIND_TEXT, "Number, adapter or slot." },
	{ "volume", "volume", "", WP_KIND_TEXT, "Number of the volume." },
	{ "device", "device", "", WP_KIND_TEXT, "Block device that the volume is here." },
	{ "default_policy", "set to", "", WP_KIND_TEXT, "Write policy that is wanted." },
	{ "current_policy", "does", "", WP_KIND_TEXT, "Write policy that is in force." },
	{ "without_battery", "no battery", "", WP_KIND_TEXT, "Policy once the battery fails." },
	{ "disk_cache", "disk caches", "", WP_KIND_TEXT,
		"Write caches of the disks behind the controller." },
	{ "battery", "battery", "", WP_KIND_TEXT,
		"State of battery or capacitor, the worst that was said." },
	{ "battery_words", "its words", "", WP_KIND_TEXT, "That statement as printed." },
	{ "learning", "learns", "", WP_KIND_INT, "1 while a learn cycle runs." },
	{ "cache_status", "cache", "", WP_KIND_TEXT, "Cache status as the tool prints it." },
	{ "family", "family", "", WP_KIND_TEXT, "Kind of RAID controller." },
	{ "model", "model", "", WP_KIND_TEXT, "Model of the controller." },
	{ "raid_level", "level", "", WP_KIND_TEXT, "RAID level as the tool prints it." },
	{ "drives", "drives", "", WP_KIND_INT, "Number of drives of the volume." },
	{ "size", "size", "", WP_KIND_TEXT, "Size as the tool prints it." },
	{ "strip", "strip", "", WP_KIND_TEXT, "Strip size as the tool prints it." },
};

static const struct wp_column drive_columns[] = {
	{ "target", "target", "", WP_KIND_TEXT, "Label of the target." },
	{ "device", "device", "", WP_KIND_TEXT, "Drive that was asked." },
	{ "source", "source", "", WP_KIND_TEXT, "Tool or file that answered." },
	{ "volatile_cache", "cache", "", WP_KIND_TEXT, "State of the volatile write cache." },
	{ "flush", "FLUSH", "", WP_KIND_TEXT, "What happened to a flush command." },
};

static void set_text(struct wp_row *row, const char *key, const char *value)
{
	if (value)
		wp_row_text(row, key, value);
	else
		wp_row_absent(row, key, NOT_SAID);
}

static const char *policy_name(enum wp_write_policy policy)
{
	static const char *const names[] = { NULL, "write through", "write back",
		"always write back" };

	return names[policy];
}

static void fill_controller(struct wp_row *row, const struct wp_controller *at)
{
	static const char *const backups[] = { NULL, "good", "unclear", "learning", "worn",
		"failed", "missing" };

	wp_row_text(row, "family", wp_raid_family_name(at->family));
	set_text(row, "controller", at->id);
	set_text(row, "model", at->model);
	set_text(row, "battery", backups[at->backup]);
	set_text(row, "battery_words", at->backup_words);
	set_text(row, "cache_status", at->cache_words);
	if (at->is_learning == WP_UNSAID)
		wp_row_absent(row, "learning", NOT_SAID);
	else
		wp_row_int(row, "learning", at->is_learning == WP_YES);
}

static void fill_policies(struct wp_row *row, enum wp_write_policy standard,
	enum wp_write_policy now, enum wp_answer is_back, enum wp_disk_cache disks)
{
	static const char *const caches[] = { NULL, "off", "disk's default", "on" };
	static const char *const without[] = { NULL, "write through", "write back" };

	set_text(row, "default_policy", policy_name(standard));
	set_text(row, "current_policy", policy_name(now));
	set_text(row, "without_battery", without[is_back]);
	set_text(row, "disk_cache", caches[disks]);
}

static void fill_volume(
	struct wp_row *row, const struct wp_volume *volume, const struct wp_controller *at)
{
	enum wp_disk_cache disks =
		volume->disk_cache > at->disk_cache ? volume->disk_cache : at->disk_cache;

	set_text(row, "volume", volume->name);
	set_text(row, "device", volume->device);
	set_text(row, "raid_level", volume->raid_level);
	set_text(row, "size", volume->size);
	set_text(row, "strip", volume->strip);
	if (volume->drive_count >= 0)
		wp_row_int(row, "drives", volume->drive_count);
	else
		wp_row_absent(row, "drives", NOT_SAID);
	fill_policies(row, volume->default_policy,
		volume->current_policy ? volume->current_policy : at->cache,
		volume->is_back_without_battery ? volume->is_back_without_battery
						: at->is_back_without_battery,
		disks);
}

static void add_controllers(
	struct wp_table *table, const char *label, const struct wp_cache_facts *facts)
{
	for (size_t i = 0; i < facts->controller_count; i++) {
		const struct wp_controller *at = &facts->controllers[i];
		struct wp_row *row;
		size_t volumes = 0;

		for (size_t j = 0; j < facts->volume_count; j++) {
			if (facts->volumes[j].controller != i)
				continue;
			row = wp_table_add_row(table);
			wp_row_text(row, "target", label);
			fill_controller(row, at);
			fill_volume(row, &facts->volumes[j], at);
			volumes++;
		}
		if (volumes > 0)
			continue;
		row = wp_table_add_row(table);
		wp_row_text(row, "target", label);
		fill_controller(row, at);
		fill_policies(row, WP_POLICY_UNSAID, at->cache, at->is_back_without_battery,
			at->disk_cache);
	}
}

void inspect_fill_caches(
	struct wp_result *result, const char *label, const struct wp_cache_facts *facts)
{
	static const char *const states[] = { NULL, "off", "on" };
	static const char *const views[] = { NULL, "write through", "write back" };

	if (facts->controller_count > 0)
		add_controllers(wp_result_table(result, "controllers",
					"What the RAID controllers say of their caches",
					controller_columns, WP_COUNT(controller_columns)),
			label, facts);
	for (size_t i = 0; i < facts->statement_count; i++) {
		const struct wp_drive_statement *at = &facts->statements[i];
		struct wp_row *row = wp_table_add_row(
			wp_result_table(result, "drives", "What the drives say of their caches",
				drive_columns, WP_COUNT(drive_columns)));

		wp_row_text(row, "target", label);
		set_text(row, "device", at->device);
		wp_row_text(row, "source", at->source);
		set_text(row, "volatile_cache",
			at->is_kernel_view ? views[at->is_cache_on] : states[at->is_cache_on]);
		if (at->is_flush_failing)
			wp_row_text(row, "flush", "fails");
		else
			wp_row_absent(row, "flush", "not tried");
	}
}
