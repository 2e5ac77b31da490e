/* SPDX-License-Identifier: PostgreSQL */
/*
 * cluster_tool.c - throwaway clusters on targets, for tests/integration/cluster.sh.
 *
 *   cluster_tool [--base=DIR] [--bindir=DIR] [--run-as=USER] [--whole] [--keep] [--set=NAME=VALUE]
 *                [--again] [--hold] TARGET...
 *
 * Makes a cluster on each target, starts all of them, prints one line "key=value ..." for each and
 * "ready"; with --again stops and starts each once more; with --hold waits until a signal comes or
 * a server ends. Then undoes all. Its exit status follows the program's.
 */
#include "walprobe/mem.h"
#include "walprobe/server_counters.h"
#include "walprobe/stop.h"
#include "walprobe/target_cluster.h"

#define MOST 16

struct tool {
	struct wp_run run;
	struct wp_cluster_plan plan;
	const char *settings[MOST];
	const char *words[MOST];
	size_t word_count;
	bool is_again;
	bool is_held;
	struct wp_target_specs specs;
	struct wp_target targets[MOST];
	struct wp_cluster *clusters[MOST];
};

static void tell(void *ctx, const char *kind, const char *text)
{
	(void)ctx;
	(void)fprintf(stderr, "%s: %s\n", kind, text);
}

static void tell_kept(void *ctx, const char *what, const char *name)
{
	(void)ctx;
	(void)fprintf(stderr, "note: kept %s \"%s\"\n", what, name);
}

static const char *value_of(const char *word, const char *option)
{
	size_t length = strlen(option);

	return strncmp(word, option, length) == 0 ? word + length : NULL;
}

static void parse_word(struct tool *tool, const char *word)
{
	const char *value;

	if ((value = value_of(word, "--base=")))
		tool->plan.base = value;
	else if ((value = value_of(word, "--bindir=")))
		tool->plan.bindir = value;
	else if ((value = value_of(word, "--run-as=")))
		tool->plan.run_as = value;
	else if ((value = value_of(word, "--set=")) && tool->plan.setting_count < MOST)
		tool->settings[tool->plan.setting_count++] = value;
	else if (strcmp(word, "--whole") == 0)
		tool->plan.is_whole = true;
	else if (strcmp(word, "--keep") == 0)
		tool->run.is_kept = true;
	else if (strcmp(word, "--again") == 0)
		tool->is_again = true;
	else if (strcmp(word, "--hold") == 0)
		tool->is_held = true;
	else if (tool->word_count < MOST)
		tool->words[tool->word_count++] = word;
}

static int open_targets(struct tool *tool, struct wp_err *err)
{
	const struct wp_target_options options = {
		.reserve_bytes = -1, .is_kept = tool->run.is_kept, .mounts_on = tool->plan.place
	};
	int rc = 0;

	for (size_t i = 0; i < tool->specs.count && !rc; i++)
		rc = wp_target_open(tool->run.os, tool->run.registry, &tool->specs.items[i],
			&options, &tool->targets[i], err);
	if (!rc)
		wp_cluster_plan_fit(&tool->run, &tool->plan, tool->targets, tool->specs.count);
	return rc;
}

static void print(struct tool *tool, size_t i)
{
	const struct wp_cluster *cluster = tool->clusters[i];

	printf("label=%s pid=%" PRId64
	       " port=%d knows_owners=%d is_ranked=%d eatmydata=%d base=%s data=%s "
	       "wal=%s log=%s\n",
		tool->targets[i].label, cluster->pid, cluster->port, cluster->knows_owners,
		wp_target_cluster_record(&tool->run, &tool->targets[i], cluster),
		wp_server_has_library(tool->run.os, cluster->pid, "libeatmydata"),
		cluster->directory, cluster->data_directory, cluster->wal_directory, cluster->log);
	printf("psql=%s\nconninfo=%s\n", cluster->psql, cluster->conninfo);
	for (size_t j = 0; j < cluster->setting_count; j++)
		printf("setting %s=%s\n", cluster->settings[j].name,
			cluster->settings[j].shown ? cluster->settings[j].shown : "(none)");
}

static int start_clusters(struct tool *tool, struct wp_err *err)
{
	int rc = 0;

	for (size_t i = 0; i < tool->specs.count && !rc; i++)
		rc = wp_target_cluster(
			&tool->run, &tool->plan, &tool->targets[i], &tool->clusters[i], err);
	for (size_t i = 0; i < tool->specs.count && !rc; i++)
		rc = wp_cluster_start(tool->clusters[i], err);
	for (size_t i = 0; i < tool->specs.count && !rc && tool->is_again; i++) {
		rc = wp_cluster_stop(tool->clusters[i], err);
		if (!rc)
			rc = wp_cluster_start(tool->clusters[i], err);
	}
	for (size_t i = 0; i < tool->specs.count && !rc; i++)
		print(tool, i);
	return rc;
}

static int hold(struct tool *tool, struct wp_err *err)
{
	int rc = 0;

	printf("ready\n");
	(void)fflush(stdout);
	while (tool->is_held && !rc) {
		rc = wp_stop_fail(err);
		for (size_t i = 0; i < tool->specs.count && !rc; i++)
			rc = wp_cluster_check(tool->clusters[i], err);
		(void)wp_os_sleep_ns(tool->run.os, 20 * WP_NS_PER_MS);
	}
	return rc;
}

static int work(struct tool *tool, struct wp_err *err)
{
	int rc = wp_targets_parse(tool->words, tool->word_count, &tool->specs, err);

	if (!rc)
		rc = wp_cluster_plan_prepare(&tool->run, &tool->plan, err);
	if (!rc)
		rc = open_targets(tool, err);
	if (!rc)
		rc = start_clusters(tool, err);
	return rc ? rc : hold(tool, err);
}

static int undo(struct tool *tool, struct wp_err *err)
{
	if (!tool->run.is_kept)
		return wp_registry_undo_all(tool->run.registry, err);
	wp_registry_keep_all(tool->run.registry, tell_kept, NULL);
	return 0;
}

int main(int argc, char **argv)
{
	static struct tool tool;
	struct wp_err err = { 0 };
	int status;

	wp_stop_install();
	tool.plan.settings = tool.settings;
	for (int i = 1; i < argc; i++)
		parse_word(&tool, argv[i]);
	tool.run.os = wp_os_linux();
	tool.run.registry = wp_registry_new(tool.run.os);
	tool.run.result = wp_result_new("cluster_tool");
	tool.run.tell = tell;
	if (!tool.run.is_kept)
		(void)wp_target_private_mounts(NULL);
	status = wp_code_exit_status((enum wp_code) - work(&tool, &err));
	if (status)
		wp_err_print(&err, "error", stderr);
	if (undo(&tool, &err) != 0) {
		wp_err_print(&err, "error", stderr);
		status = 3;
	}
	for (size_t i = 0; i < MOST; i++) {
		wp_cluster_release(tool.clusters[i]);
		wp_target_release(&tool.targets[i]);
	}
	wp_targets_release(&tool.specs);
	wp_cluster_plan_release(&tool.plan);
	wp_result_free(tool.run.result);
	wp_registry_free(tool.run.registry);
	return wp_stop_exit_status() ? wp_stop_exit_status() : status;
}
