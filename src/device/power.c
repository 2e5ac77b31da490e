/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/power.h"
#include "walprobe/mem.h"
#include "walprobe/proc.h"

#include <jansson.h>

#define TOOL_NS (10 * WP_NS_PER_S)

static void take(const json_t *object, const char *key, int64_t *out)
{
	const json_t *value = json_object_get(object, key);

	if (*out < 0 && json_is_integer(value) && json_integer_value(value) >= 0)
		*out = json_integer_value(value);
}

/* ATA has no standard counter of lost power; most solid-state drives count it under one of these. */
static void take_attributes(const json_t *table, int64_t *out)
{
	const json_t *row;
	size_t i;

	json_array_foreach(table, i, row)
	{
		json_int_t id = json_integer_value(json_object_get(row, "id"));

		if (id == 174 || id == 192)
			take(json_object_get(row, "raw"), "value", out);
	}
}

bool wp_power_parse(const char *json, struct wp_power *out)
{
	json_t *root = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
	const json_t *health = json_object_get(root, "nvme_smart_health_information_log");

	out->power_cycles = -1;
	out->unsafe_shutdowns = -1;
	take(root, "power_cycle_count", &out->power_cycles);
	take(root, "power_cycles", &out->power_cycles);
	take(root, "unsafe_shutdowns", &out->unsafe_shutdowns);
	take(health, "power_cycles", &out->power_cycles);
	take(health, "unsafe_shutdowns", &out->unsafe_shutdowns);
	take_attributes(json_object_get(json_object_get(root, "ata_smart_attributes"), "table"),
		&out->unsafe_shutdowns);
	take(json_object_get(root, "scsi_start_stop_cycle_counter"),
		"accumulated_start_stop_cycles", &out->power_cycles);
	json_decref(root);
	return out->power_cycles >= 0 || out->unsafe_shutdowns >= 0;
}

static bool ask(const struct wp_os *os, const char *const *argv, struct wp_power *out)
{
	const struct wp_proc_options options = { .limit_ns = TOOL_NS };
	struct wp_proc_output output = { 0 };
	bool is_known;

	/* A tool that is missing, or does not know this device, is no error. */
	if (wp_proc_run(os, argv, &options, &output, NULL) != 0)
		return false;
	is_known = wp_power_parse(output.out, out);
	wp_proc_output_release(&output);
	return is_known;
}

static bool ask_device(const struct wp_os *os, const char *device, struct wp_power *out)
{
	const char *const smartctl[] = { "smartctl", "-j", "-i", "-A", device, NULL };
	const char *const nvme[] = { "nvme", "smart-log", "-o", "json", device, NULL };

	return ask(os, smartctl, out) || (strstr(device, "nvme") && ask(os, nvme, out));
}

void wp_power_read(const struct wp_os *os, const struct wp_stack *stack, struct wp_power *out)
{
	memset(out, 0, sizeof(*out));
	for (size_t i = 0; i < stack->layer_count; i++) {
		char *device;
		bool is_known;

		if (!wp_stack_is_end(stack, i) || strcmp(stack->layers[i].kind, "disk") != 0)
			continue;
		device = wp_xasprintf("/dev/%s", stack->layers[i].name);
		is_known = ask_device(os, device, out);
		free(device);
		if (is_known) {
			(void)snprintf(
				out->device, sizeof(out->device), "%s", stack->layers[i].name);
			return;
		}
	}
	out->power_cycles = -1;
	out->unsafe_shutdowns = -1;
}
