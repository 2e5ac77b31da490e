/* SPDX-License-Identifier: PostgreSQL */
#include "cli/commands.h"
#include "walprobe/host.h"
#include "walprobe/journal.h"
#include "walprobe/mem.h"
#include "walprobe/run.h"
#include "walprobe/stop.h"
#include "walprobe/witness.h"

#include <math.h>

#define TURN_NS (50 * WP_NS_PER_MS)

struct params {
	struct wp_common common;
	const char *listen;
	const char *key;
	const char *store;
	const char *new_key;
	bool is_list;
	bool is_tls;
	const char *cut_command;
	const char *on_command;
	int64_t off_ns;
	int64_t delay_ns;
	int64_t cycles;
	const char *cut_host;
};

#define F(field) offsetof(struct params, field)

static const struct wp_opt witness_opts[] = {
	{ "listen", 'l', WP_OPT_TEXT, "ADDR:PORT", F(listen), NULL, 0, 0, NULL,
		"where to listen; an empty address is every one, port 0 any free one" },
	{ "key", 'k', WP_OPT_TEXT, "FILE", F(key), NULL, 0, 0, NULL,
		"key file that the targets have a copy of (16 to 4096 bytes, mode 0600)" },
	{ "store", 's', WP_OPT_TEXT, "DIR", F(store), NULL, 0, 0, NULL,
		"directory to remember in; not on the target's host or disk" },
	{ "tls", 0, WP_OPT_FLAG, NULL, F(is_tls), NULL, 0, 0, NULL,
		"speak TLS 1.3 under the same key, and refuse what does not" },
	{ "cut-command", 0, WP_OPT_TEXT, "COMMAND", F(cut_command), NULL, 0, 0, NULL,
		"cut the target's power with this when its writers are at work" },
	{ "on-command", 0, WP_OPT_TEXT, "COMMAND", F(on_command), NULL, 0, 0, NULL,
		"put the power on again with this" },
	{ "off-time", 0, WP_OPT_DURATION, "DURATION", F(off_ns), "30s", 2 * WP_NS_PER_S,
		86400 * WP_NS_PER_S, NULL, "how long the power stays off" },
	{ "cut-delay", 0, WP_OPT_DURATION, "DURATION", F(delay_ns), "60s", WP_NS_PER_MS,
		86400 * WP_NS_PER_S, NULL,
		"cut at a random moment up to so long after the writers are at work" },
	{ "cycles", 0, WP_OPT_INT, "NUM", F(cycles), "1", 1, 65000, NULL,
		"cuts in all; the target goes on with \"plug write --cycles\" after each" },
	{ "yes-cut-power", 0, WP_OPT_TEXT, "HOST", F(cut_host), NULL, 0, 0, NULL,
		"host whose power may be cut, by the name that it gives itself" },
	{ "new-key", 0, WP_OPT_TEXT, "FILE", F(new_key), NULL, 0, 0, NULL,
		"make a new key file and exit" },
	{ "list", 0, WP_OPT_FLAG, NULL, F(is_list), NULL, 0, 0, NULL,
		"show the runs in the store and their verdicts, and exit" },
	{ .name = NULL },
};

static const struct wp_column run_columns[] = {
	{ "run", "run", "", WP_KIND_TEXT, "Number of the run." },
	{ "host", "host", "", WP_KIND_TEXT, "Host of the target." },
	{ "path", "path", "", WP_KIND_TEXT, "Directory of the target." },
	{ "started", "started", "", WP_KIND_TEXT, "When the run began, by the target's clock." },
	{ "method", "method", "", WP_KIND_TEXT, "wal_sync_method of the writers." },
	{ "fstype", "file system", "", WP_KIND_TEXT, "Type of the target's file system." },
	{ "stack", "mounted, on", "", WP_KIND_TEXT,
		"How it was mounted, and the layers under it with what they say of their cache." },
	{ "cycle", "cycle", "", WP_KIND_INT, "Cycle of the run." },
	{ "acknowledged", "acknowledged", "", WP_KIND_INT, "Records acknowledged in this cycle." },
	{ "state", "state", "", WP_KIND_TEXT, "What the witness last saw of the writers." },
	{ "verdict", "verdict", "", WP_KIND_TEXT, "What plug verify made of the cycle." },
	{ "p_upper_95", "p at most", "", WP_KIND_REAL,
		"The chance of a loss per cut is at most this, at 95 % confidence." },
};

static const struct wp_column key_columns[] = {
	{ "file", "file", "", WP_KIND_TEXT, "The new key file, to be copied to the targets." },
	{ "bytes", "bytes", "bytes", WP_KIND_INT, "How long the key is." },
};

static void log_witness(void *ctx, const char *kind, const char *text)
{
	char now[32];

	wp_host_utc(now, sizeof(now));
	wp_run_tell(ctx, kind, "%s %s", now, text);
}

static int needed(const char *option, struct wp_err *err)
{
	(void)wp_fail(err, WP_E_USAGE, 0, "option --%s is needed", option);
	wp_err_hint(err, "Try \"walprobe witness --help\".");
	return -WP_E_USAGE;
}

/* False when it is not clear whose power is to be cut by what. */
static bool is_plan_whole(const struct params *params, struct wp_err *err)
{
	if (!params->cut_command && !params->on_command && !params->cut_host)
		return true;
	if (params->cut_command && params->on_command && params->cut_host)
		return true;
	(void)wp_fail(err, WP_E_USAGE, 0,
		"options --cut-command, --on-command and --yes-cut-power belong together");
	wp_err_hint(err, "Power is only cut with --yes-cut-power HOST, the name of the target's "
			 "host: all that runs on it will lose its power.");
	return false;
}

static int serve(struct wp_run *run, const struct params *params, struct wp_err *err)
{
	int sys_errno;
	char *machine = wp_os_read_text(run->os, "/etc/machine-id", 63, &sys_errno);
	const struct wp_cut_plan plan = {
		.host = params->cut_host,
		.cut_command = params->cut_command,
		.on_command = params->on_command,
		.delay_ns = params->delay_ns,
		.off_ns = params->off_ns,
		.cycles = params->cycles,
	};
	const struct wp_witness_options options = {
		.listen = params->listen,
		.store = params->store,
		.machine = machine ? machine : "",
		.is_tls = params->is_tls,
		.cuts = params->cut_command ? &plan : NULL,
		.log = log_witness,
		.ctx = run,
	};
	struct wp_witness *witness = NULL;
	struct wp_key key;
	int rc = wp_key_load(run->os, params->key, &key, err);

	if (!rc)
		rc = wp_witness_open(&witness, run->os, &options, &key, err);
	if (!rc)
		wp_run_tell(run, "note", "listening at %s, remembering in \"%s\"",
			wp_witness_address(witness), params->store);
	while (!rc && !wp_stop_requested())
		rc = wp_witness_step(witness, TURN_NS, err);
	wp_witness_close(witness);
	wp_key_wipe(&key);
	free(machine);
	return rc ? rc : wp_stop_fail(err);
}

static const char *state_of(const struct wp_ledger_run *run)
{
	if (run->is_stopped)
		return "stopped in good order";
	if (run->failed_errno)
		return wp_errno_text(run->failed_errno);
	return run->is_cut ? "fell silent" : "writing";
}

static void list_cycle(struct wp_table *table, const struct wp_ledger_run *run, uint16_t cycle)
{
	const struct wp_cycle_result *result = wp_ledger_result(run, cycle);
	struct wp_row *row = wp_table_add_row(table);
	char id[2 * WP_RUN_ID_BYTES + 1];

	wp_row_text(row, "run", wp_run_id_text(run->manifest.run, id));
	wp_row_text(row, "host", run->manifest.host);
	wp_row_text(row, "path", run->manifest.path);
	wp_row_text(row, "started", run->manifest.started);
	wp_row_text(row, "method", run->manifest.method);
	wp_row_text(row, "fstype", run->manifest.fstype);
	wp_row_text(row, "stack", run->manifest.stack);
	wp_row_int(row, "cycle", cycle);
	if (cycle == run->start.cycle) {
		wp_row_int(row, "acknowledged", (int64_t)wp_ledger_total(run));
		wp_row_text(row, "state", state_of(run));
	} else if (result) {
		wp_row_int(row, "acknowledged", result->counts.acknowledged);
	}
	if (result)
		wp_row_text(row, "verdict", wp_survival_name((enum wp_survival)result->verdict));
	else
		wp_row_absent(row, "verdict", "not judged yet");
}

/* How far honesty has been shown: over all cuts of the run, unless one of them was a lie. */
static void set_bound(const struct wp_ledger_run *run, struct wp_table *table)
{
	int64_t cuts = 0;

	for (size_t i = 0; i < run->result_count; i++) {
		if (run->results[i].verdict == WP_SURVIVAL_LIES)
			return;
		cuts += run->results[i].verdict == WP_SURVIVAL_NO_LOSS;
	}
	if (cuts)
		wp_row_real(table->rows[table->row_count - 1], "p_upper_95",
			1 - pow(0.05, 1 / (double)cuts));
}

static int list(struct wp_run *run, const struct params *params, struct wp_err *err)
{
	struct wp_ledger ledger = { NULL, 0 };
	struct wp_table *table;
	int rc = wp_journal_read(run->os, params->store, &ledger, err);

	if (rc)
		return rc;
	table = wp_result_table(run->result, "runs", "Runs that the witness knows", run_columns,
		WP_COUNT(run_columns));
	for (size_t i = 0; i < ledger.count; i++) {
		for (uint16_t cycle = 1; cycle <= ledger.runs[i]->start.cycle; cycle++)
			list_cycle(table, ledger.runs[i], cycle);
		if (ledger.runs[i]->start.cycle)
			set_bound(ledger.runs[i], table);
	}
	if (!table->row_count)
		wp_run_tell(run, "note", "no run is known");
	wp_ledger_release(&ledger);
	return 0;
}

static int make_key(struct wp_run *run, const char *path, struct wp_err *err)
{
	int rc = wp_key_create(run->os, path, err);
	struct wp_row *row;

	if (rc)
		return rc;
	row = wp_table_add_row(wp_result_table(
		run->result, "key", "A new key", key_columns, WP_COUNT(key_columns)));
	wp_row_text(row, "file", path);
	wp_row_int(row, "bytes", WP_KEY_NEW_BYTES);
	return 0;
}

static int execute(struct wp_run *run, const void *given, const char *const *operands,
	size_t operand_count, struct wp_err *err)
{
	const struct params *params = given;

	(void)operands;
	(void)operand_count;
	if (params->new_key)
		return make_key(run, params->new_key, err);
	if (!params->store)
		return needed("store", err);
	if (params->is_list)
		return list(run, params, err);
	if (!params->listen)
		return needed("listen", err);
	if (!params->key)
		return needed("key", err);
	if (!is_plan_whole(params, err))
		return -WP_E_USAGE;
	return serve(run, params, err);
}

static const struct wp_opt *const tables[] = { witness_opts, wp_output_opts, NULL };

const struct wp_command wp_cmd_witness = {
	.name = "witness",
	.operands = "",
	.summary = "listen, and remember what was acknowledged to others before a power cut",
	.epilogue = "Runs on another machine than the target, or at least on one that keeps its "
		    "power.\n"
		    "Examples:\n"
		    "  walprobe witness --new-key plug.key\n"
		    "  walprobe witness --listen :5499 --key plug.key --store /var/lib/walprobe\n"
		    "  walprobe witness --store /var/lib/walprobe --list\n",
	.tables = tables,
	.params_size = sizeof(struct params),
	.execute = execute,
};
