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

/* Of path, or of what there is of it: then the mount is that of the place where it should be. */
static int find_stack(const struct wp_os *os, const char *path, struct wp_stack *stack)
{
	char *head = wp_xstrdup(path);
	int rc;

	while ((rc = wp_stack_find(os, NULL, head, stack, NULL)) != 0 && head[1]) {
		char *slash = strrchr(head, '/');

		slash[slash == head] = '\0';
	}
	free(head);
	return rc;
}

static void describe_stack(const struct wp_os *os, const char *path, struct plug_host *out)
{
	struct wp_stack stack = { 0 };
	struct wp_power power;

	if (find_stack(os, path, &stack) != 0)
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

/* As realpath(); where the end of path is missing, what there is of it and the rest as it stands. */
static char *absolute_path(const struct wp_os *os, const char *path)
{
	char *head = wp_xstrdup(path);
	char *absolute = NULL;
	char *whole;

	while (wp_os_realpath(os, head[0] ? head : ".", &absolute) < 0) {
		char *slash = strrchr(head, '/');

		if (!head[0] || (slash == head && !head[1]))
			break; /* not even the root, or the working directory */
		if (slash == head)
			head[1] = '\0';
		else if (slash)
			*slash = '\0';
		else
			head[0] = '\0';
	}
	if (!absolute)
		absolute = wp_xstrdup("/");
	path += strlen(head);
	path += strspn(path, "/");
	whole = *path ? wp_xasprintf("%s/%s", strcmp(absolute, "/") == 0 ? "" : absolute, path)
		      : wp_xstrdup(absolute);
	for (size_t length = strlen(whole); length > 1 && whole[length - 1] == '/';)
		whole[--length] = '\0';
	free(absolute);
	free(head);
	return whole;
}

void plug_host_describe(const struct wp_os *os, const char *path, struct plug_host *out)
{
	char *absolute;

	memset(out, 0, sizeof(*out));
	out->power_cycles = -1;
	out->unsafe_shutdowns = -1;
	read_text(os, "/proc/sys/kernel/random/boot_id", out->boot_id, sizeof(out->boot_id));
	read_text(os, "/etc/machine-id", out->machine, sizeof(out->machine));
	read_text(os, "/sys/class/dmi/id/product_uuid", out->product, sizeof(out->product));
	read_text(os, "/proc/sys/kernel/hostname", out->host, sizeof(out->host));
	absolute = absolute_path(os, path);
	(void)snprintf(out->path, sizeof(out->path), "%s", absolute);
	describe_stack(os, absolute, out);
	free(absolute);
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
