/* SPDX-License-Identifier: PostgreSQL */
/* cache_ask.c - find the tools that know the disks of a stack, and run them. */
#include "raid.h"

#include "walprobe/proc.h"

#define OUTPUT_BYTES ((size_t)4 << 20)
#define ARGUMENTS_MAX 8
#define ADAPTEC_MAX 8

/* a program, and the folders that its vendor puts it into */
struct tool {
	const char *name;
	const char *folders; /* separated by colons; after PATH */
};

static const struct tool megaraid_tools[] = {
	{ "storcli64", "/opt/MegaRAID/storcli:/usr/local/sbin:/opt/lsi/storcli" },
	{ "storcli", "/opt/MegaRAID/storcli:/usr/local/sbin:/opt/lsi/storcli" },
	{ "perccli64", "/opt/MegaRAID/perccli:/usr/local/sbin" },
	{ "perccli", "/opt/MegaRAID/perccli:/usr/local/sbin" },
	{ "MegaCli64", "/opt/MegaRAID/MegaCli:/usr/local/sbin" },
	{ "MegaCli", "/opt/MegaRAID/MegaCli:/usr/local/sbin" },
	{ "megacli", "/opt/MegaRAID/MegaCli:/usr/local/sbin" },
	{ NULL, NULL },
};
static const struct tool smart_tools[] = {
	{ "ssacli", "/opt/smartstorageadmin/ssacli/bin" },
	{ "hpssacli", "/opt/hp/hpssacli/bld:/opt/hp/hpssacli/bin" },
	{ "hpacucli", "/opt/compaq/hpacucli/bld:/opt/hp/hpacucli/bld" },
	{ NULL, NULL },
};
static const struct tool adaptec_tools[] = {
	{ "arcconf", "/usr/Arcconf:/usr/StorMan:/opt/StorMan:/usr/local/sbin" },
	{ NULL, NULL },
};
static const struct tool areca_tools[] = {
	{ "cli64", "/usr/local/bin:/usr/local/sbin:/opt/areca" },
	{ "areca_cli64", "/usr/local/bin:/usr/local/sbin:/opt/areca" },
	{ NULL, NULL },
};

static const struct {
	const struct tool *tools;
	const char *install; /* for people */
} families[] = {
	[WP_RAID_MEGARAID] = { megaraid_tools, "Broadcom's storcli (Dell: perccli)" },
	[WP_RAID_SMART] = { smart_tools, "HPE's ssacli" },
	[WP_RAID_ADAPTEC] = { adaptec_tools, "Microchip's arcconf" },
	[WP_RAID_ARECA] = { areca_tools, "Areca's cli64" },
};

/* one round of questions */
struct asking {
	const struct wp_os *os;
	int64_t limit_ns;
	struct wp_cache_facts *facts;
	const char *path; /* of the program that is asked now */
	const char *device;
	char *problem; /* first failure */
	bool is_stopped;
	struct wp_err *err;
};

static char *find_tool(const struct asking *asking, const struct tool *tool)
{
	const char *folders = tool->folders;
	char *path = NULL;

	if (wp_proc_find(asking->os, tool->name, NULL, &path, NULL) == 0)
		return path;
	while (folders && *folders) {
		size_t length = strcspn(folders, ":");

		path = wp_xasprintf("%.*s/%s", (int)length, folders, tool->name);
		if (wp_os_access(asking->os, path, X_OK) == 0)
			return path;
		free(path);
		folders += length + (folders[length] == ':');
	}
	return NULL;
}

static void note_problem(struct asking *asking, const char *message)
{
	if (!asking->problem)
		asking->problem = wp_xstrdup(message);
}

/* Run the program with words that blanks separate; returns what was understood. */
static size_t ask(struct asking *asking, const char *words)
{
	const struct wp_proc_options options = {
		.limit_ns = asking->limit_ns,
		.output_bytes = OUTPUT_BYTES,
	};
	const char *argv[ARGUMENTS_MAX + 2] = { asking->path };
	struct wp_proc_output output = { 0 };
	struct wp_err own = { 0 };
	char *copy = wp_xstrdup(words);
	char *rest = copy;
	size_t understood = 0;
	size_t count = 1;
	char *word;
	int rc;

	while (count <= ARGUMENTS_MAX && (word = strsep(&rest, " ")) != NULL)
		argv[count++] = word;
	rc = asking->is_stopped ? -WP_E_STOPPED
				: wp_proc_run(asking->os, argv, &options, &output, &own);
	if (rc == -WP_E_STOPPED) {
		asking->is_stopped = true;
		if (asking->err)
			*asking->err = own;
	} else if (rc) {
		note_problem(asking, own.message);
	} else {
		/* What it printed counts, whatever its exit status: smartctl's is a bit mask. */
		understood = wp_cache_read(asking->facts, output.out, strlen(output.out),
			asking->device, output.is_cut);
		if (wp_proc_check(asking->path, &output, &own) != 0)
			note_problem(asking, own.message);
	}
	wp_proc_output_release(&output);
	free(copy);
	return understood;
}

static bool has_backup(const struct wp_cache_facts *facts, enum wp_raid_family family)
{
	for (size_t i = 0; i < facts->controller_count; i++)
		if (facts->controllers[i].family == family &&
			facts->controllers[i].backup != WP_BACKUP_UNSAID)
			return true;
	return false;
}

static size_t ask_megaraid(struct asking *asking)
{
	size_t understood;

	if (strcasestr(asking->path, "megacli"))
		return ask(asking, "-LDInfo -Lall -aAll -NoLog") +
		       ask(asking, "-AdpBbuCmd -GetBbuStatus -aAll -NoLog");
	understood = ask(asking, "/call/vall show all J nolog");
	understood += ask(asking, "/call show all J nolog");
	/* Controllers with a capacitor answer to /cv, others to /bbu. */
	if (understood && !has_backup(asking->facts, WP_RAID_MEGARAID)) {
		(void)ask(asking, "/call/cv show all J nolog");
		if (!has_backup(asking->facts, WP_RAID_MEGARAID))
			(void)ask(asking, "/call/bbu show all J nolog");
	}
	return understood;
}

static size_t ask_adaptec(struct asking *asking)
{
	size_t understood = 0;

	for (int i = 1; i <= ADAPTEC_MAX; i++) {
		char words[40];
		size_t one;

		(void)snprintf(words, sizeof(words), "GETCONFIG %d AL", i);
		one = ask(asking, words);
		understood += one;
		if (one == 0)
			break;
	}
	return understood;
}

static size_t ask_family(struct asking *asking, enum wp_raid_family family)
{
	switch (family) {
	case WP_RAID_MEGARAID:
		return ask_megaraid(asking);
	case WP_RAID_SMART:
		return ask(asking, "ctrl all show config detail");
	case WP_RAID_ADAPTEC:
		return ask_adaptec(asking);
	case WP_RAID_ARECA:
		return ask(asking, "hw info") + ask(asking, "sys showcfg") +
		       ask(asking, "vsf info vol=1");
	default:
		return 0;
	}
}

/* The first tool that is there and sees the controller. */
static void ask_controller(
	struct asking *asking, enum wp_raid_family family, const struct wp_layer *layer)
{
	const struct tool *tools = families[family].tools;
	bool is_found = false;

	asking->device = NULL;
	for (size_t i = 0; tools[i].name; i++) {
		char *path = find_tool(asking, &tools[i]);
		size_t understood;

		if (!path)
			continue;
		is_found = true;
		asking->path = path;
		understood = ask_family(asking, family);
		asking->path = NULL;
		free(path);
		if (understood || asking->is_stopped)
			return;
	}
	free(asking->facts->unasked);
	asking->facts->unasked =
		is_found
			? wp_xasprintf("%s: the tool of its %s controller told nothing: %s",
				  layer->name, wp_raid_family_name(family),
				  asking->problem ? asking->problem : "it printed nothing known")
			: wp_xasprintf("%s is a volume of a %s controller: install %s, or save its "
				       "output elsewhere and give it with --controller-output",
				  layer->name, wp_raid_family_name(family),
				  families[family].install);
}

static void ask_drive(struct asking *asking, const struct wp_layer *layer)
{
	static const struct {
		const char *program;
		const char *words;
	} questions[] = {
		{ "hdparm", "-W" },
		{ "sdparm", "--get WCE" },
		{ "smartctl", "-g wcache -j" },
		{ "nvme", "id-ctrl -o json" },
		{ "nvme", "get-feature -f 6" },
		{ "nvme", "smart-log -o json" },
	};
	bool is_nvme = strncmp(layer->name, "nvme", 4) == 0;

	if (!is_nvme && strncmp(layer->name, "sd", 2) != 0)
		return;
	asking->device = layer->name;
	for (size_t i = 0; i < WP_COUNT(questions); i++) {
		const struct tool tool = { questions[i].program, NULL };
		bool for_nvme = strcmp(tool.name, "nvme") == 0;
		char *path = for_nvme == is_nvme ? find_tool(asking, &tool) : NULL;
		char *words = wp_xasprintf("%s /dev/%s", questions[i].words, layer->name);

		asking->path = path;
		if (path)
			(void)ask(asking, words);
		asking->path = NULL;
		free(words);
		free(path);
	}
}

int wp_cache_ask(const struct wp_os *os, const struct wp_stack *stack, int64_t limit_ns,
	struct wp_cache_facts *facts, struct wp_err *err)
{
	struct asking asking = { .os = os, .limit_ns = limit_ns, .facts = facts, .err = err };
	bool is_asked[WP_COUNT(families)] = { false };

	for (size_t i = 0; i < stack->layer_count; i++) {
		const struct wp_layer *layer = &stack->layers[i];
		enum wp_raid_family family = wp_raid_family_of(layer);

		if (!wp_stack_is_end(stack, i) || layer->is_virtual || is_asked[family])
			continue;
		if (wp_os_geteuid(os) != 0) {
			if (family != WP_RAID_NONE && !facts->unasked)
				facts->unasked = wp_xasprintf(
					"%s is a volume of a %s controller, which only root can "
					"ask: run this as root",
					layer->name, wp_raid_family_name(family));
			continue;
		}
		is_asked[family] = family != WP_RAID_NONE;
		if (family == WP_RAID_NONE)
			ask_drive(&asking, layer);
		else
			ask_controller(&asking, family, layer);
	}
	free(asking.problem);
	return asking.is_stopped ? -WP_E_STOPPED : 0;
}
