/* SPDX-License-Identifier: PostgreSQL */
/*
 * raid_lsi.c - words that MegaCli, storcli and perccli share: batteries and capacitors, policies.
 *
 * Source: outputs in public bug reports and test suites of monitoring plugins; storcli's legend
 * (R read ahead, Ra adaptive, NR none; WB, AWB always write back, WT; D direct, C cached).
 */
#include "raid.h"

#include <ctype.h>

/* what a statement means when it is answered with yes */
static const struct {
	const char *key;
	enum wp_backup if_yes;
} flags[] = {
	{ "Battery Pack Missing", WP_BACKUP_MISSING },
	{ "Battery Replacement required", WP_BACKUP_WORN },
	{ "Replacement required", WP_BACKUP_WORN },
	{ "Remaining Capacity Low", WP_BACKUP_WORN },
	{ "Pack is about to fail & should be replaced", WP_BACKUP_WORN },
	{ "No space to cache offload", WP_BACKUP_WORN },
	{ "Module microcode update required", WP_BACKUP_WORN },
	{ "I2c Errors Detected", WP_BACKUP_WORN },
	{ "Remaining Time Alarm", WP_BACKUP_WORN },
	{ "Remaining Capacity Alarm", WP_BACKUP_WORN },
	{ "Fully Discharged", WP_BACKUP_FAILED },
};

const char *const lsi_battery_keys[] = { "Battery State", "BBU Status", "State",
	"Learn Cycle Active", "Learn Cycle Status", "isSOHGood", "Is SOH Good",
	"Battery Pack Missing", "Battery Replacement required", "Replacement required",
	"Remaining Capacity Low", "Pack is about to fail & should be replaced",
	"No space to cache offload", "Module microcode update required", "I2c Errors Detected",
	"Remaining Time Alarm", "Remaining Capacity Alarm", "Fully Discharged", NULL };

static enum wp_backup state_of(const char *value)
{
	static const struct {
		const char *words;
		enum wp_backup backup;
	} states[] = {
		{ "Optimal", WP_BACKUP_GOOD },
		{ "Operational", WP_BACKUP_GOOD },
		{ "OK", WP_BACKUP_GOOD },
		{ "Charging", WP_BACKUP_LEARNING },
		{ "Recharging", WP_BACKUP_LEARNING },
		{ "Learning", WP_BACKUP_LEARNING },
		{ "Learn", WP_BACKUP_LEARNING },
		{ "Degraded", WP_BACKUP_WORN },
		{ "Dgd", WP_BACKUP_WORN },
		{ "Needs Attention", WP_BACKUP_WORN },
		{ "Low Power", WP_BACKUP_WORN },
		{ "Failed", WP_BACKUP_FAILED },
		{ "Non Operational", WP_BACKUP_FAILED },
		{ "Non-Operational", WP_BACKUP_FAILED },
		{ "Missing", WP_BACKUP_MISSING },
		{ "Msng", WP_BACKUP_MISSING },
		{ "Absent", WP_BACKUP_MISSING },
		{ "Not Present", WP_BACKUP_MISSING },
	};

	for (size_t i = 0; i < WP_COUNT(states); i++)
		if (raid_says(value, states[i].words))
			return states[i].backup;
	return WP_BACKUP_ODD;
}

/* storcli's "BBU Status" is a number: 0, 8 and 4096 say nothing bad, and nothing good either, for 0
 * stands there without a battery too. */
static bool is_quiet_number(const char *value)
{
	int64_t number = raid_number(value);

	return number == 0 || number == 8 || number == 4096 || raid_says(value, "NA") ||
	       raid_says(value, "N/A") || raid_says(value, "-");
}

static void say(
	struct wp_controller *controller, enum wp_backup backup, const char *key, const char *value)
{
	char *words = wp_xasprintf("%s: %s", key, value);

	raid_backup(controller, backup, words);
	free(words);
}

static void learn_cycle(struct wp_controller *controller, const char *key, const char *value)
{
	if (strcasecmp(key, "Learn Cycle Status") == 0) {
		if (raid_says(value, "Failed"))
			say(controller, WP_BACKUP_FAILED, key, value);
		return;
	}
	if (raid_says(value, "Yes")) {
		controller->is_learning = WP_YES;
		say(controller, WP_BACKUP_LEARNING, key, value);
	} else if (raid_says(value, "No")) {
		if (controller->is_learning == WP_UNSAID)
			controller->is_learning = WP_NO;
	} else {
		say(controller, WP_BACKUP_ODD, key, value);
	}
}

bool lsi_battery(struct wp_controller *controller, const char *key, const char *value)
{
	if (strcasecmp(key, "BBU Status") == 0 && is_quiet_number(value))
		return true;
	if (strcasecmp(key, "Battery State") == 0 || strcasecmp(key, "BBU Status") == 0 ||
		strcasecmp(key, "State") == 0) {
		raid_backup(controller, state_of(value), value);
		return true;
	}
	if (strncasecmp(key, "Learn Cycle", 11) == 0) {
		learn_cycle(controller, key, value);
		return true;
	}
	if (strcasecmp(key, "isSOHGood") == 0 || strcasecmp(key, "Is SOH Good") == 0) {
		if (!raid_says(value, "Yes"))
			say(controller, raid_says(value, "No") ? WP_BACKUP_WORN : WP_BACKUP_ODD,
				key, value);
		return true;
	}
	for (size_t i = 0; i < WP_COUNT(flags); i++)
		if (strcasecmp(key, flags[i].key) == 0) {
			if (raid_says(value, "Yes"))
				say(controller, flags[i].if_yes, key, value);
			else if (!raid_says(value, "No"))
				say(controller, WP_BACKUP_ODD, key, value);
			return true;
		}
	return false;
}

enum wp_write_policy lsi_policy(const char *value)
{
	if (raid_says(value, "WriteThrough") || raid_says(value, "Write Through"))
		return WP_POLICY_THROUGH;
	if (raid_says(value, "WriteBack") || raid_says(value, "Write Back"))
		return WP_POLICY_BACK;
	if (raid_says(value, "Always WriteBack") || raid_says(value, "AlwaysWriteBack") ||
		raid_says(value, "Force WriteBack") || raid_says(value, "WriteBackForce") ||
		raid_says(value, "WriteBack Force"))
		return WP_POLICY_ALWAYS_BACK;
	return WP_POLICY_UNSAID;
}

enum wp_disk_cache lsi_disk_cache(const char *value)
{
	if (raid_says(value, "Disabled") || raid_says(value, "Disable"))
		return WP_DISK_CACHE_OFF;
	if (raid_says(value, "Enabled") || raid_says(value, "Enable"))
		return WP_DISK_CACHE_ON;
	if (raid_says(value, "Disk's Default") || raid_says(value, "Default") ||
		raid_says(value, "Unchanged"))
		return WP_DISK_CACHE_DEFAULT;
	return WP_DISK_CACHE_UNSAID;
}

/* Read-ahead letters are R, NR or Ra; a large A belongs to what follows: RAWBD is R, AWB, D. */
void lsi_letters(struct wp_volume *volume, const char *letters)
{
	static const char *const ahead[] = { "NR", "Ra", "R", "" };
	static const struct {
		const char *letters;
		enum wp_write_policy policy;
	} policies[] = { { "AWB", WP_POLICY_ALWAYS_BACK }, { "FWB", WP_POLICY_ALWAYS_BACK },
		{ "WB", WP_POLICY_BACK }, { "WT", WP_POLICY_THROUGH } };

	for (size_t i = 0; i < WP_COUNT(ahead); i++) {
		const char *rest = letters + strlen(ahead[i]);

		if (strncmp(letters, ahead[i], strlen(ahead[i])) != 0)
			continue;
		for (size_t j = 0; j < WP_COUNT(policies); j++) {
			const char *end = rest + strlen(policies[j].letters);

			if (strncmp(rest, policies[j].letters, strlen(policies[j].letters)) != 0 ||
				(*end != 'D' && *end != 'C') || isalnum((unsigned char)end[1]))
				continue;
			volume->current_policy = policies[j].policy;
			/* Without the A it falls back to write through with a bad battery. */
			volume->is_back_without_battery =
				policies[j].policy == WP_POLICY_ALWAYS_BACK ? WP_YES : WP_NO;
			return;
		}
	}
}
