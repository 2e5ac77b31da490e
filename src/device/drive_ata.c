/* SPDX-License-Identifier: PostgreSQL */
/* drive_ata.c - hdparm -W, sdparm --get WCE, smartctl -g wcache and -x, as text. */
#include "raid.h"

struct reader {
	struct wp_cache_facts *facts;
	char *device; /* that the lines are about; NULL: unsaid */
	bool is_asked_off;
	size_t understood;
};

/* The device in a command line ("hdparm -W0 /dev/sda") or a heading ("/dev/sda:"). */
static void read_device(struct reader *reader, const char *line, const char *whole)
{
	static const char *const programs[] = { "hdparm", "sdparm", "smartctl" };
	const char *rest = NULL;
	const char *at;

	for (size_t i = 0; i < WP_COUNT(programs) && !rest; i++)
		rest = raid_command(whole, programs[i]);
	if (strncmp(line, "/dev/", 5) == 0 && strchr(line, ':'))
		rest = line;
	if (!rest)
		return;
	at = strstr(rest, "/dev/");
	if (at)
		raid_keep_device(&reader->device, at);
	reader->is_asked_off = false;
}

static bool read_hdparm(struct reader *reader, const char *line)
{
	const char *value = raid_value(line, "write-caching");
	struct wp_drive_statement *statement;

	if (strncasecmp(line, "setting drive write-caching to 0", 32) == 0) {
		reader->is_asked_off = true;
		return true;
	}
	if (strstr(line, "(flushcache) failed")) {
		statement = raid_statement(reader->facts, reader->device, "hdparm", WP_UNSAID);
		statement->is_flush_failing = true;
		return true;
	}
	if (!value)
		return false;
	if (raid_number(value) != 0 && raid_number(value) != 1)
		return true; /* "not supported" says neither on nor off */
	statement = raid_statement(
		reader->facts, reader->device, "hdparm", raid_number(value) == 1 ? WP_YES : WP_NO);
	statement->is_refused = reader->is_asked_off && raid_number(value) == 1;
	return true;
}

/* "WCE           1  [cha: y]" */
static bool read_sdparm(struct reader *reader, const char *line)
{
	const char *value = line + 3;
	int64_t number;

	if (strncmp(line, "WCE", 3) != 0 || *value != ' ')
		return false;
	value += strspn(value, " ");
	number = raid_number(value);
	if (number != 0 && number != 1)
		return false;
	(void)raid_statement(reader->facts, reader->device, "sdparm", number == 1 ? WP_YES : WP_NO);
	return true;
}

static bool read_smartctl(struct reader *reader, const char *line)
{
	const char *value = raid_value(line, "Write cache is");

	if (!value)
		value = raid_value(line, "Writeback Cache is");
	if (!value)
		return false;
	if (raid_says(value, "Enabled"))
		(void)raid_statement(reader->facts, reader->device, "smartctl", WP_YES);
	else if (raid_says(value, "Disabled"))
		(void)raid_statement(reader->facts, reader->device, "smartctl", WP_NO);
	return true;
}

size_t drive_read_ata(
	struct wp_cache_facts *facts, const struct raid_text *text, const char *device)
{
	struct reader reader = { .facts = facts };

	raid_keep(&reader.device, device);
	for (size_t i = 0; i < text->count; i++) {
		const char *line = text->lines[i];

		read_device(&reader, line, text->whole[i]);
		reader.understood += read_hdparm(&reader, line) || read_sdparm(&reader, line) ||
				     read_smartctl(&reader, line);
	}
	free(reader.device);
	return reader.understood;
}
