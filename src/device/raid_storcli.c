/* SPDX-License-Identifier: PostgreSQL */
/*
 * raid_storcli.c - storcli and perccli, as tables for people and as JSON (J).
 *
 * The text has no end mark: volumes count as complete when as many as "Virtual Drives =" promises
 * are there, a battery when the statements that come last in its output are there. JSON that can be
 * parsed is complete.
 */
#include "raid.h"

#include <jansson.h>

struct reader {
	struct wp_cache_facts *facts;
	size_t controller;
	size_t volume;
	size_t understood;
	int cache_column; /* of the volume table; -1: no table */
	bool is_backup;   /* inside Cachevault_Info or BBU_Info */
	bool has_replace; /* the battery's last statements were seen */
	bool has_last;
	bool has_battery_table;
};

static struct wp_controller *controller(struct reader *reader)
{
	if (reader->controller == RAID_NOWHERE)
		reader->controller = raid_controller(reader->facts, WP_RAID_MEGARAID, NULL);
	return reader->controller == RAID_NOWHERE ? NULL
						  : &reader->facts->controllers[reader->controller];
}

/* Word number index of line; its length goes to *length. */
static const char *word_at(const char *line, int index, size_t *length)
{
	for (;;) {
		line += strspn(line, " ");
		*length = strcspn(line, " ");
		if (*length == 0)
			return NULL;
		if (index-- == 0)
			return line;
		line += *length;
	}
}

static bool read_table_heading(struct reader *reader, const char *line)
{
	const char *word;
	size_t length;

	if (strncmp(line, "DG/VD ", 6) != 0)
		return false;
	reader->cache_column = -1;
	for (int i = 0; (word = word_at(line, i, &length)) != NULL; i++)
		if (length == 5 && strncmp(word, "Cache", 5) == 0)
			reader->cache_column = i;
	return true;
}

/* "0/0   RAID1 Optl  RW     Yes     RWBD  -   ON  446.625 GB name" */
static bool read_row(struct reader *reader, const char *line)
{
	const char *slash = strchr(line, '/');
	struct wp_volume *volume;
	const char *word;
	char copy[24];
	char name[24];
	size_t length;

	if (reader->cache_column < 0 || raid_number(line) < 0 || !slash ||
		line + strspn(line, "0123456789") != slash || raid_number(slash + 1) < 0 ||
		!controller(reader))
		return false;
	(void)snprintf(name, sizeof(name), "%" PRId64, raid_number(slash + 1));
	reader->volume = raid_volume(reader->facts, reader->controller, name, false);
	if (reader->volume == RAID_NOWHERE)
		return false;
	volume = &reader->facts->volumes[reader->volume];
	word = word_at(line, reader->cache_column, &length);
	if (word && length < sizeof(copy)) {
		(void)snprintf(copy, sizeof(copy), "%.*s", (int)length, word);
		lsi_letters(volume, copy);
	}
	word = word_at(line, 1, &length);
	if (word && length < sizeof(copy)) {
		(void)snprintf(copy, sizeof(copy), "%.*s", (int)length, word);
		raid_keep(&volume->raid_level, copy);
	}
	return true;
}

static void set_property(struct wp_volume *volume, const char *key, const char *value)
{
	if (strcmp(key, "Disk Cache Policy") == 0)
		raid_worse_disk_cache(&volume->disk_cache, lsi_disk_cache(value));
	else if (strcmp(key, "Write Cache(initial setting)") == 0)
		volume->default_policy = lsi_policy(value);
	else if (strcmp(key, "OS Drive Name") == 0)
		raid_keep_device(&volume->device, value);
	else if (strcmp(key, "SCSI NAA Id") == 0)
		raid_keep(&volume->wwn, value);
	else if (strcmp(key, "Strip Size") == 0)
		raid_keep(&volume->strip, value);
}

static const char *const property_keys[] = { "Disk Cache Policy", "Write Cache(initial setting)",
	"OS Drive Name", "SCSI NAA Id", "Strip Size", NULL };

static bool read_property(struct reader *reader, const char *line)
{
	int64_t number = strncmp(line, "VD", 2) == 0 ? raid_number(line + 2) : -1;

	if (number >= 0 && strstr(line, " Properties") && controller(reader)) {
		char name[24];

		(void)snprintf(name, sizeof(name), "%" PRId64, number);
		reader->volume = raid_volume(reader->facts, reader->controller, name, false);
		return reader->volume != RAID_NOWHERE;
	}
	if (reader->volume == RAID_NOWHERE || !strchr(line, '='))
		return false;
	for (size_t i = 0; property_keys[i]; i++) {
		const char *value = raid_value(line, property_keys[i]);

		if (value) {
			set_property(
				&reader->facts->volumes[reader->volume], property_keys[i], value);
			return true;
		}
	}
	return false;
}

/* "CVPM05 Optimal 28C  -    2017/03/23" below "Model  State   Temp ..." */
static bool read_battery_row(struct reader *reader, const char *line)
{
	size_t length;
	const char *word = word_at(line, 1, &length);
	char state[40];

	if (!word || *line == '-' || *line == '=' || raid_says(line, "Model") ||
		raid_says(line, "Property") || strchr(line, ':'))
		return false;
	(void)snprintf(state, sizeof(state), "%.*s", (int)length, word);
	reader->is_backup = false;
	reader->has_battery_table = true;
	return lsi_battery(controller(reader), "State", state);
}

/* "Battery State            Optimal", "Learn Cycle Active     No" */
static bool read_battery_property(struct reader *reader, const char *line)
{
	for (size_t i = 0; lsi_battery_keys[i]; i++) {
		const char *key = lsi_battery_keys[i];
		const char *value = line + strlen(key);

		if (strncasecmp(line, key, strlen(key)) != 0 || *value != ' ')
			continue;
		if (strcmp(key, "State") == 0 && !reader->is_backup)
			continue;
		value += strspn(value, " =");
		if (!*value || *value == ':')
			continue;
		reader->has_replace = reader->has_replace || strcasestr(key, "Replace");
		reader->has_last = reader->has_last || strncmp(key, "Pack", 4) == 0 ||
				   strncmp(key, "Module", 6) == 0;
		return lsi_battery(controller(reader), key, value);
	}
	return false;
}

static bool read_battery(struct reader *reader, const char *line)
{
	if ((raid_says(line, "Cachevault_Info") || raid_says(line, "BBU_Info")) &&
		strchr(line, ':')) {
		reader->is_backup = true;
		return controller(reader) != NULL;
	}
	if (!controller(reader))
		return false;
	if (read_battery_property(reader, line))
		return true;
	return reader->is_backup && read_battery_row(reader, line);
}

static bool read_controller(struct reader *reader, const char *line)
{
	const char *value = raid_value(line, "Controller");
	char id[24];

	if (value && raid_number(value) >= 0 && strchr(line, '=')) {
		(void)snprintf(id, sizeof(id), "%" PRId64, raid_number(value));
		reader->controller = raid_controller(reader->facts, WP_RAID_MEGARAID, id);
		reader->volume = RAID_NOWHERE;
		reader->cache_column = -1;
		reader->is_backup = false;
		return reader->controller != RAID_NOWHERE;
	}
	if (reader->controller == RAID_NOWHERE || !strchr(line, '='))
		return false;
	value = raid_value(line, "Virtual Drives");
	if (value && raid_number(value) >= 0) {
		reader->facts->controllers[reader->controller].volumes_said = raid_number(value);
		return true;
	}
	value = raid_value(line, "Product Name");
	if (!value)
		value = raid_value(line, "Model");
	if (value)
		raid_keep(&reader->facts->controllers[reader->controller].model, value);
	return value != NULL;
}

/* The text does not say where it ends: count. */
static void settle(struct reader *reader, size_t index)
{
	struct wp_controller *at = &reader->facts->controllers[index];
	int64_t found = 0;

	for (size_t i = 0; i < reader->facts->volume_count; i++)
		found += reader->facts->volumes[i].controller == index;
	if (found > 0 && at->is_volumes_whole == WP_UNSAID)
		raid_whole(&at->is_volumes_whole, found == at->volumes_said);
	if (at->backup != WP_BACKUP_UNSAID && at->is_backup_whole == WP_UNSAID)
		raid_whole(&at->is_backup_whole,
			reader->has_battery_table || (reader->has_replace && reader->has_last));
}

/* "Controller = 0" stands in every output of storcli; without it, or a table of volumes or
 * batteries, a text is somebody else's. */
static bool is_storcli(const struct raid_text *text)
{
	static const char *const marks[] = { "Controller =", "DG/VD ", "Cachevault_Info",
		"BBU_Info" };

	for (size_t i = 0; i < text->count; i++)
		for (size_t j = 0; j < WP_COUNT(marks); j++)
			if (strncmp(text->lines[i], marks[j], strlen(marks[j])) == 0)
				return true;
	return false;
}

size_t raid_read_storcli(struct wp_cache_facts *facts, const struct raid_text *text)
{
	struct reader reader = { .facts = facts,
		.controller = RAID_NOWHERE,
		.volume = RAID_NOWHERE,
		.cache_column = -1 };

	if (!is_storcli(text))
		return 0;
	for (size_t i = 0; i < text->count; i++) {
		const char *line = text->lines[i];

		reader.understood += read_controller(&reader, line) ||
				     read_table_heading(&reader, line) || read_row(&reader, line) ||
				     read_property(&reader, line) || read_battery(&reader, line);
	}
	for (size_t i = 0; reader.understood && i < facts->controller_count; i++)
		if (facts->controllers[i].family == WP_RAID_MEGARAID)
			settle(&reader, i);
	return reader.understood;
}

/* ---- JSON ---- */

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static size_t read_json_volume(struct reader *reader, const json_t *row, const char *dgvd)
{
	const char *slash = strchr(dgvd, '/');
	const char *letters = text_of(row, "Cache");
	struct wp_volume *volume;
	char name[24];

	if (!slash || raid_number(slash + 1) < 0 || !controller(reader))
		return 0;
	(void)snprintf(name, sizeof(name), "%" PRId64, raid_number(slash + 1));
	reader->volume = raid_volume(reader->facts, reader->controller, name, false);
	if (reader->volume == RAID_NOWHERE)
		return 0;
	volume = &reader->facts->volumes[reader->volume];
	if (letters)
		lsi_letters(volume, letters);
	raid_keep(&volume->raid_level, text_of(row, "TYPE"));
	raid_keep(&volume->size, text_of(row, "Size"));
	raid_keep(&volume->state, text_of(row, "State"));
	return 1;
}

static size_t read_json_properties(struct reader *reader, const char *heading, const json_t *object)
{
	char name[24];
	size_t volume;

	if (strncmp(heading, "VD", 2) != 0 || raid_number(heading + 2) < 0 ||
		!strstr(heading, " Properties") || !controller(reader))
		return 0;
	(void)snprintf(name, sizeof(name), "%" PRId64, raid_number(heading + 2));
	volume = raid_volume(reader->facts, reader->controller, name, false);
	if (volume == RAID_NOWHERE)
		return 0;
	for (size_t i = 0; property_keys[i]; i++) {
		const char *value = text_of(object, property_keys[i]);

		if (value)
			set_property(&reader->facts->volumes[volume], property_keys[i], value);
	}
	return 1;
}

/* {"Property": key, "Value": value}, or the keys themselves. */
static size_t read_json_battery(struct reader *reader, const json_t *object)
{
	const char *key = text_of(object, "Property");
	const char *value = text_of(object, "Value");
	size_t understood = 0;

	if (!controller(reader))
		return 0;
	if (key && value)
		return lsi_battery(controller(reader), key, value);
	for (size_t i = 0; lsi_battery_keys[i]; i++) {
		value = text_of(object, lsi_battery_keys[i]);
		if (value)
			understood += lsi_battery(controller(reader), lsi_battery_keys[i], value);
	}
	return understood;
}

static bool is_battery_section(const char *heading)
{
	return strncmp(heading, "BBU_", 4) == 0 || strncmp(heading, "Cachevault_", 11) == 0 ||
	       strcmp(heading, "Firmware_Status") == 0 || strcmp(heading, "GasGaugeStatus") == 0;
}

static size_t read_json_section(struct reader *reader, const char *heading, const json_t *value)
{
	size_t understood = 0;
	const json_t *row;
	const char *dgvd;
	size_t i;

	if (json_is_object(value))
		return is_battery_section(heading) ? read_json_battery(reader, value)
						   : read_json_properties(reader, heading, value);
	json_array_foreach(value, i, row)
	{
		dgvd = text_of(row, "DG/VD");
		if (dgvd)
			understood += read_json_volume(reader, row, dgvd);
		else if (is_battery_section(heading))
			understood += read_json_battery(reader, row);
	}
	return understood;
}

/* A number, or a text such as "NA" or "Failed". */
static void read_json_status(struct reader *reader, const json_t *status)
{
	const json_t *value = json_object_get(status, "BBU Status");
	char number[24];

	if (!value || !controller(reader))
		return;
	(void)snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(value));
	(void)lsi_battery(controller(reader), "BBU Status",
		json_is_string(value) ? json_string_value(value) : number);
}

static bool says_absent(const json_t *status)
{
	char *text = status ? json_dumps(status, JSON_ENCODE_ANY) : NULL;
	bool is_absent = text && (strcasestr(text, "is absent") ||
					 strcasestr(text, "component is not present"));

	free(text);
	return is_absent;
}

static size_t read_json_controller(struct reader *reader, const json_t *object)
{
	const json_t *status = json_object_get(object, "Command Status");
	const json_t *data = json_object_get(object, "Response Data");
	const json_t *number = json_object_get(status, "Controller");
	size_t understood = 0;
	const char *heading;
	const json_t *value;
	char id[24];

	reader->controller = RAID_NOWHERE;
	if (json_is_integer(number)) {
		(void)snprintf(id, sizeof(id), "%lld", (long long)json_integer_value(number));
		reader->controller = raid_controller(reader->facts, WP_RAID_MEGARAID, id);
	}
	if (says_absent(status) && controller(reader)) {
		raid_backup(controller(reader), WP_BACKUP_MISSING, "absent");
		understood++;
	}
	json_object_foreach((json_t *)(uintptr_t)data, heading, value)
	{
		understood += read_json_section(reader, heading, value);
	}
	read_json_status(reader, json_object_get(data, "Status"));
	if (reader->controller != RAID_NOWHERE)
		raid_keep(&controller(reader)->model,
			text_of(json_object_get(data, "Basics"), "Model")
				? text_of(json_object_get(data, "Basics"), "Model")
				: text_of(data, "Product Name"));
	return understood;
}

size_t storcli_read_json(struct wp_cache_facts *facts, const json_t *root)
{
	struct reader reader = { .facts = facts };
	const json_t *controllers = json_object_get(root, "Controllers");
	size_t understood = 0;
	const json_t *object;
	size_t i;

	json_array_foreach(controllers, i, object)
	{
		understood += read_json_controller(&reader, object);
	}
	for (i = 0; understood && i < facts->controller_count; i++) {
		if (facts->controllers[i].family != WP_RAID_MEGARAID)
			continue;
		raid_whole(&facts->controllers[i].is_volumes_whole, true);
		if (facts->controllers[i].backup != WP_BACKUP_UNSAID)
			raid_whole(&facts->controllers[i].is_backup_whole, true);
	}
	return understood;
}
