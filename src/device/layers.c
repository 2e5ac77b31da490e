/* SPDX-License-Identifier: PostgreSQL */
/*
 * Layers are read by kernel name from /sys/class/block, where whole disks, partitions and the
 * hidden paths of a multipath NVMe namespace all have an entry.
 */
#include "device.h"

#include "walprobe/units.h"

#include <ctype.h>
#include <sys/sysmacros.h>

#define ATTRIBUTE_LIMIT 4096

void layer_list_add(struct layer_list *list, int index)
{
	if (index < 0 || list->count >= WP_COUNT(list->items))
		return;
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i] == index)
			return;
	list->items[list->count++] = index;
}

char *walk_attribute(const struct walk *walk, const char *name, const char *attribute)
{
	char *path = wp_xasprintf("%s/class/block/%s/%s", walk->sys, name, attribute);
	int sys_errno = 0;
	char *text = wp_os_read_text(walk->os, path, ATTRIBUTE_LIMIT, &sys_errno);

	free(path);
	return text;
}

static bool has_entry(const struct walk *walk, const char *name, const char *entry)
{
	char *path = wp_xasprintf("%s/class/block/%s/%s", walk->sys, name, entry);
	struct stat info;
	int rc = wp_os_stat(walk->os, path, &info);

	free(path);
	return rc == 0;
}

static struct wp_names list_entries(const struct walk *walk, const char *name, const char *entry)
{
	char *path = wp_xasprintf("%s/class/block/%s/%s", walk->sys, name, entry);
	struct wp_names names = { NULL, 0 };

	/* What cannot be listed has no entries that can be seen. */
	if (wp_os_list(walk->os, path, &names) < 0)
		names = (struct wp_names){ NULL, 0 };
	free(path);
	return names;
}

/* Value of KEY=value in a uevent file. */
static char *uevent_value(const char *uevent, const char *key)
{
	size_t length = strlen(key);

	for (const char *line = uevent; line && *line;) {
		const char *end = strchr(line, '\n');
		size_t size = end ? (size_t)(end - line) : strlen(line);

		if (size > length && strncmp(line, key, length) == 0 && line[length] == '=')
			return wp_xstrndup(line + length + 1, size - length - 1);
		line = end ? end + 1 : NULL;
	}
	return NULL;
}

/* Kernel name in a uevent file; sysfs writes "!" where the device's name has "/". */
static char *name_in_uevent(char *uevent)
{
	char *name = uevent_value(uevent, "DEVNAME");

	free(uevent);
	for (char *at = name; at && *at; at++)
		if (*at == '/')
			*at = '!';
	return name;
}

char *walk_name_of_device(const struct walk *walk, unsigned major, unsigned minor)
{
	char *path = wp_xasprintf("%s/dev/block/%u:%u/uevent", walk->sys, major, minor);
	int sys_errno = 0;
	char *uevent = wp_os_read_text(walk->os, path, ATTRIBUTE_LIMIT, &sys_errno);

	free(path);
	return name_in_uevent(uevent);
}

static char *name_of_mapped(const struct walk *walk, const char *mapped)
{
	struct wp_names names = list_entries(walk, "", "");
	char *found = NULL;

	for (size_t i = 0; !found && i < names.count; i++) {
		char *alias = NULL;

		if (strncmp(names.names[i], "dm-", 3) == 0)
			alias = walk_attribute(walk, names.names[i], "dm/name");
		if (alias && strcmp(alias, mapped) == 0)
			found = wp_xstrdup(names.names[i]);
		free(alias);
	}
	wp_names_release(&names);
	return found;
}

char *walk_name_of_source(const struct walk *walk, const char *source)
{
	struct stat info;

	if (!source || strncmp(source, "/dev/", 5) != 0)
		return NULL;
	if (walk->is_live && wp_os_stat(walk->os, source, &info) == 0 && S_ISBLK(info.st_mode))
		return walk_name_of_device(walk, major(info.st_rdev), minor(info.st_rdev));
	if (strncmp(source, "/dev/mapper/", 12) == 0)
		return name_of_mapped(walk, source + 12);
	return has_entry(walk, source + 5, "uevent") ? wp_xstrdup(source + 5) : NULL;
}

static int read_number(const struct walk *walk, const char *name, const char *attribute, int unseen)
{
	char *text = walk_attribute(walk, name, attribute);
	int64_t value = unseen;

	if (text && wp_parse_int(text, &value, NULL) < 0)
		value = unseen;
	free(text);
	return value > INT32_MAX || value < INT32_MIN ? unseen : (int)value;
}

static bool starts_with(const char *text, const char *start)
{
	return text && strncmp(text, start, strlen(start)) == 0;
}

static const char *dm_kind(const char *uuid)
{
	static const struct {
		const char *prefix;
		const char *kind;
	} kinds[] = {
		{ "LVM-", "lvm" },
		{ "CRYPT-", "crypt" },
		{ "mpath-", "mpath" },
		{ "part", "part" },
		{ "DMRAID-", "dmraid" },
	};

	for (size_t i = 0; uuid && i < WP_COUNT(kinds); i++)
		if (strncasecmp(uuid, kinds[i].prefix, strlen(kinds[i].prefix)) == 0)
			return kinds[i].kind;
	return "dm";
}

/* "nvme3n1", the head of a namespace; its paths are nvme3c0n1, nvme3c1n1. */
static bool parse_nvme(const char *name, int *subsystem, int *controller, int *space)
{
	int used = 0;

	*controller = -1;
	if (sscanf(name, "nvme%dn%d%n", subsystem, space, &used) == 2 && !name[used])
		return true;
	used = 0;
	return sscanf(name, "nvme%dc%dn%d%n", subsystem, controller, space, &used) == 3 &&
	       !name[used];
}

static void add_nvme_paths(struct walk *walk, const char *name, struct layer_list *below)
{
	struct wp_names names;
	int subsystem;
	int controller;
	int space;

	if (!parse_nvme(name, &subsystem, &controller, &space) || controller >= 0)
		return;
	names = list_entries(walk, "", "");
	for (size_t i = 0; i < names.count; i++) {
		int its_subsystem;
		int its_space;

		if (parse_nvme(names.names[i], &its_subsystem, &controller, &its_space) &&
			controller >= 0 && its_subsystem == subsystem && its_space == space)
			layer_list_add(below, walk_add_layer(walk, names.names[i]));
	}
	wp_names_release(&names);
}

bool walk_is_request_based(const struct walk *walk, int index)
{
	/* Since Linux 5.0 every driver that takes requests has hardware queues; those that only
	 * pass bios on (dm, md, multipath heads, zram) have none and count no flushes. */
	return has_entry(walk, walk->stack->layers[index].name, "mq");
}

void walk_stacked(struct walk *walk, int index, struct layer_list *below)
{
	/* Adding a layer may move the array; the name itself stays where it is. */
	const char *name = walk->stack->layers[index].name;
	struct wp_names slaves;

	if (has_entry(walk, name, "partition")) {
		char *parent = name_in_uevent(walk_attribute(walk, name, "../uevent"));

		if (parent)
			layer_list_add(below, walk_add_layer(walk, parent));
		free(parent);
		return;
	}
	slaves = list_entries(walk, name, "slaves");
	for (size_t i = 0; i < slaves.count; i++)
		layer_list_add(below, walk_add_layer(walk, slaves.names[i]));
	wp_names_release(&slaves);
	add_nvme_paths(walk, name, below);
}

static char *read_kind(const struct walk *walk, const char *name)
{
	static const char *const by_name[] = { "loop", "nbd", "zram", "ram", "pmem", "bcache",
		"drbd", "rbd" };
	char *text;
	int number;

	if (has_entry(walk, name, "partition"))
		return wp_xstrdup("part");
	if (has_entry(walk, name, "dm")) {
		char *kind;

		text = walk_attribute(walk, name, "dm/uuid");
		kind = wp_xstrdup(dm_kind(text));
		free(text);
		return kind;
	}
	if (has_entry(walk, name, "md")) {
		text = walk_attribute(walk, name, "md/level");
		return text && *text ? text : (free(text), wp_xstrdup("md"));
	}
	if (parse_nvme(name, &number, &number, &number) && has_entry(walk, name, "hidden") &&
		read_number(walk, name, "hidden", 0) == 1)
		return wp_xstrdup("path");
	for (size_t i = 0; i < WP_COUNT(by_name); i++)
		if (starts_with(name, by_name[i]) &&
			isdigit((unsigned char)name[strlen(by_name[i])]))
			return wp_xstrdup(by_name[i]);
	return wp_xstrdup("disk");
}

static char *trimmed(char *text)
{
	size_t length;

	if (!text)
		return NULL;
	length = strlen(text);
	while (length > 0 && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	if (length > 0)
		return text;
	free(text);
	return NULL;
}

/* "TOSHIBA MG07ACA1", "AVAGO MR9361-8i"; SATA disks have the vendor "ATA", which says nothing. */
static char *read_model(const struct walk *walk, const char *name)
{
	char *model = trimmed(walk_attribute(walk, name, "device/model"));
	char *vendor = model ? trimmed(walk_attribute(walk, name, "device/vendor")) : NULL;

	if (vendor && strcmp(vendor, "ATA") != 0 && !starts_with(vendor, "0x")) {
		char *both = wp_xasprintf("%s %s", vendor, model);

		free(model);
		model = both;
	}
	free(vendor);
	return model;
}

/* What the device itself says, where a driver passes it on; queue/write_cache is the kernel's
 * view, which an operator may have changed. */
static char *read_device_cache(const struct walk *walk, const char *name)
{
	char *cache = trimmed(walk_attribute(walk, name, "cache_type"));
	struct wp_names disks;

	if (cache)
		return cache;
	disks = list_entries(walk, name, "device/scsi_disk");
	if (disks.count > 0) {
		char *entry = wp_xasprintf("device/scsi_disk/%s/cache_type", disks.names[0]);

		cache = trimmed(walk_attribute(walk, name, entry));
		free(entry);
	}
	wp_names_release(&disks);
	return cache;
}

/* Host, channel, id and lun as the kernel numbers them, and the driver of that host. */
static void read_scsi(const struct walk *walk, const char *name, struct wp_layer *layer)
{
	struct wp_names disks = list_entries(walk, name, "device/scsi_disk");
	unsigned host;

	if (disks.count > 0)
		layer->scsi_address = wp_xstrdup(disks.names[0]);
	wp_names_release(&disks);
	if (layer->scsi_address && sscanf(layer->scsi_address, "%u:", &host) == 1) {
		char *path = wp_xasprintf("%s/class/scsi_host/host%u/proc_name", walk->sys, host);
		int sys_errno;

		layer->host_driver = trimmed(wp_os_read_text(walk->os, path, 64, &sys_errno));
		free(path);
	}
	layer->wwid = trimmed(walk_attribute(walk, name, "device/wwid"));
	if (!layer->wwid)
		layer->wwid = trimmed(walk_attribute(walk, name, "wwid"));
}

/* "mq-deadline kyber [none]" -> "none" */
static char *read_scheduler(const struct walk *walk, const char *name)
{
	char *text = trimmed(walk_attribute(walk, name, "queue/scheduler"));
	char *start = text ? strchr(text, '[') : NULL;
	char *end = start ? strchr(start, ']') : NULL;
	char *chosen;

	if (!end)
		return text;
	chosen = wp_xstrndup(start + 1, (size_t)(end - start - 1));
	free(text);
	return chosen;
}

/* Source: SCSI SBC-4, block device characteristics: bytes 4-5 are the rotation rate, 1 means that
 * nothing rotates. */
static int read_rpm(const struct walk *walk, const char *name)
{
	char *path = wp_xasprintf("%s/class/block/%s/device/vpd_pgb1", walk->sys, name);
	unsigned char page[8] = { 0 };
	int fd = wp_os_open(walk->os, path, O_RDONLY, 0);
	int rpm = 0;

	free(path);
	if (fd < 0)
		return 0;
	if (wp_os_pread(walk->os, fd, page, sizeof(page), 0) >= 6)
		rpm = page[4] << 8 | page[5];
	(void)wp_os_close(walk->os, fd); /* read only: nothing can be lost */
	return rpm >= 0x401 && rpm <= 0xfffe ? rpm : 0;
}

static bool read_is_virtual(const char *name, const char *model)
{
	static const char *const words[] = { "QEMU", "VMware", "VBOX", "Virtual", "Msft", "Google",
		"Amazon", "Virtio" };

	if (starts_with(name, "vd") || starts_with(name, "xvd"))
		return true;
	for (size_t i = 0; model && i < WP_COUNT(words); i++)
		if (strcasestr(model, words[i]))
			return true;
	return false;
}

static void read_numbers(const struct walk *walk, struct wp_layer *layer)
{
	char *text = walk_attribute(walk, layer->name, "dev");

	if (text)
		(void)sscanf(text, "%u:%u", &layer->major, &layer->minor);
	free(text);
	layer->is_fua = read_number(walk, layer->name, "queue/fua", -1);
	layer->is_rotational = read_number(walk, layer->name, "queue/rotational", -1);
	layer->logical_block_bytes = read_number(walk, layer->name, "queue/logical_block_size", 0);
	layer->rotation_rpm = read_rpm(walk, layer->name);
}

static void read_layer(const struct walk *walk, const char *name, struct wp_layer *layer)
{
	layer->name = wp_xstrdup(name);
	layer->kind = read_kind(walk, name);
	layer->alias = trimmed(walk_attribute(walk, name, "dm/name"));
	layer->write_cache = trimmed(walk_attribute(walk, name, "queue/write_cache"));
	layer->device_cache = read_device_cache(walk, name);
	layer->model = read_model(walk, name);
	layer->scheduler = read_scheduler(walk, name);
	layer->backing_file = walk_attribute(walk, name, "loop/backing_file");
	layer->is_virtual = read_is_virtual(name, layer->model);
	read_scsi(walk, name, layer);
	read_numbers(walk, layer);
}

int walk_add_layer(struct walk *walk, const char *name)
{
	struct wp_stack *stack = walk->stack;

	for (size_t i = 0; i < stack->layer_count; i++)
		if (strcmp(stack->layers[i].name, name) == 0)
			return (int)i;
	if (stack->layer_count >= LAYERS_MAX)
		return -1;
	stack->layers =
		wp_xreallocarray(stack->layers, stack->layer_count + 1, sizeof(*stack->layers));
	memset(&stack->layers[stack->layer_count], 0, sizeof(*stack->layers));
	read_layer(walk, name, &stack->layers[stack->layer_count]);
	return (int)stack->layer_count++;
}
