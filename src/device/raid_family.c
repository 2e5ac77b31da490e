/* SPDX-License-Identifier: PostgreSQL */
/* raid_family.c - which controller stands behind a block device, and which volume it is. */
#include "raid.h"

#include <ctype.h>

/*
 * A controller's driver, and how its volumes differ from disks that it passes through.
 * Source: megaraid_base.c (channels 2 and 3 are volumes), hpsa.c, smartpqi_init.c, aacraid
 * (volumes carry the vendor's name, disks are ATA or their maker's), arcmsr_hba.c.
 */
static const struct {
	const char *driver;
	enum wp_raid_family family;
	const char *model; /* words of a volume's model; NULL: any */
} drivers[] = {
	{ "megaraid_sas", WP_RAID_MEGARAID, NULL },
	{ "megaraid", WP_RAID_MEGARAID, NULL },
	{ "hpsa", WP_RAID_SMART, "LOGICAL VOLUME" },
	{ "smartpqi", WP_RAID_SMART, "LOGICAL VOLUME" },
	{ "smartpqi", WP_RAID_ADAPTEC, "Adaptec" },
	{ "smartpqi", WP_RAID_ADAPTEC, "MSCC" },
	{ "aacraid", WP_RAID_ADAPTEC, NULL },
	{ "arcmsr", WP_RAID_ARECA, NULL },
};

/* Where the driver cannot be seen. */
static const struct {
	const char *model;
	enum wp_raid_family family;
} models[] = {
	{ "LSI MR", WP_RAID_MEGARAID },
	{ "LSI MegaRAID", WP_RAID_MEGARAID },
	{ "AVAGO MR", WP_RAID_MEGARAID },
	{ "AVAGO SMC", WP_RAID_MEGARAID },
	{ "BROADCOM MR", WP_RAID_MEGARAID },
	{ "DELL PERC", WP_RAID_MEGARAID },
	{ "LOGICAL VOLUME", WP_RAID_SMART },
	{ "Adaptec", WP_RAID_ADAPTEC },
	{ "ServeRAID", WP_RAID_MEGARAID },
	{ "Areca ", WP_RAID_ARECA },
	{ "ARC-", WP_RAID_ARECA },
	{ "PRAID EP", WP_RAID_MEGARAID },
};

/* Channel of "host:channel:id:lun", and id; -1 when it is none. */
static int channel_of(const struct wp_layer *layer, int *id)
{
	int channel;

	if (!layer->scsi_address || sscanf(layer->scsi_address, "%*u:%d:%d:", &channel, id) != 2)
		return -1;
	return channel;
}

enum wp_raid_family wp_raid_family_of(const struct wp_layer *layer)
{
	int id;

	if (strncmp(layer->name, "cciss", 5) == 0)
		return WP_RAID_SMART;
	for (size_t i = 0; layer->host_driver && i < WP_COUNT(drivers); i++) {
		if (strcmp(layer->host_driver, drivers[i].driver) != 0)
			continue;
		/* a disk that is passed through keeps its own name */
		if (drivers[i].family == WP_RAID_MEGARAID)
			return channel_of(layer, &id) >= 2 ? WP_RAID_MEGARAID : WP_RAID_NONE;
		if (!drivers[i].model ||
			(layer->model && strcasestr(layer->model, drivers[i].model)))
			return drivers[i].family;
	}
	if (layer->host_driver)
		return WP_RAID_NONE;
	for (size_t i = 0; layer->model && i < WP_COUNT(models); i++)
		if (strcasestr(layer->model, models[i].model))
			return models[i].family;
	return WP_RAID_NONE;
}

/* The digits of "naa.600605b0..." and "0x600605b0..." alone, at most size - 1 of them. */
static void digits_of(const char *wwn, char *out, size_t size)
{
	size_t used = 0;

	if (strncasecmp(wwn, "naa.", 4) == 0)
		wwn += 4;
	else if (strncasecmp(wwn, "0x", 2) == 0)
		wwn += 2;
	for (; *wwn && used + 1 < size; wwn++)
		if (isxdigit((unsigned char)*wwn))
			out[used++] = (char)tolower((unsigned char)*wwn);
	out[used] = '\0';
}

static bool is_wwn(const char *a, const char *b)
{
	char first[40];
	char second[40];

	digits_of(a, first, sizeof(first));
	digits_of(b, second, sizeof(second));
	return strlen(first) >= 16 && strcmp(first, second) == 0;
}

/* Source: MEGASAS_DEV_INDEX of megaraid_sas.h: two channels of 128 targets. */
static bool is_target(const struct wp_volume *volume, const struct wp_layer *layer)
{
	int id;
	int channel = channel_of(layer, &id);

	return volume->target_id >= 0 && channel >= 2 &&
	       volume->target_id == (channel % 2) * 128 + id;
}

bool wp_volume_is_layer(const struct wp_cache_facts *facts, const struct wp_volume *volume,
	const struct wp_layer *layer)
{
	const struct wp_controller *controller = &facts->controllers[volume->controller];

	if (volume->device)
		return strcmp(volume->device, layer->name) == 0;
	if (volume->wwn && layer->wwid)
		return is_wwn(volume->wwn, layer->wwid);
	return controller->family == WP_RAID_MEGARAID &&
	       wp_raid_family_of(layer) == WP_RAID_MEGARAID && is_target(volume, layer);
}

bool wp_drive_is_layer(const char *device, const struct wp_layer *layer)
{
	size_t length = device ? strlen(device) : 0;

	if (length == 0)
		return false;
	if (strcmp(device, layer->name) == 0)
		return true;
	/* the controller "nvme0" of the disk "nvme0n1" */
	return strncmp(device, "nvme", 4) == 0 && !strchr(device + 4, 'n') &&
	       strncmp(layer->name, device, length) == 0 && layer->name[length] == 'n';
}
