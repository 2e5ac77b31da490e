/* SPDX-License-Identifier: PostgreSQL */
#include "cli/commands.h"
#include "walprobe/plug.h"
#include "walprobe/target.h"

#define DAY_NS (86400 * WP_NS_PER_S)

struct params {
	struct wp_common common;
	const char *witness;
	const char *key;
	bool is_tls;
	const char *run;
	/* write */
	int64_t writers;
	const char *workload;
	int64_t duration_ns;
	int64_t page_bytes;
	int64_t batch;
	int64_t segment_bytes;
	int64_t space_bytes;
	bool is_direct;
	int64_t cycles;
	/* verify, and write with cycles */
	const char *cut;
	int64_t read_timeout_ns;
	bool is_discarded;
};

#define F(field) offsetof(struct params, field)

static const char *const cuts[] = { "boot", "device", "asserted", NULL };

static const struct wp_opt plug_opts[] = {
	{ "witness", 'w', WP_OPT_TEXT, "HOST:PORT", F(witness), NULL, 0, 0, NULL,
		"the witness, on a machine that keeps its power" },
	{ "key", 'k', WP_OPT_TEXT, "FILE", F(key), NULL, 0, 0, NULL,
		"copy of the witness's key file" },
	{ "tls", 0, WP_OPT_FLAG, NULL, F(is_tls), NULL, 0, 0, NULL,
		"speak TLS 1.3 under the same key; the witness needs the option, too" },
	{ .name = NULL },
};

static const struct wp_opt write_opts[] = {
	{ "run", 0, WP_OPT_TEXT, "ID", F(run), NULL, 0, 0, NULL,
		"go on with this run after its last cut was judged" },
	{ "cycles", 0, WP_OPT_INT, "NUM", F(cycles), "0", 0, 65000, NULL,
		"verify the run that is there, and write on until so many cuts have shown no loss; "
		"for a service" },
	{ "cut", 0, WP_OPT_CHOICE, "WHAT", F(cut), "boot", 0, 0, cuts,
		"what counts as a cut with --cycles: boot, device or asserted, as for plug "
		"verify" },
	{ "read-timeout", 0, WP_OPT_DURATION, "DURATION", F(read_timeout_ns), "30s",
		100 * WP_NS_PER_MS, DAY_NS, NULL, "longest time for one read with --cycles" },
	{ "writers", 'c', WP_OPT_INT, "NUM", F(writers), "4", 1, WP_WRITERS_MAXIMUM, NULL,
		"writers at once" },
	{ "method", 0, WP_OPT_TEXT, "NAME", F(common.method), "fdatasync", 0, 0, NULL,
		"wal_sync_method that the writers use" },
	{ "workload", 0, WP_OPT_TEXT, "LIST", F(workload), "all", 0, 0, NULL,
		"append, prealloc, recycle, create, or all; the writers take turns" },
	{ "duration", 'T', WP_OPT_DURATION_S, "DURATION", F(duration_ns), "0s", 0, 30 * DAY_NS,
		NULL, "stop in good order after this time; 0s for never" },
	{ "page", 0, WP_OPT_SIZE, "SIZE", F(page_bytes), "8kB", 512, 65536, NULL,
		"size of a record, a multiple of 512 bytes" },
	{ "batch", 0, WP_OPT_INT, "NUM", F(batch), "4", 1, 64, NULL,
		"records that a writer writes before one sync, as a group commit does" },
	{ "segment-size", 0, WP_OPT_SIZE, "SIZE", F(segment_bytes), "16MB", 65536, 1 << 30, NULL,
		"size of a segment file at most; smaller where space is short" },
	{ "space", 0, WP_OPT_SIZE, "SIZE", F(space_bytes), "0B", 0, INT64_C(1) << 50, NULL,
		"space for all segments; 0B for a quarter of what is free, 4GB at most" },
	{ "direct", 0, WP_OPT_FLAG, NULL, F(is_direct), NULL, 0, 0, NULL,
		"write past the page cache (O_DIRECT)" },
	{ "force", 0, WP_OPT_FLAG, NULL, F(common.is_forced), NULL, 0, 0, NULL,
		"write beside a live pg_wal" },
	{ .name = NULL },
};

static const struct wp_opt verify_opts[] = {
	{ "run", 0, WP_OPT_TEXT, "ID", F(run), NULL, 0, 0, NULL,
		"judge this run, when there are several" },
	{ "cut", 0, WP_OPT_CHOICE, "WHAT", F(cut), "boot", 0, 0, cuts,
		"what counts as a cut: the machine was restarted, the drive's power counters "
		"moved as well, or you say so" },
	{ "read-timeout", 0, WP_OPT_DURATION, "DURATION", F(read_timeout_ns), "30s",
		100 * WP_NS_PER_MS, DAY_NS, NULL, "longest time for one read" },
	{ "discard", 0, WP_OPT_FLAG, NULL, F(is_discarded), NULL, 0, 0, NULL,
		"remove the run's directory after the verdict" },
	{ .name = NULL },
};

static const struct wp_opt *const write_tables[] = { plug_opts, write_opts, wp_output_opts, NULL };
static const struct wp_opt *const verify_tables[] = { plug_opts, verify_opts, wp_output_opts,
	NULL };

/* what both need before they begin */
struct basics {
	struct wp_target_specs specs;
	struct wp_key key;
	bool has_key;
	uint8_t run[WP_RUN_ID_BYTES];
};

static int check_words(const struct params *params, struct basics *basics, struct wp_err *err)
{
	if (!params->witness)
		return wp_fail(err, WP_E_USAGE, 0, "option --witness is needed");
	if (params->run && !wp_run_id_parse(params->run, basics->run))
		return wp_fail(err, WP_E_USAGE, 0,
			"option --run: \"%s\" is no run: 32 hexadecimal digits are", params->run);
	if (basics->specs.items[0].is_image) {
		(void)wp_fail(err, WP_E_USAGE, 0,
			"target \"%s\" is an image, which would not outlive this run",
			basics->specs.items[0].label);
		wp_err_hint(err, "Name a directory on the storage that will lose its power.");
		return -WP_E_USAGE;
	}
	return 0;
}

static int get_basics(struct wp_run *run, const struct params *params, const char *const *operands,
	bool needs_key, struct basics *basics, struct wp_err *err)
{
	int rc = wp_targets_parse(operands, 1, &basics->specs, err);

	if (!rc)
		rc = check_words(params, basics, err);
	if (rc || !needs_key)
		return rc;
	if (!params->key)
		return wp_fail(err, WP_E_USAGE, 0, "option --key is needed");
	rc = wp_key_load(run->os, params->key, &basics->key, err);
	basics->has_key = !rc;
	return rc;
}

static void release_basics(struct basics *basics)
{
	wp_targets_release(&basics->specs);
	wp_key_wipe(&basics->key);
}

static struct wp_access access_of(const struct params *params, const struct basics *basics)
{
	return (struct wp_access){ .where = params->witness,
		.key = basics->has_key ? &basics->key : NULL,
		.is_tls = params->is_tls };
}

static int set_options(const struct params *params, const struct basics *basics,
	struct wp_plug_options *options, struct wp_err *err)
{
	struct wp_method_set methods;
	const char *reason;
	int rc = wp_method_parse_list(params->common.method, &methods, err);

	if (rc)
		return rc;
	if (methods.count != 1)
		return wp_fail(err, WP_E_USAGE, 0, "option --method: one at a time, not \"%s\"",
			params->common.method);
	if (!wp_method_is_supported(methods.items[0], &reason))
		return wp_fail(err, WP_E_UNSUPPORTED, 0, "option --method: %s", reason);
	if (params->page_bytes % WP_SECTOR_BYTES)
		return wp_fail(err, WP_E_USAGE, 0,
			"option --page: %" PRId64 " bytes are no multiple of 512",
			params->page_bytes);
	options->witness = access_of(params, basics);
	options->label = basics->specs.items[0].label;
	options->path = basics->specs.items[0].path;
	options->run = params->run ? basics->run : NULL;
	options->writers = params->writers;
	options->method = methods.items[0];
	options->duration_ns = params->duration_ns;
	options->page_bytes = params->page_bytes;
	options->batch = params->batch;
	options->segment_bytes = params->segment_bytes;
	options->space_bytes = params->space_bytes;
	options->is_direct = params->is_direct;
	return wp_plug_parse_workloads(params->workload, options, err);
}

static enum wp_cut_rule rule_of(const char *word)
{
	for (size_t i = 0; cuts[i]; i++)
		if (strcmp(cuts[i], word) == 0)
			return (enum wp_cut_rule)i;
	return WP_CUT_BOOT;
}

static int write_cycles(struct wp_run *run, const struct params *params,
	const struct wp_plug_options *options, struct wp_err *err)
{
	const struct wp_plug_verify_options verify = { .witness = options->witness,
		.label = options->label,
		.path = options->path,
		.cut = rule_of(params->cut),
		.read_timeout_ns = params->read_timeout_ns };

	return wp_plug_cycles(run, options, &verify, params->cycles, err);
}

static int execute_write(struct wp_run *run, const void *given, const char *const *operands,
	size_t operand_count, struct wp_err *err)
{
	/* Not on the stack: threads that hang in a dead device outlive this function. */
	static struct wp_plug_options options;
	static struct basics basics;
	const struct params *params = given;
	bool is_alone = params->witness && strcmp(params->witness, "none") == 0;
	int rc = get_basics(run, params, operands, !is_alone, &basics, err);

	(void)operand_count;
	if (!rc)
		rc = set_options(params, &basics, &options, err);
	if (!rc && is_alone && options.run)
		rc = wp_fail(err, WP_E_USAGE, 0, "option --run needs a witness");
	if (!rc && params->cycles && (is_alone || options.run))
		rc = wp_fail(err, WP_E_USAGE, 0,
			"option --cycles needs a witness, and finds its run itself");
	if (!rc)
		rc = params->cycles ? write_cycles(run, params, &options, err)
				    : wp_plug_write(run, &options, err);
	if (!rc)
		release_basics(&basics);
	return rc;
}

static int execute_verify(struct wp_run *run, const void *given, const char *const *operands,
	size_t operand_count, struct wp_err *err)
{
	const struct params *params = given;
	struct basics basics = { .has_key = false };
	struct wp_plug_verify_options options = { .cut = WP_CUT_BOOT };
	int rc = get_basics(run, params, operands, true, &basics, err);

	(void)operand_count;
	if (!rc) {
		options.witness = access_of(params, &basics);
		options.label = basics.specs.items[0].label;
		options.path = basics.specs.items[0].path;
		options.run = params->run ? basics.run : NULL;
		options.cut = rule_of(params->cut);
		options.read_timeout_ns = params->read_timeout_ns;
		options.is_discarded = params->is_discarded;
		rc = wp_plug_verify(run, &options, err);
	}
	release_basics(&basics);
	return rc;
}

const struct wp_command wp_cmd_plug_write = {
	.name = "plug write",
	.operands = "TARGET",
	.summary = "write and sync until the power is cut, and tell the witness",
	.epilogue = "Says \"armed\" when the power may be cut. Leaves TARGET/walprobe-plug-RUN for "
		    "plug verify.\nExample:\n"
		    "  walprobe plug write --witness other:5499 --key plug.key /srv/pg\n",
	.tables = write_tables,
	.params_size = sizeof(struct params),
	.operands_minimum = 1,
	.operands_maximum = 1,
	.execute = execute_write,
};

const struct wp_command wp_cmd_plug_verify = {
	.name = "plug verify",
	.operands = "TARGET",
	.summary = "after the cut: did all that was acknowledged survive",
	.epilogue = "Reads only, and may be repeated. Status 1: it lies; 4: it cannot be told.\n"
		    "Example:\n"
		    "  walprobe plug verify --witness other:5499 --key plug.key /srv/pg\n",
	.tables = verify_tables,
	.params_size = sizeof(struct params),
	.operands_minimum = 1,
	.operands_maximum = 1,
	.execute = execute_verify,
};
