/* SPDX-License-Identifier: PostgreSQL */
/*
 * raid_areca.c - Areca's cli64: hw info, sys showcfg, vsf info vol=N.
 *
 * Each answer ends with "GuiErrMsg<0x00>: Success.". What the controller does with its cache when
 * its battery fails is nowhere in it, so write back is never called safe here.
 */
#include "raid.h"

static enum wp_backup battery_of(const char *value)
{
	int64_t percent = raid_number(value);

	if (percent >= 0 && strchr(value, '%'))
		return percent == 100 ? WP_BACKUP_GOOD : WP_BACKUP_LEARNING;
	if (strcasestr(value, "(100%)"))
		return WP_BACKUP_GOOD;
	if (strcasestr(value, "Charging"))
		return WP_BACKUP_LEARNING;
	if (raid_says(value, "Not Installed") || raid_says(value, "None"))
		return WP_BACKUP_MISSING;
	if (strcasestr(value, "Fail"))
		return WP_BACKUP_FAILED;
	return WP_BACKUP_ODD;
}

static bool read_policy(struct wp_cache_facts *facts, size_t controller, const char *line)
{
	const char *value = raid_value(line, "Cache Attribute");
	size_t index;

	if (!value)
		value = raid_value(line, "Volume Cache Mode");
	if (!value)
		return false;
	index = raid_volume(facts, controller, NULL, true);
	if (index == RAID_NOWHERE)
		return false;
	facts->volumes[index].current_policy = lsi_policy(value);
	return true;
}

/* Auto: off with a battery, on without one. */
static enum wp_disk_cache disk_cache_of(const char *value, enum wp_backup backup)
{
	if (raid_says(value, "Auto"))
		return backup == WP_BACKUP_GOOD      ? WP_DISK_CACHE_OFF
		       : backup == WP_BACKUP_MISSING ? WP_DISK_CACHE_ON
						     : WP_DISK_CACHE_DEFAULT;
	if (raid_says(value, "On") || raid_says(value, "Enabled"))
		return WP_DISK_CACHE_ON;
	if (raid_says(value, "Off") || raid_says(value, "Disabled"))
		return WP_DISK_CACHE_OFF;
	return WP_DISK_CACHE_DEFAULT;
}

static bool is_areca(const struct raid_text *text)
{
	for (size_t i = 0; i < text->count; i++)
		if (strncmp(text->lines[i], "GuiErrMsg<", 10) == 0 ||
			raid_command(text->whole[i], "cli64") || strstr(text->lines[i], "ARC-") ||
			raid_value(text->lines[i], "Cache Attribute"))
			return true;
	return false;
}

size_t raid_read_areca(struct wp_cache_facts *facts, const struct raid_text *text)
{
	const char *disks = NULL;
	size_t understood = 0;
	bool is_ended = false;
	size_t controller;
	const char *value;

	if (!is_areca(text))
		return 0;
	controller = raid_controller(facts, WP_RAID_ARECA, NULL);
	for (size_t i = 0; controller != RAID_NOWHERE && i < text->count; i++) {
		const char *line = text->lines[i];
		size_t before = understood;

		if ((value = raid_value(line, "Battery Status")) != NULL) {
			raid_backup(&facts->controllers[controller], battery_of(value), value);
			understood++;
		} else if ((value = raid_value(line, "Disk Write Cache Mode")) != NULL) {
			disks = value;
			understood++;
		} else if ((value = raid_value(line, "Controller Name")) != NULL) {
			raid_keep(&facts->controllers[controller].model, value);
			understood++;
		} else {
			understood += read_policy(facts, controller, line);
		}
		if (strncmp(line, "GuiErrMsg<0x00>", 15) == 0)
			is_ended = true;
		else if (understood > before)
			is_ended = false;
	}
	if (controller == RAID_NOWHERE)
		return 0;
	if (disks)
		raid_worse_disk_cache(&facts->controllers[controller].disk_cache,
			disk_cache_of(disks, facts->controllers[controller].backup));
	raid_whole(&facts->controllers[controller].is_volumes_whole, is_ended);
	raid_whole(&facts->controllers[controller].is_backup_whole, is_ended);
	return understood;
}
