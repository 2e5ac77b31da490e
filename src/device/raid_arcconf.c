/* SPDX-License-Identifier: PostgreSQL */
/*
 * raid_arcconf.c - arcconf GETCONFIG n AL (or AD, LD, PD).
 *
 * "Command completed successfully." ends the output.
 */
#include "raid.h"

enum section {
	NO_SECTION,
	CONTROLLER,
	BATTERY, /* the older form, with a bare "Status" */
	VOLUME,
	DRIVE,
};

struct reader {
	struct wp_cache_facts *facts;
	size_t controller;
	size_t volume;
	enum section section;
	size_t understood;
	int64_t number; /* of the controller, from a command */
	bool is_hard_drive;
};

static struct wp_controller *controller(struct reader *reader)
{
	char id[24];

	if (reader->controller == RAID_NOWHERE) {
		(void)snprintf(id, sizeof(id), "%" PRId64, reader->number);
		reader->controller = raid_controller(
			reader->facts, WP_RAID_ADAPTEC, reader->number >= 0 ? id : NULL);
	}
	return reader->controller == RAID_NOWHERE ? NULL
						  : &reader->facts->controllers[reader->controller];
}

static enum wp_backup battery_of(const char *value)
{
	if (raid_says(value, "Ready") || raid_says(value, "Optimal") || raid_says(value, "OK") ||
		raid_says(value, "ZMM Optimal"))
		return WP_BACKUP_GOOD;
	if (raid_says(value, "Charging") || raid_says(value, "Recharging") ||
		raid_says(value, "Reconditioning"))
		return WP_BACKUP_LEARNING;
	if (raid_says(value, "Not Ready") || raid_says(value, "Failed") ||
		raid_says(value, "Fatal") || raid_says(value, "ZMM not installed"))
		return WP_BACKUP_FAILED;
	if (raid_says(value, "Not Present") || raid_says(value, "Not Installed"))
		return WP_BACKUP_MISSING;
	if (raid_says(value, "Degraded") || raid_says(value, "Low"))
		return WP_BACKUP_WORN;
	return WP_BACKUP_ODD;
}

static bool read_heading(struct reader *reader, const char *line, const char *whole)
{
	const char *rest = raid_command(whole, "arcconf");

	if (rest && strncasecmp(rest, "GETCONFIG ", 10) == 0) {
		reader->number = raid_number(rest + 10);
		reader->controller = RAID_NOWHERE;
		return false;
	}
	if (strcasecmp(line, "Controller information") == 0) {
		reader->section = CONTROLLER;
	} else if (strcasecmp(line, "Controller Battery Information") == 0) {
		reader->section = BATTERY;
	} else if (strncasecmp(line, "Logical device number ", 22) == 0 &&
		   raid_number(line + 22) >= 0 && controller(reader)) {
		char name[24];

		(void)snprintf(name, sizeof(name), "%" PRId64, raid_number(line + 22));
		reader->volume = raid_volume(reader->facts, reader->controller, name, false);
		reader->section = reader->volume != RAID_NOWHERE ? VOLUME : NO_SECTION;
	} else if (strcasecmp(line, "Physical Device information") == 0) {
		reader->section = DRIVE;
	} else {
		return false;
	}
	return true;
}

static bool read_controller(struct reader *reader, const char *line)
{
	static const char *const keys[] = { "Overall Backup Unit Status", "Supercap Status",
		"Non-Volatile Storage Status" };
	struct wp_controller *at = controller(reader);
	const char *value;

	if (!at)
		return false;
	for (size_t i = 0; i < WP_COUNT(keys); i++)
		if ((value = raid_value(line, keys[i])) != NULL) {
			char *words = wp_xasprintf("%s: %s", keys[i], value);

			raid_backup(at, battery_of(value), words);
			free(words);
			return true;
		}
	value = raid_value(line, "Status");
	if (value && reader->section == BATTERY) {
		raid_backup(at, battery_of(value), value);
		return true;
	}
	if ((value = raid_value(line, "Controller Model")) != NULL) {
		raid_keep(&at->model, value);
		return true;
	}
	if ((value = raid_value(line, "Configured Drives")) != NULL) {
		raid_worse_disk_cache(
			&at->disk_cache, raid_says(value, "Enabled")    ? WP_DISK_CACHE_ON
					 : raid_says(value, "Disabled") ? WP_DISK_CACHE_OFF
									: WP_DISK_CACHE_DEFAULT);
		return true;
	}
	return false;
}

static enum wp_write_policy setting_of(const char *value)
{
	if (strcasestr(value, "protected by battery"))
		return WP_POLICY_BACK;
	if (raid_says(value, "Disabled") || raid_says(value, "Off"))
		return WP_POLICY_THROUGH;
	if (strcasestr(value, "write-through"))
		return WP_POLICY_THROUGH;
	if (raid_says(value, "Enabled") || raid_says(value, "On"))
		return WP_POLICY_ALWAYS_BACK;
	return WP_POLICY_UNSAID;
}

static void read_setting(struct wp_volume *at, const char *value)
{
	at->default_policy = setting_of(value);
	if (at->default_policy == WP_POLICY_BACK)
		at->is_back_without_battery = WP_NO;
	else if (at->default_policy == WP_POLICY_ALWAYS_BACK)
		at->is_back_without_battery = WP_YES;
}

/* What it does now; the setting, which stands above, says what it would do without a battery. */
static void read_status(struct wp_volume *at, const char *value)
{
	if (raid_says(value, "Off"))
		at->current_policy = WP_POLICY_THROUGH;
	else if (raid_says(value, "On"))
		at->current_policy = at->default_policy == WP_POLICY_ALWAYS_BACK
					     ? WP_POLICY_ALWAYS_BACK
					     : WP_POLICY_BACK;
	else
		at->current_policy = WP_POLICY_UNSAID;
}

static bool read_volume(struct reader *reader, const char *line)
{
	struct wp_volume *at = &reader->facts->volumes[reader->volume];
	const char *value;

	if ((value = raid_value(line, "Write-cache setting")) != NULL) {
		read_setting(at, value);
	} else if ((value = raid_value(line, "Write-cache mode")) != NULL) {
		/* the older form has this line alone */
		read_setting(at, value);
		at->current_policy = at->default_policy;
	} else if ((value = raid_value(line, "Write-cache status")) != NULL) {
		read_status(at, value);
	} else if ((value = raid_value(line, "Disk Name")) != NULL) {
		raid_keep_device(&at->device, value);
	} else if ((value = raid_value(line, "RAID level")) != NULL) {
		raid_keep(&at->raid_level, value);
	} else if ((value = raid_value(line, "Size")) != NULL) {
		raid_keep(&at->size, value);
	} else if ((value = raid_value(line, "Status of logical device")) != NULL) {
		raid_keep(&at->state, value);
	} else {
		return false;
	}
	return true;
}

/* "Write Cache : Enabled (write-back)" of each hard drive */
static bool read_drive(struct reader *reader, const char *line)
{
	const char *value = raid_value(line, "Write Cache");
	struct wp_controller *at = controller(reader);

	if (strncasecmp(line, "Device #", 8) == 0)
		reader->is_hard_drive = false;
	if (strncasecmp(line, "Device is a Hard drive", 22) == 0)
		reader->is_hard_drive = true;
	if (!value || !at || !reader->is_hard_drive)
		return false;
	raid_worse_disk_cache(&at->disk_cache, raid_says(value, "Enabled") ? WP_DISK_CACHE_ON
					       : raid_says(value, "Disabled")
						       ? WP_DISK_CACHE_OFF
						       : WP_DISK_CACHE_DEFAULT);
	return true;
}

static bool read_line(struct reader *reader, const char *line)
{
	switch (reader->section) {
	case CONTROLLER:
	case BATTERY:
		return read_controller(reader, line);
	case VOLUME:
		return read_volume(reader, line);
	case DRIVE:
		return read_drive(reader, line);
	default:
		/* pasted without its headings */
		return (raid_value(line, "Overall Backup Unit Status") ||
			       raid_value(line, "Supercap Status")) &&
		       read_controller(reader, line);
	}
}

/* A volume's lines without the heading of the volume. */
static bool read_bare_volume(struct reader *reader, const char *line)
{
	if (reader->section == VOLUME || !raid_value(line, "Write-cache setting") ||
		!controller(reader))
		return false;
	reader->volume = raid_volume(reader->facts, reader->controller, NULL, true);
	if (reader->volume == RAID_NOWHERE)
		return false;
	reader->section = VOLUME;
	return true;
}

size_t raid_read_arcconf(struct wp_cache_facts *facts, const struct raid_text *text)
{
	struct reader reader = {
		.facts = facts, .controller = RAID_NOWHERE, .volume = RAID_NOWHERE, .number = -1
	};
	bool is_ended = false;

	for (size_t i = 0; i < text->count; i++) {
		const char *line = text->lines[i];
		bool is_known = read_heading(&reader, line, text->whole[i]) ||
				read_bare_volume(&reader, line);

		is_known = read_line(&reader, line) || is_known;
		if (strncasecmp(line, "Command completed successfully", 30) == 0)
			is_ended = true;
		else if (is_known)
			is_ended = false;
		reader.understood += is_known;
	}
	for (size_t i = 0; reader.understood && i < facts->controller_count; i++)
		if (facts->controllers[i].family == WP_RAID_ADAPTEC) {
			raid_whole(&facts->controllers[i].is_volumes_whole, is_ended);
			raid_whole(&facts->controllers[i].is_backup_whole, is_ended);
		}
	return reader.understood;
}
