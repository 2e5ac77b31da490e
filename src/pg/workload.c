/* SPDX-License-Identifier: PostgreSQL */
#include "pg/workload_internal.h"
#include "walprobe/mem.h"

static const struct {
	const char *name;
	enum wp_protocol protocol;
} protocols[] = {
	{ "simple", WP_PROTOCOL_SIMPLE },
	{ "extended", WP_PROTOCOL_EXTENDED },
	{ "prepared", WP_PROTOCOL_PREPARED },
};

static enum wp_protocol protocol_of(const char *name)
{
	for (size_t i = 0; i < WP_COUNT(protocols); i++)
		if (strcmp(protocols[i].name, name) == 0)
			return protocols[i].protocol;
	return WP_PROTOCOL_PREPARED;
}

const char *wp_workload_protocol(const struct wp_workload *workload)
{
	return protocols[workload->protocol].name;
}

static void define(struct wp_workload *workload, const char *name)
{
	(void)wp_symbols_define(&workload->symbols, name, strlen(name));
}

static void define_names(struct wp_workload *workload, const struct wp_workload_options *options)
{
	define(workload, "scale");
	define(workload, "client_id");
	define(workload, "random_seed");
	define(workload, "default_seed");
	workload->defines = wp_xcalloc(options->define_count, sizeof(*workload->defines));
	for (size_t i = 0; i < options->define_count; i++) {
		const char *text = options->defines[i];
		const char *end = strchr(text, '=');

		workload->defines[workload->define_count++] = wp_xstrdup(text);
		if (end && wp_name_length(text, (size_t)(end - text)) == (size_t)(end - text))
			(void)wp_symbols_define(&workload->symbols, text, (size_t)(end - text));
	}
}

static int parse_builtin(struct wp_workload *workload, struct wp_workload_script *script,
	const char *name, size_t length, struct wp_err *err)
{
	int rc = wp_builtin_find(name, length, &script->builtin, err);

	if (rc)
		return rc;
	return wp_script_parse(script->builtin->title, script->builtin->text,
		strlen(script->builtin->text), workload->protocol, &workload->symbols,
		&script->script, err);
}

static int parse_file(const struct wp_os *os, struct wp_workload *workload,
	struct wp_workload_script *script, const char *name, size_t length, struct wp_err *err)
{
	char *path = wp_xstrndup(name, length);
	int rc = wp_script_load(
		os, path, workload->protocol, &workload->symbols, &script->script, err);

	free(path);
	return rc;
}

/* One round trip leaves no place for an answer that the script waits for. */
static int check_pipelined(const struct wp_script *script, struct wp_err *err)
{
	for (size_t i = 0; i < script->count; i++) {
		const struct wp_command *command = &script->commands[i];
		bool is_pipeline = command->kind == WP_COMMAND_STARTPIPELINE ||
				   command->kind == WP_COMMAND_SYNCPIPELINE ||
				   command->kind == WP_COMMAND_ENDPIPELINE;

		if (is_pipeline || command->store != WP_STORE_NONE) {
			(void)wp_fail(err, WP_E_USAGE, 0,
				"--pipeline cannot be used with script \"%s\": line %d has %s",
				script->name, (int)command->line,
				is_pipeline ? "a pipeline of its own" : "\\gset or \\aset");
			wp_err_hint(err, "Leave --pipeline out, or use another script.");
			return -WP_E_USAGE;
		}
	}
	return 0;
}

static void name_statements(struct wp_workload *workload, size_t index)
{
	struct wp_workload_script *script = &workload->scripts[index];
	size_t count = (size_t)script->script.statement_count;

	script->names = wp_xcalloc(count, sizeof(*script->names));
	for (size_t i = 0; i < count; i++)
		script->names[i] = wp_xasprintf("w%zu_%zu", index, i);
	script->first_flag = workload->statement_total;
	script->first_command = workload->command_total;
	workload->statement_total += count;
	workload->command_total += script->script.count;
}

static int add_part(const struct wp_os *os, struct wp_workload *workload,
	const struct wp_workload_part *part, struct wp_err *err)
{
	struct wp_workload_script *script = &workload->scripts[workload->count++];
	int32_t weight;
	size_t length;
	int rc = wp_script_split_weight(part->text, &length, &weight, err);

	if (!rc && part->is_file)
		rc = parse_file(os, workload, script, part->text, length, err);
	else if (!rc)
		rc = parse_builtin(workload, script, part->text, length, err);
	if (rc)
		return rc;
	script->weight = weight;
	workload->weight_total += weight;
	script->weight_until = workload->weight_total;
	name_statements(workload, workload->count - 1);
	return workload->is_pipelined ? check_pipelined(&script->script, err) : 0;
}

static int check_whole(const struct wp_workload *workload, struct wp_err *err)
{
	struct wp_vars vars = { 0 };
	int rc;

	if (workload->weight_total == 0)
		return wp_fail(
			err, WP_E_USAGE, 0, "the sum of the scripts' weights must not be zero");
	if (workload->is_pipelined && workload->protocol == WP_PROTOCOL_SIMPLE)
		return wp_fail(
			err, WP_E_USAGE, 0, "--pipeline cannot be used with the simple protocol");
	rc = wp_workload_vars(workload, &vars, 0, 0, err);
	wp_vars_release(&vars);
	return rc;
}

int wp_workload_new(const struct wp_os *os, const struct wp_workload_options *options,
	struct wp_workload **out, struct wp_err *err)
{
	struct wp_workload *workload;
	int rc = 0;

	if (options->part_count > WP_WORKLOAD_SCRIPTS_MAX)
		return wp_fail(err, WP_E_USAGE, 0, "at most %d SQL scripts are allowed",
			WP_WORKLOAD_SCRIPTS_MAX);
	workload = wp_xcalloc(1, sizeof(*workload));
	workload->protocol = protocol_of(options->protocol);
	workload->is_pipelined = options->is_pipelined;
	workload->scale = 1;
	workload->scripts = wp_xcalloc(options->part_count, sizeof(*workload->scripts));
	define_names(workload, options);
	for (size_t i = 0; !rc && i < options->part_count; i++)
		rc = add_part(os, workload, &options->parts[i], err);
	if (!rc)
		rc = check_whole(workload, err);
	if (rc)
		wp_workload_free(workload);
	else
		*out = workload;
	return rc;
}

static void release_script(struct wp_workload_script *script)
{
	for (int32_t i = 0; script->names && i < script->script.statement_count; i++)
		free(script->names[i]);
	free(script->names);
	wp_script_release(&script->script);
}

void wp_workload_free(struct wp_workload *workload)
{
	if (!workload)
		return;
	for (size_t i = 0; i < workload->count; i++)
		release_script(&workload->scripts[i]);
	for (size_t i = 0; i < workload->define_count; i++)
		free(workload->defines[i]);
	free(workload->defines);
	free(workload->scripts);
	wp_symbols_release(&workload->symbols);
	free(workload);
}

int wp_workload_vars(const struct wp_workload *workload, struct wp_vars *vars, int64_t client,
	uint64_t seed, struct wp_err *err)
{
	int rc = 0;

	wp_vars_init(vars, &workload->symbols);
	for (size_t i = 0; !rc && i < workload->define_count; i++)
		rc = wp_vars_define(vars, workload->defines[i], err);
	wp_vars_set_default(vars, "scale", workload->scale);
	wp_vars_set_default(vars, "client_id", client);
	wp_vars_set_default(vars, "random_seed", (int64_t)(seed & INT64_MAX));
	wp_vars_set_default(vars, "default_seed", (int64_t)(seed & INT64_MAX));
	return rc;
}

void wp_workload_set_scale(struct wp_workload *workload, int64_t scale)
{
	workload->scale = scale;
}

int64_t wp_workload_scale(const struct wp_workload *workload)
{
	return workload->scale;
}

size_t wp_workload_count(const struct wp_workload *workload)
{
	return workload->count;
}

const char *wp_workload_title(const struct wp_workload *workload, size_t script)
{
	return workload->scripts[script].script.name;
}

int64_t wp_workload_weight(const struct wp_workload *workload, size_t script)
{
	return workload->scripts[script].weight;
}

bool wp_workload_has_builtin(const struct wp_workload *workload)
{
	for (size_t i = 0; i < workload->count; i++)
		if (workload->scripts[i].builtin)
			return true;
	return false;
}

bool wp_workload_is_builtin_only(const struct wp_workload *workload)
{
	for (size_t i = 0; i < workload->count; i++)
		if (!workload->scripts[i].builtin)
			return false;
	return true;
}

bool wp_workload_writes(const struct wp_workload *workload)
{
	for (size_t i = 0; i < workload->count; i++)
		if (!workload->scripts[i].builtin ||
			strcmp(workload->scripts[i].builtin->name, "select-only") != 0)
			return true;
	return false;
}

bool wp_workload_has_hot_rows(const struct wp_workload *workload)
{
	for (size_t i = 0; i < workload->count; i++)
		if (workload->scripts[i].builtin &&
			strcmp(workload->scripts[i].builtin->name, "tpcb-like") == 0)
			return true;
	return false;
}

bool wp_workload_is_pipelined(const struct wp_workload *workload)
{
	return workload->is_pipelined;
}

size_t wp_workload_command_count(const struct wp_workload *workload, size_t script)
{
	return workload->scripts[script].script.count;
}

const char *wp_workload_command_title(
	const struct wp_workload *workload, size_t script, size_t command)
{
	return workload->scripts[script].script.commands[command].title;
}
