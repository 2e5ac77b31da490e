/* SPDX-License-Identifier: PostgreSQL */
/*
 * raid_ssacli.c - ssacli, hpssacli, hpacucli: "show detail", "show config detail", "show status",
 * also when a monitoring plugin has put several statements into one line.
 *
 * The output has no end mark; a controller counts as complete once it has said what it does without
 * a battery, which only the detailed forms do.
 */
#include "raid.h"

struct reader {
	struct wp_cache_facts *facts;
	size_t controller;
	size_t volume;
	size_t understood;
};

static const char *const keys[] = { "Controller Status", "Cache Status", "Cache Status Details",
	"Cache Board Present", "Cache Ratio", "Accelerator Ratio", "Drive Write Cache",
	"Configured Drive Write Cache Policy", "Physical Drive Write Cache State",
	"No-Battery Write Cache", "Battery/Capacitor Count", "Battery/Capacitor Status",
	"Battery Pack Count", "Battery Status", NULL };

/* "key:" where a word begins; *value is a copy up to the next key, a backslash or the end. */
static bool field(const char *line, const char *key, char *value, size_t size)
{
	const char *at = line;
	size_t length = strlen(key);

	while ((at = strcasestr(at, key)) != NULL) {
		bool is_start = at == line || (at[-1] == ' ' && (at - line < 2 || at[-2] != '-'));

		if (is_start && at[length] == ':')
			break;
		at++;
	}
	/* "Drive Write Cache" ends longer keys that mean other drives. */
	if (!at || (at != line && strncasecmp(key, "Drive", 5) == 0))
		return false;
	at += length + 1;
	at += strspn(at, " ");
	length = strcspn(at, "\\");
	for (size_t i = 0; keys[i]; i++) {
		const char *next = strcasestr(at, keys[i]);

		if (next && (size_t)(next - at) < length && next[strlen(keys[i])] == ':')
			length = (size_t)(next - at);
	}
	while (length > 0 && at[length - 1] == ' ')
		length--;
	(void)snprintf(value, size, "%.*s", (int)(length < size ? length : size - 1), at);
	return true;
}

/* "Smart Array P400 in Slot 1", also behind other words of a monitoring plugin */
static bool read_heading(struct reader *reader, const char *line)
{
	const char *slot = strstr(line, " in Slot ");
	const char *model = line;
	char *name;
	char id[24];

	if (!slot || raid_number(slot + 9) < 0)
		return false;
	for (const char *at = line; at < slot; at++)
		if (at[0] == ':' && at[1] == ' ')
			model = at + 2;
	model += strspn(model, " ");
	(void)snprintf(id, sizeof(id), "%" PRId64, raid_number(slot + 9));
	reader->controller = raid_controller(reader->facts, WP_RAID_SMART, id);
	reader->volume = RAID_NOWHERE;
	if (reader->controller == RAID_NOWHERE)
		return false;
	name = wp_xstrndup(model, (size_t)(slot > model ? slot - model : 0));
	raid_keep(&reader->facts->controllers[reader->controller].model, name);
	free(name);
	return true;
}

static void read_cache_status(struct wp_controller *at, const char *value)
{
	raid_keep(&at->cache_words, value);
	if (raid_says(value, "OK")) {
		/* a ratio that leaves nothing for writes may have been read before */
		if (at->cache == WP_POLICY_UNSAID)
			at->cache = WP_POLICY_BACK;
	} else if (raid_says(value, "Not Configured") || raid_says(value, "Temporarily Disabled") ||
		   raid_says(value, "Permanently Disabled")) {
		at->cache = WP_POLICY_THROUGH;
	} else {
		at->cache = WP_POLICY_UNSAID;
	}
}

static enum wp_backup battery_of(const char *value)
{
	if (raid_says(value, "OK"))
		return WP_BACKUP_GOOD;
	if (raid_says(value, "Recharging") || raid_says(value, "Charging") ||
		raid_says(value, "Not Fully Charged"))
		return WP_BACKUP_LEARNING;
	if (raid_says(value, "Failed"))
		return WP_BACKUP_FAILED;
	if (raid_says(value, "Degraded") || raid_says(value, "Predictive Failure"))
		return WP_BACKUP_WORN;
	if (raid_says(value, "Not Present") || raid_says(value, "Missing"))
		return WP_BACKUP_MISSING;
	return WP_BACKUP_ODD;
}

static enum wp_disk_cache drive_cache(const char *value)
{
	if (raid_says(value, "Disabled") || raid_says(value, "Disable"))
		return WP_DISK_CACHE_OFF;
	if (raid_says(value, "Enabled") || raid_says(value, "Enable"))
		return WP_DISK_CACHE_ON;
	return WP_DISK_CACHE_DEFAULT;
}

/* "100% Read / 0% Write" */
static bool leaves_nothing_for_writes(const char *ratio)
{
	const char *write = strchr(ratio, '/');

	if (!write)
		return false;
	write++;
	write += strspn(write, " ");
	return raid_number(write) == 0 && write[1] == '%';
}

static size_t read_battery(struct wp_controller *at, const char *line)
{
	char value[120];
	size_t understood = 0;

	if (field(line, "Battery/Capacitor Status", value, sizeof(value)) ||
		field(line, "Battery Status", value, sizeof(value))) {
		raid_backup(at, battery_of(value), value);
		understood++;
	}
	if ((field(line, "Battery/Capacitor Count", value, sizeof(value)) ||
		    field(line, "Battery Pack Count", value, sizeof(value))) &&
		raid_number(value) == 0) {
		raid_backup(at, WP_BACKUP_MISSING, "none is fitted");
		understood++;
	}
	return understood;
}

static size_t read_controller(struct wp_controller *at, const char *line)
{
	char value[120];
	size_t understood = read_battery(at, line);

	if (field(line, "Cache Status", value, sizeof(value))) {
		read_cache_status(at, value);
		understood++;
	}
	if (field(line, "Cache Board Present", value, sizeof(value)) && raid_says(value, "False")) {
		at->cache = WP_POLICY_THROUGH;
		understood++;
	}
	if ((field(line, "Cache Ratio", value, sizeof(value)) ||
		    field(line, "Accelerator Ratio", value, sizeof(value))) &&
		leaves_nothing_for_writes(value)) {
		at->cache = WP_POLICY_THROUGH;
		understood++;
	}
	if (field(line, "Drive Write Cache", value, sizeof(value)) ||
		field(line, "Configured Drive Write Cache Policy", value, sizeof(value)) ||
		field(line, "Physical Drive Write Cache State", value, sizeof(value))) {
		raid_worse_disk_cache(&at->disk_cache, drive_cache(value));
		understood++;
	}
	if (field(line, "No-Battery Write Cache", value, sizeof(value))) {
		if (raid_says(value, "Enabled"))
			at->is_back_without_battery = WP_YES;
		else if (raid_says(value, "Disabled") && at->is_back_without_battery == WP_UNSAID)
			at->is_back_without_battery = WP_NO;
		understood++;
	}
	return understood;
}

static size_t read_volume(struct reader *reader, const char *line)
{
	const char *value = raid_value(line, "Logical Drive");
	struct wp_volume *at;
	char name[24];

	if (value && raid_number(value) >= 0) {
		(void)snprintf(name, sizeof(name), "%" PRId64, raid_number(value));
		reader->volume = raid_volume(reader->facts, reader->controller, name, false);
		return reader->volume != RAID_NOWHERE;
	}
	if (raid_says(line, "physicaldrive") || raid_says(line, "unassigned"))
		reader->volume = RAID_NOWHERE;
	if (reader->volume == RAID_NOWHERE)
		return 0;
	at = &reader->facts->volumes[reader->volume];
	if ((value = raid_value(line, "Disk Name")) != NULL)
		raid_keep_device(&at->device, value);
	else if ((value = raid_value(line, "Unique Identifier")) != NULL)
		raid_keep(&at->wwn, value);
	else if ((value = raid_value(line, "Fault Tolerance")) != NULL)
		raid_keep(&at->raid_level, value);
	else if ((value = raid_value(line, "Strip Size")) != NULL)
		raid_keep(&at->strip, value);
	else if ((value = raid_value(line, "Size")) != NULL)
		raid_keep(&at->size, value);
	else if ((value = raid_value(line, "Status")) != NULL)
		raid_keep(&at->state, value);
	else if ((value = raid_value(line, "Caching")) != NULL && raid_says(value, "Disabled"))
		at->current_policy = WP_POLICY_THROUGH;
	return value != NULL;
}

size_t raid_read_ssacli(struct wp_cache_facts *facts, const struct raid_text *text)
{
	struct reader reader = { facts, RAID_NOWHERE, RAID_NOWHERE, 0 };

	for (size_t i = 0; i < text->count; i++) {
		const char *line = text->lines[i];

		reader.understood += read_heading(&reader, line);
		if (reader.controller == RAID_NOWHERE)
			continue;
		reader.understood += read_controller(&facts->controllers[reader.controller], line);
		reader.understood += read_volume(&reader, line);
	}
	for (size_t i = 0; i < facts->controller_count; i++) {
		struct wp_controller *at = &facts->controllers[i];

		if (at->family != WP_RAID_SMART || reader.understood == 0)
			continue;
		/* Read again when another text says more. */
		at->is_volumes_whole = at->is_backup_whole =
			at->is_back_without_battery != WP_UNSAID ? WP_YES : WP_NO;
	}
	return reader.understood;
}
