/* SPDX-License-Identifier: PostgreSQL */
/*
 * raid.h - what the readers of controller and drive tools share; private to src/device.
 *
 * Each reader looks at every line of every text and takes what it knows; their keys do not meet.
 */
#ifndef WALPROBE_DEVICE_RAID_H
#define WALPROBE_DEVICE_RAID_H

#include "walprobe/cache_facts.h"
#include "walprobe/mem.h"

#define RAID_NOWHERE SIZE_MAX

/* a text without what terminals, mail and shells add */
struct raid_text {
	char *buffer;
	char **lines; /* into buffer; no blanks at either end, no prompt or quote mark before it */
	char **whole; /* the same lines with what stands before them */
	size_t count;
};

/* raid_text_read - clean text and cut it into lines; release with raid_text_release(). */
void raid_text_read(struct raid_text *out, const char *text, size_t length);
void raid_text_release(struct raid_text *text);

/* raid_value - what follows "key :" or "key =" at the start of line; NULL when it is not there. */
const char *raid_value(const char *line, const char *key);

/* raid_says - value begins with words, and the last of them ends there; case does not matter. */
bool raid_says(const char *value, const char *words);

/* raid_number - the whole number at the start of text, or -1. */
int64_t raid_number(const char *text);

/* raid_keep - replace *slot by a copy of a value, at most 100 bytes, printable; NULL and "" keep
 * what is there. */
void raid_keep(char **slot, const char *value);

/* raid_keep_device - the kernel name in "/dev/sda", cut at a blank. */
void raid_keep_device(char **slot, const char *value);

/* raid_command - the line starts a program of this name ("hdparm"; a path before it and "64"
 * behind it do not matter); returns what follows the name, or NULL. */
const char *raid_command(const char *line, const char *program);

/* raid_controller - index of the controller of a family with this id (NULL: unsaid), made when
 * new; RAID_NOWHERE when there are too many. */
size_t raid_controller(struct wp_cache_facts *facts, enum wp_raid_family family, const char *id);

/* raid_volume - index of the volume of a controller; is_new makes another one with that name. */
size_t raid_volume(struct wp_cache_facts *facts, size_t controller, const char *name, bool is_new);

/* raid_backup - the controller's battery is said to be like this; the worst statement stays. */
void raid_backup(struct wp_controller *controller, enum wp_backup backup, const char *words);

/* raid_whole - note that an output ended properly or not; one that did not is not forgotten. */
void raid_whole(enum wp_answer *slot, bool is_whole);

/* raid_statement - a source's newest word on a drive's cache. */
struct wp_drive_statement *raid_statement(struct wp_cache_facts *facts, const char *device,
	const char *source, enum wp_answer is_cache_on);

/* raid_counters - power counters of a drive; -1 keeps what is there. */
void raid_counters(struct wp_cache_facts *facts, const char *device, int64_t power_cycles,
	int64_t unsafe_shutdowns);

/* raid_worse_disk_cache - the worse of two. */
void raid_worse_disk_cache(enum wp_disk_cache *slot, enum wp_disk_cache state);

/* lsi_battery - one statement about the battery of a MegaRAID controller; what is not about it
 * gives false. */
bool lsi_battery(struct wp_controller *controller, const char *key, const char *value);

/* lsi_battery_keys - the keys that lsi_battery() knows, ending with NULL. */
extern const char *const lsi_battery_keys[];

/* lsi_policy - "WriteBack", "WriteThrough", "Always WriteBack" at the start of value. */
enum wp_write_policy lsi_policy(const char *value);

/* lsi_disk_cache - "Disk's Default", "Enabled", "Disabled". */
enum wp_disk_cache lsi_disk_cache(const char *value);

/* lsi_letters - storcli's cache letters ("RWBD", "NRWTD", "RAWBD") into a volume's policy. */
void lsi_letters(struct wp_volume *volume, const char *letters);

/* Readers: how many statements each understood. */
size_t raid_read_megacli(struct wp_cache_facts *facts, const struct raid_text *text);
size_t raid_read_storcli(struct wp_cache_facts *facts, const struct raid_text *text);
size_t raid_read_ssacli(struct wp_cache_facts *facts, const struct raid_text *text);
size_t raid_read_arcconf(struct wp_cache_facts *facts, const struct raid_text *text);
size_t raid_read_areca(struct wp_cache_facts *facts, const struct raid_text *text);
size_t drive_read_ata(
	struct wp_cache_facts *facts, const struct raid_text *text, const char *device);
size_t drive_read_nvme(
	struct wp_cache_facts *facts, const struct raid_text *text, const char *device);
size_t drive_read_kernel(
	struct wp_cache_facts *facts, const struct raid_text *text, const char *device);

/* raid_read_json - all JSON documents in a text: storcli, smartctl, nvme. */
size_t raid_read_json(
	struct wp_cache_facts *facts, const char *text, size_t length, const char *device);

struct json_t;

/* storcli_read_json, drive_read_json - one document. */
size_t storcli_read_json(struct wp_cache_facts *facts, const struct json_t *root);
size_t drive_read_json(struct wp_cache_facts *facts, const struct json_t *root, const char *device);

#endif
