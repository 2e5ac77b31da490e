/* SPDX-License-Identifier: PostgreSQL */
#include "walprobe/environment.h"
#include "walprobe/host.h"
#include "walprobe/mem.h"

struct source {
	const char *key;
	const char *path;
};

static const struct source sources[] = {
	{ "kernel", "/proc/sys/kernel/osrelease" },
	{ "kernel_version", "/proc/sys/kernel/version" },
	{ "host", "/proc/sys/kernel/hostname" },
	{ "machine", "/sys/class/dmi/id/product_name" },
	{ "clock_source", "/sys/devices/system/clocksource/clocksource0/current_clocksource" },
	{ "cpu_governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor" },
	{ "transparent_hugepage", "/sys/kernel/mm/transparent_hugepage/enabled" },
	{ "dirty_background_ratio", "/proc/sys/vm/dirty_background_ratio" },
	{ "dirty_ratio", "/proc/sys/vm/dirty_ratio" },
};

/* Value after "key" and a colon on a line of its own in text, without blanks; NULL when missing. */
static char *line_value(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	const char *value;

	if (!at)
		return NULL;
	value = at + strlen(key);
	value += strspn(value, " \t:");
	return wp_xstrndup(value, strcspn(value, "\n"));
}

static void describe_line(const struct wp_os *os, struct wp_result *result, const char *key,
	const char *path, const char *line)
{
	int sys_errno;
	char *text = wp_os_read_text(os, path, 65536, &sys_errno);
	char *value = text ? line_value(text, line) : NULL;

	if (value)
		wp_result_add_environment(result, key, value, path);
	free(value);
	free(text);
}

void wp_environment_describe(const struct wp_os *os, struct wp_result *result)
{
	char processors[32];

	for (size_t i = 0; i < WP_COUNT(sources); i++) {
		int sys_errno;
		char *text = wp_os_read_text(os, sources[i].path, 256, &sys_errno);

		if (text)
			wp_result_add_environment(result, sources[i].key, text, sources[i].path);
		free(text);
	}
	(void)snprintf(processors, sizeof(processors), "%" PRId64, wp_host_processors());
	wp_result_add_environment(result, "processors", processors, "sched_getaffinity");
	describe_line(os, result, "cpu_model", "/proc/cpuinfo", "model name");
	describe_line(os, result, "memory", "/proc/meminfo", "MemTotal");
}
