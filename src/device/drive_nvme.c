/* SPDX-License-Identifier: PostgreSQL */
/*
 * drive_nvme.c - nvme get-feature, id-ctrl and smart-log, and smartctl's JSON.
 *
 * Source: NVM Express base specification: VWC bit 0 says that there is a volatile write cache;
 * feature 06h says whether it is on. A cache that survives a power loss does not count as volatile.
 */
#include "raid.h"

#include <jansson.h>

#define SOURCE "nvme"

/* A cache is the controller's, whichever of its disks was named: "nvme0n1" becomes "nvme0". */
static void cut_disk(char *name)
{
	if (name && strncmp(name, "nvme", 4) == 0)
		name[4 + strspn(name + 4, "0123456789")] = '\0';
}

/* "0x7", "7": at least this many digits after the prefix, or -1: a number that is cut off is none. */
static int64_t hexadecimal(const char *value, size_t digits)
{
	if (strncasecmp(value, "0x", 2) == 0)
		value += 2;
	if (strspn(value, "0123456789abcdefABCDEF") < digits ||
		strspn(value, "0123456789abcdefABCDEF") > 8)
		return -1;
	return (int64_t)strtoull(value, NULL, 16);
}

/* A cache that is there is on until the feature says otherwise. */
static void say_present(struct wp_cache_facts *facts, const char *device, int64_t vwc)
{
	struct wp_drive_statement *statement;

	if (vwc < 0)
		return;
	statement = raid_statement(facts, device, SOURCE, WP_UNSAID);
	if ((vwc & 1) == 0)
		statement->is_cache_on = WP_NO;
	else if (statement->is_cache_on == WP_UNSAID)
		statement->is_cache_on = WP_YES;
}

/* "get-feature:0x6 (Volatile Write Cache), Current value:00000001" */
static bool read_feature(struct wp_cache_facts *facts, const char *line, const char *device)
{
	const char *value = strstr(line, "Current value:");
	int64_t number;

	if (strncmp(line, "get-feature:", 12) != 0 || !strstr(line, "Volatile Write Cache") ||
		!value)
		return false;
	value += strlen("Current value:");
	number = hexadecimal(value + strspn(value, " "), 8);
	if (number < 0)
		return false;
	(void)raid_statement(facts, device, SOURCE, number & 1 ? WP_YES : WP_NO);
	return true;
}

static bool read_line(struct wp_cache_facts *facts, const char *line, const char *device)
{
	const char *value = raid_value(line, "vwc");

	if (value) {
		say_present(facts, device, hexadecimal(value, 1));
		return true;
	}
	if ((value = raid_value(line, "power_cycles")) != NULL)
		raid_counters(facts, device, raid_number(value), -1);
	else if ((value = raid_value(line, "unsafe_shutdowns")) != NULL)
		raid_counters(facts, device, -1, raid_number(value));
	return value || read_feature(facts, line, device);
}

size_t drive_read_nvme(
	struct wp_cache_facts *facts, const struct raid_text *text, const char *device)
{
	char *now = NULL;
	size_t understood = 0;

	raid_keep(&now, device);
	for (size_t i = 0; i < text->count; i++) {
		const char *rest = raid_command(text->whole[i], "nvme");
		const char *at = rest ? strstr(rest, "/dev/") : NULL;

		if (at)
			raid_keep_device(&now, at);
		cut_disk(now);
		understood += read_line(facts, text->lines[i], now);
	}
	free(now);
	return understood;
}

static int64_t integer(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) && json_integer_value(value) >= 0
		       ? (int64_t)json_integer_value(value)
		       : -1;
}

/* ATA attributes: 174 and 192 count shutdowns without warning, by vendor. */
static void read_attributes(struct wp_cache_facts *facts, const json_t *root, const char *device)
{
	const json_t *table =
		json_object_get(json_object_get(root, "ata_smart_attributes"), "table");
	const json_t *row;
	size_t i;

	json_array_foreach(table, i, row)
	{
		int64_t id = integer(row, "id");

		if (id == 174 || id == 192)
			raid_counters(
				facts, device, -1, integer(json_object_get(row, "raw"), "value"));
	}
}

static size_t read_smartctl(struct wp_cache_facts *facts, const json_t *root, const char *standard)
{
	const char *named =
		json_string_value(json_object_get(json_object_get(root, "device"), "name"));
	const json_t *log = json_object_get(root, "nvme_smart_health_information_log");
	const json_t *enabled = json_object_get(json_object_get(root, "write_cache"), "enabled");
	char *device = NULL;
	size_t understood = 0;

	raid_keep(&device, standard);
	if (named)
		raid_keep_device(&device, named);
	cut_disk(device);
	if (json_is_boolean(enabled)) {
		(void)raid_statement(
			facts, device, "smartctl", json_is_true(enabled) ? WP_YES : WP_NO);
		understood++;
	}
	if (integer(root, "power_cycle_count") >= 0 || log) {
		raid_counters(facts, device,
			log ? integer(log, "power_cycles") : integer(root, "power_cycle_count"),
			log ? integer(log, "unsafe_shutdowns") : -1);
		understood++;
	}
	read_attributes(facts, root, device);
	free(device);
	return understood;
}

static size_t read_log(struct wp_cache_facts *facts, const json_t *root, const char *device)
{
	if (integer(root, "vwc") >= 0) {
		say_present(facts, device, integer(root, "vwc"));
		return 1;
	}
	if (integer(root, "unsafe_shutdowns") >= 0) {
		raid_counters(facts, device, integer(root, "power_cycles"),
			integer(root, "unsafe_shutdowns"));
		return 1;
	}
	return 0;
}

size_t drive_read_json(struct wp_cache_facts *facts, const json_t *root, const char *device)
{
	char *name = NULL;
	size_t understood;

	if (json_object_get(root, "smartctl") || json_object_get(root, "json_format_version"))
		return read_smartctl(facts, root, device);
	raid_keep(&name, device);
	cut_disk(name);
	understood = read_log(facts, root, name);
	free(name);
	return understood;
}
