/* SPDX-License-Identifier: PostgreSQL */
#include "plug_internal.h"
#include "walprobe/mem.h"
#include "walprobe/power.h"
#include "walprobe/stack.h"

static void read_text(const struct wp_os *os, const char *path, char *out, size_t size)
{
	int sys_errno;
	char *text = wp_os_read_text(os, path, 255, &sys_errno);

	(void)snprintf(out, size, "%s", text ? text : "");
	free(text);
}

static void add_layer(char *out, size_t size, const struct wp_layer *layer)
{
	size_t used = strlen(out);

	(void)snprintf(out + used, size - used, "%s%s %s%s%s", used ? ", " : "", layer->kind,
		layer->name, layer->write_cache ? " " : "",
		layer->write_cache ? layer->write_cache : "");
}

static void describe_stack(const struct wp_os *os, const char *path, struct plug_host *out)
{
	struct wp_stack stack = { 0 };
	struct wp_power power;

	if (wp_stack_find(os, NULL, path, &stack, NULL) != 0)
		return;
	(void)snprintf(out->mount_point, sizeof(out->mount_point), "%s",
		stack.mount_point ? stack.mount_point : "");
	(void)snprintf(out->fstype, sizeof(out->fstype), "%s", stack.fstype ? stack.fstype : "");
	(void)snprintf(out->stack, sizeof(out->stack), "%.200s",
		stack.mount_options ? stack.mount_options : "");
	for (size_t i = 0; i < stack.layer_count; i++)
		add_layer(out->stack, sizeof(out->stack), &stack.layers[i]);
	wp_power_read(os, &stack, &power);
	out->power_cycles = power.power_cycles;
	out->unsafe_shutdowns = power.unsafe_shutdowns;
	wp_stack_release(&stack);
}

void plug_host_describe(const struct wp_os *os, const char *path, struct plug_host *out)
{
	char *absolute = NULL;

	memset(out, 0, sizeof(*out));
	out->power_cycles = -1;
	out->unsafe_shutdowns = -1;
	read_text(os, "/proc/sys/kernel/random/boot_id", out->boot_id, sizeof(out->boot_id));
	read_text(os, "/etc/machine-id", out->machine, sizeof(out->machine));
	read_text(os, "/sys/class/dmi/id/product_uuid", out->product, sizeof(out->product));
	read_text(os, "/proc/sys/kernel/hostname", out->host, sizeof(out->host));
	if (wp_os_realpath(os, path, &absolute) == 0) {
		(void)snprintf(out->path, sizeof(out->path), "%s", absolute);
		describe_stack(os, absolute, out);
		free(absolute);
		return;
	}
	/* It is gone; by the name that it had. */
	(void)snprintf(out->path, sizeof(out->path), "%s", path);
	for (size_t length = strlen(out->path); length > 1 && out->path[length - 1] == '/';)
		out->path[--length] = '\0';
}

char *plug_dir_path(const char *target, const uint8_t *run)
{
	char id[2 * WP_RUN_ID_BYTES + 1];

	return wp_xasprintf("%s/" WP_PLUG_PREFIX "%s", strcmp(target, "/") == 0 ? "" : target,
		wp_run_id_text(run, id));
}

char *plug_segment_path(const char *dir, uint16_t writer, uint32_t segno)
{
	return wp_xasprintf("%s/wp.%04u.%08u", dir, writer, segno);
}

char *plug_record_path(const char *dir, uint16_t writer, uint32_t segno, uint32_t slot)
{
	return wp_xasprintf("%s/wp.%04u.%08u.%06u", dir, writer, segno, slot);
}

char *plug_cold_path(const char *dir)
{
	return wp_xasprintf("%s/" PLUG_COLD, dir);
}
