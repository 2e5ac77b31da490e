/* SPDX-License-Identifier: PostgreSQL */
/*
 * raid_megacli.c - MegaCli -LDInfo and -AdpBbuCmd, and the abridged forms that people post.
 *
 * "Exit Code:" ends each output; one that stops before it can still hide something bad.
 */
#include "raid.h"

struct reader {
	struct wp_cache_facts *facts;
	size_t controller;
	size_t volume;
	size_t understood;
	bool has_volumes; /* since the last exit code */
	bool has_battery;
};

/* MegaCli writes "key : value"; what storcli writes with "=" is read elsewhere. */
static const char *colon_value(const char *line, const char *key)
{
	const char *value = raid_value(line, key);
	const char *mark = value;

	while (mark && mark > line && mark[-1] == ' ')
		mark--;
	return mark && mark[-1] == ':' ? value : NULL;
}

static void enter_controller(struct reader *reader, const char *number)
{
	char id[24];

	if (raid_number(number) < 0)
		return;
	(void)snprintf(id, sizeof(id), "%" PRId64, raid_number(number));
	reader->controller = raid_controller(reader->facts, WP_RAID_MEGARAID, id);
	reader->volume = RAID_NOWHERE;
}

static struct wp_controller *controller(struct reader *reader)
{
	if (reader->controller == RAID_NOWHERE)
		reader->controller = raid_controller(reader->facts, WP_RAID_MEGARAID, NULL);
	return reader->controller == RAID_NOWHERE ? NULL
						  : &reader->facts->controllers[reader->controller];
}

/* The volume that a policy line is about; one without a heading gets a volume without a name. */
static struct wp_volume *volume(struct reader *reader)
{
	if (!controller(reader))
		return NULL;
	if (reader->volume == RAID_NOWHERE)
		reader->volume = raid_volume(reader->facts, reader->controller, NULL, true);
	return reader->volume == RAID_NOWHERE ? NULL : &reader->facts->volumes[reader->volume];
}

/* "Virtual Drive: 24 (Target Id: 24)" */
static bool read_heading(struct reader *reader, const char *line)
{
	const char *value = raid_value(line, "Virtual Drive");
	const char *target;
	char name[24];

	if (!value)
		value = raid_value(line, "Virtual Disk");
	if (!value || raid_number(value) < 0 || !controller(reader))
		return false;
	(void)snprintf(name, sizeof(name), "%" PRId64, raid_number(value));
	reader->volume = raid_volume(reader->facts, reader->controller, name, true);
	target = strcasestr(value, "Target Id:");
	if (target && reader->volume != RAID_NOWHERE) {
		target += strlen("Target Id:");
		reader->facts->volumes[reader->volume].target_id =
			raid_number(target + strspn(target, " "));
	}
	reader->has_volumes = true;
	return true;
}

static void read_clause(struct wp_volume *at, const char *value)
{
	if (strcasestr(value, "No Write Cache if Bad BBU"))
		at->is_back_without_battery = WP_NO;
	else if (strcasestr(value, "Write Cache OK if Bad BBU"))
		at->is_back_without_battery = WP_YES;
}

static bool read_policy(struct reader *reader, const char *line)
{
	const char *current = colon_value(line, "Current Cache Policy");
	const char *standard = colon_value(line, "Default Cache Policy");
	const char *disk = colon_value(line, "Disk Cache Policy");
	struct wp_volume *at;

	if (!current && !standard && !disk)
		return false;
	at = volume(reader);
	if (!at)
		return false;
	if (current && !at->name && at->current_policy != WP_POLICY_UNSAID) {
		reader->volume = RAID_NOWHERE;
		at = volume(reader);
		if (!at)
			return false;
	}
	if (current) {
		at->current_policy = lsi_policy(current);
		read_clause(at, current);
	} else if (standard) {
		at->default_policy = lsi_policy(standard);
		if (at->is_back_without_battery == WP_UNSAID)
			read_clause(at, standard);
	} else {
		raid_worse_disk_cache(&at->disk_cache, lsi_disk_cache(disk));
	}
	reader->has_volumes = true;
	return true;
}

static bool read_attribute(struct reader *reader, const char *line)
{
	struct wp_volume *at;
	const char *value;

	if (reader->volume == RAID_NOWHERE)
		return false;
	at = &reader->facts->volumes[reader->volume];
	if ((value = colon_value(line, "RAID Level")) != NULL)
		raid_keep(&at->raid_level, value);
	else if ((value = colon_value(line, "Size")) != NULL)
		raid_keep(&at->size, value);
	else if ((value = colon_value(line, "State")) != NULL)
		raid_keep(&at->state, value);
	else if ((value = colon_value(line, "Strip Size")) != NULL ||
		 (value = colon_value(line, "Stripe Size")) != NULL)
		raid_keep(&at->strip, value);
	else if ((value = colon_value(line, "Number Of Drives")) != NULL ||
		 (value = colon_value(line, "Number Of Drives per span")) != NULL)
		at->drive_count = raid_number(value);
	return value != NULL;
}

static bool read_battery(struct reader *reader, const char *line)
{
	/* "State" alone is a volume's. */
	for (size_t i = 0; lsi_battery_keys[i]; i++) {
		const char *value = colon_value(line, lsi_battery_keys[i]);

		if (!value || strcmp(lsi_battery_keys[i], "State") == 0 || !controller(reader))
			continue;
		reader->has_battery = true;
		return lsi_battery(controller(reader), lsi_battery_keys[i], value);
	}
	if ((strcasestr(line, "does not have BBU") || strcasestr(line, "BBU is absent") ||
		    strcasestr(line, "hardware component is not present")) &&
		controller(reader)) {
		raid_backup(controller(reader), WP_BACKUP_MISSING, line);
		reader->has_battery = true;
		return true;
	}
	if (strcasestr(line, "Get BBU Status Failed") && controller(reader)) {
		raid_backup(controller(reader), WP_BACKUP_ODD, line);
		reader->has_battery = true;
		return true;
	}
	return false;
}

/* "Adapter 0 -- Virtual Drive Information:", "BBU status for Adapter: 0", "Adapter #0", and the
 * controller that a storcli command names. */
static bool read_place(struct reader *reader, const char *line, const char *whole)
{
	static const char *const words[] = { "Adapter #", "Adapter: ", "Adapter " };
	static const char *const tools[] = { "storcli", "perccli" };

	for (size_t i = 0; i < WP_COUNT(tools); i++) {
		const char *rest = raid_command(whole, tools[i]);

		if (rest && strncmp(rest, "/c", 2) == 0) {
			enter_controller(reader, rest + 2);
			return false;
		}
	}
	if (strncasecmp(line, "Adapter", 7) != 0 && strncasecmp(line, "BBU ", 4) != 0)
		return false;
	for (size_t i = 0; i < WP_COUNT(words); i++) {
		const char *at = strstr(line, words[i]);

		if (at && raid_number(at + strlen(words[i])) >= 0) {
			enter_controller(reader, at + strlen(words[i]));
			return true;
		}
	}
	return false;
}

static void end_output(struct reader *reader, bool is_whole)
{
	for (size_t i = 0; i < reader->facts->controller_count; i++) {
		struct wp_controller *at = &reader->facts->controllers[i];

		if (at->family != WP_RAID_MEGARAID)
			continue;
		if (reader->has_volumes)
			raid_whole(&at->is_volumes_whole, is_whole);
		if (reader->has_battery)
			raid_whole(&at->is_backup_whole, is_whole);
	}
	reader->has_volumes = reader->has_battery = false;
}

size_t raid_read_megacli(struct wp_cache_facts *facts, const struct raid_text *text)
{
	struct reader reader = {
		.facts = facts, .controller = RAID_NOWHERE, .volume = RAID_NOWHERE
	};

	for (size_t i = 0; i < text->count; i++) {
		const char *line = text->lines[i];

		if (raid_value(line, "Exit Code")) {
			end_output(&reader, raid_says(raid_value(line, "Exit Code"), "0x00"));
			reader.controller = reader.volume = RAID_NOWHERE;
			continue;
		}
		reader.understood += read_place(&reader, line, text->whole[i]) ||
				     read_heading(&reader, line) || read_policy(&reader, line) ||
				     read_battery(&reader, line) || read_attribute(&reader, line);
	}
	end_output(&reader, false);
	return reader.understood;
}
