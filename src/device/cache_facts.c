/* SPDX-License-Identifier: PostgreSQL */
#include "raid.h"

#include <ctype.h>

/* More than any machine has; a hostile text ends here. */
#define CONTROLLERS_MAX 64
#define VOLUMES_MAX 1024
#define STATEMENTS_MAX 1024

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

size_t raid_controller(struct wp_cache_facts *facts, enum wp_raid_family family, const char *id)
{
	struct wp_controller *controller;

	for (size_t i = 0; i < facts->controller_count; i++)
		if (facts->controllers[i].family == family && is_same(facts->controllers[i].id, id))
			return i;
	if (facts->controller_count >= CONTROLLERS_MAX) {
		facts->is_cut = true;
		return RAID_NOWHERE;
	}
	facts->controllers = wp_xreallocarray(
		facts->controllers, facts->controller_count + 1, sizeof(*facts->controllers));
	controller = &facts->controllers[facts->controller_count];
	*controller = (struct wp_controller){ .family = family, .volumes_said = -1 };
	raid_keep(&controller->id, id);
	return facts->controller_count++;
}

size_t raid_volume(struct wp_cache_facts *facts, size_t controller, const char *name, bool is_new)
{
	struct wp_volume *volume;

	if (controller == RAID_NOWHERE)
		return RAID_NOWHERE;
	for (size_t i = facts->volume_count; !is_new && i > 0; i--)
		if (facts->volumes[i - 1].controller == controller &&
			is_same(facts->volumes[i - 1].name, name))
			return i - 1;
	if (facts->volume_count >= VOLUMES_MAX) {
		facts->is_cut = true;
		return RAID_NOWHERE;
	}
	facts->volumes =
		wp_xreallocarray(facts->volumes, facts->volume_count + 1, sizeof(*facts->volumes));
	volume = &facts->volumes[facts->volume_count];
	*volume = (struct wp_volume){
		.controller = controller,
		.target_id = -1,
		.drive_count = -1,
	};
	raid_keep(&volume->name, name);
	return facts->volume_count++;
}

void raid_backup(struct wp_controller *controller, enum wp_backup backup, const char *words)
{
	if (backup <= controller->backup)
		return;
	controller->backup = backup;
	raid_keep(&controller->backup_words, words);
}

void raid_whole(enum wp_answer *slot, bool is_whole)
{
	if (*slot != WP_NO)
		*slot = is_whole ? WP_YES : WP_NO;
}

void raid_worse_disk_cache(enum wp_disk_cache *slot, enum wp_disk_cache state)
{
	if (state > *slot)
		*slot = state;
}

struct wp_drive_statement *raid_statement(struct wp_cache_facts *facts, const char *device,
	const char *source, enum wp_answer is_cache_on)
{
	struct wp_drive_statement *statement;

	for (size_t i = 0; i < facts->statement_count; i++) {
		statement = &facts->statements[i];
		if (is_same(statement->device, device) && strcmp(statement->source, source) == 0) {
			if (is_cache_on != WP_UNSAID)
				statement->is_cache_on = is_cache_on;
			return statement;
		}
	}
	/* A text that fills the list is nobody's; its last entry is as good as any. */
	if (facts->statement_count >= STATEMENTS_MAX)
		return &facts->statements[STATEMENTS_MAX - 1];
	facts->statements = wp_xreallocarray(
		facts->statements, facts->statement_count + 1, sizeof(*facts->statements));
	statement = &facts->statements[facts->statement_count++];
	*statement = (struct wp_drive_statement){ .source = source, .is_cache_on = is_cache_on };
	raid_keep(&statement->device, device);
	return statement;
}

void raid_counters(struct wp_cache_facts *facts, const char *device, int64_t power_cycles,
	int64_t unsafe_shutdowns)
{
	struct wp_drive_counters *counters = NULL;

	for (size_t i = 0; i < facts->counter_count && !counters; i++)
		if (is_same(facts->counters[i].device, device))
			counters = &facts->counters[i];
	if (!counters) {
		if (facts->counter_count >= STATEMENTS_MAX)
			return;
		facts->counters = wp_xreallocarray(
			facts->counters, facts->counter_count + 1, sizeof(*facts->counters));
		counters = &facts->counters[facts->counter_count++];
		*counters = (struct wp_drive_counters){ NULL, -1, -1 };
		raid_keep(&counters->device, device);
	}
	if (power_cycles >= 0)
		counters->power_cycles = power_cycles;
	if (unsafe_shutdowns >= 0)
		counters->unsafe_shutdowns = unsafe_shutdowns;
}

size_t wp_cache_read(struct wp_cache_facts *facts, const char *text, size_t length,
	const char *device, bool is_cut)
{
	struct raid_text lines;
	size_t understood;

	facts->is_cut = facts->is_cut || is_cut;
	raid_text_read(&lines, text, length);
	understood = raid_read_megacli(facts, &lines);
	understood += raid_read_storcli(facts, &lines);
	understood += raid_read_ssacli(facts, &lines);
	understood += raid_read_arcconf(facts, &lines);
	understood += raid_read_areca(facts, &lines);
	understood += drive_read_ata(facts, &lines, device);
	understood += drive_read_nvme(facts, &lines, device);
	understood += drive_read_kernel(facts, &lines, device);
	raid_text_release(&lines);
	understood += raid_read_json(facts, text, length, device);
	return understood;
}

void wp_cache_facts_release(struct wp_cache_facts *facts)
{
	for (size_t i = 0; i < facts->controller_count; i++) {
		free(facts->controllers[i].id);
		free(facts->controllers[i].model);
		free(facts->controllers[i].backup_words);
		free(facts->controllers[i].cache_words);
	}
	for (size_t i = 0; i < facts->volume_count; i++) {
		free(facts->volumes[i].name);
		free(facts->volumes[i].device);
		free(facts->volumes[i].wwn);
		free(facts->volumes[i].raid_level);
		free(facts->volumes[i].size);
		free(facts->volumes[i].strip);
		free(facts->volumes[i].state);
	}
	for (size_t i = 0; i < facts->statement_count; i++)
		free(facts->statements[i].device);
	for (size_t i = 0; i < facts->counter_count; i++)
		free(facts->counters[i].device);
	free(facts->controllers);
	free(facts->volumes);
	free(facts->statements);
	free(facts->counters);
	free(facts->unasked);
	memset(facts, 0, sizeof(*facts));
}

const char *wp_raid_family_name(enum wp_raid_family family)
{
	static const char *const names[] = { "", "MegaRAID", "Smart Array", "Adaptec", "Areca" };

	return names[family];
}
